// Blocks of parameter derivatives against the expression's own derivative and against differences.
#include "mercer/gram/gradient.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "gram/expressions.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/parameters.hpp"

namespace mercer {
namespace {

using testing::expressions;
using testing::random_rows;

std::vector<double> values_of(const GramGradient& g) {
    std::vector<double> values;
    for (const KernelParameter& p : g.parameters()) values.push_back(p.value);
    return values;
}

/// Central differences of the Gram matrix in parameter p.
Matrix<double> differences(const GramGradient& g, std::size_t p, double step) {
    const auto shifted = [&](double by) {
        auto values = values_of(g);
        values[p] += by;
        Matrix<double> k(g.size(), g.size());
        g.with(values).matrix(k.view());
        return k;
    };
    Matrix<double> high = shifted(step);
    const Matrix<double> low = shifted(-step);
    for (std::size_t i = 0; i < high.values().size(); ++i) {
        high.values()[i] = (high.values()[i] - low.values()[i]) / (2 * step);
    }
    return high;
}

class Gradients : public ::testing::TestWithParam<std::string> {};

TEST_P(Gradients, AgreeWithDifferencesAndTheGramEngine) {
    const std::string& text = GetParam();
    const bool jumps = text.find("ball") != std::string::npos;
    const Rows sparse = random_rows(23, 8, 0.5, 3).to_sparse();
    for (const Rows& rows : {random_rows(23, 8, 1.0, 2), sparse}) {
        const GramGradient g(Kernel::parse(text), rows);
        const std::size_t n = g.size();
        Matrix<double> expected(n, n);
        Gram<double>(g.kernel(), rows).matrix(expected.view());
        Matrix<double> k(n, n);
        g.matrix(k.view());
        for (std::size_t i = 0; i < n * n; ++i) {
            ASSERT_NEAR(k.values()[i], expected.values()[i],
                        1e-12 * (1 + std::fabs(expected.values()[i])));
        }
        if (jumps) {
            EXPECT_THROW(g.contract(k.view()), InvalidInput);
            continue;
        }
        std::vector<Matrix<double>> slopes(g.parameters().size(), Matrix<double>(n, n));
        std::vector<MatrixView<double>> views;
        for (auto& slope : slopes) views.push_back(slope.view());
        g.block(0, 0, k.view(), views);
        const std::vector<double> contracted = g.contract(expected.view());
        for (std::size_t p = 0; p < slopes.size(); ++p) {
            const Matrix<double> d = differences(g, p, 1e-5);
            double sum = 0;
            double size = 0;
            for (std::size_t i = 0; i < n * n; ++i) {
                ASSERT_NEAR(slopes[p].values()[i], d.values()[i],
                            1e-6 * (1 + std::fabs(d.values()[i])))
                    << g.parameters()[p].name << " of " << g.parameters()[p].part;
                sum += expected.values()[i] * slopes[p].values()[i];
                size += std::fabs(expected.values()[i] * slopes[p].values()[i]);
            }
            EXPECT_NEAR(contracted[p], sum, 1e-12 * size);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Expressions, Gradients, ::testing::ValuesIn(expressions()),
                         [](const auto& one) { return "number" + std::to_string(one.index); });

TEST(GradientOfSets, AgreesWithDifferences) {
    for (const char* text : {"sets(2*rbf(gamma=0.4) + laplacian(gamma=0.3), width=2)",
                             "normalize(sets(rbf(gamma=0.4), width=2))",
                             "center(sets(rbf(gamma=0.4), width=2)) + 0.5*linear"}) {
        const GramGradient g(Kernel::parse(text), random_rows(9, 6, 1.0, 4));
        Matrix<double> weights(9, 9, 1.0);
        const auto contracted = g.contract(weights.view());
        for (std::size_t p = 0; p < contracted.size(); ++p) {
            double sum = 0;
            const Matrix<double> d = differences(g, p, 1e-5);
            for (const double v : d.values()) sum += v;
            EXPECT_NEAR(contracted[p], sum, 1e-6 * (1 + std::fabs(sum))) << text;
        }
    }
}

// More rows than a tile, numbers kept and not kept, one thread and several, a window off the tiles.
TEST(GradientBlocks, DoNotDependOnTilesMemoryOrThreads) {
    const Rows rows = random_rows(530, 5, 1.0, 5);
    const Kernel k = Kernel::parse("1.5*rbf(gamma=0.7) + periodic(period=2)*linear");
    const GramGradient fresh(k, rows);
    const GramGradient kept(k, rows, {}, std::size_t{1} << 26);
    Matrix<double> weights(530, 530);
    for (std::size_t i = 0; i < 530; ++i) {
        for (std::size_t j = 0; j < 530; ++j) {
            weights(i, j) = std::cos(static_cast<double>(i * j + i + j));
        }
    }
    const auto first = fresh.contract(weights.view());
    EXPECT_EQ(first, kept.contract(weights.view()));
    set_threads(3);
    EXPECT_EQ(first, kept.contract(weights.view()));
    set_threads(0);

    Matrix<double> value(300, 7);
    std::vector<Matrix<double>> slopes(4, Matrix<double>(300, 7));
    std::vector<MatrixView<double>> views;
    for (auto& slope : slopes) views.push_back(slope.view());
    fresh.block(200, 520, value.view(), views);
    for (const std::size_t i : {0U, 57U, 299U}) {
        const auto x = testing::row_of(rows, 200 + i);
        const auto z = testing::row_of(rows, 523);
        const auto expected = parameter_gradient(k, x, z);
        ASSERT_EQ(expected.size(), 4U);
        EXPECT_NEAR(value(i, 3), k(x, z), 1e-13);
        for (std::size_t p = 0; p < 4; ++p) EXPECT_NEAR(slopes[p](i, 3), expected[p], 1e-13);
    }
}

TEST(InputGradients, AreOneRowAPair) {
    const Rows rows = random_rows(70, 4, 0.5, 6).to_sparse();
    const Kernel k = Kernel::parse("rbf(gamma=0.7) + 0.1*linear");
    const std::vector<double> x = {0.1, 0.7, 0.4, 0.2};
    const Matrix<double> all = input_gradients(k, x, rows);
    for (std::size_t j = 0; j < 70; ++j) {
        const auto one = input_gradient(k, x, testing::row_of(rows, j));
        EXPECT_TRUE(std::equal(one.begin(), one.end(), all.row(j).begin()));
    }
}

}  // namespace
}  // namespace mercer
