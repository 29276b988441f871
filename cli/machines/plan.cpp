// mercer plan: what training would cost and give, from all rows, in cells and in the span of some,
// before it is done.
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

/// "12.3 ± 0.4 %", or a root mean squared error.
std::string error_text(Task task, double error, double deviation) {
    if (!is_classifier(task)) return fmt::format("{:.4g} ± {:.2g}", error, deviation);
    return fmt::format("{:.3g} ± {:.2g} %", 100 * error, 100 * deviation);
}

std::string plan_text(const TrainingPlan& plan, Task task) {
    const bool judged = is_classifier(task) || is_regressor(task);
    std::string text = fmt::format("  {:<24} {:>11} {:>11} {:>16}  {}\n", "way", "time", "memory",
                                   judged ? "error expected" : "kernel left", "certificate");
    for (std::size_t w = 0; w < plan.ways.size(); ++w) {
        const TrainingWay& way = plan.ways[w];
        const std::string given = !way.tried ? "not known"
                                  : judged   ? error_text(task, way.expected_error, way.deviation)
                                             : fmt::format("{:.3g} %", 100 * way.left);
        text += fmt::format("{} {:<24} {:>11} {:>11} {:>16}  {}{}\n", w == plan.chosen ? "*" : " ",
                            way.approximate.empty() ? "all rows" : way.approximate,
                            (way.tried ? "" : "over ") + seconds_text(way.seconds),
                            memory_text(way.bytes), given, way.certificate,
                            way.fits ? "" : "; does not fit --memory");
    }
    return text;
}

/// What the pilot has seen.
std::string seen_text(const TrainingPlan& plan, Task task) {
    std::string text = fmt::format("time of all rows grows as rows^{:.2g}", plan.growth);
    if (is_svm(task)) {
        text += fmt::format("; {:.3g} % are support vectors", 100 * plan.support);
    }
    for (const TrainingWay& way : plan.ways) {
        if (way.centres == 0) continue;
        text +=
            fmt::format("; {} centres leave {:.3g} % of the kernel", way.centres, 100 * way.left);
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
    text += line("seen", seen_text(plan, options.machine().task));
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
                        {"cell_rows", way.cell_rows},
                        {"seconds", way.seconds},
                        {"bytes", way.bytes},
                        {"left", way.left},
                        {"pilot_error", way.pilot_error},
                        {"expected_error", way.expected_error},
                        {"deviation", way.deviation},
                        {"certificate", way.certificate},
                        {"fits", way.fits},
                        {"tried", way.tried}});
    }
    return {{"ways", ways},           {"chosen", plan.chosen},
            {"why", plan.why},        {"pilot_rows", plan.pilot_rows},
            {"growth", plan.growth},  {"support", plan.support},
            {"seconds", plan.seconds}};
}

void add_plan(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "plan", "what training would cost in time and memory, before it is done",
        "  mercer plan power.npz --task ridge --kernel 'rbf(gamma=0.05)'\n"
        "  mercer plan a9a.gz -C 10 --time-limit 60\n"
        "Machines of more and more rows are trained, up to some thousand, from all of them and in "
        "the\nspan of some, and some cells of all rows; times and errors are extrapolated as they "
        "were seen to\ngrow and fall. 'mercer train --approximate auto' does as the line marked * "
        "says: all rows where\nthey keep within --time-limit (or ten minutes) and --memory, else "
        "what is expected to err least.");
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
