// Whoever says stop, or whose time is up, is answered with a valid machine: trainings that would
// take minutes are stopped after a fraction of a second. How soon they answer, ./dev check limits
// measures.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>

#include "mercer/base/error.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/components/cca.hpp"
#include "mercer/learn/components/dependency.hpp"
#include "mercer/learn/components/hebbian.hpp"
#include "mercer/learn/components/ica.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/groups/quantiser.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/online/perceptron.hpp"
#include "mercer/learn/risk/class_means.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double patience = 0.1;  // seconds until it is over

Dataset noise(std::size_t n, std::size_t columns, bool classes) {
    Random random(5);
    std::vector<double> values;
    Dataset data;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < columns; ++j) values.push_back(random.normal());
        const double y = random.normal();
        data.y.values.push_back(classes ? (y > 0 ? 1 : -1) : y);
    }
    data.x = Rows::dense(std::move(values), columns);
    return data;
}

struct Work {
    std::string name;
    std::function<Model(const FitSettings&)> fit;
    std::size_t columns = 12;
};

Model svm_of(Task task, const FitSettings& common, const Dataset& data) {
    SvmSettings s{.task = task, .common = {.kernel = common.kernel}, .tolerance = 1e-9};
    s.C = task == Task::svdd ? 0 : 1e6;
    s.nu = 0.3;
    s.epsilon = 1e-6;
    s.common.time_limit = common.time_limit;
    if (common.progress) {
        s.common.progress = [&](const Moment&) { return common.progress({"training", -1}); };
    }
    return Svm(s).fit(data);
}

template <class Settings>
Settings with(const FitSettings& common, Settings settings) {
    settings.common = common;
    return settings;
}

std::vector<Work> works() {
    constexpr std::size_t n = 4000;
    const Dataset two = noise(n, 12, true);
    const Dataset numbers = noise(n, 12, false);
    const auto loss = [](Loss which, const Dataset& data) {
        return [=](const FitSettings& c) {
            return risk_minimiser(with(c, RiskSettings{.loss = which, .lambda = 1e-3})).fit(data);
        };
    };
    std::vector<Work> list;
    for (const Task task : {Task::svc, Task::nu_svc, Task::one_class, Task::svdd}) {
        list.push_back(
            {task_name(task), [=](const FitSettings& c) { return svm_of(task, c, two); }});
    }
    for (const Task task : {Task::svr, Task::nu_svr}) {
        list.push_back(
            {task_name(task), [=](const FitSettings& c) { return svm_of(task, c, numbers); }});
    }
    list.push_back({"class-means", [=](const FitSettings& c) {
                        return class_means(with(c, ClassMeansSettings{})).fit(two);
                    }});
    list.push_back({"parzen", [=](const FitSettings& c) {
                        return parzen(with(c, ParzenSettings{})).fit(two);
                    }});
    list.push_back({"perceptron", [=](const FitSettings& c) {
                        return perceptron(with(c, PerceptronSettings{.passes = 100000})).fit(two);
                    }});
    list.push_back({"adatron", [=](const FitSettings& c) {
                        AdatronSettings s{.common = c};
                        s.C = 1e6;
                        s.tolerance = 1e-12;
                        s.passes = 100000;
                        return adatron(s).fit(two);
                    }});
    list.push_back({"ridge", [=](const FitSettings& c) {
                        return ridge(with(c, RidgeSettings{})).fit(numbers);
                    }});
    list.push_back({"ridge by conjugate gradients", [=](const FitSettings& c) {
                        RidgeSettings s{.common = c, .lambda = 1e-6};
                        s.method = RidgeMethod::conjugate_gradient;
                        return ridge(s).fit(numbers);
                    }});
    list.push_back({"ridge path", [=](const FitSettings& c) {
                        return ridge(with(c, RidgeSettings{.path = {0.1, 1}})).fit(numbers);
                    }});
    list.push_back({"logistic", loss(Loss::logistic, two)});
    list.push_back({"squared hinge", loss(Loss::squared_hinge, two)});
    list.push_back({"huber", loss(Loss::huber, numbers)});
    list.push_back({"quantile", loss(Loss::quantile, numbers)});
    list.push_back({"gp", [=](const FitSettings& c) {
                        return gaussian_process(with(c, GaussianProcessSettings{})).fit(numbers);
                    }});
    list.push_back({"gp optimised", [=](const FitSettings& c) {
                        return gaussian_process(with(c, GaussianProcessSettings{.optimise = true}))
                            .fit(numbers);
                    }});
    list.push_back({"k-means", [=](const FitSettings& c) {
                        KMeansSettings s{.common = c};
                        s.clusters = 100;
                        s.starts = 1000;
                        return kmeans(s).fit(two);
                    }});
    list.push_back({"vq", [=](const FitSettings& c) {
                        VectorQuantiserSettings s{.common = c};
                        s.radius = 0.8;
                        return vector_quantiser(s).fit(two);
                    }});
    for (const std::size_t components : {std::size_t{0}, std::size_t{40}}) {
        list.push_back({"kpca " + std::to_string(components), [=](const FitSettings& c) {
                            KernelPcaSettings s{.common = c};
                            s.components = components;
                            return kernel_pca(s).fit(two);
                        }});
    }
    list.push_back({"kha", [=](const FitSettings& c) {
                        HebbianSettings s{.common = c};
                        s.passes = 100000;
                        return hebbian_pca(s).fit(two);
                    }});
    // Its dictionary alone takes longer than anybody is patient.
    list.push_back({"kha of many words", [=](const FitSettings& c) {
                        HebbianSettings s{.common = c};
                        s.dictionary = 3000;
                        return hebbian_pca(s).fit(two);
                    }});
    list.push_back({"ica", [=](const FitSettings& c) {
                        return kernel_ica(with(c, IcaSettings{})).fit(noise(n, 4, true));
                    }});
    list.push_back({"cca", [=](const FitSettings& c) {
                        CcaSettings s{.x = c};
                        s.y_kernel = c.kernel;
                        return kernel_cca(s).fit(two, noise(n, 5, true));
                    }});
    list.push_back({"dependency", [=](const FitSettings& c) {
                        DependencySettings s{.common = c};
                        s.output_kernel = c.kernel;
                        return dependency(s).fit(two, noise(n, 5, true));
                    }});
    return list;
}

void expect_valid(const Model& model, const std::string& name) {
    const Dataset some = noise(7, model.columns(), true);
    const Matrix<double> f = model.decision(some.x);
    for (const double value : f.values()) EXPECT_TRUE(std::isfinite(value)) << name;
    for (const Report& r : model.reports()) {
        EXPECT_TRUE(std::isfinite(r.primal) && std::isfinite(r.gap)) << name;
    }
}

TEST(Interrupt, EveryMachineStopsWhenToldTo) {
    for (const double until : {0.0, patience}) {
        for (const Work& work : works()) {
            const auto start = Clock::now();
            std::atomic<bool> told{false};
            FitSettings common{.kernel = Kernel::parse("rbf(gamma=0.05)")};
            common.progress = [&](const Moment&) {
                if (seconds_since(start) >= until) told = true;
                return !told;
            };
            const Model model = work.fit(common);
            EXPECT_TRUE(told || until > 0) << work.name << " never asked";
            // A machine that was done before anybody lost patience says so.
            EXPECT_EQ(model.report().status, told ? FitStatus::cancelled : FitStatus::converged)
                << work.name << ": " << describe(model.report().status);
            expect_valid(model, work.name);
        }
    }
}

TEST(Interrupt, EveryMachineLooksAtItsTimeLimit) {
    for (const double limit : {1e-6, patience}) {
        for (const Work& work : works()) {
            FitSettings common{.kernel = Kernel::parse("rbf(gamma=0.05)")};
            common.time_limit = limit;
            const Model model = work.fit(common);
            const FitStatus status = model.report().status;
            const bool done = limit == patience && status == FitStatus::converged;
            EXPECT_TRUE(done || status == FitStatus::time_limit)
                << work.name << ": " << describe(status);
            expect_valid(model, work.name);
        }
    }
}

TEST(Interrupt, FewRowsStandForAllAndSaySo) {
    const Dataset data = noise(3000, 4, false);
    FitSettings common{.kernel = Kernel::parse("rbf(gamma=0.1)")};
    common.progress = [](const Moment&) { return false; };
    const Model model = ridge({.common = common}).fit(data);
    const Report r = model.report();
    EXPECT_EQ(r.status, FitStatus::cancelled);
    EXPECT_EQ(r.figures.at("rows_given"), 3000);
    EXPECT_EQ(r.rows, model.expansion().size());
    EXPECT_LT(r.rows, 1000U);
    EXPECT_LT(r.relative_gap, 1e-9) << "certified for the rows it has";
    ASSERT_EQ(model.origins().size(), model.expansion().size());
    std::vector<double> row(4), point(4);
    for (std::size_t i = 0; i < model.origins().size(); ++i) {
        data.x.copy_row(model.origins()[i], row);
        model.expansion().points.copy_row(i, point);
        ASSERT_EQ(row, point);
    }
}

TEST(Interrupt, TheFirstSumsOfAStartWithManyRowsAsk) {
    const std::size_t n = 17000;  // half of them in the start: more than is summed at one go
    SvmSettings s{.task = Task::one_class, .common = {.kernel = Kernel::parse("rbf(gamma=0.1)")}};
    s.common.progress = [](const Moment&) { return false; };
    const Model stopped = Svm(s).fit(noise(n, 2, true));
    EXPECT_EQ(stopped.report().status, FitStatus::cancelled);
    ASSERT_TRUE(stopped.report().figures.contains("rows_given"));
    EXPECT_EQ(stopped.report().figures.at("rows_given"), static_cast<double>(n));
    s.common.progress = nullptr;
    s.common.time_limit = 1e-6;
    const Model late = Svm(s).fit(noise(n, 2, true));
    EXPECT_EQ(late.report().status, FitStatus::time_limit);
    EXPECT_TRUE(late.report().figures.contains("rows_given"));
    expect_valid(late, "one-class");
}

TEST(Interrupt, TheCentreOfMassUnderASupportVectorMachineAsks) {
    const Dataset data = noise(3000, 4, true);
    for (const bool twice : {false, true}) {
        SvmSettings s{.task = Task::svc,
                      .common = {.kernel = Kernel::parse("center(rbf(gamma=0.1))")}};
        s.common.double_precision = twice;
        bool solving = false;
        s.common.progress = [&](const Moment& m) {
            solving = solving || !m.figures.empty();
            return false;
        };
        const Model model = Svm(s).fit(data);
        EXPECT_FALSE(solving) << "it was asked only when the centre was known";
        const Report r = model.report();
        EXPECT_EQ(r.status, FitStatus::cancelled);
        EXPECT_EQ(r.figures.at("rows_given"), 3000);
        EXPECT_LE(r.rows, 502U);
        EXPECT_EQ(model.expansion().reference.size(), r.rows);
        EXPECT_LT(model.origins().back(), 3000U);
        EXPECT_GT(model.origins().back(), 502U) << "spread over all rows";
        s.common.progress = nullptr;
        s.common.time_limit = 1e-6;
        EXPECT_EQ(Svm(s).fit(data).report().status, FitStatus::time_limit);
    }
}

TEST(Interrupt, ACentreOfMassThatIsLeftInPeaceChangesNothing) {
    Dataset data = noise(300, 3, false);
    SvmSettings s{.task = Task::svr, .common = {.kernel = Kernel::parse("center(rbf(gamma=0.5))")}};
    s.C = 3;
    const Model silent = Svm(s).fit(data);
    int asked = 0;
    s.common.progress = [&](const Moment&) { return ++asked > 0; };
    s.common.time_limit = 1000;
    const Model asking = Svm(s).fit(data);
    EXPECT_GT(asked, 1);
    EXPECT_EQ(silent.report().status, FitStatus::converged);
    EXPECT_FALSE(asking.report().figures.contains("rows_given"));
    EXPECT_EQ(asking.decision(data.x).values(), silent.decision(data.x).values());
}

TEST(Interrupt, EigenvaluesByStepsAreThoseOfTheWholeRoutine) {
    Random random(3);
    const std::size_t n = 450;  // beyond what goes through LAPACK at one go
    Matrix<double> a(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) a(i, j) = a(j, i) = random.normal();
    }
    const Spectrum s = symmetric_eigen(a.view());
    const Spectrum values = symmetric_eigen(a.view(), false);
    double worst = 0;
    double trace = 0;
    for (std::size_t p = 0; p < n; ++p) {
        EXPECT_NEAR(values.values[p], s.values[p], 1e-10);
        EXPECT_LE(s.values[p > 0 ? p - 1 : 0], s.values[p]);
        trace += s.values[p] - a(p, p);
        for (std::size_t i = 0; i < n; i += 17) {
            double image = 0;
            for (std::size_t j = 0; j < n; ++j) image += a(i, j) * s.vectors(p, j);
            worst = std::max(worst, std::fabs(image - s.values[p] * s.vectors(p, i)));
        }
    }
    EXPECT_LT(worst, 1e-10);
    EXPECT_NEAR(trace, 0, 1e-8);
    EXPECT_THROW(symmetric_eigen(a.view(), true, [](const Moment&) { return false; }), Cancelled);
}

TEST(Interrupt, FactorAndInverseAskBetweenTheirBlocks) {
    const std::size_t n = 600;
    Matrix<double> a(n, n, 0.5);
    for (std::size_t i = 0; i < n; ++i) a(i, i) = 2;
    int asked = 0;
    Matrix<double> b = a;
    EXPECT_TRUE(cholesky(b.view(), [&](const Moment&) { return ++asked > 0; }));
    EXPECT_GT(asked, 4);
    EXPECT_THROW(cholesky_inverse(b.view(), [](const Moment&) { return false; }), Cancelled);
    EXPECT_THROW(cholesky(a.view(), [](const Moment&) { return false; }), Cancelled);
}

TEST(Interrupt, RunOnceOverStaysOver) {
    int asked = 0;
    const mercer::Run told([&](const Moment&) { return ++asked < 3; });
    EXPECT_TRUE(told.goes_on({"a", 0}));
    EXPECT_TRUE(told.goes_on({"a", 0}));
    EXPECT_FALSE(told.goes_on({"a", 0}));
    EXPECT_FALSE(told.progress()({"a", 0}));
    EXPECT_EQ(asked, 3);
    EXPECT_TRUE(told.is_over());
    EXPECT_FALSE(told.out_of_time());
    const mercer::Run timed({}, 1e-9);
    while (timed.goes_on({"a", 0})) {
    }
    EXPECT_TRUE(timed.out_of_time());
}

}  // namespace
}  // namespace mercer
