// mercer cca: functions of two sets of rows that vary together.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/components/cca.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CcaCommand {
    std::string other;
    std::string model;
    std::string kernel = "rbf(gamma=scale)";
    std::string kernel_y;
    std::string scale = "none";
    std::vector<std::string> test{};
    std::size_t memory = usual_memory();
    CcaSettings settings{};
};

CcaSettings settings_of(const CcaCommand& c, const Progress& progress) {
    CcaSettings s = c.settings;
    s.x.kernel = Kernel::parse(c.kernel);
    s.y_kernel = Kernel::parse(c.kernel_y.empty() ? c.kernel : c.kernel_y);
    s.x.scaling = s.y_scaling = ScalingRule::parse(c.scale);
    s.x.memory_bytes = c.memory << 20;
    s.x.progress = progress;
    return s;
}

void run(const CcaCommand& c, const InputOptions& input, const Session& session) {
    if (session.json && c.model == "-") {
        throw InvalidInput("the model and --json cannot both go to standard output; name a file");
    }
    const CcaSettings settings = settings_of(c, progress_line(session));
    const Dataset x = read_side(input, input.path, session);
    const Dataset y = read_side(input, c.other, session);
    const Model model = kernel_cca(settings).fit(x, y);
    std::vector<double> held;
    if (!c.test.empty()) {
        held = canonical_correlations(model, read_side(input, c.test[0], session).x,
                                      read_side(input, c.test[1], session).x);
    }
    clear_progress_line();
    if (!c.model.empty()) {
        const InterruptLater later(c.model);
        save(model, c.model);
    }
    const Matrix<double>& rho = model.extras().array("correlations");
    const Report report = model.report();
    Json json{{"x", input.path}, {"y", c.other}, {"rows", report.rows}};
    json["kernel_x"] = model.expansion().kernel.text();
    json["kernel_y"] = companion_of(model)->expansion().kernel.text();
    json["kappa"] = settings.kappa;
    std::string text = line(
        "data", fmt::format("{} and {}, {}", input.path, c.other, counted(report.rows, "pair")));
    text += line("kernel x", model.expansion().kernel.text());
    text += line("kernel y", companion_of(model)->expansion().kernel.text());
    text +=
        line("features", fmt::format("{} and {}, missing {:.2g} and {:.2g} of the trace",
                                     report.figures.at("rank_x"), report.figures.at("rank_y"),
                                     report.figures.at("missed_x"), report.figures.at("missed_y")));
    for (std::size_t p = 0; p < rho.rows(); ++p) {
        Json pair{{"regularised", rho(p, 0)}, {"sample", rho(p, 1)}};
        std::string words = fmt::format("correlation {:.4f} on the sample, {:.4f} regularised",
                                        rho(p, 1), rho(p, 0));
        if (!held.empty()) {
            pair["held_out"] = held[p];
            words += fmt::format(", {:.4f} on the rows held out", held[p]);
        }
        json["pairs"].push_back(pair);
        text += line(fmt::format("pair {}", p + 1), words);
    }
    if (!c.model.empty()) {
        json["model"] = c.model;
        text += line("model", c.model);
    }
    if (session.json) {
        print_json(json);
    } else {
        fmt::print(c.model == "-" ? stderr : stdout, "{}", text);
    }
}

}  // namespace

void add_cca(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "cca", "find functions of two sets of rows that vary together",
        "  mercer cca sound.csv picture.csv --pairs 3 --scale standard\n"
        "  mercer cca x.npy y.npy both.mercer --kernel 'rbf(gamma=0.5)' --kernel-y linear\n"
        "  mercer cca x.csv y.csv --test x2.csv y2.csv --kappa 0.1\n"
        "Row i of the one belongs to row i of the other; no column is taken for a label unless\n"
        "--label says so. docs/machines/cca.md says more.");
    const auto o = std::make_shared<CcaCommand>();
    const auto input = add_input(command, session, "rows of the first kind, X");
    add_file(command, session, "OTHER", o->other, FileUse::input,
             "rows of the second kind, Y, in the same order")
        ->required();
    add_file(command, session, "MODEL", o->model, FileUse::model,
             "file for the model, both sides in it [none]");
    command.add_option("--kernel", o->kernel, "the expression for X [rbf(gamma=scale)]")
        ->type_name("EXPR");
    command.add_option("--kernel-y", o->kernel_y, "that for Y [as for X]")->type_name("EXPR");
    command.add_option("--scale", o->scale, "scale the columns of both [none]")->type_name("RULE");
    add_count(command, "--pairs", o->settings.pairs, 1, 4000, "of functions [2]");
    command
        .add_option("--kappa", o->settings.kappa,
                    "weight of the penalty on the functions' norms [0.02]")
        ->type_name("X");
    add_count(command, "--rank", o->settings.rank, 1, 4000,
              "features per side at most [as many as --memory allows]");
    command
        .add_option("--tol", o->settings.tolerance,
                    "share of the kernel's trace that features may miss [1e-10]")
        ->type_name("X");
    command.add_option("--test", o->test, "two files of further pairs to be correlated on")
        ->expected(2)
        ->type_name("X Y");
    add_count(command, "--memory", o->memory, 1, std::size_t{1} << 24, "MiB for features [1024]");
    command.callback([&session, o, input] {
        session.action = [&session, o, input] { run(*o, *input, session); };
    });
}

}  // namespace mercer::cli
