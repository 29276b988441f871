// Every shape of the dual in the space of weights, by each of its methods, against decomposition
// and against optimality conditions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/dist/detail/rank_partners.hpp"
#include "mercer/dist/detail/thread_ranks.hpp"
#include "mercer/solver/detail/canonical.hpp"
#include "mercer/solver/detail/feasible.hpp"
#include "mercer/solver/dual.hpp"
#include "mercer/solver/weights/detail/coordinate_descent.hpp"
#include "mercer/solver/weights/detail/explicit_products.hpp"
#include "mercer/solver/weights/detail/interior_point.hpp"
#include "mercer/solver/weights/detail/newton_system.hpp"
#include "mercer/solver/weights/detail/proximal_newton.hpp"
#include "mercer/solver/weights/detail/row_sample.hpp"
#include "solver/dual_cases.hpp"

namespace mercer::testing {
namespace {

/// Rows with a share of their entries, dense or as sparse rows.
ExplicitRows<double> random_rows(std::size_t n, std::size_t d, double share, bool sparse) {
    Random random(17);
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> index;
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < d; ++k) {
            const double value = random.uniform() < share ? random.normal() : 0;
            if (sparse && value == 0) continue;
            index.push_back(static_cast<std::uint32_t>(k));
            values.push_back(value);
        }
        starts.push_back(values.size());
    }
    if (!sparse) return ExplicitRows<double>::dense(n, d, std::move(values));
    return ExplicitRows<double>::sparse(d, std::move(starts), std::move(index), std::move(values));
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

TEST(ExplicitRows, ProductsOfSomeRowsAreThoseOfTheDefinition) {
    for (const bool sparse : {false, true}) {
        const ExplicitRows<double> rows = random_rows(20'000, 6, 0.5, sparse);
        const Matrix<double> few = gram_of(random_rows(300, 6, 0.5, sparse));
        Random random(3);
        std::vector<std::uint32_t> which;
        std::vector<double> c;
        for (std::uint32_t r = 0; r < rows.size; r += 1 + r % 2) {
            which.push_back(r);
            c.push_back(random.normal());
        }
        std::vector<double> w(rows.columns), sum(rows.columns, 1.0), squares(rows.columns, 0.0);
        for (double& value : w) value = random.normal();
        std::vector<double> out(which.size()), all(rows.size);
        multiply_rows(rows, std::span<const double>(w), all);
        multiply_some<double>(rows, which, w, out);
        add_some<double>(rows, which, c, sum);
        add_squares<double>(rows, which, c, squares);
        Matrix<double> g(rows.columns, rows.columns, 2.0), expected = g;
        weigh_some<double>(rows, which, c, g);
        std::vector<double> total(rows.columns, 1.0);
        for (std::size_t r = 0; r < which.size(); ++r) {
            ASSERT_EQ(out[r], all[which[r]]);
            for (std::size_t k = 0; k < rows.columns; ++k) {
                const double value = entry(rows, which[r], k);
                total[k] += c[r] * value;
                for (std::size_t m = 0; m <= k; ++m) {
                    expected(k, m) += c[r] * value * entry(rows, which[r], m);
                }
            }
        }
        for (std::size_t k = 0; k < rows.columns; ++k) {
            EXPECT_NEAR(sum[k], total[k], 1e-9);
            EXPECT_NEAR(squares[k], expected(k, k) - 2, 1e-9);
            for (std::size_t m = 0; m <= k; ++m) EXPECT_NEAR(g(k, m), expected(k, m), 1e-9);
        }
        const std::vector<std::uint32_t> some = {3, 4, 70, 299};
        Matrix<double> among(some.size(), some.size());
        multiply_among<double>(random_rows(300, 6, 0.5, sparse), some, among.view());
        for (std::size_t a = 0; a < some.size(); ++a) {
            for (std::size_t b = 0; b <= a; ++b) {
                EXPECT_NEAR(among(a, b), few(some[a], some[b]), 1e-12);
            }
        }
    }
}

/// Partners that have the same rows compute the parts of a sum in turn.
TEST(ExplicitRows, SharedSumsHaveTheBitsOfOne) {
    const ExplicitRows<double> rows = random_rows(9000, 20, 1, false);
    Random random(3);
    std::vector<std::uint32_t> which;
    std::vector<double> c;
    for (std::uint32_t r = 0; r < rows.size; ++r) {
        which.push_back(r);
        c.push_back(random.uniform());
    }
    const auto sums = [&](const Partners* partners) {
        ExplicitRows<double> own = rows;
        own.partners = partners;
        Matrix<double> some(rows.columns, rows.columns, 2.0), all(rows.columns, rows.columns);
        weigh_some<double>(own, which, c, some);
        weigh_rows(own, std::span<const double>(c), all.view());
        some.values().insert(some.values().end(), all.values().begin(), all.values().end());
        return some.values();
    };
    const std::vector<double> alone = sums(nullptr);
    for (const std::size_t count : {2UL, 3UL, 12UL}) {  // eight parts, and five
        run_ranks(count, [&](Communicator& ranks) {
            const RankPartners partners(ranks);
            EXPECT_EQ(sums(&partners), alone);
            // What others have computed is not computed here.
            class Silent final : public Partners {
               public:
                std::size_t number() const override { return 1; }
                std::size_t count() const override { return 2; }
                void gather(std::span<const std::byte>, std::span<const std::size_t>,
                            std::span<std::byte>) const override {}
            } const silent;
            EXPECT_NE(sums(&silent), alone);
        });
    }
}

/// Of few columns with the sum of squares that follows the free rows, of many by the rows, of many
/// rows and columns by conjugate gradients: the same equations.
TEST(NewtonSystem, HasTheSameSolutionEachWay) {
    Random random(9);
    for (const std::size_t columns : {std::size_t{6}, NewtonSystem<double>::most_columns + 10}) {
        for (const std::size_t size : {std::size_t{40}, std::size_t{3100}}) {
            for (const std::size_t equalities : {0U, 1U, 2U}) {
                const double share = 6.0 / static_cast<double>(columns);
                const ExplicitRows<double> rows = random_rows(size, columns, share, true);
                NewtonSystem<double> system(rows, equalities);
                for (const std::uint32_t stride : {2U, 1U, 3U}) {  // rows come and go
                    std::vector<std::uint32_t> which;
                    std::vector<double> weight;
                    for (std::uint32_t r = 0; r < size; r += stride) {
                        which.push_back(r);
                        weight.push_back(0.5 + random.uniform());
                    }
                    Matrix<double> border(equalities, which.size());
                    for (double& value : border.values()) value = 0.1 * random.normal();
                    FreeRows free{which, weight, std::as_const(border).view(), {}};
                    for (std::size_t e = 0; e < equalities; ++e) {
                        free.corner[e][e] = 10.0 * static_cast<double>(size);
                    }
                    constexpr double width = 3;
                    std::vector<double> x(columns + equalities), right(x.size());
                    for (std::size_t k = 0; k < x.size(); ++k) right[k] = x[k] = random.normal();
                    ASSERT_TRUE(system.solve(free, width, x));
                    // The matrix times x, by its definition.
                    std::vector<double> image(x.begin(), x.end()), products(which.size());
                    const std::span<const double> w(x.data(), columns);
                    multiply_some<double>(rows, which, w, products);
                    for (std::size_t e = 0; e < equalities; ++e) {
                        image[columns + e] = free.corner[e][e] * x[columns + e] / width;
                    }
                    for (std::size_t f = 0; f < which.size(); ++f) {
                        double factor = weight[f] * products[f] / width;
                        for (std::size_t e = 0; e < equalities; ++e) {
                            factor -= border(e, f) * x[columns + e] / width;
                            image[columns + e] -= border(e, f) * products[f] / width;
                        }
                        products[f] = factor;
                    }
                    add_some<double>(rows, which, products, std::span(image).first(columns));
                    for (std::size_t k = 0; k < x.size(); ++k) {
                        ASSERT_NEAR(image[k], right[k], 1e-5) << columns << ' ' << size;
                    }
                }
            }
        }
    }
}

TEST(RowSample, CountsForTheRowsLeftOut) {
    constexpr std::size_t n = 25;
    const ExplicitRows<double> rows = random_rows(n, 4, 0.5, true);
    Random random(1);
    const DualProblem problem = classifier(random_labels(n, random), 2, true);
    std::optional<Infeasibility> contradiction;
    const CanonicalDual form = canonical_form(problem, n, contradiction);
    const CanonicalDual few = sample_form(form, 8);
    const ExplicitRows<double> some = sample_rows(rows, 8);
    ASSERT_EQ(few.variables, 4U);
    ASSERT_EQ(some.size, 4U);
    std::vector<double> u(n);
    for (std::size_t i = 0; i < n; ++i) u[i] = 0.01 * static_cast<double>(i);
    const std::vector<double> point = sample_point(form, u, 8);
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(few.row[i], i);
        EXPECT_EQ(few.sign[i], form.sign[8 * i]);
        EXPECT_EQ(few.upper[i], 8 * form.upper[8 * i]);
        EXPECT_EQ(point[i], 8 * u[8 * i]);
        for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(entry(some, i, k), entry(rows, 8 * i, k));
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
TEST_P(EveryShapeByWeights, EachMethodComesNear) {
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

    std::vector<double> start(form.variables, 0.0);
    make_feasible(form, start);
    ProximalNewton<double> newton(form, rows, {.u = start, .width = 4});
    for (int step = 0; step < 400 && newton.width() > 1e-7; ++step) {
        const bool moved = newton.step();
        if (!moved || newton.last_change() < newton.width()) newton.narrow(newton.width() / 2);
    }
    for (int step = 0; step < 5; ++step) newton.step();
    EXPECT_LT(newton.residual(), 1e-6 * scale);
    EXPECT_LE(newton.violation(), 1e-6 * scale);
    EXPECT_LE(equality_residual(form, newton.u()), 1e-6 * scale);
    EXPECT_NEAR(newton.objective(), expected, 1e-6 * scale);
    for (std::size_t i = 0; i < form.variables; ++i) {
        EXPECT_GE(newton.u()[i], form.lower[i]);
        EXPECT_LE(newton.u()[i], form.upper[i]);
    }

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
