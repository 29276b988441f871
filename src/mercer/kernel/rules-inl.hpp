// What the rules of definiteness find out about one part of an expression.
#pragma once

#include <optional>
#include <string>

#include "mercer/kernel/build-inl.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/series-inl.hpp"

namespace mercer {

struct Finding {
    Definite definite = Definite::unknown;
    std::string because{};
    /// k^t is positive definite for every t > 0 (infinitely divisible), so any power may be taken.
    bool divisible = false;
    std::optional<Series> series{};
};

/// For kinds without children.
Finding judge_leaf(const KernelNode& node, const Assumptions& assumptions);

/// What a power series in a positive definite kernel says (Taylor-sign rule).
Finding judge_series(const Series& series, const Assumptions& assumptions);

/// Four digits, for reasons that people read.
std::string rounded(double value);

/// Entries of A relative to the largest below which its eigenvalues count as zero, a column.
inline constexpr double psd_tolerance = 1e-14;
/// 0 when A is positive semi-definite to that tolerance, else v'Av < 0 at some v of length 1.
double least_curvature(const Matrix<double>& a);

}  // namespace mercer
