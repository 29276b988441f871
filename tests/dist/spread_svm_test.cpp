// Support vector machines of all rows, learnt by several ranks together, are those of one alone, to
// the last bit.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/dist/detail/thread_ranks.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

/// Noisy rings of the plane, or with one class a curve; every fifth row weighs more.
Dataset svm_rings(std::size_t rows, std::size_t classes, bool sparse = false) {
    Random random(5);
    Dataset data;
    std::vector<float> x;
    for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t c = random.below(classes);
        const double angle = random.uniform(0, 6.3);
        const double radius = static_cast<double>(c) + 0.35 * random.normal();
        x.push_back(static_cast<float>(radius * std::cos(angle)));
        x.push_back(static_cast<float>(radius * std::sin(angle)));
        x.push_back(random.below(3) == 0 ? static_cast<float>(random.normal()) : 0.0F);
        data.y.values.push_back(classes == 1 ? std::sin(radius) + 0.1 * random.normal()
                                             : static_cast<double>(c));
        data.weights.push_back(i % 5 == 0 ? 1.5 : 1);
    }
    data.x = Rows::dense(std::move(x), 3);
    if (sparse) data.x = data.x.to_sparse();
    return data;
}

void expect_same_svm(const Model& found, const Model& alone) {
    EXPECT_EQ(found.expansion().coefficients.values(), alone.expansion().coefficients.values());
    EXPECT_EQ(found.expansion().bias, alone.expansion().bias);
    EXPECT_EQ(found.expansion().kernel.text(), alone.expansion().kernel.text());
    EXPECT_EQ(found.origins(), alone.origins());
    EXPECT_EQ(found.class_names(), alone.class_names());
    EXPECT_EQ(found.double_precision(), alone.double_precision());
    ASSERT_EQ(found.reports().size(), alone.reports().size());
    for (std::size_t o = 0; o < alone.reports().size(); ++o) {
        const Report& a = found.reports()[o];
        const Report& b = alone.reports()[o];
        EXPECT_EQ(a.name, b.name);
        EXPECT_EQ(a.status, b.status);
        EXPECT_EQ(a.convexity, b.convexity);
        EXPECT_TRUE(a.primal == b.primal || (std::isnan(a.primal) && std::isnan(b.primal)));
        EXPECT_EQ(a.dual, b.dual);
        EXPECT_EQ(a.kkt_violation, b.kkt_violation);
        EXPECT_EQ(a.radius, b.radius);
        EXPECT_EQ(a.rows, b.rows);
        EXPECT_EQ(a.free_support_vectors, b.free_support_vectors);
        EXPECT_EQ(a.bounded_support_vectors, b.bounded_support_vectors);
        EXPECT_EQ(a.fraction_support, b.fraction_support);
        EXPECT_EQ(a.iterations, b.iterations);
        EXPECT_EQ(a.kernel_evaluations, b.kernel_evaluations) << "what one alone would compute";
        EXPECT_EQ(a.hull_weights, b.hull_weights);
        EXPECT_EQ(a.figures, b.figures);
    }
    const auto* sigmoids = found.extras().find<Calibration>();
    const auto* wanted = alone.extras().find<Calibration>();
    ASSERT_EQ(sigmoids == nullptr, wanted == nullptr);
    for (std::size_t o = 0; wanted && o < wanted->sigmoids.size(); ++o) {
        EXPECT_EQ(sigmoids->sigmoids[o].a, wanted->sigmoids[o].a);
        EXPECT_EQ(sigmoids->sigmoids[o].b, wanted->sigmoids[o].b);
    }
}

/// The machine on every rank, each of which has all rows.
void compare_ranks(const SvmSettings& settings, const Dataset& data,
                   const std::vector<std::size_t>& counts, MatrixView<const double> targets = {}) {
    const Model alone = Svm(settings).fit(data, targets);
    for (const std::size_t count : counts) {
        SCOPED_TRACE(std::to_string(count) + " ranks");
        std::vector<std::unique_ptr<Model>> models(count);
        run_ranks(count, [&](Communicator& ranks) {
            const SpreadOver spread(ranks, HeldRows::all);
            models[ranks.rank()] = std::make_unique<Model>(Svm(settings).fit(data, targets));
        });
        for (const auto& model : models) expect_same_svm(*model, alone);
    }
}

SvmSettings svm_settings_for(Task task, const char* kernel = "rbf(gamma=0.7)") {
    SvmSettings settings{.task = task};
    settings.common.kernel = Kernel::parse(kernel);
    settings.C = 3;
    settings.nu = 0.3;
    settings.epsilon = 0.1;
    return settings;
}

TEST(SpreadSvm, TwoClassesAreTheMachineOfOneRank) {
    const Dataset data = svm_rings(1500, 2);
    compare_ranks(svm_settings_for(Task::svc), data, {2, 3, 5, 8});
    compare_ranks(svm_settings_for(Task::nu_svc), data, {3});
    SvmSettings settings = svm_settings_for(Task::svc, "laplacian(gamma=0.5)");
    settings.common.memory_bytes = 100 * 1500 * sizeof(float);  // rows push one another out
    compare_ranks(settings, svm_rings(1500, 2, true), {3});
    settings.common.double_precision = true;
    settings.relative_gap = 1e-4;
    compare_ranks(settings, data, {2});
}

TEST(SpreadSvm, PairsOfClassesAreSharedOutOrSolvedTogether) {
    const Dataset data = svm_rings(900, 4);  // six pairs: two or three ranks have some each
    compare_ranks(svm_settings_for(Task::svc), data, {2, 3, 5});
    SvmSettings settings = svm_settings_for(Task::svc);
    settings.probability = true;
    compare_ranks(settings, data, {2, 4});
    settings.probability = false;
    settings.multi_class = MultiClass::one_vs_rest;
    compare_ranks(settings, data, {3});
}

TEST(SpreadSvm, RegressionsAndSingleClasses) {
    const Dataset data = svm_rings(1200, 1);
    compare_ranks(svm_settings_for(Task::svr), data, {2, 5});
    SvmSettings scaled = svm_settings_for(Task::svr);
    scaled.common.target_scale = TargetScale::standard;
    compare_ranks(scaled, data, {2});
    compare_ranks(svm_settings_for(Task::nu_svr), data, {3});
    SvmSettings marked = svm_settings_for(Task::one_class);
    marked.probability = true;
    compare_ranks(marked, data, {3});
    compare_ranks(svm_settings_for(Task::svdd), data, {2});
    Matrix<double> targets(data.size(), 2);
    for (std::size_t i = 0; i < data.size(); ++i) {
        targets(i, 0) = data.y.values[i];
        targets(i, 1) = -data.y.values[i] * data.y.values[i];
    }
    compare_ranks(svm_settings_for(Task::svr), data, {3}, std::as_const(targets).view());
}

/// Single precision is not enough where the margin is tiny, and there may be none at all.
TEST(SpreadSvm, HardMargins) {
    Dataset data;
    std::vector<double> x;
    for (std::size_t i = 0; i < 400; ++i) {
        x.push_back(static_cast<double>(i) + (i == 199 ? 0.9999 : 0));
        data.y.values.push_back(i < 200 ? 0 : 1);
    }
    data.x = Rows::dense(x, 1);
    compare_ranks(svm_settings_for(Task::hard_margin, "linear"), data, {3});
    data.y.values[17] = 1;
    compare_ranks(svm_settings_for(Task::hard_margin, "linear"), data, {2});
    compare_ranks(svm_settings_for(Task::svc, "sigmoid(gamma=0.3, coef0=1)"), svm_rings(300, 2),
                  {2});
    compare_ranks(svm_settings_for(Task::svc, "center(rbf(gamma=0.7))"), svm_rings(500, 2), {3});
}

/// Rows in some places far apart under a kernel that is nothing between them: put in order,
/// products of near ones alone are computed, by all ranks together.
TEST(SpreadSvm, NarrowKernels) {
    Random random(8);
    Dataset data;
    std::vector<float> x;
    for (std::size_t i = 0; i < 4300; ++i) {
        const std::size_t place = random.below(12);
        for (std::size_t k = 0; k < 4; ++k) {
            x.push_back(8 * static_cast<float>(place) + static_cast<float>(random.uniform()));
        }
        const bool high = x.back() > 8 * static_cast<float>(place) + 0.7F;
        data.y.values.push_back(high != (random.below(8) == 0) ? 1 : 0);
    }
    data.x = Rows::dense(std::move(x), 4);
    const SvmSettings settings = svm_settings_for(Task::svc, "rbf(gamma=2)");
    const Gram<float> gram(settings.common.kernel, data.x);
    ASSERT_FALSE(gram.near_order(gram.reference()).empty());
    compare_ranks(settings, data, {2, 3});
}

/// So many columns that products with rows that are written down are worth to be shared, by more
/// ranks than sums have parts too.
TEST(SpreadSvm, WideRowsUnderTheLinearKernel) {
    Random random(2);
    Dataset data;
    std::vector<float> x;
    constexpr std::size_t columns = 80;
    for (std::size_t i = 0; i < 15'000; ++i) {
        double f = random.normal();
        for (std::size_t k = 0; k < columns; ++k) {
            x.push_back(static_cast<float>(random.normal()));
            if (k < 5) f += x.back();
        }
        data.y.values.push_back(f > 0 ? 1 : 0);
    }
    data.x = Rows::dense(std::move(x), columns);
    SvmSettings settings = svm_settings_for(Task::svc, "linear");
    settings.C = 0.01;
    compare_ranks(settings, data, {2, 9});
    compare_ranks(svm_settings_for(Task::svr, "linear"), data, {3});
}

TEST(SpreadSvm, RowsOfAllRanksAreGathered) {
    Dataset data = svm_rings(9'000, 2);  // two leaves: of five ranks three have no rows
    data.y.names = {"inner", "outer"};
    SvmSettings settings = svm_settings_for(Task::svc);
    settings.C = 0.1;
    settings.tolerance = 0.5;
    settings.common.scaling = ScalingRule::parse("standard");
    const Model alone = Svm(settings).fit(data);
    for (const std::size_t count : {2UL, 5UL}) {
        std::vector<std::unique_ptr<Model>> models(count);
        run_ranks(count, [&](Communicator& ranks) {
            std::vector<std::size_t> rows;
            const RowRange own = own_rows(ranks, data.size());
            for (std::size_t i = own.first; i < own.last; ++i) rows.push_back(i);
            models[ranks.rank()] = std::make_unique<Model>(Svm(settings).fit(data.select(rows)));
        });
        for (const auto& model : models) expect_same_svm(*model, alone);
    }
}

TEST(SpreadSvm, OneRankThatStopsStopsAllWithTheSameCertifiedModel) {
    const Dataset data = svm_rings(1500, 2);
    std::vector<std::unique_ptr<Model>> models(3);
    run_ranks(3, [&](Communicator& ranks) {
        const SpreadOver spread(ranks, HeldRows::all);
        SvmSettings settings = svm_settings_for(Task::svc);
        settings.C = 1000;
        std::size_t asked = 0;
        if (ranks.rank() == 2) {
            settings.common.progress = [&](const Moment&) { return ++asked < 4; };
        }
        models[ranks.rank()] = std::make_unique<Model>(Svm(settings).fit(data));
    });
    for (const auto& model : models) {
        EXPECT_EQ(model->report().status, FitStatus::cancelled);
        EXPECT_GT(model->report().primal, model->report().dual);
        expect_same_svm(*model, *models[0]);
    }
}

TEST(SpreadSvm, TheTimeLimitIsThatOfAllRanks) {
    const Dataset data = svm_rings(3000, 2);
    std::vector<std::unique_ptr<Model>> models(2);
    run_ranks(2, [&](Communicator& ranks) {
        const SpreadOver spread(ranks, HeldRows::all);
        SvmSettings settings = svm_settings_for(Task::svc);
        settings.C = 1e5;
        // The clock of one alone runs out.
        settings.common.time_limit = ranks.rank() == 1 ? 1e-6 : 0;
        models[ranks.rank()] = std::make_unique<Model>(Svm(settings).fit(data));
    });
    for (const auto& model : models) {
        EXPECT_EQ(model->report().status, FitStatus::time_limit);
        expect_same_svm(*model, *models[0]);
    }
}

TEST(SpreadSvm, OneRankThatFailsEndsAll) {
    const Dataset data = svm_rings(600, 2);
    std::atomic<int> heard = 0;
    const auto body = [&](Communicator& ranks) {
        const SpreadOver spread(ranks, HeldRows::all);
        SvmSettings settings = svm_settings_for(Task::svc);
        if (ranks.rank() == 1) {
            settings.common.progress = [](const Moment&) -> bool { throw InvalidInput("enough"); };
        }
        try {
            Svm(settings).fit(data);
        } catch (const RankFailed&) {
            ++heard;
            throw;
        }
    };
    EXPECT_THROW(run_ranks(3, body), InvalidInput);
    EXPECT_EQ(heard, 2);
}

}  // namespace
}  // namespace mercer
