// Functional calculus of symmetric matrices (001, properties II): f(K) = U f(D) U' for K = U D U'.
// It makes new kernels on a fixed sample, and repairs matrices that are no dot products.
//
//   Matrix<double> k(n, n);                                 // Gram matrix of train and test rows
//   Matrix<double> root = SpectralFunction::parse("power(0.5)")(k.view());
//   data.x = Rows::dense(root.values(), root.columns());    // and learn with precomputed()
//
// Isomap, locally linear embedding and Laplacian eigenmaps as kernels on a sample, for kernel PCA
// [Ham, Lee, Mika and Schölkopf 2004; 27 of 001]. Each is a function of the Gram matrix, that is of
// distances in feature space, through the graph of nearest points, in which an edge is there when
// either end has it among its nearest.
//
//   isomap(k)     −½ J S J, S the squared lengths of shortest paths, J = I − 11'/n [Tenenbaum, de
//                 Silva and Langford 2000]. Not positive definite in general: on a finite sample
//                 shortest paths need not be distances of points in any Euclidean space.
//   lle(k)        λ_max I − M, M = (I − W)'(I − W), the rows of W writing each point as an average
//   of its
//                 nearest [Roweis and Saul 2000]. Positive semidefinite; its first eigenvector is
//                 constant, and centring takes it away.
//   laplacian(k)  the pseudo-inverse of L = D − A, A the graph's adjacency [Belkin and Niyogi
//   2003].
//                 Positive semidefinite and centred.
//
//   Matrix<double> k(n, n);
//   Matrix<double> flat = ManifoldFunction::parse("isomap(7)")(k.view());
//   data.x = Rows::dense(flat.values(), flat.columns());      // and kernel PCA with precomputed()
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"

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

class ManifoldFunction {
   public:
    enum class Kind { isomap, lle, laplacian };

    /// "isomap(7)", "lle(10)", "laplacian(5)". Throws InvalidInput.
    static ManifoldFunction parse(std::string_view text);
    /// Whether the text begins with the name of one.
    static bool knows(std::string_view text);
    ManifoldFunction(Kind kind, std::size_t neighbours) : kind_(kind), neighbours_(neighbours) {}

    Kind kind() const { return kind_; }
    std::size_t neighbours() const { return neighbours_; }

    /// Throws InvalidInput for a matrix that is not square and finite, fewer points than
    /// neighbours, and a graph that falls apart where that leaves no answer (isomap, laplacian).
    /// Throws Cancelled.
    Matrix<double> operator()(MatrixView<const double> k, const Progress& progress = {}) const;

   private:
    Kind kind_;
    std::size_t neighbours_;
};

/// Throws InvalidInput for a text that `apply_functions` cannot read.
void check_functions(std::string_view text);
/// f(K) by the text of one function or of several with spaces between, from left to right: those
/// here and those of feature/spectral.hpp, "isomap(7) clip".
Matrix<double> apply_functions(MatrixView<const double> k, std::string_view text,
                               const Progress& progress = {});

}  // namespace mercer
