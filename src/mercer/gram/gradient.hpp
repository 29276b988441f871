// Gram matrices together with their derivatives in every parameter of the kernel, by blocks and in
// double precision: what the evidence of a Gaussian process, or any search along a gradient, needs.
//
//   GramGradient g(Kernel::parse("2*rbf(sigma=3) + periodic(period=1)"), data.x);
//   g.parameters();                                  // factor, sigma, period, length
//   g.matrix(k.view());                              // K
//   g.contract(w.view());                            // Σ_ij w_ij ∂K_ij/∂θ for each θ
//   g.with(std::array{1.5, 2.0, 0.9, 1.0});          // the same at other values
//
// The pairwise numbers that do not depend on parameters (x·z, ‖x−z‖², …) come from the Gram engine
// tile by tile and may be kept between evaluations; what is made of them is differentiated forward
// through the expression, one pass of vector code an operation.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/kernel/parameters.hpp"

namespace mercer MERCER_API {

class GramGradient {
   public:
    /// `memory_bytes` may be spent on keeping pairwise numbers for later evaluations. Throws
    /// InvalidInput when the kernel does not fit the rows, and Cancelled.
    GramGradient(const Kernel& kernel, const Rows& reference,
                 std::span<const std::string> names = {}, std::size_t memory_bytes = 0,
                 const Progress& progress = {});

    /// The same sample and expression at other values of the parameters; shares what was prepared.
    GramGradient with(std::span<const double> values) const;

    const Kernel& kernel() const;  ///< resolved
    const std::vector<KernelParameter>& parameters() const;
    std::size_t size() const;

    /// value(i, j) = k(x_a, x_b) and slopes[p](i, j) = ∂k(x_a, x_b)/∂θ_p with a = first_row + i and
    /// b = first_column + j. `slopes` is empty, or has one matrix a parameter. Throws InvalidInput
    /// for a parameter without derivative (the radius of ball).
    void block(std::size_t first_row, std::size_t first_column, MatrixView<double> value,
               std::span<const MatrixView<double>> slopes) const;

    /// The whole matrix K. Throws Cancelled.
    void matrix(MatrixView<double> out, const Progress& progress = {}) const;

    /// Σ_ij weights(i, j) ∂k(x_i, x_j)/∂θ_p for every p. The weights must be symmetric; only their
    /// lower triangle is read. Throws Cancelled.
    std::vector<double> contract(MatrixView<const double> weights,
                                 const Progress& progress = {}) const;

   private:
    struct State;
    explicit GramGradient(std::shared_ptr<const State> state) : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
};

/// Row j of the result is ∂k(x, z_j)/∂x; see kernel/parameters.hpp for what can be differentiated.
Matrix<double> input_gradients(const Kernel& kernel, std::span<const double> x, const Rows& z);

}  // namespace mercer
