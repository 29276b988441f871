// Data that is hardly data: each has a sensible outcome or a message that helps.
#include <cmath>
#include <limits>
#include <numeric>

#include "learn/certificate.hpp"
#include "learn/small.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/registry.hpp"

namespace mercer {
namespace {

using testing::closely;
using testing::expect_same_decisions;
using testing::full;
using testing::labelled;
using testing::message_of;
using testing::points;
using testing::value_at;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_message(const std::string& message, std::initializer_list<const char*> parts) {
    EXPECT_FALSE(message.empty()) << "nothing was thrown";
    for (const char* part : parts) {
        EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
    }
}

/// A valid machine whatever the data: feasible, gap not negative, every number finite.
void expect_sound(const Model& model, const Rows& x) {
    for (const Report& r : model.reports()) {
        EXPECT_LE(r.infeasibility, 1e-9);
        EXPECT_GE(r.relative_gap, -1e-9);
        EXPECT_TRUE(std::isfinite(r.primal) || model.task() == Task::hard_margin);
        EXPECT_TRUE(std::isfinite(r.dual));
    }
    const Matrix<double> f = model.decision(x);
    for (const double value : f.values()) EXPECT_TRUE(std::isfinite(value));
}

/// The certificate of a hard margin that cannot be: checked from the weights and the kernel alone.
void expect_hulls_meet(const Report& r, const Dataset& data, const Kernel& kernel, bool bias,
                       double nearly_nothing) {
    ASSERT_TRUE(has_no_machine(r.status)) << describe(r.status);
    ASSERT_EQ(r.hull_weights.size(), data.size());
    const auto rows = full(data.x);
    double positive = 0;
    double negative = 0;
    double squared = 0;
    double size = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        EXPECT_GE(r.hull_weights[i], 0);
        (data.y.values[i] == 1 ? positive : negative) += r.hull_weights[i];
        size = std::max(size, kernel(rows[i], rows[i]));
        for (std::size_t j = 0; j < data.size(); ++j) {
            const double sign = data.y.values[i] == data.y.values[j] ? 1 : -1;
            squared += sign * r.hull_weights[i] * r.hull_weights[j] * kernel(rows[i], rows[j]);
        }
    }
    if (bias) {
        EXPECT_NEAR(positive, 1, 1e-9);
        EXPECT_NEAR(negative, 1, 1e-9);
    } else {
        EXPECT_NEAR(positive + negative, 1, 1e-9);
    }
    EXPECT_LE(squared, nearly_nothing * size);
    EXPECT_LE(r.hull_distance * r.hull_distance, nearly_nothing * size);
}

TEST(NotSeparable, ProvesItWithAPointOfBothHulls) {
    const Dataset line = labelled({{0}, {2}, {1}}, {1, 1, -1});
    const Model model =
        Svm(closely({.task = Task::hard_margin, .common = {.kernel = linear()}})).fit(line);
    expect_hulls_meet(model.report(), line, linear(), true, 1e-12);
    // 1 = ½ · 0 + ½ · 2.
    EXPECT_NEAR(model.report().hull_weights[0], 0.5, 1e-7);
    EXPECT_NEAR(model.report().hull_weights[2], 1, 1e-9);
}

TEST(NotSeparable, ProvesItThroughTheOrigin) {
    // ¼ · 3 + ¾ · (−1) = 0: no plane through the origin has 3 and 1 on different sides.
    const Dataset data = labelled({{3}, {1}}, {1, -1});
    const Model model =
        Svm(closely({.task = Task::hard_margin, .common = {.kernel = linear()}, .bias = false}))
            .fit(data);
    expect_hulls_meet(model.report(), data, linear(), false, 1e-12);
    EXPECT_NEAR(model.report().hull_weights[0], 0.25, 1e-7);
    const Model with_bias =
        Svm(closely({.task = Task::hard_margin, .common = {.kernel = linear()}})).fit(data);
    EXPECT_EQ(with_bias.report().status, FitStatus::converged);
}

TEST(NotSeparable, ProvesItOnOverlappingClouds) {
    Dataset data = make("moons", {.n = 200, .noise = 0.4, .seed = 5});
    for (double& y : data.y.values) y = y < 0 ? 1 : 2;
    for (const bool twice : {true, false}) {
        for (const Kernel& kernel : {linear(), polynomial({.degree = 2})}) {
            SCOPED_TRACE(kernel.text());
            SvmSettings settings{.task = Task::hard_margin, .common = {.kernel = kernel}};
            settings.common.double_precision = twice;
            const Model model = Svm(settings).fit(data);
            expect_hulls_meet(model.report(), data, kernel, true, twice ? 1e-12 : 1e-5);
        }
    }
}

TEST(NotSeparable, IsWhatContradictoryRowsAre) {
    const Dataset data = labelled({{1, 2}, {5, 5}, {1, 2}}, {1, 1, -1});
    const Kernel kernel = rbf({.gamma = 1.0});
    const Model model =
        Svm(closely({.task = Task::hard_margin, .common = {.kernel = kernel}})).fit(data);
    expect_hulls_meet(model.report(), data, kernel, true, 1e-12);
    // A soft margin has an answer.
    const SvmSettings soft = closely({.common = {.kernel = kernel}, .C = 10});
    const Model machine = Svm(soft).fit(data);
    testing::expect_certified(machine, data, soft);
    EXPECT_GE(machine.report().margin_errors, 1U);
}

TEST(Labels, OfASingleClassAreRefused) {
    const Dataset data = points({{1}, {2}, {3}}, {4, 4, 4});
    for (const Task task : {Task::svc, Task::nu_svc, Task::hard_margin}) {
        expect_message(message_of([&] { Svm({.task = task}).fit(data); }),
                       {"two classes", "'4'", "one-class"});
    }
    EXPECT_EQ(one_class({.nu = 0.5}).fit(data).report().status, FitStatus::converged);
}

TEST(Labels, MayBeTextOrFractions) {
    Dataset data = make("moons", {.n = 60, .noise = 0.05});
    const Model plain = svc({.kernel = rbf({.gamma = 2.0}), .C = 10}).fit(data);
    Dataset text = data;
    text.y.names = {"hill", "valley"};
    for (double& y : text.y.values) y = y < 0 ? 0 : 1;
    const Model named = svc({.kernel = rbf({.gamma = 2.0}), .C = 10}).fit(text);
    EXPECT_EQ(named.class_names(), (std::vector<std::string>{"hill", "valley"}));
    const Labels predicted = named.predict_labels(text.x);
    ASSERT_TRUE(predicted.are_text());
    const Labels expected = plain.predict_labels(data.x);
    for (std::size_t i = 0; i < data.size(); ++i) {
        EXPECT_EQ(predicted.text(i), expected.values[i] < 0 ? "hill" : "valley");
    }
    expect_message(message_of([&] { svr({}).fit(text); }), {"numbers", "hill"});

    Dataset fractions = data;
    for (double& y : fractions.y.values) y = y < 0 ? 1.5 : 1.25;
    const Model model = svc({.kernel = rbf({.gamma = 2.0}), .C = 10}).fit(fractions);
    EXPECT_EQ(model.class_names(), (std::vector<std::string>{"1.25", "1.5"}));
    for (const double value : model.predict_labels(data.x).values) {
        EXPECT_TRUE(value == 1.25 || value == 1.5);
    }
}

TEST(Rows, ThatAreFew) {
    const Dataset one = points({{1, 2}}, {7});
    expect_message(message_of([&] { svc({}).fit(one); }), {"two classes"});
    for (const Task task : {Task::svr, Task::nu_svr}) {
        const Model model = Svm(closely({.task = task, .common = {.kernel = linear()}})).fit(one);
        EXPECT_NEAR(value_at(model, {1, 2}), 7, 0.1 + 1e-9);
        expect_sound(model, one.x);
    }
    const Model alone =
        Svm(closely({.task = Task::one_class, .common = {.kernel = rbf({.gamma = 1.0})}})).fit(one);
    EXPECT_NEAR(value_at(alone, {1, 2}), 0, 1e-9);
    EXPECT_LT(value_at(alone, {3, 2}), 0);
    const Dataset two = labelled({{0, 0}, {2, 0}}, {1, -1});
    for (const Task task : {Task::svc, Task::nu_svc, Task::hard_margin}) {
        const Model model =
            Svm(closely({.task = task, .common = {.kernel = linear()}, .C = 10})).fit(two);
        EXPECT_NEAR(value_at(model, {1, 5}), 0, 1e-7) << task_name(task);
        EXPECT_GT(value_at(model, {0, 0}), 0);
        EXPECT_LT(value_at(model, {2, 0}), 0);
        expect_sound(model, two.x);
    }
}

TEST(Rows, ThatAreNone) {
    Dataset data;
    expect_message(message_of([&] { svc({}).fit(data); }), {"no rows"});
    expect_message(message_of([&] { one_class({}).fit(data); }), {"no rows"});
    const Dataset unlabelled = points({{1}, {2}});
    expect_message(message_of([&] { svc({}).fit(unlabelled); }), {"labels"});
    expect_message(message_of([&] { svr({}).fit(unlabelled); }), {"labels"});
}

TEST(Rows, ThatLackColumnsAreRefusedUnlessSparse) {
    Dataset data = points({{1, 2, 3}, {2, 1, 5}, {-1, 0, 2}, {-2, 1, 4}}, {1, 1, 2, 2});
    data.roles = {.label = 3, .label_name = "kind"};
    const Model model = svc({.kernel = linear(), .C = 10}).fit(data);
    EXPECT_EQ(model.known_columns().features, 3U);
    EXPECT_EQ(model.known_columns().roles, data.roles);
    const Rows narrow = points({{1, 2}, {-2, 1}}, {1, 2}).x;
    expect_message(message_of([&] { model.predict(narrow); }), {"2 columns", "trained on 3"});
    const Rows whole = points({{1, 2, 0}, {-2, 1, 0}}, {1, 2}).x;
    EXPECT_EQ(model.predict(narrow.to_sparse()), model.predict(whole));
    // A model of sparse rows cannot know whether dense ones lack anything but zeros.
    Dataset sparse = data;
    sparse.x = sparse.x.to_sparse();
    EXPECT_EQ(svc({.kernel = linear(), .C = 10}).fit(sparse).predict(narrow), model.predict(whole));
}

TEST(Rows, WithConstantFeatures) {
    const Dataset data = labelled({{5, 5}, {5, 5}, {5, 5}, {5, 5}, {5, 5}}, {1, 1, 1, -1, -1});
    for (const Kernel& kernel : {linear(), rbf({.gamma = 1.0}), polynomial({.degree = 2})}) {
        const SvmSettings settings = closely({.common = {.kernel = kernel}, .C = 1});
        const Model model = Svm(settings).fit(data);
        EXPECT_EQ(model.report().status, FitStatus::converged);
        expect_sound(model, data.x);
        EXPECT_NEAR(model.report().squared_norm, 0, 1e-9) << "nothing to tell the rows apart";
        EXPECT_EQ(model.predict_labels(data.x).values[4], 1) << "the larger class";
        // Primal: the two rows of the smaller class have slack 2 each.
        EXPECT_NEAR(model.report().primal, 4, 1e-6);
    }
    // One constant column beside a useful one does no harm, scaled or not.
    const Dataset half = labelled({{5, 1}, {5, 2}, {5, 8}, {5, 9}}, {1, 1, -1, -1});
    for (const char* rule : {"none", "standard", "minmax(-1,1)"}) {
        SvmSettings settings = closely({.common = {.kernel = rbf({.gamma = 0.1})}, .C = 10});
        settings.common.scaling = ScalingRule::parse(rule);
        const Model model = Svm(settings).fit(half);
        EXPECT_EQ(model.predict_labels(half.x).values, half.y.values) << rule;
        testing::expect_certified(model, half, settings);
    }
}

TEST(Rows, ThatAreCopies) {
    std::vector<std::vector<double>> rows;
    std::vector<double> signs;
    for (int i = 0; i < 60; ++i) {
        rows.push_back(i % 2 == 0 ? std::vector<double>{1, 0} : std::vector<double>{0, 1});
        signs.push_back(i % 2 == 0 ? 1 : -1);
    }
    const Dataset data = labelled(rows, signs);
    const Dataset pair = labelled({{1, 0}, {0, 1}}, {1, -1});
    const SvmSettings settings = closely({.common = {.kernel = linear()}, .C = 0.01});
    const Model model = Svm(settings).fit(data);
    testing::expect_certified(model, data, settings);
    SvmSettings more = settings;
    more.C *= 30;  // thirty copies of a row, each with C
    expect_same_decisions(model, Svm(more).fit(pair), pair.x, 1e-6);
}

TEST(Penalty, ThatIsHugeIsAHardMargin) {
    Dataset data = make("moons", {.n = 120, .noise = 0.05, .seed = 3});
    SvmSettings settings = closely({.common = {.kernel = rbf({.gamma = 2.0})}, .C = 1e8}, 1e-6);
    const Model soft = Svm(settings).fit(data);
    settings.task = Task::hard_margin;
    const Model hard = Svm(settings).fit(data);
    ASSERT_EQ(hard.report().status, FitStatus::converged);
    EXPECT_EQ(soft.report().bounded_support_vectors, 0U);
    EXPECT_NEAR(soft.report().dual, hard.report().dual, 1e-6 * hard.report().dual);
    expect_same_decisions(soft, hard, data.x, 1e-4);
}

TEST(Penalty, ThatIsHugeOnOverlappingCloudsStillEnds) {
    const Dataset data = make("moons", {.n = 80, .noise = 0.5, .seed = 3});
    for (const bool twice : {false, true}) {
        SvmSettings settings{.common = {.kernel = linear()}, .C = 1e8};
        settings.common.double_precision = twice;
        settings.common.time_limit = 1;
        const Model model = Svm(settings).fit(data);
        const Report r = model.report();
        EXPECT_TRUE(r.status == FitStatus::converged || r.status == FitStatus::stalled ||
                    r.status == FitStatus::time_limit || r.status == FitStatus::iteration_limit)
            << describe(r.status);
        expect_sound(model, data.x);
        EXPECT_GT(r.dual, 0);
        EXPECT_LE(r.dual, r.primal);
    }
}

TEST(Nu, ThatIsTinyStillTrains) {
    const Dataset data = make("moons", {.n = 100, .noise = 0.05, .seed = 3});
    for (const Task task : {Task::nu_svc, Task::one_class, Task::svdd, Task::nu_svr}) {
        SCOPED_TRACE(task_name(task));
        const SvmSettings settings = closely({.task = task,
                                              .common = {.kernel = rbf({.gamma = 2.0})},
                                              .C = task == Task::svdd ? 0 : 1.0,
                                              .nu = 1e-4});
        const Model model = Svm(settings).fit(data);
        EXPECT_EQ(model.report().status, FitStatus::converged);
        expect_sound(model, data.x);
        EXPECT_EQ(model.report().margin_errors, 0U) << "0.01 rows may be wrong: none";
        EXPECT_GE(model.report().support_vectors(), 1U);
    }
}

TEST(Nu, ThatCannotBeMetIsRefusedWithTheLargest) {
    std::vector<std::vector<double>> rows;
    std::vector<double> signs;
    for (int i = 0; i < 10; ++i) {
        rows.push_back({static_cast<double>(i)});
        signs.push_back(i < 2 ? 1 : -1);
    }
    const Dataset data = labelled(rows, signs);
    expect_message(message_of([&] { nu_svc({.nu = 0.5}).fit(data); }),
                   {"nu = 0.5", "largest feasible value is 0.4"});
    EXPECT_EQ(nu_svc({.kernel = linear(), .nu = 0.4}).fit(data).report().status,
              FitStatus::converged);
    for (const double nu : {0.0, -0.1, 1.5, nan}) {
        for (const Task task : {Task::nu_svc, Task::nu_svr}) {
            expect_message(message_of([&] { Svm({.task = task, .nu = nu}).fit(data); }),
                           {"nu", "greater than 0"});
        }
        // Without errors a single class is separated from the origin.
        if (nu == 0) continue;
        expect_message(message_of([&] { Svm({.task = Task::one_class, .nu = nu}).fit(data); }),
                       {"nu", "0"});
    }
}

TEST(Nu, ThatIsTooSmallForTheOverlapLeavesNoMargin) {
    // Contradictory rows in equal number: half of all must be errors, so below ν = 1 the optimum is
    // ρ = 0 and w = 0 (001: then the machine is trivial). It is still certified.
    const Dataset data = labelled({{1}, {1}, {2}, {2}}, {1, -1, 1, -1});
    const SvmSettings settings =
        closely({.task = Task::nu_svc, .common = {.kernel = linear()}, .nu = 0.5});
    const Model model = Svm(settings).fit(data);
    const Report r = model.report();
    EXPECT_NEAR(r.rho, 0, 1e-7);
    expect_sound(model, data.x);
    if (r.rho == 0) {
        EXPECT_LE(r.kkt_violation, settings.tolerance);
        EXPECT_NEAR(r.primal, 0, 1e-7);
        EXPECT_NEAR(r.dual, 0, 1e-7);
        EXPECT_EQ(r.margin, 0);
    }
}

TEST(RowWeights, OfZeroAreRowsThatAreNotThere) {
    Dataset data = make("moons", {.n = 50, .noise = 0.3, .seed = 6});
    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.weights.push_back(i % 3 == 0 ? 0.0 : 1.0);
        if (i % 3 != 0) kept.push_back(i);
    }
    Dataset fewer = data.select(kept);
    fewer.weights.clear();
    const SvmSettings settings = closely({.common = {.kernel = rbf({.gamma = 1.0})}, .C = 2});
    const Model a = Svm(settings).fit(data);
    const Model b = Svm(settings).fit(fewer);
    EXPECT_EQ(a.expansion().coefficients.values(), b.expansion().coefficients.values());
    EXPECT_EQ(a.expansion().bias, b.expansion().bias);
    for (std::size_t i = 0; i < a.origins().size(); ++i) {
        EXPECT_EQ(a.origins()[i], kept[b.origins()[i]]) << "origins count all rows";
    }
    testing::expect_certified(a, data, settings);
    data.weights.assign(data.size(), 0.0);
    expect_message(message_of([&] { Svm(settings).fit(data); }), {"weight 0"});
    data.weights.assign(data.size(), 1.0);
    for (std::size_t i = 0; i < data.size(); ++i) data.weights[i] = data.y.values[i] < 0 ? 1 : 0;
    expect_message(message_of([&] { Svm(settings).fit(data); }), {"two classes"});
}

TEST(RowWeights, ThatAreNoWeightsAreRefused) {
    Dataset data = make("moons", {.n = 10});
    for (const double bad : {-1.0, nan, infinity}) {
        data.weights.assign(10, 1.0);
        data.weights[4] = bad;
        expect_message(message_of([&] { svc({}).fit(data); }), {"weight"});
    }
    data.weights = {1, 2};
    expect_message(message_of([&] { svc({}).fit(data); }), {"weights"});
}

TEST(Numbers, ThatAreNotFiniteAreRefused) {
    const auto fit = [](Task task, const Kernel& kernel, double value, bool twice) {
        Dataset data = labelled({{0, 1}, {1, 1}, {2, value}, {3, 0}}, {1, -1, 1, -1});
        SvmSettings settings{.task = task, .common = {.kernel = kernel}};
        settings.common.double_precision = twice;
        return message_of([&] { Svm(settings).fit(data); });
    };
    for (const bool twice : {false, true}) {
        for (const Task task : {Task::svc, Task::svr, Task::one_class}) {
            for (const Kernel& kernel :
                 {linear(), rbf({.gamma = 1.0}), rbf({.gamma = scale_rule})}) {
                EXPECT_NE(fit(task, kernel, nan, twice), "") << kernel.text();
                EXPECT_NE(fit(task, kernel, infinity, twice), "") << kernel.text();
                EXPECT_EQ(fit(task, kernel, 0.5, twice), "") << kernel.text();
            }
        }
    }
    expect_message(fit(Task::svc, linear(), nan, false), {"row 3", "column 2", "nan"});
    const Model model =
        svc({.kernel = rbf({.gamma = 1.0})}).fit(labelled({{0, 1}, {1, 1}, {3, 0}}, {1, -1, 1}));
    expect_message(message_of([&] {
                       model.predict(points({{1, 1}, {nan, 1}}).x);
                   }),
                   {"row 2", "column 1"});
    expect_message(message_of([&] {
                       model.predict(points({{1, infinity}}).x.to_sparse());
                   }),
                   {"row 1", "column 2", "inf"});
    const Dataset bad_target = points({{0}, {1}}, {1, nan});
    expect_message(message_of([&] { svr({}).fit(bad_target); }), {"row 2", "not finite"});
    EXPECT_NE(message_of([&] { svc({}).fit(bad_target); }), "");
}

// Machines of such targets had infinite brackets, or none, and said nothing.
TEST(Targets, WhoseSquaresOverflowAreRefused) {
    for (const MachineEntry* entry : machines()) {
        if (entry->learns != Learns::numbers || !entry->command.empty()) continue;
        const Machine machine = entry->make({.kernel = rbf({.gamma = 1.0})}, {});
        const auto fit = [&](double size) {
            return message_of([&] {
                machine.fit(
                    points({{0}, {1}, {2}, {3}, {4}, {5}}, {size, -size, size, -size, size, 0}));
            });
        };
        EXPECT_EQ(fit(1), "") << entry->name;
        expect_message(fit(1e308), {"row 1", "1e+308", "squares"});
    }
}

TEST(Settings, OutOfRangeAreRefused) {
    const Dataset data = make("moons", {.n = 10});
    for (const double C : {0.0, -1.0, nan, infinity}) {
        expect_message(message_of([&] { svc({.C = C}).fit(data); }), {"C = ", "greater than 0"});
    }
    expect_message(message_of([&] { svr({.epsilon = -0.1}).fit(data); }), {"epsilon = -0.1"});
    SvmSettings settings;
    settings.tolerance = 0;
    expect_message(message_of([&] { Svm(settings).fit(data); }), {"tolerance = 0"});
    expect_message(message_of([&] { Svm({.task = Task::svr, .bias = false}).fit(data); }),
                   {"bias"});
}

}  // namespace
}  // namespace mercer
