// mercer multilabel: rows with several labels each.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/common/label_sets.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct MultiLabelCommand {
    std::string test{};
    std::string model{};
    std::string kernel = "rbf(gamma=scale)";
    std::string scale = "none";
    std::string output = "-";
    std::size_t labels = 0;
    std::size_t memory = 1024;
    MultiLabelSettings settings{};
};

LabelledTable read_table(const InputOptions& input, const std::string& path, std::size_t labels,
                         const Session& session) {
    InputOptions reading = for_file(input, path);
    reading.read.label = "none";
    return split_labels(read_input(reading, session), labels, path);
}

/// Predicts the rows of the second table and judges that.
void judge(const MultiLabelCommand& c, const Model& model, const LabelledTable& test,
           const Session& session, Json& json, std::string& text) {
    const auto sets = names_of(model.predict_sets(test.data.x), test.names);
    const MultiLabelScores scores = multi_label_scores(model, test.data.x, test.labels.view());
    std::string lines;
    for (const auto& names : sets) lines += fmt::format("{}\n", fmt::join(names, " "));
    const bool to_file = c.output != "-";
    if (to_file || !session.json) {
        const InterruptLater later(c.output);
        write_whole(c.output, [&](Output& out) { out.write(lines); });
    }
    json["rows"] = sets.size();
    json.update(cli::json_of(scores));
    if (!to_file) json["labels"] = sets;
    text = scores_text(scores) + "; ";
}

int run(const MultiLabelCommand& c, const InputOptions& input, const Session& session) {
    if (c.test.empty() && c.model.empty()) {
        throw InvalidInput("nothing would come of this: name a TEST to predict, or --save-model");
    }
    const LabelledTable train = read_table(input, input.path, c.labels, session);
    LabelledTable test;
    if (!c.test.empty()) test = read_table(input, c.test, c.labels, session);
    if (!c.test.empty() && test.data.columns() != train.data.columns()) {
        throw InvalidInput(fmt::format("{} has {} besides the labels, {} has {}", c.test,
                                       counted(test.data.columns(), "column"), input.path,
                                       train.data.columns()));
    }
    MultiLabelSettings settings = c.settings;
    settings.common.kernel = Kernel::parse(c.kernel);
    settings.common.scaling = ScalingRule::parse(c.scale);
    settings.common.memory_bytes = c.memory << 20;
    settings.common.progress = progress_line(session);
    const Model model = multi_label(settings).fit(train.data, train.labels.view(), train.names);
    clear_progress_line();
    const Report report = model.report();
    const bool proved = report.is_bracketed();
    Json json{{"relative_gap", report.relative_gap},
              {"certifies", proved ? "optimum" : "stationary point"},
              {"convexity", describe(report.convexity)},
              {"converged", report.status == FitStatus::converged}};
    std::string text;
    if (!c.model.empty()) {
        const InterruptLater later(c.model);
        save(model, c.model);
        json["model"] = c.model;
    }
    if (!c.test.empty()) judge(c, model, test, session, json, text);
    if (session.json) {
        print_json(json);
        return proved ? 0 : exit_stationary;
    }
    text += proved ? fmt::format("relative gap {:.2g}", report.relative_gap)
                   : "a stationary point without a gap: the kernel is not known to be positive "
                     "definite";
    if (report.status != FitStatus::converged) text += ", not converged";
    fmt::print(c.output == "-" ? stderr : stdout, "{}\n", text);
    return proved ? 0 : exit_stationary;
}

}  // namespace

void add_multilabel(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "multilabel", "rows with several labels each: learn, predict and judge",
        "  mercer multilabel train.csv test.csv --label-columns 6 --kernel 'rbf(gamma=0.5)' -C 10\n"
        "  mercer multilabel train.csv --label-columns 6 --save-model tags.mercer\n"
        "  mercer predict tags.mercer new.csv\n"
        "The last columns of both tables are the labels, 1 (had) or 0. Writes the labels found,\n"
        "one line per row, and how good they are. Exit code 3: under this kernel no gap is "
        "proved.");
    const auto options = std::make_shared<MultiLabelCommand>();
    const auto input = add_input(command, session, "table to learn from");
    for (const char* name : {"--label", "--labels", "--text-labels"}) {
        only(session, command.get_option(name),
             when([] { return false; }, "here", "the labels are the --label-columns last columns"));
    }
    add_file(command, session, "TEST", options->test, FileUse::input, "table to predict and judge");
    add_file(command, session, "--save-model", options->model, FileUse::model,
             "file to save the model in, for 'mercer predict'");
    add_count(command, "--label-columns", options->labels, 2, 100'000, "columns that are labels")
        ->required();
    command.add_option("--kernel", options->kernel, "the expression [rbf(gamma=scale)]")
        ->type_name("EXPR");
    command.add_option("-C,--cost", options->settings.C, "penalty of wrong orders [1]")
        ->type_name("X");
    command.add_option("--scale", options->scale, "scale features: standard, minmax, … [none]")
        ->type_name("RULE");
    command.add_option("--tol", options->settings.tolerance, "relative gap to stop at [0.001]")
        ->type_name("X");
    add_file(command, session, "-o,--output", options->output, FileUse::data,
             "file to write; - is standard output [-]");
    add_count(command, "--memory", options->memory, 1, std::size_t{1} << 24,
              "MiB for kernel values [1024]");
    only(session, command.get_option("--output"),
         when([options] { return !options->test.empty(); }, "without TEST",
              "there is nothing to predict"));
    command.callback([&session, options, input] {
        session.action = [&session, options, input] {
            session.exit_code = run(*options, *input, session);
        };
    });
}

}  // namespace mercer::cli
