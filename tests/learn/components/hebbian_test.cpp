// The kernel Hebbian algorithm: its components are the batch ones, by angle and by residual; memory
// does not grow; the model is one of kernel PCA.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learn/small.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/components/hebbian.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

using testing::with_double_rows;

const Kernel gaussian = rbf({.gamma = 0.5});

/// Rows whose images have well-separated variances.
Dataset uneven(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        values.push_back(2.0 * random.normal());
        values.push_back(0.7 * random.normal());
    }
    Dataset data;
    data.x = Rows::dense(std::move(values), 2);
    return data;
}

/// The j-th batch component as a vector of feature space, from LAPACK on the centred Gram matrix.
std::vector<FeatureVector> batch_components(const Kernel& kernel, const Rows& x, std::size_t count,
                                            bool center, std::vector<double>* values = nullptr) {
    const std::size_t n = x.size();
    const Gram<double> gram(kernel, x);
    Matrix<double> k(n, n);
    gram.matrix(k.view());
    if (center) center_gram(k.view());
    const Spectrum spectrum = symmetric_eigen(k.view());
    std::vector<FeatureVector> result;
    for (std::size_t j = 0; j < count; ++j) {
        const double value = spectrum.values[n - 1 - j];
        if (values != nullptr) values->push_back(value);
        const auto v = spectrum.vectors.row(n - 1 - j);
        std::vector<double> alpha(v.begin(), v.end());
        double mean = 0;
        for (const double a : alpha) mean += a / static_cast<double>(n);
        for (double& a : alpha) a = (a - (center ? mean : 0)) / std::sqrt(value);
        result.emplace_back(gram.kernel(), x, std::move(alpha));
    }
    return result;
}

double angle(const FeatureVector& a, const FeatureVector& b) {
    return std::acos(std::min(1.0, std::abs(inner(a, b)) / (norm(a) * norm(b))));
}

HebbianSettings settings(std::size_t components) {
    HebbianSettings s;
    s.common.kernel = gaussian;
    s.components = components;
    return s;
}

TEST(Hebbian, WithWholeBatchesReachesTheEigenvectorsToManyDigits) {
    const Dataset data = uneven(120, 1);
    for (const bool center : {true, false}) {
        HebbianSettings s = settings(4);
        s.center = center;
        s.batch = 120;
        s.passes = 400;
        s.anneal = 1e6;
        const Model model = hebbian_pca(s).fit(data);
        std::vector<double> values;
        const auto batch = batch_components(gaussian, data.x, 4, center, &values);
        EXPECT_EQ(model.report().status, FitStatus::converged);
        for (std::size_t j = 0; j < 4; ++j) {
            EXPECT_LT(angle(weight_vector(model.expansion(), j), batch[j]), 1e-4) << j;
            EXPECT_NEAR(norm(weight_vector(model.expansion(), j)), 1, 1e-6);
            EXPECT_NEAR(model.extras().array("eigenvalues")(j, 0), values[j], 1e-5 * values[0]);
            EXPECT_LT(model.extras().array("eigenvalues")(j, 2), 1e-3 * values[0]);
        }
    }
}

TEST(Hebbian, SmallBatchesAndAnnealedStepsComeNear) {
    const Dataset data = uneven(150, 2);
    HebbianSettings s = settings(3);
    s.batch = 5;
    s.passes = 150;
    const Model model = hebbian_pca(s).fit(data);
    const auto batch = batch_components(gaussian, data.x, 3, true);
    for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_LT(angle(weight_vector(model.expansion(), j), batch[j]), 0.1) << j;
    }
    // A tenth of the passes leaves more to be done: the steps are what brings it there.
    s.passes = 1;
    const Model early = hebbian_pca(s).fit(data);
    EXPECT_GT(early.report().figures.at("residual"), model.report().figures.at("residual"));
}

TEST(Hebbian, OneRowAtATimeIsSangersRule) {
    // Several components, so that each must be kept off those before it: without the sum over
    // j < i all of them would end at the first.
    const Dataset data = uneven(60, 3);
    HebbianSettings s = settings(3);
    s.batch = 1;
    s.passes = 400;
    s.rate = 0.2;
    const Model model = hebbian_pca(s).fit(data);
    std::vector<double> values;
    const auto batch = batch_components(gaussian, data.x, 3, true, &values);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_LT(angle(weight_vector(model.expansion(), i), batch[i]), 0.15) << i;
        EXPECT_NEAR(model.extras().array("eigenvalues")(i, 0), values[i], 0.02 * values[0]) << i;
    }
}

TEST(Hebbian, AStreamTakesNoMoreMemoryHoweverLongItIs) {
    HebbianSettings s = settings(4);
    s.dictionary = 40;
    s.window = 200;
    HebbianStream stream(s);
    stream.feed(uneven(100, 1).x);
    EXPECT_EQ(stream.points(), 0U);
    stream.feed(uneven(200, 2).x);
    const std::size_t held = stream.numbers();
    EXPECT_LE(stream.points(), 40U);
    for (std::uint64_t part = 3; part < 40; ++part) stream.feed(uneven(250, part).x);
    EXPECT_EQ(stream.numbers(), held);
    EXPECT_EQ(stream.seen(), 300U + 37U * 250U);
    // And what it learnt are the components of rows it has never seen.
    const Model model = stream.model();
    EXPECT_LT(model.report().figures.at("lost"), 0.02);
    const Dataset fresh = uneven(1000, 99);
    const auto batch = batch_components(gaussian, fresh.x, 3, true);
    for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_LT(angle(weight_vector(model.expansion(), j), batch[j]), 0.25) << j;
    }
}

TEST(Hebbian, TheModelIsAKernelPcaLikeAnyOther) {
    const Dataset data = uneven(80, 4);
    HebbianSettings s = settings(5);
    s.batch = 80;
    s.passes = 300;
    s.anneal = 1e6;
    s.common.scaling = ScalingRule::parse("standard");
    const Model model = hebbian_pca(s).fit(data);
    const Model exact = kernel_pca({.common = s.common, .components = 5}).fit(data);
    const PrincipalComponents learnt(model), whole(exact);
    const std::vector<double> a = learnt.reconstruction_errors(data.x);
    const std::vector<double> b = whole.reconstruction_errors(data.x);
    for (std::size_t i = 0; i < data.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-2);
    EXPECT_NEAR(learnt.total_variance(), whole.total_variance(), 1e-6);
    EXPECT_NEAR(model.report().figures.at("explained"), exact.report().figures.at("explained"),
                1e-4);
    const std::string bytes = save_to_memory(model);
    EXPECT_EQ(load_from_memory(bytes).decision(data.x).values(), model.decision(data.x).values());
}

TEST(Hebbian, WeightsCountAsRepetitions) {
    Dataset weighted = uneven(40, 5);
    std::vector<std::size_t> repeated;
    for (std::size_t i = 0; i < 40; ++i) {
        weighted.weights.push_back(i % 2 == 0 ? 3 : 1);
        for (int k = 0; k < static_cast<int>(weighted.weights.back()); ++k) repeated.push_back(i);
    }
    Dataset plain = weighted;
    plain.weights.clear();
    const Dataset copies = plain.select(repeated);
    HebbianSettings s = settings(2);
    s.batch = 80;  // all rows of either
    s.passes = 200;
    s.anneal = 1e6;
    const Model a = hebbian_pca(s).fit(weighted), b = hebbian_pca(s).fit(copies);
    for (std::size_t j = 0; j < 2; ++j) {
        EXPECT_LT(angle(weight_vector(a.expansion(), j), weight_vector(b.expansion(), j)), 1e-3);
        EXPECT_NEAR(a.extras().array("eigenvalues")(j, 0), b.extras().array("eigenvalues")(j, 0),
                    1e-3);
    }
}

TEST(Hebbian, ThreadsChangeNothingAndStoppingKeepsWhatThereIs) {
    const Dataset data = uneven(100, 6);
    HebbianSettings s = settings(3);
    s.passes = 5;
    set_threads(1);
    const Model one = hebbian_pca(s).fit(data);
    set_threads(3);
    const Model three = hebbian_pca(s).fit(data);
    set_threads(0);
    EXPECT_EQ(one.expansion().coefficients.values(), three.expansion().coefficients.values());
    int calls = 0;
    s.common.progress = [&](const Moment&) { return ++calls < 3; };
    s.tolerance = 1e-12;
    EXPECT_EQ(hebbian_pca(s).fit(data).report().status, FitStatus::cancelled);
}

TEST(Hebbian, RefusesWhatAStreamCannotBe) {
    HebbianSettings s = settings(2);
    s.common.kernel = center(gaussian);
    EXPECT_THROW(HebbianStream{s}, InvalidInput);
    s = settings(0);
    EXPECT_THROW(HebbianStream{s}, InvalidInput);
    s = settings(2);
    s.rate = 2;
    EXPECT_THROW(HebbianStream{s}, InvalidInput);
    HebbianStream stream(settings(2));
    EXPECT_THROW(stream.model(), InvalidInput);
    stream.feed(uneven(5, 1).x);
    EXPECT_THROW(stream.feed(testing::points({{1.0}}).x), InvalidInput);
    EXPECT_THROW(stream.feed(testing::points({{1.0, std::nan("")}}).x), InvalidInput);
    EXPECT_EQ(stream.seen(), 5U);
    EXPECT_EQ(stream.model().expansion().outputs(), 2U);
}

}  // namespace
}  // namespace mercer
