// Machines of one class: smallest spheres (002), SVDD and the one-class machine (001).
#include <cmath>

#include "learn/certificate.hpp"
#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

using testing::closely;
using testing::points;
using testing::value_at;
using testing::with_double_rows;

SvmSettings smallest_sphere(Kernel kernel) {
    return closely({.task = Task::svdd, .common = {.kernel = std::move(kernel)}, .C = 0, .nu = 0},
                   1e-10);
}

/// The centre of a sphere in input space: coefficients are 2α (002, equation 9).
std::vector<double> centre_of(const Model& model) {
    std::vector<double> centre(model.columns(), 0.0);
    std::vector<double> row(model.columns());
    for (std::size_t i = 0; i < model.expansion().size(); ++i) {
        model.expansion().points.copy_row(i, row);
        for (std::size_t k = 0; k < row.size(); ++k) {
            centre[k] += model.expansion().coefficients(0, i) / 2 * row[k];
        }
    }
    return centre;
}

double distance2(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

struct KnownSphere {
    const char* name;
    std::vector<std::vector<double>> rows;
    std::vector<double> centre;
    double radius;
};

void PrintTo(const KnownSphere& sphere, std::ostream* out) {
    *out << sphere.name;
}

class SmallestSphere : public ::testing::TestWithParam<KnownSphere> {};

TEST_P(SmallestSphere, HasItsCentreAndRadius) {
    const KnownSphere& known = GetParam();
    const Dataset data = points(known.rows);
    const Model model = Svm(smallest_sphere(linear())).fit(data);
    const Report r = model.report();
    EXPECT_EQ(r.status, FitStatus::converged);
    EXPECT_NEAR(r.radius, known.radius, 1e-6);
    EXPECT_EQ(r.margin, r.radius);
    EXPECT_NEAR(r.primal, known.radius * known.radius, 1e-6);
    EXPECT_NEAR(r.dual, known.radius * known.radius, 1e-6);
    EXPECT_GE(r.relative_gap, -1e-9);
    const std::vector<double> centre = centre_of(model);
    EXPECT_LE(distance2(centre, known.centre), 1e-12);
    double sum = 0;
    for (const double c : model.expansion().coefficients.values()) {
        EXPECT_GE(c, 0);
        sum += c / 2;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    // The decision rule of 002, with its sign set right: f(x) = r² − ‖x − c‖², positive inside.
    Random random(3);
    for (int trial = 0; trial < 20; ++trial) {
        std::vector<double> x(model.columns());
        for (double& value : x) value = random.uniform(-5, 5);
        const double expected = known.radius * known.radius - distance2(x, known.centre);
        EXPECT_NEAR(value_at(model, x), expected, 1e-4);
        EXPECT_EQ(model.predict(points({x}).x)[0], expected > 0 ? 1 : -1);
    }
    const Report again = recompute_reports(model, data).front();
    EXPECT_NEAR(again.primal, r.primal, 1e-9);
    EXPECT_NEAR(again.dual, r.dual, 1e-9);
}

const double root3 = std::sqrt(3.0);
INSTANTIATE_TEST_SUITE_P(
    Known, SmallestSphere,
    ::testing::Values(
        KnownSphere{"pair", {{0, 0}, {4, 0}}, {2, 0}, 2},
        KnownSphere{"triangle", {{-1, 0}, {1, 0}, {0, root3}}, {0, root3 / 3}, 2 / root3},
        // An obtuse triangle needs its longest side only.
        KnownSphere{"obtuse", {{-2, 0}, {2, 0}, {0.5, 1}}, {0, 0}, 2},
        KnownSphere{"square", {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}, {0, 0.5}}, {0, 0}, std::sqrt(2)},
        KnownSphere{"simplex",
                    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                    {1.0 / 3, 1.0 / 3, 1.0 / 3},
                    std::sqrt(2.0 / 3)},
        KnownSphere{"point", {{3, 4}}, {3, 4}, 0},
        KnownSphere{"twice", {{3, 4}, {3, 4}, {1, 4}}, {2, 4}, 1}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(SphereInFeatureSpace, TouchesItsSupportVectorsAndHoldsTheRest) {
    const Dataset data = with_double_rows(make("rings", {.n = 100, .seed = 2}));
    for (const Kernel& kernel :
         {rbf({.gamma = 0.7}), polynomial({.degree = 2}), linear() + rbf({.gamma = 1.0})}) {
        SCOPED_TRACE(kernel.text());
        const Model model = Svm(smallest_sphere(kernel)).fit(data);
        const Matrix<double> f = model.decision(data.x);
        const double r2 = model.report().radius * model.report().radius;
        for (std::size_t i = 0; i < data.size(); ++i) EXPECT_GE(f(i, 0), -1e-6 * r2);
        for (const std::size_t row : model.origins()) EXPECT_NEAR(f(row, 0), 0, 1e-6 * r2);
        EXPECT_LE(model.report().relative_gap, 1e-7);
    }
}

TEST(Svdd, WithAGaussianIsTheOneClassMachine) {
    // k(x, x) = 1 makes the linear term a constant: α of the sphere times ν m is α of the plane.
    const Dataset data = with_double_rows(make("rings", {.n = 120, .seed = 4}));
    for (const double nu : {0.111, 0.303, 0.7}) {
        SCOPED_TRACE(nu);
        const Kernel kernel = rbf({.gamma = 0.8});
        const SvmSettings plane =
            closely({.task = Task::one_class, .common = {.kernel = kernel}, .nu = nu}, 1e-9);
        const SvmSettings ball =
            closely({.task = Task::svdd, .common = {.kernel = kernel}, .C = 0, .nu = nu}, 1e-10);
        const Model a = Svm(plane).fit(data);
        const Model b = Svm(ball).fit(data);
        const double factor = 2 / (nu * static_cast<double>(data.size()));
        const Matrix<double> f = a.decision(data.x);
        const Matrix<double> g = b.decision(data.x);
        for (std::size_t i = 0; i < data.size(); ++i) {
            ASSERT_NEAR(factor * f(i, 0), g(i, 0), 1e-6) << "row " << i;
        }
        testing::expect_certified(a, data, plane);
        testing::expect_nu_property(a, data, plane);
        testing::expect_nu_property(b, data, ball);
        EXPECT_GT(a.report().rho, 0);
        EXPECT_NEAR(a.report().margin, a.report().rho / std::sqrt(a.report().squared_norm), 1e-12);
    }
}

TEST(Svdd, GivenByCIsGivenByNu) {
    const Dataset data = with_double_rows(make("rings", {.n = 80, .seed = 4}));
    const Kernel kernel = linear();
    const double nu = 0.205;
    const double C = 1 / (nu * static_cast<double>(data.size()));
    const Model by_nu =
        Svm(closely({.task = Task::svdd, .common = {.kernel = kernel}, .C = 0, .nu = nu}))
            .fit(data);
    const Model by_c =
        Svm(closely({.task = Task::svdd, .common = {.kernel = kernel}, .C = C})).fit(data);
    testing::expect_same_decisions(by_nu, by_c, data.x, 1e-5);
    EXPECT_NEAR(by_nu.report().radius, by_c.report().radius, 1e-6);
    // Primal r² + C Σ ξ, counted here from the decisions.
    const Matrix<double> f = by_c.decision(data.x);
    double primal = by_c.report().radius * by_c.report().radius;
    for (std::size_t i = 0; i < data.size(); ++i) primal += C * std::max(0.0, -f(i, 0));
    EXPECT_NEAR(primal, by_c.report().primal, 1e-6 * primal);
    EXPECT_NEAR(primal, by_c.report().dual, 1e-5 * primal);
    const std::string message = testing::message_of(
        [&] { Svm({.task = Task::svdd, .common = {.kernel = kernel}, .C = 0.001}).fit(data); });
    EXPECT_NE(message.find("smallest feasible value is 0.0125"), std::string::npos) << message;
}

TEST(OneClass, KeepsAFractionOutside) {
    const Dataset data = with_double_rows(make("blobs", {.n = 200, .seed = 4, .classes = 2}));
    double before = 0;
    for (const double nu : {0.05, 0.1, 0.3, 0.5}) {
        const SvmSettings settings =
            closely({.task = Task::one_class, .common = {.kernel = rbf({.gamma = 0.1})}, .nu = nu});
        const Model model = Svm(settings).fit(data);
        testing::expect_nu_property(model, data, settings);
        testing::expect_certified(model, data, settings);
        const Matrix<double> f = model.decision(data.x);
        double outside = 0;
        for (std::size_t i = 0; i < data.size(); ++i) outside += f(i, 0) < -1e-6 ? 1 : 0;
        EXPECT_LE(outside, nu * 200);
        EXPECT_GE(outside, nu * 200 - static_cast<double>(model.report().free_support_vectors));
        EXPECT_GE(outside, before);
        before = outside;
    }
}

}  // namespace
}  // namespace mercer
