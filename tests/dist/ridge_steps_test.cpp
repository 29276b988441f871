// Ridge regression in the span of some rows by steps over them: the answer of its equations, with
// the same bits on any number of ranks, and from where an earlier run was ended.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "mercer/base/random.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/dist/detail/thread_ranks.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/passes/detail/span_products.hpp"
#include "mercer/learn/risk/detail/ridge_steps.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

/// Two outputs, and rows of different weights.
struct Problem {
    Dataset data{};
    Matrix<double> targets{};
};
Problem hills(std::size_t rows) {
    Problem made{.targets = Matrix<double>(2, rows)};
    Random random(7);
    std::vector<float> x;
    for (std::size_t i = 0; i < rows; ++i) {
        for (int k = 0; k < 2; ++k) x.push_back(static_cast<float>(random.normal()));
        const auto a = static_cast<double>(x[2 * i]), b = static_cast<double>(x[2 * i + 1]);
        made.targets(0, i) = 3 + std::sin(2 * a) + a * b + 0.1 * random.normal();
        made.targets(1, i) = std::cos(3 * b) + 0.3 * random.normal();
        made.data.y.values.push_back(made.targets(0, i));
        made.data.weights.push_back(i % 3 == 0 ? 2.0 : 0.5);
    }
    made.data.x = Rows::dense(std::move(x), 2);
    return made;
}

/// What a rank finds from its rows: the weights by steps, by equations, and what is left of the
/// slope.
struct Found {
    std::vector<double> steps{}, equations{};
    double slope = 0, least_slope = 0;
    std::size_t taken = 0;  ///< steps
};

template <class Ask>
void with_problem(const Problem& all, Communicator& ranks, bool bias, const Progress& progress,
                  const Ask& ask) {
    const RowRange range = own_rows(ranks, all.data.size());
    std::vector<std::size_t> rows;
    for (std::size_t i = range.first; i < range.last; ++i) rows.push_back(i);
    const FitSettings settings{.kernel = Kernel::parse("rbf(gamma=0.5)")};
    const SpanSample sample = take_span_sample(Task::ridge, all.data.select(rows), settings);
    const CentreSpan<float> span(sample, settings, Nystroem{.centres = 60});
    const SpanProducts products(span, sample, progress);
    Matrix<double> targets(2, rows.size());
    for (std::size_t o = 0; o < 2; ++o) {
        for (std::size_t i = 0; i < rows.size(); ++i) targets(o, i) = all.targets(o, rows[i]);
    }
    ask(SpanRidgeProblem{products, sample, targets, 0.1, bias, progress});
}

Found solve(const Problem& all, Communicator& ranks, bool bias, bool resume,
            const Progress& progress) {
    Found found;
    with_problem(all, ranks, bias, progress, [&](const SpanRidgeProblem& problem) {
        Checkpoint checkpoint(problem.sample.leaves, "ridge steps");
        const auto state = resume ? checkpoint.load() : std::nullopt;
        const auto stepped = ridge_by_steps(problem, state, checkpoint);
        ASSERT_TRUE(stepped);
        found.steps = stepped->weights.values();
        found.taken = stepped->steps;
        RidgeEquations direct = ridge_equations(problem, 1);
        ASSERT_TRUE(cholesky(direct.system.view()));
        cholesky_solve(std::as_const(direct.system).view(), direct.right.view());
        found.equations = direct.right.values();
        const auto slope = [&](const Matrix<double>& w) {
            const RidgePosition at = ridge_position(problem, w);
            double squares = 0;
            for (const double s : at.slope.values()) squares += s * s;
            return std::sqrt(squares);
        };
        found.slope = slope(stepped->weights);
        found.least_slope = slope(direct.right);
    });
    return found;
}

TEST(RidgeSteps, ComeToWhatTheEquationsSay) {
    const Problem problem = hills(20'000);  // three leaves
    for (const bool bias : {true, false}) {
        std::vector<Found> alone(1);
        run_ranks(1, [&](Communicator& r) { alone[0] = solve(problem, r, bias, false, {}); });
        ASSERT_EQ(alone[0].steps.size(), alone[0].equations.size());
        double size = 0, off = 0;
        for (std::size_t k = 0; k < alone[0].steps.size(); ++k) {
            size = std::max(size, std::fabs(alone[0].equations[k]));
            off = std::max(off, std::fabs(alone[0].steps[k] - alone[0].equations[k]));
        }
        EXPECT_LT(off, 1e-4 * size);
        EXPECT_LT(alone[0].least_slope, 1e-6);  // so the slope is that of this objective
        EXPECT_LT(alone[0].slope, 0.1);
        EXPECT_GE(alone[0].taken, 1U);
        EXPECT_LE(alone[0].taken, 16U);
        for (const std::size_t count : {2UL, 3UL}) {
            std::vector<Found> many(count);
            run_ranks(count, [&](Communicator& r) {
                many[r.rank()] = solve(problem, r, bias, false, {});
            });
            for (const Found& found : many) EXPECT_EQ(found.steps, alone[0].steps);
        }
    }
}

TEST(RidgeSteps, GoOnFromACheckpointToTheSameBits) {
    const Problem problem = hills(20'000);
    const auto folder =
        std::filesystem::temp_directory_path() / ("mercer-ridge-steps-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder);
    const std::string path = (folder / "state").string();
    const auto run = [&](std::size_t count, bool resume, std::size_t most) {
        std::vector<Found> found(count);
        run_ranks(count, [&](Communicator& r) {
            std::size_t passes = 0;
            const Progress progress = [&](const Moment&) {
                if (++passes > most) throw std::runtime_error("killed");
                return true;
            };
            const KeepCheckpoint keep(path, resume, 0);
            found[r.rank()] = solve(problem, r, true, resume, progress);
        });
        return std::pair(found[0].steps, found[0].taken);
    };
    constexpr std::size_t never = 1'000'000;
    const auto whole = run(1, false, never);
    std::filesystem::remove(path);
    // Six blocks a pass: ended in the second or third step.
    EXPECT_THROW(run(1, false, 6 * 4 + 2), std::runtime_error);
    ASSERT_TRUE(std::filesystem::exists(path));
    EXPECT_EQ(run(2, true, never), whole);
    std::filesystem::remove_all(folder);
}

TEST(RidgeSteps, PayWhereCentresAreManyAndRowsMore) {
    const Problem problem = hills(2000);
    run_ranks(1, [&](Communicator& ranks) {
        with_problem(problem, ranks, true, {}, [](const SpanRidgeProblem& p) {
            EXPECT_FALSE(steps_pay(p));  // 60 centres: the equations are quicker
            EXPECT_LT(p.features.making_cost(), 60);
        });
    });
}

}  // namespace
}  // namespace mercer
