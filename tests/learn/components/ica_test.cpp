// Kernel independent components: known sources come back, the contrast by definition, and what is
// refused.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "learn/small.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/learn/components/ica.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

using testing::message_of;

/// Independent sources of variance 1: uniform, Laplace, two lumps, exponential.
Matrix<double> independent(std::size_t n, std::size_t count, std::uint64_t seed) {
    Random random(seed);
    Matrix<double> s(n, count);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < count; ++j) {
            const double u = random.uniform();
            switch (j % 4) {
                case 0: s(i, j) = std::sqrt(3.0) * (2 * u - 1); break;
                case 1:
                    s(i, j) = (u < 0.5 ? 1 : -1) * std::log1p(-random.uniform()) / std::sqrt(2.0);
                    break;
                case 2: s(i, j) = (u < 0.5 ? 0.95 : -0.95) + 0.3 * random.normal(); break;
                default: s(i, j) = -std::log1p(-u) - 1;
            }
        }
    }
    return s;
}

Dataset mixed(const Matrix<double>& s, const Matrix<double>& a) {
    Matrix<double> x(s.rows(), a.rows());
    for (std::size_t i = 0; i < x.rows(); ++i) {
        for (std::size_t j = 0; j < x.columns(); ++j) {
            for (std::size_t k = 0; k < s.columns(); ++k) x(i, j) += a(j, k) * s(i, k);
            x(i, j) += static_cast<double>(j);
        }
    }
    Dataset data;
    data.x = Rows::dense(x.values(), x.columns());
    return data;
}

Matrix<double> matrix(std::size_t rows, std::size_t columns, std::vector<double> values) {
    Matrix<double> m(rows, columns);
    m.values() = std::move(values);
    return m;
}

TEST(Ica, UnmixesTwoAndThreeSources) {
    const Matrix<double> two = matrix(2, 2, {1, 0.6, -0.4, 1.2});
    const Matrix<double> three = matrix(3, 3, {1, 0.5, 0.3, -0.6, 1, 0.4, 0.2, -0.7, 1.5});
    for (const IcaContrast contrast : {IcaContrast::correlation, IcaContrast::variance}) {
        for (const Matrix<double>& a : {two, three}) {
            IcaSettings s;
            s.contrast = contrast;
            s.tolerance = 1e-3;
            const Dataset data = mixed(independent(500, a.rows(), 1), a);
            const Model model = kernel_ica(s).fit(data);
            EXPECT_EQ(model.report().status, FitStatus::converged);
            const double error = amari_error(unmixing_matrix(model).view(), a.view());
            EXPECT_LT(error, 0.06) << a.rows() << " sources";
            const std::vector<double>& history = model.report().history;
            for (std::size_t t = 1; t < history.size(); ++t) EXPECT_LE(history[t], history[t - 1]);
            EXPECT_LT(history.back(), 0.5 * history.front());
        }
    }
}

TEST(Ica, TheModelIsLinearWhitenedAndItsMixingItsInverse) {
    const Matrix<double> a = matrix(3, 2, {1, 0.2, 0.4, 1, -0.5, 0.8});
    IcaSettings s;
    s.components = 2;
    s.tolerance = 1e-3;
    s.common.scaling = ScalingRule::parse("standard");
    Dataset data = mixed(independent(600, 2, 2), a);
    const Model model = kernel_ica(s).fit(data);
    const Matrix<double> f = model.decision(data.x);
    ASSERT_EQ(f.columns(), 2U);
    for (std::size_t p = 0; p < 2; ++p) {
        for (std::size_t q = 0; q < 2; ++q) {
            double mean = 0, sum = 0;
            for (std::size_t i = 0; i < f.rows(); ++i) {
                mean += f(i, p);
                sum += f(i, p) * f(i, q);
            }
            EXPECT_NEAR(mean, 0, 1e-8);
            EXPECT_NEAR(sum / 600, p == q ? 1 : 0, 1e-8);
        }
    }
    // Three columns of two sources: W is 2 × 3, and unmixes what A mixed.
    EXPECT_LT(amari_error(unmixing_matrix(model).view(), a.view()), 0.06);
    const Model back = load_from_memory(save_to_memory(model));
    EXPECT_EQ(back.decision(data.x).values(), f.values());
    EXPECT_EQ(back.extras().array("mixing").values(), model.extras().array("mixing").values());
}

/// Bach and Jordan's definition, on whole matrices: the least eigenvalue of the matrix with blocks
/// (K_i + nκ/2)⁻¹ K_i K_j (K_j + nκ/2)⁻¹ and identities on the diagonal, or its determinant.
double whole_contrast(const Matrix<double>& s, const Kernel& kernel, double kappa,
                      IcaContrast contrast) {
    const std::size_t n = s.rows(), m = s.columns();
    std::vector<Matrix<double>> r;  // (K + nκ/2)⁻¹ K
    for (std::size_t j = 0; j < m; ++j) {
        Matrix<double> k(n, n);
        for (std::size_t a = 0; a < n; ++a) {
            for (std::size_t b = 0; b < n; ++b) {
                const double x[] = {s(a, j)}, z[] = {s(b, j)};
                k(a, b) = kernel(x, z);
            }
        }
        center_gram(k.view());
        const Spectrum spectrum = symmetric_eigen(k.view());
        Matrix<double> out(n, n);
        for (std::size_t e = 0; e < n; ++e) {
            const double v = spectrum.values[e];
            const double f = v / (v + static_cast<double>(n) * kappa / 2);
            for (std::size_t a = 0; a < n; ++a) {
                for (std::size_t b = 0; b < n; ++b) {
                    out(a, b) += f * spectrum.vectors(e, a) * spectrum.vectors(e, b);
                }
            }
        }
        r.push_back(std::move(out));
    }
    Matrix<double> all(n * m, n * m);
    for (std::size_t i = 0; i < n * m; ++i) all(i, i) = 1;
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < m; ++j) {
            if (i == j) continue;
            for (std::size_t a = 0; a < n; ++a) {
                for (std::size_t b = 0; b < n; ++b) {
                    double sum = 0;
                    for (std::size_t c = 0; c < n; ++c) sum += r[i](a, c) * r[j](c, b);
                    all(i * n + a, j * n + b) = sum;
                }
            }
        }
    }
    const std::vector<double> values = symmetric_eigen(all.view(), false).values;
    if (contrast == IcaContrast::correlation) return -0.5 * std::log(values.front());
    double log_determinant = 0;
    for (const double value : values) log_determinant += std::log(value);
    return -0.5 * log_determinant;
}

TEST(Ica, TheContrastIsThatOfTheDefinition) {
    const Matrix<double> s = independent(40, 3, 3);
    const Kernel kernel = rbf({.sigma = 1.0});
    for (const IcaContrast contrast : {IcaContrast::correlation, IcaContrast::variance}) {
        EXPECT_NEAR(ica_contrast(s.view(), kernel, 0.02, contrast),
                    whole_contrast(s, kernel, 0.02, contrast), 2e-3);
    }
    // Two equal sources cannot be less independent.
    Matrix<double> same = s;
    for (std::size_t i = 0; i < s.rows(); ++i) same(i, 1) = same(i, 0);
    EXPECT_GT(ica_contrast(same.view(), kernel, 0.02), 2 * ica_contrast(s.view(), kernel, 0.02));
}

TEST(Ica, AmariErrorsOfKnownMatrices) {
    const Matrix<double> a = matrix(2, 2, {1, 2, 3, 4});
    const Matrix<double> inverse = matrix(2, 2, {-2, 1, 1.5, -0.5});
    EXPECT_NEAR(amari_error(inverse.view(), a.view()), 0, 1e-15);
    // Order, sign and size do not matter.
    const Matrix<double> other = matrix(2, 2, {-3, 1, 4, -2});
    EXPECT_NEAR(amari_error(other.view(), a.view()), 0, 1e-15);
    // Every source in equal parts of both: as wrong as can be.
    EXPECT_NEAR(amari_error(matrix(2, 2, {1, 1, 1, -1}).view(), matrix(2, 2, {1, 0, 0, 1}).view()),
                1, 1e-15);
    EXPECT_THROW(amari_error(a.view(), matrix(3, 2, {1, 2, 3, 4, 5, 6}).view()), InvalidInput);
}

TEST(Ica, StopsWhenToldAndKeepsWhatThereIs) {
    IcaSettings s;
    int calls = 0;
    s.common.progress = [&](const Moment&) { return ++calls < 2; };
    const Dataset data = mixed(independent(100, 3, 4), matrix(3, 3, {1, 0, 1, 0, 1, 1, 1, 1, 0}));
    const Model model = kernel_ica(s).fit(data);
    EXPECT_EQ(model.report().status, FitStatus::cancelled);
    EXPECT_EQ(model.decision(data.x).columns(), 3U);
}

TEST(Ica, RefusesWhatHasNoSources) {
    const Dataset data = mixed(independent(50, 2, 5), matrix(2, 2, {1, 0, 0, 1}));
    IcaSettings s;
    s.components = 3;
    EXPECT_NE(message_of([&] { kernel_ica(s).fit(data); }).find("3 components of 2 columns"),
              std::string::npos);
    // A column that is the sum of two others.
    const Dataset flat = mixed(independent(50, 2, 5), matrix(3, 2, {1, 0, 0, 1, 1, 1}));
    EXPECT_NE(message_of([&] { kernel_ica({}).fit(flat); }).find("at most 2 sources"),
              std::string::npos);
    s = {};
    s.kappa = -1;
    EXPECT_THROW(kernel_ica(s).fit(data), InvalidInput);
    Dataset weighted = data;
    weighted.weights.assign(50, 1.0);
    weighted.weights[0] = 2;
    EXPECT_THROW(kernel_ica({}).fit(weighted), InvalidInput);
}

TEST(Ica, RefusesARegularisationThatLeavesNothing) {
    const Matrix<double> s = independent(60, 2, 3);
    const Dataset data = mixed(s, matrix(2, 2, {1, 0.5, 0.4, 1}));
    for (const double kappa : {1e6, 1e30}) {
        const std::string message = message_of([&] { kernel_ica({.kappa = kappa}).fit(data); });
        EXPECT_NE(message.find("kappa"), std::string::npos) << message;
    }
}

}  // namespace
}  // namespace mercer
