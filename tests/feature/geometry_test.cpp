// Geometry in feature space, against spaces that can be written down.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learn/small.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/feature/maps.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;
using testing::points;

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The same combination of images, in the coordinates of the monomials.
Vector written_out(const FeatureVector& v, const MonomialMap& map) {
    Vector result(map.features(), 0.0);
    const auto rows = full(v.points());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Vector phi = map(rows[i]);
        for (std::size_t f = 0; f < phi.size(); ++f) result[f] += v.coefficients()[i] * phi[f];
    }
    return result;
}

TEST(FeatureVector, ComputesAsTheWrittenOutVectorsDo) {
    const Kernel k = polynomial({.degree = 3, .gamma = 0.5, .coef0 = 2});
    const MonomialMap map(2, {.degree = 3, .gamma = 0.5, .coef0 = 2});
    const Rows x = points({{1, 2}, {-1, 0.5}, {0, 3}}).x;
    const FeatureVector a(k, x, {1, -2, 0.5});
    const FeatureVector b = 3.0 * image(k, Vector{0.3, -1}) - a * 0.5;
    EXPECT_EQ(b.size(), 4U);
    const Vector p = written_out(a, map);
    const Vector q = written_out(b, map);
    EXPECT_NEAR(inner(a, b), dot(p, q), 1e-10 * std::abs(dot(p, q)));
    EXPECT_NEAR(norm(a), std::sqrt(dot(p, p)), 1e-10);
    double d = 0;
    for (std::size_t f = 0; f < p.size(); ++f) d += (p[f] - q[f]) * (p[f] - q[f]);
    EXPECT_NEAR(distance(a, b), std::sqrt(d), 1e-9);
    EXPECT_NEAR(norm(a - b), std::sqrt(d), 1e-9);
    const Vector with = a.with_images(points({{2, 2}}).x);
    EXPECT_NEAR(with[0], dot(p, map(Vector{2, 2})), 1e-9);
}

TEST(FeatureVector, SparseAndDensePointsMix) {
    const Kernel k = rbf({.gamma = 0.4});
    const Rows dense = points({{1, 0, 2}, {0, 0, 1}}).x;
    const FeatureVector a(k, dense, {1, 2});
    const FeatureVector b(k, dense.to_sparse(), {1, 2});
    EXPECT_NEAR(distance(a, b), 0, 1e-7);
    EXPECT_NEAR(norm(a + b), 2 * norm(a), 1e-12);
    EXPECT_NEAR(norm(a - b), 0, 1e-7);
}

TEST(FeatureVector, RefusesWhatHasNoMeaning) {
    const Rows x = points({{1}, {2}}).x;
    const auto make_vector = [&](const Kernel& k, Vector c) {
        FeatureVector v(k, x, std::move(c));
    };
    EXPECT_NE(message_of([&] { make_vector(rbf(), {1, 1}); }), "");
    EXPECT_NE(message_of([&] { make_vector(center(linear()), {1, 1}); }), "");
    EXPECT_NE(message_of([&] { make_vector(precomputed(), {1, 1}); }), "");
    EXPECT_NE(message_of([&] { make_vector(linear(), {1}); }), "");
    EXPECT_NE(message_of([&] { make_vector(linear(), {1, NAN}); }), "");
    const FeatureVector a(linear(), x, {1, 1});
    const FeatureVector b(rbf({.gamma = 1.0}), x, {1, 1});
    EXPECT_NE(message_of([&] { a + b; }).find("different feature spaces"), std::string::npos);
    EXPECT_NE(message_of([&] { inner(a, b); }), "");
    EXPECT_NE(message_of([&] { centre_of_mass(linear(), Rows()); }), "");
    EXPECT_NE(message_of([&] { centre_of_mass(linear(), x, Vector{0, 0}); }), "");
    EXPECT_NE(message_of([&] { weight_vector(Expansion{}, 0); }), "");
}

TEST(CentreOfMass, HasTheLeastSumOfSquaredDistances) {
    const Kernel k = rbf({.gamma = 0.8});
    const Rows x = make("moons", {.n = 40}).x.to_double();
    const FeatureVector centre = centre_of_mass(k, x);
    const auto sum_of_squares = [&](const FeatureVector& p) {
        double sum = 0;
        for (const double d : distances(p, x)) sum += d * d;
        return sum;
    };
    const double least = sum_of_squares(centre);
    EXPECT_NEAR(least / 40, variance(k, x), 1e-12);
    // Moving by v costs exactly n ‖v‖².
    const FeatureVector step = 0.1 * image(k, Vector{0.5, 0.5});
    EXPECT_NEAR(sum_of_squares(centre + step) - least, 40 * 0.01, 1e-10);
    EXPECT_NEAR(sum_of_squares(centre - step) - least, 40 * 0.01, 1e-10);
    // In input space it is the mean.
    const FeatureVector mean = centre_of_mass(linear(), points({{0, 0}, {4, 2}}).x, Vector{1, 3});
    EXPECT_NEAR(distance(mean, image(linear(), Vector{3, 1.5})), 0, 1e-7);
}

TEST(CentreOfMass, EquationFourOf002) {
    const Kernel k = polynomial({.degree = 2});
    const Rows x = make("moons", {.n = 25}).x.to_double();
    const Rows z = make("moons", {.n = 7, .seed = 4}).x.to_double();
    const FeatureVector centre = centre_of_mass(k, x);
    const Gram<double> centred(center(k), x);
    Matrix<double> train(25, 25);
    centred.matrix(train.view());
    Matrix<double> test(7, 25);
    centred.block(centred.prepare(z), centred.reference(), test.view());
    // By the definition of the centred images.
    const auto xs = full(x);
    const auto zs = full(z);
    for (const std::size_t i : {0U, 3U, 24U}) {
        for (const std::size_t j : {1U, 6U}) {
            const FeatureVector a = image(k, xs[i]) - centre;
            EXPECT_NEAR(inner(a, image(k, xs[j]) - centre), train(i, j), 1e-9);
            EXPECT_NEAR(inner(image(k, zs[j]) - centre, a), test(j, i), 1e-9);
        }
    }
    // By the matrices alone.
    const Gram<double> plain(k, x);
    Matrix<double> own(25, 25);
    plain.matrix(own.view());
    Matrix<double> other(7, 25);
    plain.block(plain.prepare(z), plain.reference(), other.view());
    center_gram(other.view(), std::as_const(own).view());
    center_gram(own.view());
    for (std::size_t i = 0; i < 25; ++i) {
        for (std::size_t j = 0; j < 25; ++j) ASSERT_NEAR(own(i, j), train(i, j), 1e-10);
        for (std::size_t j = 0; j < 7; ++j) ASSERT_NEAR(other(j, i), test(j, i), 1e-10);
    }
    EXPECT_NE(message_of([&] { center_gram(other.view()); }).find("square"), std::string::npos);
    EXPECT_NE(message_of([&] { center_gram(own.view(), std::as_const(other).view()); }), "");
}

TEST(Geometry, TheSmallestSphereOfTheSvmRoomEnclosesTheImages) {
    const Kernel k = rbf({.gamma = 0.5});
    const Dataset data = testing::with_double_rows(make("blobs", {.n = 30, .classes = 1}));
    const Model model =
        Svm(testing::closely({.task = Task::svdd, .common = {.kernel = k}, .C = 0, .nu = 0}))
            .fit(data);
    FeatureVector centre = 0.5 * weight_vector(model.expansion());  // f has 2 Σ α k − k(x,x) + …
    double farthest = 0;
    for (const double d : distances(centre, data.x)) farthest = std::max(farthest, d);
    EXPECT_NEAR(farthest, model.report().radius, 1e-5);
    EXPECT_LE(model.report().radius, std::sqrt(30 * variance(k, data.x)));
}

TEST(Concatenate, KeepsEveryRowInEveryForm) {
    const Rows a = points({{1, 0, 2}, {0, 0, 3}}).x;
    const Rows b = points({{4, 5}}).x;
    const std::vector<Vector> wanted{{1, 0, 2}, {0, 0, 3}, {4, 5, 0}};
    for (const Rows& left : {a, a.to_sparse(), a.to_float()}) {
        for (const Rows& right : {b, b.to_sparse(), b.to_float()}) {
            const Rows both = concatenate(left, right);
            EXPECT_EQ(full(both), wanted);
            EXPECT_EQ(both.is_sparse(), left.is_sparse() || right.is_sparse());
            EXPECT_EQ(both.is_double(), left.is_double() || right.is_double());
            EXPECT_EQ(both.origin(2), 2U);
        }
    }
    EXPECT_EQ(full(concatenate(Rows(), a)), full(a));
    EXPECT_EQ(full(concatenate(a, Rows())), full(a));
    EXPECT_EQ(concatenate(Rows(), Rows()).size(), 0U);
}

}  // namespace
}  // namespace mercer
