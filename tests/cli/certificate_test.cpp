// What the program says of certificates: no bracket that is not proved, and one that is a theorem.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

constexpr int stationary = 3;
const std::string sentence = "the optimum lies between dual and primal";

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

std::string moons(const Folder& folder) {
    const std::string path = folder.path("moons.csv");
    EXPECT_EQ(run({"make", "moons", "--n", "80", "--noise", "0.3", "-o", path}).code, 0);
    return path;
}

TEST(StationaryPoint, HasNoGapAndAnExitCodeOfItsOwn) {
    const Folder folder;
    const std::string data = moons(folder);
    const std::string model = folder.path("m.mercer");
    for (const Words& kernel : {Words{"--kernel", "sigmoid(gamma=1, coef0=-1)"},
                                Words{"--kernel", "negative_distance", "--no-bias"}}) {
        Words words{"train", data, model};
        words.insert(words.end(), kernel.begin(), kernel.end());
        const Outcome trained = run(words);
        EXPECT_EQ(trained.code, stationary) << trained.err;
        EXPECT_EQ(count(trained.err, "warning:"), 1U) << trained.err;
        const Outcome shown = run({"show", model});
        EXPECT_EQ(shown.code, 0);
        const Outcome verified = run({"verify", model, data});
        EXPECT_EQ(verified.code, stationary) << verified.out;
        for (const Outcome* outcome : {&trained, &shown, &verified}) {
            EXPECT_FALSE(has(outcome->out, sentence)) << outcome->out;
            EXPECT_TRUE(has(outcome->out, "stationary point")) << outcome->out;
        }
        EXPECT_FALSE(has(trained.out, "margin ")) << trained.out;
        words.emplace_back("--json");
        const json report = json::parse(run(words).out)["certificate"];
        EXPECT_EQ(report["certifies"], "stationary point");
        EXPECT_EQ(report["convexity"], "refuted");
        EXPECT_LT(report["least_curvature"], 0);
        for (const char* name : {"primal", "gap", "relative_gap"}) {
            EXPECT_TRUE(report[name].is_null()) << report;
        }
        const json verdict = json::parse(run({"verify", model, data, "--json"}).out);
        EXPECT_EQ(verdict["certifies"], "stationary point");
        EXPECT_EQ(run({"verify", model, data, "--rigorous"}).code, 2);
    }
}

TEST(StationaryPoint, IsNotThatOfAKernelKnownByRuleOrByItsEigenvalues) {
    const Folder folder;
    const std::string data = moons(folder);
    const Outcome by_rule = run({"train", data, "--kernel", "negative_distance"});
    EXPECT_EQ(by_rule.code, 0);
    EXPECT_TRUE(has(by_rule.out, sentence)) << by_rule.out;
    const std::string gram = folder.path("gram.csv");
    ASSERT_EQ(run({"gram", "rbf(gamma=1)", data, "-o", gram}).code, 0);
    const Outcome tested = run({"train", gram, "--kernel", "precomputed"});
    EXPECT_EQ(tested.code, 0) << tested.err;
    EXPECT_TRUE(has(tested.out, sentence)) << tested.out;
    EXPECT_TRUE(has(tested.out, "smallest eigenvalue")) << tested.out;
}

TEST(StationaryPoint, IsReportedByTheOtherMachinesToo) {
    const Folder folder;
    const std::string data = moons(folder);
    for (const Words& task :
         {Words{"adatron", "-C", "1"}, Words{"logistic", "--lambda", "100"},
          Words{"quantile", "--lambda", "1"}, Words{"ridge", "--lambda", "100"}}) {
        Words words{"train", data, "--kernel", "sigmoid(gamma=1, coef0=-1)", "--task"};
        words.insert(words.end(), task.begin(), task.end());
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, stationary) << task[0] << outcome.err << outcome.out;
        EXPECT_FALSE(has(outcome.out, sentence)) << outcome.out;
    }
    const Outcome combined = run({"align", data, "--kernel", "sigmoid(gamma=1, coef0=-1)",
                                  "--kernel", "linear", "--combine", "margin"});
    EXPECT_EQ(combined.code, 2);
    EXPECT_TRUE(has(combined.err, "sigmoid")) << combined.err;
    const std::string model = folder.path("m.mercer");
    run({"train", data, model, "--kernel", "sigmoid(gamma=1, coef0=-1)"});
    EXPECT_EQ(run({"bounds", model, data}).code, 2) << "margins of no feature space bound nothing";
}

TEST(Gap, ToleranceStandsBesideWhatItIsOn) {
    const Folder folder;
    const std::string data = moons(folder);
    const Outcome logistic = run({"train", data, "--task", "logistic"});
    const Outcome svc = run({"train", data});
    const auto line_of = [](const std::string& text, const std::string& name) {
        const std::size_t at = text.find("\n" + name);
        return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    };
    EXPECT_TRUE(has(line_of(logistic.out, "gap"), "tolerance 1e-06")) << logistic.out;
    EXPECT_FALSE(has(line_of(logistic.out, "violation"), "tolerance")) << logistic.out;
    EXPECT_TRUE(has(line_of(svc.out, "violation"), "tolerance 0.001")) << svc.out;
    EXPECT_FALSE(has(line_of(svc.out, "gap"), "tolerance")) << svc.out;
}

TEST(NuLine, OfATubeOfVaryingWidthIsAroundNu) {
    const Folder folder;
    const std::string data = folder.path("sinc.csv");
    ASSERT_EQ(run({"make", "sinc", "--n", "200", "--noise", "0.2", "-o", data}).code, 0);
    const Outcome outcome = run(
        {"train", data, "--task", "nu-svr", "--nu", "0.3", "-C", "5", "--tube", "0.2 + abs(x0)/5"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(has(outcome.out, "counted by their tube's width")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, ": around nu = 0.3, as they must be")) << outcome.out;
}

TEST(Rigorous, BracketIsProvedForEveryTask) {
    const Folder folder;
    const std::string data = moons(folder);
    const std::string sinc = folder.path("sinc.csv");
    ASSERT_EQ(run({"make", "sinc", "--n", "80", "-o", sinc}).code, 0);
    const std::string model = folder.path("m.mercer");
    for (const Words& task :
         {Words{"svc"}, Words{"nu-svc", "--nu", "0.3"}, Words{"svr"},
          Words{"nu-svr", "--nu", "0.3"}, Words{"one-class", "--nu", "0.2"},
          Words{"svdd", "--nu", "0.2"}, Words{"hard", "--kernel", "rbf(gamma=100)"}}) {
        const std::string& rows = task[0] == "svr" || task[0] == "nu-svr" ? sinc : data;
        Words words{"train", rows, model, "--task"};
        words.insert(words.end(), task.begin(), task.end());
        ASSERT_EQ(run(words).code, 0) << task[0];
        const Outcome outcome = run({"verify", model, rows, "--rigorous", "--json"});
        EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
        const json part = json::parse(outcome.out)["parts"][0];
        const double low = part["proved"]["low"];
        const double high = part["proved"]["high"];
        EXPECT_LE(low, high) << task[0];
        EXPECT_NEAR(low, part["found"]["dual"], 1e-4 * (1 + std::abs(low))) << task[0];
        EXPECT_NEAR(high, part["found"]["primal"], 1e-4 * (1 + std::abs(high))) << task[0];
    }
    ASSERT_EQ(run({"train", data, model, "--kernel", "rbf + periodic"}).code, 0);
    const Outcome refused = run({"verify", model, data, "--rigorous"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(has(refused.err, "periodic")) << refused.err;
}

}  // namespace
}  // namespace mercer::test
