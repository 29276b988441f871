// Where dual and primal are told to enclose the optimum they do: compared with an interior point
// method that shares nothing with the machines, over every task and every kind of kernel.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/multi_label.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/detail/subproblem.hpp"
#include "mercer/solver/detail/lbfgs.hpp"
#include "solver/interior_point.cpp"  // the reference of the solver's own tests

namespace mercer {
namespace {

constexpr double lambda = 0.3;
constexpr double delta = 0.4;
constexpr double tau = 0.7;

struct BracketCase {
    Task task = Task::svc;
    std::string kernel{};
    bool bias = true;
    Dataset data{};
};

Matrix<double> matrix_of(const Kernel& kernel, const Rows& x) {
    Matrix<double> k(x.size(), x.size());
    std::vector<double> a(x.columns()), b(x.columns());
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.copy_row(i, a);
        for (std::size_t j = 0; j < x.size(); ++j) {
            x.copy_row(j, b);
            k(i, j) = kernel(a, b);
        }
    }
    return k;
}

Model train(const BracketCase& c) {
    const Kernel kernel = Kernel::parse(c.kernel);
    const FitSettings common{.kernel = kernel, .double_precision = true};
    const auto risk = [&](Loss loss) {
        return risk_minimiser({.loss = loss,
                               .common = common,
                               .lambda = lambda,
                               .bias = c.bias,
                               .delta = delta,
                               .quantile = tau,
                               .tolerance = 1e-8})
            .fit(c.data);
    };
    switch (c.task) {
        case Task::adatron:
            return Adatron({.common = common, .C = 2, .bias = c.bias, .passes = 20000}).fit(c.data);
        case Task::ridge:
            return Ridge({.common = common, .lambda = lambda, .bias = c.bias}).fit(c.data);
        case Task::logistic: return risk(Loss::logistic);
        case Task::squared_hinge: return risk(Loss::squared_hinge);
        case Task::huber: return risk(Loss::huber);
        case Task::quantile: return risk(Loss::quantile);
        default:
            return Svm(testing::closely({.task = c.task,
                                         .common = {.kernel = kernel},
                                         .C = c.task == Task::svdd ? 0 : 2.0,
                                         .nu = 0.4,
                                         .epsilon = 0.1,
                                         .bias = c.bias}))
                .fit(c.data);
    }
}

/// minimise ½α'Qα + p'α: the optimum of the task is minus that.
struct Program {
    Matrix<double> q{};
    DualProblem problem{};

    double value(std::span<const double> alpha) const {
        double sum = 0;
        for (std::size_t i = 0; i < alpha.size(); ++i) {
            sum += problem.p[i] * alpha[i];
            for (std::size_t j = 0; j < alpha.size(); ++j)
                sum += 0.5 * alpha[i] * q(i, j) * alpha[j];
        }
        return sum;
    }
};

/// One variable a row: Q = factor (s_i s_j K_ij + ridge δ_ij).
Program simple(const Matrix<double>& k, std::span<const double> sign, double factor, double ridge) {
    const std::size_t n = k.rows();
    Program program{.q = Matrix<double>(n, n)};
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const double s = sign.empty() ? 1 : sign[i] * sign[j];
            program.q(i, j) = factor * (s * k(i, j) + (i == j ? ridge : 0));
        }
    }
    program.problem.p.assign(n, 0.0);
    program.problem.lower.assign(n, 0.0);
    program.problem.upper.assign(n, 0.0);
    return program;
}

void set_box(Program& program, double low, double high) {
    std::ranges::fill(program.problem.lower, low);
    std::ranges::fill(program.problem.upper, high);
}

Program regression_program(const Matrix<double>& k, std::span<const double> y, bool automatic) {
    const std::size_t n = k.rows();
    Program program{.q = Matrix<double>(2 * n, 2 * n)};
    Equality balance, width;
    for (std::size_t i = 0; i < 2 * n; ++i) {
        const double s = i < n ? 1 : -1;
        for (std::size_t j = 0; j < 2 * n; ++j) {
            program.q(i, j) = s * (j < n ? 1 : -1) * k(i % n, j % n);
        }
        program.problem.p.push_back((automatic ? 0 : 0.1) - s * y[i % n]);
        balance.coefficients.push_back(s);
        width.coefficients.push_back(1);
    }
    program.problem.lower.assign(2 * n, 0.0);
    program.problem.upper.assign(2 * n, 2.0);
    width.value = 0.4 * 2 * static_cast<double>(n);
    program.problem.equalities.push_back(balance);
    if (automatic) program.problem.equalities.push_back(width);
    return program;
}

/// The task's dual problem, written anew from its definition. `far` stands for no bound.
Program program_of(const BracketCase& c, const Matrix<double>& k, const Report& r, double far) {
    const std::size_t n = k.rows();
    const std::vector<double>& values = c.data.y.values;
    std::vector<double> sign;
    for (const double y : values) sign.push_back(y == 1 ? 1 : -1);  // the first class
    const std::vector<double> ones(n, 1.0);
    Program program;
    const auto add_equality = [&](const std::vector<double>& coefficients, double value) {
        program.problem.equalities.push_back({.coefficients = coefficients, .value = value});
    };
    switch (c.task) {
        case Task::svc:
        case Task::hard_margin:
        case Task::nu_svc:
        case Task::adatron:
            program = simple(k, sign, 1, 0);
            program.problem.p.assign(n, -1.0);
            set_box(program, 0,
                    c.task == Task::nu_svc        ? 1 / r.rho
                    : c.task == Task::hard_margin ? far
                                                  : 2.0);
            if (c.bias && c.task != Task::adatron) add_equality(sign, 0);
            return program;
        case Task::svr:
        case Task::nu_svr: return regression_program(k, values, c.task == Task::nu_svr);
        case Task::one_class:
            program = simple(k, {}, 1, 0);
            set_box(program, 0, 1);
            add_equality(ones, 0.4 * static_cast<double>(n));
            return program;
        case Task::svdd:
            program = simple(k, {}, 2, 0);
            set_box(program, 0, 1 / (0.4 * static_cast<double>(n)));
            for (std::size_t i = 0; i < n; ++i) program.problem.p[i] = -k(i, i);
            add_equality(ones, 1);
            return program;
        case Task::squared_hinge:  // Σ q − q²/4 − λα'Kα, q = 2λα
            program = simple(k, sign, 2 * lambda, lambda);
            program.problem.p.assign(n, -2 * lambda);
            set_box(program, 0, far);
            if (c.bias) add_equality(sign, 0);
            return program;
        default: break;
    }
    // Regressions of one variable a row: 2λ α'y − λ α'(K + ridge) α.
    program = simple(k, {}, 2 * lambda,
                     c.task == Task::huber   ? 2 * lambda
                     : c.task == Task::ridge ? lambda
                                             : 0);
    for (std::size_t i = 0; i < n; ++i) program.problem.p[i] = -2 * lambda * values[i];
    if (c.task == Task::huber) set_box(program, -delta / (2 * lambda), delta / (2 * lambda));
    if (c.task == Task::ridge) set_box(program, -far, far);
    if (c.task == Task::quantile) set_box(program, (tau - 1) / (2 * lambda), tau / (2 * lambda));
    if (c.bias || c.task == Task::quantile) add_equality(ones, 0);
    return program;
}

/// The optimum of the logistic machine by descent on its own definition.
double logistic_optimum(const BracketCase& c, const Matrix<double>& k) {
    const std::size_t n = k.rows();
    const LossFunction loss{.loss = Loss::logistic};
    // With a bias coefficients have the sum 0, or a conditionally definite kernel has no minimum.
    const auto centre = [&](std::span<double> a) {
        const double mean = std::accumulate(a.begin(), a.end(), 0.0) / static_cast<double>(n);
        for (double& value : a) value -= c.bias ? mean : 0;
    };
    const auto f = [&](std::span<const double> given, std::span<double> gradient) {
        std::vector<double> image(n, 0.0), slope(n), at(given.begin(), given.end());
        centre(std::span(at).first(n));
        double sum = 0;
        double by_bias = 0;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) image[i] += k(i, j) * at[j];
            const double y = c.data.y.values[i] == 1 ? 1 : -1;
            const double z = image[i] + (c.bias ? at[n] : 0);
            sum += loss.value(y, z) + lambda * at[i] * image[i];
            slope[i] = loss.slope(y, z) + 2 * lambda * at[i];
            by_bias += loss.slope(y, z);
        }
        for (std::size_t j = 0; j < n; ++j) {
            gradient[j] = 0;
            for (std::size_t i = 0; i < n; ++i) gradient[j] += k(i, j) * slope[i];
        }
        centre(gradient.first(n));
        gradient[n] = c.bias ? by_bias : 0;
        return sum;
    };
    LbfgsSettings settings{.iteration_limit = 5000, .gradient_tolerance = 1e-12};
    settings.value_tolerance = 1e-16;
    return minimise(std::vector<double>(n + 1, 0.0), f, settings).value;
}

Dataset draw(Task task, Random& random) {
    const std::size_t n = 9 + random.below(4);
    Dataset data;
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        const bool first = i % 2 == 0;
        const double shift = task == Task::hard_margin ? (first ? 1.5 : -1.5) : 0;
        const double a = task == Task::hard_margin ? random.uniform() : random.normal();
        values.insert(values.end(), {a + shift, random.normal()});
        data.y.values.push_back(is_regressor(task) ? std::sin(3 * a) + 0.3 * random.normal()
                                : first            ? 1
                                                   : 2);
    }
    data.x = Rows::dense(std::move(values), 2);
    return data;
}

struct Count {
    std::size_t trained = 0;
    std::size_t bracketed = 0;
    std::size_t stationary = 0;
    std::size_t wrong = 0;   ///< brackets that do not hold the optimum
    std::size_t caught = 0;  ///< stationary points a bracket would have been wrong about
};

void judge(const BracketCase& c, Count& count) {
    SCOPED_TRACE(task_name(c.task) + " " + c.kernel + (c.bias ? "" : " without bias"));
    std::optional<Model> model;
    try {
        model = train(c);
    } catch (const InvalidInput&) {
        return;  // no machine, no bracket
    }
    const Report r = model->report();
    // Without a margin the reference has no bounds C = 1/ρ to work with.
    if (has_no_machine(r.status) || (c.task == Task::nu_svc && r.rho < 1e-6)) return;
    ++count.trained;
    Matrix<double> k = matrix_of(model->expansion().kernel, c.data.x);
    if (c.task == Task::adatron && c.bias) {
        for (double& value : k.values()) value += 1;
    }
    double largest = 0;
    for (const double b : model->expansion().coefficients.values()) {
        largest = std::max(largest, std::abs(b));
    }
    const bool smooth = c.task == Task::logistic;
    const Program program = smooth ? Program{} : program_of(c, k, r, 20 * (largest + 1));
    const auto tolerance = [](double optimum) { return 1e-6 * (1 + std::abs(optimum)); };
    if (r.is_bracketed()) {
        ++count.bracketed;
        const double optimum =
            smooth ? logistic_optimum(c, k)
                   : -program.value(testing::interior_point_minimum(program.q, program.problem));
        EXPECT_GE(r.gap, 0);
        EXPECT_LE(r.dual, optimum + tolerance(optimum)) << describe(r.convexity);
        EXPECT_GE(r.primal, optimum - tolerance(optimum)) << describe(r.convexity);
        if (r.dual > optimum + tolerance(optimum) || r.primal < optimum - tolerance(optimum)) {
            ++count.wrong;
        }
        return;
    }
    ++count.stationary;
    EXPECT_TRUE(std::isnan(r.primal) && std::isnan(r.gap) && std::isnan(r.relative_gap));
    if (smooth) return;
    // From other starts the same conditions lead to better machines.
    Random random(7);
    for (int start = 0; start < 20; ++start) {
        std::vector<double> alpha;
        for (std::size_t i = 0; i < program.problem.size(); ++i) {
            const double low = program.problem.lower[i];
            const double share =
                random.below(2) == 0 ? random.uniform() : std::round(random.uniform());
            alpha.push_back(low + (program.problem.upper[i] - low) * share);
        }
        const testing::StoredMatrix<double> op(program.q);
        const DualSolution found = solve_dual(op, program.problem, {.tolerance = 1e-6}, alpha);
        if (found.status == DualStatus::unbounded ||
            -program.value(found.alpha) > r.dual + 1e-3 * (1 + std::abs(r.dual))) {
            ++count.caught;
            return;
        }
    }
}

TEST(Bracket, HoldsTheOptimumOfTwoHundredProblems) {
    const std::array tasks{Task::svc,     Task::nu_svc,    Task::hard_margin,   Task::svr,
                           Task::nu_svr,  Task::one_class, Task::svdd,          Task::adatron,
                           Task::ridge,   Task::logistic,  Task::squared_hinge, Task::huber,
                           Task::quantile};
    const std::array<std::vector<std::string>, 3> kernels{
        {{"linear", "rbf(gamma=0.7)", "polynomial(degree=2)", "laplacian(gamma=0.5)"},
         {"negative_distance", "negative_distance(beta=1.5)", "negative_distance(beta=2)",
          "rbf(gamma=1) + negative_distance"},
         {"sigmoid(gamma=1, coef0=-1)", "rbf(gamma=1) - 0.9*rbf(gamma=0.5)",
          "polynomial(degree=2) - 2*linear", "sigmoid(gamma=0.3, coef0=0.2)"}}};
    Random random(14);
    std::array<Count, 3> counts;
    for (std::size_t kind = 0; kind < kernels.size(); ++kind) {
        for (const Task task : tasks) {
            for (std::size_t round = 0; round < 11; ++round) {
                judge({.task = task,
                       .kernel = kernels[kind][round % 4],
                       .bias = round % 3 != 2,
                       .data = draw(task, random)},
                      counts[kind]);
            }
        }
    }
    std::size_t bracketed = 0;
    for (const Count& count : counts) {
        EXPECT_GE(count.trained, 50U);
        EXPECT_EQ(count.wrong, 0U);
        bracketed += count.bracketed;
    }
    EXPECT_GE(bracketed, 200U);
    EXPECT_EQ(counts[0].stationary, 0U) << "positive definite kernels have brackets";
    EXPECT_GE(counts[1].bracketed, 40U);
    EXPECT_GE(counts[1].stationary, 1U) << "no bias, no bracket";
    EXPECT_GE(counts[2].stationary, 40U);
    EXPECT_GE(counts[1].caught + counts[2].caught, 5U) << "the test would find false brackets";
}

/// Two Gaussians about the same point, N(0, 1) and N(0, 3²), 40 rows each.
Dataset two_gaussians() {
    Random random(3);
    Dataset data;
    std::vector<double> values;
    for (std::size_t i = 0; i < 80; ++i) {
        const double deviation = i < 40 ? 1 : 3;
        values.insert(values.end(), {deviation * random.normal(), deviation * random.normal()});
        data.y.values.push_back(i < 40 ? 1 : 2);
    }
    data.x = Rows::dense(std::move(values), 2);
    return data;
}

TEST(Bracket, IsNotClaimedForDistancesWithoutABias) {
    const Dataset data = two_gaussians();
    const Kernel kernel = Kernel::parse("negative_distance");
    const Report r = Svm(testing::closely({.common = {.kernel = kernel}, .C = 10, .bias = false}))
                         .fit(data)
                         .report();
    EXPECT_EQ(r.convexity, Convexity::refuted);
    EXPECT_FALSE(r.is_bracketed());
    EXPECT_LT(r.least_curvature, -1);
    EXPECT_TRUE(std::isnan(r.gap) && std::isnan(r.relative_gap) && std::isnan(r.primal));
    // A feasible point that is far better: the "gap 0" would have excluded it.
    const BracketCase c{.task = Task::svc, .kernel = kernel.text(), .bias = false, .data = data};
    Program program = program_of(c, matrix_of(kernel, data.x), r, 0);
    program.problem.upper.assign(data.size(), 10.0);
    std::vector<double> alpha(data.size());
    for (std::size_t i = 0; i < data.size(); ++i) alpha[i] = i < 40 ? 10.0 : 0.0;
    const double other = -program.value(alpha);
    std::ranges::reverse(alpha);
    EXPECT_GT(std::max(other, -program.value(alpha)), 1.5 * r.dual);

    const Report with_bias =
        Svm(testing::closely({.common = {.kernel = kernel}, .C = 10})).fit(data).report();
    EXPECT_EQ(with_bias.convexity, Convexity::by_rule);
    EXPECT_LE(with_bias.relative_gap, 1e-6);
}

TEST(Bracket, OfASigmoidIsNotToldWithAMarginOfNothing) {
    const Dataset data = two_gaussians();
    const Report r =
        Svm({.common = {.kernel = Kernel::parse("sigmoid(gamma=1, coef0=-1)")}}).fit(data).report();
    EXPECT_EQ(r.convexity, Convexity::refuted);
    EXPECT_EQ(r.margin, 0);
    EXPECT_TRUE(std::isnan(r.relative_gap));
}

TEST(Bracket, OfAMatrixThatWasReadIsKnownFromItsEigenvalues) {
    Dataset data = two_gaussians();
    const Matrix<double> k = matrix_of(rbf({.gamma = 0.5}), data.x);
    for (const bool twice : {false, true}) {
        std::vector<double> entries = k.values();
        data.x = twice ? Rows::dense(std::move(entries), k.rows())
                       : Rows::dense(std::vector<float>(entries.begin(), entries.end()), k.rows());
        const Report r =
            Svm({.common = {.kernel = Kernel::parse("precomputed")}}).fit(data).report();
        EXPECT_EQ(r.convexity, Convexity::on_sample);
        EXPECT_GT(r.curvature_error, 0);
        EXPECT_LE(r.relative_gap, 1e-2);
        EXPECT_GE(r.least_curvature, -1e-5);
    }
}

TEST(Bracket, OfTooManyRowsOrAStoppedTrainingIsNotKnown) {
    const Dataset data = make("moons", {.n = most_rows_for_curvature + 1, .noise = 0.2});
    const Kernel kernel = Kernel::parse("sigmoid(gamma=0.1)");
    EXPECT_EQ(Svm({.common = {.kernel = kernel}}).fit(data).report().convexity, Convexity::unknown);
    SvmSettings stopped{.common = {.kernel = kernel}};
    stopped.common.progress = [](const Moment&) { return false; };
    EXPECT_EQ(Svm(stopped).fit(two_gaussians()).report().convexity, Convexity::unknown);
    stopped.common.kernel = rbf();
    EXPECT_EQ(Svm(stopped).fit(two_gaussians()).report().convexity, Convexity::by_rule);
}

TEST(Bracket, OfSeveralProblemsIsThatOfTheWorst) {
    Dataset data = two_gaussians();
    for (std::size_t i = 0; i < data.size(); i += 3) data.y.values[i] = 3;
    const Model model =
        Svm({.common = {.kernel = Kernel::parse("sigmoid(gamma=1, coef0=-1)")}}).fit(data);
    EXPECT_EQ(model.reports().size(), 3U);
    EXPECT_FALSE(model.report().is_bracketed());
    EXPECT_TRUE(std::isnan(model.report().relative_gap));
}

TEST(Bracket, OfLabelsThatAreRankedIsKnownOrLeftOut) {
    const Dataset data = two_gaussians();
    Matrix<double> labels(data.size(), 2);
    for (std::size_t i = 0; i < data.size(); ++i) {
        labels(i, 0) = data.y.values[i] == 1 ? 1 : 0;
        labels(i, 1) = 1 - labels(i, 0);
    }
    const auto gap = [&](const char* kernel) {
        return multi_label({.common = {.kernel = Kernel::parse(kernel)}})
            .fit(data, labels.view())
            .report()
            .relative_gap;
    };
    EXPECT_LE(gap("rbf(gamma=1)"), 1e-3);
    EXPECT_TRUE(std::isnan(gap("sigmoid(gamma=1, coef0=-1)")));
}

TEST(Gap, IsNeverBelowZeroByRounding) {
    Random random(5);
    for (std::size_t round = 0; round < 60; ++round) {
        const Task task = round % 2 == 0 ? Task::svc : Task::svr;
        const Dataset data = draw(task, random);
        const Report r =
            Svm(testing::closely({.task = task, .common = {.kernel = linear()}, .C = 1e-3}, 1e-12))
                .fit(data)
                .report();
        EXPECT_GE(r.gap, 0);
        EXPECT_GE(r.relative_gap, 0);
        EXPECT_EQ(r.gap, r.primal - r.dual);
    }
}

TEST(NuProperty, OfATubeOfVaryingWidthCountsRowsByTheirWidth) {
    Dataset data = make("sinc", {.n = 200, .noise = 0.2, .seed = 4});
    SvmSettings settings = testing::closely({.task = Task::nu_svr, .C = 5, .nu = 0.3});
    settings.tube = Formula::parse("0.2 + abs(x0)/5");
    const Report r = Svm(settings).fit(data).report();
    ASSERT_GT(r.epsilon, 0);
    EXPECT_LE(r.fraction_errors, 0.3 + 1e-9);
    EXPECT_GE(r.fraction_support, 0.3 - 1e-9);
    // Counted as rows they are not around ν at all.
    const auto rows = static_cast<double>(r.rows);
    EXPECT_NE(r.fraction_support, static_cast<double>(r.support_vectors()) / rows);
}

TEST(NuProperty, OfWeightedRowsCountsTheirWeight) {
    Dataset data = make("moons", {.n = 150, .noise = 0.2, .seed = 6});
    for (std::size_t i = 0; i < data.size(); ++i) data.weights.push_back(i % 5 == 0 ? 3 : 0.5);
    for (const Task task : {Task::one_class, Task::nu_svc}) {
        const Report r = Svm(testing::closely({.task = task, .nu = 0.3})).fit(data).report();
        EXPECT_LE(r.fraction_errors, 0.3 + 1e-9);
        EXPECT_GE(r.fraction_support, 0.3 - 1e-9);
    }
}

}  // namespace
}  // namespace mercer
