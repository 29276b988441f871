// A low-rank factor of a positive semidefinite matrix from few of its rows,
//
//     K ≈ G'G,   G = L_pp⁻¹ K(p, ·),   K(p, p) = L_pp L_pp',
//
// p being the pivots, at each step the row with the largest remaining diagonal (Fine and
// Scheinberg 2001; Bach and Jordan 2002, §4.2). It is exact on the rows and columns of the pivots,
// and everywhere when the rank of K is reached.
//
//   const IncompleteCholesky f = incomplete_cholesky(op, {.rank = 200, .tolerance = 1e-6});
//   f.factor;                                 // rank × n: column i holds the features of row i
//   f.remaining;                              // trace of K − G'G: the certificate
//
// Column i of G is a feature vector of row i; rows that were not there get theirs by the same
// formula, L_pp⁻¹ K(p, x).
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/progress.hpp"

namespace mercer {

struct IncompleteCholeskySettings {
    std::size_t rank = 0;      ///< at most so many rows; 0: no limit
    double tolerance = 1e-12;  ///< stop when trace(K − G'G) is at most this times trace(K)
    Progress progress{};       ///< throws Cancelled
};

struct IncompleteCholesky {
    std::vector<std::size_t> pivots{};  ///< rows of K, in the order taken
    Matrix<double> factor{};            ///< G, rank × n
    double remaining = 0;               ///< trace of what is left
    double trace = 0;                   ///< of K

    std::size_t rank() const { return pivots.size(); }
    /// L_pp, lower triangular, rank × rank.
    Matrix<double> pivot_factor() const;
};

/// Asks the operator for its diagonal and for one row a pivot. A diagonal entry that falls below
/// zero, which only rounding or an indefinite matrix does, counts as zero.
IncompleteCholesky incomplete_cholesky(const SymmetricOperator<double>& k,
                                       const IncompleteCholeskySettings& settings = {});

/// Each row v of `b` becomes L'⁻¹ v, with L lower triangular: feature-space weights turned into
/// coefficients of the pivots.
void backward_solve(MatrixView<const double> factor, MatrixView<double> b);

}  // namespace mercer
