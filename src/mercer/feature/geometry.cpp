#include "mercer/feature/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/node.hpp"

namespace mercer {
namespace {

void check_kernel(const Kernel& kernel) {
    if (!kernel.needs_data() && !is_centered(kernel) && !contains(kernel, KernelKind::precomputed))
        return;
    throw InvalidInput("the kernel " + quoted(kernel.text(), 200) +
                       " has no value without a sample; a feature vector needs one that has");
}

Expansion expansion_of(const FeatureVector& v) {
    Expansion e;
    e.kernel = v.kernel();
    e.points = v.points();
    e.coefficients = Matrix<double>(1, v.size());
    std::ranges::copy(v.coefficients(), e.coefficients.row(0).begin());
    e.bias = {0};
    return e;
}

std::vector<double> column_means(MatrixView<const double> m) {
    std::vector<double> mean(m.columns, 0.0);
    for (std::size_t i = 0; i < m.rows; ++i) {
        for (std::size_t j = 0; j < m.columns; ++j) mean[j] += m(i, j);
    }
    for (double& value : mean) value /= static_cast<double>(std::max<std::size_t>(m.rows, 1));
    return mean;
}

double mean_of(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0) /
           static_cast<double>(std::max<std::size_t>(values.size(), 1));
}

void check_square(MatrixView<const double> m) {
    if (m.rows == m.columns) return;
    throw InvalidInput("a Gram matrix is square, not " + std::to_string(m.rows) + " x " +
                       std::to_string(m.columns));
}

}  // namespace

FeatureVector::FeatureVector(Kernel kernel, Rows points, std::vector<double> coefficients)
    : kernel_(std::move(kernel)),
      points_(std::move(points)),
      coefficients_(std::move(coefficients)) {
    check_kernel(kernel_);
    if (points_.size() != coefficients_.size()) {
        throw InvalidInput(std::to_string(coefficients_.size()) + " coefficients for " +
                           std::to_string(points_.size()) + " points");
    }
    require_finite(points_);
    if (!std::ranges::all_of(coefficients_, [](double v) { return std::isfinite(v); })) {
        throw InvalidInput("the coefficients of a feature vector must be finite");
    }
}

std::vector<double> FeatureVector::with_images(const Rows& x) const {
    if (size() == 0) return std::vector<double>(x.size(), 0.0);
    // The wider rows decide how many columns there are.
    Expansion e = expansion_of(*this);
    if (x.columns() > e.points.columns()) e.points = e.points.widened(x.columns());
    return Evaluator(e, true)(x).values();
}

FeatureVector& FeatureVector::operator+=(const FeatureVector& other) {
    if (!(kernel_ == other.kernel_)) {
        throw InvalidInput("vectors of different feature spaces cannot be added: the kernels are " +
                           quoted(kernel_.text(), 100) + " and " +
                           quoted(other.kernel_.text(), 100));
    }
    points_ = concatenate(points_, other.points_);
    coefficients_.insert(coefficients_.end(), other.coefficients_.begin(),
                         other.coefficients_.end());
    return *this;
}

FeatureVector& FeatureVector::operator-=(const FeatureVector& other) {
    return *this += -1.0 * other;
}

FeatureVector& FeatureVector::operator*=(double factor) {
    if (!std::isfinite(factor)) throw InvalidInput("a factor must be finite");
    for (double& value : coefficients_) value *= factor;
    return *this;
}

FeatureVector operator+(FeatureVector a, const FeatureVector& b) {
    return a += b;
}
FeatureVector operator-(FeatureVector a, const FeatureVector& b) {
    return a -= b;
}
FeatureVector operator*(double factor, FeatureVector a) {
    return a *= factor;
}
FeatureVector operator*(FeatureVector a, double factor) {
    return a *= factor;
}

double inner(const FeatureVector& a, const FeatureVector& b) {
    if (!(a.kernel() == b.kernel())) {
        throw InvalidInput(
            "vectors of different feature spaces have no inner product: the kernels "
            "are " +
            quoted(a.kernel().text(), 100) + " and " + quoted(b.kernel().text(), 100));
    }
    const std::vector<double> values = a.with_images(b.points());
    return std::inner_product(values.begin(), values.end(), b.coefficients().begin(), 0.0);
}

double norm(const FeatureVector& a) {
    return std::sqrt(std::max(0.0, inner(a, a)));
}

double distance(const FeatureVector& a, const FeatureVector& b) {
    return std::sqrt(std::max(0.0, inner(a, a) - 2 * inner(a, b) + inner(b, b)));
}

FeatureVector image(const Kernel& kernel, std::span<const double> x) {
    return {kernel, Rows::dense(std::vector<double>(x.begin(), x.end()), x.size()), {1.0}};
}

FeatureVector centre_of_mass(const Kernel& kernel, const Rows& rows,
                             std::span<const double> weights) {
    if (rows.size() == 0) throw InvalidInput("no rows have no centre of mass");
    if (!weights.empty() && weights.size() != rows.size()) {
        throw InvalidInput(std::to_string(weights.size()) + " weights for " +
                           std::to_string(rows.size()) + " rows");
    }
    std::vector<double> share(rows.size(), 1.0);
    if (!weights.empty()) share.assign(weights.begin(), weights.end());
    const double sum = std::accumulate(share.begin(), share.end(), 0.0);
    if (!(sum > 0) || std::ranges::any_of(share, [](double w) { return !(w >= 0); })) {
        throw InvalidInput("the weights of a centre of mass must be 0 or greater and not all 0");
    }
    for (double& w : share) w /= sum;
    const Kernel settled = resolve(kernel, rows);
    return {settled, rows, std::move(share)};
}

FeatureVector weight_vector(const Expansion& expansion, std::size_t output) {
    if (output >= expansion.outputs()) {
        throw InvalidInput("output " + std::to_string(output) +
                           " is not there: the expansion has " +
                           std::to_string(expansion.outputs()));
    }
    const auto row = expansion.coefficients.row(output);
    return {expansion.kernel, expansion.points, std::vector<double>(row.begin(), row.end())};
}

std::vector<double> squared_lengths(const Kernel& kernel, const Rows& x) {
    const auto gram = make_gram<double>(kernel, x);
    std::vector<double> result(x.size());
    gram.diagonal(gram.reference(), result);
    return result;
}

std::vector<double> distances(const FeatureVector& p, const Rows& x) {
    std::vector<double> result = p.with_images(x);
    if (x.size() == 0) return result;
    const std::vector<double> own = squared_lengths(p.kernel(), x);
    const double square = inner(p, p);
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = std::sqrt(std::max(0.0, own[i] - 2 * result[i] + square));
    }
    return result;
}

double variance(const Kernel& kernel, const Rows& rows) {
    const FeatureVector centre = centre_of_mass(kernel, rows);
    return std::max(0.0, mean_of(squared_lengths(centre.kernel(), rows)) - inner(centre, centre));
}

void center_gram(MatrixView<double> gram) {
    check_square(gram);
    const std::vector<double> mean = column_means(gram);
    const double all = mean_of(mean);
    for (std::size_t i = 0; i < gram.rows; ++i) {
        for (std::size_t j = 0; j < gram.columns; ++j) gram(i, j) += all - mean[i] - mean[j];
    }
}

void center_gram(MatrixView<double> test, MatrixView<const double> sample_gram) {
    check_square(sample_gram);
    if (test.columns != sample_gram.rows) {
        throw InvalidInput("the test matrix has " + std::to_string(test.columns) +
                           " columns for a sample of " + std::to_string(sample_gram.rows));
    }
    const std::vector<double> mean = column_means(sample_gram);
    const double all = mean_of(mean);
    for (std::size_t i = 0; i < test.rows; ++i) {
        const double own = mean_of(test.row(i));
        for (std::size_t j = 0; j < test.columns; ++j) test(i, j) += all - own - mean[j];
    }
}

}  // namespace mercer
