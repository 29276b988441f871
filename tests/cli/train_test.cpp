// train, show and verify, from the outside: what is claimed must hold, what cannot be must be said.
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "mercer/data/read.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer::test {
namespace {

std::string sample(const Folder& folder, const Words& words, const std::string& name) {
    Words all{"make"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"-o", folder.path(name)});
    EXPECT_EQ(run(all).code, 0);
    return folder.path(name);
}

/// What every certificate of a converged training must satisfy.
void expect_certified(const json& part, double tolerance) {
    EXPECT_EQ(part["converged"], true) << part;
    // Where nu rules there are two multipliers, and each may lie off centre by the tolerance.
    EXPECT_LE(part["kkt_violation"], part.contains("nu_property") ? 2 * tolerance : tolerance)
        << part;
    EXPECT_LE(part["infeasibility"], 1e-9) << part;
    EXPECT_GE(part["primal"].get<double>(),
              part["dual"].get<double>() - 1e-6 * std::abs(part["dual"].get<double>()))
        << part;
    if (!part.contains("nu_property") || part["nu_property"]["nu"].is_null()) return;
    const json& nu = part["nu_property"];
    const double one_row = 1 / part["rows"].get<double>();
    EXPECT_LE(nu["fraction_errors"], nu["nu"].get<double>() + one_row) << part;
    EXPECT_LE(nu["nu"], nu["fraction_support"].get<double>() + one_row) << part;
}

TEST(Train, EveryTaskIsCertifiedSavedAndVerified) {
    const Folder folder;
    const std::string moons =
        sample(folder, {"moons", "--n", "200", "--noise", "0.2"}, "moons.csv");
    const std::string blobs =
        sample(folder, {"blobs", "--n", "150", "--classes", "4", "--noise", "1.5"}, "blobs.csv");
    const std::string sinc = sample(folder, {"sinc", "--n", "120", "--noise", "0.1"}, "sinc.csv");
    const std::string model = folder.path("m.mercer");
    const std::vector<std::pair<std::string, Words>> cases{
        {moons, {"--task", "svc", "-C", "10"}},
        {moons, {"--task", "svc", "--no-bias"}},
        {moons, {"--task", "svc", "--balanced", "--weight", "1=2"}},
        {moons, {"--task", "nu-svc", "--nu", "0.3"}},
        {moons, {"--task", "hard", "--kernel", "rbf(gamma=50)"}},
        {moons, {"--task", "one-class", "--nu", "0.2"}},
        {moons, {"--task", "svdd", "--nu", "0.2"}},
        {moons, {"--task", "svdd", "-C", "0.05"}},
        {blobs, {"--task", "svc", "--scale", "standard"}},
        {blobs, {"--task", "svc", "--multi-class", "ovr"}},
        {blobs, {"--task", "nu-svc", "--nu", "0.2", "--probability"}},
        {sinc, {"--task", "svr", "--epsilon", "0.05", "-C", "3"}},
        {sinc, {"--task", "nu-svr", "--nu", "0.3", "--tube", "0.2 + |x0|"}},
        {sinc, {"--task", "nu-svr", "--nu", "0.3", "--double-precision"}}};
    for (const auto& [data, words] : cases) {
        Words train{"train", data, model};
        train.insert(train.end(), words.begin(), words.end());
        const json report = json_of(train);
        SCOPED_TRACE(report.dump());
        // A tube of varying width has its nu-property in a weighted form, 0.2 + |x| the weight.
        const bool weighted =
            report["trained"]["tube"] != "" ||
            report["trained"]["class_weights"].dump().find('2') != std::string::npos;
        for (json part : report["parts"]) {
            if (weighted || report["trained"]["C"] == 0.05) part["nu_property"]["nu"] = nullptr;
            expect_certified(part, 1e-3);
        }
        const json check = json_of({"verify", model, data});
        EXPECT_EQ(check["holds"], true) << check;
        const json shown = json_of({"show", model});
        json parts = report["parts"];
        for (json& part : parts) part["seconds"] = nullptr;  // a file does not keep them
        EXPECT_EQ(shown["parts"], parts);
        EXPECT_EQ(shown["kernel"], report["kernel"]);
        EXPECT_EQ(run({"show", model}).code, 0);
        EXPECT_EQ(run({"verify", model, data, "--all"}).code, 0);
    }
}

TEST(Train, TheSummarySaysWhatANewcomerAsks) {
    const Folder folder;
    const Outcome outcome = run({"train", "@iris", folder.path("m"), "--cv", "5"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    for (const char* part : {"150 rows", "setosa", "virginica", "positive definite", "primal",
                             "dual", "gap", "violation", "converged", "accuracy 9"}) {
        EXPECT_TRUE(has(outcome.out, part)) << part << "\n" << outcome.out;
    }
    // Without a file the machine is only reported on, and with --cv only cross-validated.
    EXPECT_TRUE(has(run({"train", "@iris"}).out, "converged"));
    const json folds = json_of({"train", "@iris", "--cv", "5"});
    EXPECT_FALSE(folds.contains("certificate"));
    EXPECT_GT(folds["cross_validation"]["accuracy"], 0.9);
    EXPECT_EQ(folder.names(), Words{"m"});
}

TEST(Train, TheNumberOfThreadsChangesNothing) {
    const Folder folder;
    for (const char* threads : {"1", "3"}) {
        EXPECT_EQ(run({"train", "@digits", folder.path(threads), "--threads", threads}).code, 0);
    }
    const Model one = load(folder.path("1"));
    const Model three = load(folder.path("3"));
    EXPECT_EQ(one.expansion().coefficients.values(), three.expansion().coefficients.values());
    EXPECT_EQ(one.expansion().bias, three.expansion().bias);
    EXPECT_EQ(one.origins(), three.origins());
}

TEST(Train, FromAStoppedModelItGoesOn) {
    const Folder folder;
    const std::string data = sample(folder, {"moons", "--n", "400", "--noise", "0.3"}, "moons.csv");
    const Words words{"--kernel", "rbf(gamma=2)", "-C", "1000", "--double-precision"};
    const auto train = [&](const std::string& name, Words more) {
        Words all{"train", data, folder.path(name)};
        all.insert(all.end(), words.begin(), words.end());
        all.insert(all.end(), more.begin(), more.end());
        return json_of(all)["certificate"];
    };
    const json whole = train("whole.mercer", {});
    const int steps = whole["iterations"].get<int>();
    const json half = train("half.mercer", {"--step-limit", std::to_string(steps / 2)});
    EXPECT_EQ(half["converged"], false);
    const json rest = train("rest.mercer", {"--from", folder.path("half.mercer")});
    EXPECT_EQ(rest["converged"], true);
    EXPECT_LT(rest["iterations"].get<int>(), steps);
    EXPECT_NEAR(rest["dual"].get<double>(), whole["dual"].get<double>(),
                1e-3 * whole["dual"].get<double>());
    EXPECT_NE(run({"train", "@iris", "--from", folder.path("half.mercer")}).code, 0);
}

TEST(Train, ATubeFromAColumnEqualsTheSameFormula) {
    const Folder folder;
    std::string table = "t,width,y\n";
    std::string plain = "t,y\n";
    for (int i = 0; i < 60; ++i) {
        const double x = i / 20.0;
        const double y = std::sin(x) + (i % 3 - 1) * 0.1 * (0.5 + x);
        table += std::to_string(x) + "," + std::to_string(0.5 + x) + "," + std::to_string(y) + "\n";
        plain += std::to_string(x) + "," + std::to_string(y) + "\n";
    }
    const std::string with = folder.file("with.csv", table);
    const std::string without = folder.file("without.csv", plain);
    const Words rest{"--task",   "nu-svr",       "--nu",     "0.3",
                     "--kernel", "rbf(gamma=1)", "--double", "--double-precision"};
    const auto train = [&](const std::string& data, const std::string& tube, const char* name) {
        Words words{"train", data, folder.path(name), "--tube", tube};
        words.insert(words.end(), rest.begin(), rest.end());
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return load(folder.path(name));
    };
    const Model by_name = train(with, "@width", "a");
    const Model by_number = train(with, "@2", "b");
    const Model by_formula = train(without, "0.5 + t", "c");
    EXPECT_EQ(by_name.columns(), 1U);
    EXPECT_EQ(by_name.expansion().coefficients.values(),
              by_number.expansion().coefficients.values());
    ASSERT_EQ(by_name.expansion().bias.size(), 1U);
    EXPECT_NEAR(by_name.reports()[0].dual, by_formula.reports()[0].dual,
                1e-6 * std::abs(by_formula.reports()[0].dual));
    // Columns are found by their names, so the table with one more serves as well.
    EXPECT_EQ(run({"predict", folder.path("c"), with}).out,
              run({"predict", folder.path("c"), without}).out);
    EXPECT_EQ(run({"train", with, "--task", "nu-svr", "--tube", "@depth"}).code, 2);
    EXPECT_EQ(run({"train", with, "--task", "nu-svr", "--tube", "@3"}).code, 2);
}

TEST(Train, WhatCannotBeSeparatedIsProvedAndNotSaved) {
    const Folder folder;
    const std::string file = folder.file(
        "xor.csv", "a,b,class\n0,0,same\n1,1,same\n0,1,other\n1,0,other\n3,3,same\n5,4,other\n");
    const Words words{"train", file, folder.path("m"), "--task", "hard", "--kernel", "linear"};
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(has(outcome.out, "not separable")) << outcome.out;
    EXPECT_TRUE(has(outcome.out, "rows carry weight")) << outcome.out;
    EXPECT_EQ(folder.names(), Words{"xor.csv"});
    // The certificate: weights over each class that add up to 1 and give the same point.
    const json report = json_of(words, 1);
    const auto weights = report["parts"][0]["hull_weights"].get<std::vector<double>>();
    const Dataset data = read(file);
    ASSERT_EQ(weights.size(), data.size());
    double sums[2] = {0, 0};
    double means[2][2] = {};
    std::vector<double> row(2);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        EXPECT_GE(weights[i], 0);
        const auto c = static_cast<std::size_t>(data.y.values[i]);
        data.x.copy_row(i, row);
        sums[c] += weights[i];
        for (std::size_t j = 0; j < 2; ++j) means[c][j] += weights[i] * row[j];
    }
    for (std::size_t j = 0; j < 2; ++j) {
        EXPECT_NEAR(sums[j], 1, 1e-9);
        EXPECT_NEAR(means[0][j], means[1][j], 1e-3);
    }
}

TEST(Train, AThinMarginIsNotCalledNone) {
    const Folder folder;
    const auto rows = [](const std::string& b) {
        return "y,a,b\n1,0," + b + "\n1,1," + b + "\n-1,.5,-" + b + "\n-1,-1,-" + b + "\n1,-.7," +
               b + "\n-1,.9,-" + b + "\n";
    };
    const std::string thin = folder.file("thin.csv", rows("2e-5"));
    for (const char* precision : {"", "--double-precision"}) {
        Words words{"train",  thin,   folder.path("m"), "--label", "y",
                    "--task", "hard", "--kernel",       "linear"};
        if (*precision != 0) words.emplace_back(precision);
        const json trained = json_of(words);
        EXPECT_NEAR(trained["certificate"]["margin"].get<double>(), 2e-5, 1e-8);
        EXPECT_EQ(trained["precision"], "double");
        EXPECT_EQ(json_of({"verify", folder.path("m"), thin, "--label", "y"})["holds"], true);
    }
    // What double precision cannot resolve is bounded, not denied.
    const std::string hidden = folder.file("hidden.csv", rows("1e-11"));
    const Words words{"train",  hidden, folder.path("n"), "--label", "y",
                      "--task", "hard", "--kernel",       "linear"};
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_TRUE(has(outcome.out, "no margin above")) << outcome.out;
    EXPECT_FALSE(has(outcome.out, "not separable")) << outcome.out;
    const json part = json_of(words, 1)["parts"][0];
    EXPECT_EQ(part["status"], "no margin found");
    // Of the rows as they are held, in which 1e-11 is the nearest float.
    EXPECT_GE(part["margin_bound"].get<double>(), static_cast<double>(1e-11F));
}

TEST(Train, ABoundOnMarginsThatIsAnEstimateSaysSo) {
    const Folder folder;
    const std::string b = "1e-9";
    const std::string hidden =
        folder.file("hidden.csv", "y,a,b\n1,0," + b + "\n1,1," + b + "\n-1,.5,-" + b + "\n-1,-1,-" +
                                      b + "\n1,-.7," + b + "\n-1,.9,-" + b + "\n");
    for (const bool linear : {true, false}) {
        const Words words{"train",   hidden,     folder.path("n"),
                          "--label", "y",        "--task",
                          "hard",    "--kernel", linear ? "linear" : "linear + 0.001"};
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 1);
        EXPECT_TRUE(has(outcome.out, "no margin above")) << outcome.out;
        EXPECT_EQ(has(outcome.out, "an estimate"), !linear) << outcome.out;
        const json part = json_of(words, 1)["parts"][0];
        EXPECT_EQ(part.contains("figures") && part["figures"]["margin_bound_is_estimate"] == 1,
                  !linear);
    }
}

TEST(Train, AGapThatProvesNothingIsNeitherShownNorWaitedFor) {
    const Folder folder;
    const std::string blobs =
        sample(folder, {"blobs", "--classes", "3", "--n", "60", "--noise", "0.8"}, "blobs.csv");
    const auto with_kernel = [&](const std::string& kernel) {
        return Words{"train", blobs, folder.path("m"), "--kernel", kernel, "--gap", "0.5"};
    };
    const Outcome sigmoid = run(with_kernel("sigmoid(gamma=1, coef0=-1)"));
    EXPECT_EQ(sigmoid.code, 3);
    EXPECT_TRUE(has(sigmoid.err, "--gap has ended nothing")) << sigmoid.err;
    const Outcome shown = run({"show", folder.path("m")});
    EXPECT_FALSE(has(shown.out, "nan")) << shown.out;
    EXPECT_TRUE(has(shown.out, " none ")) << shown.out;
    const Outcome rbf = run(with_kernel("rbf(gamma=1)"));
    EXPECT_EQ(rbf.code, 0);
    EXPECT_FALSE(has(rbf.err, "--gap")) << rbf.err;
    EXPECT_FALSE(has(run({"show", folder.path("m")}).out, " none "));
}

TEST(Train, TracesTheStepsOfTwoPoints) {
    const Folder folder;
    const std::string moons = sample(folder, {"moons", "--n", "60", "--noise", "0.2"}, "moons.csv");
    const std::string trace = folder.path("steps.csv");
    const json trained = json_of({"train", moons, "-C", "2", "--method", "smo", "--trace", trace});
    const Dataset steps = read(trace, {.label = "objective"});
    ASSERT_EQ(steps.size(), trained["certificate"]["iterations"].get<std::size_t>());
    const auto column = [&](const std::string& name) {
        return static_cast<std::size_t>(std::ranges::find(steps.feature_names, name) -
                                        steps.feature_names.begin());
    };
    const std::size_t u = column("U"), v = column("V"), to = column("new_alpha_2");
    ASSERT_LT(std::max({u, v, to}), steps.columns());
    std::vector<double> row(steps.columns());
    double last = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        steps.x.copy_row(i, row);
        EXPECT_GE(row[to], row[u]);
        EXPECT_LE(row[to], row[v]);
        EXPECT_GE(steps.y.values[i], last - 1e-6);
        last = steps.y.values[i];
    }
    EXPECT_NEAR(last, trained["certificate"]["dual"].get<double>(), 1e-3 * last);
    // Other methods have no such steps; what is read is not written over.
    EXPECT_EQ(run({"train", moons, "--trace", trace}).code, 2);
    const std::string before = content_of(moons);
    EXPECT_EQ(run({"train", moons, "--method", "smo", "--trace", moons}).code, 2);
    EXPECT_EQ(content_of(moons), before);
}

TEST(Train, ATimeLimitLeavesAValidModel) {
    const Folder folder;
    const std::string model = folder.path("m");
    const Outcome outcome = run({"train", "@digits", model, "--time-limit", "1e-6"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "not converged: stopped at the time limit, at a relative gap of"))
        << outcome.err;
    const json check = json_of({"verify", model, "@digits"});
    EXPECT_EQ(check["holds"], true);
    EXPECT_EQ(check["converged"], false);
    EXPECT_EQ(run({"predict", model, "@digits"}).code, 0);
}

TEST(Train, FoldsThatThereWasNoTimeToJudgeHaveNoScore) {
    const Folder folder;
    const Words words{"train", "@digits", "--task", "knn", "--cv", "3", "--time-limit", "1e-6"};
    const Outcome alone = run(words);
    EXPECT_EQ(alone.code, 2);
    EXPECT_TRUE(has(alone.err, "before all folds were predicted")) << alone.err;
    Words both = words;
    both.insert(both.begin() + 2, folder.path("m"));
    const Outcome with_model = run(both);
    EXPECT_EQ(with_model.code, 1) << with_model.err;
    EXPECT_TRUE(has(with_model.err, "and so there is no score")) << with_model.err;
    EXPECT_FALSE(has(with_model.out, "cross-val.")) << with_model.out;
    EXPECT_EQ(run({"predict", folder.path("m"), "@digits"}).code, 0);
}

TEST(Train, CtrlCEndsTrainingEarlyWithACertifiedModel) {
    const Folder folder;
    const std::string data = sample(folder, {"rings", "--n", "4000", "--noise", "2"}, "rings.csv");
    const std::string model = folder.path("m");
    // Labels that say nothing, errors that cost a fortune: this would go on for many minutes.
    const Outcome outcome = run_and_signal({"train", data, model, "-C", "1e9", "--tol", "1e-10",
                                            "--kernel", "rbf(gamma=0.1)", "--time-limit", "300"},
                                           SIGINT, 3000);
    EXPECT_EQ(outcome.code, 130) << outcome.err << outcome.out;
    EXPECT_TRUE(has(outcome.out, "stopped early on request")) << outcome.out << outcome.err;
    const json check = json_of({"verify", model, data});
    EXPECT_EQ(check["holds"], true) << check;
    EXPECT_EQ(check["converged"], false);
}

TEST(Train, UnscaledColumnsAreNamed) {
    const Folder folder;
    std::string table = "small,huge,class\n";
    for (int i = 0; i < 40; ++i) {
        table += std::to_string(i % 7) + "," + std::to_string(1000 * ((i * 13) % 40)) + "," +
                 (i % 7 > 3 ? "a" : "b") + "\n";
    }
    const std::string file = folder.file("t.csv", table);
    const Outcome outcome = run({"train", file});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "column 'huge'")) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "--scale standard")) << outcome.err;
    EXPECT_EQ(run({"train", file, "--scale", "standard"}).err, "");
    EXPECT_EQ(json_of({"train", file})["warnings"].size(), 1U);
}

TEST(Train, BadUseIsExitCodeTwoAndLeavesNothing) {
    const Folder folder;
    const std::string sinc = sample(folder, {"sinc", "--n", "60"}, "sinc.csv");
    const std::string model = folder.path("m");
    const std::vector<Words> wrong{
        {"train"},
        {"train", folder.path("absent"), model},
        {"train", "@iris", model, "--task", "magic"},
        {"train", "@iris", model, "--kernel", "rbf(gama=1)"},
        {"train", "@iris", model, "-C", "0"},
        {"train", "@iris", model, "-C", "nan"},
        {"train", "@iris", model, "--task", "nu-svc", "--nu", "1.5"},
        {"train", "@iris", model, "--task", "nu-svc", "-C", "3"},
        {"train", "@iris", model, "--nu", "0.5"},
        {"train", "@iris", model, "--epsilon", "0.5"},
        {"train", "@iris", model, "--tube", "x0"},
        {"train", "@iris", model, "--weight", "setosa"},
        {"train", "@iris", model, "--weight", "rose=2"},
        {"train", "@iris", model, "--weight", "setosa=-2"},
        {"train", "@iris", model, "--multi-class", "ovr", "--probability"},
        {"train", "@iris", model, "--tol", "0"},
        {"train", "@iris", model, "--time-limit", "-1"},
        {"train", "@iris", model, "--cv", "1"},
        {"train", "@iris", model, "--cv", "1000"},
        {"train", "@iris", model, "--memory", "0"},
        {"train", "@iris", model, "--scale", "cubic"},
        {"train", "@iris", model, "--label", "none"},
        {"train", "@iris", "-", "--json"},
        {"train", "@iris", model, "--task", "svr"},
        {"train", sinc, model}};
    for (const Words& words : wrong) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 2) << words.back() << "\n" << outcome.err;
        EXPECT_EQ(outcome.out, "");
    }
    EXPECT_TRUE(has(run({"train", sinc, model}).err, "--task svr"));
    EXPECT_EQ(run({"train", "@iris", folder.path("no/such/folder/m")}).code, 2);
    EXPECT_EQ(run({"train", "@iris", folder.path("")}).code, 2);
    EXPECT_EQ(folder.names(), Words{"sinc.csv"});
}

// ---- verify

TEST(Verify, WhateverIsTamperedWithFails) {
    const Folder folder;
    const std::string data = sample(folder, {"moons", "--n", "150", "--noise", "0.3"}, "d.csv");
    const std::string path = folder.path("m");
    ASSERT_EQ(run({"train", data, path, "-C", "5"}).code, 0);
    ASSERT_EQ(run({"verify", path, data}).code, 0);
    const Model honest = load(path);
    const std::string forged = folder.path("forged");
    const auto fails = [&](const char* what, const auto& tamper) {
        ModelParts model = honest.parts();
        tamper(model);
        save(Model(model), forged);
        const Outcome outcome = run({"verify", forged, data});
        EXPECT_EQ(outcome.code, 1) << what << "\n" << outcome.out << outcome.err;
        EXPECT_TRUE(has(outcome.out, "does not hold")) << what << "\n" << outcome.out;
        return outcome.out;
    };
    const std::string text =
        fails("a coefficient", [](ModelParts& m) { m.expansion.coefficients(0, 3) *= 1.01; });
    EXPECT_TRUE(has(text, "broken: the breach of a bound or equality")) << text;
    fails("a coefficient gone", [](ModelParts& m) { m.expansion.coefficients(0, 0) = 0; });
    fails("the bias", [](ModelParts& m) { m.expansion.bias[0] += 0.5; });
    fails("C", [](ModelParts& m) { m.trained.C *= 2; });
    fails("the kernel", [](ModelParts& m) { m.expansion.kernel = rbf({.gamma = 3.0}); });
    fails("the claimed dual", [](ModelParts& m) { m.reports[0].dual *= 1.1; });
    fails("the claimed support", [](ModelParts& m) { m.reports[0].free_support_vectors += 1; });
    const std::string coarse = folder.path("coarse");
    ASSERT_EQ(run({"train", data, coarse, "-C", "5", "--tol", "0.5"}).code, 0);
    ASSERT_EQ(run({"verify", coarse, data}).code, 0);
    fails("the tolerance", [&](ModelParts& m) {
        m = load(coarse).parts();
        m.trained.tolerance = 1e-3;
        m.reports[0].kkt_violation = 1e-4;
    });
    EXPECT_EQ(json_of({"verify", forged, data}, 1)["holds"], false);
    // Bytes changed behind the back of the checksum never get that far.
    std::string bytes = content_of(path);
    bytes[bytes.size() - 9] ^= 1;
    EXPECT_EQ(run({"verify", folder.file("damaged", bytes), data}).code, 2);
}

TEST(Verify, OtherDataFails) {
    const Folder folder;
    const std::string data = sample(folder, {"moons", "--n", "100"}, "a.csv");
    const std::string other = sample(folder, {"moons", "--n", "100", "--seed", "2"}, "b.csv");
    ASSERT_EQ(run({"train", data, folder.path("m")}).code, 0);
    EXPECT_EQ(run({"verify", folder.path("m"), other}).code, 1);
    EXPECT_EQ(run({"verify", folder.path("m"), "@iris"}).code, 2);  // its columns are not there
    EXPECT_EQ(run({"verify", folder.path("m"), folder.path("absent")}).code, 2);
}

TEST(Show, RefusesWhatIsNoModel) {
    const Folder folder;
    EXPECT_EQ(run({"show", folder.file("x", "hello")}).code, 2);
    EXPECT_EQ(run({"show", folder.file("empty", "")}).code, 2);
    EXPECT_EQ(run({"show", folder.path("")}).code, 2);
    EXPECT_EQ(run({"show", folder.path("absent")}).code, 2);
}

}  // namespace
}  // namespace mercer::test
