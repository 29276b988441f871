// How sure a one-class machine is: probabilities by bins of its decision values on the sample (Que
// and Lin 2022, "One-class SVM probabilistic outputs"; LIBSVM since 3.31 calls the limits of the
// bins prob_density_marks).
//
// The decision values below 0 are cut into five bins of equally many rows, those above into five
// more. A mark is the middle of a bin; a row between the marks i and i + 1 is inside with
// probability (i + 1) / 10, so that 0 lies at ½. The levels are an order, not a frequency: by
// construction a share ν of the sample lies below ½, whether or not it is strange.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mercer {

inline constexpr std::size_t density_mark_count = 10;

/// Ten marks, ascending; none when fewer than five decision values are below 0, or not below it.
std::vector<double> density_marks(std::vector<double> decisions);

/// P(inside) of a decision value; 0.001 below the first mark, 0.999 from the last one on.
double inside_probability(std::span<const double> marks, double decision);

}  // namespace mercer
