// mercer cascade: a model that stops early on rows it can reject after few kernels.
#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/compress/cascade.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CascadeCommand {
    std::string model;
    std::string output;
    std::string test;
    CascadeSettings settings{};
};

/// How far the rows of a file go, and how long they take beside the whole expansion.
void describe_run(const Model& whole, const Model& quick, const Dataset& data,
                  const std::string& path, Json& json, std::string& text) {
    quick.decision(data.x.select(std::vector<std::size_t>{0}));  // libraries opened, code read
    const Predictor predictor(whole);
    predictor.decision(data.x.select(std::vector<std::size_t>{0}));
    Stopwatch watch;
    const CascadeRun run = run_cascade(quick, data.x);
    const double seconds = watch.lap();
    const Matrix<double> f = predictor.decision(data.x);
    const double whole_seconds = watch.lap();
    const std::vector<double> now = quick.classify(run.decisions.view());
    const std::vector<double> before = whole.classify(f.view());
    std::size_t changed = 0;
    for (std::size_t i = 0; i < now.size(); ++i) changed += now[i] != before[i] ? 1 : 0;
    const auto rows = static_cast<double>(data.size());
    Json left = Json::array();
    std::string shares;
    for (std::size_t s = 0; s < run.stages.size(); ++s) {
        const double share = static_cast<double>(run.left[s]) / rows;
        left.push_back({{"kernels", run.stages[s]}, {"left", share}});
        shares += line(s == 0 ? "left" : "", fmt::format("{} after {}", percent(share),
                                                         counted(run.stages[s], "kernel")));
    }
    Json part{{"input", path},
              {"rows", data.size()},
              {"average_kernels", run.average_kernels()},
              {"vectors", quick.expansion().size()},
              {"changed", static_cast<double>(changed) / rows},
              {"seconds", seconds},
              {"seconds_whole", whole_seconds},
              {"left", left}};
    text +=
        line("rows", fmt::format("{} of {}", data.size(), path)) + shares +
        line("average", fmt::format("{:.3g} kernels a row of {}", run.average_kernels(),
                                    quick.expansion().size())) +
        line("changed",
             fmt::format("{} of the predictions", percent(static_cast<double>(changed) / rows))) +
        line("time", fmt::format("{:.3g} s, {:.3g} s without rejection", seconds, whole_seconds));
    if (!data.y.empty() && is_classifier(quick.task())) {
        const double accuracy = score(quick.task(), quick.predict_labels(data.x), data.y).accuracy;
        part["accuracy"] = accuracy;
        text += line("accuracy", percent(accuracy));
    }
    json["runs"].push_back(std::move(part));
}

void run(const CascadeCommand& c, const InputOptions& input, const Session& session) {
    if (session.json && c.output == "-") {
        throw InvalidInput("the model and --json cannot both go to standard output; name a file");
    }
    const auto [model, data] = read_model_and_data(c.model, input, session);
    CascadeSettings settings = c.settings;
    settings.progress = progress_line(session);
    const Model quick = cascade(model, data, settings);
    clear_progress_line();
    Json json{{"model", c.model}, {"runs", Json::array()}};
    std::string text;
    describe_run(model, quick, data, input.path, json, text);
    if (!c.test.empty()) {
        const auto [same, test] = read_model_and_data(c.model, for_file(input, c.test), session);
        describe_run(same, quick, test, c.test, json, text);
    }
    if (!c.output.empty()) {
        const InterruptLater later(c.output);
        save(quick, c.output);
        json["output"] = c.output;
        text += line("model", c.output);
    }
    if (session.json) {
        print_json(json);
    } else {
        fmt::print(c.output == "-" ? stderr : stdout, "{}", text);
    }
}

}  // namespace

void add_cascade(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "cascade", "let a model reject rows after few kernels",
        "  mercer reduce faces.mercer short.mercer --vectors 60 --method sequential --no-joint\n"
        "  mercer cascade short.mercer train.csv quick.mercer --keep 1 --false-negatives 0.02\n"
        "  mercer predict quick.mercer patches.csv\n"
        "The vectors are put in the order in which they approximate the machine best. INPUT sets\n"
        "the thresholds: of the rows of the class to keep that the whole machine accepts, at most\n"
        "the given share is rejected early. Two classes, or machines of a single class.");
    const auto o = std::make_shared<CascadeCommand>();
    const auto input = add_model_and_input(command, session, o->model);
    add_file(command, session, "OUTPUT", o->output, FileUse::model, "file of the new model");
    command.add_option("--keep", o->settings.keep, "the class that must not be lost [the first]")
        ->type_name("CLASS");
    command
        .add_option("--false-negatives", o->settings.false_negatives,
                    "share of it that may be [0.01]")
        ->type_name("X");
    command
        .add_option("--stages", o->settings.stages,
                    "numbers of kernels after which rows may go [1,2,3,4,6,8,…]")
        ->delimiter(',')
        ->type_name("N,…");
    add_file(command, session, "--test", o->test, FileUse::input, "other rows to run on");
    command.callback([&session, o, input] {
        session.action = [&session, o, input] { run(*o, *input, session); };
    });
}

}  // namespace mercer::cli
