// One rotation that makes several symmetric matrices as diagonal as can be, by turns of two axes at
// a time [Cardoso and Souloumiac 1996]: each turn minimises the squared entries off the diagonal,
// summed over all matrices, so that they never grow.
//
//   const JointDiagonal d = joint_diagonal(covariances, {.tolerance = 1e-6});
//   d.rotation;                       // V: V C V' is nearly diagonal for each C
//   d.history.front(), d.history.back();   // off-diagonal mass before and after: the certificate
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"

namespace mercer {

struct JointDiagonalSettings {
    std::size_t sweeps = 100;  ///< over all pairs of axes, at most
    double tolerance = 1e-6;   ///< stop when a sweep turns no pair by more than this angle
    Progress progress{};       ///< what there is when it says stop is kept
};

struct JointDiagonal {
    Matrix<double> rotation{};               ///< one new axis a row
    std::vector<Matrix<double>> matrices{};  ///< V C V'
    std::vector<double> history{};           ///< off-diagonal mass, at first and after each sweep
    bool converged = false;

    std::size_t sweeps() const { return history.size() - 1; }
};

/// Σ over matrices of the squared entries off their diagonals.
double off_diagonal_mass(const std::vector<Matrix<double>>& matrices);

/// All of one size, symmetric; at least one.
JointDiagonal joint_diagonal(std::vector<Matrix<double>> matrices,
                             const JointDiagonalSettings& settings = {});

}  // namespace mercer
