// Early rejection: row by row against the definition, and the promise about false negatives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/compress/cascade.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;

Dataset rings(std::size_t n, std::uint64_t seed) {
    Dataset data = make("rings", {.n = n, .noise = 0.15, .seed = seed});
    data.x = data.x.to_double();
    return data;
}

Model small_machine(const Dataset& data) {
    SvmSettings s{.task = Task::svc, .common = {.kernel = rbf({.gamma = 1.0})}, .C = 5};
    s.common.double_precision = true;
    return reduce(Svm(s).fit(data),
                  {.vectors = 25, .method = ReduceMethod::sequential, .joint = false})
        .model;
}

/// One row by the formula: what is decided, and after how many kernels.
std::pair<double, std::size_t> by_formula(const Model& m, const std::vector<double>& x) {
    const Matrix<double>& table = m.extras().find<CascadeStages>()->table;
    const auto z = full(m.expansion().points);
    const double sign = m.trained().numbers.at("cascade_sign");
    for (std::size_t s = 0; s < table.rows(); ++s) {
        double f = m.expansion().bias[0];
        const auto n = static_cast<std::size_t>(table(s, 0));
        for (std::size_t j = 0; j < n; ++j) f += table(s, 2 + j) * m.expansion().kernel(z[j], x);
        if (sign * f < table(s, 1)) return {f - sign * table(s, 1), n};
    }
    return {testing::by_definition(m.expansion(), x), z.size()};
}

TEST(Cascade, EachRowIsDecidedByTheFormula) {
    const Dataset data = rings(300, 1);
    const Model model = small_machine(data);
    for (const std::string& keep : model.class_names()) {
        const Model quick =
            cascade(model, data, {.keep = keep, .false_negatives = 0.05, .stages = {1, 4, 9}});
        const Rows x = rings(2500, 7).x;  // more than one band
        const CascadeRun run = run_cascade(quick, x);
        const auto rows = full(x);
        std::size_t after[4] = {0, 0, 0, 0};
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto [decision, kernels] = by_formula(quick, rows[i]);
            ASSERT_NEAR(run.decisions(i, 0), decision, 1e-9);
            ASSERT_EQ(run.kernels[i], kernels);
            after[0] += kernels > 1 ? 1 : 0;
            after[1] += kernels > 4 ? 1 : 0;
            after[2] += kernels > 9 ? 1 : 0;
        }
        EXPECT_EQ(run.stages, (std::vector<std::size_t>{1, 4, 9, model.expansion().size()}));
        for (std::size_t s = 0; s < 3; ++s) EXPECT_EQ(run.left[s], after[s]);
        EXPECT_EQ(run.left[3], after[2]);
        EXPECT_LT(run.average_kernels(), static_cast<double>(model.expansion().size()));
        // The model itself predicts so.
        EXPECT_EQ(quick.decision(x).values(), run.decisions.values());
    }
}

TEST(Cascade, FewerOfTheKeptAreLostThanAllowed) {
    const Dataset data = rings(600, 2);
    const Model model = small_machine(data);
    double before = 1e9;
    for (const double rate : {0.0, 0.02, 0.1}) {
        const Model quick = cascade(model, data, {.keep = "1", .false_negatives = rate});
        const std::vector<double> whole = model.predict(data.x), now = quick.predict(data.x);
        const auto one = static_cast<double>(std::ranges::find(model.class_names(), "1") -
                                             model.class_names().begin());
        std::size_t accepted = 0, lost = 0;
        for (std::size_t i = 0; i < data.size(); ++i) {
            if (data.y.text(i) != "1" || whole[i] != one) {
                // Never a row more that is accepted.
                EXPECT_TRUE(whole[i] == one || now[i] != one);
                continue;
            }
            ++accepted;
            lost += now[i] != one ? 1 : 0;
        }
        EXPECT_LE(static_cast<double>(lost), rate * static_cast<double>(accepted));
        const double kernels = run_cascade(quick, data.x).average_kernels();
        EXPECT_LT(kernels, before);
        before = kernels;
    }
    EXPECT_LT(before, 0.6 * static_cast<double>(model.expansion().size()));
}

TEST(Cascade, IsSavedAndReadAndTheSameForAnyNumberOfThreads) {
    const Dataset data = rings(300, 3);
    const Model quick = cascade(small_machine(data), data, {});
    const Model back = load_from_memory(save_to_memory(quick));
    const Rows x = rings(5000, 4).x;
    set_threads(1);
    const CascadeRun one = run_cascade(quick, x);
    set_threads(3);
    const CascadeRun three = run_cascade(back, x);
    set_threads(0);
    EXPECT_EQ(one.decisions.values(), three.decisions.values());
    EXPECT_EQ(one.kernels, three.kernels);
}

TEST(Cascade, OneClassMachinesKeepTheInside) {
    Dataset data = rings(400, 5);
    data.y = {};
    SvmSettings s{.task = Task::one_class, .common = {.kernel = rbf({.gamma = 2.0})}, .nu = 0.2};
    const Model model = Svm(s).fit(data);
    const Model quick = cascade(model, data, {.false_negatives = 0});
    EXPECT_EQ(model.predict(data.x), quick.predict(data.x));
}

TEST(Cascade, BadInputIsRefused) {
    const Dataset data = rings(200, 6);
    const Model model = small_machine(data);
    EXPECT_NE(message_of([&] { cascade(model, data, {.keep = "blue"}); }).find("blue"),
              std::string::npos);
    EXPECT_THROW(cascade(model, data, {.false_negatives = 1}), InvalidInput);
    EXPECT_THROW(cascade(model, data, {.stages = {3, 2}}), InvalidInput);
    EXPECT_THROW(run_cascade(model, data.x), InvalidInput);
    ModelParts broken = cascade(model, data, {}).parts();
    CascadeStages stages = *broken.extras.find<CascadeStages>();
    stages.table(0, 0) = 1000;
    broken.extras.set(stages);
    EXPECT_THROW(save_to_memory(Model(broken)), InvalidInput);
    const Model svr_model = svr({.kernel = rbf({.gamma = 1.0})}).fit(make("sinc", {.n = 30}));
    EXPECT_THROW(cascade(svr_model, data, {}), InvalidInput);
    EXPECT_THROW(cascade(model, data, {.progress = [](const Moment&) { return false; }}),
                 Cancelled);
}

}  // namespace
}  // namespace mercer
