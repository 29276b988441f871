// Kernel k-means: its objective by definition, its fixed points, and ordinary k-means beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "learn/small.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::in_double;
using testing::message_of;
using testing::points;
using testing::with_double_rows;

/// Σ_i w_i ‖Φ(x_i) − μ_c(i)‖² by the definition, pair by pair.
double objective(const Kernel& k, const Dataset& data, const std::vector<double>& cluster) {
    const auto x = full(data.x);
    const auto weight = [&](std::size_t i) { return data.weights.empty() ? 1 : data.weights[i]; };
    double total = 0;
    for (const double c : std::set<double>(cluster.begin(), cluster.end())) {
        double sum = 0, within = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (cluster[i] != c) continue;
            sum += weight(i);
            total += weight(i) * k(x[i], x[i]);
            for (std::size_t j = 0; j < x.size(); ++j) {
                if (cluster[j] == c) within += weight(i) * weight(j) * k(x[i], x[j]);
            }
        }
        total -= sum > 0 ? within / sum : 0;
    }
    return total;
}

TEST(KMeans, TheObjectiveIsThatOfTheDefinitionAndNeverRises) {
    const Dataset data = with_double_rows(make("rings", {.n = 150}));
    const Kernel k = rbf({.gamma = 2.0});
    const Model model = kmeans({.common = in_double(k), .clusters = 5, .starts = 3}).fit(data);
    const Report r = model.report();
    EXPECT_EQ(r.status, FitStatus::converged);
    EXPECT_TRUE(std::ranges::is_sorted(r.history, std::greater<>()));
    const std::vector<double> cluster = model.predict(data.x);
    EXPECT_NEAR(objective(k, data, cluster), r.primal, 1e-9);
    EXPECT_NEAR(r.history.back(), r.primal, 1e-12);
    // f_c = −‖Φ(x) − μ_c‖²: the largest is the nearest, and its sum is the objective.
    const Matrix<double> f = model.decision(data.x);
    double sum = 0;
    for (std::size_t i = 0; i < data.size(); ++i) sum -= std::ranges::max(f.row(i));
    EXPECT_NEAR(sum, r.primal, 1e-9);
    // The sizes are those of the clusters.
    for (std::size_t c = 0; c < 5; ++c) {
        EXPECT_EQ(model.extras().array("sizes")(c, 0),
                  static_cast<double>(
                      std::count(cluster.begin(), cluster.end(), static_cast<double>(c))));
    }
}

/// Lloyd's algorithm in input space from given groups, to its end.
std::vector<double> lloyd(const std::vector<std::vector<double>>& x, std::vector<double> cluster,
                          std::size_t k) {
    while (true) {
        std::vector<std::vector<double>> mean(k, std::vector<double>(x[0].size(), 0.0));
        std::vector<double> count(k, 0.0);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto c = static_cast<std::size_t>(cluster[i]);
            ++count[c];
            for (std::size_t j = 0; j < x[i].size(); ++j) mean[c][j] += x[i][j];
        }
        std::vector<double> next(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t c = 0; c < k; ++c) {
                double d = 0;
                for (std::size_t j = 0; j < x[i].size(); ++j) {
                    d += std::pow(x[i][j] - mean[c][j] / count[c], 2);
                }
                if (d < least) {
                    least = d;
                    next[i] = static_cast<double>(c);
                }
            }
        }
        if (next == cluster) return cluster;
        cluster = next;
    }
}

TEST(KMeans, WithALinearKernelIsOrdinaryKMeans) {
    const Dataset data = with_double_rows(make("blobs", {.n = 200, .noise = 2.0, .classes = 4}));
    const Model model =
        kmeans({.common = in_double(linear()), .clusters = 4, .starts = 5}).fit(data);
    EXPECT_EQ(model.expansion().size(), 4U);  // the centres themselves
    const std::vector<double> found = model.predict(data.x);
    // A fixed point of Lloyd's algorithm in input space.
    EXPECT_EQ(lloyd(full(data.x), found, 4), found);
    EXPECT_NEAR(objective(linear(), data, found), model.report().primal, 1e-8);
    // The same groups as through a kernel not seen to be linear.
    const Model dual =
        kmeans({.common = in_double(linear() + constant(0.0)), .clusters = 4, .starts = 5})
            .fit(data);
    EXPECT_EQ(dual.predict(data.x), found);
    EXPECT_EQ(dual.expansion().size(), data.size());
}

TEST(KMeans, RowsOnTheFlyAreTheSameAsAStoredMatrix) {
    const Dataset data = embedded("iris");
    KMeansSettings s{.common = {.kernel = rbf({.gamma = 0.2})}, .clusters = 3};
    const Model stored = kmeans(s).fit(data);
    s.common.memory_bytes = 20 * 150 * sizeof(float);
    const Model computed = kmeans(s).fit(data);
    EXPECT_EQ(stored.predict(data.x), computed.predict(data.x));
    EXPECT_GT(computed.report().kernel_evaluations, stored.report().kernel_evaluations);
    set_threads(1);
    EXPECT_EQ(kmeans(s).fit(data).report().history, computed.report().history);
    set_threads(0);
}

TEST(KMeans, ManyRowsWhoseValuesDoNotFitAreBegunOnSomeOfThem) {
    const std::size_t n = 20'000, classes = 4;
    const Dataset data = make("blobs", {.n = n, .noise = 0.3, .classes = classes});
    KMeansSettings s{.common = {.kernel = rbf({.gamma = 0.3})}, .clusters = classes};
    s.common.memory_bytes = std::size_t{4} << 20;  // of 1.6 GB
    const Model model = kmeans(s).fit(data);
    EXPECT_EQ(model.report().status, FitStatus::converged);
    // Far less than a pass over all pairs for every start: each pair once, and what little is asked
    // of single rows.
    EXPECT_LT(model.report().kernel_evaluations, n * n * 3 / 4);
    // Blobs far apart are the groups, one for one.
    const std::vector<double> found = model.predict(data.x);
    std::set<std::pair<double, std::string>> pairs;
    for (std::size_t i = 0; i < n; ++i) pairs.emplace(found[i], data.y.text(i));
    EXPECT_EQ(pairs.size(), classes);
    // The objective is that of all rows: f_c = −‖Φ(x) − μ_c‖², the largest of a row its own.
    const Matrix<double> f = model.decision(data.x);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum -= std::ranges::max(f.row(i));
    EXPECT_NEAR(sum, model.report().primal, 1e-3 * model.report().primal);
}

/// The check of 256 rows at the end once asked for parts of rows of a store that keeps whole ones,
/// which computed all pairs again.
TEST(KMeans, TheCheckOfItsSumsDoesNotComputeAllPairsAgain) {
    const std::size_t n = 17'000;
    const Dataset data = make("blobs", {.n = n, .noise = 1.5, .classes = 5});  // rows move
    KMeansSettings s{.common = {.kernel = rbf({.gamma = 0.3})}, .clusters = 5, .starts = 1};
    s.common.memory_bytes = std::size_t{8} << 20;
    const Model model = kmeans(s).fit(data);
    EXPECT_EQ(model.report().status, FitStatus::converged);
    EXPECT_GT(model.report().history.size(), 2u);
    EXPECT_LT(model.report().kernel_evaluations, n * n);
}

TEST(KMeans, FeaturesThatCanBeWrittenDownGiveTheSameGroups) {
    // Sparse and dense rows of a linear kernel go through means; a map of the plane does not.
    Dataset data = with_double_rows(make("blobs", {.n = 300, .noise = 1.5, .classes = 3}));
    const KMeansSettings s{.common = in_double(linear()), .clusters = 3, .starts = 2};
    const Model dense = kmeans(s).fit(data);
    data.x = data.x.to_sparse();
    EXPECT_EQ(kmeans(s).fit(data).predict(data.x), dense.predict(data.x));
    EXPECT_NEAR(objective(linear(), data, dense.predict(data.x)), dense.report().primal, 1e-8);
    // Nothing but the diagonal and the rows of the seeds is asked of the kernel.
    EXPECT_LT(dense.report().kernel_evaluations, 300U * 20);
}

TEST(KMeans, MoreStartsAreNeverWorse) {
    const Dataset data = make("blobs", {.n = 120, .noise = 1.0, .classes = 6});
    double before = std::numeric_limits<double>::infinity();
    for (const std::size_t starts : {1U, 3U, 8U}) {
        const Model model =
            kmeans({.common = in_double(linear()), .clusters = 6, .starts = starts}).fit(data);
        EXPECT_LE(model.report().primal, before);
        before = model.report().primal;
    }
}

TEST(KMeans, EveryClusterKeepsARow) {
    // Two heaps of equal rows for three clusters: k-means++ runs out of distances.
    std::vector<std::vector<double>> rows(10, {0, 0});
    rows.resize(20, {5, 5});
    const Dataset data = with_double_rows(points(rows));
    const Model model = kmeans({.common = in_double(rbf({.gamma = 1.0})), .clusters = 3}).fit(data);
    EXPECT_NEAR(model.report().primal, 0, 1e-12);
    const Matrix<double>& sizes = model.extras().array("sizes");
    for (std::size_t c = 0; c < 3; ++c) EXPECT_GE(sizes(c, 0), 1);
    EXPECT_EQ(sizes(0, 0) + sizes(1, 0) + sizes(2, 0), 20);
    // As many clusters as rows: nothing is left over.
    const Dataset few = with_double_rows(make("moons", {.n = 12}));
    const Model all = kmeans({.common = in_double(rbf({.gamma = 1.0})), .clusters = 12}).fit(few);
    EXPECT_NEAR(all.report().primal, 0, 1e-12);
}

TEST(KMeans, AWeightIsARowRepeated) {
    Dataset weighted = with_double_rows(points({{0}, {1}, {4}, {6}, {9}}));
    weighted.weights = {1, 3, 1, 2, 0};
    const Dataset repeated = with_double_rows(points({{0}, {1}, {1}, {1}, {4}, {6}, {6}}));
    KMeansSettings s{.common = in_double(linear()), .clusters = 2, .starts = 10};
    const Model a = kmeans(s).fit(weighted);
    const Model b = kmeans(s).fit(repeated);
    EXPECT_NEAR(a.report().primal, b.report().primal, 1e-12);
    EXPECT_NEAR(objective(linear(), weighted, a.predict(weighted.x)), a.report().primal, 1e-12);
}

TEST(KMeans, AnIndefiniteKernelStopsInsteadOfCycling) {
    const Dataset data = with_double_rows(make("moons", {.n = 60}));
    const Model model =
        kmeans({.common = in_double(sigmoid({.gamma = 1.0, .coef0 = -1})), .clusters = 4})
            .fit(data);
    EXPECT_TRUE(std::ranges::is_sorted(model.report().history, std::greater<>()));
}

TEST(KMeans, StopsWhenToldAndNamesBadSettings) {
    const Dataset data = make("moons", {.n = 300});
    KMeansSettings s{.common = {.kernel = rbf({.gamma = 5.0})}, .clusters = 20};
    s.common.progress = [](const Moment& m) { return m.task != "training"; };
    const Model model = kmeans(s).fit(data);
    EXPECT_EQ(model.report().status, FitStatus::cancelled);
    EXPECT_EQ(model.expansion().outputs(), 20U);
    s.clusters = 301;
    EXPECT_NE(message_of([&] { kmeans(s).fit(data); }).find("at most 300"), std::string::npos);
    s.clusters = 0;
    EXPECT_NE(message_of([&] { kmeans(s).fit(data); }).find("clusters"), std::string::npos);
    s.clusters = 2;
    s.starts = 0;
    EXPECT_NE(message_of([&] { kmeans(s).fit(data); }).find("starts"), std::string::npos);
}

/// Centres in the span of so many rows.
Machine in_span(std::size_t centres, KMeansSettings settings) {
    return approximate(settings.common, {.centres = centres}, [=](const FitSettings& own) {
        KMeansSettings with = settings;
        with.common = own;
        return Machine(kmeans(with));
    });
}

double nearest_sum(const Model& model, const Dataset& data) {
    const Matrix<double> f = model.decision(data.x);
    double sum = 0;
    for (std::size_t i = 0; i < f.rows(); ++i) {
        const double weight = data.weights.empty() ? 1 : data.weights[i];
        sum -= weight * std::ranges::max(f.row(i));
    }
    return sum;
}

TEST(KMeansInSpan, TheObjectiveIsThatOfTheKernelItself) {
    Dataset data = make("rings", {.n = 9000});
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.weights.push_back(1 + 0.25 * static_cast<double>(i % 4));
    }
    const Kernel k = rbf({.gamma = 2.0});
    const KMeansSettings settings{.common = {.kernel = k}, .clusters = 5, .starts = 2};
    const Model model = in_span(20, settings).fit(data);
    const Report r = model.report();
    EXPECT_EQ(r.status, FitStatus::converged);
    EXPECT_TRUE(std::ranges::is_sorted(r.history, std::greater<>()));
    EXPECT_EQ(model.expansion().size(), 20U);
    // Distances to the centres of the model, under k: few centres leave much of k(x, x).
    EXPECT_NEAR(nearest_sum(model, data), r.primal, 1e-4 * r.primal);
}

TEST(KMeansInSpan, OfEnoughRowsHasTheObjectiveOfTheDefinition) {
    const Dataset data = make("rings", {.n = 300});
    const Kernel k = rbf({.gamma = 0.5});
    const KMeansSettings settings{.common = {.kernel = k}, .clusters = 4};
    const Model model = in_span(200, settings).fit(data);  // until nothing is left
    const double found = objective(k, data, model.predict(data.x));
    EXPECT_NEAR(found, model.report().primal, 1e-3 * found);
    EXPECT_LE(model.report().primal, 1.05 * kmeans(settings).fit(data).report().primal);
}

TEST(KMeansInSpan, ACentreWithoutRowsTakesTheFarthest) {
    // Many copies of three places, and two rows far away, which few starts see.
    Dataset data;
    std::vector<float> x;
    for (std::size_t i = 0; i < 20'000; ++i) x.push_back(static_cast<float>(i % 3));
    x[11'111] = 40;
    x[17'171] = 90;
    data.x = Rows::dense(std::move(x), 1);
    const KMeansSettings settings{
        .common = {.kernel = rbf({.gamma = 0.1})}, .clusters = 5, .starts = 1};
    const Model model = in_span(10, settings).fit(data);
    EXPECT_NEAR(model.report().primal, 0, 1e-2);
    EXPECT_GE(model.report().figures.at("refilled"), 1);
    std::set<double> groups;
    for (const double c : model.predict(Rows::dense(std::vector<float>{0, 1, 2, 40, 90}, 1))) {
        groups.insert(c);
    }
    EXPECT_EQ(groups.size(), 5U);
    // More groups than places: some stay empty, and it ends all the same.
    KMeansSettings many = settings;
    many.clusters = 8;
    EXPECT_EQ(in_span(10, many).fit(data).report().status, FitStatus::converged);
}

}  // namespace
}  // namespace mercer
