// Leaves as functions of one number of a pair: x·z, ‖x−z‖², … Their value, their derivative in
// that number and in each of their own parameters, for many pairs at once. The one place where the
// derivatives of the kernel table are written down.
#pragma once

#include <span>
#include <string>

#include "mercer/kernel/node.hpp"

namespace mercer {

/// What a leaf is a function of.
enum class PairNumber {
    whole,     ///< nothing smaller: the kernel's value itself, without parameters of its own
    dot,       ///< x·z
    squared,   ///< ‖x−z‖²
    absolute,  ///< Σ |x_k − z_k|
    chi2,      ///< Σ (x_k − z_k)² / (x_k + z_k)
    sine,      ///< Σ sin²(π (x_k − z_k) / period), which depends on the period
    anova,     ///< the anova sum itself, which depends on gamma
    nothing,   ///< a constant
};
PairNumber pair_number(const KernelNode& leaf);

/// The parameter that the number itself depends on ("period", "gamma"), or empty.
std::string number_parameter(const KernelNode& leaf);

/// Room for the results, each as long as there are pairs; empty where not wanted.
struct LeafSlopes {
    std::span<double> value{};
    std::span<double> by_number{};
};

/// value = k and by_number = dk/dt at the numbers t.
void leaf_value(const KernelNode& leaf, std::span<const double> t, const LeafSlopes& out);

/// out = ∂k/∂θ for the canonical parameter θ with t held fixed. Throws InvalidInput where k is no
/// differentiable function of it (the radius of a ball).
void leaf_parameter_slope(const KernelNode& leaf, const std::string& canonical,
                          std::span<const double> t, std::span<double> out);

}  // namespace mercer
