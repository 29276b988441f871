// mercer judge and mercer compare: how good a model is on data with labels, and which of two is
// better.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/judgement_output.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/select/judge.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct JudgeCommand {
    std::string model;
    std::string positive;
    double false_positive_cost = -1;
    double false_negative_cost = -1;
};

std::string threshold_text(const ThresholdChoice& c, const std::string& positive) {
    return line("threshold",
                fmt::format("{:.6g}: say {} from this decision value on; {} false positives and {} "
                            "false negatives cost {:.6g} a row, {:.6g} as the model decides",
                            c.threshold, positive, c.false_positives, c.false_negatives, c.cost,
                            c.usual_cost)) +
           line("", "found on these rows: judge it on others");
}

void run_judge(const JudgeCommand& c, const InputOptions& input, const Session& session) {
    const auto [model, data] = read_model_and_data(c.model, input, session);
    const Judgement j =
        judge(model, data, {.positive = c.positive, .progress = progress_line(session)});
    clear_progress_line();
    const bool costs = c.false_positive_cost >= 0 || c.false_negative_cost >= 0;
    Json json{{"model", c.model}, {"input", input.path}};
    json.update(cli::json_of(j));
    std::string text = line("model", fmt::format("{}, {}", c.model, task_name(model.task()))) +
                       line("data", input.path) + describe_judgement(j);
    if (costs) {
        const ThresholdChoice choice =
            choose_threshold(j, c.false_positive_cost < 0 ? 1 : c.false_positive_cost,
                             c.false_negative_cost < 0 ? 1 : c.false_negative_cost);
        text += threshold_text(choice, j.positive);
        json["threshold"] = {{"value", choice.threshold},
                             {"cost", choice.cost},
                             {"usual_cost", choice.usual_cost},
                             {"false_positives", choice.false_positives},
                             {"false_negatives", choice.false_negatives}};
    }
    if (session.json) {
        print_json(json);
    } else {
        say("{}", text);
    }
}

struct CompareCommand {
    std::string first;
    std::string second;
};

std::string verdict(const Comparison& c) {
    constexpr double level = 0.05;
    if (c.p_value >= level) {
        return "these rows do not tell the two apart";
    }
    const bool first = c.numbers ? c.first < c.second : c.first > c.second;
    return fmt::format("the {} is better, beyond what chance does in {} of cases",
                       first ? "first" : "second", percent(1 - level));
}

void run_compare(const CompareCommand& c, const InputOptions& input, const Session& session) {
    const auto [a, data] = read_model_and_data(c.first, input, session);
    const auto [b, other] = read_model_and_data(c.second, input, session);
    const bool numbers = is_regressor(a.task());
    if (numbers != is_regressor(b.task()) || (!numbers && !is_classifier(a.task())) ||
        (!numbers && !is_classifier(b.task()))) {
        throw InvalidInput(fmt::format(
            "{} and {} are models of tasks {} and {}: two that predict classes, or two that "
            "predict numbers, can be compared",
            c.first, c.second, task_name(a.task()), task_name(b.task())));
    }
    if (data.y.empty() || other.y.empty()) {
        throw InvalidInput(input.path +
                           ": there are no labels to compare by: say where they are with --label");
    }
    const Comparison found =
        compare(a.predict_labels(data.x), b.predict_labels(other.x), data.y, numbers);
    if (session.json) {
        Json json{{"first", {{"model", c.first}, {numbers ? "rmse" : "accuracy", found.first}}},
                  {"second", {{"model", c.second}, {numbers ? "rmse" : "accuracy", found.second}}},
                  {"rows", found.rows},
                  {"only_first", found.only_first},
                  {"only_second", found.only_second},
                  {"test", found.test},
                  {"p_value", found.p_value}};
        if (numbers) json.update({{"t", found.t}, {"sign_p_value", found.sign_p_value}});
        print_json(json);
        return;
    }
    const auto score = [&](double value) {
        return numbers ? fmt::format("RMSE {:.6g}", value) : "accuracy " + percent(value);
    };
    say("{}", line("data", fmt::format("{}, {}", input.path, counted(found.rows, "row"))) +
                  line("first", fmt::format("{}, {}", c.first, score(found.first))) +
                  line("second", fmt::format("{}, {}", c.second, score(found.second))));
    say("{}",
        line(numbers ? "nearer" : "alone right",
             fmt::format("the first in {}, the second in {}", counted(found.only_first, "row"),
                         counted(found.only_second, "row"))));
    say("{}", line("test", fmt::format("{}: p = {:.4g}", found.test, found.p_value)));
    if (numbers) say("{}", line("", fmt::format("sign test: p = {:.4g}", found.sign_p_value)));
    say("{}", line("verdict", verdict(found)));
}

}  // namespace

void add_judge(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "judge", "judge a model on rows it has not seen: mistakes, curves, intervals",
        "  mercer judge spam.mercer test.csv\n"
        "  mercer judge spam.mercer test.csv --positive spam --cost-false-negative 10\n"
        "  mercer judge houses.mercer test.csv --json | jq .rmse_interval");
    const auto c = std::make_shared<JudgeCommand>();
    const auto input = add_model_and_input(command, session, c->model);
    command
        .add_option("--positive", c->positive,
                    "two classes: the one that counts as positive [the last by name]")
        ->type_name("CLASS");
    for (const auto& [name, value, about] :
         {std::tuple("--cost-false-positive", &c->false_positive_cost,
                     "choose a threshold: what a row costs that is wrongly called positive [1]"),
          std::tuple("--cost-false-negative", &c->false_negative_cost,
                     "the same for a positive row that is missed [1]")}) {
        command.add_option(name, *value, about)
            ->check(CLI::NonNegativeNumber.description(""))
            ->type_name("X");
    }
    command.callback([&session, c, input] {
        session.action = [&session, c, input] { run_judge(*c, *input, session); };
    });
}

void add_compare(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "compare", "which of two models is better, by a paired test on the same rows",
        "  mercer compare linear.mercer gaussian.mercer test.csv\n"
        "Classes: McNemar's exact test. Numbers: Student's paired t and the sign test.");
    const auto c = std::make_shared<CompareCommand>();
    add_file(command, session, "FIRST", c->first, FileUse::input, "model file")->required();
    add_file(command, session, "SECOND", c->second, FileUse::input, "model file")->required();
    const auto input = add_input(command, session);
    command.callback([&session, c, input] {
        session.action = [&session, c, input] { run_compare(*c, *input, session); };
    });
}

}  // namespace mercer::cli
