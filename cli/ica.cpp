// mercer ica: independent sources of mixed columns.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_output.hpp"
#include "cli/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/components/ica.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::cli {
namespace {

struct IcaCommand {
    std::string model;
    std::string kernel = "rbf(sigma=1)";
    std::string scale = "none";
    std::string contrast = "correlation";
    std::string truth;
    double time_limit = 0;
    IcaSettings settings{};
};

IcaSettings settings_of(const IcaCommand& c, Progress progress) {
    IcaSettings s = c.settings;
    s.common.kernel = Kernel::parse(c.kernel);
    s.common.scaling = ScalingRule::parse(c.scale);
    s.common.time_limit = c.time_limit;
    s.common.progress = std::move(progress);
    s.contrast = c.contrast == "variance" ? IcaContrast::variance : IcaContrast::correlation;
    return s;
}

/// The true mixing matrix, one row a column of the data.
double error_against(const std::string& path, const Model& model, const Session& session) {
    InputOptions input;
    input.path = path;
    input.read.label = "none";
    input.read.double_precision = true;
    const Dataset truth = read_input(input, session);
    Matrix<double> a(truth.size(), truth.columns());
    for (std::size_t i = 0; i < a.rows(); ++i) truth.x.copy_row(i, a.row(i));
    return amari_error(unmixing_matrix(model).view(), a.view());
}

/// One column a source, in the place of the data's.
void write_sources(const Model& model, Dataset data, const OutputOptions& output,
                   const Session& session) {
    const Matrix<double> sources = model.decision(data.x);
    data.x = Rows::dense(sources.values(), sources.columns());
    data.feature_names.clear();
    for (std::size_t s = 1; s <= sources.columns(); ++s) {
        data.feature_names.push_back(fmt::format("source_{}", s));
    }
    Session silent = session;
    silent.json = false;
    write_data(data, output, silent);
}

int run(const IcaCommand& c, InputOptions input, const OutputOptions& output,
        const Session& session) {
    const bool sources_wanted = output.place->count() > 0;
    const bool taken = c.model == "-" || (sources_wanted && output.path == "-");
    if (session.json && taken) {
        throw InvalidInput(
            "--json reports on standard output, where the result would go; name a file");
    }
    const StopOnInterrupt stop;
    const IcaSettings settings =
        settings_of(c, [draw = progress_line(session), &stop](const Moment& m) {
            if (draw) draw(m);
            return !stop.requested();
        });
    if (input.read.label.empty()) input.read.label = "none";
    input.read.double_precision = true;
    Dataset data = read_input(input, session);
    const Model model = kernel_ica(settings).fit(data);
    clear_progress_line();
    const Report report = model.report();
    nlohmann::ordered_json json{{"input", input.path},
                                {"rows", report.rows},
                                {"sources", model.expansion().outputs()},
                                {"status", describe(report.status)},
                                {"contrast", report.primal},
                                {"contrast_at_first", report.history.front()},
                                {"sweeps", report.iterations},
                                {"kappa", report.figures.at("kappa")},
                                {"seconds", report.seconds}};
    std::string text =
        line("data", fmt::format("{}, {}, {}", input.path, counted(report.rows, "row"),
                                 counted(data.columns(), "column")));
    text += line("status", fmt::format("{}, {:.3g} s, {}", describe(report.status), report.seconds,
                                       counted(report.iterations, "sweep")));
    text += line("contrast",
                 fmt::format("{:.6g}, of mixed columns {:.6g}", report.primal, report.history[0]));
    if (!c.truth.empty()) {
        const double error = error_against(c.truth, model, session);
        json["amari_error"] = error;
        text += line("Amari", fmt::format("error {:.4f} against {}", error, c.truth));
    }
    if (!c.model.empty()) {
        const InterruptLater later(c.model);
        save(model, c.model);
        json["model"] = c.model;
        text += line("model", c.model);
    }
    if (sources_wanted) {
        write_sources(model, std::move(data), output, session);
        json["output"] = output.path;
        text += line("sources", output.path);
    }
    if (session.json) {
        print_json(json);
    } else {
        fmt::print(taken ? stderr : stdout, "{}", text);
    }
    return stop.requested() ? exit_interrupted : 0;
}

}  // namespace

void add_ica(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "ica", "unmix columns into independent sources",
        "  mercer ica mixtures.csv -o sources.csv\n"
        "  mercer ica mixtures.csv unmix.mercer --contrast variance --components 4\n"
        "  mercer ica mixtures.csv --truth mixing.csv        # Amari error of a known mixture\n"
        "Sources come back up to order, sign and size. 'mercer transform unmix.mercer DATA' "
        "unmixes\n"
        "other rows. Ctrl-C ends the search early and keeps what there is, exit code 130.\n"
        "docs/machines/ica.md says more.");
    const auto o = std::make_shared<IcaCommand>();
    const auto input = add_input(command, session);
    add_file(command, session, "MODEL", o->model, FileUse::model, "file for the model [none]");
    add_count(command, "--components", o->settings.components, 2, 64,
              "sources, of the largest variance [all columns]");
    add_choice(command, session, "--contrast", o->contrast, {"correlation", "variance"},
               "the first kernel canonical correlation, or all of them");
    command.add_option("--kernel", o->kernel, "the expression for one source [rbf(sigma=1)]")
        ->type_name("EXPR");
    command.add_option("--kappa", o->settings.kappa, "regularisation [0.02, over 1000 rows 0.002]")
        ->type_name("X");
    command.add_option("--scale", o->scale, "scale the columns [none]")->type_name("RULE");
    add_count(command, "--sweeps", o->settings.sweeps, 1, 100'000,
              "over all pairs of sources, at most [20]");
    command
        .add_option("--tol", o->settings.tolerance,
                    "stop when no pair is turned by more, in radians [0.0001]")
        ->type_name("X");
    command.add_option("--time-limit", o->time_limit, "seconds, 0: none [0]")->type_name("X");
    add_file(command, session, "--truth", o->truth, FileUse::input,
             "the true mixing matrix, one row a column of the data: prints the Amari error");
    const auto output = add_output(command, session);
    only(session, output->options, with({output->place}));
    command.callback([&session, o, input, output] {
        session.action = [&session, o, input, output] {
            session.exit_code = run(*o, *input, *output, session);
        };
    });
}

}  // namespace mercer::cli
