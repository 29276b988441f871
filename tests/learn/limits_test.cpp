// Trainings that are cut short or short of memory, and the promise that threads change nothing.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <new>

#include "learn/certificate.hpp"
#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/risk/class_means.hpp"
#include "mercer/learn/risk/neighbours.hpp"

namespace mercer {
namespace {

using testing::closely;
using testing::expect_same_decisions;

struct Bounds {
    double primal = 0;
    double dual = 0;
};

/// Primal and dual of the problem that was set. The report of ν-SVC is about the machine divided by
/// ρ, whose C = 1/ρ is its own: undivided it is ½‖w‖² − ν m ρ + Σ ξ against −½‖w‖².
Bounds bounds_of(const Model& model, std::size_t i) {
    const Report& r = model.reports()[i];
    if (model.task() != Task::nu_svc) return {r.primal, r.dual};
    const double rho2 = r.rho * r.rho;
    return {rho2 * r.primal - r.nu * static_cast<double>(r.rows) * r.rho,
            -0.5 * rho2 * r.squared_norm};
}

/// A model of a training that was stopped: feasible, its primal and dual on either side of the
/// optimum, its certificate the same when computed again.
void expect_valid_early_model(const Model& model, const Dataset& data, const Model& finished) {
    ASSERT_EQ(model.reports().size(), finished.reports().size());
    const std::vector<Report> again = recompute_reports(model, data);
    for (std::size_t i = 0; i < model.reports().size(); ++i) {
        const Report& r = model.reports()[i];
        EXPECT_LE(r.infeasibility, 1e-9);
        const double optimum = bounds_of(finished, i).dual;
        const double slack = 1e-6 * std::abs(optimum);
        EXPECT_LE(bounds_of(model, i).dual, optimum + slack);
        EXPECT_GE(bounds_of(model, i).primal, optimum - slack);
        EXPECT_GE(r.relative_gap, -1e-9);
        EXPECT_NEAR(again[i].primal, r.primal, 1e-4 * std::abs(r.primal));
        EXPECT_NEAR(again[i].dual, r.dual, 1e-4 * std::abs(r.primal));
        EXPECT_LE(again[i].infeasibility, 1e-9);
    }
    const Matrix<double> f = model.decision(data.x);
    for (const double value : f.values()) EXPECT_TRUE(std::isfinite(value));
}

class CutShort : public ::testing::TestWithParam<Task> {
   protected:
    Dataset data() const {
        return is_regressor(GetParam()) ? make("sinc", {.n = 900, .seed = 2})
                                        : make("moons", {.n = 900, .noise = 0.3, .seed = 2});
    }
    SvmSettings settings() const {
        return {.task = GetParam(),
                .common = {.kernel = rbf({.gamma = 1.0})},
                .C = GetParam() == Task::svdd ? 0 : 1.0,
                .nu = 0.2};
    }
};

TEST_P(CutShort, ByTheClock) {
    SvmSettings s = settings();
    const Model finished = Svm(s).fit(data());
    s.common.time_limit = 1e-6;
    const Model model = Svm(s).fit(data());
    EXPECT_EQ(model.report().status, FitStatus::time_limit) << describe(model.report().status);
    expect_valid_early_model(model, data(), finished);
}

TEST_P(CutShort, ByTheNumberOfSteps) {
    SvmSettings s = settings();
    const Model finished = Svm(s).fit(data());
    s.iteration_limit = 1;
    const Model model = Svm(s).fit(data());
    EXPECT_EQ(model.report().status, FitStatus::iteration_limit);
    EXPECT_LE(model.report().iterations, 1U);
    expect_valid_early_model(model, data(), finished);
}

TEST_P(CutShort, ByTheListener) {
    SvmSettings s = settings();
    s.tolerance = 1e-10;
    s.common.double_precision = true;
    const Model finished = Svm(s).fit(data());
    int told = 0;
    s.common.progress = [&](const Moment& moment) {
        EXPECT_EQ(moment.figure("parts"), 1);
        return ++told < 2;
    };
    const Model model = Svm(s).fit(data());
    EXPECT_EQ(told, 2);
    EXPECT_EQ(model.report().status, FitStatus::cancelled);
    expect_valid_early_model(model, data(), finished);
}

INSTANTIATE_TEST_SUITE_P(Tasks, CutShort,
                         ::testing::Values(Task::svc, Task::nu_svc, Task::svr, Task::nu_svr,
                                           Task::one_class, Task::svdd),
                         [](const auto& parameter) {
                             std::string name = task_name(parameter.param);
                             for (char& c : name) c = c == '-' ? '_' : c;
                             return name;
                         });

TEST(CutShortAmongClasses, LeavesTheRestAtItsStart) {
    const Dataset data = embedded("digits");
    SvmSettings settings{.common = {.kernel = rbf({.gamma = 0.001})}, .C = 1};
    const Model finished = Svm(settings).fit(data);
    std::set<std::size_t> begun;
    settings.common.progress = [&](const Moment& moment) {
        begun.insert(static_cast<std::size_t>(moment.figure("part")));
        return begun.size() <= 10;
    };
    set_threads(1);  // with more, pairs are under way together and the last of the ten cut short
    const Model model = Svm(settings).fit(data);
    set_threads(0);
    ASSERT_EQ(model.reports().size(), 45U);
    EXPECT_EQ(model.report().status, FitStatus::cancelled);
    const auto count = [&](FitStatus status) {
        return std::ranges::count(model.reports(), status, &Report::status);
    };
    EXPECT_EQ(count(FitStatus::converged), 10);
    EXPECT_EQ(count(FitStatus::cancelled), 35);
    expect_valid_early_model(model, data, finished);
}

TEST(CutShortAmongClasses, OneAgainstTheRestIsLeftWithoutALookAtItsRows) {
    const Dataset data = embedded("digits");
    SvmSettings settings{.common = {.kernel = rbf({.gamma = 0.001})},
                         .C = 1,
                         .multi_class = MultiClass::one_vs_rest};
    const Model finished = Svm(settings).fit(data);
    std::set<std::size_t> begun;
    settings.common.progress = [&](const Moment& moment) {
        begun.insert(static_cast<std::size_t>(moment.figure("part")));
        return begun.size() <= 3;
    };
    const Model model = Svm(settings).fit(data);
    EXPECT_EQ(begun.size(), 4U);
    ASSERT_EQ(model.reports().size(), 10U);
    for (std::size_t c = 0; c < 10; ++c) {
        const Report& r = model.reports()[c];
        EXPECT_EQ(r.status, c < 3 ? FitStatus::converged : FitStatus::cancelled) << c;
        EXPECT_EQ(r.rows, data.size());
        if (c < 4) continue;
        EXPECT_EQ(r.seconds, 0) << c;  // a part that is begun and stopped takes some time
        EXPECT_EQ(model.expansion().bias[c], -1);
        EXPECT_EQ(r.relative_gap, 1);
    }
    expect_valid_early_model(model, data, finished);
    settings.probability = true;
    begun.clear();
    EXPECT_TRUE(has_probabilities(Svm(settings).fit(data)));
}

/// Rows of so many classes, ten each.
Dataset many_classes(std::size_t classes) {
    Dataset data;
    Random random(3);
    std::vector<float> x;
    for (std::size_t i = 0; i < 10 * classes; ++i) {
        data.y.values.push_back(static_cast<double>(i % classes));
        for (int j = 0; j < 2; ++j) x.push_back(static_cast<float>(random.normal()));
    }
    data.x = Rows::dense(std::move(x), 2);
    return data;
}

TEST(TimeToKeep, IsThatOfAllCoefficientsAndElseFewRowsAreTaken) {
    // 5000 rows and 500 classes: 20 MB of coefficients, of which nearly all are 0.
    const Dataset data = many_classes(500);
    double needs = 0;
    const FitSettings busy{.kernel = rbf({.gamma = 1.0}), .progress = [&](const Moment& m) {
                               needs = std::max(needs, m.needs);
                               return m.needs < 0.04;
                           }};
    for (const Machine& machine : {Machine(ClassMeans({.common = busy})),
                                   Machine(NearestNeighbours(knn_task, {.common = busy}))}) {
        needs = 0;
        const Model model = machine.fit(data);
        EXPECT_NEAR(needs, 8.0 * 500 * 5000 / 0x1p28, 1e-9);
        EXPECT_EQ(model.report().status, FitStatus::cancelled);
        EXPECT_EQ(model.reports().front().figures.at("rows_given"), 5000);
        EXPECT_LT(model.expansion().size(), 1100U);
        EXPECT_EQ(model.classes(), 500U);
    }
}

TEST(FewRows, AreOfEveryKindWhereKindsComeInTurns) {
    Dataset data;
    data.x = Rows::dense(std::vector<double>(8000, 0.0), 1);
    data.y.values.resize(8000);
    for (std::size_t i = 0; i < 8000; ++i) data.y.values[i] = static_cast<double>(i % 4);
    const std::vector<std::size_t> rows = spread_rows(data, false, 500);
    ASSERT_EQ(rows.size(), 500U);
    std::array<std::size_t, 4> count{};
    for (std::size_t k = 0; k < rows.size(); ++k) {
        EXPECT_EQ(rows[k] / 16, k) << "one of each stretch";
        ++count[rows[k] % 4];
    }
    for (const std::size_t of_kind : count) EXPECT_NEAR(static_cast<double>(of_kind), 125, 25);
}

TEST(Memory, IsWhatTheGroupsOfKMeansTake) {
    const Dataset data = many_classes(300);  // 3000 rows
    KMeansSettings settings{
        .common = {.kernel = rbf({.gamma = 1.0}), .memory_bytes = std::size_t{1} << 20},
        .clusters = 50};
    try {
        KMeans(settings).fit(data);
        FAIL() << "50 groups of 3000 rows take more than one MiB";
    } catch (const InvalidInput& error) {
        EXPECT_NE(std::string(error.what()).find("raise `memory_bytes`"), std::string::npos);
    }
    settings.common.memory_bytes = std::size_t{2} << 20;  // and next to nothing for kernel values
    const Model tight = KMeans(settings).fit(data);
    settings.common.memory_bytes = std::size_t{1} << 30;
    const double roomy = KMeans(settings).fit(data).report().primal;
    EXPECT_NEAR(tight.report().primal, roomy, 1e-3 * roomy);
}

TEST(Memory, IsWhatTheVectorsOfKernelPcaTake) {
    const Dataset data = many_classes(300);
    KernelPcaSettings settings{
        .common = {.kernel = rbf({.gamma = 1.0}), .memory_bytes = std::size_t{4} << 20},
        .components = 4};
    const auto values = [&](std::size_t bytes) {
        settings.common.memory_bytes = bytes;
        const Model model = KernelPca(settings).fit(data);
        EXPECT_EQ(model.report().status, FitStatus::converged);
        return model.extras().find<Components>()->eigenvalues;
    };
    const Matrix<double> roomy = values(std::size_t{1} << 30);
    const Matrix<double> tight = values(std::size_t{3} << 20);  // 131 vectors of 3000 numbers
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(tight(j, 0), roomy(j, 0), 1e-6 * roomy(0, 0));
    try {
        values(std::size_t{1} << 20);
        FAIL() << "vectors of four components take more than one MiB";
    } catch (const InvalidInput& error) {
        EXPECT_NE(std::string(error.what()).find("raise `memory_bytes`"), std::string::npos);
    }
}

TEST(Memory, OfOneMebibyteGivesTheSameOptimum) {
    // 1500 rows: the whole matrix would take 9 MB.
    const Dataset data = make("moons", {.n = 1500, .noise = 0.3, .seed = 2});
    SvmSettings settings{.common = {.kernel = rbf({.gamma = 1.0})}, .C = 1};
    const Model roomy = Svm(settings).fit(data);
    settings.common.memory_bytes = std::size_t{1} << 20;
    const Model tight = Svm(settings).fit(data);
    testing::expect_certified(tight, data, settings);
    EXPECT_NEAR(tight.report().dual, roomy.report().dual, 1e-5 * roomy.report().dual);
    EXPECT_GE(tight.report().kernel_evaluations, roomy.report().kernel_evaluations);
    // And among several classes, where the rows of the pairs are kept apart.
    const Dataset digits = embedded("digits");
    SvmSettings pairs{.common = {.kernel = rbf({.gamma = 0.001})}, .C = 1};
    const Model all = Svm(pairs).fit(digits);
    pairs.common.memory_bytes = std::size_t{1} << 20;
    const Model few = Svm(pairs).fit(digits);
    for (std::size_t i = 0; i < all.reports().size(); ++i) {
        EXPECT_EQ(few.reports()[i].status, FitStatus::converged);
        EXPECT_NEAR(few.reports()[i].dual, all.reports()[i].dual, 1e-5 * all.reports()[i].dual);
    }
    settings.common.memory_bytes = 0;
    EXPECT_EQ(Svm(settings).fit(data).report().status, FitStatus::converged);
}

TEST(Methods, FindTheSameOptimum) {
    const Dataset data = make("moons", {.n = 300, .noise = 0.3, .seed = 2});
    for (const Task task : {Task::svc, Task::nu_svc, Task::one_class}) {
        SvmSettings settings{.task = task, .common = {.kernel = rbf({.gamma = 1.0})}, .nu = 0.3};
        const Model reference = Svm(settings).fit(data);
        for (const DualMethod method : {DualMethod::smo, DualMethod::chunking}) {
            for (const bool shrinking : {true, false}) {
                settings.method = method;
                settings.shrinking = shrinking;
                const Model model = Svm(settings).fit(data);
                testing::expect_certified(model, data, settings);
                const double dual = bounds_of(model, 0).dual;
                const double expected = bounds_of(reference, 0).dual;
                EXPECT_NEAR(dual, expected, 1e-4 * std::abs(expected));
            }
        }
    }
}

TEST(RelativeGap, StopsTheTrainingWhenItIsReached) {
    const Dataset data = make("moons", {.n = 800, .noise = 0.3, .seed = 2});
    SvmSettings settings = closely({.common = {.kernel = rbf({.gamma = 5.0})}, .C = 10}, 1e-9);
    const Model exact = Svm(settings).fit(data);
    settings.relative_gap = 0.01;
    const Model rough = Svm(settings).fit(data);
    EXPECT_EQ(rough.report().status, FitStatus::converged);
    EXPECT_LE(rough.report().relative_gap, 0.01 * (1 + 1e-6));
    EXPECT_LT(rough.report().iterations, exact.report().iterations);
    EXPECT_LE(rough.report().dual, exact.report().dual * (1 + 1e-9));
    EXPECT_GE(rough.report().primal, exact.report().dual);
}

TEST(IndefiniteKernel, ReturnsWithAStatus) {
    const Dataset data = make("moons", {.n = 120, .noise = 0.3, .seed = 2});
    const std::vector<Kernel> kernels = {sigmoid({.gamma = 1.0, .coef0 = 1.0}),
                                         sigmoid({.gamma = 2.0, .coef0 = -1.0}),
                                         0.2 * linear() - rbf({.gamma = 1.0})};
    for (const Kernel& kernel : kernels) {
        for (const Task task : {Task::svc, Task::nu_svc, Task::svr, Task::one_class}) {
            SCOPED_TRACE(kernel.text() + ' ' + task_name(task));
            SvmSettings settings{.task = task, .common = {.kernel = kernel}, .nu = 0.3};
            settings.common.time_limit = 2;
            const Model model = Svm(settings).fit(data);
            const Report r = model.report();
            EXPECT_NE(r.status, FitStatus::not_separable);
            EXPECT_LE(r.infeasibility, 1e-9);
            if (r.status == FitStatus::converged) {
                EXPECT_LE(r.kkt_violation, settings.tolerance);
            }
            const Matrix<double> f = model.decision(data.x);
            for (const double value : f.values()) ASSERT_TRUE(std::isfinite(value));
        }
    }
}

/// Everything that a model says, as numbers.
std::vector<double> numbers_of(const Model& model, const Dataset& data) {
    std::vector<double> all = model.expansion().coefficients.values();
    const auto add = [&](const std::vector<double>& more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    add(model.expansion().bias);
    add(model.decision(data.x).values());
    if (!sigmoids_of(model.extras()).empty()) add(model.probabilities(data.x).values());
    for (const auto& reports : {model.reports(), recompute_reports(model, data)}) {
        for (const Report& r : reports) {
            add({r.primal, r.dual, r.kkt_violation, r.squared_norm, r.rho, r.epsilon, r.radius});
            add({static_cast<double>(r.iterations), static_cast<double>(r.kernel_evaluations)});
        }
    }
    return all;
}

class Threads : public ::testing::Test {
   protected:
    ~Threads() override { set_threads(0); }

    static void expect_same_for_any_number(const SvmSettings& settings, const Dataset& data) {
        std::vector<double> alone;
        for (const std::size_t count : {1U, 2U, 4U}) {
            set_threads(count);
            const Model model = Svm(settings).fit(data);
            const std::vector<double> numbers = numbers_of(model, data);
            if (count == 1) alone = numbers;
            ASSERT_EQ(numbers, alone) << count << " threads, " << task_name(settings.task);
        }
    }
};

TEST_F(Threads, ChangeNoBitOfAClassifier) {
    SvmSettings settings{.common = {.kernel = rbf({.gamma = 0.001})}, .C = 1};
    settings.probability = true;
    expect_same_for_any_number(settings, embedded("digits"));
    settings.probability = false;
    settings.common.kernel = polynomial({.degree = 2, .gamma = 0.01});
    settings.common.double_precision = true;
    expect_same_for_any_number(settings, embedded("iris"));
    settings.multi_class = MultiClass::one_vs_rest;
    expect_same_for_any_number(settings, embedded("iris"));
}

TEST_F(Threads, ChangeNoBitOfTheOtherMachines) {
    const Dataset moons = make("moons", {.n = 1200, .noise = 0.3, .seed = 2});
    const Dataset sinc = make("sinc", {.n = 1200, .seed = 2});
    for (const Task task : {Task::nu_svc, Task::svr, Task::nu_svr, Task::one_class, Task::svdd}) {
        const SvmSettings settings{.task = task,
                                   .common = {.kernel = rbf({.gamma = 1.0})},
                                   .C = task == Task::svdd ? 0 : 1.0,
                                   .nu = 0.2};
        expect_same_for_any_number(settings, is_regressor(task) ? sinc : moons);
    }
    SvmSettings tight{.common = {.kernel = rbf({.gamma = 1.0})}};
    tight.common.memory_bytes = std::size_t{1} << 20;
    expect_same_for_any_number(tight, moons);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// Sanitizers take more addresses than any limit leaves.
TEST(ShortOfMemory, CopyOfASettingIsRefusedAndDoesNotCrash) {
    const auto copy_without_memory = [] {
        constexpr std::size_t count = std::size_t{1} << 25;  // 256 MiB, once and not twice
        const SettingValue value(std::vector<double>(count, 1.0));
        long pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const rlim_t most = static_cast<rlim_t>(pages) * 4096 + count * sizeof(double) / 2;
        const rlimit limit{most, most};
        setrlimit(RLIMIT_AS, &limit);
        try {
            const SettingValue copy(value);
            std::_Exit(copy.index() == value.index() ? 1 : 2);
        } catch (const std::bad_alloc&) {
            std::_Exit(0);
        }
    };
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(copy_without_memory(), ::testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace mercer
