// Functional calculus of symmetric matrices (001, properties II): f(K) = U f(D) U' for K = U D U'.
// It makes new kernels on a fixed sample, and repairs matrices that are no dot products.
//
//   Matrix<double> k(n, n);                                 // Gram matrix of train and test rows
//   Matrix<double> root = SpectralFunction::parse("power(0.5)")(k.view());
//   data.x = Rows::dense(root.values(), root.columns());    // and learn with precomputed()
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"

namespace mercer MERCER_API {

/// U f(D) U' of a stored symmetric matrix; the result is symmetric to the last bit. Throws
/// InvalidInput for a matrix that is not square, symmetric to within rounding and finite, and when
/// f takes a value that is not finite.
Matrix<double> matrix_function(MatrixView<const double> k, const std::function<double(double)>& f);

/// A function of the spectrum, by name.
class SpectralFunction {
   public:
    enum class Kind {
        power,  ///< λ^p; needs λ >= 0 unless p is a whole number, λ > 0 for p < 0 on the range of K
        exp,    ///< e^(p λ): the diffusion kernel of K
        log,    ///< log(1 + λ): flattens a spectrum like a power below 1, and is 0 where λ is
        clip,   ///< max(λ, 0): the nearest positive semidefinite matrix
        flip,   ///< |λ|
        shift,  ///< λ − min(λ_min, 0): adds a multiple of the identity
    };

    /// "power(0.5)", "exp", "exp(0.1)", "log", "clip", "flip", "shift". Throws InvalidInput.
    static SpectralFunction parse(std::string_view text);
    explicit SpectralFunction(Kind kind, double parameter = 1);

    Kind kind() const { return kind_; }
    double parameter() const { return parameter_; }
    std::string text() const;

    /// f(K). Eigenvalues that are 0 up to rounding count as 0. Throws InvalidInput that names the
    /// eigenvalue for which f has no value, and the remedy.
    Matrix<double> operator()(MatrixView<const double> k) const;

   private:
    Kind kind_;
    double parameter_;
};

}  // namespace mercer
