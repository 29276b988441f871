// Every method on every shape of the dual, against optimality conditions and another solver.
#include "mercer/solver/dual.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/base/detail/simd.hpp"
#include "mercer/base/parallel.hpp"
#include "solver/dual_cases.hpp"

namespace mercer::testing {
namespace {

std::string name_of(DualMethod method) {
    return method == DualMethod::decomposition ? "decomposition"
           : method == DualMethod::smo         ? "smo"
                                               : "chunking";
}

/// Feasible, and optimal to the tolerance with the multipliers returned, all recomputed here.
void expect_optimal(const Matrix<double>& q, const DualProblem& problem,
                    const DualSolution& solution, double tolerance) {
    ASSERT_EQ(solution.status, DualStatus::converged) << describe(solution.status);
    ASSERT_EQ(solution.multipliers.size(), problem.equalities.size());
    EXPECT_LE(solution.violation, tolerance);
    const std::vector<double> g = gradient_at(q, problem, solution.alpha);
    for (std::size_t i = 0; i < problem.size(); ++i) {
        const double alpha = solution.alpha[i];
        EXPECT_GE(alpha, problem.lower[i]);
        EXPECT_LE(alpha, problem.upper[i]);
        double rho = g[i];
        for (std::size_t k = 0; k < problem.equalities.size(); ++k) {
            rho -= solution.multipliers[k] * problem.equalities[k].coefficients[i];
        }
        if (alpha < problem.upper[i]) {
            EXPECT_GE(rho, -2 * tolerance) << "variable " << i;
        }
        if (alpha > problem.lower[i]) {
            EXPECT_LE(rho, 2 * tolerance) << "variable " << i;
        }
    }
    for (const Equality& equality : problem.equalities) {
        double sum = -equality.value;
        for (std::size_t i = 0; i < problem.size(); ++i) {
            sum += equality.coefficients[i] * solution.alpha[i];
        }
        EXPECT_NEAR(sum, 0, 1e-12 * static_cast<double>(problem.size()));
    }
}

struct GramKind {
    const char* name;
    std::size_t rank;
    bool duplicates;
};
constexpr std::array<GramKind, 3> gram_kinds = {
    {{"full rank", 60, false}, {"rank 3", 3, false}, {"duplicates", 8, true}}};

class EveryShape : public ::testing::TestWithParam<Shape> {};

/// In float a matrix of low rank is positive semidefinite only up to the rounding of its entries,
/// some 1e-7, and so then are optima: the tolerance must not ask for more.
template <class T>
void agree_with_interior_point(const Shape& shape, double tolerance) {
    constexpr std::size_t n = 36;
    for (const GramKind& kind : gram_kinds) {
        const StoredMatrix<T> k(random_gram(n, kind.rank, kind.duplicates, 11));
        Random random(3);
        const DualProblem problem = shape.make(n, random);
        const Matrix<double> q = full_q(k.seen(), problem);
        const double expected = objective_at(q, problem, interior_point_minimum(q, problem));
        for (const DualMethod method : methods) {
            SCOPED_TRACE(shape.name + ", " + kind.name + ", " + name_of(method));
            DualSettings settings;
            settings.method = method;
            settings.tolerance = tolerance;
            settings.working_set = 12;  // smaller than the problem: several outer iterations
            const DualSolution solution = solve_dual<T>(k, problem, settings);
            expect_optimal(q, problem, solution, settings.tolerance);
            const double scale = 1 + std::abs(expected);
            EXPECT_NEAR(solution.objective, objective_at(q, problem, solution.alpha),
                        1e-10 * scale);
            EXPECT_NEAR(solution.objective, expected, tolerance * scale);
            EXPECT_GE(solution.gap, 0);
            // The gap bounds the distance to the optimum, and is small itself.
            EXPECT_GE(solution.objective - solution.gap, expected - 1e3 * tolerance * scale);
            EXPECT_LE(solution.objective - solution.gap, expected + 0.1 * tolerance * scale);
        }
    }
}

TEST_P(EveryShape, AgreesWithAnInteriorPointMethodInDouble) {
    agree_with_interior_point<double>(GetParam(), 1e-8);
}

TEST_P(EveryShape, AgreesWithAnInteriorPointMethodInFloat) {
    agree_with_interior_point<float>(GetParam(), 1e-5);
}

TEST_P(EveryShape, IndefiniteMatricesEndAtAPointThatSatisfiesTheConditions) {
    constexpr std::size_t n = 30;
    Matrix<double> k = random_gram(n, 5, false, 4);
    const Matrix<double> other = random_gram(n, 5, false, 5);
    for (std::size_t i = 0; i < k.values().size(); ++i) k.values()[i] -= other.values()[i];
    const StoredMatrix<double> stored(k);
    for (const DualMethod method : methods) {
        SCOPED_TRACE(name_of(method));
        Random random(8);
        const DualProblem problem = GetParam().make(n, random);
        DualSettings settings;
        settings.method = method;
        settings.tolerance = 1e-6;
        settings.working_set = 12;
        const DualSolution solution = solve_dual<double>(stored, problem, settings);
        expect_optimal(full_q(k, problem), problem, solution, settings.tolerance);
    }
}

TEST_P(EveryShape, ObjectiveNeverRises) {
    constexpr std::size_t n = 80;
    const StoredMatrix<float> k(random_gram(n, 10, true, 21));
    for (const DualMethod method : methods) {
        SCOPED_TRACE(name_of(method));
        Random random(6);
        const DualProblem problem = GetParam().make(n, random);
        DualSettings settings;
        settings.method = method;
        settings.tolerance = 1e-5;
        settings.working_set = 16;
        double last = infinity;
        std::size_t heard = 0;
        settings.progress = [&](const DualMoment& moment) {
            EXPECT_LE(moment.objective, last + 1e-9 * (1 + std::abs(moment.objective)));
            last = moment.objective;
            ++heard;
            return true;
        };
        EXPECT_EQ(solve_dual<float>(k, problem, settings).status, DualStatus::converged);
        EXPECT_GE(heard, 1U);
    }
}

TEST_P(EveryShape, ShrinkingDoesNotChangeTheOptimum) {
    constexpr std::size_t n = 150;
    const StoredMatrix<double> k(random_gram(n, 6, false, 31));
    for (const DualMethod method : {DualMethod::decomposition, DualMethod::smo}) {
        SCOPED_TRACE(name_of(method));
        DualSettings settings;
        settings.method = method;
        settings.tolerance = 1e-7;
        settings.working_set = 16;
        settings.exact_final = false;  // the reconstruction itself must be exact
        std::size_t fewest = 2 * n;
        settings.progress = [&](const DualMoment& moment) {
            fewest = std::min(fewest, moment.active);
            return true;
        };
        Random random(2);
        const DualProblem problem = GetParam().make(n, random);
        const DualSolution with = solve_dual<double>(k, problem, settings);
        // The optimum of these two on points around the origin is w = 0, where no point is pushed
        // anywhere: see the next test for them.
        const bool pushed = GetParam().name != "nu_svc" && GetParam().name != "one_class";
        if (method == DualMethod::decomposition && pushed) {
            EXPECT_LT(fewest, problem.size()) << "nothing was ever shrunk: the test shows nothing";
        }
        settings.shrinking = false;
        const DualSolution without = solve_dual<double>(k, problem, settings);
        const Matrix<double> q = full_q(k.seen(), problem);
        expect_optimal(q, problem, with, settings.tolerance);
        expect_optimal(q, problem, without, settings.tolerance);
        EXPECT_NEAR(with.objective, without.objective, 1e-7 * (1 + std::abs(with.objective)));
    }
}

TEST_P(EveryShape, ThreadsChangeNothing) {
    constexpr std::size_t n = 300;
    const StoredMatrix<float> k(random_gram(n, 12, false, 41));
    Random random(7);
    const DualProblem problem = GetParam().make(n, random);
    DualSettings settings;
    settings.working_set = 64;
    std::vector<DualSolution> solutions;
    for (const std::size_t count : {1U, 2U, 4U}) {
        set_threads(count);
        solutions.push_back(solve_dual<float>(k, problem, settings));
    }
    set_threads(0);
    for (const DualSolution& solution : solutions) {
        EXPECT_EQ(solution.alpha, solutions[0].alpha);
        EXPECT_EQ(solution.row_gradient, solutions[0].row_gradient);
        EXPECT_EQ(solution.multipliers, solutions[0].multipliers);
        EXPECT_EQ(solution.steps, solutions[0].steps);
    }
}

TEST_P(EveryShape, StartsFromAnywhere) {
    constexpr std::size_t n = 60;
    const StoredMatrix<double> k(random_gram(n, 60, false, 51));
    Random random(9);
    const DualProblem problem = GetParam().make(n, random);
    const Matrix<double> q = full_q(k.seen(), problem);
    DualSettings settings;
    settings.tolerance = 1e-6;
    settings.working_set = 16;
    const DualSolution cold = solve_dual<double>(k, problem, settings);
    const DualSolution warm = solve_dual<double>(k, problem, settings, cold.alpha);
    expect_optimal(q, problem, warm, settings.tolerance);
    EXPECT_LE(warm.steps, 1U);
    EXPECT_GT(cold.steps, 10U);
    // A start outside bounds and equalities is moved to a feasible point first.
    std::vector<double> outside(problem.size());
    for (double& x : outside) x = 10 * random.normal();
    const DualSolution moved = solve_dual<double>(k, problem, settings, outside);
    expect_optimal(q, problem, moved, settings.tolerance);
    EXPECT_NEAR(moved.objective, cold.objective, 1e-5 * (1 + std::abs(cold.objective)));
    // A start near the optimum needs fewer steps than none.
    std::vector<double> near = cold.alpha;
    for (double& x : near) x *= 1.01;
    EXPECT_LT(solve_dual<double>(k, problem, settings, near).steps, cold.steps);
}

INSTANTIATE_TEST_SUITE_P(Dual, EveryShape, ::testing::ValuesIn(all_shapes()),
                         [](const auto& shape) { return shape.param.name; });

TEST(Dual, GapGoesToZeroWithTheTolerance) {
    const Plane plane = random_plane(120, 1.0, 0.1, 3);
    const StoredMatrix<double> k(plane.k);
    const DualProblem problem = classifier(plane.label, 10, true);
    double last = infinity;
    for (const double tolerance : {1e-1, 1e-3, 1e-5, 1e-7, 1e-9}) {
        DualSettings settings;
        settings.tolerance = tolerance;
        const DualSolution solution = solve_dual<double>(k, problem, settings);
        EXPECT_EQ(solution.status, DualStatus::converged);
        EXPECT_GE(solution.gap, 0);
        EXPECT_LE(solution.gap, last);
        EXPECT_LE(solution.gap, 120 * 10 * tolerance);
        last = solution.gap;
    }
}

TEST(Dual, GapIsOfUseForHugeBoundsToo) {
    const Plane plane = random_plane(150, 1.0, 0, 9);
    const StoredMatrix<double> k(plane.k);
    const DualProblem problem = classifier(plane.label, 1e8, true);
    const DualSolution rough = solve_dual<double>(k, problem);
    DualSettings settings;
    settings.tolerance = 1e-9;
    const DualSolution fine = solve_dual<double>(k, problem, settings);
    ASSERT_EQ(fine.status, DualStatus::converged);
    EXPECT_LE(rough.gap, 1e-2 * std::abs(rough.objective));
    EXPECT_LE(rough.objective - rough.gap, fine.objective);
}

TEST(Dual, RelativeGapAloneMayStop) {
    const Plane plane = random_plane(200, 1.0, 0.1, 3);
    const StoredMatrix<double> k(plane.k);
    const DualProblem problem = classifier(plane.label, 10, true);
    DualSettings settings;
    settings.tolerance = 1e-12;
    settings.relative_gap = 1e-2;
    settings.working_set = 16;
    const DualSolution solution = solve_dual<double>(k, problem, settings);
    EXPECT_EQ(solution.status, DualStatus::converged);
    EXPECT_GT(solution.violation, settings.tolerance);
    EXPECT_LE(solution.gap, settings.relative_gap * std::abs(solution.objective));
}

TEST(Dual, MultiplierIsTheMeanOverFreeVariables) {
    const Plane plane = random_plane(100, 1.0, 0.1, 5);
    const StoredMatrix<double> k(plane.k);
    const DualProblem problem = classifier(plane.label, 1, true);
    const DualSolution solution = solve_dual<double>(k, problem);
    const std::vector<double> g = gradient_at(full_q(plane.k, problem), problem, solution.alpha);
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < g.size(); ++i) {
        if (solution.alpha[i] <= 0 || solution.alpha[i] >= 1) continue;
        sum += plane.label[i] * g[i];
        count += 1;
    }
    ASSERT_GT(count, 0);
    EXPECT_NEAR(solution.multipliers[0], sum / count, 1e-10);
    EXPECT_LE(solution.multipliers_low[0], solution.multipliers[0]);
    EXPECT_GE(solution.multipliers_high[0], solution.multipliers[0]);
}

TEST(Dual, MultiplierIsTheMidpointWhenNoneIsFree) {
    // Two points, C so small that both sit at it: b may lie anywhere in an interval.
    Matrix<double> k(2, 2);
    k(0, 0) = k(1, 1) = 1;
    const StoredMatrix<double> stored(k);
    const DualProblem problem = classifier({1, -1}, 0.25, true);
    const DualSolution solution = solve_dual<double>(stored, problem);
    ASSERT_EQ(solution.alpha, (std::vector<double>{0.25, 0.25}));
    // y_i g_i is 0.25 − 1 for the first and 1 − 0.25 for the second.
    EXPECT_NEAR(solution.multipliers_low[0], -0.75, 1e-12);
    EXPECT_NEAR(solution.multipliers_high[0], 0.75, 1e-12);
    EXPECT_NEAR(solution.multipliers[0], 0, 1e-12);
}

TEST(Dual, NuShapesShrinkToTheSameOptimum) {
    const std::size_t n = 900;
    const Plane plane = random_plane(n, 0.5, 0.02, 13);
    const StoredMatrix<double> k(plane.k);
    DualProblem nu = classifier(plane.label, 1, true);
    nu.p.assign(n, 0.0);
    const std::vector<double> ones(n, 1.0);
    nu.equalities.push_back({.coefficients = ones, .value = 0.2 * static_cast<double>(n)});
    DualProblem one_class = box_problem(n, 0, 0, 1);
    one_class.equalities = {{.coefficients = ones, .value = 0.2 * static_cast<double>(n)}};
    for (const DualProblem& problem : {nu, one_class}) {
        DualSettings settings;
        settings.tolerance = 1e-5;
        settings.working_set = 24;
        std::size_t fewest = n;
        settings.progress = [&](const DualMoment& moment) {
            fewest = std::min(fewest, moment.active);
            return true;
        };
        const DualSolution with = solve_dual<double>(k, problem, settings);
        EXPECT_LT(fewest, n);
        settings.shrinking = false;
        const DualSolution without = solve_dual<double>(k, problem, settings);
        expect_optimal(full_q(plane.k, problem), problem, with, settings.tolerance);
        EXPECT_NEAR(with.objective, without.objective, 1e-4 * (1 + std::abs(with.objective)));
    }
}

TEST(Dual, EveryInstructionSetReachesTheSameOptimum) {
    const Plane plane = random_plane(500, 1.0, 0.1, 23);
    const StoredMatrix<float> k(plane.k);
    const StoredMatrix<double> wide(plane.k);
    const DualProblem problem = classifier(plane.label, 5, true);
    const Matrix<double> q = full_q(k.seen(), problem);
    DualSettings settings;
    settings.tolerance = 1e-6;
    settings.working_set = 100;
    const double expected = solve_dual<double>(wide, problem, settings).objective;
    for (const std::string& level : simd_levels()) {
        SCOPED_TRACE(level);
        use_simd_level(level);
        const DualSolution solution = solve_dual<float>(k, problem, settings);
        const DualSolution in_double = solve_dual<double>(wide, problem, settings);
        use_simd_level("");
        expect_optimal(q, problem, solution, settings.tolerance);
        EXPECT_NEAR(solution.objective, expected, 1e-5 * std::abs(expected));
        EXPECT_NEAR(in_double.objective, expected, 1e-7 * std::abs(expected));
    }
}

TEST(Dual, ManyOuterIterationsOnALargerSet) {
    const Plane plane = random_plane(1500, 2.0, 0.1, 17);
    const StoredMatrix<float> k(plane.k);
    const DualProblem problem = classifier(plane.label, 5, true);
    DualSettings settings;
    settings.tolerance = 1e-4;
    double objective = 0;
    for (const DualMethod method : methods) {
        settings.method = method;
        const DualSolution solution = solve_dual<float>(k, problem, settings);
        EXPECT_EQ(solution.status, DualStatus::converged) << name_of(method);
        if (method == DualMethod::decomposition) {
            EXPECT_GT(solution.iterations, 1U);
            objective = solution.objective;
        }
        EXPECT_NEAR(solution.objective, objective, 1e-5 * std::abs(objective)) << name_of(method);
    }
}

/// A matrix whose first update of a gradient is off: what a fault of memory, or of a store, does.
class OnceWrong final : public SymmetricOperator<double> {
   public:
    explicit OnceWrong(const Matrix<double>& k) : inner_(k) {}
    std::size_t size() const override { return inner_.size(); }
    void diagonal(std::span<double> d) const override { inner_.diagonal(d); }
    void rows(std::span<const std::size_t> which, MatrixView<double> out) const override {
        inner_.rows(which, out);
    }
    void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
              MatrixView<double> out) const override {
        inner_.tile(which, columns, out);
    }
    void add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                  const Columns& columns, const Announcement& again,
                  std::span<double> sums) const override {
        inner_.add_rows(which, weights, columns, again, sums);
        if (!again || wrong_) return;
        wrong_ = true;
        for (double& sum : sums) sum += 0.3;
        sums[0] -= 1;
    }
    std::uint64_t evaluations() const override { return 0; }

   private:
    StoredMatrix<double> inner_;
    mutable bool wrong_ = false;
};

TEST(Dual, AGradientThatHasDriftedIsFoundOutBeforeTheEnd) {
    const Plane plane = random_plane(200, 2.0, 0.1, 23);
    const DualProblem problem = classifier(plane.label, 5, true);
    const auto error = [&](bool audited) {
        DualSettings settings;
        settings.exact_final = audited;
        const DualSolution solution = solve_dual<double>(OnceWrong(plane.k), problem, settings);
        double worst = 0;
        for (std::size_t i = 0; i < 200; ++i) {
            double v = 0;
            for (std::size_t j = 0; j < 200; ++j) {
                v += plane.k(i, j) * plane.label[j] * solution.alpha[j];
            }
            worst = std::max(worst, std::abs(v - solution.row_gradient[i]));
        }
        return worst;
    };
    EXPECT_LT(error(true), 1e-10);
    EXPECT_GT(error(false), 0.1) << "the fault left no trace: the test shows nothing";
}

}  // namespace
}  // namespace mercer::testing
