// What every machine owes to every form of the same data: dense or sparse rows, a Gram matrix given
// ready, any kernel expression, any number of threads.
#include <gtest/gtest.h>

#include <functional>

#include "learn/small.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/online/perceptron.hpp"
#include "mercer/learn/risk/class_means.hpp"

namespace mercer {
namespace {

using testing::with_double_rows;

/// One of each, for this kernel.
std::vector<Machine> machines(const FitSettings& common) {
    PerceptronSettings voted{.common = common, .passes = 2};
    voted.variant = PerceptronVariant::voted;
    return {class_means({.common = common}),
            parzen({.common = common, .nu = 0.2}),
            perceptron({.common = common, .passes = 3}),
            perceptron({.common = common, .passes = 3, .budget = 25}),
            perceptron(voted),
            adatron({.common = common, .C = 1, .tolerance = 1e-6, .passes = 20'000}),
            kmeans({.common = common, .clusters = 3, .starts = 2})};
}

Dataset sample() {
    return with_double_rows(make("moons", {.n = 60, .noise = 0.3}));
}

void expect_near(const Matrix<double>& f, const Matrix<double>& g, const std::string& name) {
    ASSERT_EQ(f.values().size(), g.values().size()) << name;
    for (std::size_t i = 0; i < f.values().size(); ++i) {
        ASSERT_NEAR(f.values()[i], g.values()[i], 1e-4) << name << ", value " << i;
    }
}

TEST(AnyKernel, SparseRowsAndAReadyMatrixGiveTheSame) {
    const Dataset data = sample();
    for (const char* text : {"rbf(gamma=1)", "0.5*polynomial(degree=2) + laplacian(gamma=1)",
                             "rbf(gamma=scale)", "center(rbf(gamma=0.7))"}) {
        FitSettings common{.kernel = Kernel::parse(text), .double_precision = true};
        const auto dense = machines(common);
        Dataset sparse = data;
        sparse.x = data.x.to_sparse();
        Dataset ready = data;
        Matrix<double> k(data.size(), data.size());
        Gram<double>(common.kernel, data.x).matrix(k.view());
        ready.x = Rows::dense(k.values(), data.size());
        ready.feature_names.clear();
        common.kernel = precomputed();
        const auto given = machines(common);
        for (std::size_t m = 0; m < dense.size(); ++m) {
            const std::string name = std::string(text) + ", " + task_name(dense[m].task());
            const Matrix<double> f = dense[m].fit(data).decision(data.x);
            expect_near(f, dense[m].fit(sparse).decision(sparse.x), name + ", sparse");
            expect_near(f, given[m].fit(ready).decision(ready.x), name + ", ready");
        }
    }
}

TEST(AnyKernel, TheNumberOfThreadsChangesNothing) {
    const Dataset data = embedded("digits");
    const FitSettings common{.kernel = rbf({.gamma = 0.001}), .memory_bytes = 4 << 20};
    std::vector<Machine> some{class_means({.common = common}),
                              perceptron({.common = common, .passes = 2}),
                              kmeans({.common = common, .clusters = 10, .starts = 1, .passes = 3})};
    for (const Machine& machine : some) {
        set_threads(1);
        const Model one = machine.fit(data);
        set_threads(3);
        const Model three = machine.fit(data);
        set_threads(0);
        EXPECT_EQ(one.expansion().coefficients.values(), three.expansion().coefficients.values())
            << task_name(machine.task());
        EXPECT_EQ(one.expansion().bias, three.expansion().bias) << task_name(machine.task());
    }
}

TEST(AnyKernel, TextLabelsAndScalingAreKept) {
    const Dataset iris = embedded("iris");
    const FitSettings common{.kernel = rbf({.gamma = 0.5}),
                             .scaling = ScalingRule::parse("standard")};
    for (const Machine& machine :
         {Machine(class_means({.common = common})), Machine(perceptron({.common = common})),
          Machine(adatron({.common = common, .C = 1}))}) {
        const Model model = machine.fit(iris);
        EXPECT_EQ(model.class_names(),
                  (std::vector<std::string>{"setosa", "versicolor", "virginica"}));
        EXPECT_EQ(model.feature_names(), iris.feature_names);
        const Labels found = model.predict_labels(iris.x);
        std::size_t right = 0;
        for (std::size_t i = 0; i < iris.size(); ++i)
            right += found.text(i) == iris.y.text(i) ? 1 : 0;
        EXPECT_GT(right, 130U) << task_name(machine.task());
    }
}

}  // namespace
}  // namespace mercer
