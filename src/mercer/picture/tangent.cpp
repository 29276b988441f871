#include "mercer/picture/tangent.hpp"

#include <algorithm>
#include <cmath>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

constexpr std::size_t band_rows = 512;

/// Σ τ τ' over the rows, in bands that are added up in their order.
Matrix<double> second_moments(MatrixView<const double> rows) {
    const std::size_t d = rows.columns;
    constexpr std::size_t stripe = 64;
    Matrix<double> sum(d, d);
    Matrix<double> across(d, rows.rows);  // the product wants both factors by rows
    parallel_ranges(d, stripe, [&](std::size_t first, std::size_t last) {
        for (std::size_t k = first; k < last; ++k) {
            for (std::size_t i = 0; i < rows.rows; ++i) across(k, i) = rows(i, k);
        }
    });
    parallel_ranges(d, stripe, [&](std::size_t first, std::size_t last) {
        multiply_transposed(across.view().block(first, 0, last - first, rows.rows), across.view(),
                            sum.view().block(first, 0, last - first, d));
    });
    return sum;
}

Matrix<double> full_rows(const Rows& rows) {
    Matrix<double> result(rows.size(), rows.columns());
    parallel_ranges(rows.size(), band_rows, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) rows.copy_row(i, result.row(i));
    });
    return result;
}

/// What `features` makes of every way's images, less what it makes of the rows.
template <class Features>
Matrix<double> differences(const Rows& rows, std::span<const NamedTransform> ways,
                           Features&& features, const Progress& progress) {
    if (ways.empty() || rows.size() == 0) {
        throw InvalidInput("tangents need rows and at least one way to change them");
    }
    require_finite(rows);
    const Matrix<double> own = features(rows);
    Matrix<double> result(ways.size() * rows.size(), own.columns());
    for (std::size_t w = 0; w < ways.size(); ++w) {
        const Matrix<double> image = features(transformed(rows, ways[w].transform, progress));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto out = result.row(w * rows.size() + i);
            for (std::size_t k = 0; k < out.size(); ++k) out[k] = image(i, k) - own(i, k);
        }
    }
    return result;
}

}  // namespace

TangentCovariance::TangentCovariance(MatrixView<const double> differences, TangentUnit unit) {
    if (differences.rows == 0 || differences.columns == 0) {
        throw InvalidInput("a tangent covariance needs tangents");
    }
    Matrix<double> c = second_moments(differences);
    double trace = 0;
    for (std::size_t k = 0; k < c.rows(); ++k) trace += c(k, k);
    const double mean = trace / static_cast<double>(c.rows());
    if (!(mean > 0) || !std::isfinite(mean)) {
        throw InvalidInput("the transformations change nothing: every tangent is 0");
    }
    const double divisor = unit == TangentUnit::mean ? mean : static_cast<double>(differences.rows);
    for (double& v : c.values()) v /= divisor;
    Spectrum spectrum = symmetric_eigen(c.view());
    values_ = std::move(spectrum.values);
    for (double& v : values_) v = std::max(0.0, v);
    vectors_ = std::move(spectrum.vectors);
}

Matrix<double> TangentCovariance::whitening(double lambda) const {
    require_range("lambda", lambda, lambda >= 0 && lambda <= 1, "between 0 and 1");
    const std::size_t d = size();
    Matrix<double> scaled(d, d);  // row k: component k of every vector, over its root
    Matrix<double> plain(d, d);
    for (std::size_t e = 0; e < d; ++e) {
        const double value = (1 - lambda) * values_[e] + lambda;
        if (!(value > 1e-12 * values_.back())) {
            throw InvalidInput(
                "with lambda = 0 the tangent covariance has no inverse root: some direction never "
                "moves; take lambda above 0");
        }
        for (std::size_t k = 0; k < d; ++k) {
            plain(k, e) = vectors_(e, k);
            scaled(k, e) = vectors_(e, k) / std::sqrt(value);
        }
    }
    Matrix<double> b(d, d);
    parallel_ranges(d, 64, [&](std::size_t first, std::size_t last) {
        multiply_transposed(scaled.view().block(first, 0, last - first, d), plain.view(),
                            b.view().block(first, 0, last - first, d));
    });
    return b;
}

Matrix<double> tangents(const Rows& rows, std::span<const NamedTransform> ways,
                        const Progress& progress) {
    return differences(rows, ways, full_rows, progress);
}

Matrix<double> tangents(const FeatureMap& map, const Rows& rows,
                        std::span<const NamedTransform> ways, const Progress& progress) {
    return differences(
        rows, ways, [&](const Rows& x) { return map(x, progress); }, progress);
}

TangentMap::TangentMap(std::optional<FeatureMap> map,
                       std::shared_ptr<const TangentCovariance> covariance, double lambda)
    : map_(std::move(map)),
      covariance_(std::move(covariance)),
      matrix_(covariance_->whitening(lambda)) {}

TangentMap TangentMap::linear(const Rows& rows, std::span<const NamedTransform> ways, double lambda,
                              const Progress& progress, TangentUnit unit) {
    const Matrix<double> t = tangents(rows, ways, progress);
    return {std::nullopt, std::make_shared<const TangentCovariance>(t.view(), unit), lambda};
}

TangentMap TangentMap::through(FeatureMap map, const Rows& rows,
                               std::span<const NamedTransform> ways, double lambda,
                               const Progress& progress, TangentUnit unit) {
    const Matrix<double> t = tangents(map, rows, ways, progress);
    return {std::move(map), std::make_shared<const TangentCovariance>(t.view(), unit), lambda};
}

TangentMap TangentMap::with(double lambda) const {
    return {map_, covariance_, lambda};
}

Rows TangentMap::operator()(const Rows& rows, const Progress& progress) const {
    if (!map_ && rows.columns() != features()) {
        throw InvalidInput("the rows have " + std::to_string(rows.columns()) +
                           " columns; the tangents were of " + std::to_string(features()));
    }
    const Matrix<double> own = map_ ? (*map_)(rows, progress) : full_rows(rows);
    Matrix<double> out(own.rows(), features());
    parallel_ranges(own.rows(), band_rows, [&](std::size_t first, std::size_t last) {
        multiply_transposed(own.view().block(first, 0, last - first, own.columns()), matrix_.view(),
                            out.view().block(first, 0, last - first, features()));
    });
    Rows result = Rows::dense(std::move(out.values()), features());
    return rows.is_double() ? result : result.to_float();
}

}  // namespace mercer
