// Every machine outside the support vector family from the command line, and `map`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "mercer/data/read.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::test {
namespace {

std::string moons(const Folder& folder) {
    const std::string path = folder.path("moons.csv");
    EXPECT_EQ(run({"make", "moons", "--n", "200", "--noise", "0.2", "-o", path}).code, 0);
    return path;
}

TEST(Machines, EachIsTrainedSavedShownAndPredictsAsItsModelDoes) {
    const Folder folder;
    const std::string data = moons(folder);
    const std::vector<Words> all{
        {"class-means"},
        {"class-means", "--no-bias"},
        {"parzen", "--nu", "0.1"},
        {"regions", "--shares", "0.5,0.9"},
        {"perceptron", "--passes", "3"},
        {"perceptron", "--variant", "averaged", "--order", "shuffled", "--seed", "4"},
        {"perceptron", "--variant", "voted"},
        {"perceptron", "--budget", "20"},
        {"perceptron", "--kernel", "linear", "--no-bias"},
        {"adatron", "-C", "2", "--rate", "1.5"},
        {"k-means", "--clusters", "3", "--starts", "2"},
        {"ridge", "--lambda", "0.5"},
        {"ridge", "--lambda-path", "0.01,0.1,1,10"},
        {"logistic", "--lambda", "0.1"},
        {"squared-hinge"},
        {"huber", "--delta", "0.5"},
        {"quantile", "--quantile", "0.9"},
        {"gp", "--noise", "0.2"},
    };
    for (const Words& task : all) {
        SCOPED_TRACE(task[0]);
        const std::string model = folder.path("m.mercer");
        Words words{"train", data, model, "--kernel", "rbf(gamma=1)", "--task"};
        words.insert(words.end(), task.begin(), task.end());
        if (std::ranges::find(task, "--kernel") != task.end())
            words.erase(words.begin() + 3, words.begin() + 5);
        json trained = json_of(words);
        ASSERT_EQ(trained["task"], task[0]) << trained;
        trained["certificate"]["seconds"] = nullptr;  // a file does not keep them
        const json shown = json_of({"show", model});
        EXPECT_EQ(shown["certificate"], trained["certificate"]);
        EXPECT_EQ(shown["trained"], trained["trained"]);
        const Outcome text = run({"show", model});
        EXPECT_EQ(text.code, 0);
        EXPECT_TRUE(has(text.out, "status")) << text.out;
        const json predicted = json_of({"predict", model, data});
        const Model loaded = load(model);
        const Labels expected = loaded.predict_labels(read(data).x);
        EXPECT_EQ(predicted["labels"].get<std::vector<double>>(), expected.values);
        const Outcome verified = run({"verify", model, data});
        if (task[0] == "regions") {
            EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
            continue;
        }
        EXPECT_EQ(verified.code, 2);
        EXPECT_TRUE(has(verified.err, "only support vector machines")) << verified.err;
    }
}

TEST(Machines, ASingleClassIsSeparatedFromTheOriginOrProvedNotToBe) {
    const Folder folder;
    const std::string data = moons(folder);
    const std::string model = folder.path("m.mercer");
    const json hard = json_of({"train", data, model, "--task", "one-class", "--nu", "0", "--kernel",
                               "rbf(gamma=2)", "--tol", "1e-6"});
    EXPECT_EQ(hard["certificate"]["status"], "converged") << hard;
    EXPECT_EQ(hard["certificate"]["margin_errors"], 0);
    EXPECT_EQ(run({"verify", model, data}).code, 0);
    // Around the origin no plane through it leaves all rows on one side.
    const std::string around = folder.path("around.csv");
    EXPECT_EQ(run({"make", "rings", "--n", "60", "-o", around}).code, 0);
    const Outcome none = run({"train", around, model, "--task", "one-class", "--nu", "0",
                              "--kernel", "linear", "--double"});
    EXPECT_EQ(none.code, 1) << none.out;
    EXPECT_TRUE(has(none.out, "not separable from the origin")) << none.out << none.err;
    EXPECT_TRUE(has(none.out, "the hull holds it")) << none.out;
}

TEST(Machines, RegionsSayTheSmallestThatHoldsARow) {
    const Folder folder;
    const std::string data = moons(folder);
    const std::string model = folder.path("m.mercer");
    json_of({"train", data, model, "--task", "regions", "--shares", "0.9,0.4", "--kernel",
             "rbf(gamma=2)"});
    double small = 0, large = 0;
    const json predicted = json_of({"predict", model, data});
    for (const json& share : predicted["labels"]) {
        small += share == 0.4 ? 1 : 0;
        large += share == 0.4 || share == 0.9 ? 1 : 0;
    }
    EXPECT_GE(small, 80);
    EXPECT_LT(small, 95);
    EXPECT_GE(large, 180);
    EXPECT_LT(large, 195);
    EXPECT_TRUE(has(run({"train", data, "--task", "regions", "--shares", "1.5"}).err, "shares"));
}

TEST(Machines, RegionsUnderAnIndefiniteKernelEndWithThree) {
    const Folder folder;
    const std::string data = moons(folder);
    const std::string model = folder.path("m.mercer");
    const Outcome trained = run(
        {"train", data, model, "--task", "regions", "--kernel", "rbf(gamma=1) - 2*rbf(gamma=0.2)"});
    EXPECT_EQ(trained.code, 3) << trained.out << trained.err;
    EXPECT_TRUE(has(trained.err + trained.out, "stationary point")) << trained.out << trained.err;
    EXPECT_FALSE(has(trained.out, "the optimum lies between")) << trained.out;
    EXPECT_FALSE(has(trained.out, "converged")) << trained.out;
}

TEST(Machines, TheCertificateOfRegionsIsRecomputed) {
    const Folder folder;
    const std::string data = moons(folder), model = folder.path("m.mercer");
    json_of({"train", data, model, "--task", "regions", "--shares", "0.9,0.4", "--kernel",
             "rbf(gamma=2)", "--scale", "standard"});
    const json verdict = json_of({"verify", model, data});
    EXPECT_EQ(verdict["holds"], true);
    EXPECT_EQ(verdict["certifies"], "optimum");
    const json found = verdict["parts"][0]["found"];
    EXPECT_LT(found["relative_gap"].get<double>(), 2e-3);
    EXPECT_LT(found["infeasibility"].get<double>(), 1e-6);
    // One multiplier a little larger, and another share inside: neither goes through.
    ModelParts parts = load(model).parts();
    parts.expansion.coefficients(0, 0) *= 1.5;
    const std::string wrong = folder.path("wrong.mercer");
    save(Model(std::move(parts)), wrong);
    EXPECT_EQ(run({"verify", wrong, data}).code, 1);
    const std::string other = folder.path("other.csv");
    EXPECT_EQ(run({"make", "rings", "--n", "60", "-o", other}).code, 0);
    EXPECT_EQ(run({"verify", model, other}).code, 1);
    EXPECT_EQ(run({"verify", model, data, "--rigorous"}).code, 2);
}

TEST(Machines, CrossValidationScoresClassifiersAndRegressors) {
    const Folder folder;
    const std::string data = moons(folder);
    for (const std::string task : {"class-means", "perceptron", "adatron", "logistic"}) {
        const json j = json_of({"train", data, "--task", task, "--cv", "4"});
        EXPECT_GT(j["cross_validation"]["accuracy"], 0.8) << task;
    }
    for (const std::string task : {"ridge", "gp", "huber"}) {
        const json j = json_of({"train", data, "--task", task, "--cv", "4"});
        EXPECT_LT(j["cross_validation"]["mean_squared_error"], 0.5) << task;
    }
    const Outcome refused = run({"train", data, "--task", "k-means", "--cv", "4"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(has(refused.err, "--cv has no meaning")) << refused.err;
}

TEST(Machines, FiguresAndHistoryAreTold) {
    const Folder folder;
    const std::string data = moons(folder);
    const json p = json_of(
        {"train", data, "--task", "perceptron", "--kernel", "rbf(gamma=20)", "--passes", "50"});
    const json& report = p["certificate"];
    ASSERT_EQ(report["converged"], true) << report;
    EXPECT_LE(report["figures"]["mistakes"], report["figures"]["mistake_bound"]);
    EXPECT_EQ(report["history"].back(), 0);
    EXPECT_EQ(report["history"].size(), report["figures"]["passes"].get<std::size_t>());
    const Outcome text = run({"train", data, "--task", "perceptron", "--passes", "2"});
    EXPECT_TRUE(has(text.out, "mistakes")) << text.out;
    EXPECT_TRUE(has(text.out, "all passes made")) << text.out;
    EXPECT_EQ(text.err, "");
    const json k = json_of({"train", data, "--task", "k-means", "--clusters", "4"});
    const auto history = k["certificate"]["history"].get<std::vector<double>>();
    EXPECT_TRUE(std::ranges::is_sorted(history, std::greater<>()));
    EXPECT_EQ(k["arrays"]["sizes"], (json{4, 1}));
}

TEST(Machines, TheAdatronsCurveStandsBesideSmos) {
    const Folder folder;
    const std::string data = moons(folder);
    const std::string curve = folder.path("curve.csv");
    const json j = json_of({"train", data, "--task", "adatron", "--curve", curve});
    EXPECT_EQ(j["curve"], curve);
    std::istringstream lines(content_of(curve));
    std::string text;
    std::getline(lines, text);
    EXPECT_EQ(text, "method,steps,seconds,objective,violation");
    double last_adatron = 0, last_smo = 0;
    while (std::getline(lines, text)) {
        std::vector<std::string> fields;
        std::istringstream parts(text);
        for (std::string field; std::getline(parts, field, ',');) fields.push_back(field);
        ASSERT_EQ(fields.size(), 5U) << text;
        double& last = fields[0] == "adatron" ? last_adatron : last_smo;
        EXPECT_GE(std::stod(fields[3]), last - 1e-6);
        last = std::stod(fields[3]);
    }
    EXPECT_NEAR(last_adatron, j["certificate"]["dual"], 1e-6 * last_adatron);
    EXPECT_NEAR(last_adatron, last_smo, 1e-2 * last_smo);
    EXPECT_EQ(run({"train", "@iris", "--task", "adatron", "--curve", curve}).code, 2);
}

TEST(Machines, WhatIsGivenInVainOrOutOfRangeIsAMistake) {
    const Folder folder;
    const std::string data = moons(folder);
    const auto refuses = [&](Words words, const std::string& part) {
        words.insert(words.begin(), {"train", data});
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 2) << outcome.out;
        EXPECT_TRUE(has(outcome.err, part)) << outcome.err;
    };
    refuses({"--task", "perceptron", "-C", "2"}, "-C has no meaning for --task perceptron");
    refuses({"--task", "svc", "--passes", "3"}, "perceptron, adatron, k-means, kpca and kha");
    refuses({"--task", "ridge", "--method", "smo"}, "--method has no meaning");
    refuses({"--task", "class-means", "--probability"}, "--probability has no meaning");
    refuses({"--task", "svc", "--epsilon", "1"}, "svr (nu-svr finds it by itself)");
    refuses({"--task", "adatron", "--rate", "2"}, "less than 2");
    refuses({"--task", "perceptron", "--budget", "1"}, "budget");
    refuses({"--task", "perceptron", "--variant", "voted", "--budget", "9"}, "voted");
    refuses({"--task", "parzen", "--nu", "1"}, "--nu 1 must be");
    refuses({"--task", "k-means", "--clusters", "201"}, "at most 200");
    refuses({"--task", "ridge", "--lambda", "-1"}, "lambda");
    refuses({"--task", "ridge", "--lambda", "1", "--lambda-path", "1,2"}, "has no meaning with");
    refuses({"--task", "ridge", "--lambda-path", "1,x"}, "lambda-path");
    refuses({"--task", "gp", "--noise", "-1"}, "noise");
    refuses({"--task", "nonsense"}, "nonsense");
    refuses({"--task", "adatron", "--curve", folder.path("no/such/c.csv")}, "cannot be written");
    const Outcome outcome = run({"predict", folder.path("none.mercer"), data, "--deviation"});
    EXPECT_EQ(outcome.code, 2);
}

TEST(Machines, AProcessTellsItsDeviation) {
    const Folder folder;
    const std::string data = folder.path("sinc.csv");
    ASSERT_EQ(run({"make", "sinc", "--n", "40", "-o", data}).code, 0);
    const std::string model = folder.path("gp.mercer");
    json_of({"train", data, model, "--task", "gp", "--kernel", "rbf(gamma=1)"});
    const json j = json_of({"predict", model, data, "--deviation"});
    EXPECT_EQ(j["deviation"]["rows"].size(), 40U);
    for (const json& row : j["deviation"]["rows"]) {
        EXPECT_GT(row[0], 0);
        EXPECT_LT(row[0], 1);
    }
    const std::string other = folder.path("ridge.mercer");
    json_of({"train", data, other, "--task", "ridge"});
    const Outcome refused = run({"predict", other, data, "--deviation"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(has(refused.err, "Gaussian processes")) << refused.err;
}

TEST(Map, FeaturesHaveTheKernelAsTheirProduct) {
    const Folder folder;
    const std::string data = moons(folder);
    const Dataset rows = read(data, {.double_precision = true});
    const auto product = [](const Rows& x, std::size_t i, std::size_t j) {
        std::vector<double> a(x.columns()), b(x.columns());
        x.copy_row(i, a);
        x.copy_row(j, b);
        double sum = 0;
        for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
        return sum;
    };
    const std::string file = folder.path("f.csv");
    for (const std::string kind : {"monomial", "whitened", "eigen"}) {
        SCOPED_TRACE(kind);
        Words words{"map", data, "--kind", kind, "--double", "-o", file};
        if (kind != "monomial") words.insert(words.end(), {"--kernel", "polynomial(degree=2)"});
        const json j = json_of(words);
        EXPECT_EQ(j["features"], kind == "whitened" ? 200 : 6) << j;
        const Dataset mapped = read(file, {.double_precision = true});
        ASSERT_EQ(mapped.size(), 200U);
        EXPECT_EQ(mapped.y.values, rows.y.values);
        const double plain = product(rows.x, 3, 17);
        EXPECT_NEAR(product(mapped.x, 3, 17), (1 + plain) * (1 + plain), 1e-6);
    }
}

TEST(Map, NewRowsGoThroughTheSampleOfTheOthers) {
    const Folder folder;
    const std::string data = moons(folder);
    const std::string all = folder.path("all.csv");
    const std::string again = folder.path("again.csv");
    const Words map{"--kernel", "rbf(gamma=0.5)", "--landmarks", "30", "--components", "10"};
    Words first{"map", data, "-o", all};
    Words second{"map", data, "--sample", data, "-o", again};
    first.insert(first.end(), map.begin(), map.end());
    second.insert(second.end(), map.begin(), map.end());
    const json j = json_of(first);
    EXPECT_EQ(j["features"], 10);
    EXPECT_EQ(j["sample"], 30);
    EXPECT_EQ(j["eigenvalues"].size(), 10U);
    json_of(second);
    EXPECT_EQ(content_of(all), content_of(again));
    const Outcome refused = run({"map", data, "--kind", "plain", "--landmarks", "3"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(has(refused.err, "--landmarks has no meaning")) << refused.err;
    EXPECT_EQ(run({"map", data, "--kind", "whitened", "--components", "3"}).code, 2);
    EXPECT_EQ(run({"map", data, "--kernel", "sigmoid(gamma=2,coef0=-1)"}).code, 2);
}

TEST(Gram, AFunctionOfTheMatrixIsAKernelOnTheSample) {
    const Folder folder;
    const std::string data = moons(folder);
    const std::string file = folder.path("k.csv");
    const Words kernel{"gram", "sigmoid(gamma=2,coef0=-1)", data, "--double"};
    Words words = kernel;
    words.insert(words.end(), {"--function", "clip", "-o", file});
    ASSERT_EQ(run(words).code, 0);
    // What was indefinite can now be trained on.
    const json j = json_of({"train", file, "--kernel", "precomputed", "--double"});
    EXPECT_EQ(j["certificate"]["converged"], true);
    words = kernel;
    words.insert(words.end(), {"--function", "power(0.5)"});
    EXPECT_TRUE(has(run(words).err, "eigenvalue"));
    words = kernel;
    words.insert(words.end(), {"--function", "clap"});
    EXPECT_TRUE(has(run(words).err, "did you mean clip"));
    words = kernel;
    words.insert(words.end(), {"--function", "clip", "--against", data});
    EXPECT_TRUE(has(run(words).err, "whole matrix"));
}

}  // namespace
}  // namespace mercer::test
