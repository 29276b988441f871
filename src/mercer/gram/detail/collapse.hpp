// Σ_i w_i k(x_i, ·) of a kernel with explicit features as one function w·φ(·): a product with many
// rows then costs about what one row does. The linear kernel, kernels on texts and graphs that have
// features, or sums of their own (ObjectSum), and whatever is made of them by sums, factors and
// `normalize`.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mercer/base/operator.hpp"
#include "mercer/gram/detail/plan.hpp"
#include "mercer/gram/detail/sources.hpp"

namespace mercer {

/// k = constant + Σ factor source, a source between sides where the part is normalised.
struct LinearForm {
    struct Term {
        std::size_t source = 0;
        double factor = 1;
        std::optional<std::size_t> side{};
    };
    std::vector<Term> terms{};
    double constant = 0;
};

/// The form of a plan whose sources are of the kinds that collapse; nothing for all others.
std::optional<LinearForm> linear_form(const Plan& plan);

/// Whether the plan of such a form reads nothing but products x·z of rows as they are, so that they
/// need not be packed until somebody asks for a block.
bool reads_plain_rows(const Plan& plan);

/// Whether the form of a kernel is one, so that products cost next to nothing.
bool collapses(const Kernel& kernel);

/// sums[j] += Σ_i weights[i] k(x_i, z_j). False, and nothing done, where that is not the faster
/// way.
template <class T>
bool add_collapsed(const LinearForm& form, const Plan& plan, const typename Points<T>::Data& x,
                   const typename Points<T>::Data& z, std::span<const double> weights,
                   std::span<double> sums);

/// The features of some rows; nothing where they cannot be written down (sums over pairs, negative
/// factors) or have too many columns.
/// Plain rows are lent, and live as long as x does.
template <class T>
std::optional<ExplicitRows<T>> write_features(const LinearForm& form, const Plan& plan,
                                              const typename Points<T>::Data& x,
                                              const Columns& which);

}  // namespace mercer
