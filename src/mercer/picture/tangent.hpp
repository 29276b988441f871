// Tangent covariance (001, "The Tangent Covariance Matrix", and ref 13: Chapelle and Schölkopf
// 2002): a machine that should not change when its rows are changed in known ways gets them
// preprocessed by
//
//     B = C_λ^(−1/2),   C_λ = (1 − λ) C + λ I,   C = 1/n Σ τ τ',
//
// with τ the differences L x − x of rows and their images: directions along which rows move without
// changing their meaning are scaled back. λ = 1 is the machine as it was.
//
//   const auto ways = parse_transforms("shift(0.5)", {16, 16, -1.0});
//   TangentMap b = TangentMap::linear(train.x, ways, 0.1);
//   Rows z = b(train.x);                               // a linear or any other kernel on these
//   TangentMap f = TangentMap::through(eigen_map(kernel, landmarks, 200), train.x, ways, 0.1);
//
// The second is for nonlinear kernels: the same in the coordinates of the kernel PCA map, with a
// linear kernel after it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/feature/maps.hpp"
#include "mercer/picture/transform.hpp"

namespace mercer MERCER_API {

/// What λ weighs against I.
enum class TangentUnit {
    /// C itself, as 001 has it. Its entries are squares in the unit of the rows, and grow with the
    /// size of the changes: rows ten times as large want a λ that weighs I a hundred times as much.
    rows,
    /// C divided by its mean eigenvalue, so that a λ means the same whatever the unit.
    mean,
};

/// Eigenvalues and vectors of C, from which B of every λ is made: a path costs one of these.
class TangentCovariance {
   public:
    /// `differences` has the τ as rows, n of them. Throws InvalidInput when they are all 0.
    explicit TangentCovariance(MatrixView<const double> differences,
                               TangentUnit unit = TangentUnit::rows);

    std::size_t size() const { return values_.size(); }
    /// Eigenvalues of C (or of C over their mean), ascending.
    const std::vector<double>& values() const { return values_; }
    /// B for this λ, 0 < λ ≤ 1. λ = 0 is allowed when C is invertible.
    Matrix<double> whitening(double lambda) const;

   private:
    std::vector<double> values_;
    Matrix<double> vectors_;
};

/// L x − x for every row and way, one below the other: ways × rows of them. Throws Cancelled.
Matrix<double> tangents(const Rows& rows, std::span<const NamedTransform> ways,
                        const Progress& progress = {});
/// The same of the features, ψ(L x) − ψ(x).
Matrix<double> tangents(const FeatureMap& map, const Rows& rows,
                        std::span<const NamedTransform> ways, const Progress& progress = {});

/// x ↦ B x, or x ↦ B ψ(x).
class TangentMap {
   public:
    static TangentMap linear(const Rows& rows, std::span<const NamedTransform> ways, double lambda,
                             const Progress& progress = {}, TangentUnit unit = TangentUnit::rows);
    static TangentMap through(FeatureMap map, const Rows& rows,
                              std::span<const NamedTransform> ways, double lambda,
                              const Progress& progress = {}, TangentUnit unit = TangentUnit::rows);

    /// The same with another λ; nothing is computed again but B.
    TangentMap with(double lambda) const;

    std::size_t features() const { return covariance_->size(); }
    const Matrix<double>& matrix() const { return matrix_; }
    const TangentCovariance& covariance() const { return *covariance_; }

    /// Dense rows, of the precision the given ones have. Throws Cancelled.
    Rows operator()(const Rows& rows, const Progress& progress = {}) const;

   private:
    TangentMap(std::optional<FeatureMap> map, std::shared_ptr<const TangentCovariance> covariance,
               double lambda);

    std::optional<FeatureMap> map_;
    std::shared_ptr<const TangentCovariance> covariance_;
    Matrix<double> matrix_;
};

}  // namespace mercer
