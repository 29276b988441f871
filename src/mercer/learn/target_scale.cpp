#include "mercer/learn/target_scale.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/model.hpp"

namespace mercer {
std::string target_scale_name(TargetScale rule) {
    return std::string(target_scale_words.word(rule));
}

TargetScale target_scale_named(std::string_view name) {
    return target_scale_words.value(name, "target_scale");
}

TargetScaling fit_target_scale(TargetScale rule, std::span<const double> targets,
                               std::span<const double> weights) {
    TargetScaling scaling;
    if (rule == TargetScale::automatic || rule == TargetScale::none || targets.empty()) {
        return scaling;
    }
    if (rule == TargetScale::minmax) {
        const auto [low, high] = std::ranges::minmax(targets);
        scaling.shift = low;
        if (high > low) scaling.scale = high - low;
        return scaling;
    }
    const auto weight = [&](std::size_t i) { return weights.empty() ? 1 : weights[i]; };
    double total = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        total += weight(i);
        scaling.shift += weight(i) * targets[i];
    }
    scaling.shift /= total;
    if (rule == TargetScale::center) return scaling;
    double square = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        square += weight(i) * std::pow(targets[i] - scaling.shift, 2);
    }
    // What rounding leaves of a constant is no scale.
    const double deviation = std::sqrt(square / total);
    if (deviation > 1e-14 * std::fabs(scaling.shift)) scaling.scale = deviation;
    return scaling;
}

void check_target_scale(TargetScale rule, Task task) {
    if (is_regressor(task) || rule == TargetScale::automatic || rule == TargetScale::none) return;
    throw InvalidInput("target_scale = " + target_scale_name(rule) +
                       " has no meaning for the task " + task_name(task) +
                       ", which learns no numbers");
}

void note_target_scaling(ModelParts& model, const TargetScaling& scaling) {
    if (scaling.is_identity()) return;
    model.trained.numbers["target_shift"] = scaling.shift;
    model.trained.numbers["target_scale"] = scaling.scale;
}

TargetScaling target_scaling_of(const Model& model) {
    const auto number = [&](const char* name, double otherwise) {
        const auto found = model.trained().numbers.find(name);
        return found == model.trained().numbers.end() ? otherwise : found->second;
    };
    return {.shift = number("target_shift", 0), .scale = number("target_scale", 1)};
}

TargetTrouble target_trouble(const Model& model, double deviation) {
    if (model.task() != Task::svr && model.task() != Task::nu_svr) return TargetTrouble::none;
    const Report r = model.report();
    // Of a nu-svr no more than a share nu of the rows is ever bounded, and about as many often are;
    // one that follows nothing has a tube about as wide as the middle 1 − nu of the targets.
    const bool by_nu = model.task() == Task::nu_svr;
    const double nu = by_nu ? std::min(1.0, model.trained().nu) : 1;
    const bool bounded =
        static_cast<double>(r.bounded_support_vectors) >= 0.9 * nu * static_cast<double>(r.rows);
    const bool follows = by_nu && r.epsilon < 0.5 * (1 - nu) * deviation;
    if (bounded && !follows && deviation > 10 * model.trained().C && model.trained().C > 0) {
        return TargetTrouble::penalty_too_small;
    }
    const bool wide = model.task() == Task::svr && model.trained().epsilon > 2 * deviation;
    return wide ? TargetTrouble::tube_too_wide : TargetTrouble::none;
}

}  // namespace mercer
