#include "mercer/select/detail/chains.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "mercer/base/error.hpp"
#include "mercer/learn/svm/detail/fit_plan.hpp"

namespace mercer {
namespace {

/// Problems under way at the same time, at most: each needs room for its own block.
constexpr double blocks_at_once = 8;
/// Kernel matrices at the same time, at most, so that no thread waits for the last problem of one.
constexpr double kernels_at_once = 16;

/// The first row of every class, or the first of all.
Dataset few_rows(const Dataset& data, const Classes& classes) {
    std::vector<std::size_t> rows;
    std::vector<char> seen(std::max<std::size_t>(classes.count(), 1), 0);
    for (std::size_t i = 0; i < data.size() && rows.size() < seen.size(); ++i) {
        char& mark = seen[classes.index.empty() ? 0 : static_cast<std::size_t>(classes.index[i])];
        if (mark) continue;
        mark = 1;
        rows.push_back(i);
    }
    Dataset few = data.select(rows);
    few.weights.clear();
    return few;
}

/// What the ranges of settings allow is asked of the planner, on as few rows as can be.
std::string refusal(SvmSettings settings, const Dataset& few) {
    settings.tube_values.clear();
    settings.tube.reset();
    settings.tube_function = {};
    try {
        plan_fit(settings, few, {});
    } catch (const InvalidInput& error) {
        return error.what();
    }
    return {};
}

}  // namespace

bool scaling_sees_rows(const ScalingRule& rule) {
    return rule.kind == ScalingRule::Kind::standard || rule.kind == ScalingRule::Kind::minmax;
}

std::size_t stores_of(const Evaluation& e) {
    return e.data.table || scaling_sees_rows(e.space.task().scaling) ? e.folds.size() : 1;
}

std::size_t most_learnt(const Evaluation& e) {
    std::size_t most = 1;
    for (const Split& fold : e.folds) most = std::max(most, fold.train.size());
    return most;
}

SearchBudget budget_of(const Evaluation& e) {
    const SvmSettings& svm = e.space.task().svm.value();
    const auto n = static_cast<double>(e.data.size());
    const auto m = static_cast<double>(most_learnt(e));
    const double entry = svm.common.double_precision ? sizeof(double) : sizeof(float);
    const double whole = n * n * entry;
    const double block = m * m * entry;
    SearchBudget budget;
    double left = static_cast<double>(svm.common.memory_bytes) - whole - block;
    budget.possible = left >= 0;
    if (!budget.possible) return budget;
    const double kept = whole * static_cast<double>(stores_of(e));
    budget.distances = left >= kept;
    if (budget.distances) left -= kept;
    budget.at_once = 1 + static_cast<std::size_t>(std::min(left / block, blocks_at_once - 1));
    left -= static_cast<double>(budget.at_once - 1) * block;
    budget.kernels = 1 + static_cast<std::size_t>(std::min(left / whole, kernels_at_once - 1));
    return budget;
}

bool is_penalised(const SvmSettings& settings) {
    return settings.task == Task::svc || is_regressor(settings.task);
}

bool Chain::along_c(std::size_t k) const {
    const SvmSettings& s = settings[k];
    const SvmSettings& before = settings[k - 1];
    return is_penalised(s) && before.nu == s.nu && before.epsilon == s.epsilon;
}

std::vector<std::unique_ptr<Chain>> make_chains(const Evaluation& e, const Truth& truth) {
    std::vector<std::unique_ptr<Chain>> chains;
    std::map<std::string, std::size_t> found;
    for (std::size_t p = 0; p < e.points.size(); ++p) {
        const Kernel kernel = e.space.kernel(e.points[p]);
        const auto [at, fresh] = found.emplace(kernel.text(), chains.size());
        if (fresh) {
            chains.push_back(std::make_unique<Chain>());
            chains.back()->kernel = kernel;
        }
        chains[at->second]->points.push_back(p);
    }
    if (!e.known.empty()) {
        std::erase_if(chains, [&](const auto& chain) {
            return std::ranges::all_of(chain->points,
                                       [&](std::size_t p) { return e.known[p] != 0; });
        });
    }
    const Dataset few = few_rows(e.data, truth.classes());
    for (const auto& chain : chains) {
        std::ranges::stable_sort(chain->points, {}, [&](std::size_t p) {
            const SvmSettings s = e.space.svm(e.points[p]);
            return std::tuple(s.nu, s.epsilon, s.C);
        });
        for (const std::size_t p : chain->points) {
            chain->settings.push_back(e.space.svm(e.points[p]));
            chain->refused.push_back(refusal(chain->settings.back(), few));
        }
    }
    return chains;
}

}  // namespace mercer
