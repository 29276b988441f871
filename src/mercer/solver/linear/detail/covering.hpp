// Fractional coverings: weights of sets such that every element is covered,
//
//     minimise c'w   subject to   Σ_{m ∋ n} w_m ≥ 1 for all n,   w ≥ 0,   c > 0,
//
// where sets and elements are the same things and n is in m when m is in n (who lies within a
// distance of whom). By the primal-dual method of Chambolle and Pock (2011) with steps for each row
// and column (2011b), begun again from means or ends where that is well (Applegate et al. 2021):
// each step reads every list twice and keeps nothing but vectors, where the simplex method takes
// hours over lists that overlap much.
//
// Both bounds are proved at every look, by local repairs of whatever the steps have come to: w_m
// divided by the least cover of its elements covers all, and prices y_n divided by the most that a
// set around n is overpaid are prices that no set is worth more than it costs at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mercer/base/progress.hpp"
#include "mercer/solver/linear/detail/linear_program.hpp"

namespace mercer {

struct Covering {
    std::span<const std::size_t> starts{};     ///< of each list, and the end of the last
    std::span<const std::uint32_t> members{};  ///< the lists; none is empty
    std::span<const double> cost{};
};

struct CoveringSettings {
    double gap = 1e-3;  ///< as a share of the objective
    std::size_t iteration_limit = 20'000;
    double time_limit = 0;  ///< seconds; 0: none
    Progress progress{};    ///< told "covering" with the gap as detail
};

struct CoveringSolution {
    std::vector<double> weights{};  ///< cover all, up to rounding
    /// The same before their repair, which lifts sets beside badly covered elements: what tells the
    /// sets that matter.
    std::vector<double> unrepaired{};
    double objective = 0;  ///< of these weights
    double bound = 0;      ///< no weights that cover all cost less
    std::size_t iterations = 0;
    /// `failed`: the gap is not reached within the limit of iterations; objective and bound are
    /// proved in any case.
    LinearStatus status = LinearStatus::optimal;
};

/// What prices of the elements, those below 0 counted as 0, prove after their repair.
double covering_bound(const Covering& problem, std::span<const double> prices);

CoveringSolution cover(const Covering& problem, const CoveringSettings& settings = {});

}  // namespace mercer
