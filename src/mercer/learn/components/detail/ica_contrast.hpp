// What kernel independent components minimise (Bach and Jordan 2002, §4.1), for the .cpp files of
// this room.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/components/ica.hpp"

namespace mercer {

/// One source as the contrast sees it: the rows of R U', so that products of two of these are the
/// blocks of its matrix.
using IcaFeatures = Matrix<double>;

/// From the centred incomplete Cholesky factor G (rank × n) with GG' = VΛV': U' = Λ^(−½) V'G and
/// R = Λ / (Λ + nκ/2).
IcaFeatures ica_features(std::span<const double> source, const Kernel& kernel, double kappa);

/// The matrix of all sources, and its least eigenvalue or determinant as a contrast.
class SourceCorrelations {
   public:
    /// The features must outlive this.
    SourceCorrelations(std::vector<const IcaFeatures*> sources, IcaContrast contrast);

    /// Other features for two of the sources.
    SourceCorrelations with(std::size_t a, const IcaFeatures& x, std::size_t b,
                            const IcaFeatures& y) const;
    /// Infinite when the sources determine each other to the last digit.
    double value() const;

   private:
    void fill_block(std::size_t row, std::size_t column);

    std::vector<const IcaFeatures*> sources_;
    IcaContrast contrast_;
    std::vector<std::size_t> starts_{};
    std::size_t size_ = 0;
    Matrix<double> matrix_{};  ///< its lower triangle
};

}  // namespace mercer
