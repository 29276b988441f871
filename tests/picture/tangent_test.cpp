// Tangent covariance: B by its defining property, its ends, and what it does to a linear machine.
#include <gtest/gtest.h>

#include <cmath>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/picture/tangent.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;

Rows pictures(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values(n * 25);
    for (double& v : values) v = random.normal();
    return Rows::dense(std::move(values), 25);
}

TEST(Tangent, TheMatrixIsTheInverseRoot) {
    const Rows rows = pictures(40, 1);
    const auto ways = parse_transforms("shift(0.5)", {5, 5});
    const Matrix<double> t = tangents(rows, ways);
    ASSERT_EQ(t.rows(), 160U);
    // Each is L x − x.
    const auto x = full(rows);
    std::vector<double> image(25);
    ways[2].transform(x[7], image);
    for (std::size_t k = 0; k < 25; ++k) EXPECT_NEAR(t(2 * 40 + 7, k), image[k] - x[7][k], 1e-12);

    Matrix<double> c(25, 25);
    for (std::size_t i = 0; i < t.rows(); ++i) {
        for (std::size_t a = 0; a < 25; ++a) {
            for (std::size_t b = 0; b < 25; ++b) c(a, b) += t(i, a) * t(i, b);
        }
    }
    double trace = 0;
    for (std::size_t a = 0; a < 25; ++a) trace += c(a, a);
    for (const auto& [lambda, unit] :
         {std::pair(0.05, TangentUnit::rows), std::pair(0.5, TangentUnit::rows),
          std::pair(1.0, TangentUnit::rows), std::pair(0.05, TangentUnit::mean)}) {
        const Matrix<double> b = TangentMap::linear(rows, ways, lambda, {}, unit).matrix();
        const double divisor = unit == TangentUnit::rows ? 160 : trace / 25;
        // B C_λ B = I, with C = 1/n Σ τ τ' as 001 has it unless its mean is asked to be 1.
        for (std::size_t p = 0; p < 25; ++p) {
            for (std::size_t q = 0; q < 25; ++q) {
                double sum = 0;
                for (std::size_t i = 0; i < 25; ++i) {
                    for (std::size_t j = 0; j < 25; ++j) {
                        const double blend =
                            (1 - lambda) * c(i, j) / divisor + (i == j ? lambda : 0);
                        sum += b(p, i) * blend * b(j, q);
                    }
                }
                ASSERT_NEAR(sum, p == q ? 1 : 0, 1e-9);
                ASSERT_NEAR(b(p, q), b(q, p), 1e-10);
            }
        }
    }
}

TEST(Tangent, LambdaOneChangesNothingAndSmallLambdaForgetsTheTangents) {
    const Rows rows = pictures(30, 2);
    const auto ways = parse_transforms("shift(0.5)", {5, 5});
    const TangentMap one = TangentMap::linear(rows, ways, 1);
    const auto x = full(rows), z = full(one(rows));
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t k = 0; k < 25; ++k) EXPECT_NEAR(z[i][k], x[i][k], 1e-10);
    }
    // How far images lie from their rows, beside how far rows lie from one another.
    const auto ratio = [&](double lambda) {
        const TangentMap map = one.with(lambda);
        const auto own = full(map(rows)), moved = full(map(transformed(rows, ways[0].transform)));
        double near = 0, far = 0;
        for (std::size_t i = 0; i < own.size(); ++i) {
            for (std::size_t k = 0; k < 25; ++k) {
                near += std::pow(own[i][k] - moved[i][k], 2);
                far += std::pow(own[i][k] - own[(i + 1) % own.size()][k], 2);
            }
        }
        return near / far;
    };
    EXPECT_LT(ratio(0.1), 0.8 * ratio(1));
    EXPECT_LT(ratio(0.01), ratio(0.1));
    EXPECT_FALSE(one(rows.to_float()).is_double());
}

TEST(Tangent, AKnownDirectionIsTakenOut) {
    // Rows move along the first column only.
    std::vector<NamedTransform> slide{
        {"slide", [](std::span<const double> in, std::span<double> out) {
             std::ranges::copy(in, out.begin());
             out[0] += 1;
         }}};
    const Rows rows = pictures(20, 3);
    const TangentMap map = TangentMap::linear(rows, slide, 0.01);
    // C = e e': every row moves by 1.
    EXPECT_NEAR(map.matrix()(0, 0), 1 / std::sqrt(0.99 + 0.01), 1e-9);
    EXPECT_NEAR(map.matrix()(1, 1), 10, 1e-9);
    EXPECT_NEAR(map.matrix()(0, 1), 0, 1e-9);
    EXPECT_NE(message_of([&] { map.with(0); }).find("lambda"), std::string::npos);
}

TEST(Tangent, LambdaWeighsTheCovarianceInTheUnitOfTheRows) {
    const Rows rows = pictures(30, 6);
    std::vector<double> larger(30 * 25);
    for (std::size_t i = 0; i < 30; ++i) {
        rows.copy_row(i, std::span(larger).subspan(25 * i, 25));
    }
    for (double& v : larger) v *= 10;
    const Rows tenfold = Rows::dense(std::move(larger), 25);
    const auto ways = parse_transforms("shift(0.5)", {5, 5});
    const TangentMap small = TangentMap::linear(rows, ways, 0.1);
    const TangentMap large = TangentMap::linear(tenfold, ways, 0.1);
    EXPECT_NEAR(large.covariance().values().back(), 100 * small.covariance().values().back(),
                1e-9 * large.covariance().values().back());
    // (1 − λ) 100 C + λ I is a multiple of (1 − μ) C + μ I for μ / (1 − μ) = λ / (100 (1 − λ)).
    const double odds = 0.1 / 0.9 / 100;
    const TangentMap same = small.with(odds / (1 + odds));
    const double factor = large.matrix()(0, 0) / same.matrix()(0, 0);
    EXPECT_NEAR(large.matrix()(3, 4), factor * same.matrix()(3, 4), 1e-9);
    // Relative to the mean eigenvalue the unit does not matter.
    const TangentMap a = TangentMap::linear(rows, ways, 0.1, {}, TangentUnit::mean);
    const TangentMap b = TangentMap::linear(tenfold, ways, 0.1, {}, TangentUnit::mean);
    EXPECT_NEAR(a.matrix()(3, 4), b.matrix()(3, 4), 1e-9);
}

TEST(Tangent, ThroughTheKernelPcaMap) {
    const Rows rows = pictures(60, 4);
    const auto ways = parse_transforms("shift(0.5)", {5, 5});
    const FeatureMap features = eigen_map(rbf({.gamma = 0.02}), rows, 20);
    const TangentMap one = TangentMap::through(features, rows, ways, 1);
    EXPECT_EQ(one.features(), 20U);
    const Matrix<double> own = features(rows);
    const auto z = full(one(rows));
    for (std::size_t i = 0; i < z.size(); ++i) {
        for (std::size_t k = 0; k < 20; ++k) EXPECT_NEAR(z[i][k], own(i, k), 1e-9);
    }
    // With a linear kernel for the map the two ways are the same up to a rotation: products agree.
    const FeatureMap all = eigen_map(linear(), rows);
    const auto a = full(TangentMap::through(all, rows, ways, 0.2)(rows));
    const auto b = full(TangentMap::linear(rows, ways, 0.2)(rows));
    for (std::size_t i = 0; i < 10; ++i) {
        for (std::size_t j = 0; j < 10; ++j) {
            double p = 0, q = 0;
            for (std::size_t k = 0; k < a[i].size(); ++k) p += a[i][k] * a[j][k];
            for (std::size_t k = 0; k < 25; ++k) q += b[i][k] * b[j][k];
            EXPECT_NEAR(p, q, 1e-6 * (1 + std::fabs(q)));
        }
    }
}

TEST(Tangent, BadInputIsRefused) {
    const Rows rows = pictures(10, 5);
    const auto ways = parse_transforms("shift(1)", {5, 5});
    EXPECT_THROW(TangentMap::linear(rows, ways, 1.5), InvalidInput);
    EXPECT_THROW(TangentMap::linear(rows, {}, 0.5), InvalidInput);
    EXPECT_THROW(TangentMap::linear(rows, parse_transforms("shift(0)", {5, 5}), 0.5), InvalidInput);
    EXPECT_THROW(TangentMap::linear(rows, ways, 0.5)(Rows::dense(std::vector<double>(4), 4)),
                 InvalidInput);
    EXPECT_THROW(TangentMap::linear(rows, ways, 0.5, [](const Moment&) { return false; }),
                 Cancelled);
}

}  // namespace
}  // namespace mercer
