// The machines of the representer theorem, from the outside: train, save, load, predict.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

std::string sinc(const Folder& folder) {
    const std::string path = folder.path("sinc.csv");
    EXPECT_EQ(run({"make", "sinc", "-n", "120", "--seed", "2", "-o", path}).code, 0);
    return path;
}

TEST(Representer, EveryMachineIsTrainedSavedAndUsed) {
    const Folder folder;
    const std::string data = sinc(folder);
    const std::string model = folder.path("m.mercer");
    const std::vector<Words> machines = {
        {data, "--task", "ridge", "--kernel", "rbf(gamma=2)", "--lambda", "0.1", "--loo"},
        {data, "--task", "ridge", "--kernel", "rbf(gamma=2)", "--lambda-path", "0.01,0.1,1"},
        {data, "--task", "huber", "--kernel", "rbf(gamma=2)", "--delta", "0.2"},
        {data, "--task", "quantile", "--kernel", "rbf(gamma=2)", "--quantile", "0.8"},
        {data, "--task", "gp", "--kernel", "2*rbf(sigma=1)", "--noise", "0.05"},
        {"@iris", "--task", "logistic", "--lambda", "0.1"},
        {"@iris", "--task", "squared-hinge", "--lambda", "0.1"},
    };
    for (const Words& machine : machines) {
        SCOPED_TRACE(machine[2]);
        Words words = {"train", machine[0], model};
        words.insert(words.end(), machine.begin() + 1, machine.end());
        const json trained = json_of(words);
        EXPECT_EQ(trained["certificate"]["status"], "converged");
        EXPECT_LE(trained["certificate"]["relative_gap"].get<double>(), 1e-6);
        const json predicted = json_of({"predict", model, machine[0]});
        if (machine[0] == "@iris") {
            EXPECT_GT(predicted["accuracy"].get<double>(), 0.9);
        } else if (machine[2] != "quantile") {
            EXPECT_LT(predicted["mean_squared_error"].get<double>(), 0.1);
        }
        EXPECT_EQ(run({"show", model}).code, 0);
    }
}

TEST(Representer, ProcessSaysHowSureItIsAfterLoading) {
    const Folder folder;
    const std::string data = sinc(folder);
    const std::string model = folder.path("m.mercer");
    const json trained = json_of({"train", data, model, "--task", "gp", "--kernel",
                                  "2*rbf(sigma=0.3)", "--noise", "0.5", "--optimise"});
    const std::string kernel = trained["kernel"];
    EXPECT_NE(kernel, "2*rbf(sigma=0.3)");
    EXPECT_LT(trained["certificate"]["figures"]["noise"].get<double>(), 0.2);
    // Far from the data the process knows nothing but its kernel: the deviation is √factor, in
    // units of the targets' own.
    const double unit = trained["trained"]["numbers"]["target_scale"];
    const std::string far = folder.file("far.csv", "x0,y\n0,0\n1000,0\n");
    const json predicted = json_of({"predict", model, far, "--std"});
    const auto rows = predicted["deviation"]["rows"];
    EXPECT_LT(rows[0][0].get<double>(), 0.2);
    EXPECT_NEAR(rows[1][0].get<double>(), unit * std::sqrt(std::stod(kernel)), 1e-6);
}

TEST(Representer, OptionsOfOtherMachinesAreRefused) {
    const Outcome a = run({"train", "@iris", "--task", "logistic", "--quantile", "0.3"});
    EXPECT_EQ(a.code, 2);
    EXPECT_NE(a.err.find("--quantile has no meaning for --task logistic"), std::string::npos);
    EXPECT_NE(run({"train", "@iris", "--task", "logistic", "--lambda", "-1"}).code, 0);
    const Folder folder;
    const std::string model = folder.path("m.mercer");
    ASSERT_EQ(run({"train", "@iris", model, "--task", "logistic"}).code, 0);
    const Outcome b = run({"predict", model, "@iris", "--std"});
    EXPECT_NE(b.code, 0);
    EXPECT_NE(b.err.find("Gaussian process"), std::string::npos) << b.err;
}

}  // namespace
}  // namespace mercer::test
