// mercer multilabel: rows with several labels each.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "cli/commands.hpp"
#include "cli/model_output.hpp"
#include "cli/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/learn/multi_label.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct MultiLabelCommand {
    std::string test{};
    std::string kernel = "rbf(gamma=scale)";
    std::string scale = "none";
    std::string output = "-";
    std::size_t labels = 0;
    std::size_t memory = 1024;
    MultiLabelSettings settings{};
};

/// Rows, and the last columns of the table as labels.
struct LabelledTable {
    Rows x{};
    Matrix<double> labels{};
    std::vector<std::string> names{};
};

LabelledTable read_table(const InputOptions& input, const std::string& path, std::size_t labels,
                         const Session& session) {
    InputOptions reading = for_file(input, path);
    reading.read.label = "none";
    const Dataset data = read_input(reading, session);
    if (data.columns() <= labels) {
        throw InvalidInput(fmt::format("{}: {} cannot hold {} and data to learn from", path,
                                       counted(data.columns(), "column"),
                                       counted(labels, "label")));
    }
    const std::size_t first = data.columns() - labels;
    std::vector<std::size_t> features;
    for (std::size_t j = 0; j < first; ++j) features.push_back(j);
    LabelledTable table{.x = data.x.select_columns(features),
                        .labels = Matrix<double>(data.size(), labels)};
    std::vector<double> row(data.columns());
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.x.copy_row(i, row);
        for (std::size_t k = 0; k < labels; ++k) table.labels(i, k) = row[first + k];
    }
    for (std::size_t k = 0; k < labels; ++k) {
        table.names.push_back(first + k < data.feature_names.size() ? data.feature_names[first + k]
                                                                    : std::to_string(k + 1));
    }
    return table;
}

int run(const MultiLabelCommand& c, const InputOptions& input, const Session& session) {
    const LabelledTable train = read_table(input, input.path, c.labels, session);
    const LabelledTable test = read_table(input, c.test, c.labels, session);
    if (test.x.columns() != train.x.columns()) {
        throw InvalidInput(fmt::format("{} has {} besides the labels, {} has {}", c.test,
                                       counted(test.x.columns(), "column"), input.path,
                                       train.x.columns()));
    }
    MultiLabelSettings settings = c.settings;
    settings.common.kernel = Kernel::parse(c.kernel);
    settings.common.scaling = ScalingRule::parse(c.scale);
    settings.common.memory_bytes = c.memory << 20;
    settings.common.progress = progress_line(session);
    const MultiLabelModel model = fit_multi_label(settings, train.x, train.labels.view());
    clear_progress_line();
    const bool proved = !std::isnan(model.relative_gap);
    const Matrix<double> found = model.predict(test.x);
    const MultiLabelScores s = multi_label_scores(model, test.x, test.labels.view());
    std::string lines;
    Json rows = Json::array();
    for (std::size_t i = 0; i < found.rows(); ++i) {
        std::vector<std::string> names;
        for (std::size_t k = 0; k < c.labels; ++k) {
            if (found(i, k) == 1) names.push_back(test.names[k]);
        }
        lines += fmt::format("{}\n", fmt::join(names, " "));
        rows.push_back(std::move(names));
    }
    const bool to_file = c.output != "-";
    if (to_file || !session.json) {
        const InterruptLater later(c.output);
        write_whole(c.output, [&](Output& out) { out.write(lines); });
    }
    if (session.json) {
        Json json{{"rows", found.rows()},
                  {"relative_gap", model.relative_gap},
                  {"certifies", proved ? "optimum" : "stationary point"},
                  {"convexity", describe(model.convexity)},
                  {"converged", model.converged},
                  {"hamming_loss", s.hamming_loss},
                  {"ranking_loss", s.ranking_loss},
                  {"one_error", s.one_error},
                  {"average_precision", s.average_precision}};
        if (!to_file) json["labels"] = std::move(rows);
        print_json(json);
    } else {
        fmt::print(to_file ? stdout : stderr,
                   "hamming loss {:.4f}, ranking loss {:.4f}, one-error {:.4f}, average precision "
                   "{:.4f}; {}{}\n",
                   s.hamming_loss, s.ranking_loss, s.one_error, s.average_precision,
                   proved ? fmt::format("relative gap {:.2g}", model.relative_gap)
                          : "a stationary point without a gap: the kernel is not known to be "
                            "positive definite",
                   model.converged ? "" : ", not converged");
    }
    return proved ? 0 : exit_stationary;
}

}  // namespace

void add_multilabel(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "multilabel", "rows with several labels each: learn, predict and judge",
        "  mercer multilabel train.csv test.csv --label-columns 6 --kernel 'rbf(gamma=0.5)' -C 10\n"
        "The last columns of both tables are the labels, 1 (had) or 0. Writes the labels found,\n"
        "one line a row, and how good they are. Exit code 3: under this kernel no gap is proved.");
    const auto options = std::make_shared<MultiLabelCommand>();
    const auto input = add_input(command, session, "table to learn from");
    for (const char* name : {"--label", "--labels", "--text-labels"}) {
        only(session, command.get_option(name),
             when([] { return false; }, "here", "the labels are the --label-columns last columns"));
    }
    add_file(command, session, "TEST", options->test, FileUse::input, "table to predict and judge")
        ->required();
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
    command.callback([&session, options, input] {
        session.action = [&session, options, input] {
            session.exit_code = run(*options, *input, session);
        };
    });
}

}  // namespace mercer::cli
