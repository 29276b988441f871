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
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"

namespace mercer MERCER_API {

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
