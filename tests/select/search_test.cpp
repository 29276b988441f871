// Searches: the space, the choice, the sharing of kernel values, resumption.
#include "mercer/select/search.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>

#include "data/support.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/select/cross_validation.hpp"
#include "mercer/select/detail/distance_store.hpp"
#include "mercer/select/detail/journal.hpp"

namespace mercer {
namespace {

using testing::message_of;

Dataset part_of_digits(std::size_t step) {
    const Dataset all = read("@digits");
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < all.size(); i += step) rows.push_back(i);
    return all.select(rows);
}

/// Two clouds that overlap.
Dataset clouds(std::size_t rows) {
    Random random(3);
    std::vector<double> x;
    Dataset data;
    for (std::size_t i = 0; i < rows; ++i) {
        const double y = i % 2 == 0 ? 1 : -1;
        x.push_back(random.normal() + 0.8 * y);
        x.push_back(random.normal());
        data.y.values.push_back(y);
    }
    data.x = Rows::dense(std::move(x), 2);
    return data;
}

Dataset wave(std::size_t rows) {
    Random random(5);
    std::vector<double> x;
    Dataset data;
    for (std::size_t i = 0; i < rows; ++i) {
        x.push_back(random.uniform(-3, 3));
        data.y.values.push_back(std::sin(2 * x.back()) + 0.1 * random.normal());
    }
    data.x = Rows::dense(std::move(x), 1);
    return data;
}

SearchSpace svc_space(const Dataset& data, SvmSettings settings = {.task = Task::svc}) {
    return SearchSpace(svm_search_task(settings, "rbf(gamma=1)"),
                       {Axis::parse("gamma=0.1,1"), Axis::parse("C=0.5,4,32")}, data);
}

/// A name that is free, and removed at the end.
struct TemporaryFile {
    std::string path = (std::filesystem::temp_directory_path() /
                        ("mercer-search-" + std::to_string(::getpid()) + "-" +
                         ::testing::UnitTest::GetInstance()->current_test_info()->name()))
                           .string();
    TemporaryFile() { std::filesystem::remove(path); }
    ~TemporaryFile() { std::filesystem::remove(path); }
};

std::string content_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void expect_same_points(const SearchResult& a, const SearchResult& b, double tolerance) {
    ASSERT_EQ(a.points.size(), b.points.size());
    for (std::size_t p = 0; p < a.points.size(); ++p) {
        EXPECT_EQ(a.points[p].values, b.points[p].values);
        ASSERT_EQ(a.points[p].scores.size(), b.points[p].scores.size()) << a.points[p].status;
        for (std::size_t f = 0; f < a.points[p].scores.size(); ++f) {
            EXPECT_NEAR(a.points[p].scores[f], b.points[p].scores[f], tolerance)
                << "point " << p << " fold " << f;
        }
        EXPECT_EQ(a.points[p].status, b.points[p].status);
    }
}

// ---- The space.

TEST(SearchAxis, ReadsListsAndRanges) {
    EXPECT_EQ(Axis::parse("C=0.1,1,10").values, (std::vector<double>{0.1, 1, 10}));
    EXPECT_EQ(Axis::parse("epsilon=0:1:5").values, (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
    const Axis gamma = Axis::parse("gamma=1e-4:1e2:log7");
    ASSERT_EQ(gamma.values.size(), 7U);
    for (std::size_t i = 0; i < 7; ++i) {
        const double wanted = std::pow(10.0, static_cast<double>(i) - 4);
        EXPECT_NEAR(gamma.values[i], wanted, 1e-12 * wanted);
    }
    EXPECT_EQ(gamma.values.back(), 1e2);
    EXPECT_TRUE(gamma.logarithmic);
    EXPECT_EQ(Axis::parse("x=3:9:1").values, std::vector<double>{3});
}

TEST(SearchAxis, RefusesWhatIsNone) {
    for (const char* const text :
         {"", "C", "=1", "C=", "C=1,", "C=1,x", "C=1:2", "C=1:2:0", "C=1:2:1.5", "C=0:2:log3",
          "C=-1:2:log3", "C=1:2:3:4", "C=1:2:log", "C=1:2:99999999", "C=nan", "C=inf"}) {
        EXPECT_NE(message_of([&] { Axis::parse(text); }).find("axis"), std::string::npos) << text;
    }
}

TEST(SearchSpace, FindsNamesInTheMachineAndItsKernel) {
    const Dataset data = clouds(20);
    const auto task = svm_search_task({.task = Task::svc}, "2*rbf(sigma=3) + rbf(gamma=scale)");
    const SearchSpace space(
        task, {Axis::parse("C=1,2"), Axis::parse("sigma=5"), Axis::parse("factor=7")}, data);
    const std::array point{2.0, 5.0, 7.0};
    EXPECT_EQ(space.svm(point).C, 2);
    const auto list = parameters(space.kernel(point));
    ASSERT_EQ(list.size(), 3U);
    EXPECT_EQ(list[0].value, 7);
    EXPECT_EQ(list[1].value, 5);
    const SearchSpace twice(svm_search_task({.task = Task::svc}, "rbf(gamma=1)*rbf(gamma=2)"),
                            {Axis::parse("gamma#2=9")}, data);
    EXPECT_EQ(parameters(twice.kernel(std::array{9.0}))[1].value, 9);
    EXPECT_EQ(parameters(twice.kernel(std::array{9.0}))[0].value, 1);
    const SearchSpace whole(svm_search_task({.task = Task::svc}, "polynomial(degree=$d)"),
                            {Axis::parse("d=2,4")}, data);
    EXPECT_EQ(whole.kernel(std::array{4.0}), Kernel::parse("polynomial(degree=4)"));
}

TEST(SearchSpace, SaysWhatThereIsWhenANameIsNot) {
    const Dataset data = clouds(20);
    const auto task = svm_search_task({.task = Task::svr}, "rbf(gamma=1)");
    const auto with = [&](const char* text) {
        return message_of([&] { SearchSpace(task, {Axis::parse(text)}, data); });
    };
    EXPECT_NE(with("gama=1").find("C epsilon gamma; did you mean gamma?"), std::string::npos)
        << with("gama=1");
    EXPECT_NE(with("nu=1"), "");
    EXPECT_NE(message_of([&] { SearchSpace(task, {}, data); }), "");
    EXPECT_NE(message_of([&] { SearchSpace(task, {Axis{.name = "C"}}, data); }), "");
    EXPECT_NE(message_of([&] {
                  SearchSpace(task, {Axis::parse("C=1"), Axis::parse("C=2")}, data);
              }),
              "");
    EXPECT_NE(message_of([&] {
                  SearchSpace(svm_search_task({}, "rbf(gamma=$g)"), {Axis::parse("C=1")}, data);
              }).find("$g"),
              std::string::npos);
    std::vector<Axis> huge;
    for (const char* const name : {"C=1:2:9000", "epsilon=1:2:9000"}) {
        huge.push_back(Axis::parse(name));
    }
    EXPECT_NE(message_of([&] { SearchSpace(task, huge, data).grid(); }).find("million"),
              std::string::npos);
}

TEST(SearchSpace, DrawsWithinItsRanges) {
    const Dataset data = clouds(20);
    const SearchSpace space(svm_search_task({.task = Task::svc}, "rbf(gamma=1)"),
                            {Axis::parse("gamma=1e-4:1e2:log2"), Axis::parse("C=1,10")}, data);
    const auto points = space.random(400, 7);
    std::size_t below = 0;
    std::size_t ones = 0;
    for (const auto& p : points) {
        EXPECT_GE(p[0], 1e-4);
        EXPECT_LE(p[0], 1e2);
        below += p[0] < 0.1 ? 1 : 0;
        EXPECT_TRUE(p[1] == 1 || p[1] == 10);
        ones += p[1] == 1 ? 1 : 0;
    }
    // Half of the logarithms lie below 0.1; five standard deviations are 50.
    EXPECT_NEAR(static_cast<double>(below), 200, 50);
    EXPECT_NEAR(static_cast<double>(ones), 200, 50);
    const auto more = space.random(500, 7);
    EXPECT_TRUE(std::equal(points.begin(), points.end(), more.begin()));
}

// ---- Sharing.

TEST(DistanceStore, GivesTheKernelsThatTheEngineGives) {
    const Dataset data = part_of_digits(9);
    const std::size_t n = data.size();
    for (const char* const text :
         {"rbf(gamma=0.001)", "0.5*rbf(gamma=0.01) + matern(length=20)",
          "rational_quadratic(length=9)*rbf(sigma=30)", "polynomial(degree=2)",
          "laplacian(gamma=0.01)", "rbf(gamma=0.001)[0:10]", "normalize(linear)"}) {
        const Kernel kernel = Kernel::parse(text);
        Matrix<double> wanted(n, n);
        Gram<double>(kernel, data.x).matrix(wanted.view());
        DistanceStore<double> store(data.x, {}, true);
        Matrix<double> found(n, n);
        store.fill(rbf({.gamma = 1.0}), found.view());  // from now on the distances are there
        store.fill(kernel, found.view());
        double largest = 0;
        double scale = 0;
        for (std::size_t i = 0; i < n * n; ++i) {
            scale = std::max(scale, std::abs(wanted.values()[i]));
            largest = std::max(largest, std::abs(wanted.values()[i] - found.values()[i]));
        }
        EXPECT_LE(largest, 1e-12 * scale) << text;
    }
    EXPECT_TRUE(is_radial(Kernel::parse("rbf(gamma=2)"), 3));
    EXPECT_FALSE(is_radial(Kernel::parse("rbf(gamma=2) + linear"), 3));
    EXPECT_FALSE(is_radial(Kernel::parse("rbf(gamma=2)[0:2]"), 3));
    EXPECT_FALSE(is_radial(Kernel::parse("center(rbf(gamma=2))"), 3));
}

/// Scores of one search with and without sharing, all machines solved to a fine tolerance.
void expect_sharing_changes_nothing(const SearchSpace& space, const Dataset& data, Metric measure,
                                    double tolerance, FoldRule folds = {.folds = 3}) {
    SearchSettings settings{.folds = folds, .measure = measure};
    const SearchResult shared = search(space, data, settings);
    EXPECT_TRUE(shared.shared);
    settings.share = false;
    const SearchResult alone = search(space, data, settings);
    EXPECT_FALSE(alone.shared);
    expect_same_points(shared, alone, tolerance);
}

TEST(SharedSearch, ScoresAsIndependentTrainingDoes) {
    const Dataset digits = part_of_digits(6);
    const SvmSettings fine{
        .task = Task::svc, .common = {.double_precision = true}, .tolerance = 1e-7};
    // One row of a fold of a hundred may lie on the border of two classes.
    const auto with = [&](SvmSettings s, const char* kernel, std::vector<Axis> axes) {
        return SearchSpace(svm_search_task(s, kernel), std::move(axes), digits);
    };
    const std::vector<Axis> axes{Axis::parse("gamma=1e-4,1e-3"), Axis::parse("C=0.1,1,100")};
    expect_sharing_changes_nothing(with(fine, "rbf(gamma=1)", axes), digits, Metric::accuracy, 0);
    expect_sharing_changes_nothing(with(fine, "rbf(gamma=1)", axes), digits, Metric::f1, 1e-12,
                                   {.folds = 2, .repeats = 2});
    SvmSettings scaled = fine;
    scaled.common.scaling = ScalingRule::parse("standard");
    scaled.multi_class = MultiClass::one_vs_rest;
    scaled.balanced = true;
    expect_sharing_changes_nothing(
        with(scaled, "polynomial(degree=2,gamma=0.01)", {Axis::parse("C=0.01,1")}), digits,
        Metric::balanced_accuracy, 1e-12);
    SvmSettings nu = fine;
    nu.task = Task::nu_svc;
    expect_sharing_changes_nothing(with(nu, "rbf(gamma=1e-3)", {Axis::parse("nu=0.05,0.2")}),
                                   digits, Metric::accuracy, 0);
}

TEST(SharedSearch, OrdersRowsAsIndependentTrainingDoes) {
    // The AUC sees every decision value, not only its sign.
    Dataset data = clouds(160);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.weights.push_back(i % 7 == 0 ? 0 : 1 + static_cast<double>(i % 3));
    }
    const SvmSettings fine{
        .task = Task::svc, .common = {.double_precision = true}, .tolerance = 1e-8};
    expect_sharing_changes_nothing(svc_space(data, fine), data, Metric::auc, 1e-12);
}

TEST(SharedSearch, RegressesAsIndependentTrainingDoes) {
    const Dataset data = wave(120);
    SvmSettings fine{.task = Task::svr, .common = {.double_precision = true}, .tolerance = 1e-8};
    const SearchSpace space(
        svm_search_task(fine, "rbf(gamma=1)"),
        {Axis::parse("gamma=0.5,2"), Axis::parse("epsilon=0.05,0.2"), Axis::parse("C=0.5,5")},
        data);
    expect_sharing_changes_nothing(space, data, Metric::r2, 1e-6);
    fine.task = Task::nu_svr;
    const SearchSpace automatic(svm_search_task(fine, "rbf(gamma=1)"),
                                {Axis::parse("nu=0.2,0.6"), Axis::parse("C=0.5,5")}, data);
    expect_sharing_changes_nothing(automatic, data, Metric::mean_absolute_error, 1e-6);
    Dataset labelled = clouds(120);
    fine.task = Task::one_class;
    const SearchSpace single(svm_search_task(fine, "rbf(gamma=1)"), {Axis::parse("nu=0.2,0.6")},
                             labelled);
    expect_sharing_changes_nothing(single, labelled, Metric::auc, 1e-9);
}

TEST(SharedSearch, AgreesWithCrossValidation) {
    const Dataset data = part_of_digits(5);
    const SvmSettings settings{
        .task = Task::svc, .common = {.double_precision = true}, .tolerance = 1e-6};
    const SearchSpace space(svm_search_task(settings, "rbf(gamma=1)"),
                            {Axis::parse("gamma=1e-3"), Axis::parse("C=1,10")}, data);
    const SearchResult found = search(space, data, {.folds = {.folds = 5, .seed = 4}});
    for (const SearchPoint& point : found.points) {
        const CrossValidation cv = cross_validate(space.svm(point.values), data, 5, 4);
        // Folds differ in size by a row or so, hence the mean of means is weighted here.
        double right = 0;
        const auto folds = make_folds({.folds = 5, .seed = 4}, Task::svc, data);
        for (std::size_t f = 0; f < 5; ++f) {
            right += point.scores[f] * static_cast<double>(folds[f].test.size());
        }
        EXPECT_NEAR(right / static_cast<double>(data.size()), cv.score.accuracy, 1e-12);
    }
}

TEST(SharedSearch, DoesNotDependOnThreads) {
    const Dataset data = part_of_digits(8);
    const SearchSpace space(svm_search_task({.task = Task::svc}, "rbf(gamma=1)"),
                            {Axis::parse("gamma=1e-4,1e-3,1e-2"), Axis::parse("C=1,10")}, data);
    std::vector<SearchResult> results;
    for (const std::size_t count : {1U, 2U, 5U}) {
        set_threads(count);
        results.push_back(search(space, data, {.folds = {.folds = 3}}));
    }
    set_threads(0);
    EXPECT_TRUE(results[0].shared);
    expect_same_points(results[0], results[1], 0);
    expect_same_points(results[0], results[2], 0);
    EXPECT_EQ(results[0].best, results[2].best);
}

TEST(SharedSearch, GivesWayWhereTheMatrixDoesNotFit) {
    const Dataset data = clouds(120);
    SvmSettings tight{.task = Task::svc, .common = {.memory_bytes = 120 * 120 * sizeof(float)}};
    const SearchResult alone = search(svc_space(data, tight), data, {});
    EXPECT_FALSE(alone.shared);
    EXPECT_TRUE(alone.best.has_value());
    EXPECT_TRUE(search(svc_space(data), data, {}).shared);
    const SearchSpace centred(svm_search_task({.task = Task::svc}, "center(rbf(gamma=1))"),
                              {Axis::parse("C=1")}, data);
    EXPECT_FALSE(search(centred, data, {}).shared);
}

// ---- Choosing.

TEST(Search, ChoosesTheBestMeanAndDescribesItsSpread) {
    const Dataset data = clouds(150);
    const SearchResult found = search(svc_space(data), data, {.folds = {.folds = 4}});
    ASSERT_TRUE(found.best);
    for (const SearchPoint& p : found.points) {
        EXPECT_TRUE(p.done);
        ASSERT_EQ(p.scores.size(), 4U);
        const double mean = (p.scores[0] + p.scores[1] + p.scores[2] + p.scores[3]) / 4;
        double squares = 0;
        for (const double s : p.scores) squares += (s - mean) * (s - mean);
        EXPECT_NEAR(p.mean, mean, 1e-15);
        EXPECT_NEAR(p.deviation, std::sqrt(squares / 3), 1e-15);
        EXPECT_LE(p.mean, found.points[*found.best].mean);
    }
}

TEST(Search, OfOneStandardErrorTakesThePlainest) {
    const Dataset data = clouds(150);
    const SearchSpace space(svm_search_task({.task = Task::svc}, "rbf(gamma=1)"),
                            {Axis::parse("C=100,10,1,0.1"), Axis::parse("gamma=0.3,0.1")}, data);
    const SearchResult plain = search(space, data, {});
    const SearchResult loose = search(space, data, {.one_standard_error = true});
    const SearchPoint& top = plain.points[*plain.best];
    const double error = top.deviation / std::sqrt(5.0);
    EXPECT_EQ(loose.highest, plain.best);
    const SearchPoint& chosen = loose.points[*loose.best];
    EXPECT_GE(chosen.mean, top.mean - error);
    for (const SearchPoint& p : loose.points) {
        if (p.mean < top.mean - error) continue;
        EXPECT_LE(chosen.values[0], p.values[0]);
        if (p.values[0] == chosen.values[0]) {
            EXPECT_LE(chosen.values[1], p.values[1]);
        }
    }
}

TEST(Search, OfErrorsTakesTheSmallest) {
    const Dataset data = wave(100);
    SearchTask task;
    task.task = Task::ridge;
    task.kernel = "rbf(gamma=1)";
    task.settings = {"lambda"};
    task.make = [](const Kernel& k, const std::map<std::string, double>& values) {
        return ridge({.common = {.kernel = k}, .lambda = values.at("lambda")});
    };
    const SearchSpace space(task, {Axis::parse("lambda=100,1e-2"), Axis::parse("gamma=1,2")}, data);
    const SearchResult found = search(space, data, {});
    ASSERT_TRUE(found.best);
    EXPECT_EQ(found.measure, Metric::mean_squared_error);
    EXPECT_FALSE(found.shared);
    EXPECT_EQ(found.points[*found.best].values[0], 1e-2);
    for (const SearchPoint& p : found.points) EXPECT_GE(p.mean, found.points[*found.best].mean);
}

TEST(Search, HalvingSpendsItsRowsOnTheBest) {
    const Dataset data = clouds(1200);
    const SearchSpace space(svm_search_task({.task = Task::svc}, "rbf(gamma=1)"),
                            {Axis::parse("gamma=1e-3:1e3:log9"), Axis::parse("C=0.1:100:log4")},
                            data);
    const SearchResult found =
        search(space, data, {.method = SearchMethod::halving, .points = 12, .folds = {.folds = 3}});
    std::map<std::size_t, std::size_t> learnt;
    for (const SearchPoint& p : found.points) ++learnt[p.rows];
    // 800 rows to learn from, a third of them at first: a ninth would be fewer than 100.
    ASSERT_EQ(learnt.size(), 2U);
    EXPECT_EQ(learnt.rbegin()->first, 800U);
    EXPECT_EQ(learnt.rbegin()->second, 4U);
    EXPECT_EQ(learnt.begin()->second, 8U);
    ASSERT_TRUE(found.best);
    EXPECT_EQ(found.points[*found.best].rows, 800U);
}

TEST(Search, TellsWhichPointsFailAndWhy) {
    // Three rows of one class for one of the other: a share nu of 0.9 is out of reach.
    const Dataset all = clouds(120);
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i % 2 == 0 || i % 6 == 1) rows.push_back(i);
    }
    const Dataset data = all.select(rows);
    const auto space = [&](const char* axis) {
        return SearchSpace(svm_search_task({.task = Task::nu_svc}, "rbf(gamma=1)"),
                           {Axis::parse(axis)}, data);
    };
    for (const bool share : {true, false}) {
        const SearchResult found = search(space("nu=0.9,0.2"), data, {.share = share});
        EXPECT_NE(found.points[0].status.find("nu"), std::string::npos) << found.points[0].status;
        EXPECT_TRUE(std::isnan(found.points[0].mean));
        EXPECT_EQ(found.best, 1U);
    }
    EXPECT_NE(message_of([&] { search(space("nu=0.8,0.9"), data, {}); }).find("nu"),
              std::string::npos);
}

TEST(Search, AValueNoMachineCanHaveIsNoPointThatFails) {
    const Dataset data = clouds(60);
    const auto refusal = [&](const char* axis) {
        return message_of([&] {
            SearchSpace(svm_search_task({.task = Task::svc}, "rbf(gamma=1)"), {Axis::parse(axis)},
                        data);
        });
    };
    EXPECT_NE(refusal("C=1,-1").find("no machine can have C=-1"), std::string::npos);
    EXPECT_NE(refusal("gamma=1,-2").find("no machine can have gamma=-2"), std::string::npos);
    EXPECT_EQ(refusal("C=1,2"), "");
}

TEST(Search, RefusesWhatMeansNothing) {
    const Dataset data = clouds(30);
    const SearchSpace space = svc_space(data);
    const auto with = [&](SearchSettings s) { return message_of([&] { search(space, data, s); }); };
    EXPECT_NE(with({.folds = {.folds = 31}}).find("31 folds"), std::string::npos);
    EXPECT_NE(with({.folds = {.folds = 1}}), "");
    EXPECT_NE(with({.measure = Metric::r2}).find("predicts classes"), std::string::npos);
    Dataset lonely = data;
    lonely.y.values[3] = 5;
    EXPECT_NE(message_of([&] { search(svc_space(lonely), lonely, {}); }).find("single row"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  search(svc_space(lonely), lonely,
                         {.folds = {.kind = FoldKind::plain}, .measure = Metric::auc});
              }).find("two classes"),
              std::string::npos);
    Dataset bare = data;
    bare.y = {};
    EXPECT_NE(message_of([&] { search(svc_space(bare), bare, {}); }).find("labels"),
              std::string::npos);
}

// ---- Interruption.

TEST(Search, InterruptedAndResumedEndsAsIfItHadNotBeen) {
    const Dataset data = clouds(150);
    const SearchSpace space(svm_search_task({.task = Task::svc}, "rbf(gamma=1)"),
                            {Axis::parse("gamma=0.01,0.1,1,10"), Axis::parse("C=0.5,4,32")}, data);
    for (const bool share : {true, false}) {
        const TemporaryFile file;
        const SearchResult whole = search(space, data, {.measure = Metric::auc, .share = share});
        SearchSettings settings{.measure = Metric::auc, .journal = file.path, .share = share};
        set_threads(1);  // so that the listener hears of every step
        settings.progress = [](const Moment& m) { return m.fraction < 0.6; };
        const SearchResult stopped = search(space, data, settings);
        set_threads(0);
        EXPECT_TRUE(stopped.cancelled);
        const auto done = std::ranges::count_if(stopped.points, &SearchPoint::done);
        EXPECT_GT(done, 2);
        EXPECT_LT(done, 12);
        ASSERT_TRUE(stopped.best);
        // A line cut short by the interruption counts for nothing.
        std::ofstream(file.path, std::ios::app) << "10 0.5\t100 0.";
        settings.progress = {};
        const SearchResult resumed = search(space, data, settings);
        EXPECT_FALSE(resumed.cancelled);
        EXPECT_EQ(resumed.taken, static_cast<std::size_t>(done));
        expect_same_points(resumed, whole, 0);
        EXPECT_EQ(resumed.best, whole.best);
        const SearchResult again = search(space, data, settings);
        EXPECT_EQ(again.taken, 12U);
        expect_same_points(again, whole, 0);
    }
}

TEST(Search, RefusesTheJournalOfAnother) {
    const Dataset data = clouds(60);
    const TemporaryFile file;
    SearchSettings settings{.journal = file.path};
    search(svc_space(data), data, settings);
    Dataset other = clouds(60);
    other.y.values[0] = -other.y.values[0];
    EXPECT_NE(message_of([&] { search(svc_space(other), other, settings); }).find("another search"),
              std::string::npos);
    SearchSettings seeded = settings;
    seeded.folds.seed = 2;
    EXPECT_NE(message_of([&] { search(svc_space(data), data, seeded); }).find("another search"),
              std::string::npos);
    const SvmSettings finer{.task = Task::svc, .tolerance = 1e-5};
    EXPECT_NE(message_of([&] { search(svc_space(data, finer), data, settings); }), "");
    for (const char* const content : {"my notes\n", "my notes", "mercer search journal 3 00\n",
                                      "mercer search journal 1 00\n"}) {
        std::ofstream(file.path) << content;
        EXPECT_NE(message_of([&] { search(svc_space(data), data, settings); }).find("journal"),
                  std::string::npos);
        EXPECT_EQ(content_of(file.path), content);
    }
}

TEST(Search, ADamagedLineOfTheJournalIsNamed) {
    const Dataset data = clouds(60);
    const TemporaryFile file;
    const SearchSettings settings{.journal = file.path};
    search(svc_space(data), data, settings);
    const std::string whole = content_of(file.path);
    const auto refusal = [&](const std::string& content) {
        std::ofstream(file.path, std::ios::binary) << content;
        return message_of([&] { search(svc_space(data), data, settings); });
    };
    EXPECT_EQ(refusal(whole), "");
    const std::size_t second = whole.find('\n', whole.find('\n') + 1) + 1;
    std::string bytes = whole;
    for (std::size_t i = whole.find('\n') + 1; i + 1 < second; i += 3) {
        bytes[i] = bytes[i] == '7' ? '8' : '7';
        EXPECT_NE(refusal(bytes).find(file.path + ":2: is "), std::string::npos) << i;
        bytes[i] = whole[i];
    }
    // A line of another search with fewer folds: whole in itself.
    Fingerprint sum;
    const std::string line = "1 1\t40 0.1\t0.9 1e308\tconverged\t";
    sum.add(line);
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(sum.value()));
    EXPECT_NE(refusal(whole.substr(0, whole.find('\n') + 1) + line + text + "\n").find("2 scores"),
              std::string::npos);
}

TEST(Search, TheJournalForgetsNoSetting) {
    const auto fingerprint = [](const std::function<void(SvmSettings&)>& change) {
        SvmSettings settings{.task = Task::svc};
        change(settings);
        return svm_search_task(settings, "rbf(gamma=1)").fingerprint;
    };
    const std::vector<std::function<void(SvmSettings&)>> changes{
        [](SvmSettings&) {},
        [](SvmSettings& s) { s.task = Task::nu_svc; },
        [](SvmSettings& s) { s.C = 2; },
        [](SvmSettings& s) {
            s.task = Task::nu_svc;
            s.nu = 0.3;
        },
        [](SvmSettings& s) { s.task = Task::svr; },
        [](SvmSettings& s) {
            s.task = Task::svr;
            s.epsilon = 0.3;
        },
        [](SvmSettings& s) { s.bias = false; },
        [](SvmSettings& s) { s.multi_class = MultiClass::one_vs_rest; },
        [](SvmSettings& s) { s.class_weights["a"] = 2; },
        [](SvmSettings& s) { s.balanced = true; },
        [](SvmSettings& s) {
            s.task = Task::nu_svr;
            s.tube = Formula::parse("1 + x0");
        },
        [](SvmSettings& s) {
            s.tube_values = {1, 2};
        },
        [](SvmSettings& s) { s.tube_function = [](std::span<const double>) { return 1.0; }; },
        [](SvmSettings& s) { s.common.scaling = ScalingRule::parse("standard"); },
        [](SvmSettings& s) { s.probability = true; },
        [](SvmSettings& s) { s.common.seed = 2; },
        [](SvmSettings& s) { s.common.target_scale = TargetScale::standard; },
        [](SvmSettings& s) { s.tolerance = 1e-5; },
        [](SvmSettings& s) { s.relative_gap = 1e-5; },
        [](SvmSettings& s) { s.common.time_limit = 1; },
        [](SvmSettings& s) { s.iteration_limit = 100; },
        [](SvmSettings& s) { s.common.double_precision = true; },
        [](SvmSettings& s) { s.method = DualMethod::smo; },
        [](SvmSettings& s) { s.shrinking = false; },
    };
    std::set<std::string> all;
    for (const auto& change : changes) all.insert(fingerprint(change));
    EXPECT_EQ(all.size(), changes.size());
}

TEST(Search, RefusesAJournalThatWasTamperedWith) {
    const Dataset data = clouds(60);
    const TemporaryFile file;
    const SearchSettings settings{.journal = file.path};
    search(svc_space(data), data, settings);
    const std::string whole = content_of(file.path);
    const std::string header = whole.substr(0, whole.find('\n') + 1);
    for (const char* const bad : {"1\t2\n", "x\t1 2\t3\tok\tend\n", "1 1\t-5 2\t3\tok\tend\n",
                                  "1 1\t1e99 2\t3\tok\tend\n", "\n", "1 1\t5\t3\tok\tend\n"}) {
        std::ofstream(file.path) << header << bad;
        EXPECT_NE(message_of([&] { search(svc_space(data), data, settings); }).find(":2"),
                  std::string::npos)
            << bad;
    }
}

}  // namespace
}  // namespace mercer
