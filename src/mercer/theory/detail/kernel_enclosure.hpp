// Values of a kernel with proved bounds on their rounding: an interval that holds the exact value
// of the formula at two rows of double precision numbers.
//
// Sums over d columns (u = 2⁻⁵³, γ_d = du/(1 − du), Higham 2002, chapter 3):
//     dot product        |fl − exact| ≤ γ_d Σ|x_k z_k|, and Σ|x_k z_k| ≤ fl(Σ|x_k z_k|)/(1 − γ_d)
//     |x−z|², |x−z|_1    sums of terms ≥ 0 of which each is off by three roundings at most:
//                        |fl − exact| ≤ γ_{d+2} exact
// each with d times the smallest number 2⁻¹⁰⁷⁴ for products that underflow. 1.01(d + 3)u stands for
// γ_{d+2}/(1 − γ_{d+2}), which is less while du < 0.004. All that follows is interval arithmetic
// (base/detail/interval.hpp).
#pragma once

#include <span>

#include "mercer/base/detail/interval.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer {

/// Throws InvalidInput, by name, for a part whose rounding has no bound here. There is one for
/// leaves that are functions of x·z, |x−z| or |x−z|_1 and whose description encloses them (the
/// message lists them), sums, products, factors, whole powers, exp, normalize, rbf_of and choices
/// of columns. The kernel must be resolved.
void require_enclosable(const Kernel& kernel);

/// An interval around k(x, z); without bounds where numbers overflow.
Interval enclose(const Kernel& kernel, std::span<const double> x, std::span<const double> z);

}  // namespace mercer
