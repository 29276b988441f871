// Passes over the variables of a state, several at a time by vector instructions. Each outer
// iteration of a solver takes three of them, and on problems of a few thousand variables they would
// otherwise cost more than its steps: which way a variable is pushed, and whether it may go there,
// is chance to the processor, whose guesses at such branches are wrong half of the time.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace mercer {

/// The variables to be passed over: [first, last) themselves, or those listed there, ascending.
struct ScanRange {
    const std::size_t* some = nullptr;
    std::size_t first = 0;
    std::size_t last = 0;
};

/// gradient_i = sign_i v_row(i) + p_i.
struct GradientParts {
    const std::size_t* row = nullptr;
    const double* sign = nullptr;
    const double* p = nullptr;
    const double* v = nullptr;
};

/// Where the variables of one group cannot go: infinity at a bound and in other groups, else 0.
struct ShutWays {
    std::vector<float> up{};
    std::vector<float> down{};
};

/// Of one group: the least gradient of the variables that can grow, the largest of those that can
/// fall, and sum and number of those that can do both.
struct GroupExtremes {
    double least_growing;
    double largest_falling;
    double free_sum = 0;
    double free_count = 0;
};

/// A variable that may join the working set, and how far it is on the wrong side.
struct Violator {
    double score = 0;
    std::size_t index = 0;
    /// Higher score first, then lower index: a total order, so that the chosen set is unique.
    friend bool operator<(const Violator& a, const Violator& b) {
        return a.score != b.score ? a.score > b.score : a.index < b.index;
    }
};

/// Writes the gradient of the variables of the range.
void scan_gradient(const ScanRange& range, const GradientParts& parts, std::span<double> gradient);

GroupExtremes scan_extremes(const ScanRange& range, std::span<const double> gradient,
                            const ShutWays& shut);

/// Appends the variables that can grow, with above − gradient, and those that can fall, with
/// gradient − below, where that is more than 0 and they are not taken yet (0).
void scan_violators(const ScanRange& range, std::span<const double> gradient, const ShutWays& shut,
                    std::span<const char> taken, double above, double below,
                    std::vector<Violator>& grow, std::vector<Violator>& fall);

/// Counts how often in a row a variable was pressed against a bound: it cannot fall and its
/// gradient is above `high`, or it cannot grow and it is below `low`. Else 0. Returns for how many
/// that is less than `rounds`.
std::size_t scan_quiet(const ScanRange& range, std::span<const double> gradient,
                       const ShutWays& shut, double low, double high, float rounds,
                       std::span<float> quiet);

/// Σ |ρ_i| times the way to the bound that ρ_i = gradient_i − multiplier pushes u_i to; 0 where ρ_i
/// or the way is.
double scan_gap(const ScanRange& range, std::span<const double> gradient, std::span<const double> u,
                std::span<const double> lower, std::span<const double> upper, double multiplier);

/// The places of marks that are 1; the others are 0.
std::vector<std::size_t> marked(std::span<const char> marks);

/// The best `count` of a list to its front, and the others gone.
void keep_best(std::vector<Violator>& list, std::size_t count);

}  // namespace mercer
