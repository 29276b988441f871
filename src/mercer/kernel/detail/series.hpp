// Kernels as power series in one base kernel, for the Taylor-sign rule: a power series with
// non-negative coefficients of a positive definite kernel is positive definite (000 §2.2; 002
// corollary 1), and for the dot product the converse holds as well.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mercer/kernel/kernel.hpp"

namespace mercer {

/// a[0] + a[1] t + a[2] t² + …, with t a positive definite kernel.
struct Series {
    /// What is known of the coefficients that are not listed.
    enum class Tail { zero, non_negative, unknown };

    std::optional<Kernel> base{};  ///< t; none for a constant
    std::string base_text{};       ///< its text, by which bases are compared
    bool dot_product = false;      ///< t is x·z on some columns
    bool strict = false;           ///< t is strictly positive definite
    std::vector<double> a{};
    /// The same sums with every term taken positive: how much could have cancelled. A coefficient
    /// below `rounding` times this counts as zero, because 0.3² − 0.09 is not exactly 0.
    std::vector<double> size{};
    Tail tail = Tail::zero;

    static constexpr std::size_t most_terms = 65;
    static constexpr double rounding = 1e-14;

    bool negative(std::size_t n) const { return a[n] < -rounding * size[n]; }
    /// The first n >= 1 with a negative coefficient.
    std::optional<std::size_t> first_negative() const;
    /// The first n >= 1 with a positive one.
    std::optional<std::size_t> first_positive() const;
    /// "0.25 + t + t^2" with at most a few terms.
    std::string text() const;
};

Series constant_series(double value);
/// t itself.
Series base_series(const Kernel& base, bool dot_product, bool strict = false);

// Nothing when the bases differ, a degree grows beyond `most_terms` or a number overflows.
std::optional<Series> add(const Series& x, const Series& y);
std::optional<Series> multiply(const Series& x, const Series& y);
std::optional<Series> scale(const Series& x, double factor);
std::optional<Series> power(const Series& x, std::size_t exponent);
std::optional<Series> exponential(const Series& x);

}  // namespace mercer
