// mercer predict: what a model says of data.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/label_sets.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "cli/common/ranks.hpp"
#include "cli/common/table_input.hpp"
#include "cli/common/tell.hpp"
#include "cli/machines/train_options.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/risk/regions.hpp"
#include "mercer/select/cross_validation.hpp"
#include "mercer/select/judge.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PredictCommand {
    std::string model;
    std::string output = "-";
    bool decision = false;
    bool probability = false;
    std::string decide = "by-margin";
    bool deviation = false;
    bool explain = false;
    std::string beside{};
    std::size_t memory = usual_rows;

    bool by_probability() const { return decide == "by-probability"; }
};

/// Numbers beside the labels, one row each, under names.
struct Columns {
    std::string title;
    std::vector<std::string> names;
    Matrix<double> values;
};

struct Predictions {
    Labels labels;
    std::vector<std::vector<std::string>> sets;  ///< instead, of models of several labels per row
    std::vector<Columns> columns;
    std::vector<Explanation> why{};                  ///< one a row, or none
    std::vector<std::string> beside_names{};         ///< columns of the input
    std::vector<std::vector<std::string>> beside{};  ///< and their cells, column by column

    bool is_table() const { return !columns.empty() || !why.empty() || !beside.empty(); }
    std::size_t rows() const { return sets.empty() ? labels.size() : sets.size(); }
    std::string text(std::size_t row) const {
        return sets.empty() ? labels.text(row) : fmt::format("{}", fmt::join(sets[row], " "));
    }
};

/// What it says does not follow from decision values alone.
bool answers_itself(const Model& model) {
    return model.task() == Task::kpca || model.task() == regions_task;
}

Predictions predict(const PredictCommand& command, const Model& model, const Rows& x,
                    const Progress& progress) {
    Predictions result;
    const Predictor predictor(model);
    Matrix<double> decisions = predictor.decision(x, progress);
    Matrix<double> probabilities;
    if (command.probability || command.by_probability()) {
        probabilities = probabilities_of(model, decisions.view());
    }
    if (is_multi_label(model.task())) {
        result.sets = names_of(model.sets_of(decisions.view()), label_names(model));
    } else {
        result.labels =
            model.labels_of(command.by_probability() ? likeliest(model, probabilities.view())
                            : answers_itself(model)  ? predictor.predict(x, progress)
                                                     : model.classify(decisions.view()));
    }
    if (command.decision) {
        result.columns.push_back({"decision", output_names(model), std::move(decisions)});
    }
    if (command.probability) {
        std::vector<std::string> names;
        for (const std::string& name : probability_names(model)) names.push_back("P(" + name + ")");
        result.columns.push_back({"probability", names, std::move(probabilities)});
    }
    if (command.deviation) {
        Matrix<double> deviations(x.size(), 1);
        deviations.values() = predictive_deviation(model, x, false, progress);
        result.columns.push_back({"deviation", {"deviation"}, std::move(deviations)});
    }
    if (command.explain) result.why = explain(model, x, 5, progress);
    return result;
}

/// The cells of the input that are wanted beside the predictions.
void add_beside(const std::string& wanted, const InputOptions& input, const Session& session,
                Predictions& predictions) {
    if (wanted.empty()) return;
    const Table table = read_cells(input, session);
    if (table.rows() != predictions.rows()) {
        throw InvalidInput(
            fmt::format("{}: --beside needs a table with a row for each prediction", input.path));
    }
    for (std::size_t first = 0; first < wanted.size();) {
        const std::size_t comma = std::min(wanted.find(',', first), wanted.size());
        const std::string name = wanted.substr(first, comma - first);
        first = comma + 1;
        for (std::size_t j = 0; j < table.columns(); ++j) {
            if (name != "all" && table.names[j] != name) continue;
            predictions.beside_names.push_back(table.names[j]);
            auto& cells = predictions.beside.emplace_back();
            for (std::size_t i = 0; i < table.rows(); ++i) cells.emplace_back(table.cell(i, j));
        }
        const bool found = name == "all" || (!predictions.beside_names.empty() &&
                                             predictions.beside_names.back() == name);
        if (!found) {
            throw InvalidInput(fmt::format("--beside {}: the table has no such column{}", name,
                                           suggestion(name, table.names)));
        }
    }
}

using Write = std::function<void(std::string_view)>;

std::string without_tabs(std::string text) {
    std::ranges::replace(text, '\t', ' ');
    std::ranges::replace(text, '\n', ' ');
    return text;
}

/// "yes rather than no: age +0.51, city −0.2; rows 17 +0.8, 3 −0.1"
std::string why_text(const Explanation& e) {
    std::string text = e.toward + ": ";
    for (std::size_t k = 0; k < e.columns.size(); ++k) {
        text += fmt::format("{}{} {:+.3g}", k == 0 ? "" : ", ", e.columns[k].first,
                            e.columns[k].second);
    }
    text += e.columns.empty() ? "rows" : "; rows";
    for (std::size_t k = 0; k < e.points.size(); ++k) {
        text += fmt::format("{} {} {:+.3g}", k == 0 ? "" : ",", e.points[k].first + 1,
                            e.points[k].second);
    }
    return without_tabs(text);
}

/// Labels one per line; with numbers beside them a table, separated by tabs under a line of names,
/// which stands above the first rows alone.
void write_text(const Predictions& predictions, const Write& write, bool first = true) {
    std::string text;
    if (predictions.is_table() && is_first_rank() && first) {
        for (const std::string& name : predictions.beside_names) text += without_tabs(name) + '\t';
        text += "label";
        for (const Columns& part : predictions.columns) {
            for (std::string name : part.names) {
                std::ranges::replace(name, '\t', ' ');
                text += '\t' + name;
            }
        }
        if (!predictions.why.empty()) text += "\tbecause";
        text += '\n';
    }
    for (std::size_t i = 0; i < predictions.rows(); ++i) {
        for (const auto& cells : predictions.beside) text += without_tabs(cells[i]) + '\t';
        text += predictions.text(i);
        for (const Columns& part : predictions.columns) {
            for (const double value : part.values.row(i)) text += '\t' + result_text(value);
        }
        if (!predictions.why.empty()) text += '\t' + why_text(predictions.why[i]);
        text += '\n';
        if (text.size() > 60'000) {
            write(text);
            text.clear();
        }
    }
    write(text);
}

/// The rows of all ranks in their order.
void write_all(const Predictions& predictions, const std::string& path) {
    if (several_ranks() && !is_first_rank()) {
        std::string own;
        write_text(predictions, [&](std::string_view text) { own += text; });
        return texts_of_all_ranks(own, {});
    }
    const InterruptLater later(path);
    write_whole(path, [&](Output& out) {
        const Write write = [&](std::string_view text) { out.write(text); };
        if (!several_ranks()) return write_text(predictions, write);
        std::string own;
        write_text(predictions, [&](std::string_view text) { own += text; });
        texts_of_all_ranks(own, write);
    });
}

/// Rows that are not held, block by block: what is said of one is written before the next is looked
/// at. All labels, where they are to be judged.
Labels write_by_blocks(const PredictCommand& command, const Model& model, const Dataset& data,
                       const Session& session) {
    const Progress line = progress_line(session);
    const auto rows = static_cast<double>(data.size());
    Labels all;
    write_whole(command.output, [&](Output& out) {
        for_blocks(data.x, [&](std::size_t first, std::size_t count) {
            const Progress progress = [&](const Moment& moment) {
                const double part = std::max(moment.fraction, 0.0) * static_cast<double>(count);
                const double done = (static_cast<double>(first) + part) / rows;
                return keep_going(line, {.task = "predicting", .fraction = done});
            };
            const Predictions some = predict(command, model, data.x.slice(first, count), progress);
            write_text(
                some, [&](std::string_view text) { out.write(text); }, first == 0);
            all.names = some.labels.names;
            all.values.insert(all.values.end(), some.labels.values.begin(),
                              some.labels.values.end());
        });
    });
    clear_progress_line();
    return all;
}

Json json_of(const Predictions& predictions) {
    Json labels = Json::array();
    for (std::size_t i = 0; i < predictions.labels.size(); ++i) {
        if (predictions.labels.are_text()) {
            labels.push_back(predictions.labels.text(i));
        } else {
            labels.push_back(predictions.labels.values[i]);
        }
    }
    if (!predictions.sets.empty()) labels = predictions.sets;
    Json json{{"labels", std::move(labels)}};
    for (const Columns& part : predictions.columns) {
        Json rows = Json::array();
        for (std::size_t i = 0; i < part.values.rows(); ++i) {
            const auto row = part.values.row(i);
            rows.push_back(std::vector<double>(row.begin(), row.end()));
        }
        json[part.title] = {{"columns", part.names}, {"rows", std::move(rows)}};
    }
    for (std::size_t k = 0; k < predictions.beside.size(); ++k) {
        json["beside"][predictions.beside_names[k]] = predictions.beside[k];
    }
    for (const Explanation& e : predictions.why) {
        Json columns = Json::object(), points = Json::array();
        for (const auto& [name, added] : e.columns) columns[name] = added;
        for (const auto& [row, term] : e.points)
            points.push_back({{"row", row + 1}, {"adds", term}});
        json["because"].push_back({{"toward", e.toward},
                                   {"value", e.value},
                                   {"bias", e.bias},
                                   {"columns", std::move(columns)},
                                   {"rows", std::move(points)}});
    }
    return json;
}

/// How good the predictions are, where the data knows the answers.
struct ScoreLine {
    std::string text;
    Json json = Json::object();
};

std::optional<ScoreLine> judge(const Model& model, const Labels& predicted, const Labels& truth) {
    ScoreLine j;
    if (is_clustering(model.task()) || is_projection(model.task())) return std::nullopt;
    const bool single = !is_classifier(model.task()) && !is_regressor(model.task());
    const auto is_sign = [](double y) { return y == 1 || y == -1; };
    if (single && (model.task() == regions_task || truth.empty() || truth.are_text() ||
                   !std::ranges::all_of(truth.values, is_sign))) {
        j.json["inside"] = inside(predicted);
        j.text = fmt::format("{} of {} inside", percent(inside(predicted)),
                             counted(predicted.size(), "row"));
        return j;
    }
    if (truth.empty() || (is_regressor(model.task()) && truth.are_text())) return std::nullopt;
    const Score s = score(model.task(), predicted, truth);
    if (is_regressor(model.task())) {
        j.json = {{"mean_squared_error", s.mean_squared_error},
                  {"squared_correlation", s.squared_correlation}};
        j.text =
            fmt::format("mean squared error {:.6g}, squared correlation {:.4g}, {}",
                        s.mean_squared_error, s.squared_correlation, counted(truth.size(), "row"));
    } else {
        const auto right =
            static_cast<std::size_t>(s.accuracy * static_cast<double>(truth.size()) + 0.5);
        j.json = {{"accuracy", s.accuracy}, {"right", right}};
        j.text = fmt::format("accuracy {} ({} of {})", percent(s.accuracy), right,
                             counted(truth.size(), "row"));
    }
    return j;
}

std::optional<ScoreLine> judge_sets(const Model& model, const Rows& x,
                                    const Matrix<double>& truth) {
    if (truth.columns() == 0) return std::nullopt;
    const MultiLabelScores scores = multi_label_scores(model, x, truth.view());
    return ScoreLine{.text = scores_text(scores), .json = cli::json_of(scores)};
}

void run(const PredictCommand& command, const InputOptions& input, const Session& session) {
    Stopwatch watch;
    Matrix<double> label_sets;
    InputOptions own = input;
    own.read.part = part_of_rank();
    own.read.most_bytes = command.memory << 20;
    if (!command.beside.empty()) require_one_rank("mercer predict with --beside");
    if (session.json && command.output == "-") {
        require_one_rank("mercer predict with --json and without -o");
    }
    const auto [model, data] = read_model_and_data(command.model, own, session, &label_sets);
    if (is_multi_label(model.task()) || model.recipe()) {
        require_one_rank(
            "mercer predict with a model of several labels a row or of a table's columns");
    }
    Json seconds{{"read", watch.lap()}};
    if ((command.probability || command.by_probability()) && !has_probabilities(model)) {
        throw InvalidInput(
            command.model +
            (is_classifier(model.task())
                 ? ": the model has no probabilities; train it with --probability, "
                   "or let 'mercer calibrate' learn them on rows set aside"
                 : ": only classifiers and one-class machines have probabilities, the "
                   "latter when they were trained with --probability"));
    }
    if (command.deviation && model.task() != Task::gp) {
        throw InvalidInput(command.model + ": only Gaussian processes (--task gp) have deviations");
    }
    if (is_projection(model.task()) && model.task() != Task::kpca) {
        throw InvalidInput(fmt::format(
            "{}: a model of task {} has functions of rows and no labels for them: use 'mercer "
            "transform'{}",
            command.model, task_name(model.task()),
            model.task() == Task::dependency ? ", or 'mercer answer' for outputs" : ""));
    }
    const bool to_file = command.output != "-";
    if (place_of(data.x) != RowPlace::memory && !session.quiet) {
        tell("mercer: note: the rows are {}\n",
             held_text(data.x, command.memory, input.read.spool));
    }
    Predictions predictions;
    const bool by_blocks = place_of(data.x) != RowPlace::memory && !several_ranks() &&
                           command.beside.empty() && (to_file || !session.json) &&
                           !is_multi_label(model.task());
    if (by_blocks) {
        predictions.labels = write_by_blocks(command, model, data, session);
    } else {
        predictions = predict(command, model, data.x, progress_line(session));
        clear_progress_line();
        add_beside(command.beside, input, session, predictions);
    }
    seconds["predict"] = watch.lap();
    const auto judgement =
        is_multi_label(model.task())
            ? judge_sets(model, data.x, label_sets)
            : judge(model, labels_of_all_ranks(predictions.labels), labels_of_all_ranks(data.y));
    const std::size_t rows = rows_of_all_ranks(data.size());
    if (!by_blocks && (to_file || !session.json)) write_all(predictions, command.output);
    if (session.json) {
        Json json{{"model", command.model}, {"input", input.path}, {"rows", rows}};
        json["seconds"] = seconds;
        if (judgement) json.update(judgement->json);
        if (to_file) {
            json["output"] = command.output;
        } else {
            json.update(json_of(predictions));
        }
        print_json(json);
    } else if (judgement) {
        fmt::print(to_file ? stdout : stderr, "{}\n", judgement->text);
    }
}

}  // namespace

void add_predict(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "predict", "predict with a model, one label per line",
        "  mercer predict digits.mercer test.csv -o labels.txt\n"
        "  mercer predict a9a.mercer a9a.t.gz --decision --probability\n"
        "  mercer predict heart.model heart_scale        (a model of LIBSVM)\n"
        "  mercer predict churn.mercer new.csv --beside customer --explain\n"
        "Where the data has labels the score is printed too: on standard output, or on\n"
        "standard error when the predictions go there.");
    const auto options = std::make_shared<PredictCommand>();
    const auto input = add_model_and_input(command, session, options->model);
    add_file(command, session, "-o,--output", options->output, FileUse::data,
             "file to write, compressed by .gz, .bz2, .xz or .zst; - is standard output [-]");
    command.add_flag("--decision", options->decision,
                     "also the decision values: positive for the first class of a pair");
    command.add_flag("--probability", options->probability,
                     "also class probabilities, of a model trained with them");
    add_choice(command, session, "--decide", options->decide, {"by-margin", "by-probability"},
               "what the label follows: the machine's own votes, or the likeliest class");
    command.add_flag("--std,--deviation", options->deviation,
                     "also the standard deviation of the function, of a Gaussian process");
    command.add_flag("--explain", options->explain,
                     "also why: what columns add, and the training rows that count most");
    command
        .add_option("--beside", options->beside,
                    "also these columns of the table, with commas between, or all")
        ->type_name("TEXT");
    add_count(command, "--memory", options->memory, 1, std::size_t{1} << 24,
              fmt::format("MiB of rows that are held; more are looked at block by block [{}]",
                          options->memory));
    add_spool(command, *input);
    command.callback([&session, input, options] {
        session.action = [&session, input, options] { run(*options, *input, session); };
    });
}

}  // namespace mercer::cli
