// Functional calculus of matrices: the rules of 001, repairs, and almost orthogonal patterns.
#include <gtest/gtest.h>

#include <cmath>

#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/feature/spectral.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

using testing::message_of;

Matrix<double> gram_of(const Kernel& k, const Rows& x) {
    Matrix<double> result(x.size(), x.size());
    Gram<double>(k, x).matrix(result.view());
    return result;
}

Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b) {
    Matrix<double> result(a.rows(), b.columns());
    for (std::size_t i = 0; i < a.rows(); ++i) {
        for (std::size_t m = 0; m < a.columns(); ++m) {
            for (std::size_t j = 0; j < b.columns(); ++j) result(i, j) += a(i, m) * b(m, j);
        }
    }
    return result;
}

void expect_near(const Matrix<double>& a, const Matrix<double>& b, double tolerance) {
    ASSERT_EQ(a.rows(), b.rows());
    for (std::size_t i = 0; i < a.values().size(); ++i) {
        ASSERT_NEAR(a.values()[i], b.values()[i], tolerance) << i;
    }
}

Matrix<double> apply(const char* text, const Matrix<double>& k) {
    return SpectralFunction::parse(text)(k.view());
}

const Rows& moons() {
    static const Rows rows = make("moons", {.n = 25}).x.to_double();
    return rows;
}

TEST(SpectralFunction, TheRulesOfTheCalculus) {
    const Matrix<double> k = gram_of(rbf({.gamma = 1.0}), moons());
    expect_near(apply("power(1)", k), k, 1e-10);
    expect_near(apply("power(2)", k), product(k, k), 1e-9);
    const Matrix<double> root = apply("power(0.5)", k);
    expect_near(product(root, root), k, 1e-9);
    // (fg)(K) = f(K) g(K) = g(K) f(K).
    const Matrix<double> exponential = apply("exp(0.5)", k);
    const Matrix<double> both = matrix_function(
        k.view(), [](double v) { return std::sqrt(std::max(v, 0.0)) * std::exp(0.5 * v); });
    expect_near(product(root, exponential), both, 1e-8);
    expect_near(product(exponential, root), both, 1e-8);
    // σ(f(K)) = f(σ(K)).
    const Spectrum before = symmetric_eigen(k.view(), false);
    const Spectrum after = symmetric_eigen(apply("log", k).view(), false);
    for (std::size_t i = 0; i < before.values.size(); ++i) {
        EXPECT_NEAR(after.values[i], std::log1p(std::max(before.values[i], 0.0)), 1e-9);
    }
    // e^K by its Taylor series.
    Matrix<double> small = k;
    for (double& v : small.values()) v *= 0.01;
    Matrix<double> series(25, 25);
    Matrix<double> term(25, 25);
    for (std::size_t i = 0; i < 25; ++i) term(i, i) = 1;
    for (int n = 1; n < 15; ++n) {
        for (std::size_t i = 0; i < series.values().size(); ++i) {
            series.values()[i] += term.values()[i];
        }
        term = product(term, small);
        for (double& v : term.values()) v /= n;
    }
    expect_near(apply("exp", small), series, 1e-12);
}

TEST(SpectralFunction, RepairsAnIndefiniteMatrix) {
    const Matrix<double> k = gram_of(sigmoid({.gamma = 2.0, .coef0 = -1}), moons());
    const double lowest = symmetric_eigen(k.view(), false).values.front();
    ASSERT_LT(lowest, -0.1);
    for (const char* text : {"clip", "flip", "shift"}) {
        const Matrix<double> repaired = apply(text, k);
        EXPECT_GE(symmetric_eigen(repaired.view(), false).values.front(), -1e-10) << text;
    }
    // Shifting only adds to the diagonal; flipping twice and clipping twice change nothing more.
    const Matrix<double> shifted = apply("shift", k);
    for (std::size_t i = 0; i < 25; ++i) {
        for (std::size_t j = 0; j < 25; ++j) {
            ASSERT_NEAR(shifted(i, j), k(i, j) - (i == j ? lowest : 0), 1e-10);
        }
    }
    expect_near(apply("clip", apply("clip", k)), apply("clip", k), 1e-10);
    expect_near(apply("flip", apply("flip", k)), apply("flip", k), 1e-10);
    expect_near(product(apply("flip", k), apply("flip", k)), apply("power(2)", k), 1e-9);
    // A definite matrix needs no repair.
    const Matrix<double> good = gram_of(rbf({.gamma = 1.0}), moons());
    expect_near(apply("clip", good), good, 1e-10);
    EXPECT_NE(message_of([&] { apply("power(0.5)", k); }).find("clip"), std::string::npos);
}

TEST(SpectralFunction, TextAndBadInput) {
    for (const char* text : {"power(0.5)", "exp(0.1)", "log", "clip", "flip", "shift"}) {
        EXPECT_EQ(SpectralFunction::parse(text).text(), text);
    }
    EXPECT_EQ(SpectralFunction::parse("exp").text(), "exp(1)");
    for (const char* text : {"", "power", "power(", "power()", "power(x)", "clip(1)", "powr(2)",
                             "power(1e999)", "exp(0.1"}) {
        EXPECT_NE(message_of([&] { SpectralFunction::parse(text); }), "") << text;
    }
    EXPECT_NE(message_of([] { SpectralFunction::parse("clop"); }).find("did you mean clip"),
              std::string::npos);
    Matrix<double> crooked(2, 2);
    crooked(0, 1) = 1;
    EXPECT_NE(message_of([&] { apply("clip", crooked); }).find("symmetric"), std::string::npos);
    EXPECT_NE(message_of([&] { apply("clip", Matrix<double>(2, 3)); }).find("square"),
              std::string::npos);
    EXPECT_NE(message_of([&] { apply("clip", Matrix<double>()); }), "");
    Matrix<double> broken(1, 1, NAN);
    EXPECT_NE(message_of([&] { apply("clip", broken); }), "");
    Matrix<double> huge(1, 1, 1e4);
    EXPECT_NE(message_of([&] { apply("exp", huge); }).find("eigenvalue 10000"), std::string::npos);
}

/// Patterns that are almost orthogonal have a Gram matrix with a large diagonal, from which a
/// machine learns its training rows by heart. A power below 1 of the entries brings the diagonal
/// down, and the square of that matrix, the Gram matrix of its empirical kernel map, is positive
/// definite again [001, ref. 60]. Both need the matrix of all rows, training and test.
TEST(SpectralFunction, AlmostOrthogonalPatterns) {
    constexpr std::size_t rows = 200, columns = 2000, signal = 20;
    Random random(3);
    std::vector<double> values(rows * columns, 0.0);
    Dataset data;
    for (std::size_t i = 0; i < rows; ++i) {
        const bool first = i % 2 == 0;
        data.y.values.push_back(first ? 1 : 2);
        // A row's own noise is long in few columns; the class shows in a few others, weakly.
        for (std::size_t j = 0; j < columns; ++j) {
            if (j < signal) {
                const double chance = (j % 2 == 0) == first ? 0.3 : 0.05;
                values[i * columns + j] = random.uniform() < chance ? 1 : 0;
            } else if (random.uniform() < 0.01) {
                values[i * columns + j] = 5 * random.uniform();
            }
        }
    }
    data.x = Rows::dense(std::move(values), columns);
    const auto diagonal_share = [](const Matrix<double>& m) {
        double diagonal = 0, all = 0;
        for (std::size_t i = 0; i < m.rows(); ++i) {
            diagonal += std::abs(m(i, i));
            for (const double v : m.row(i)) all += std::abs(v);
        }
        return diagonal / all;
    };
    const auto test_errors = [&](const Matrix<double>& m) {
        Dataset own = data;
        own.x = Rows::dense(m.values(), rows);
        std::vector<std::size_t> train, test;
        for (std::size_t i = 0; i < rows; ++i) (i % 4 < 2 ? train : test).push_back(i);
        const Model model =
            Svm({.common = {.kernel = precomputed(), .double_precision = true}, .C = 1e6})
                .fit(own.select(train));
        const Labels found = model.predict_labels(own.x.select(test));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < test.size(); ++i) {
            wrong += found.values[i] != data.y.values[test[i]] ? 1 : 0;
        }
        return wrong;
    };
    const Matrix<double> plain = gram_of(linear(), data.x);
    const Matrix<double> flat = apply("power(2)", gram_of(pow(linear(), 0.2), data.x));
    ASSERT_GT(diagonal_share(plain), 0.3);
    EXPECT_LT(diagonal_share(flat), diagonal_share(plain) / 4);
    RecordProperty("errors_plain", static_cast<int>(test_errors(plain)));
    RecordProperty("errors_power", static_cast<int>(test_errors(flat)));
    EXPECT_LT(test_errors(flat), test_errors(plain));
}

}  // namespace
}  // namespace mercer
