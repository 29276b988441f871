#include "mercer/solver/linear/detail/block_eigen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

/// Q diag(values) Q' with Q made of reflections, so that the spectrum is known.
Matrix<double> with_spectrum(const std::vector<double>& values, std::uint64_t seed) {
    const std::size_t n = values.size();
    Matrix<double> m(n, n);
    for (std::size_t i = 0; i < n; ++i) m(i, i) = values[i];
    Random random(seed);
    for (int round = 0; round < 3; ++round) {
        std::vector<double> v(n);
        for (double& value : v) value = random.normal();
        const double square = std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
        for (int side = 0; side < 2; ++side) {  // (I − 2vv'/v'v) M, transposed, twice
            Matrix<double> next(n, n);
            for (std::size_t j = 0; j < n; ++j) {
                double sum = 0;
                for (std::size_t i = 0; i < n; ++i) sum += v[i] * m(i, j);
                for (std::size_t i = 0; i < n; ++i) {
                    next(j, i) = m(i, j) - 2 * v[i] * sum / square;
                }
            }
            m = std::move(next);
        }
    }
    return m;
}

BlockProduct product_of(const Matrix<double>& m) {
    return [&m](MatrixView<const double> v, MatrixView<double> out) {
        for (std::size_t j = 0; j < v.rows; ++j) {
            for (std::size_t i = 0; i < m.rows(); ++i) {
                const auto row = m.row(i);
                out(j, i) = std::inner_product(row.begin(), row.end(), v.row(j).begin(), 0.0);
            }
        }
    };
}

void expect_solved(const Matrix<double>& m, const TopEigen& e, double tolerance) {
    const double scale = std::abs(e.values.front());
    for (std::size_t a = 0; a < e.values.size(); ++a) {
        const auto v = e.vectors.row(a);
        double residual = 0;
        for (std::size_t i = 0; i < m.rows(); ++i) {
            const auto row = m.row(i);
            const double image = std::inner_product(row.begin(), row.end(), v.begin(), 0.0);
            residual += std::pow(image - e.values[a] * v[i], 2);
        }
        EXPECT_NEAR(std::sqrt(residual), e.residuals[a], 1e-12 * scale) << a;
        EXPECT_LE(std::sqrt(residual), tolerance * scale) << a;
        for (std::size_t b = 0; b <= a; ++b) {
            const auto other = e.vectors.row(b);
            const double product = std::inner_product(v.begin(), v.end(), other.begin(), 0.0);
            EXPECT_NEAR(product, a == b ? 1 : 0, 1e-12) << a << ' ' << b;
        }
    }
}

TEST(TopEigen, FindsTheLargestOfAKnownSpectrum) {
    std::vector<double> values;
    for (int i = 0; i < 300; ++i) values.push_back(100.0 / (1 + i));  // a slow decay
    const Matrix<double> m = with_spectrum(values, 1);
    const TopEigen e = top_eigen(300, product_of(m), {.count = 7});
    EXPECT_EQ(e.status, TopEigenStatus::converged);
    ASSERT_EQ(e.values.size(), 7U);
    for (std::size_t j = 0; j < 7; ++j) EXPECT_NEAR(e.values[j], values[j], 1e-10);
    expect_solved(m, e, 1e-10);
}

TEST(TopEigen, NegativeAndRepeatedEigenvalues) {
    std::vector<double> values(200, -3.0);
    for (std::size_t i = 0; i < 5; ++i) values[i] = 2;  // five alike, and −3 larger in size
    for (std::size_t i = 5; i < 20; ++i) values[i] = 1;
    const Matrix<double> m = with_spectrum(values, 2);
    const TopEigen e = top_eigen(200, product_of(m), {.count = 6});
    EXPECT_EQ(e.status, TopEigenStatus::converged);
    for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(e.values[j], 2, 1e-9);
    EXPECT_NEAR(e.values[5], 1, 1e-9);
    expect_solved(m, e, 1e-9);
}

TEST(TopEigen, LowRankAndWholeSpectrum) {
    std::vector<double> values(60, 0.0);
    values[0] = 4;
    values[1] = 1;
    const Matrix<double> low = with_spectrum(values, 3);
    const TopEigen few = top_eigen(60, product_of(low), {.count = 10});
    EXPECT_NEAR(few.values[0], 4, 1e-12);
    EXPECT_NEAR(few.values[1], 1, 1e-12);
    for (std::size_t j = 2; j < 10; ++j) EXPECT_NEAR(few.values[j], 0, 1e-12);

    Matrix<double> small(5, 5);
    for (std::size_t i = 0; i < 5; ++i) small(i, i) = static_cast<double>(i);
    const TopEigen all = top_eigen(5, product_of(small), {.count = 5});
    for (std::size_t j = 0; j < 5; ++j) {
        EXPECT_NEAR(all.values[j], 4 - static_cast<double>(j), 1e-12);
    }
    const TopEigen nothing = top_eigen(5, product_of(Matrix<double>(5, 5)), {.count = 2});
    EXPECT_EQ(nothing.values, (std::vector<double>{0, 0}));
}

/// A basis barely larger than two blocks restarts many times, and comes to the same.
TEST(TopEigen, RestartsLoseNothing) {
    std::vector<double> values;
    for (int i = 0; i < 400; ++i) values.push_back(1 / std::sqrt(1.0 + i));
    const Matrix<double> m = with_spectrum(values, 4);
    const TopEigen e = top_eigen(400, product_of(m), {.count = 4, .block = 6, .basis = 16});
    EXPECT_EQ(e.status, TopEigenStatus::converged);
    EXPECT_GT(e.products, 5U);
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(e.values[j], values[j], 1e-9);
    expect_solved(m, e, 1e-9);
}

TEST(TopEigen, LimitsAreStatuses) {
    std::vector<double> values;
    for (int i = 0; i < 300; ++i) values.push_back(1 / std::log(2.0 + i));
    const Matrix<double> m = with_spectrum(values, 5);
    const TopEigen limited = top_eigen(300, product_of(m), {.count = 3, .products = 2});
    EXPECT_EQ(limited.status, TopEigenStatus::product_limit);
    EXPECT_EQ(limited.products, 2U);
    expect_solved(m, limited, 1);
    TopEigenSettings settings{.count = 3};
    settings.progress = [](std::size_t product, double) { return product < 3; };
    const TopEigen stopped = top_eigen(300, product_of(m), settings);
    EXPECT_EQ(stopped.status, TopEigenStatus::stopped);
    EXPECT_EQ(stopped.products, 3U);
    EXPECT_THROW(top_eigen(3, product_of(m), {.count = 4}), InvalidInput);
    EXPECT_THROW(top_eigen(3, product_of(m), {.count = 0}), InvalidInput);
}

TEST(TopEigen, SameForAnyNumberOfThreads) {
    std::vector<double> values;
    for (int i = 0; i < 5000; ++i) values.push_back(1 / (1.0 + i));
    const auto diagonal = [&](MatrixView<const double> v, MatrixView<double> out) {
        for (std::size_t j = 0; j < v.rows; ++j) {
            for (std::size_t i = 0; i < values.size(); ++i) out(j, i) = values[i] * v(j, i);
        }
    };
    set_threads(1);
    const TopEigen one = top_eigen(5000, diagonal, {.count = 3, .products = 5});
    set_threads(3);
    const TopEigen three = top_eigen(5000, diagonal, {.count = 3, .products = 5});
    set_threads(0);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(one.values[j], three.values[j], 1e-14);
}

TEST(RayleighRitz, RotatesToTheBestInTheSpan) {
    const Matrix<double> m = with_spectrum({5, 4, 3, 2, 1, 0.5}, 6);
    const Spectrum s = symmetric_eigen(m.view());
    // Two eigenvectors, turned into one another.
    Matrix<double> v(2, 6);
    for (std::size_t i = 0; i < 6; ++i) {
        v(0, i) = 0.6 * s.vectors(5, i) + 0.8 * s.vectors(3, i);
        v(1, i) = 0.8 * s.vectors(5, i) - 0.6 * s.vectors(3, i);
    }
    Matrix<double> image(2, 6);
    product_of(m)(v.view(), image.view());
    const TopEigen e = rayleigh_ritz(v, image);
    EXPECT_NEAR(e.values[0], 5, 1e-12);
    EXPECT_NEAR(e.values[1], 3, 1e-12);
    expect_solved(m, e, 1e-12);
}

}  // namespace
}  // namespace mercer
