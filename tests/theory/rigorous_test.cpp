// Proved brackets: intervals hold the exact values, and the bracket of any coefficients, good or
// bad, holds the optimum.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/theory/certificate_check.hpp"
#include "mercer/theory/detail/kernel_enclosure.hpp"

namespace mercer {
namespace {

using Real = long double;

Real dot(const std::vector<double>& x, const std::vector<double>& z) {
    Real sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<Real>(x[i]) * z[i];
    return sum;
}

Real distance2(const std::vector<double>& x, const std::vector<double>& z) {
    Real sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const Real d = static_cast<Real>(x[i]) - z[i];
        sum += d * d;
    }
    return sum;
}

TEST(KernelEnclosure, HoldsTheValueOfTheFormula) {
    using Pair = std::vector<double>;
    struct Formula {
        const char* text;
        Real (*value)(const Pair&, const Pair&);
    };
    const std::vector<Formula> formulas{
        {"linear", [](const Pair& x, const Pair& z) { return dot(x, z); }},
        {"polynomial(degree=5, gamma=0.5, coef0=-1)",
         [](const Pair& x, const Pair& z) { return powl(0.5L * dot(x, z) - 1, 5); }},
        {"rbf(gamma=0.3)",
         [](const Pair& x, const Pair& z) { return expl(-Real(0.3) * distance2(x, z)); }},
        {"sigmoid(gamma=0.25, coef0=0.5)",
         [](const Pair& x, const Pair& z) { return tanhl(0.25L * dot(x, z) + 0.5L); }},
        {"negative_distance(beta=1.5)",
         [](const Pair& x, const Pair& z) { return -powl(distance2(x, z), 0.75L); }},
        {"imq(c=0.5)",
         [](const Pair& x, const Pair& z) { return 1 / sqrtl(distance2(x, z) + 0.25L); }},
        {"rq(alpha=1.5, length=2)",
         [](const Pair& x, const Pair& z) { return powl(1 + distance2(x, z) / 12, -1.5L); }},
        {"normalize(linear)",
         [](const Pair& x, const Pair& z) { return dot(x, z) / sqrtl(dot(x, x) * dot(z, z)); }},
        {"2*rbf(gamma=0.5)*linear + 3", [](const Pair& x, const Pair& z) {
             return 2 * expl(-distance2(x, z) / 2) * dot(x, z) + 3;
         }}};
    Random random(2);
    for (const Formula& formula : formulas) {
        const Kernel kernel = Kernel::parse(formula.text);
        require_enclosable(kernel);
        for (int round = 0; round < 500; ++round) {
            std::vector<double> x(1 + random.below(40)), z(x.size());
            const double size = std::pow(10.0, random.uniform(-2, 0.5));
            for (double& value : x) value = size * random.normal();
            for (double& value : z) value = size * random.normal();
            if (round % 10 == 0) z = x;
            const Real exact = formula.value(x, z);
            const Interval found = enclose(kernel, x, z);
            ASSERT_LE(static_cast<Real>(found.low), exact) << formula.text;
            ASSERT_GE(static_cast<Real>(found.high), exact) << formula.text;
            ASSERT_LE(found.high - found.low, 1e-10 * (1 + std::abs(found.high))) << formula.text;
        }
    }
}

struct Case {
    SvmSettings settings;
    const Dataset* data;
};

class Proof : public ::testing::Test {
   protected:
    Dataset moons = make("moons", {.n = 90, .noise = 0.25});
    Dataset apart = make("moons", {.n = 60, .noise = 0.05});
    Dataset sinc = make("sinc", {.n = 60, .noise = 0.1});
    Dataset iris = read("@iris");
    std::vector<Case> cases{
        {{.task = Task::svc, .C = 10}, &moons},
        {{.task = Task::svc, .common = {.kernel = Kernel::parse("negative_distance")}, .C = 3},
         &moons},
        {{.task = Task::svc, .common = {.kernel = linear()}, .bias = false}, &moons},
        {{.task = Task::svc, .common = {.kernel = polynomial({.degree = 2})}, .C = 10}, &iris},
        {{.task = Task::nu_svc, .nu = 0.4}, &moons},
        {{.task = Task::hard_margin, .common = {.kernel = rbf({.gamma = 5.0})}}, &apart},
        {{.task = Task::svr, .C = 5}, &sinc},
        {{.task = Task::nu_svr, .C = 5, .nu = 0.3}, &sinc},
        {{.task = Task::one_class, .nu = 0.15}, &moons},
        {{.task = Task::svdd, .C = 0, .nu = 0.15}, &moons},
        {{.task = Task::svdd, .common = {.kernel = linear()}, .C = 0, .nu = 0}, &moons}};
};

TEST_F(Proof, ABracketHoldsTheOptimumForEveryTaskAndAnyCoefficients) {
    for (const Case& c : cases) {
        SCOPED_TRACE(task_name(c.settings.task) + " " + c.settings.common.kernel.text());
        SvmSettings close = c.settings;
        close.tolerance = 1e-10;
        close.common.double_precision = true;
        const auto optimum = prove_brackets(Svm(close).fit(*c.data), *c.data);
        const Model coarse = Svm(c.settings).fit(*c.data);
        const auto brackets = prove_brackets(coarse, *c.data);
        const std::vector<Report> found = recompute_reports(coarse, *c.data);
        ASSERT_EQ(brackets.size(), coarse.reports().size());
        for (std::size_t i = 0; i < brackets.size(); ++i) {
            // ν-SVC speaks of C = 1/ρ, which another training finds slightly different.
            const double room = c.settings.task == Task::nu_svc ? 1e-3 * optimum[i].high : 0;
            EXPECT_LE(brackets[i].low, brackets[i].high);
            EXPECT_LE(brackets[i].low, optimum[i].high + room);
            EXPECT_GE(brackets[i].high, optimum[i].low - room);
            EXPECT_LE(optimum[i].relative_width(), 1e-6);
            const double size = std::max(std::abs(found[i].primal), std::abs(found[i].dual));
            EXPECT_NEAR(brackets[i].low, found[i].dual, 1e-5 * size);
            EXPECT_NEAR(brackets[i].high, found[i].primal, 1e-5 * size);
        }
        // Coefficients that are too large, broken equalities, another bias: the dual value as such
        // may then exceed the optimum, what is proved never does.
        Random random(4);
        for (int round = 0; round < 5; ++round) {
            ModelParts bad = coarse.parts();
            for (double& b : bad.expansion.coefficients.values()) {
                b *= 1 + 0.05 * random.uniform() + 1e-4;
            }
            for (double& b : bad.expansion.bias) b += 0.01 * random.normal();
            try {
                const auto proved = prove_brackets(Model(bad), *c.data);
                for (std::size_t i = 0; i < proved.size(); ++i) {
                    const double room =
                        c.settings.task == Task::nu_svc ? 1e-3 * optimum[i].high : 0;
                    EXPECT_LE(proved[i].low, optimum[i].high + room);
                    EXPECT_GE(proved[i].high, optimum[i].low - room);
                }
            } catch (const InvalidInput&) {
                continue;  // one coefficient has no room for all that is missing
            }
        }
    }
}

TEST_F(Proof, IsRefusedByNameWhereNothingIsProved) {
    const auto message = [&](const char* kernel, bool bias) {
        try {
            prove_brackets(
                Svm({.common = {.kernel = Kernel::parse(kernel)}, .bias = bias}).fit(moons), moons);
        } catch (const InvalidInput& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_NE(message("rbf(gamma=1) + periodic", true).find("periodic"), std::string::npos);
    EXPECT_NE(message("sigmoid(gamma=1, coef0=-1)", true).find("sigmoid"), std::string::npos);
    EXPECT_NE(message("negative_distance", false).find("bias"), std::string::npos);
    EXPECT_EQ(message("negative_distance", true), "");
}

TEST_F(Proof, StandsBesideTheCheckAndBreaksFalseClaims) {
    const Model model = Svm({.C = 10}).fit(moons);
    std::vector<CheckedReport> checks = check_certificate(model, moons);
    add_proofs(checks, model, moons);
    ASSERT_TRUE(checks[0].proved.has_value());
    EXPECT_TRUE(checks[0].broken.empty());
    EXPECT_LE(checks[0].proved->relative_width(), 1e-2);
    ModelParts boastful = model.parts();
    boastful.reports[0].dual *= 1.5;
    boastful.reports[0].primal *= 1.5;
    checks = check_certificate(Model(boastful), moons);
    add_proofs(checks, Model(boastful), moons);
    EXPECT_EQ(checks[0].broken.back(), "the claimed bracket lies outside the proved one");
}

TEST(CertificateCheck, AStationaryPointIsNotTakenForAnOptimum) {
    const Dataset data = make("moons", {.n = 90, .noise = 0.3});
    const Model honest =
        Svm({.common = {.kernel = Kernel::parse("sigmoid(gamma=1, coef0=-1)")}}).fit(data);
    const auto checks = check_certificate(honest, data);
    EXPECT_TRUE(checks[0].broken.empty());
    EXPECT_FALSE(checks[0].found.is_bracketed());
    ModelParts boastful = honest.parts();
    boastful.reports[0].convexity = Convexity::by_rule;
    boastful.reports[0].primal = boastful.reports[0].dual;
    boastful.reports[0].gap = boastful.reports[0].relative_gap = 0;
    const auto doubted = check_certificate(Model(boastful), data);
    ASSERT_FALSE(doubted[0].broken.empty());
    EXPECT_NE(doubted[0].broken[0].find("no negative curvature"), std::string::npos);
}

}  // namespace
}  // namespace mercer
