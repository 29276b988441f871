// Smooth functions of few variables within a box, by the limited-memory BFGS method (Nocedal 1980;
// Liu and Nocedal 1989) projected on the bounds:
//
//     minimise f(x)  subject to  lower ≤ x ≤ upper
//
//   LbfgsSolution s = minimise({1.0, 2.0}, [](std::span<const double> x, std::span<double> g) {
//       g[0] = 2 * x[0]; g[1] = 2 * x[1];
//       return x[0] * x[0] + x[1] * x[1];
//   });
//
// A function value that is not finite is taken for "too far": the step is shortened.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mercer {

enum class LbfgsStatus {
    converged,        ///< the projected gradient is below the tolerance, or f moves no more
    iteration_limit,  ///< x is the best found
    cancelled,        ///< likewise
    stalled,          ///< no step along any descent direction lowers f: rounding, or a wrong slope
};
std::string describe(LbfgsStatus status);

struct LbfgsSettings {
    std::size_t memory = 10;  ///< pairs of steps and gradient changes kept
    std::size_t iteration_limit = 200;
    double gradient_tolerance = 1e-6;  ///< on the largest entry of the projected gradient
    double value_tolerance = 1e-12;    ///< stop when f falls by less than this times |f|
    std::vector<double> lower{};       ///< empty: none
    std::vector<double> upper{};
    /// Called after each iteration with f; return false to stop.
    std::function<bool(std::size_t iteration, double value)> progress{};
};

struct LbfgsSolution {
    std::vector<double> x{};
    double value = 0;
    std::vector<double> gradient{};
    std::size_t iterations = 0;
    std::size_t evaluations = 0;
    std::vector<double> history{};  ///< f at the start and after each iteration; never rises
    LbfgsStatus status = LbfgsStatus::converged;
    /// The variables that ended on a bound: what lies beyond it was not looked at.
    std::vector<std::size_t> at_bounds{};
};
/// The status; "at the limit of the search" where only a bound kept f from falling further.
std::string describe(const LbfgsSolution& solution);

/// Writes the gradient and returns f(x).
using SmoothFunction = std::function<double(std::span<const double> x, std::span<double> gradient)>;

/// Throws InvalidInput when f is not finite at the start.
LbfgsSolution minimise(std::vector<double> start, const SmoothFunction& f,
                       const LbfgsSettings& settings = {});

}  // namespace mercer
