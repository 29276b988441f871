// mercer bounds: what can be promised of a machine, from numbers or from a model and its data.
#include <fmt/format.h>

#include <cmath>
#include <optional>
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

struct BoundsCommand {
    std::string model{};
    ModelBoundSettings settings{};
    bool no_loo = false;
    bool plan = false;
    std::size_t memory = 1024;
    std::optional<double> rows{}, error{}, epsilon{}, functions{}, dimension{}, columns{};
    std::optional<double> radius{}, norm{}, support{};
};

Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json();
}

Json json_of(const std::vector<BoundInput>& inputs) {
    Json json = Json::object();
    for (const BoundInput& i : inputs) json[i.name] = number(i.value);
    return json;
}

Json json_of(const Bound& b) {
    return {{"name", b.name},
            {"formula", b.formula},
            {"inputs", json_of(b.inputs)},
            {"value", number(b.value)},
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

/// Those for which the numbers are there.
std::vector<Bound> from_numbers(const BoundsCommand& c) {
    if (!c.rows) throw InvalidInput("give --examples, or a model and its data");
    std::vector<Bound> all;
    if (c.epsilon) {
        all.push_back(chernoff(*c.rows, *c.epsilon));
        all.push_back(chernoff_two_samples(*c.rows, *c.epsilon));
        if (c.functions) all.push_back(union_bound(*c.functions, *c.rows, *c.epsilon));
        if (c.dimension) {
            all.push_back(
                shattering_bound(sauer_shattering(*c.dimension, 2 * *c.rows), *c.rows, *c.epsilon));
        }
    }
    if (c.error || !c.epsilon) {
        const RiskSample sample{c.error.value_or(0), *c.rows, c.settings.delta};
        all.push_back(chernoff_risk(sample));
        if (c.functions) all.push_back(union_risk(sample, *c.functions));
        if (c.dimension) {
            all.push_back(shattering_risk(sample, sauer_shattering(*c.dimension, 2 * *c.rows)));
            all.push_back(vc_risk(sample, *c.dimension));
        }
        if (c.columns) all.push_back(vc_risk(sample, half_space_dimension(*c.columns)));
        if (c.radius && c.norm) {
            const Bound h = margin_dimension(*c.radius, *c.norm, true, c.columns.value_or(0));
            all.push_back(h);
            all.push_back(vc_risk(sample, h.value));
            all.push_back(radius_margin(*c.rows, *c.radius, *c.norm, true));
        }
        if (c.support) all.push_back(support_share(*c.rows, *c.support, false));
    }
    return all;
}

void run_plan(const BoundsCommand& c, const Session& session) {
    if (!c.epsilon) throw InvalidInput("--plan needs --epsilon, the distance to be kept");
    const double delta = c.settings.delta;
    std::vector<SamplePlan> plans{rows_for_chernoff(*c.epsilon, delta)};
    if (c.functions) plans.push_back(rows_for_union(*c.functions, *c.epsilon, delta));
    std::optional<double> dimension = c.dimension;
    if (!dimension && c.columns) dimension = half_space_dimension(*c.columns);
    if (dimension) {
        plans.push_back(rows_for_shattering(*dimension, *c.epsilon, delta));
        plans.push_back(rows_for_vc(*dimension, *c.epsilon, delta));
    }
    Json json = Json::array();
    for (const SamplePlan& p : plans) {
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
    ModelBoundSettings settings = c.settings;
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
    if (session.json) {
        print_json({{"model", c.model}, {"input", input.path}, {"parts", std::move(parts)}});
    }
}

void run(const BoundsCommand& c, const InputOptions& input, const Session& session) {
    if (!c.model.empty()) return run_model(c, input, session);
    if (c.plan) return run_plan(c, session);
    Json json = Json::array();
    for (const Bound& b : from_numbers(c)) {
        json.push_back(json_of(b));
        if (!session.json) say("{}", describe(b));
    }
    if (session.json) print_json({{"bounds", std::move(json)}});
}

}  // namespace

void add_bounds(CLI::App& program, Session& session) {
    CLI::App& command = add_command(
        program, "bounds", "bounds on the error of a machine, and rows needed for one",
        "  mercer bounds heart.mercer heart.csv\n"
        "  mercer bounds --examples 1000 --error 0.02 --dimension 11 --delta 0.05\n"
        "  mercer bounds --examples 1000 --epsilon 0.05 --functions 20\n"
        "  mercer bounds --plan --epsilon 0.1 --delta 0.05 --features 10\n"
        "Each bound comes with its formula, the numbers put in, the probability with which it\n"
        "holds, and whether it is vacuous. docs/bounds.md explains them.");
    const auto options = std::make_shared<BoundsCommand>();
    const auto input = std::make_shared<InputOptions>();
    add_file(command, session, "MODEL", options->model, FileUse::input,
             "a trained svc, nu-svc, hard or one-class machine");
    add_file(command, session, "INPUT", input->path, FileUse::input, "the data it was trained on");
    const auto number_option = [&](const char* name, std::optional<double>& out,
                                   const char* about) {
        command.add_option(name, out, about)->type_name("X");
    };
    command.add_option("--delta", options->settings.delta, "probability of failure [0.05]")
        ->type_name("X");
    number_option("--examples", options->rows, "m, the number of training rows");
    number_option("--error", options->error, "share of errors on them [0]");
    number_option("--epsilon", options->epsilon, "distance of training and test error");
    number_option("--functions", options->functions, "n, among which one was chosen");
    number_option("--dimension", options->dimension, "h, the VC dimension");
    number_option("--features", options->columns, "N, of half-spaces");
    number_option("--radius", options->radius, "R of a sphere around the rows");
    number_option("--norm", options->norm, "‖w‖, one over the margin");
    number_option("--support", options->support, "number of support vectors");
    command.add_flag("--plan", options->plan, "the other way round: how many rows for --epsilon");
    command.add_flag("--no-loo", options->no_loo, "do not train again without each support vector");
    command
        .add_option("--widen", options->settings.widen,
                    "one-class: widen the region by this share of rho [0.5]")
        ->type_name("X");
    add_count(command, "--memory", options->memory, 1, std::size_t{1} << 24,
              "MiB for kernel values [1024]");
    add_reading_options(command, session, *input);
    command.callback([&session, options, input] {
        session.action = [&session, options, input] { run(*options, *input, session); };
    });
}

}  // namespace mercer::cli
