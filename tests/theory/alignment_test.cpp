// Alignment of kernels with labels, its slope, and kernels combined by it and by the margin.
#include "mercer/theory/alignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/support.hpp"
#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::message_of;

/// A(K, T) by its definition, in plain loops over values of the formula.
double by_definition(const Kernel& kernel, const Dataset& data, bool centred) {
    const std::size_t n = data.size();
    const auto rows = testing::full(data.x);
    const Classes classes = classes_of(data.y);
    std::vector<std::vector<double>> k(n, std::vector<double>(n)), t = k;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            k[i][j] = kernel(rows[i], rows[j]);
            t[i][j] = classes.index[i] == classes.index[j]
                          ? 1
                          : -1 / static_cast<double>(classes.count() - 1);
        }
    }
    const auto centre = [&](std::vector<std::vector<double>>& m) {
        std::vector<double> mean(n, 0.0);
        double all = 0;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) mean[i] += m[i][j] / static_cast<double>(n);
            all += mean[i] / static_cast<double>(n);
        }
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) m[i][j] += all - mean[i] - mean[j];
        }
    };
    if (centred) {
        centre(k);
        centre(t);
    }
    double kt = 0, kk = 0, tt = 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            kt += k[i][j] * t[i][j];
            kk += k[i][j] * k[i][j];
            tt += t[i][j] * t[i][j];
        }
    }
    return kt / std::sqrt(kk * tt);
}

TEST(Alignment, IsItsDefinition) {
    for (const char* text :
         {"rbf(gamma=0.7)", "linear", "polynomial(degree=2) + 0.3*rbf(gamma=2)"}) {
        const Kernel kernel = Kernel::parse(text);
        for (const Dataset& data :
             {testing::with_double_rows(make("moons", {.n = 30})),
              testing::with_double_rows(make("blobs", {.n = 30, .classes = 4}))}) {
            const Alignment a = kernel_alignment(kernel, data);
            EXPECT_NEAR(a.plain, by_definition(kernel, data, false), 1e-10);
            EXPECT_NEAR(a.centred, by_definition(kernel, data, true), 1e-10);
        }
    }
}

TEST(Alignment, IsOneForTheTargetItselfAndSeesThroughAConstant) {
    const Dataset data = make("moons", {.n = 20});
    const Matrix<double> t = target_matrix(data.y);
    EXPECT_NEAR(alignment(t.view(), t.view()), 1, 1e-12);
    Matrix<double> shifted = t;
    for (double& value : shifted.values()) value = 3 * value + 5;
    EXPECT_LT(alignment(shifted.view(), t.view()), 0.6);
    EXPECT_NEAR(alignment(shifted.view(), t.view(), true), 1, 1e-12);
    // Numbers as targets: y y' of the centred y.
    const Dataset sinc = make("sinc", {.n = 15});
    const Matrix<double> numbers = target_matrix(sinc.y, true);
    double sum = 0;
    for (const double value : numbers.values()) sum += value;
    EXPECT_NEAR(sum, 0, 1e-10);
}

TEST(Alignment, SlopeIsTheLimitOfDifferences) {
    const Dataset data = testing::with_double_rows(make("moons", {.n = 40, .noise = 0.2}));
    const Kernel kernel =
        Kernel::parse("0.5*rbf(gamma=0.8) + polynomial(degree=2, gamma=0.3, coef0=1)");
    for (const bool centred : {false, true}) {
        const AlignmentGradient g = alignment_gradient(kernel, data, centred);
        ASSERT_EQ(g.gradient.size(), 4U);
        std::vector<double> values;
        for (const KernelParameter& p : g.parameters) values.push_back(p.value);
        for (std::size_t p = 0; p < values.size(); ++p) {
            const double step = 1e-5;
            const auto at = [&](double shift) {
                std::vector<double> moved = values;
                moved[p] += shift;
                const Alignment a = kernel_alignment(with_parameters(kernel, moved), data);
                return centred ? a.centred : a.plain;
            };
            EXPECT_NEAR(g.gradient[p], (at(step) - at(-step)) / (2 * step), 1e-7)
                << g.parameters[p].name;
        }
    }
}

TEST(Alignment, ParametersFoundAreNoWorseThanAnyOnAGrid) {
    const Dataset data = make("moons", {.n = 80, .noise = 0.15});
    const AlignedKernel found = align_parameters(rbf({.gamma = 1.0}), data);
    EXPECT_GT(found.after, found.before);
    for (double gamma = 0.01; gamma < 100; gamma *= 1.5) {
        EXPECT_GE(found.after, kernel_alignment(rbf({.gamma = gamma}), data).centred - 1e-6)
            << gamma;
    }
    EXPECT_NEAR(kernel_alignment(found.kernel, data).centred, found.after, 1e-9);
    EXPECT_NE(message_of([&] { align_parameters(linear(), data); }).find("no positive parameter"),
              std::string::npos);
}

/// Two informative columns and four of noise: kernels of one column each.
Dataset noisy_columns() {
    Random random(5);
    std::vector<std::vector<double>> rows;
    std::vector<double> signs;
    for (int i = 0; i < 120; ++i) {
        const double y = i % 2 == 0 ? 1 : -1;
        std::vector<double> row{y + 0.8 * random.normal(), 0.7 * y + random.normal()};
        for (int j = 0; j < 4; ++j) row.push_back(random.normal());
        rows.push_back(row);
        signs.push_back(y);
    }
    return testing::labelled(rows, signs);
}

std::vector<Kernel> one_a_column() {
    std::vector<Kernel> kernels;
    for (std::size_t j = 0; j < 6; ++j) kernels.push_back(linear()[columns(j, j + 1)]);
    return kernels;
}

TEST(KernelCombination, AlignmentFindsTheColumnsThatTell) {
    const Dataset data = noisy_columns();
    const std::vector<Kernel> kernels = one_a_column();
    const KernelCombination c = combine_by_alignment(kernels, data);
    EXPECT_TRUE(c.converged);
    EXPECT_LE(c.relative_gap, 1e-6);
    EXPECT_GT(c.shares[0] + c.shares[1], 0.8);
    EXPECT_NEAR(kernel_alignment(c.kernel, data).centred, c.objective, 1e-4);
    // No other weights do better: single kernels, equal weights, and small steps away.
    const auto aligned = [&](const std::vector<double>& weights) {
        Kernel sum = weights[0] * kernels[0];
        for (std::size_t k = 1; k < 6; ++k) sum = sum + weights[k] * kernels[k];
        return kernel_alignment(sum, data).centred;
    };
    const std::vector<double> best = c.weights;
    for (std::size_t k = 0; k < 6; ++k) {
        std::vector<double> single(6, 1e-9);
        single[k] = 1;
        EXPECT_LE(aligned(single), c.objective + 1e-6);
        std::vector<double> moved = best;
        moved[k] += 0.05 * best[0];
        EXPECT_LE(aligned(moved), c.objective + 1e-6);
    }
    EXPECT_LE(aligned(std::vector<double>(6, 1.0)), c.objective + 1e-6);
}

TEST(KernelCombination, MarginComesWithAGapThatHolds) {
    const Dataset data = noisy_columns();
    const std::vector<Kernel> kernels = one_a_column();
    const CombinationSettings settings{.C = 1, .normalise = false, .tolerance = 1e-3};
    const KernelCombination c = combine_by_margin(kernels, data, settings);
    EXPECT_TRUE(c.converged);
    EXPECT_LE(c.relative_gap, 1e-3);
    double sum = 0;
    for (const double weight : c.weights) {
        EXPECT_GE(weight, 0);
        sum += weight;
    }
    EXPECT_NEAR(sum, 1, 1e-6);
    EXPECT_GT(c.weights[0], 0.3);
    // The objective is that of the machine with this kernel; others of sum 1 are no lower than the
    // gap allows.
    const auto primal = [&](const Kernel& kernel) {
        return Svm(testing::closely({.task = Task::svc, .common = {.kernel = kernel}, .C = 1},
                                    1e-6))
            .fit(data)
            .report()
            .primal;
    };
    EXPECT_NEAR(primal(c.kernel), c.objective, 2e-3 * c.objective);
    Random random(3);
    for (int trial = 0; trial < 12; ++trial) {
        std::vector<double> mu(6);
        double total = 0;
        for (double& weight : mu) total += weight = -std::log(1 - random.uniform());
        Kernel other = mu[0] / total * kernels[0];
        for (std::size_t k = 1; k < 6; ++k) other = other + mu[k] / total * kernels[k];
        EXPECT_GE(primal(other), c.objective - c.gap - 1e-6 * c.objective);
    }
}

TEST(KernelCombination, DoesNotDependOnUnitsOfMeasureWhenNormalised) {
    const Dataset data = noisy_columns();
    std::vector<Kernel> kernels = one_a_column();
    const KernelCombination a = combine_by_margin(kernels, data);
    kernels[0] = 1000.0 * kernels[0];
    const KernelCombination b = combine_by_margin(kernels, data);
    for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(a.shares[k], b.shares[k], 1e-3);
    EXPECT_NEAR(a.weights[0], 1000 * b.weights[0], 1e-3 * a.weights[0]);
}

TEST(KernelCombination, NonsenseIsRefused) {
    const Dataset data = noisy_columns();
    EXPECT_NE(message_of([&] { combine_by_margin({}, data); }).find("no kernel"),
              std::string::npos);
    EXPECT_NE(message_of([&] { combine_by_margin({linear()}, data, {.C = 0}); }).find("C = 0"),
              std::string::npos);
    EXPECT_NE(
        message_of([&] { combine_by_margin({linear()}, embedded("iris")); }).find("two classes"),
        std::string::npos);
    EXPECT_NE(message_of([&] {
                  kernel_alignment(linear(), testing::points({{1}, {2}}));
              }).find("labels"),
              std::string::npos);
    EXPECT_NE(message_of([&] { kernel_alignment(linear(), data, false, 100); }).find("memory"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
