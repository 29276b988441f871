// Pairs of many classes with few rows each, which share the matrix of all rows.
#include <gtest/gtest.h>

#include <cmath>

#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

constexpr std::size_t rows_a_class = 9;

/// Classes around points of their own, which overlap; their rows come in turns.
Dataset clouds(std::size_t classes) {
    constexpr std::size_t width = 5;
    Random random(7);
    std::vector<float> centres(classes * width);
    for (float& value : centres) value = static_cast<float>(random.uniform());
    std::vector<float> values;
    Dataset data;
    for (std::size_t i = 0; i < classes * rows_a_class; ++i) {
        for (std::size_t c = 0; c < width; ++c) {
            values.push_back(centres[i % classes * width + c] +
                             static_cast<float>(0.3 * random.normal()));
        }
        data.y.values.push_back(static_cast<double>(i % classes));
    }
    data.x = Rows::dense(std::move(values), width);
    return data;
}

SvmSettings settings() {
    SvmSettings result{.task = Task::svc, .C = 4, .tolerance = 1e-5};
    result.common.kernel = rbf({.gamma = 1.5});
    return result;
}

/// Two classes alone have nothing to share.
TEST(PairsOfSmallClasses, HaveTheOptimumOfEachPairAlone) {
    constexpr std::size_t classes = 7;
    const Dataset data = clouds(classes);
    const Model model = Svm(settings()).fit(data);
    std::size_t part = 0;
    for (std::size_t a = 0; a < classes; ++a) {
        for (std::size_t b = a + 1; b < classes; ++b, ++part) {
            std::vector<std::size_t> rows;
            for (std::size_t i = 0; i < data.size(); ++i) {
                if (i % classes == a || i % classes == b) rows.push_back(i);
            }
            const Model alone = Svm(settings()).fit(data.select(rows));
            EXPECT_NEAR(model.reports()[part].dual, alone.report().dual,
                        1e-4 * std::abs(alone.report().dual));
            EXPECT_EQ(model.reports()[part].status, FitStatus::converged);
            const Matrix<double> ours = model.decision(data.x), theirs = alone.decision(data.x);
            for (std::size_t i = 0; i < data.size(); ++i) {
                EXPECT_NEAR(ours(i, part), theirs(i, 0), 1e-3) << part << ' ' << i;
            }
        }
    }
    EXPECT_EQ(part, model.reports().size());
}

TEST(PairsOfSmallClasses, ComputeEachKernelValueOnce) {
    const Dataset data = clouds(7);
    const Model model = Svm(settings()).fit(data);
    std::uint64_t computed = 0;
    for (const Report& report : model.reports()) computed += report.kernel_evaluations;
    EXPECT_EQ(computed, data.size() * (data.size() + 1) / 2);
}

TEST(PairsOfSmallClasses, AreTheSameWhateverTheThreads) {
    const Dataset data = clouds(20);
    const auto fit = [&](std::size_t threads) {
        const ThreadLimit limit(threads);
        return Svm(settings()).fit(data);
    };
    const Model one = fit(1), two = fit(2);
    EXPECT_EQ(one.expansion().coefficients.values(), two.expansion().coefficients.values());
    EXPECT_EQ(one.expansion().bias, two.expansion().bias);
}

/// Asked while the matrix is computed, before the first pair is begun.
TEST(PairsOfSmallClasses, StopBeforeTheFirstPairWhenTold) {
    SvmSettings stopped = settings();
    std::size_t asked = 0, of_pairs = 0;
    stopped.common.progress = [&](const Moment& moment) {
        ++asked;
        if (!moment.figures.empty()) ++of_pairs;
        return false;
    };
    const Model model = Svm(stopped).fit(clouds(7));
    EXPECT_GT(asked, 0U);
    EXPECT_EQ(of_pairs, 0U);
    for (const Report& report : model.reports()) {
        EXPECT_EQ(report.status, FitStatus::cancelled);
        EXPECT_GE(report.gap, 0);
    }
}

}  // namespace
}  // namespace mercer
