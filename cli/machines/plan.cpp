// mercer plan: what training would cost, from all rows and in the span of some, before it is done.
#include "cli/machines/plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/interrupt.hpp"
#include "cli/common/machines.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "cli/common/table_input.hpp"
#include "mercer/base/error.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string seconds_text(double seconds) {
    if (seconds < 100) return fmt::format("{:.2g} s", seconds);
    if (seconds < 6000) return fmt::format("{:.0f} min", std::ceil(seconds / 60));
    return fmt::format("{:.3g} h", seconds / 3600);
}

std::string memory_text(double bytes) {
    const double mebibytes = bytes / (1 << 20);
    return mebibytes < 10000 ? fmt::format("{:.0f} MiB", std::ceil(mebibytes))
                             : fmt::format("{:.0f} GiB", std::ceil(mebibytes / 1024));
}

std::string plan_text(const TrainingPlan& plan, Task task) {
    const bool judged = is_classifier(task) || is_regressor(task);
    std::string text = fmt::format("  {:<24} {:>10} {:>12} {:>14}{}\n", "way", "time", "memory",
                                   "kernel left", judged ? "   error on the pilot" : "");
    for (std::size_t w = 0; w < plan.ways.size(); ++w) {
        const TrainingWay& way = plan.ways[w];
        const std::string error =
            is_classifier(task) ? percent(way.pilot_error) : fmt::format("{:.4g}", way.pilot_error);
        text += fmt::format("{} {:<24} {:>10} {:>12} {:>14}   {}{}\n", w == plan.chosen ? "*" : " ",
                            way.centres == 0 ? "all rows" : way.approximate,
                            seconds_text(way.seconds), memory_text(way.bytes),
                            way.centres == 0 ? "0 %" : fmt::format("{:.3g} %", 100 * way.left),
                            judged ? error : "", way.fits ? "" : "   does not fit --memory");
    }
    return text;
}

int run_plan(const TrainOptions& options, const InputOptions& input, const Session& session) {
    check_options(options);
    SvmSettings svm;
    if (is_svm(options.machine().task)) svm = svm_settings_of(options);
    machine_of(options, svm, {});
    InputOptions reading = input;
    if (options.double_precision) reading.read.double_precision = true;
    const Dataset data = read_for_learning(reading, session, options.kernel);
    const StopOnInterrupt stop;
    const Progress progress = [draw = progress_line(session), &stop](const Moment& m) {
        if (draw) draw({.task = "pilot", .fraction = -1, .detail = m.task});
        return !stop.requested();
    };
    const TrainingPlan plan =
        plan_training(common_of(options, progress), maker_of(options, svm), data);
    clear_progress_line();
    if (session.json) {
        Json json = plan_json(plan);
        json["input"] = input.path;
        json["rows"] = data.size();
        print_json(json);
        return 0;
    }
    std::string text =
        line("data", fmt::format("{}, {}, {}", input.path, counted(data.size(), "row"),
                                 counted(data.columns(), "column")));
    text += line("pilot", fmt::format("{} in {}; times are estimates from it",
                                      counted(plan.pilot_rows, "row"), seconds_text(plan.seconds)));
    text += plan_text(plan, options.machine().task);
    text += line("choice", plan.why);
    fmt::print("{}", text);
    return 0;
}

}  // namespace

nlohmann::ordered_json plan_json(const TrainingPlan& plan) {
    Json ways = Json::array();
    for (const TrainingWay& way : plan.ways) {
        ways.push_back({{"approximate", way.approximate},
                        {"centres", way.centres},
                        {"seconds", way.seconds},
                        {"bytes", way.bytes},
                        {"left", way.left},
                        {"pilot_error", way.pilot_error},
                        {"fits", way.fits}});
    }
    return {{"ways", ways},
            {"chosen", plan.chosen},
            {"why", plan.why},
            {"pilot_rows", plan.pilot_rows},
            {"seconds", plan.seconds}};
}

void add_plan(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "plan", "what training would cost in time and memory, before it is done",
        "  mercer plan power.npz --task ridge --kernel 'rbf(gamma=0.05)'\n"
        "  mercer plan a9a.gz -C 10 --time-limit 60\n"
        "Machines of a few thousand rows are trained, from all of them and in the span of some, "
        "and\n"
        "their times extrapolated. 'mercer train --approximate auto' does as the line marked * "
        "says:\n"
        "all rows where they keep within --time-limit (or ten minutes) and --memory.");
    const auto input = add_input(command, session);
    add_column_options(command, session, *input);
    const auto options = add_machine_only_options(command, session);
    command.callback([&session, input, options] {
        session.action = [&session, input, options] {
            session.exit_code = run_plan(*options, *input, session);
        };
    });
}

}  // namespace mercer::cli
