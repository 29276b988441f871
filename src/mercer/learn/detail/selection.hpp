// Choosing points of an expansion for a shorter one. For learn/compress/reduce.cpp and
// learn/compress/cascade.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "mercer/base/progress.hpp"
#include "mercer/feature/expansion.hpp"

namespace mercer::reduction {

struct Choice {
    std::vector<std::size_t> order{};
    /// ρ after 0, 1, … points; error.size() == order.size() + 1.
    std::vector<double> error{};
    bool cancelled = false;
};

/// Σ ‖w_c‖² and the values <w_c, Φ(x_i)> it is made of (points × outputs).
struct OwnValues {
    Matrix<double> values{};
    double squared_norm = 0;
};
OwnValues own_values(const Expansion& e, bool double_precision, const Progress& progress);

/// ‖w_c‖² of every output, in double precision.
std::vector<double> squared_norms(Expansion e, const Progress& progress);

/// Orthogonal matching pursuit: each step takes the point whose addition lowers ρ most, all
/// coefficients being refitted. Stops after `most` points, when ρ <= `error`, or when the points
/// left add nothing.
Choice choose_greedily(const Expansion& e, const OwnValues& own, std::size_t most, double error,
                       bool double_precision, const Progress& progress);

/// Minimises ½ρ + λ Σ_j √k(x_j,x_j) ‖b_·j‖ by coordinate descent along a falling λ until `count`
/// points are in use; the error is known for the final set only. Throws InvalidInput when the Gram
/// matrix of the points does not fit.
Choice choose_by_l1(const Expansion& e, const OwnValues& own, std::size_t count,
                    std::size_t memory_bytes, const Progress& progress);

}  // namespace mercer::reduction
