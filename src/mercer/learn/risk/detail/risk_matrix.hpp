// The matrix K of a risk problem, as Newton's method needs it: products, and systems with a
// diagonal added. Stored; or ΦΦ' of rows that can be written down, with systems as large as Φ has
// columns.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "mercer/base/detail/buffer.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer {

class RiskMatrix {
   public:
    virtual ~RiskMatrix() = default;

    /// y = K x.
    virtual void multiply(std::span<const double> x, std::span<double> y) const = 0;

    /// Each row of b becomes (K_AA + D)⁻¹ times it; A is `which`, D > 0 is `diagonal`, one number a
    /// row of A. False when that matrix is not positive definite. Throws Cancelled.
    virtual bool solve(std::span<const std::size_t> which, std::span<const double> diagonal,
                       MatrixView<double> b, const Progress& progress) const = 0;

   protected:
    RiskMatrix() = default;
    RiskMatrix(const RiskMatrix&) = default;
    RiskMatrix& operator=(const RiskMatrix&) = default;
};

/// A matrix that is stored, both triangles; the numbers must outlive this.
class StoredRiskMatrix final : public RiskMatrix {
   public:
    explicit StoredRiskMatrix(MatrixView<const double> k) : k_(k) {}
    void multiply(std::span<const double> x, std::span<double> y) const override;
    bool solve(std::span<const std::size_t> which, std::span<const double> diagonal,
               MatrixView<double> b, const Progress& progress) const override;

   private:
    bool solve_among_all(std::span<const std::size_t> which, std::span<const double> diagonal,
                         MatrixView<double> b, const Progress& progress) const;

    MatrixView<const double> k_;
};

/// ΦΦ'. Systems are solved by Woodbury's identity up to `most_columns`, fewer than the rows, and
/// beyond that by conjugate gradients.
class ExplicitRiskMatrix final : public RiskMatrix {
   public:
    static constexpr std::size_t most_columns = 4096;

    explicit ExplicitRiskMatrix(ExplicitRows<double> rows) : rows_(std::move(rows)) {}
    void multiply(std::span<const double> x, std::span<double> y) const override;
    bool solve(std::span<const std::size_t> which, std::span<const double> diagonal,
               MatrixView<double> b, const Progress& progress) const override;

   private:
    ExplicitRows<double> rows_;
};

/// The matrix of the engine's reference rows: of explicit rows where there are more of those than
/// they have columns, or many and sparse ones, else stored. Throws InvalidInput when that does not
/// fit into the memory of the settings beside Newton's system, and Cancelled.
class OwnRiskMatrix {
   public:
    OwnRiskMatrix(const Gram<double>& gram, const FitSettings& settings);
    const RiskMatrix& matrix() const { return *matrix_; }
    /// Of a matrix of explicit rows; else null.
    const ExplicitRows<double>* rows() const { return rows_ ? &*rows_ : nullptr; }

   private:
    LargeBuffer buffer_{};
    std::optional<ExplicitRows<double>> rows_{};
    std::unique_ptr<const RiskMatrix> matrix_{};
};

}  // namespace mercer
