// Rows to stand for the others. For learn/detail/centre_span.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mercer/base/operator.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/gram/gram.hpp"

namespace mercer {

struct CentreSettings {
    std::size_t count = 0;
    /// A centre is taken only while what the others leave of it, relative to the largest k(x, x),
    /// is above this.
    double tolerance = 1e-5;
    std::uint64_t seed = 1;
    Progress progress{};
    /// Those who draw among the same rows and share the work, to the same bits; null: nobody.
    const Partners* partners = nullptr;
};

/// Positions of at most `count` of the engine's reference rows, ascending: each is drawn with the
/// probability of what those before it leave of k(x, x), which finds nearly the best span there is
/// (randomly pivoted Cholesky: Chen, Epperly, Tropp and Webber 2025). Draws come many at a time,
/// and are accepted as if they had come one by one (Epperly, Tropp and Webber 2024).
std::vector<std::size_t> draw_centres(const Gram<float>& gram, const CentreSettings& settings);

/// The same, and into left[c] the share of Σ k(x, x) that the first c + 1 centres leave, in the
/// order drawn; what a draw of many has taken is said after all of them.
std::vector<std::size_t> draw_centres(const Gram<float>& gram, const CentreSettings& settings,
                                      std::vector<double>& left);

}  // namespace mercer
