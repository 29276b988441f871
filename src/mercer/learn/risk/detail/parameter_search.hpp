// The search for positive parameters that an evidence is largest at, in their logarithms, by
// L-BFGS, within a factor of a million either way of where it begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/progress.hpp"
#include "mercer/learn/report.hpp"

namespace mercer {

struct ParameterSearch {
    std::vector<std::string> names{};
    std::vector<double> start{};  ///< those that are not above 0 stay where they are
    /// Held where they are: names, or names without their number, which hold all of the name.
    std::vector<std::string> fixed{};
    std::size_t restarts = 0;
    std::size_t iteration_limit = 100;
    std::uint64_t seed = 1;
    Progress progress{};
    std::string of_what{};  ///< for messages: the kernel's text
    /// Thrown at the start, where the evidence is not defined.
    std::function<void()> refuse{};
    /// The evidence at these values of all parameters and its slopes there; NaN where there is
    /// none. May throw Cancelled.
    std::function<double(std::span<const double> values, std::span<double> slopes)> evidence{};
};

struct FoundParameters {
    std::vector<double> values{};
    double evidence = 0;
    FitStatus status = FitStatus::converged;
    std::size_t iterations = 0;
    std::size_t evaluations = 0;
    std::vector<double> history{};
    std::map<std::string, double> at_limit{};  ///< by name
};

/// Told to stop before there was an evidence it throws Cancelled; later it returns the best so far.
FoundParameters maximise(const ParameterSearch& search);

}  // namespace mercer
