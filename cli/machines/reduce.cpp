// mercer reduce: a model with fewer vectors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ReduceCommand {
    std::string model;
    std::string output;
    std::string curve;
    std::string method = "greedy";
    std::size_t memory = 1024;
    bool no_joint = false;
    ReduceSettings settings{};
};

/// The predictions of the whole model on the data file, to compare others with.
struct Judge {
    Dataset data{};
    Labels whole{};

    bool there() const { return data.size() > 0; }
};

/// What a reduction changes in what is predicted.
struct Change {
    double changed = 0;             ///< share of rows with another label; regressions: RMS change
    std::optional<double> score{};  ///< accuracy, or mean squared error
};

std::optional<double> score_of(const Model& model, const Labels& predicted, const Labels& truth) {
    if (truth.empty() || truth.size() != predicted.size() || is_clustering(model.task())) return {};
    if (is_regressor(model.task())) {
        if (truth.are_text()) return {};
        return score(model.task(), predicted, truth).mean_squared_error;
    }
    if (!is_classifier(model.task())) return {};
    return score(model.task(), predicted, truth).accuracy;
}

Change change_of(const Model& model, const Judge& judge, const Progress& progress) {
    const Labels labels = model.predict_labels(judge.data.x, progress);
    Change change;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const double d = labels.values[i] - judge.whole.values[i];
        change.changed += is_regressor(model.task()) ? d * d : (d != 0 ? 1.0 : 0.0);
    }
    change.changed /= static_cast<double>(std::max<std::size_t>(labels.size(), 1));
    if (is_regressor(model.task())) change.changed = std::sqrt(change.changed);
    change.score = score_of(model, labels, judge.data.y);
    return change;
}

/// Sizes of the curve: from few to as many as were asked for, each half as many again or so.
std::vector<std::size_t> curve_sizes(std::size_t most) {
    std::vector<std::size_t> sizes;
    for (std::size_t n = most; n > 0; n = n / 2) sizes.push_back(n);
    std::ranges::reverse(sizes);
    if (sizes.size() > 8) sizes.erase(sizes.begin(), sizes.end() - 8);
    return sizes;
}

std::string write_curve(const ReduceCommand& c, const Model& model, const Judge& judge,
                        std::size_t most, const Progress& progress) {
    ReduceSettings settings = c.settings;
    settings.double_precision = settings.double_precision || model.double_precision();
    const std::vector<std::size_t> sizes = curve_sizes(most);
    std::string text = "vectors,squared_distance,relative";
    if (judge.there()) text += ",changed,score";
    text += '\n';
    for (const Reduction& r : reduction_path(model.expansion(), sizes, settings)) {
        text += fmt::format("{},{},{}", r.expansion.size(), result_text(r.distance),
                            result_text(r.squared_norm > 0 ? r.distance / r.squared_norm : 0));
        if (judge.there()) {
            const Change change = change_of(with_reduction(model, r), judge, progress);
            text += fmt::format(",{},{}", result_text(change.changed),
                                change.score ? result_text(*change.score) : "");
        }
        text += '\n';
    }
    return text;
}

void describe_change(const Model& model, const Judge& judge, const Change& change, Json& json,
                     std::string& text) {
    const bool numbers = is_regressor(model.task());
    const auto before = score_of(model, judge.whole, judge.data.y);
    json["data"] = {{"rows", judge.data.size()}, {"changed", change.changed}};
    text += line("changed", numbers ? fmt::format("{:.4g} root mean square", change.changed)
                                    : fmt::format("{} of {}", percent(change.changed),
                                                  counted(judge.data.size(), "prediction")));
    if (!before || !change.score) return;
    const char* name = numbers ? "mean_squared_error" : "accuracy";
    json["data"][std::string(name) + "_before"] = *before;
    json["data"][name] = *change.score;
    text +=
        line(numbers ? "error" : "accuracy",
             numbers ? fmt::format("{:.6g} before, {:.6g} now", *before, *change.score)
                     : fmt::format("{} before, {} now", percent(*before), percent(*change.score)));
}

Judge read_judge(const ReduceCommand& c, const InputOptions& input, const Session& session,
                 Model& model) {
    if (input.path.empty()) {
        model = read_model(c.model);
        return {};
    }
    auto [read, data] = read_model_and_data(c.model, input, session);
    model = read;
    Judge judge{.data = std::move(data)};
    judge.whole = model.predict_labels(judge.data.x, progress_line(session));
    return judge;
}

int run(const ReduceCommand& options, const InputOptions& input, const Session& session) {
    if (session.json && options.output == "-") {
        throw InvalidInput("the model and --json cannot both go to standard output; name a file");
    }
    ReduceCommand c = options;
    c.settings.method = reduce_method_named(c.method);
    c.settings.joint = !c.no_joint;
    c.settings.memory_bytes = c.memory << 20;
    c.settings.double_precision = input.read.double_precision;
    Model model;
    const Judge judge = read_judge(c, input, session, model);
    const StopOnInterrupt stop;
    const Progress listen = [draw = progress_line(session), &stop](const Moment& m) {
        if (draw) draw(m);
        return !stop.requested();
    };
    c.settings.progress = listen;
    const ReducedModel small = reduce(model, c.settings);
    clear_progress_line();
    const Reduction& r = small.reduction;
    const double relative = r.squared_norm > 0 ? r.distance / r.squared_norm : 0;
    Json json{{"model", c.model},
              {"vectors_before", model.expansion().size()},
              {"vectors", r.expansion.size()},
              {"method", c.method},
              {"joint", c.settings.joint},
              {"status", describe(r.status)},
              {"squared_norm", r.squared_norm},
              {"squared_distance", r.distance},
              {"relative_distance", relative},
              {"seconds", r.seconds}};
    std::string text = line("status", fmt::format("{}, {:.3g} s", describe(r.status), r.seconds)) +
                       line("vectors", fmt::format("{} of {}, shared by {}", r.expansion.size(),
                                                   model.expansion().size(),
                                                   counted(r.expansion.outputs(), "output"))) +
                       line("distance", fmt::format("{:.6g} squared, {} of the squared norm {:.6g}",
                                                    r.distance, percent(relative), r.squared_norm));
    if (judge.there()) {
        describe_change(model, judge, change_of(small.model, judge, listen), json, text);
    }
    if (!c.output.empty()) {
        const InterruptLater later(c.output);
        save(small.model, c.output);
        json["output"] = c.output;
        text += line("model", c.output);
    }
    if (!c.curve.empty() && !stop.requested()) {
        const std::string curve = write_curve(c, model, judge, r.expansion.size(), listen);
        clear_progress_line();
        const InterruptLater later(c.curve);
        write_whole(c.curve, [&](Output& out) { out.write(curve); });
        json["curve"] = c.curve;
        text += line("curve", c.curve);
    }
    if (session.json) {
        print_json(json);
    } else {
        fmt::print(c.output == "-" ? stderr : stdout, "{}", text);
    }
    return stop.requested() ? exit_interrupted : 0;
}

}  // namespace

void add_reduce(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "reduce", "approximate a model by one with fewer vectors",
        "  mercer reduce usps.mercer small.mercer --speedup 10 --data zip.test.gz --label first\n"
        "  mercer reduce a9a.mercer small.mercer --error 0.01\n"
        "  mercer reduce faces.mercer fast.mercer --vectors 60 --method sequential --no-joint\n"
        "All outputs share the vectors. greedy and l1 choose among those of the model, sequential\n"
        "makes new ones; then all are moved together, unless --no-joint, to where the squared\n"
        "distance from the model in feature space is least. Ctrl-C keeps what there is.");
    const auto o = std::make_shared<ReduceCommand>();
    const auto input = std::make_shared<InputOptions>();
    add_file(command, session, "MODEL", o->model, FileUse::input, "the model to reduce")
        ->required();
    add_file(command, session, "OUTPUT", o->output, FileUse::model, "file of the reduced model");
    add_count(command, "--vectors", o->settings.vectors, 1, 10'000'000, "keep so many");
    command
        .add_option("--error", o->settings.error,
                    "keep as few as leave this fraction of the squared norm")
        ->type_name("X");
    command.add_option("--speedup", o->settings.speedup, "keep so many times fewer")
        ->type_name("X");
    add_choice(command, session, "--method", o->method, {"greedy", "l1", "sequential"},
               "where the vectors come from");
    const CLI::Option* const no_joint =
        command.add_flag("--no-joint", o->no_joint, "leave the vectors where they are found");
    only(session,
         add_count(command, "--iterations", o->settings.iterations, 1, 100'000,
                   "steps of moving them, at most [100]"),
         without(no_joint, "nothing is moved then"));
    add_count(command, "--memory", o->memory, 1, 1'000'000, "megabytes for kernel values [1024]");
    const CLI::Option* const data =
        add_file(command, session, "--data", input->path, FileUse::input,
                 "data to count changed predictions on");
    add_file(command, session, "--curve", o->curve, FileUse::data,
             "CSV file: vectors against distance and changed predictions");
    add_reading_options(command, session, *input);
    for (CLI::Option* option : input->options) {
        // The precision is also that of the reduction.
        if (!option->check_name("--double")) only(session, option, with({data}));
    }
    command.callback([&session, o, input] {
        session.action = [&session, o, input] { session.exit_code = run(*o, *input, session); };
    });
}

}  // namespace mercer::cli
