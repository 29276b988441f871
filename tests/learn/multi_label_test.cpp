// Several labels a row, ranked.
#include "mercer/learn/multi_label.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/support.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer {
namespace {

using testing::message_of;

/// Label k is had where the row lies on the one side of a line through the plane, k = 0 … 3.
struct Lines {
    Dataset data{};
    Matrix<double> labels{};
    Lines(std::size_t n, std::uint64_t seed, double noise = 0) : labels(n, 4) {
        Random random(seed);
        std::vector<double> values;
        for (std::size_t i = 0; i < n; ++i) {
            const double a = random.uniform(-1, 1);
            const double b = random.uniform(-1, 1);
            values.insert(values.end(), {a, b});
            for (std::size_t k = 0; k < 4; ++k) {
                const double angle = 0.7 * static_cast<double>(k);
                const double side = std::cos(angle) * a + std::sin(angle) * b - 0.2;
                labels(i, k) = side + noise * random.normal() > 0 ? 1 : 0;
            }
        }
        data.x = Rows::dense(std::move(values), 2);
    }
};

MultiLabelSettings settings_with(const Kernel& kernel, double c) {
    MultiLabelSettings s;
    s.common.kernel = kernel;
    s.C = c;
    return s;
}

TEST(MultiLabel, RanksAndCutsWell) {
    const Lines train(200, 1);
    const Lines test(300, 2);
    const Model m =
        multi_label(settings_with(rbf({.gamma = 1.0}), 30)).fit(train.data, train.labels.view());
    EXPECT_EQ(m.report().status, FitStatus::converged);
    EXPECT_LE(m.report().relative_gap, 1e-3);
    const MultiLabelScores s = multi_label_scores(m, test.data.x, test.labels.view());
    EXPECT_LT(s.hamming_loss, 0.12);
    EXPECT_LT(s.ranking_loss, 0.06);
    EXPECT_LT(s.one_error, 0.1);
    EXPECT_GT(s.average_precision, 0.93);
}

TEST(MultiLabel, GapIsThatOfThePrimalAsWritten) {
    const Lines data(60, 3, 0.2);
    const double c = 2;
    MultiLabelSettings settings = settings_with(rbf({.gamma = 2.0}), c);
    settings.tolerance = 1e-6;
    settings.passes = 20000;
    const Model m = multi_label(settings).fit(data.data, data.labels.view());
    EXPECT_EQ(m.report().status, FitStatus::converged);
    // ½ Σ ‖w_k‖² + C Σ_i mean ξ, from coefficients and scores by the definition.
    const Matrix<double> f = m.decision(data.data.x);
    double primal = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        for (std::size_t p = 0; p < m.expansion().size(); ++p) {
            primal += 0.5 * m.expansion().coefficients(k, p) * f(m.origins()[p], k);
        }
    }
    for (std::size_t i = 0; i < 60; ++i) {
        double sum = 0, pairs = 0;
        for (std::size_t a = 0; a < 4; ++a) {
            for (std::size_t b = 0; b < 4; ++b) {
                if (data.labels(i, a) != 1 || data.labels(i, b) != 0) continue;
                sum += std::max(0.0, 1 - (f(i, a) - f(i, b)));
                ++pairs;
            }
        }
        if (pairs > 0) primal += c * sum / pairs;
    }
    EXPECT_NEAR(primal, m.report().primal, 1e-5 * primal);
    EXPECT_LE(m.report().dual, m.report().primal);
}

TEST(MultiLabel, RowsThatMoveAreSettledAmongThemselvesWhereThereIsRoom) {
    const Lines data(300, 3, 0.2);
    MultiLabelSettings settings = settings_with(rbf({.gamma = 2.0}), 10);
    settings.tolerance = 1e-5;
    settings.passes = 20000;
    const Report with_room = multi_label(settings).fit(data.data, data.labels.view()).report();
    settings.common.memory_bytes = 300 * 300 * sizeof(double);
    const Report without = multi_label(settings).fit(data.data, data.labels.view()).report();
    EXPECT_EQ(with_room.status, FitStatus::converged);
    EXPECT_EQ(without.status, FitStatus::converged);
    EXPECT_NEAR(with_room.primal, without.primal, 2e-5 * without.primal);
    EXPECT_LT(5 * with_room.iterations, without.iterations);
}

TEST(MultiLabel, WeightsCountAsRepetitions) {
    const Lines data(40, 5, 0.2);
    Lines twice = data;
    twice.data.weights.assign(40, 1.0);
    for (std::size_t i = 0; i < 10; ++i) twice.data.weights[i] = 2;
    std::vector<std::size_t> rows(50);
    for (std::size_t i = 0; i < 50; ++i) rows[i] = i < 40 ? i : i - 40;
    Lines copied = data;
    copied.data = data.data.select(rows);
    copied.labels = Matrix<double>(50, 4);
    for (std::size_t i = 0; i < 50; ++i) {
        std::ranges::copy(data.labels.row(rows[i]), copied.labels.row(i).begin());
    }
    MultiLabelSettings settings = settings_with(rbf({.gamma = 2.0}), 2);
    settings.tolerance = 1e-7;
    settings.passes = 50000;
    const Report a = multi_label(settings).fit(twice.data, twice.labels.view()).report();
    const Report b = multi_label(settings).fit(copied.data, copied.labels.view()).report();
    EXPECT_NEAR(a.primal, b.primal, 1e-5 * a.primal);
    const Report plain = multi_label(settings).fit(data.data, data.labels.view()).report();
    EXPECT_GT(a.primal, 1.05 * plain.primal);
}

/// Saved and loaded it says the same, and it says nothing that a single label would be.
TEST(MultiLabel, IsAModelLikeOthers) {
    const Lines data(60, 3, 0.2);
    MultiLabelSettings settings = settings_with(rbf({.gamma = 2.0}), 2);
    settings.common.scaling = ScalingRule::parse("standard");
    const Model m = multi_label(settings).fit(data.data, data.labels.view(), {"a", "b", "c", "d"});
    const Model back = load_from_memory(save_to_memory(m));
    EXPECT_EQ(back.target_names(), (std::vector<std::string>{"a", "b", "c", "d"}));
    EXPECT_EQ(back.predict_sets(data.data.x).values(), m.predict_sets(data.data.x).values());
    EXPECT_EQ(back.decision(data.data.x).values(), m.decision(data.data.x).values());
    EXPECT_EQ(back.report().relative_gap, m.report().relative_gap);
    EXPECT_EQ(Predictor(m).predict_sets(data.data.x).values(),
              m.predict_sets(data.data.x).values());
    EXPECT_NE(message_of([&] { m.predict(data.data.x); }).find("set of labels"), std::string::npos);
    const Machine machine = machine_entry("multilabel").make(settings.common, {{"C", 2.0}});
    EXPECT_EQ(machine.fit(data.data, data.labels.view()).decision(data.data.x).values(),
              m.decision(data.data.x).values());
    EXPECT_NE(message_of([&] { machine.fit(data.data); }).find("needs labels"), std::string::npos);
    ModelParts bare = m.parts();
    bare.extras.erase<Threshold>();
    EXPECT_NE(message_of([&] { save_to_memory(Model(bare)); }).find("threshold"),
              std::string::npos);
    ModelParts wide = m.parts();
    wide.extras.set(Threshold(Matrix<double>(1, 4)));
    EXPECT_NE(message_of([&] { save_to_memory(Model(wide)); }).find("1 x 5"), std::string::npos);
}

TEST(MultiLabel, StopsInTime) {
    const Lines data(60, 3, 0.2);
    MultiLabelSettings settings = settings_with(rbf({.gamma = 2.0}), 100);
    settings.tolerance = 1e-12;
    std::size_t asked = 0;
    settings.common.progress = [&](const Moment& m) {
        return m.task != "ranking labels" || ++asked < 3;
    };
    const Model m = multi_label(settings).fit(data.data, data.labels.view());
    EXPECT_EQ(m.report().status, FitStatus::cancelled);
    EXPECT_LE(m.report().iterations, 3U);
    EXPECT_EQ(asked, 3U);
    settings.common.progress = {};
    settings.passes = 4;
    const Report limited = multi_label(settings).fit(data.data, data.labels.view()).report();
    EXPECT_EQ(limited.status, FitStatus::iteration_limit);
}

TEST(MultiLabel, NonsenseIsRefused) {
    const Lines data(20, 4);
    const auto fit = [&](const Matrix<double>& labels, double c = 1) {
        return message_of(
            [&] { multi_label(settings_with(rbf(), c)).fit(data.data, labels.view()); });
    };
    EXPECT_NE(fit(data.labels, 0).find("C = 0"), std::string::npos);
    EXPECT_NE(fit(Matrix<double>(19, 4)).find("19 rows"), std::string::npos);
    EXPECT_NE(fit(Matrix<double>(20, 1)).find("two labels"), std::string::npos);
    EXPECT_NE(fit(Matrix<double>(20, 3)).find("no ranking"), std::string::npos);
    EXPECT_NE(fit(Matrix<double>(20, 3, 0.5)).find("is 0.5"), std::string::npos);
}

}  // namespace
}  // namespace mercer
