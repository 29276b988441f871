// Machines with kernels that need more than two rows: whole Gram matrices, samples to be centred
// on, names of columns; and rows of another width.
#include <cmath>

#include "learn/certificate.hpp"
#include "learn/small.hpp"
#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

using testing::closely;
using testing::expect_same_decisions;
using testing::full;
using testing::message_of;
using testing::points;
using testing::with_double_rows;

Dataset moons(std::size_t n = 80, std::uint64_t seed = 2) {
    return with_double_rows(make("moons", {.n = n, .noise = 0.3, .seed = seed}));
}

/// k(a, b) for all rows of a and b, as rows of their own.
Rows gram_rows(const Kernel& kernel, const Rows& a, const Rows& b) {
    const auto left = full(a);
    const auto right = full(b);
    std::vector<double> values;
    for (const auto& x : left) {
        for (const auto& z : right) values.push_back(kernel(x, z));
    }
    return Rows::dense(std::move(values), b.size());
}

TEST(PrecomputedKernel, GivesTheMachineOfItsKernel) {
    const Kernel kernel = rbf({.gamma = 1.0});
    const Dataset data = moons();
    const Dataset test = moons(50, 9);
    Dataset matrix = data;
    matrix.x = gram_rows(kernel, data.x, data.x);
    matrix.feature_names.clear();
    for (const Task task : {Task::svc, Task::nu_svc, Task::one_class, Task::svdd}) {
        SCOPED_TRACE(task_name(task));
        SvmSettings settings = closely({.task = task,
                                        .common = {.kernel = kernel},
                                        .C = task == Task::svdd ? 0 : 1.0,
                                        .nu = 0.3});
        const Model direct = Svm(settings).fit(data);
        settings.common.kernel = precomputed();
        const Model by_matrix = Svm(settings).fit(matrix);
        EXPECT_NEAR(by_matrix.report().dual, direct.report().dual,
                    1e-7 * std::abs(direct.report().dual));
        EXPECT_EQ(by_matrix.origins(), direct.origins());
        if (task == Task::svdd) continue;  // k(x, x) of a new row is in no row of the matrix
        const Matrix<double> f = direct.decision(test.x);
        const Matrix<double> g = by_matrix.decision(gram_rows(kernel, test.x, data.x));
        for (std::size_t i = 0; i < test.size(); ++i) ASSERT_NEAR(f(i, 0), g(i, 0), 1e-6);
    }
}

TEST(CentredKernel, ChangesNothingWhereTheCoefficientsSumToZero) {
    // Σ β = 0, so moving the origin of the feature space moves b alone (002, equation 4).
    const Dataset data = moons();
    const Dataset test = moons(40, 9);
    const Kernel kernel = polynomial({.degree = 2});
    SvmSettings settings = closely({.common = {.kernel = kernel}, .C = 1});
    const Model plain = Svm(settings).fit(data);
    settings.common.kernel = center(kernel);
    const Model centred = Svm(settings).fit(data);
    EXPECT_NEAR(centred.report().dual, plain.report().dual, 1e-6 * plain.report().dual);
    EXPECT_NEAR(centred.report().squared_norm, plain.report().squared_norm,
                1e-5 * plain.report().squared_norm);
    expect_same_decisions(plain, centred, test.x, 1e-4);
    testing::expect_same_report(centred.report(), recompute_reports(centred, data).front(), 1e-7);
}

TEST(CentredKernel, IsEvaluatedOnTheTrainingSample) {
    const Dataset data = moons();
    const Dataset test = moons(20, 9);
    const Kernel kernel = center(rbf({.gamma = 0.5}));
    // Without a bias the coefficients need not sum to zero, and the centre matters.
    const Model model =
        Svm(closely({.common = {.kernel = kernel}, .C = 10, .bias = false})).fit(data);
    ASSERT_LT(model.expansion().size(), data.size());
    const Expansion& e = model.expansion();
    const auto rows = full(data.x);
    Matrix<double> sample(data.size(), data.columns());
    for (std::size_t i = 0; i < data.size(); ++i) {
        std::ranges::copy(rows[i], sample.row(i).begin());
    }
    const Matrix<double> f = model.decision(test.x);
    const auto new_rows = full(test.x);
    const auto support = full(e.points);
    for (std::size_t i = 0; i < test.size(); ++i) {
        double sum = e.bias[0];
        for (std::size_t p = 0; p < support.size(); ++p) {
            sum += e.coefficients(0, p) * evaluate(kernel, support[p], new_rows[i], sample.view());
        }
        EXPECT_NEAR(f(i, 0), sum, 1e-8);
    }
}

TEST(ColumnNames, PickTheColumnsTheyName) {
    Dataset data = with_double_rows(make("blobs", {.n = 60, .noise = 3.0, .columns = 4}));
    data.feature_names = {"height", "width", "depth", "weight"};
    SvmSettings settings = closely(
        {.common = {.kernel = Kernel::parse("rbf(gamma=0.1)[width,weight] + linear[depth]")},
         .C = 1});
    const Model named = Svm(settings).fit(data);
    settings.common.kernel = Kernel::parse("rbf(gamma=0.1)[1,3] + linear[2]");
    const Model numbered = Svm(settings).fit(data);
    expect_same_decisions(named, numbered, data.x, 0);
    EXPECT_EQ(named.feature_names(), data.feature_names);
    settings.common.kernel = Kernel::parse("rbf(gamma=0.1)[wdth]");
    const std::string message = message_of([&] { Svm(settings).fit(data); });
    EXPECT_NE(message.find("width"), std::string::npos) << message;
    data.feature_names.clear();
    EXPECT_NE(message_of([&] { Svm(settings).fit(data); }), "");
}

TEST(Rules, AreReplacedByNumbersOfTheTrainingData) {
    const Dataset data = moons();
    const SvmSettings by_rule = closely({.common = {.kernel = rbf({.gamma = scale_rule})}, .C = 1});
    const Model model = Svm(by_rule).fit(data);
    EXPECT_FALSE(model.expansion().kernel.needs_data());
    double mean = 0;
    double square = 0;
    for (const auto& row : full(data.x)) {
        for (const double value : row) {
            mean += value / 160;
            square += value * value / 160;
        }
    }
    const SvmSettings by_number =
        closely({.common = {.kernel = rbf({.gamma = 1 / (2 * (square - mean * mean))})}, .C = 1});
    expect_same_decisions(model, Svm(by_number).fit(data), data.x, 1e-5);
}

TEST(Columns, MissingAtPredictionAreZerosOfSparseRowsAndRefusedOfDenseOnes) {
    const Dataset data = with_double_rows(make("blobs", {.n = 60, .noise = 3.0, .columns = 3}));
    for (const Kernel& kernel : {linear(), rbf({.gamma = 0.1})}) {
        const Model model = svc({.kernel = kernel}).fit(data);
        const double expected = model.decision(points({{1, 2, 0}}).x)(0, 0);
        EXPECT_EQ(model.decision(points({{1, 2}}).x.to_sparse())(0, 0), expected);
        const std::string narrow = message_of([&] { model.decision(points({{1, 2}}).x); });
        EXPECT_NE(narrow.find("2 columns"), std::string::npos) << narrow;
        const std::string message = message_of([&] { model.decision(points({{1, 2, 0, 4}}).x); });
        EXPECT_NE(message.find("4 columns"), std::string::npos) << message;
        EXPECT_NE(message.find("trained on 3"), std::string::npos) << message;
        EXPECT_EQ(model.predict(data.x.select(std::vector<std::size_t>{})).size(), 0U);
    }
    // The same with a scaling in between, whose zeros are not the features' zeros.
    SvmSettings settings = closely({.common = {.kernel = linear()}});
    settings.common.scaling = ScalingRule::parse("standard");
    const Model scaled = Svm(settings).fit(data);
    EXPECT_EQ(scaled.decision(points({{1, 2}}).x.to_sparse())(0, 0),
              scaled.decision(points({{1, 2, 0}}).x)(0, 0));
}

TEST(Scaling, TravelsWithTheModel) {
    const Dataset data = moons();
    SvmSettings settings = closely({.common = {.kernel = rbf({.gamma = 1.0})}, .C = 1});
    settings.common.scaling = ScalingRule::parse("standard");
    const Model model = Svm(settings).fit(data);
    Dataset scaled = data;
    scaled.x = Scaling::fit(settings.common.scaling, data.x).apply(data.x);
    settings.common.scaling = {};
    const Model by_hand = Svm(settings).fit(scaled);
    const Matrix<double> f = model.decision(data.x);
    const Matrix<double> g = by_hand.decision(scaled.x);
    for (std::size_t i = 0; i < data.size(); ++i) EXPECT_NEAR(f(i, 0), g(i, 0), 1e-9);
    settings.common.scaling = ScalingRule::parse("standard");
    testing::expect_certified(model, data, settings);
}

TEST(SparseRows, GiveTheMachineOfDenseOnes) {
    const Dataset data = with_double_rows(embedded("digits"));
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < 200; ++i) rows.push_back(i);
    const Dataset dense = data.select(rows);
    Dataset sparse = dense;
    sparse.x = dense.x.to_sparse();
    for (const Kernel& kernel : {linear(), rbf({.gamma = 0.001}), polynomial({.gamma = 0.01})}) {
        const SvmSettings settings = closely({.common = {.kernel = kernel}, .C = 0.1}, 1e-6);
        const Model a = Svm(settings).fit(dense);
        const Model b = Svm(settings).fit(sparse);
        const Matrix<double> f = a.decision(dense.x);
        const Matrix<double> g = b.decision(sparse.x);
        for (std::size_t i = 0; i < f.values().size(); ++i) {
            ASSERT_NEAR(f.values()[i], g.values()[i], 1e-3) << kernel.text();
        }
        for (std::size_t i = 0; i < a.reports().size(); ++i) {
            ASSERT_NEAR(a.reports()[i].dual, b.reports()[i].dual, 1e-6 * a.reports()[i].dual);
        }
    }
}

}  // namespace
}  // namespace mercer
