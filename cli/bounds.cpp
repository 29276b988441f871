// mercer bounds: what can be promised of a machine, from numbers or from a model and its data.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "cli/commands.hpp"
#include "cli/model_input.hpp"
#include "cli/model_output.hpp"
#include "cli/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/theory/model_bounds.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

/// The numbers that may be given in place of a model, by the names of their options.
using Numbers = std::map<std::string, double>;

struct BoundsCommand {
    std::string model{};
    ModelBoundSettings settings{};
    bool no_loo = false;
    bool plan = false;
    std::size_t memory = 1024;
    Numbers numbers{};
};

Json json_of(const std::vector<BoundInput>& inputs) {
    Json json = Json::object();
    for (const BoundInput& i : inputs) json[i.name] = json_number(i.value);
    return json;
}

Json json_of(const Bound& b) {
    return {{"name", b.name},
            {"formula", b.formula},
            {"inputs", json_of(b.inputs)},
            {"value", json_number(b.value)},
            {"confidence", b.confidence},
            {"vacuous", b.vacuous},
            {"estimate", b.estimate},
            {"about", b.about}};
}

std::string inputs_text(const std::vector<BoundInput>& inputs) {
    std::string text;
    for (const BoundInput& i : inputs) {
        text += fmt::format("{}{} = {:.6g}", text.empty() ? "" : ", ", i.name, i.value);
    }
    return text;
}

/// Value and confidence first; formula, numbers and meaning below.
std::string describe(const Bound& b) {
    std::vector<std::string> remarks;
    if (b.confidence < 1) remarks.push_back(fmt::format("with probability {:.4g}", b.confidence));
    if (b.vacuous) remarks.emplace_back("vacuous");
    if (b.estimate) remarks.emplace_back("an estimate");
    std::string text = fmt::format("{:<22}{:.5g}", b.name, b.value);
    if (!remarks.empty()) text = fmt::format("{:<34}{}", text, fmt::join(remarks, ", "));
    return text +
           fmt::format("\n    {}\n    {}\n    {}\n", b.formula, inputs_text(b.inputs), b.about);
}

/// One bound or plan: the numbers it cannot do without, those it takes as well, and how it is made.
template <class Result>
struct Rule {
    std::vector<std::string> needs;
    std::vector<std::string> takes;
    std::function<Result(const Numbers&)> make;

    std::vector<std::string> missing(const Numbers& given) const {
        std::vector<std::string> names;
        for (const std::string& name : needs) {
            if (!given.contains(name)) names.push_back(name);
        }
        return names;
    }
    bool uses(const std::string& name) const {
        return std::ranges::find(needs, name) != needs.end() ||
               std::ranges::find(takes, name) != takes.end();
    }
};

/// What comes of the rules whose numbers are there. A number that no rule could use is refused with
/// the ones it would need.
template <class Result>
std::vector<Result> apply(const std::vector<Rule<Result>>& rules, const Numbers& given,
                          const Session& session) {
    for (const auto& [name, value] : given) {
        const Rule<Result>* nearest = nullptr;
        for (const Rule<Result>& rule : rules) {
            if (!rule.uses(name)) continue;
            if (nearest == nullptr || rule.missing(given).size() < nearest->missing(given).size()) {
                nearest = &rule;
            }
        }
        if (nearest == nullptr) refuse_given(session, name, "here", "no bound has a place for it");
        if (const auto missing = nearest->missing(given); !missing.empty()) {
            refuse_given(session, name, "without " + listed(missing), "give that too");
        }
    }
    std::vector<Result> results;
    for (const Rule<Result>& rule : rules) {
        if (rule.missing(given).empty()) results.push_back(rule.make(given));
    }
    return results;
}

RiskSample sample_of(const Numbers& n) {
    const auto or_else = [&n](const char* name, double value) {
        return n.contains(name) ? n.at(name) : value;
    };
    return {or_else("--error", 0), n.at("--examples"), or_else("--delta", 0.05)};
}

Bound margin_dimension_of(const Numbers& n) {
    return margin_dimension(n.at("--radius"), n.at("--norm"), true,
                            n.contains("--features") ? n.at("--features") : 0);
}

/// Probabilities that training and test error differ by ε.
std::vector<Rule<Bound>> rules_of_distance() {
    const auto shattering = [](const Numbers& n, double dimension) {
        const double m = n.at("--examples");
        return shattering_bound(sauer_shattering(dimension, 2 * m), m, n.at("--epsilon"));
    };
    return {
        {{"--examples", "--epsilon"},
         {},
         [](const Numbers& n) { return chernoff(n.at("--examples"), n.at("--epsilon")); }},
        {{"--examples", "--epsilon"},
         {},
         [](const Numbers& n) {
             return chernoff_two_samples(n.at("--examples"), n.at("--epsilon"));
         }},
        {{"--examples", "--epsilon", "--functions"},
         {},
         [](const Numbers& n) {
             return union_bound(n.at("--functions"), n.at("--examples"), n.at("--epsilon"));
         }},
        {{"--examples", "--epsilon", "--dimension"},
         {},
         [=](const Numbers& n) { return shattering(n, n.at("--dimension")); }},
        {{"--examples", "--epsilon", "--features"},
         {},
         [](const Numbers& n) {
             const double m = n.at("--examples");
             return shattering_bound(half_space_shattering(n.at("--features"), 2 * m), m,
                                     n.at("--epsilon"));
         }},
        {{"--examples", "--epsilon", "--radius", "--norm"},
         {},
         [=](const Numbers& n) { return shattering(n, margin_dimension_of(n).value); }},
    };
}

/// Bounds on the error, with probability 1 − δ.
std::vector<Rule<Bound>> rules_of_risk() {
    const std::vector<std::string> also{"--error", "--delta"};
    return {
        {{"--examples"}, also, [](const Numbers& n) { return chernoff_risk(sample_of(n)); }},
        {{"--examples", "--functions"},
         also,
         [](const Numbers& n) { return union_risk(sample_of(n), n.at("--functions")); }},
        {{"--examples", "--dimension"},
         also,
         [](const Numbers& n) {
             const double shattered = sauer_shattering(n.at("--dimension"), 2 * n.at("--examples"));
             return shattering_risk(sample_of(n), shattered);
         }},
        {{"--examples", "--dimension"},
         also,
         [](const Numbers& n) { return vc_risk(sample_of(n), n.at("--dimension")); }},
        {{"--examples", "--features"},
         also,
         [](const Numbers& n) {
             return vc_risk(sample_of(n), half_space_dimension(n.at("--features")));
         }},
        {{"--examples", "--radius", "--norm"},
         also,
         [](const Numbers& n) { return vc_risk(sample_of(n), margin_dimension_of(n).value); }},
    };
}

/// Those that are neither.
std::vector<Rule<Bound>> other_rules() {
    return {
        {{"--radius", "--norm"}, {"--features"}, margin_dimension_of},
        {{"--examples", "--radius", "--norm"},
         {},
         [](const Numbers& n) {
             return radius_margin(n.at("--examples"), n.at("--radius"), n.at("--norm"), true);
         }},
        {{"--examples", "--support"},
         {},
         [](const Numbers& n) {
             return support_share(n.at("--examples"), n.at("--support"), false);
         }},
    };
}

std::vector<Bound> from_numbers(const Numbers& n, const Session& session) {
    if (n.empty()) {
        throw InvalidInput(
            "give a model and its data, or numbers: --examples, or --radius and --norm");
    }
    // Whoever asks about ε alone does not ask for a bound on the error.
    const bool distance = n.contains("--epsilon");
    const bool risk = !distance || n.contains("--error") || n.contains("--delta");
    std::vector<Rule<Bound>> rules;
    const auto add = [&rules](const std::vector<Rule<Bound>>& more) {
        rules.insert(rules.end(), more.begin(), more.end());
    };
    if (distance) add(rules_of_distance());
    if (risk) add(rules_of_risk());
    add(other_rules());
    return apply(rules, n, session);
}

std::vector<SamplePlan> plans_of(const Numbers& n, const Session& session) {
    if (!n.contains("--epsilon")) {
        throw InvalidInput("--plan needs --epsilon, the distance to be kept");
    }
    const double epsilon = n.at("--epsilon");
    const double delta = n.contains("--delta") ? n.at("--delta") : 0.05;
    const std::vector<std::string> both{"--epsilon", "--delta"};
    const auto features = [](const Numbers& all) {
        return half_space_dimension(all.at("--features"));
    };
    const std::vector<Rule<SamplePlan>> rules{
        {{}, both, [=](const Numbers&) { return rows_for_chernoff(epsilon, delta); }},
        {{"--functions"},
         {},
         [=](const Numbers& all) { return rows_for_union(all.at("--functions"), epsilon, delta); }},
        {{"--dimension"},
         {},
         [=](const Numbers& all) {
             return rows_for_shattering(all.at("--dimension"), epsilon, delta);
         }},
        {{"--dimension"},
         {},
         [=](const Numbers& all) { return rows_for_vc(all.at("--dimension"), epsilon, delta); }},
        {{"--features"},
         {},
         [=](const Numbers& all) { return rows_for_shattering(features(all), epsilon, delta); }},
        {{"--features"}, {}, [=](const Numbers& all) {
             return rows_for_vc(features(all), epsilon, delta);
         }}};
    return apply(rules, n, session);
}

void run_plan(const BoundsCommand& c, const Session& session) {
    Json json = Json::array();
    for (const SamplePlan& p : plans_of(c.numbers, session)) {
        json.push_back({{"name", p.name},
                        {"formula", p.formula},
                        {"inputs", json_of(p.inputs)},
                        {"rows", p.rows}});
        if (!session.json) {
            say("{:<22}{:.0f} rows\n    {}\n    {}\n", p.name, p.rows, p.formula,
                inputs_text(p.inputs));
        }
    }
    if (session.json) print_json({{"plans", std::move(json)}});
}

void run_model(const BoundsCommand& c, const InputOptions& input, const Session& session) {
    if (input.path.empty()) throw InvalidInput("give the training data too: MODEL INPUT");
    const auto [model, data] = read_model_and_data(c.model, input, session);
    if (model.task() == Task::one_class) {
        refuse_given(session, "--no-loo", "for a model of task one-class",
                     "nothing is trained again for it");
    } else {
        refuse_given(session, "--widen",
                     fmt::format("for a model of task {}", task_name(model.task())),
                     "it belongs to one-class");
    }
    ModelBoundSettings settings = c.settings;
    if (c.numbers.contains("--delta")) settings.delta = c.numbers.at("--delta");
    settings.leave_one_out = !c.no_loo;
    settings.memory_bytes = c.memory << 20;
    settings.progress = progress_line(session);
    const std::vector<MachineBounds> machines = model_bounds(model, data, settings);
    clear_progress_line();
    Json parts = Json::array();
    for (const MachineBounds& m : machines) {
        Json bounds = Json::array();
        for (const Bound& b : m.bounds) bounds.push_back(json_of(b));
        parts.push_back({{"name", m.name}, {"rows", m.rows}, {"bounds", std::move(bounds)}});
        if (session.json) continue;
        if (machines.size() > 1) say("{}, {}\n", m.name, counted(m.rows, "row"));
        for (const Bound& b : m.bounds) say("{}", describe(b));
    }
    if (!session.json) say("{}", sources_line());
    if (session.json) {
        print_json({{"model", c.model}, {"input", input.path}, {"parts", std::move(parts)}});
    }
}

void run(const BoundsCommand& c, const InputOptions& input, const Session& session) {
    if (!c.model.empty()) return run_model(c, input, session);
    if (c.plan) return run_plan(c, session);
    Json json = Json::array();
    for (const Bound& b : from_numbers(c.numbers, session)) {
        json.push_back(json_of(b));
        if (!session.json) say("{}", describe(b));
    }
    if (!session.json) say("{}", sources_line());
    if (session.json) print_json({{"bounds", std::move(json)}});
}

}  // namespace

void add_bounds(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "bounds", "bounds on the error of a machine, and rows needed for one",
        "  mercer bounds heart.mercer heart.csv\n"
        "  mercer bounds --examples 1000 --error 0.02 --dimension 11 --delta 0.05\n"
        "  mercer bounds --examples 1000 --epsilon 0.05 --functions 20\n"
        "  mercer bounds --radius 1 --norm 3\n"
        "  mercer bounds --plan --epsilon 0.1 --delta 0.05 --features 10\n"
        "Each bound comes with its formula, the numbers put in, the probability with which it\n"
        "holds, and whether it is vacuous. docs/bounds.md explains them.");
    const auto options = std::make_shared<BoundsCommand>();
    const auto input = std::make_shared<InputOptions>();
    CLI::Option* const model = add_file(command, session, "MODEL", options->model, FileUse::input,
                                        "a trained svc, nu-svc, hard or one-class machine");
    CLI::Option* const data = add_file(command, session, "INPUT", input->path, FileUse::input,
                                       "the data it was trained on");
    const Condition numbers_only = without(model, "a model and its data have the numbers in them");
    const auto number_option = [&](const char* name, const char* about) {
        return command
            .add_option_function<double>(
                name, [options, name](double value) { options->numbers[name] = value; }, about)
            ->type_name("X");
    };
    number_option("--delta", "probability of failure [0.05]");
    only(session,
         {number_option("--examples", "m, the number of training rows"),
          number_option("--error", "share of errors on them [0]"),
          number_option("--epsilon", "distance of training and test error"),
          number_option("--functions", "n, among which one was chosen"),
          number_option("--dimension", "h, the VC dimension"),
          number_option("--features", "N, of half-spaces"),
          number_option("--radius", "R of a sphere around the rows"),
          number_option("--norm", "‖w‖, one over the margin"),
          number_option("--support", "number of support vectors"),
          command.add_flag("--plan", options->plan,
                           "the other way round: how many rows for --epsilon")},
         numbers_only);
    only(session,
         {data,
          command.add_flag("--no-loo", options->no_loo,
                           "do not train again without each support vector"),
          command
              .add_option("--widen", options->settings.widen,
                          "one-class: widen the region by this share of rho [0.5]")
              ->type_name("X"),
          add_count(command, "--memory", options->memory, 1, std::size_t{1} << 24,
                    "MiB for kernel values [1024]")},
         with({model}));
    add_reading_options(command, session, *input);
    only(session, input->options, with({model}));
    command.callback([&session, options, input] {
        session.action = [&session, options, input] { run(*options, *input, session); };
    });
}

}  // namespace mercer::cli
