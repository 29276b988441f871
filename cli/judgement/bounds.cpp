// mercer bounds: what can be promised of a machine, from numbers or from a model and its data.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "cli/commands.hpp"
#include "cli/common/model_input.hpp"
#include "cli/common/model_output.hpp"
#include "cli/common/output.hpp"
#include "cli/judgement/bound_rules.hpp"
#include "mercer/base/error.hpp"
#include "mercer/theory/bounds.hpp"
#include "mercer/theory/capacity.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

struct BoundsCommand {
    std::string model{};
    ModelBoundSettings settings{};
    bool no_loo = false;
    bool plan = false;
    std::size_t memory = usual_memory();
    Numbers numbers{};
    std::string data{};  ///< the kernel is looked at on, without a model
    std::string kernel = "linear";
    std::string scale = "none";
    RademacherSettings random{};
    EntropySettings entropy{};
    bool no_bias = false;

    double number(const std::string& name, double otherwise) const {
        return numbers.contains(name) ? numbers.at(name) : otherwise;
    }
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

Json json_of(const EntropyLevel& l) {
    return {{"rows", l.rows},         {"entropy", l.entropy}, {"deviation", l.deviation},
            {"annealed", l.annealed}, {"growth", l.growth},   {"most", l.most},
            {"rank", l.rank},         {"exact", l.exact}};
}

std::string table_of(const std::vector<EntropyLevel>& levels, std::size_t draws) {
    std::string text =
        fmt::format("\n{:<8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>8}\n", "rows", "entropy", "+-",
                    "annealed", "growth", "m ln 2", "H(m)/m", "rank");
    bool counted = true;
    for (const EntropyLevel& l : levels) {
        text += fmt::format("{:<8}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}{:>10.4f}{:>8.1f}\n",
                            l.rows, l.entropy, l.deviation, l.annealed, l.growth, l.most,
                            l.entropy / static_cast<double>(l.rows), l.rank);
        counted = counted && l.exact == draws;
    }
    text += fmt::format(
        "    VC entropy, mean of ln N over {} samples; N counts the ways in which planes of the\n"
        "    feature space label a sample; annealed: ln of the mean of N; growth: the largest\n",
        draws);
    if (!counted)
        text += "    (where counting takes too long, points in general position are meant)\n";
    return text;
}

/// The capacity of a kernel's functions on these rows, before any machine.
void run_data(const BoundsCommand& c, const InputOptions& input, const Session& session) {
    const Dataset data = read_input(for_file(input, c.data), session);
    const Rows x =
        apply_scaling(Scaling::fit(ScalingRule::parse(c.scale), data.x), data.x, session);
    const Kernel kernel = Kernel::parse(c.kernel);
    RademacherSettings random = c.random;
    random.norm = c.number("--norm", 1);
    random.memory_bytes = c.memory << 20;
    random.progress = progress_line(session);
    EntropySettings entropy = c.entropy;
    entropy.draws = std::min(random.draws, entropy.draws);
    entropy.seed = random.seed;
    entropy.bias = !c.no_bias;
    entropy.progress = random.progress;
    std::erase_if(entropy.sizes, [&](std::size_t size) {
        return session.command->get_option("--sizes")->count() == 0 && size > data.size();
    });
    const Rademacher r = rademacher_complexity(kernel, x, data.feature_names, random);
    const std::vector<EntropyLevel> levels = vc_entropy(kernel, x, data.feature_names, entropy);
    clear_progress_line();
    const RiskSample sample{.empirical = c.number("--error", 0),
                            .rows = static_cast<double>(r.rows),
                            .delta = c.number("--delta", 0.05)};
    const Bound bound = rademacher_risk(sample, r.by_trace);
    if (session.json) {
        Json table = Json::array();
        for (const EntropyLevel& l : levels) table.push_back(json_of(l));
        print_json({{"input", c.data},
                    {"kernel", kernel.text()},
                    {"rademacher",
                     {{"rows", r.rows},
                      {"norm", random.norm},
                      {"trace", r.trace},
                      {"by_trace", r.by_trace},
                      {"estimate", r.estimate},
                      {"deviation", r.deviation}}},
                    {"bounds", Json::array({json_of(bound)})},
                    {"entropy", std::move(table)}});
        return;
    }
    say("{:<22}{:.5g}\n    E sup (1/m) Σ σ_i f(x_i) over ‖f‖ ≤ {:.6g} and random signs σ, from {} "
        "draws: ± {:.2g}\n",
        "rademacher-estimate", r.estimate, random.norm, random.draws, r.deviation);
    say("{:<22}{:.5g}\n    Λ√(tr K)/m ≥ the same ≥ {:.5g}\n    m = {}, tr K = {:.6g}\n",
        "rademacher-trace", r.by_trace, r.by_trace / std::sqrt(2.0), r.rows, r.trace);
    say("{}{}", describe(bound), table_of(levels, entropy.draws));
    say("{}", sources_line());
}

void run(const BoundsCommand& c, const InputOptions& input, const Session& session) {
    if (!c.data.empty()) return run_data(c, input, session);
    if (!c.model.empty()) return run_model(c, input, session);
    if (c.plan) return run_plan(c, session);
    Json json = Json::array();
    for (const Bound& b : bounds_of(c.numbers, session)) {
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
        "  mercer bounds --data heart.csv --kernel 'rbf(gamma=0.1)'        (capacity on data)\n"
        "Each bound comes with its formula, the numbers put in, the probability with which it\n"
        "holds, and whether it is vacuous. docs/bounds.md explains them.");
    const auto options = std::make_shared<BoundsCommand>();
    const auto input = std::make_shared<InputOptions>();
    CLI::Option* const model = add_file(command, session, "MODEL", options->model, FileUse::input,
                                        "a trained svc, nu-svc, hard or one-class machine");
    CLI::Option* const data = add_file(command, session, "INPUT", input->path, FileUse::input,
                                       "the data it was trained on");
    CLI::Option* const sample = add_file(command, session, "--data", options->data, FileUse::input,
                                         "no model: what a kernel's functions can do on this");
    const Condition numbers_only = without(model, "a model and its data have the numbers in them");
    only(session, sample, numbers_only);
    const auto number_option = [&](const char* name, const char* about) {
        return command
            .add_option_function<double>(
                name, [options, name](double value) { options->numbers[name] = value; }, about)
            ->type_name("X");
    };
    number_option("--delta", "probability of failure [0.05]");
    only(session,
         {number_option("--error", "share of errors on them [0]"),
          number_option("--norm", "‖w‖, one over the margin; Λ of --data [1]")},
         numbers_only);
    const std::vector<CLI::Option*> only_numbers{
        number_option("--examples", "m, the number of training rows"),
        number_option("--epsilon", "distance of training and test error"),
        number_option("--functions", "n, among which one was chosen"),
        number_option("--dimension", "h, the VC dimension"),
        number_option("--features", "N, of half-spaces"),
        number_option("--radius", "R of a sphere around the rows"),
        number_option("--support", "number of support vectors"),
        command.add_flag("--plan", options->plan,
                         "the other way round: how many rows for --epsilon")};
    only(session, only_numbers, numbers_only);
    only(session, only_numbers, without(sample, "the data has the numbers in it"));
    only(session,
         {data,
          command.add_flag("--no-loo", options->no_loo,
                           "do not train again without each support vector"),
          command
              .add_option("--widen", options->settings.widen,
                          "one-class: widen the region by this share of rho [0.5]")
              ->type_name("X")},
         with({model}));
    only(session,
         {command.add_option("--kernel", options->kernel, "--data: of the functions [linear]")
              ->type_name("EXPR"),
          command.add_option("--scale", options->scale, "--data: scale features [none]")
              ->type_name("RULE"),
          command
              .add_option("--sizes", options->entropy.sizes,
                          "--data: rows of the samples for the VC entropy [5,10,20]")
              ->delimiter(',')
              ->type_name("N,…"),
          add_count(command, "--draws", options->random.draws, 2, 10'000'000,
                    "--data: of random signs [200]; of samples, 50 of them"),
          command.add_flag("--no-bias", options->no_bias, "--data: planes through the origin"),
          add_seed(command, options->random.seed, "--data: of the draws [1]")},
         with({sample}));
    only(session,
         add_count(command, "--memory", options->memory, 1, std::size_t{1} << 24,
                   "MiB for kernel values [1024]"),
         with({model, sample}));
    add_reading_options(command, session, *input);
    only(session, input->options, with({model, sample}));
    command.callback([&session, options, input] {
        session.action = [&session, options, input] { run(*options, *input, session); };
    });
}

}  // namespace mercer::cli
