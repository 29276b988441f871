// What a direction of endless descent of a hard margin's dual proves about the data.
//
// Its components are weights of two points, one in the hull of each class. A plane with margin m
// keeps them 2m apart, so half their distance bounds every margin (through the origin: the length
// of the weighted mean of all y_i x_i does). A distance computed is never exactly 0. That the hulls
// meet, so that no plane separates them whatever its margin, is claimed only where it is proved:
// for two equal rows of different classes, whatever the kernel; and for linear kernels, from the
// rows themselves, by weights that solve Σ w_i y_i (x_i, 1) = 0 exactly or lie within a proved
// distance of positive ones that do (Krawczyk 1969). For other kernels the bound on margins counts
// roundings in each kernel value: an estimate, and called one.
#pragma once

#include <span>
#include <vector>

#include "mercer/data/rows.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/svm/detail/subproblem.hpp"

namespace mercer {

struct HullProof {
    std::vector<double> weights;  ///< Report::hull_weights
    double distance = 0;
    double margin_bound = 0;  ///< no margin is larger; 0: the hulls meet
    bool estimated = false;   ///< the bound rests on an estimate of rounding, not on a proof

    FitStatus status() const {
        return margin_bound == 0 ? FitStatus::not_separable : FitStatus::no_margin;
    }
    /// Into a report, whose figure margin_bound_is_estimate is 1 for a bound that is one.
    void tell(Report& report) const;
};

/// `x` are the rows of the problem as the kernel sees them, `kernel` is resolved, and `found` was
/// found in double precision.
HullProof prove_hulls(const Subproblem& problem, const Kernel& kernel, const Rows& x,
                      const RecessionDirection& found);

/// The same from weights that somebody claims, with nothing else taken on trust. Throws
/// InvalidInput unless there is one a row, none negative, some of them in each class.
HullProof prove_hulls(const Subproblem& problem, const Kernel& kernel, const Rows& x,
                      std::span<const double> weights);

}  // namespace mercer
