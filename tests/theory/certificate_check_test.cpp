// A certificate holds for the machine it was made for, and for no other.
#include "mercer/theory/certificate_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

bool holds(const std::vector<CheckedReport>& checks) {
    for (const CheckedReport& check : checks) {
        if (!check.broken.empty()) return false;
    }
    return !checks.empty();
}

std::string sentences(const std::vector<CheckedReport>& checks) {
    std::string text;
    for (const CheckedReport& check : checks) {
        for (const std::string& sentence : check.broken) text += sentence + "\n";
    }
    return text;
}

TEST(CertificateCheck, HoldsForEveryMachineAsTrained) {
    const Dataset moons = make("moons", {.n = 160, .noise = 0.25});
    const Dataset sinc = make("sinc", {.n = 100, .noise = 0.1});
    const Dataset iris = read("@iris");
    struct Case {
        SvmSettings settings;
        const Dataset* data;
    };
    const std::vector<Case> cases{
        {{.task = Task::svc, .C = 1e4}, &moons},
        {{.task = Task::svc, .common = {.kernel = polynomial({.degree = 5})}}, &moons},
        {{.task = Task::nu_svc, .nu = 0.4}, &moons},
        {{.task = Task::hard_margin, .common = {.kernel = rbf({.gamma = 100.0})}}, &moons},
        {{.task = Task::svc, .multi_class = MultiClass::one_vs_rest}, &iris},
        {{.task = Task::svc, .C = 100, .relative_gap = 0.1}, &iris},
        {{.task = Task::svc, .C = 100, .iteration_limit = 3}, &iris},
        {{.task = Task::svr, .C = 50}, &sinc},
        {{.task = Task::nu_svr, .nu = 0.2}, &sinc},
        {{.task = Task::one_class, .nu = 0.15}, &moons},
        {{.task = Task::svdd, .C = 0, .nu = 0.15}, &moons},
        {{.task = Task::svdd, .C = 0, .nu = 0}, &moons}};
    for (const Case& c : cases) {
        SvmSettings settings = c.settings;
        for (const bool twice : {false, true}) {
            settings.common.double_precision = twice;
            const Model model = Svm(settings).fit(*c.data);
            const auto checks = check_certificate(model, *c.data);
            EXPECT_EQ(checks.size(), model.reports().size());
            EXPECT_TRUE(holds(checks)) << task_name(settings.task) << "\n" << sentences(checks);
        }
    }
}

TEST(CertificateCheck, EveryPartOfTheClaimIsChecked) {
    const Dataset data = make("moons", {.n = 120, .noise = 0.3});
    const Model honest = nu_svc({.nu = 0.4}).fit(data);
    ASSERT_TRUE(holds(check_certificate(honest, data)));
    const auto breaks = [&](const char* expected, const auto& tamper) {
        ModelParts model = honest.parts();
        tamper(model);
        const std::string text = sentences(check_certificate(Model(model), data));
        EXPECT_NE(text.find(expected), std::string::npos) << expected << " in:\n" << text;
    };
    breaks("the breach of a bound", [](ModelParts& m) { m.expansion.coefficients(0, 0) *= 1.001; });
    breaks("the KKT violation", [](ModelParts& m) {
        for (double& value : m.expansion.coefficients.values()) value *= 0.5;
    });
    breaks("the relative gap", [](ModelParts& m) { m.expansion.bias[0] += 1; });
    breaks("the dual value", [](ModelParts& m) { m.reports[0].dual *= 1.01; });
    breaks("support vectors, claimed", [](ModelParts& m) { m.expansion.coefficients(0, 1) = 0; });
    breaks("the nu-property", [](ModelParts& m) { m.reports[0].nu = 0.9; });
}

TEST(CertificateCheck, RefusesWhatHasNone) {
    const Dataset data = make("moons", {.n = 60});
    ModelParts model = svc({}).fit(data).parts();
    EXPECT_THROW(check_certificate(Model(model), make("moons", {.n = 60, .seed = 9})),
                 InvalidInput);
    model.reports.clear();
    EXPECT_THROW(check_certificate(Model(model), data), InvalidInput);
}

}  // namespace
}  // namespace mercer
