// Regression of targets such as prices, and Ctrl-C in machines that factorise and decompose.
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

/// A table with the columns a, b and price, 100000 to 300000.
std::string prices(const Folder& folder, int rows) {
    std::string table = "a,b,price\n";
    for (int i = 0; i < rows; ++i) {
        const double a = 0.01 * ((i * 37) % 1000), b = 0.01 * ((i * 91) % 1000);
        table += std::to_string(a) + ',' + std::to_string(b) + ',' +
                 std::to_string(200000 + 80000 * std::sin(a) + 15000 * std::cos(3 * b)) + '\n';
    }
    return folder.file("prices.csv", table);
}

TEST(Targets, AGaussianProcessOfPricesPredictsPrices) {
    const Folder folder;
    const std::string data = prices(folder, 150);
    const std::string model = folder.path("gp.mercer");
    const json report = json_of({"train", data, model, "--label", "price", "--task", "gp",
                                 "--kernel", "1.0*rbf(gamma=1)", "--optimise", "--noise", "0.01"});
    EXPECT_TRUE(has(report["kernel"], "*rbf")) << report["kernel"];
    EXPECT_FALSE(has(report["kernel"], "1*rbf(gamma=1)")) << "both are learnt";
    EXPECT_NEAR(report["trained"]["numbers"]["target_shift"].get<double>(), 200000, 20000);
    const json judged = json_of({"predict", model, data, "--label", "price", "--std"});
    double worst = 0;
    for (std::size_t i = 0; i < judged["labels"].size(); ++i) {
        worst = std::max(worst, judged["deviation"]["rows"][i][0].get<double>());
        EXPECT_GT(judged["labels"][i].get<double>(), 80000);
    }
    EXPECT_GT(worst, 1) << "deviations are in the target's units";
}

TEST(Targets, UselessSettingsOfSvrAreWarnedOfAndScaledOnesVerify) {
    const Folder folder;
    const std::string data = prices(folder, 120);
    const std::string model = folder.path("svr.mercer");
    const Words plain{"train",  data,  model,      "--label",     "price",
                      "--task", "svr", "--kernel", "rbf(gamma=1)"};
    const Outcome warned = run(plain);
    EXPECT_EQ(warned.code, 0) << warned.err;
    EXPECT_TRUE(has(warned.err, "--target-scale standard")) << warned.err;
    Words scaled = plain;
    scaled.insert(scaled.end(), {"--target-scale", "standard", "-C", "10"});
    const Outcome fine = run(scaled);
    EXPECT_EQ(fine.code, 0) << fine.err;
    EXPECT_EQ(fine.err, "");
    EXPECT_EQ(json_of({"verify", model, data, "--label", "price"})["holds"], true);
    const json judged = json_of({"predict", model, data, "--label", "price"});
    EXPECT_GT(judged["squared_correlation"].get<double>(), 0.9) << judged;
    Words tight = plain;
    tight.insert(tight.end(), {"--epsilon", "1e7"});
    EXPECT_TRUE(has(run(tight).err, "is wider than the targets' deviation"));
    // What is given in vain is refused.
    EXPECT_EQ(run({"train", "@iris", "--target-scale", "standard"}).code, 2);
}

TEST(Targets, ASearchSaysWhatEndedAtItsLimitsAndHoldsWhatIsFixed) {
    const Folder folder;
    const std::string data = prices(folder, 60);
    const std::string model = folder.path("gp.mercer");
    const Words words{
        "train",    data,           model,        "--label", "price", "--task",         "gp",
        "--kernel", "rbf(gamma=1)", "--optimise", "--noise", "0.001", "--target-scale", "none"};
    Words patient = words;
    patient.insert(patient.end(), {"--step-limit", "1000"});
    const Outcome outcome = run(patient);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "noise = 1000")) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "--fix")) << outcome.err;
    EXPECT_TRUE(has(outcome.out, "stopped at a limit of the search")) << outcome.out;
    EXPECT_TRUE(has(run({"show", model}).out, "stopped at a limit of the search"));
    Words held = words;
    held.insert(held.end(), {"--fix", "noise", "--step-limit", "3"});
    const json report = json_of(held);
    EXPECT_EQ(report["trained"]["numbers"]["noise"], 0.001);
    EXPECT_LE(report["certificate"]["iterations"], 3);
    EXPECT_EQ(run({"train", data, "--label", "price", "--task", "gp", "--fix", "noise"}).code, 2);
    EXPECT_EQ(
        run({"train", data, "--label", "price", "--task", "gp", "--optimise", "--fix", "sigma"})
            .code,
        2);
}

TEST(Targets, CtrlCIsAnsweredByMachinesThatFactorise) {
    const Folder folder;
    const std::string data = folder.path("rows.csv");
    ASSERT_EQ(run({"make", "sinc", "--n", "7000", "--noise", "0.3", "-o", data}).code, 0);
    const std::vector<Words> tasks{
        {"--task", "ridge", "--kernel", "rbf(gamma=3)"},
        {"--task", "gp", "--kernel", "rbf(gamma=3)", "--optimise"},
        {"--task", "kpca", "--kernel", "rbf(gamma=3)", "--components", "2500"},
        {"--task", "k-means", "--kernel", "rbf(gamma=3)", "--clusters", "200", "--starts", "1000"}};
    for (const Words& task : tasks) {
        const std::string model = folder.path("m");
        Words words{"train", data, model, "--memory", "1024"};
        words.insert(words.end(), task.begin(), task.end());
        const Outcome outcome = run_and_signal(words, SIGINT, 700);
        EXPECT_EQ(outcome.code, 130) << task[1] << ": " << outcome.err;
        EXPECT_TRUE(has(outcome.out, "stopped early on request")) << task[1] << outcome.out;
        EXPECT_EQ(run({"show", model}).code, 0) << task[1];
    }
}

}  // namespace
}  // namespace mercer::test
