// Feature maps: each worked example of the seeds, and the products the maps promise.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "learn/small.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/feature/maps.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;
using testing::points;

using Vector = std::vector<double>;

double dot(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::map<std::string, double> by_name(const MonomialMap& map, const Vector& x) {
    std::map<std::string, double> result;
    const Vector phi = map(x);
    for (std::size_t f = 0; f < phi.size(); ++f) result[map.name(f)] = phi[f];
    return result;
}

/// 004: Φ(x) = (1, √2 x1, √2 x2, √2 x1x2, x1², x2²) at x = (1, −1), y = (−1, 2): both sides are
/// (1 + x·y)² = (1 − 3)² = 4.
TEST(MonomialMap, WorkedExampleOf004) {
    const MonomialMap map(2, {.degree = 2});
    const double r = std::sqrt(2.0);
    const std::map<std::string, double> expected{{"1", 1},      {"x0", r},   {"x1", -r},
                                                 {"x0*x1", -r}, {"x0^2", 1}, {"x1^2", 1}};
    const auto found = by_name(map, {1, -1});
    ASSERT_EQ(found.size(), expected.size());
    for (const auto& [name, value] : expected) EXPECT_NEAR(found.at(name), value, 1e-15) << name;
    EXPECT_NEAR(dot(map(Vector{1, -1}), map(Vector{-1, 2})), 4, 1e-12);
    EXPECT_NEAR(polynomial({.degree = 2})(Vector{1, -1}, Vector{-1, 2}), 4, 1e-12);
}

/// 004: (1, x, x²) gives 1 + x z + x² z², "close, if it wasn't for that factor of 2", and
/// (1, √2 x, x²) gives (1 + x z)².
TEST(MonomialMap, TheFactorOfTwoOf004) {
    const MonomialMap plain = MonomialMap::plain(1, 2);
    EXPECT_EQ(plain(Vector{3}), (Vector{1, 3, 9}));
    EXPECT_NEAR(dot(plain(Vector{3}), plain(Vector{0.5})), 1 + 1.5 + 2.25, 1e-12);
    const MonomialMap right(1, {.degree = 2});
    EXPECT_NEAR(dot(right(Vector{3}), right(Vector{0.5})), 2.5 * 2.5, 1e-12);
}

/// 003: x ↦ (x, x²) separates what no threshold on the line can; and (x1², √2 x1x2, x2²) is the map
/// of (x·z)².
TEST(MonomialMap, LiftsOf003) {
    const MonomialMap lift = MonomialMap::plain(1, 2, 1);
    EXPECT_EQ(lift(Vector{-3}), (Vector{-3, 9}));
    const Dataset line =
        testing::labelled({{-3}, {-2}, {-0.5}, {0}, {0.5}, {2}, {3}}, {1, 1, -1, -1, -1, 1, 1});
    Dataset lifted = line;
    const Matrix<double> features = lift(line.x);
    lifted.x = Rows::dense(features.values(), 2);
    const auto hard = hard_margin({.kernel = linear()});
    EXPECT_EQ(hard.fit(line).report().status, FitStatus::not_separable);
    EXPECT_EQ(hard.fit(lifted).report().status, FitStatus::converged);

    const MonomialMap quadratic(2, {.degree = 2, .coef0 = 0});
    ASSERT_EQ(quadratic.features(), 3U);
    const auto phi = by_name(quadratic, {2, 5});
    EXPECT_NEAR(phi.at("x0^2"), 4, 1e-12);
    EXPECT_NEAR(phi.at("x0*x1"), std::sqrt(2.0) * 10, 1e-12);
    EXPECT_NEAR(phi.at("x1^2"), 25, 1e-12);
    EXPECT_NEAR(dot(quadratic(Vector{2, 5}), quadratic(Vector{-1, 3})), 13 * 13, 1e-10);
}

/// 000, equation 9: Φ(x) = (1, x, x²/√2!, x³/√3!, …) and Φ(x)·Φ(z) → e^{xz}.
TEST(MonomialMap, SeriesOfTheExponentialOf000) {
    const MonomialMap map = MonomialMap::exponential(1, 20);
    const Vector phi = map(Vector{1.5});
    EXPECT_NEAR(phi[2], 1.5 * 1.5 / std::sqrt(2.0), 1e-12);
    EXPECT_NEAR(phi[3], 1.5 * 1.5 * 1.5 / std::sqrt(6.0), 1e-12);
    EXPECT_NEAR(dot(phi, map(Vector{0.8})), std::exp(1.2), 1e-12);
    double before = 10;
    for (const int degree : {1, 2, 4, 8}) {
        const MonomialMap cut = MonomialMap::exponential(2, degree, 0.5);
        const double off = std::abs(dot(cut(Vector{1, 1}), cut(Vector{1, 0.5})) - std::exp(0.75));
        EXPECT_LT(off, before / 2);
        before = off;
    }
}

TEST(MonomialMap, IsTheMapOfEveryPolynomialKernel) {
    const Rows x = points({{0.5, -1, 2}, {1, 1, 0}, {0, -0.3, 0.7}}).x;
    for (const int degree : {1, 2, 3, 5}) {
        for (const double coef0 : {0.0, 0.7}) {
            const MonomialMap map(3, {.degree = degree, .gamma = 0.6, .coef0 = coef0});
            const Kernel k = polynomial({.degree = degree, .gamma = 0.6, .coef0 = coef0});
            const Matrix<double> phi = map(x.to_sparse());
            const auto rows = full(x);
            for (std::size_t i = 0; i < 3; ++i) {
                for (std::size_t j = 0; j < 3; ++j) {
                    EXPECT_NEAR(dot(phi.row(i), phi.row(j)), k(rows[i], rows[j]), 1e-10);
                }
            }
        }
    }
    EXPECT_EQ(MonomialMap(3, {.degree = 4}).features(), 35U);  // 7 choose 4
}

TEST(MonomialMap, RefusesWhatIsTooMuchOrNothing) {
    EXPECT_NE(message_of([] { MonomialMap(1000, {.degree = 5}); }).find("million"),
              std::string::npos);
    EXPECT_NE(message_of([] { MonomialMap(2, {.degree = 0}); }), "");
    EXPECT_NE(message_of([] { MonomialMap(2, {.coef0 = -1}); }), "");
    EXPECT_NE(message_of([] { MonomialMap(0, {}); }), "");
    EXPECT_NE(message_of([] { MonomialMap::plain(2, 2, 3); }), "");
    const MonomialMap map(2, {});
    EXPECT_NE(message_of([&] { map(points({{1}}).x); }), "");
    EXPECT_NE(message_of([&] { map(Vector{1, 2, 3}); }), "");
}

TEST(FeatureMaps, TheEmpiricalMapHasTheGramMatrixKSquared) {
    const Rows x = make("moons", {.n = 20}).x.to_double();
    const Kernel k = rbf({.gamma = 1.0});
    const Matrix<double> phi = empirical_map(k, x)(x);
    const auto rows = full(x);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(phi(3, i), k(rows[3], rows[i]), 1e-14);
    double square = 0;
    for (std::size_t m = 0; m < 20; ++m) square += k(rows[3], rows[m]) * k(rows[m], rows[8]);
    EXPECT_NEAR(dot(phi.row(3), phi.row(8)), square, 1e-12);
}

/// 001: <Φw(x_i), Φw(x_j)> = k(x_i, x_j) exactly, also where K has not full rank.
TEST(FeatureMaps, TheWhitenedMapsAreExactOnTheSample) {
    const Rows x = make("moons", {.n = 30}).x.to_double();
    const auto rows = full(x);
    for (const char* text : {"rbf(gamma=1)", "polynomial(degree=2)", "linear",
                             "center(rbf(gamma=0.5))", "rbf(gamma=scale)"}) {
        const Kernel kernel = Kernel::parse(text);
        const Gram<double> gram(kernel, x);
        Matrix<double> k(30, 30);
        gram.matrix(k.view());
        for (const FeatureMap& map : {whitened_map(kernel, x), eigen_map(kernel, x)}) {
            const Matrix<double> phi = map(x);
            for (std::size_t i = 0; i < 30; ++i) {
                for (std::size_t j = 0; j <= i; ++j) {
                    ASSERT_NEAR(dot(phi.row(i), phi.row(j)), k(i, j), 1e-8) << text;
                }
            }
        }
    }
    EXPECT_EQ(eigen_map(linear(), x).features(), 2U);
    EXPECT_EQ(whitened_map(linear(), x).features(), 30U);
}

TEST(FeatureMaps, FewerComponentsAreTheBestOfTheirRank) {
    const Rows x = make("moons", {.n = 40}).x.to_double();
    const Kernel kernel = rbf({.gamma = 1.0});
    const FeatureMap all = eigen_map(kernel, x);
    const FeatureMap map = eigen_map(kernel, x, 5);
    ASSERT_EQ(map.features(), 5U);
    const Matrix<double> phi = map(x);
    // Eckart and Young: what is lost is the sum of the squares of the eigenvalues left out.
    double lost = 0;
    const auto rows = full(x);
    for (std::size_t i = 0; i < 40; ++i) {
        for (std::size_t j = 0; j < 40; ++j) {
            lost += std::pow(dot(phi.row(i), phi.row(j)) - kernel(rows[i], rows[j]), 2);
        }
    }
    double expected = 0;
    for (std::size_t j = 5; j < all.eigenvalues().size(); ++j) {
        expected += all.eigenvalues()[j] * all.eigenvalues()[j];
    }
    EXPECT_NEAR(lost, expected, 1e-8);
}

/// Nyström: rows spanned by the landmarks keep their products, and a linear machine on the features
/// is the kernel machine.
TEST(FeatureMaps, NystroemCarriesNewRows) {
    const Dataset data = testing::with_double_rows(make("moons", {.n = 120, .noise = 0.2}));
    const Kernel kernel = polynomial({.degree = 2});  // of rank 6
    const FeatureMap map = eigen_map(kernel, draw_landmarks(data.x, 20));
    EXPECT_EQ(map.features(), 6U);
    const Matrix<double> phi = map(data.x);
    const auto rows = full(data.x);
    for (std::size_t i = 0; i < 120; i += 7) {
        EXPECT_NEAR(dot(phi.row(i), phi.row(5)), kernel(rows[i], rows[5]), 1e-7);
    }
    Dataset mapped = data;
    mapped.x = Rows::dense(phi.values(), map.features());
    mapped.feature_names.clear();
    const Model a = Svm(testing::closely({.common = {.kernel = kernel}, .C = 1}, 1e-6)).fit(data);
    const Model b =
        Svm(testing::closely({.common = {.kernel = linear()}, .C = 1}, 1e-6)).fit(mapped);
    const Matrix<double> f = a.decision(data.x);
    const Matrix<double> g = b.decision(mapped.x);
    for (std::size_t i = 0; i < 120; ++i) EXPECT_NEAR(f(i, 0), g(i, 0), 1e-4);
}

TEST(FeatureMaps, RefuseWhatHasNoMap) {
    const Rows x = make("moons", {.n = 20}).x.to_double();
    EXPECT_NE(message_of([&] {
                  whitened_map(sigmoid({.gamma = 2.0, .coef0 = -1}), x);
              }).find("negative eigenvalue"),
              std::string::npos);
    EXPECT_NE(message_of([&] { eigen_map(constant(0), x); }).find("nothing to map"),
              std::string::npos);
    EXPECT_NE(message_of([&] { empirical_map(linear(), Rows()); }), "");
    EXPECT_EQ(draw_landmarks(x, 0).size(), 20U);
    EXPECT_EQ(draw_landmarks(x, 5).size(), 5U);
    EXPECT_EQ(draw_landmarks(x, 50).size(), 20U);
}

}  // namespace
}  // namespace mercer
