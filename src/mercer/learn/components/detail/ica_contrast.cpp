#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/components/detail/ica_contrast.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {

IcaFeatures ica_features(std::span<const double> source, const Kernel& kernel, double kappa) {
    const std::size_t n = source.size();
    const Rows rows = Rows::dense(std::vector<double>(source.begin(), source.end()), 1);
    const double shift = static_cast<double>(n) * kappa / 2;
    // What is left out is far below the shift, beside which it would count for nothing.
    const IncompleteCholesky factor =
        incomplete_cholesky(*make_operator(make_gram<double>(kernel, rows), {}),
                            {.rank = 500, .tolerance = 1e-3 * kappa});
    Matrix<double> g = factor.factor;
    for (std::size_t r = 0; r < g.rows(); ++r) {
        const auto row = g.row(r);
        const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(n);
        for (double& value : row) value -= mean;
    }
    Matrix<double> square(g.rows(), g.rows());
    multiply_transposed(g.view(), g.view(), square.view());
    Spectrum spectrum = symmetric_eigen(square.view());
    std::size_t first = 0;
    while (first < g.rows() && !(spectrum.values[first] > 1e-9 * shift)) ++first;
    if (first == g.rows()) {
        throw InvalidInput("kappa = " + format_number(kappa) +
                           " leaves nothing of the functions of a source; take a smaller one, or 0 "
                           "for the usual one");
    }
    IcaFeatures u(g.rows() - first, n);
    for (std::size_t r = 0; r < u.rows(); ++r) {
        const double value = spectrum.values[first + r];
        const double scale = value / (value + shift) / std::sqrt(value);
        const auto v = spectrum.vectors.row(first + r);
        const auto to = u.row(r);
        for (std::size_t q = 0; q < g.rows(); ++q) {
            const auto from = g.row(q);
            const double factor_q = scale * v[q];
            for (std::size_t i = 0; i < n; ++i) to[i] += factor_q * from[i];
        }
    }
    return u;
}

SourceCorrelations::SourceCorrelations(std::vector<const IcaFeatures*> sources,
                                       IcaContrast contrast)
    : sources_(std::move(sources)), contrast_(contrast) {
    for (const IcaFeatures* source : sources_) {
        starts_.push_back(size_);
        size_ += source->rows();
    }
    matrix_ = Matrix<double>(size_, size_);
    for (std::size_t i = 0; i < size_; ++i) matrix_(i, i) = 1;
    for (std::size_t row = 1; row < sources_.size(); ++row) {
        for (std::size_t column = 0; column < row; ++column) fill_block(row, column);
    }
}

SourceCorrelations SourceCorrelations::with(std::size_t a, const IcaFeatures& x, std::size_t b,
                                            const IcaFeatures& y) const {
    std::vector<const IcaFeatures*> sources = sources_;
    sources[a] = &x;
    sources[b] = &y;
    if (x.rows() != sources_[a]->rows() || y.rows() != sources_[b]->rows()) {
        return {std::move(sources), contrast_};  // the blocks lie elsewhere now
    }
    SourceCorrelations changed = *this;
    changed.sources_ = std::move(sources);
    for (std::size_t row = 1; row < sources_.size(); ++row) {
        for (std::size_t column = 0; column < row; ++column) {
            if (row == a || row == b || column == a || column == b) {
                changed.fill_block(row, column);
            }
        }
    }
    return changed;
}

void SourceCorrelations::fill_block(std::size_t row, std::size_t column) {
    const IcaFeatures& a = *sources_[row];
    const IcaFeatures& b = *sources_[column];
    if (a.rows() == 0 || b.rows() == 0) return;
    multiply_transposed(a.view(), b.view(),
                        matrix_.view().block(starts_[row], starts_[column], a.rows(), b.rows()));
}

double SourceCorrelations::value() const {
    if (size_ == 0) return 0;  // kernels that are constant see no dependence
    if (contrast_ == IcaContrast::variance) {
        Matrix<double> factor = matrix_;
        if (!cholesky(factor.view())) return std::numeric_limits<double>::infinity();
        return -0.5 * log_determinant(factor.view());
    }
    const double least = symmetric_eigen(matrix_.view(), false).values.front();
    return least > 0 ? -0.5 * std::log(least) : std::numeric_limits<double>::infinity();
}

double ica_contrast(MatrixView<const double> sources, const Kernel& kernel, double kappa,
                    IcaContrast contrast) {
    require_range("kappa", kappa, kappa > 0, "greater than 0");
    std::vector<IcaFeatures> features;
    std::vector<double> column(sources.rows);
    for (std::size_t s = 0; s < sources.columns; ++s) {
        for (std::size_t i = 0; i < sources.rows; ++i) column[i] = sources(i, s);
        features.push_back(ica_features(column, kernel, kappa));
    }
    std::vector<const IcaFeatures*> all;
    for (const IcaFeatures& f : features) all.push_back(&f);
    return SourceCorrelations(std::move(all), contrast).value();
}

double amari_error(MatrixView<const double> unmixing, MatrixView<const double> mixing) {
    const std::size_t m = unmixing.rows;
    if (m < 2 || mixing.columns != m || mixing.rows != unmixing.columns) {
        throw InvalidInput(
            "an Amari error needs W of m rows and A of as many columns, m at least "
            "2; found " +
            std::to_string(unmixing.rows) + " x " + std::to_string(unmixing.columns) + " and " +
            std::to_string(mixing.rows) + " x " + std::to_string(mixing.columns));
    }
    Matrix<double> p(m, m);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < m; ++j) {
            for (std::size_t k = 0; k < mixing.rows; ++k) p(i, j) += unmixing(i, k) * mixing(k, j);
            p(i, j) = std::abs(p(i, j));
        }
    }
    double sum = 0;
    for (std::size_t i = 0; i < m; ++i) {
        double row = 0, row_largest = 0, column = 0, column_largest = 0;
        for (std::size_t j = 0; j < m; ++j) {
            row += p(i, j);
            row_largest = std::max(row_largest, p(i, j));
            column += p(j, i);
            column_largest = std::max(column_largest, p(j, i));
        }
        if (!(row_largest > 0 && column_largest > 0)) return 1;  // a source is lost altogether
        sum += row / row_largest + column / column_largest - 2;
    }
    return sum / (2 * static_cast<double>(m * (m - 1)));
}

}  // namespace mercer
