// What the rules of definiteness find out about one part of an expression.
#pragma once

#include <optional>
#include <string>

#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/detail/series.hpp"

namespace mercer {

/// What a kernel makes of rows that differ (004). All of it is said of whole rows, so that a kernel
/// of some columns knows nothing of rows that differ in the others.
struct OfDistinctRows {
    /// Σ a_i a_j k(x_i,x_j) > 0 for a ≠ 0: strictly positive definite.
    bool strict = false;
    /// k(x,x) + k(z,z) − 2k(x,z) > 0 for x ≠ z: their features differ. Kept where the kernel is at
    /// least conditionally positive definite; exp and Gaussians of such features are strict.
    bool separates = false;
    bool positive_diagonal = false;  ///< k(x,x) > 0 for all x
    std::string because{};           ///< it is strict
    /// Columns such that it is strict on distinct rows of these alone, where it is not on all.
    std::vector<ColumnSet::Item> strict_on{};

    static OfDistinctRows strictly(std::string because) {
        return {true, true, true, std::move(because), {}};
    }
};

struct Finding {
    Definite definite = Definite::unknown;
    std::string because{};
    /// k^t is positive definite for every t > 0 (infinitely divisible), so any power may be taken.
    bool divisible = false;
    std::optional<Series> series{};
    OfDistinctRows distinct{};

    static Finding positive(std::string because, bool divisible = false) {
        return {Definite::positive, std::move(because), divisible, {}, {}};
    }
    static Finding conditional(std::string because) {
        return {Definite::conditional, std::move(because), false, {}, {}};
    }
    static Finding unknown(std::string because) {
        return {Definite::unknown, std::move(because), false, {}, {}};
    }
    static Finding refuted(std::string because) {
        return {Definite::refuted, std::move(because), false, {}, {}};
    }
};

/// What is known of a whole kernel: `definiteness` with what its parts pass up.
Finding find(const Kernel& kernel, const Assumptions& assumptions = {});

/// What a power series in a positive definite kernel says (Taylor-sign rule).
Finding judge_series(const Series& series, const Assumptions& assumptions);
/// The same number for every pair.
Finding judge_constant(double value);

/// The same finding, strictly so.
inline Finding strictly(Finding finding, std::string because) {
    finding.distinct = OfDistinctRows::strictly(std::move(because));
    return finding;
}

/// Four digits, for reasons that people read.
std::string rounded(double value);

}  // namespace mercer
