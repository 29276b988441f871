// Every shape of the dual in the space of weights, by both of its methods, against decomposition
// and against optimality conditions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/detail/canonical.hpp"
#include "mercer/solver/detail/feasible.hpp"
#include "mercer/solver/dual.hpp"
#include "mercer/solver/weights/detail/coordinate_descent.hpp"
#include "mercer/solver/weights/detail/explicit_products.hpp"
#include "mercer/solver/weights/detail/interior_point.hpp"
#include "solver/dual_cases.hpp"

namespace mercer::testing {
namespace {

/// Rows with a share of their entries, dense or as sparse rows.
ExplicitRows<double> random_rows(std::size_t n, std::size_t d, double share, bool sparse) {
    Random random(17);
    ExplicitRows<double> rows;
    rows.size = n;
    rows.columns = d;
    if (sparse) rows.starts.push_back(0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < d; ++k) {
            const double value = random.uniform() < share ? random.normal() : 0;
            if (sparse && value == 0) continue;
            if (sparse) rows.index.push_back(static_cast<std::uint32_t>(k));
            rows.values.push_back(value);
        }
        if (sparse) rows.starts.push_back(rows.values.size());
    }
    return rows;
}

double entry(const ExplicitRows<double>& rows, std::size_t i, std::size_t k) {
    if (!rows.is_sparse()) return rows.values[i * rows.columns + k];
    for (std::size_t a = rows.starts[i]; a < rows.starts[i + 1]; ++a) {
        if (rows.index[a] == k) return rows.values[a];
    }
    return 0;
}

Matrix<double> gram_of(const ExplicitRows<double>& rows) {
    Matrix<double> k(rows.size, rows.size);
    for (std::size_t i = 0; i < rows.size; ++i) {
        for (std::size_t j = 0; j < rows.size; ++j) {
            double sum = 0;
            for (std::size_t c = 0; c < rows.columns; ++c) {
                sum += entry(rows, i, c) * entry(rows, j, c);
            }
            k(i, j) = sum;
        }
    }
    return k;
}

/// A matrix that knows the rows behind it.
class FactoredMatrix final : public StoredMatrix<double> {
   public:
    explicit FactoredMatrix(ExplicitRows<double> rows)
        : StoredMatrix<double>(gram_of(rows)), rows_(std::move(rows)) {}
    std::optional<ExplicitRows<double>> explicit_rows(const Columns& which) const override {
        EXPECT_TRUE(which.is_all());
        return rows_;
    }

   private:
    ExplicitRows<double> rows_;
};

TEST(ExplicitRows, ProductsAreThoseOfTheDefinition) {
    for (const bool sparse : {false, true}) {
        // More rows than one part of a sum has.
        const ExplicitRows<double> rows = random_rows(5000, 7, 0.4, sparse);
        Random random(3);
        std::vector<double> w(rows.columns), c(rows.size), out(rows.size), sum(rows.columns),
            squares(rows.size);
        for (double& value : w) value = random.normal();
        for (double& value : c) value = random.uniform();
        multiply_rows(rows, std::span<const double>(w), out);
        sum_rows(rows, std::span<const double>(c), sum);
        square_rows(rows, squares);
        Matrix<double> g(rows.columns, rows.columns);
        weigh_rows(rows, std::span<const double>(c), g.view());
        Matrix<double> expected(rows.columns, rows.columns);
        std::vector<double> total(rows.columns, 0.0);
        for (std::size_t i = 0; i < rows.size; ++i) {
            double product = 0, square = 0;
            for (std::size_t k = 0; k < rows.columns; ++k) {
                const double value = entry(rows, i, k);
                product += value * w[k];
                square += value * value;
                total[k] += c[i] * value;
                for (std::size_t m = 0; m <= k; ++m) {
                    expected(k, m) += c[i] * value * entry(rows, i, m);
                }
            }
            ASSERT_NEAR(out[i], product, 1e-12);
            ASSERT_NEAR(squares[i], square, 1e-12);
        }
        for (std::size_t k = 0; k < rows.columns; ++k) {
            EXPECT_NEAR(sum[k], total[k], 1e-9);
            for (std::size_t m = 0; m <= k; ++m) EXPECT_NEAR(g(k, m), expected(k, m), 1e-9);
        }
    }
}

class EveryShapeByWeights : public ::testing::TestWithParam<Shape> {};

TEST_P(EveryShapeByWeights, IsSolvedAsByDecomposition) {
    constexpr std::size_t n = 60;
    for (const bool sparse : {false, true}) {
        const FactoredMatrix k(random_rows(n, 5, 0.6, sparse));
        Random random(4);
        const DualProblem problem = GetParam().make(n, random);
        DualSettings settings;
        settings.tolerance = 1e-7;
        settings.method = DualMethod::decomposition;
        const DualSolution expected = solve_dual<double>(k, problem, settings);
        settings.method = DualMethod::weights;
        const DualSolution found = solve_dual<double>(k, problem, settings);
        ASSERT_EQ(found.status, expected.status) << describe(found.status);
        if (expected.status != DualStatus::converged) continue;
        EXPECT_LE(found.violation, settings.tolerance);
        EXPECT_NEAR(found.objective, expected.objective, 1e-6 * (1 + std::abs(expected.objective)));
        EXPECT_GE(found.gap, 0);
    }
}

/// The methods themselves, without decomposition to help them at the end.
TEST_P(EveryShapeByWeights, BothMethodsComeNear) {
    constexpr std::size_t n = 60;
    const ExplicitRows<double> rows = random_rows(n, 5, 0.6, true);
    const FactoredMatrix k(rows);
    Random random(4);
    const DualProblem problem = GetParam().make(n, random);
    if (std::ranges::any_of(problem.upper, [](double u) { return !std::isfinite(u); })) return;
    DualSettings settings;
    settings.tolerance = 1e-8;
    settings.method = DualMethod::decomposition;
    const double expected = solve_dual<double>(k, problem, settings).objective;
    std::optional<Infeasibility> contradiction;
    const CanonicalDual form = canonical_form(problem, n, contradiction);
    ASSERT_FALSE(contradiction);
    const double scale = 1 + std::abs(expected);

    InteriorPoint<double> interior(form, rows);
    for (int step = 0; step < 60 && interior.relative_gap() > 1e-11; ++step) {
        if (!interior.step()) break;
    }
    EXPECT_LT(interior.residual(), 1e-6);
    EXPECT_NEAR(interior.objective(), expected, 1e-6 * scale);

    CoordinateDescent<double> descent(form, rows, std::vector<double>(n > 0 ? form.variables : 0));
    for (int pass = 0; pass < 20000; ++pass) {
        descent.pass();
        if (descent.violation() < 1e-7) {
            if (descent.all_active()) break;
            descent.begin_anew();
        }
    }
    EXPECT_LE(descent.violation(), 1e-6);
    std::vector<double> u = descent.u();
    EXPECT_LE(equality_residual(form, u), 1e-5 * scale);
    EXPECT_NEAR(descent.objective(), expected, 1e-4 * scale);
}

INSTANTIATE_TEST_SUITE_P(Shapes, EveryShapeByWeights, ::testing::ValuesIn(all_shapes()),
                         [](const auto& shape) { return shape.param.name; });

TEST(Weights, AnOperatorWithoutRowsIsRefused) {
    const StoredMatrix<double> k(random_gram(10, 3, false, 1));
    Random random(1);
    DualSettings settings;
    settings.method = DualMethod::weights;
    EXPECT_THROW(solve_dual<double>(k, classifier(random_labels(10, random), 1, true), settings),
                 InvalidInput);
}

/// A thousand rows, of which C counts the errors far above the margin: what takes two points at a
/// time for ever.
TEST(Weights, LargePenaltiesTakeNoLonger) {
    constexpr std::size_t n = 1000;
    for (const double C : {1e-3, 1.0, 1e5}) {
        const ExplicitRows<double> rows = random_rows(n, 10, 1, false);
        Random random(5);
        std::vector<double> y(n);
        for (std::size_t i = 0; i < n; ++i) {
            y[i] = rows.values[i * 10] + 0.5 * random.normal() > 0 ? 1 : -1;
        }
        DualProblem problem = classifier(y, C, true);
        const FactoredMatrix k(rows);
        DualSettings settings;
        settings.tolerance = 1e-4;
        const DualSolution solution = solve_dual<double>(k, problem, settings);
        EXPECT_EQ(solution.status, DualStatus::converged);
        EXPECT_LE(solution.gap, 1e-3 * std::abs(solution.objective));
        // No more passes of descent than an interior point method is worth.
        EXPECT_LE(solution.steps, 2'000'000U) << C;
    }
}

TEST(Weights, TheSameForAnyNumberOfThreads) {
    const FactoredMatrix k(random_rows(600, 20, 0.3, true));
    Random random(5);
    const DualProblem problem = classifier(random_labels(600, random), 1, true);
    std::vector<double> first;
    for (const std::size_t count : {1U, 2U, 3U}) {
        const ThreadLimit limit(count);
        const DualSolution solution = solve_dual<double>(k, problem);
        if (first.empty()) first = solution.alpha;
        EXPECT_EQ(solution.alpha, first) << count;
    }
}

}  // namespace
}  // namespace mercer::testing
