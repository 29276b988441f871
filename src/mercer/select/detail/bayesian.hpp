// Where to look next, given what has been seen: a Gaussian process
// (learn/risk/gaussian_process.hpp) of the score over the axes, and the point with the largest
// expected improvement under it [Mockus 1978; Jones, Schonlau and Welch 1998].
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mercer/select/search_space.hpp"

namespace mercer {

/// A value as a place in [0, 1] along its axis (in the logarithm where that is the axis' own
/// measure), and back; lists are taken by position.
double place_on(const Axis& axis, double value);
double value_at(const Axis& axis, double place);

/// E[max(f − best, 0)] of a normal f.
double expected_improvement(double mean, double deviation, double best);

/// Points seen and their scores, the larger the better; not a number for points that failed, which
/// count as the worst seen. Returns a point of the space that has not been seen, the same for the
/// same arguments; none when all that were drawn have been seen. There must be at least one score.
std::vector<double> propose(const SearchSpace& space, const std::vector<std::vector<double>>& seen,
                            const std::vector<double>& scores, std::uint64_t seed);

}  // namespace mercer
