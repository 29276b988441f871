// How a shared search is cut into pieces: chains of points with one kernel, and the memory they may
// use.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/select/detail/evaluation.hpp"

namespace mercer {

/// True when the scaling is found on the rows learnt from, so that every fold has its own
/// distances.
bool scaling_sees_rows(const ScalingRule& rule);
/// Sets of distances: one, or one a fold.
std::size_t stores_of(const Evaluation& evaluation);
/// Rows of the largest training part.
std::size_t most_learnt(const Evaluation& evaluation);

/// How the memory allowed is spent, in matrices of all rows and blocks of one problem.
struct SearchBudget {
    bool possible = false;
    bool distances = false;   ///< kept, one matrix a store
    std::size_t kernels = 1;  ///< kernel matrices at once
    std::size_t at_once = 1;  ///< problems at once
};
SearchBudget budget_of(const Evaluation& evaluation);

/// How one problem of one point went.
struct Solved {
    double seconds = 0;
    std::string status{};  ///< empty: converged
    bool failed = false;
};

/// The points of one kernel, in the order in which each helps the next.
struct Chain {
    Kernel kernel = linear();
    std::vector<std::size_t> points{};
    std::vector<SvmSettings> settings{};
    std::vector<std::string> refused{};  ///< one a point: why its settings are none, or empty
    /// decisions[point][fold]: held-out rows × problems; made when the chain's turn comes
    std::vector<std::vector<Matrix<double>>> decisions{};
    std::vector<std::vector<Solved>> parts{};  ///< [point][problem]
    std::atomic<std::size_t> left{0};          ///< problems still to be solved for all points

    /// Point k differs from the one before in nothing but C, which is no smaller.
    bool along_c(std::size_t k) const;
};

/// C bounds the variables of this machine.
bool is_penalised(const SvmSettings& settings);

/// The chains that are not known whole. A chain is taken from a journal whole or not at all: each
/// of its solutions begins at the one before, and a part of it would not end where the whole does.
std::vector<std::unique_ptr<Chain>> make_chains(const Evaluation& evaluation, const Truth& truth);

}  // namespace mercer
