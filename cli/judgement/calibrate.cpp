// mercer calibrate: class probabilities learnt on rows set aside, and whether they keep their word.
#include <fmt/format.h>

#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/chart/model_figures.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/select/judge.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct CalibrateCommand {
    std::string model{};
    std::string method = "none";
    std::string output{};
    std::string test{};
    std::string picture{};
    std::size_t bins = 10;
};

Json json_of(const CalibrationReport& r) {
    Json bins = Json::array();
    for (const ReliabilityBin& b : r.bins) {
        bins.push_back({{"low", b.low},
                        {"high", b.high},
                        {"rows", b.rows},
                        {"predicted", b.predicted},
                        {"observed", b.observed}});
    }
    return {{"rows", r.rows},
            {"classes", r.classes},
            {"accuracy", r.accuracy},
            {"brier", r.brier},
            {"log_loss", r.log_loss},
            {"expected_calibration_error", r.expected_error},
            {"largest_calibration_error", r.largest_error},
            {"bins", std::move(bins)}};
}

std::string describe(const CalibrationReport& r) {
    std::string text =
        line("judged on", counted(r.rows, "row")) +
        line("accuracy", fmt::format("{:.5g}", r.accuracy)) +
        line("Brier", fmt::format("{:.5g}", r.brier)) +
        line("log loss", fmt::format("{:.5g}", r.log_loss)) +
        line("off by",
             fmt::format("{:.4g} on average, {:.4g} at most", r.expected_error, r.largest_error)) +
        fmt::format("{:<14}{:>8}{:>10}{:>10}\n", "probability", "rows", "predicted", "observed");
    for (const ReliabilityBin& b : r.bins) {
        if (b.rows == 0) continue;
        text += fmt::format("{:<14}{:>8}{:>10.4f}{:>10.4f}\n",
                            fmt::format("{:.3g} … {:.3g}", b.low, b.high), b.rows, b.predicted,
                            b.observed);
    }
    return text;
}

void run(const CalibrateCommand& c, const InputOptions& input, const Session& session) {
    if (c.method == "none" && !c.output.empty()) {
        throw InvalidInput("-o saves a calibrated model: give --method too");
    }
    auto [model, data] = read_model_and_data(c.model, input, session);
    if (c.method != "none") model = calibrate(model, data, calibration_named(c.method));
    if (!has_probabilities(model)) {
        throw InvalidInput(c.model +
                           ": the model has no probabilities; give --method, or train it "
                           "with --probability");
    }
    if (!c.test.empty()) {
        data = read_model_and_data(c.model, for_file(input, c.test), session).data;
    }
    if (data.y.empty()) throw InvalidInput("the data has no labels to judge probabilities by");
    const Matrix<double> p = model.probabilities(data.x, progress_line(session));
    clear_progress_line();
    const CalibrationReport report =
        calibration_report(p.view(), class_positions(model, data.y), c.bins);
    if (!c.output.empty()) {
        const InterruptLater later(c.output);
        save(model, c.output);
    }
    if (!c.picture.empty()) {
        const InterruptLater later(c.picture);
        const std::string heading = fmt::format(
            "{}, Brier {:.3g}", c.method == "none" ? "as trained" : c.method, report.brier);
        chart::write(chart::reliability_figure(report, heading), c.picture);
    }
    if (session.json) {
        Json json{{"model", c.model}, {"method", c.method}};
        json.update(json_of(report));
        if (!c.output.empty()) json["output"] = c.output;
        print_json(json);
        return;
    }
    say("{}", describe(report));
    if (c.test.empty() && c.method != "none") {
        say("{}", line("note", "judged on the rows it was learnt from; --test FILE judges fairly"));
    }
}

}  // namespace

void add_calibrate(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "calibrate", "learn class probabilities on rows set aside, and judge them",
        "  mercer calibrate heart.mercer aside.csv --method isotonic -o sure.mercer --test "
        "test.csv\n"
        "  mercer calibrate sure.mercer test.csv --picture reliability.svg\n"
        "INPUT must not be the data the machine was trained on. docs/probabilities.md says more.");
    const auto options = std::make_shared<CalibrateCommand>();
    const auto input = add_model_and_input(command, session, options->model);
    add_choice(command, session, "--method", options->method,
               {"none", "platt", "isotonic", "temperature"},
               "learn probabilities on INPUT; none: judge those there are");
    add_file(command, session, "-o,--output", options->output, FileUse::model,
             "save the calibrated model here");
    add_file(command, session, "--test", options->test, FileUse::input,
             "judge on this data instead of INPUT");
    add_file(command, session, "--picture", options->picture, FileUse::picture,
             "draw predicted against observed, as .svg or .png");
    add_count(command, "--bins", options->bins, 1, 1000, "of the reliability table [10]");
    command.callback([&session, input, options] {
        session.action = [&session, input, options] { run(*options, *input, session); };
    });
}

}  // namespace mercer::cli
