#include "mercer/learn/svm/detail/unbegun_part.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mercer/learn/detail/platt.hpp"

namespace mercer {
namespace {

struct Side {
    std::size_t rows = 0;
    double bounds = 0;
};

/// The rows with a label above 0, and the others.
std::pair<Side, Side> sides_of(const FitPlan& plan, const Part& part) {
    Side positive, negative;
    if (part.open) {
        const auto& index = plan.sample.classes.index;
        const auto own = std::ranges::count(index, static_cast<std::int32_t>(*part.open));
        positive = {static_cast<std::size_t>(own), plan.class_bounds[*part.open]};
        negative.rows = plan.sample.size() - positive.rows;
        for (std::size_t c = 0; c < plan.class_bounds.size(); ++c) {
            negative.bounds += c == *part.open ? 0 : plan.class_bounds[c];
        }
        return {positive, negative};
    }
    for (std::size_t i = 0; i < part.problem.size(); ++i) {
        Side& own = part.problem.target[i] > 0 ? positive : negative;
        ++own.rows;
        own.bounds += part.problem.bound[i];
    }
    return {positive, negative};
}

}  // namespace

PartResult unbegun_part(const FitPlan& plan, const Part& part, FitStatus why, bool probability) {
    // All rows of a side are alike: one that has the bounds of all stands for them.
    const auto [positive, negative] = sides_of(plan, part);
    const Subproblem sides{.task = part.problem.task,
                           .bias = part.problem.bias,
                           .target = {1, -1},
                           .bound = {positive.bounds, negative.bounds}};
    Learned nothing{.beta = {0, 0}};
    if (sides.bias && positive.bounds != negative.bounds) {
        nothing.bias = positive.bounds > negative.bounds ? 1 : -1;
    }
    PartResult found;
    found.report = certify(sides, nothing, nothing.beta);
    found.report.rows = positive.rows + negative.rows;
    found.report.name = part.name;
    found.report.status = why;
    found.learned.bias = nothing.bias;
    found.reach = reach_of(sides, nothing);
    if (probability) found.sigmoid = prior_sigmoid(positive.rows, negative.rows);
    return found;
}

}  // namespace mercer
