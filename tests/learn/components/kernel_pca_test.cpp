// Kernel principal components: the equations of 001, brute force beside them, and what weights,
// memory and precision must not change.
#include "mercer/learn/components/kernel_pca.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/feature/maps.hpp"
#include "mercer/gram/gram.hpp"

namespace mercer {
namespace {

using testing::message_of;
using testing::points;
using testing::with_double_rows;

double dot(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

FitSettings exact(const Kernel& kernel) {
    return {.kernel = kernel, .double_precision = true};
}

Matrix<double> gram_matrix(const Kernel& kernel, const Rows& x) {
    const Gram<double> gram(kernel, x);
    Matrix<double> k(x.size(), x.size());
    gram.matrix(k.view());
    return k;
}

Dataset moons(std::size_t n) {
    return with_double_rows(make("moons", {.n = n, .noise = 0.1}));
}

/// <V_a, V_b> and <V_a, Φ(x_i) − Φ̄> of a model, from K alone.
void expect_eigenvectors(const Model& model, const Rows& x, bool centred, double tolerance) {
    const Matrix<double> k = gram_matrix(model.expansion().kernel, x);
    const Matrix<double>& alpha = model.expansion().coefficients;
    const std::size_t n = x.size();
    const std::size_t count = alpha.rows();
    Matrix<double> image(count, n);
    for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t i = 0; i < n; ++i) image(a, i) = dot(alpha.row(a), k.row(i));
    }
    const Matrix<double> features = model.decision(x);
    for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            EXPECT_NEAR(dot(alpha.row(a), image.row(b)), a == b ? 1 : 0, tolerance) << a << b;
        }
        // The variance of the projections is λ, those of different components uncorrelated.
        const double eigenvalue = model.extras().array("eigenvalues")(a, 0);
        double mean = 0;
        double square = 0;
        for (std::size_t i = 0; i < n; ++i) {
            mean += features(i, a) / static_cast<double>(n);
            square += features(i, a) * features(i, a);
        }
        EXPECT_NEAR(centred ? mean : 0, 0, tolerance);
        EXPECT_NEAR(square / eigenvalue, 1, tolerance);
        const auto largest = std::ranges::max_element(
            alpha.row(a), [](double p, double q) { return std::abs(p) < std::abs(q); });
        EXPECT_GT(*largest, 0) << "the sign convention";
    }
}

TEST(KernelPca, SolvesTheEigenproblemOf001) {
    const Dataset data = moons(120);
    for (const bool center : {true, false}) {
        for (const char* text : {"rbf(gamma=2)", "polynomial(degree=3)", "laplacian(gamma=1)"}) {
            const Model model =
                kernel_pca(
                    {.common = exact(Kernel::parse(text)), .components = 5, .center = center})
                    .fit(data);
            ASSERT_EQ(model.expansion().outputs(), 5U) << text;
            expect_eigenvectors(model, data.x, center, 1e-9);
            EXPECT_LT(model.report().figures.at("residual"), 1e-12) << text;
            const Matrix<double>& table = model.extras().array("eigenvalues");
            for (std::size_t j = 1; j < 5; ++j) EXPECT_LE(table(j, 0), table(j - 1, 0));
        }
    }
}

/// With a linear kernel it is ordinary PCA: variances along known axes.
TEST(KernelPca, LinearKernelIsPca) {
    Random random(1);
    std::vector<std::vector<double>> rows;
    for (int i = 0; i < 500; ++i) {
        const double u = 3 * random.normal();
        const double v = 0.5 * random.normal();
        rows.push_back({5 + (u + v) / std::sqrt(2.0), 1 + (u - v) / std::sqrt(2.0)});
    }
    const Dataset data = points(rows);
    const Model model = kernel_pca({.common = exact(linear()), .components = 2}).fit(data);
    const PrincipalComponents components(model);
    EXPECT_NEAR(components.variances()[0], 9, 1);
    EXPECT_NEAR(components.variances()[1], 0.25, 0.05);
    EXPECT_NEAR(components.total_variance(), components.variances()[0] + components.variances()[1],
                1e-9);
    EXPECT_NEAR(model.report().figures.at("explained"), 1, 1e-12);
    const Matrix<double> w = weight_vectors(model.expansion());
    EXPECT_NEAR(std::abs(w(0, 0)), 1 / std::sqrt(2.0), 0.05);
    EXPECT_NEAR(w(0, 0), w(0, 1), 0.05);
}

/// All components without centring are the whitened map: products are the kernel.
TEST(KernelPca, AllComponentsGiveTheKernelBack) {
    const Dataset data = moons(40);
    const Kernel kernel = rbf({.gamma = 1.0});
    const Model plain =
        kernel_pca({.common = exact(kernel), .components = 0, .center = false}).fit(data);
    const Matrix<double> f = plain.decision(data.x);
    const Matrix<double> k = gram_matrix(kernel, data.x);
    for (std::size_t i = 0; i < 40; ++i) {
        for (std::size_t j = 0; j < 40; ++j) ASSERT_NEAR(dot(f.row(i), f.row(j)), k(i, j), 1e-10);
    }
    // Centred, the distances remain, and nothing of the sample is left over.
    const Model centred = kernel_pca({.common = exact(kernel), .components = 0}).fit(data);
    const Matrix<double> g = centred.decision(data.x);
    const double d =
        dot(g.row(0), g.row(0)) - 2 * dot(g.row(0), g.row(7)) + dot(g.row(7), g.row(7));
    EXPECT_NEAR(d, 2 - 2 * k(0, 7), 1e-10);
    for (const double error : centred.predict(data.x)) EXPECT_NEAR(error, 0, 1e-9);
}

/// Test rows are centred by the sample: equation by equation beside center_gram.
TEST(KernelPca, TestRowsAreCentredByTheSample) {
    const Dataset data = moons(50);
    const Dataset test = with_double_rows(make("moons", {.n = 9, .noise = 0.3, .seed = 5}));
    const Kernel kernel = polynomial({.degree = 2});
    const Model model = kernel_pca({.common = exact(kernel), .components = 3}).fit(data);
    const Matrix<double> k = gram_matrix(kernel, data.x);
    const Gram<double> gram(kernel, data.x);
    Matrix<double> cross(9, 50);
    gram.block(gram.prepare(test.x), gram.reference(), cross.view());
    center_gram(cross.view(), k.view());
    const Matrix<double> f = model.decision(test.x);
    for (std::size_t i = 0; i < 9; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            EXPECT_NEAR(f(i, j), dot(cross.row(i), model.expansion().coefficients.row(j)), 1e-9);
        }
    }
}

/// The same whether K is stored, computed again, in single precision, or given to LAPACK.
TEST(KernelPca, EveryWayToTheSpectrumAgrees) {
    const Dataset data = moons(1200);
    const Kernel kernel = rbf({.gamma = 3.0});
    KernelPcaSettings settings{.common = exact(kernel), .components = 6};
    const Model stored = kernel_pca(settings).fit(data);
    EXPECT_GT(stored.report().figures.at("products"), 0) << "the block method";
    settings.common.memory_bytes = 1 << 20;
    const Model anew = kernel_pca(settings).fit(data);
    settings.common.double_precision = false;
    const Model single = kernel_pca(settings).fit(data);
    settings.common = exact(kernel);
    settings.components = 400;
    const Model whole = kernel_pca(settings).fit(data);
    EXPECT_EQ(whole.report().figures.at("products"), 0) << "LAPACK";
    const auto values = [](const Model& m, std::size_t j) {
        return m.extras().array("eigenvalues")(j, 0);
    };
    for (std::size_t j = 0; j < 6; ++j) {
        EXPECT_NEAR(values(stored, j) / values(whole, j), 1, 1e-9) << j;
        EXPECT_NEAR(values(anew, j) / values(whole, j), 1, 1e-9) << j;
        EXPECT_NEAR(values(single, j) / values(whole, j), 1, 1e-5) << j;
    }
    const Matrix<double> f = stored.decision(data.x);
    const Matrix<double> g = whole.decision(data.x);
    for (std::size_t i = 0; i < 1200; i += 100) {
        for (std::size_t j = 0; j < 6; ++j) EXPECT_NEAR(f(i, j), g(i, j), 1e-7) << i << ' ' << j;
    }
    expect_eigenvectors(stored, data.x, true, 1e-7);
    EXPECT_LT(stored.report().figures.at("residual"), 1e-9);
    EXPECT_LT(single.report().figures.at("residual"), 1e-5);
}

/// A weight is a number of repetitions.
TEST(KernelPca, WeightsAreRepetitions) {
    Dataset weighted = moons(30);
    std::vector<std::size_t> repeated;
    for (std::size_t i = 0; i < 30; ++i) {
        weighted.weights.push_back(static_cast<double>(i % 4));
        for (std::size_t k = 0; k < i % 4; ++k) repeated.push_back(i);
    }
    Dataset copies = moons(30);
    copies.x = copies.x.select(repeated);
    copies.y = {};
    for (const bool center : {true, false}) {
        const KernelPcaSettings settings{
            .common = exact(rbf({.gamma = 1.0})), .components = 4, .center = center};
        const Model a = kernel_pca(settings).fit(weighted);
        const Model b = kernel_pca(settings).fit(copies);
        const Matrix<double> f = a.decision(weighted.x);
        const Matrix<double> g = b.decision(weighted.x);
        for (std::size_t j = 0; j < 4; ++j) {
            EXPECT_NEAR(a.extras().array("eigenvalues")(j, 0),
                        b.extras().array("eigenvalues")(j, 0), 1e-9);
            const double sign = f(0, j) * g(0, j) > 0 ? 1 : -1;
            for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(f(i, j), sign * g(i, j), 1e-9);
        }
        const std::vector<double> left = a.predict(weighted.x);
        const std::vector<double> same = b.predict(weighted.x);
        for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(left[i], same[i], 1e-9);
        EXPECT_NEAR(PrincipalComponents(a).total_variance(),
                    PrincipalComponents(b).total_variance(), 1e-10);
    }
}

/// ‖Φ(x) − PΦ(x)‖² by the vectors themselves, and larger far from the sample.
TEST(PrincipalComponents, ReconstructionErrorIsADistance) {
    const Dataset data = moons(60);
    const Kernel kernel = rbf({.gamma = 0.7});
    const Model model = kernel_pca({.common = exact(kernel), .components = 6}).fit(data);
    const PrincipalComponents components(model);
    const Dataset test = points({{0, 0}, {0.5, 0.25}, {3, 3}});
    const Matrix<double> p = components.project(test.x);
    for (const std::size_t count : {0U, 2U}) {
        const std::vector<double> errors = components.reconstruction_errors(test.x, count);
        for (std::size_t i = 0; i < 3; ++i) {
            const FeatureVector projected = components.image(p.row(i), count);
            std::vector<double> x(2);
            test.x.copy_row(i, x);
            EXPECT_NEAR(errors[i], std::pow(distance(image(kernel, x), projected), 2), 1e-9);
        }
        EXPECT_GT(errors[2], 5 * errors[1]) << "a stranger";
    }
}

TEST(PrincipalComponents, WhiteningGivesVarianceOne) {
    const Dataset data = moons(80);
    const Model model =
        kernel_pca({.common = exact(rbf({.gamma = 1.0})), .components = 3}).fit(data);
    const PrincipalComponents components(model);
    Matrix<double> f = components.project(data.x);
    components.whiten(f.view());
    for (std::size_t j = 0; j < 3; ++j) {
        double sum = 0;
        for (std::size_t i = 0; i < 80; ++i) sum += f(i, j) * f(i, j) / 80;
        EXPECT_NEAR(sum, 1, 1e-9);
    }
}

TEST(KernelPca, ScalingAndSparseRows) {
    Dataset data = moons(50);
    const KernelPcaSettings settings{.common = {.kernel = rbf({.gamma = 1.0}),
                                                .scaling = ScalingRule::parse("standard"),
                                                .double_precision = true},
                                     .components = 3};
    const Model model = kernel_pca(settings).fit(data);
    data.x = model.scaling().apply(data.x).to_sparse();
    KernelPcaSettings plain = settings;
    plain.common.scaling = {};
    const Model same = kernel_pca(plain).fit(data);
    for (std::size_t j = 0; j < 3; ++j) {
        EXPECT_NEAR(model.extras().array("eigenvalues")(j, 0),
                    same.extras().array("eigenvalues")(j, 0), 1e-9);
    }
}

TEST(KernelPca, RefusesWhatHasNoComponents) {
    const Dataset alike = points({{1, 2}, {1, 2}, {1, 2}});
    EXPECT_NE(message_of([&] {
                  kernel_pca({.common = exact(rbf({.gamma = 1.0}))}).fit(alike);
              }).find("do not vary"),
              std::string::npos);
    const Model uncentred =
        kernel_pca({.common = exact(rbf({.gamma = 1.0})), .center = false}).fit(alike);
    EXPECT_EQ(uncentred.expansion().outputs(), 1U) << "one direction, the image itself";
    // A matrix that does not fit is refused, not formed.
    KernelPcaSettings large{.common = exact(rbf({.gamma = 1.0})), .components = 0};
    large.common.memory_bytes = 1 << 20;
    EXPECT_NE(
        message_of([&] { kernel_pca(large).fit(moons(400)); }).find("memory setting is 1 MiB"),
        std::string::npos);
    EXPECT_NE(message_of([&] {
                  PrincipalComponents(svc({}).fit(make("moons", {.n = 20})));
              }).find("expected kpca"),
              std::string::npos);
}

TEST(KernelPca, StopsAndKeepsWhatThereIs) {
    const Dataset data = make("moons", {.n = 1500, .noise = 0.3});
    KernelPcaSettings settings{.common = {.kernel = rbf({.gamma = 50.0})}, .components = 8};
    settings.passes = 2;
    const Model limited = kernel_pca(settings).fit(data);
    EXPECT_EQ(limited.report().status, FitStatus::iteration_limit);
    EXPECT_GT(limited.report().figures.at("residual"), 1e-6) << "and it says how far it is";
    settings.passes = 200;
    settings.common.progress = [](const Moment& m) { return m.task != "eigenvalues"; };
    EXPECT_EQ(kernel_pca(settings).fit(data).report().status, FitStatus::cancelled);
    settings.common.progress = [](const Moment&) { return false; };
    const Model few = kernel_pca(settings).fit(data);
    EXPECT_EQ(few.report().status, FitStatus::cancelled);
    EXPECT_EQ(few.report().figures.at("rows_given"), 1500);
    EXPECT_EQ(few.report().rows, few.expansion().size());
}

/// center(k) leaves rounding of the size of k, not of what remains: rows far from the origin.
TEST(Maps, CentredKernelsOfLargeValuesHaveAMap) {
    const Dataset iris = embedded("iris");
    std::vector<double> far(iris.size() * 4);
    for (std::size_t i = 0; i < iris.size(); ++i) {
        iris.x.copy_row(i, std::span(far).subspan(4 * i, 4));
    }
    for (double& value : far) value += 1e4;
    const FeatureMap map = eigen_map(center(linear()), Rows::dense(far, 4));
    EXPECT_EQ(map.features(), 4U) << "and rounding is no feature";
}

}  // namespace
}  // namespace mercer
