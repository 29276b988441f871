// Certificates computed again from model and data: they hold for the machine that was trained and
// for no other.
#include "learn/certificate.hpp"

#include "learn/small.hpp"
#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

using testing::closely;

class Certificate : public ::testing::TestWithParam<Task> {
   protected:
    Certificate() {
        const Task task = GetParam();
        data = testing::with_double_rows(is_regressor(task)
                                             ? make("sinc", {.n = 80, .seed = 2})
                                             : make("moons", {.n = 80, .noise = 0.1, .seed = 2}));
        model = Svm(closely({.task = task,
                             .common = {.kernel = rbf({.gamma = 1.0})},
                             .C = task == Task::svdd ? 0 : 2.0,
                             .nu = 0.23}))
                    .fit(data);
    }
    Report again(const Model& other) const { return recompute_reports(other, data).front(); }

    Dataset data;
    Model model;
};

TEST_P(Certificate, HoldsForTheMachineItself) {
    const Report r = model.report();
    EXPECT_EQ(r.status, FitStatus::converged);
    const double unit = std::max(std::abs(r.primal), std::abs(r.dual));
    testing::expect_same_report(r, again(model), 1e-9 * unit);
    EXPECT_NEAR(again(model).kkt_violation, r.kkt_violation, 1e-9);
    EXPECT_LE(r.relative_gap, 1e-5);
    EXPECT_GE(r.relative_gap, -1e-9);
}

TEST_P(Certificate, NeedsNoRecordOfWhereThePointsCameFrom) {
    ModelParts other = model.parts();
    other.origins.clear();
    const double unit = std::max(std::abs(model.report().primal), std::abs(model.report().dual));
    testing::expect_same_report(model.report(), again(Model(other)), 1e-9 * unit);
}

TEST_P(Certificate, NoticesAnotherBiasOrRadius) {
    for (const double change : {-0.05, 0.05}) {
        ModelParts other = model.parts();
        if (GetParam() == Task::svdd) {
            other.reports[0].radius += change;
        } else {
            other.expansion.bias[0] += change;
        }
        EXPECT_GT(again(Model(other)).relative_gap, 100 * model.report().relative_gap);
        EXPECT_GT(again(Model(other)).primal, model.report().primal);
    }
}

TEST_P(Certificate, NoticesAnotherCoefficient) {
    for (std::size_t i = 0; i < model.expansion().size(); i += 5) {
        ModelParts other = model.parts();
        other.expansion.coefficients(0, i) *= 1.5;
        EXPECT_GT(again(Model(other)).infeasibility, 1e-6) << "an equality is broken";
    }
    // Two changes that keep the equalities break a bound or leave the optimum. The largest
    // coefficient of one kind is at its bound unless there are no bounds.
    ModelParts other = model.parts();
    auto coefficients = other.expansion.coefficients.row(0);
    const auto sign_of = [](double value) { return value > 0 ? 1 : -1; };
    const std::size_t first = 0;
    std::size_t second = 1;
    while (sign_of(coefficients[second]) != sign_of(coefficients[first])) ++second;
    const double change = coefficients[second] / 2;
    coefficients[first] += change;
    coefficients[second] -= change;
    const Report r = again(Model(other));
    EXPECT_TRUE(r.infeasibility > 1e-6 || r.kkt_violation > 1e-3);
}

TEST_P(Certificate, IsNotThatOfOtherData) {
    Dataset other = data;
    other.x = Scaling::fit(ScalingRule::parse("standard"), data.x).apply(data.x);
    const std::string message = testing::message_of([&] { recompute_reports(model, other); });
    EXPECT_NE(message.find("other data"), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Tasks, Certificate,
                         ::testing::Values(Task::svc, Task::nu_svc, Task::hard_margin, Task::svr,
                                           Task::nu_svr, Task::one_class, Task::svdd),
                         [](const auto& parameter) {
                             std::string name = task_name(parameter.param);
                             for (char& c : name) c = c == '-' ? '_' : c;
                             return name;
                         });

TEST(CertificateOfCopies, CountsEachRowOnce) {
    // Two equal rows, both support vectors: without origins each must be found once.
    const Dataset data = testing::labelled({{1, 0}, {1, 0}, {0, 1}, {0, 1}}, {1, 1, -1, -1});
    ModelParts model = Svm(closely({.common = {.kernel = linear()}, .C = 0.3})).fit(data).parts();
    ASSERT_EQ(model.expansion.size(), 4U);
    model.origins.clear();
    const Report r = recompute_reports(Model(model), data).front();
    EXPECT_LE(r.infeasibility, 1e-9);
    EXPECT_NEAR(r.primal, Model(model).report().primal, 1e-9);
}

}  // namespace
}  // namespace mercer
