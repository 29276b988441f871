// Functions Σ_m β_m k(c_m, ·) of some rows c_m of a sample, and the features of any row among them:
//
//     K_MM = LL',   φ(x) = L⁻¹ (k(c_1, x), …, k(c_M, x))',   φ(x)·φ(z) = k̂(x, z),
//
// Nyström's approximation of k, exact where x or z is a centre. f(x) = w·φ(x) has the norm ‖w‖ and
// the coefficients β = L'⁻¹w.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/detail/span_sample.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer {

template <class T>
class CentreSpan {
   public:
    /// Throws InvalidInput for a kernel that is not known to be positive definite, and Cancelled.
    CentreSpan(const SpanSample& sample, const FitSettings& settings, const Nystroem& how);

    std::size_t size() const { return positions_.size(); }  ///< may be fewer than asked for
    const Kernel& kernel() const { return gram_.kernel(); }
    /// The centres, ascending, among the rows of all ranks.
    const std::vector<std::size_t>& positions() const { return positions_; }
    /// Puts f = Σ_m β_m k(c_m, ·) + b, a row of β for each output, among the parts of a model.
    void write(ModelParts& model, Matrix<double> beta, std::vector<double> bias,
               double self = 0) const;
    /// The engine whose reference rows are the centres.
    const Gram<T>& gram() const { return gram_; }
    /// L, lower triangular.
    MatrixView<const double> factor() const { return factor_.view(); }

    /// Row i of out is φ of row i.
    void features(const Points<T>& rows, MatrixView<T> out) const;

   private:
    struct Choice {
        std::vector<std::size_t> positions{};
        Rows rows{};
    };
    CentreSpan(const SpanSample& sample, const FitSettings& settings, Choice choice);
    static Choice chosen(const SpanSample& sample, const FitSettings& settings,
                         const Nystroem& how);

    std::vector<std::size_t> positions_;
    std::vector<std::size_t> origins_;  ///< of the centres, in the data given
    Rows rows_;                         ///< the centres, scaled
    Gram<T> gram_;
    Matrix<double> factor_{};
    Matrix<T> inverse_{};  ///< L⁻¹
};

extern template class CentreSpan<float>;
extern template class CentreSpan<double>;

}  // namespace mercer
