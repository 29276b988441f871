// Bounds, alignment, probabilities and prediction sets, as people run them.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

/// Two moons in parts: to train on, to set aside, to test on.
class Theory : public ::testing::Test {
   protected:
    void SetUp() override {
        for (const auto& [name, seed] : {std::pair{"train", "1"}, {"aside", "2"}, {"test", "3"}}) {
            const Outcome o = run({"make", "moons", "--n", "120", "--noise", "0.3", "--seed", seed,
                                   "-o", path(name)});
            ASSERT_EQ(o.code, 0) << o.err;
        }
        ASSERT_EQ(run({"train", path("train"), folder_.path("m.mercer"), "--quiet", "--kernel",
                       "rbf(gamma=1)"})
                      .code,
                  0);
    }
    std::string path(const std::string& name) const { return folder_.path(name + ".csv"); }
    std::string model() const { return folder_.path("m.mercer"); }
    const Folder folder_{};
};

TEST_F(Theory, BoundsOfAModelComeWithFormulaAndNumbers) {
    const json said = json_of({"bounds", model(), path("train"), "--delta", "0.1"});
    ASSERT_EQ(said["parts"].size(), 1U);
    std::map<std::string, json> named;
    for (const json& b : said["parts"][0]["bounds"]) {
        named[b["name"]] = b;
        EXPECT_FALSE(b["formula"].get<std::string>().empty());
        EXPECT_FALSE(b["inputs"].empty());
    }
    for (const char* name : {"margin-dimension", "radius-margin", "support-vectors",
                             "essential-support", "leave-one-out", "span-bound", "span-estimate"}) {
        EXPECT_TRUE(named.contains(name)) << name;
    }
    EXPECT_LE(named["leave-one-out"]["value"].get<double>(),
              named["essential-support"]["value"].get<double>());
    EXPECT_EQ(named["vc-margin"]["confidence"], 0.9);
    const Outcome text = run({"bounds", model(), path("train"), "--no-loo", "--quiet"});
    EXPECT_EQ(text.code, 0);
    EXPECT_NE(text.out.find("an estimate"), std::string::npos) << text.out;
    EXPECT_EQ(text.out.find("leave-one-out  "), std::string::npos);
}

TEST_F(Theory, BoundsFromNumbersAndTheOtherWayRound) {
    const json said =
        json_of({"bounds", "--examples", "1000", "--error", "0.1", "--dimension", "20"});
    ASSERT_EQ(said["bounds"].size(), 5U);
    const double phi = std::sqrt((20 * (std::log(100) + 1) - std::log(0.0125)) / 1000);
    EXPECT_NEAR(said["bounds"][2]["value"].get<double>(), 0.1 + phi, 1e-12);
    EXPECT_EQ(said["bounds"][3]["name"], "growth-function");
    EXPECT_EQ(said["bounds"][4]["name"], "sauer");
    const json plans =
        json_of({"bounds", "--plan", "--epsilon", "0.1", "--features", "2"})["plans"];
    ASSERT_EQ(plans.size(), 3U);
    EXPECT_EQ(plans[0]["rows"], std::ceil(std::log(40) / 0.02));
    for (const auto& [words, part] :
         {std::pair{std::vector<std::string>{"bounds", "--examples", "10", "--delta", "1"},
                    "delta = 1"},
          {{"bounds"}, "--examples"},
          {{"bounds", "--plan"}, "--epsilon"},
          {{"bounds", model()}, "training data"},
          {{"bounds", model(), path("aside"), "--delta", "2"}, "delta = 2"}}) {
        const Outcome o = run(words);
        EXPECT_EQ(o.code, 2);
        EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    }
}

TEST_F(Theory, CapacityFromNumbersAndOnData) {
    const auto named = [](const json& bounds, const std::string& name) {
        for (const json& b : bounds) {
            if (b["name"] == name) return b;
        }
        return json();
    };
    // With a bias 20 columns are 21 dimensions, and 42 points twice as many.
    const json cover = json_of({"bounds", "--examples", "42", "--features", "20"})["bounds"];
    EXPECT_NEAR(named(cover, "cover-separation")["value"].get<double>(), 0.5, 1e-12);
    EXPECT_FALSE(named(cover, "half-space-growth")["vacuous"].get<bool>());
    const json margin = json_of({"bounds", "--examples", "9000", "--radius", "1", "--norm", "2",
                                 "--features", "3", "--support", "20"})["bounds"];
    EXPECT_NEAR(named(margin, "rademacher")["inputs"]["R̂"].get<double>(), 2 / std::sqrt(9000),
                1e-12);
    EXPECT_LT(named(margin, "compression")["value"].get<double>(), 0.05);
    EXPECT_NEAR(named(margin, "description")["value"].get<double>(), 3 * std::log2(5), 1e-12);
    EXPECT_LT(named(margin, "description-risk")["value"].get<double>(), 0.01);

    const json data = json_of({"bounds", "--data", path("train"), "--kernel", "linear", "--norm",
                               "2", "--sizes", "4,9", "--draws", "300"});
    const double by_trace = data["rademacher"]["by_trace"];
    const double estimate = data["rademacher"]["estimate"];
    EXPECT_LE(estimate, by_trace * 1.02);
    EXPECT_GE(estimate, by_trace / std::sqrt(2.0) * 0.98);
    EXPECT_EQ(data["bounds"][0]["name"], "rademacher");
    ASSERT_EQ(data["entropy"].size(), 2U);
    EXPECT_EQ(data["entropy"][1]["rows"], 9);
    EXPECT_LE(data["entropy"][1]["growth"].get<double>(), data["entropy"][1]["most"].get<double>());
    const json gauss =
        json_of({"bounds", "--data", path("train"), "--kernel", "rbf(gamma=1)", "--sizes", "15"});
    EXPECT_NEAR(gauss["entropy"][0]["entropy"].get<double>(),
                gauss["entropy"][0]["most"].get<double>(), 1e-9);
    const Outcome text = run({"bounds", "--data", path("train"), "--scale", "standard", "--quiet"});
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_NE(text.out.find("VC entropy"), std::string::npos) << text.out;
    for (const auto& [words, part] :
         {std::pair{std::vector<std::string>{"--kernel", "sigmoid(coef0=-1)"}, "feature space"},
          {{"--sizes", "1000000"}, "sizes = 1e+06"},
          {{"--norm", "-1"}, "norm = -1"}}) {
        std::vector<std::string> call{"bounds", "--data", path("train")};
        call.insert(call.end(), words.begin(), words.end());
        const Outcome o = run(call);
        EXPECT_EQ(o.code, 2) << part;
        EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    }
}

TEST_F(Theory, MarginOfAPlaneAndOfAModel) {
    const json given = json_of({"margin", path("train"), "--plane", "1,0", "--bias", "0.5"});
    EXPECT_EQ(given["norm"], 1);
    EXPECT_EQ(given["functional_margin"], given["geometric_margin"]);
    EXPECT_EQ(given["nearest"].size(), 5U);
    EXPECT_EQ(given["nearest"][0]["functional"], given["functional_margin"]);
    EXPECT_EQ(given["separates"], given["errors"] == 0);
    const json own = json_of({"margin", path("train"), "--model", model(), "--nearest", "2"});
    EXPECT_EQ(own["nearest"].size(), 2U);
    EXPECT_GT(own["norm"].get<double>(), 0);
    const Outcome text = run({"margin", path("train"), "--plane", "1,0"});
    EXPECT_EQ(text.code, 0);
    EXPECT_NE(text.out.find("geometric"), std::string::npos) << text.out;
    for (const auto& [words, part] :
         {std::pair{std::vector<std::string>{"--plane", "1"}, "1 weights"},
          {{"--plane", "0,0"}, "no plane"},
          {{"--plane", "1,0", "--positive", "7"}, "no class"},
          {{}, "--plane"}}) {
        std::vector<std::string> call{"margin", path("train")};
        call.insert(call.end(), words.begin(), words.end());
        const Outcome o = run(call);
        EXPECT_EQ(o.code, 2) << part;
        EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    }
}

TEST_F(Theory, StructuralRiskStandsBesideCrossValidation) {
    const json said = json_of({"srm", path("train"), "--family", "degree", "--values", "1,2,3"});
    ASSERT_EQ(said["levels"].size(), 3U);
    EXPECT_EQ(said["levels"][2]["dimension"], 10);
    double least = 1e300;
    for (const json& l : said["levels"]) least = std::min(least, l["bound"].get<double>());
    for (const json& l : said["levels"]) {
        if (l["value"] == said["by_bound"]) {
            EXPECT_EQ(l["bound"], least);
        }
    }
    const Outcome o = run({"srm", path("train"), "--family", "components", "--quiet"});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("by the bound"), std::string::npos);
    EXPECT_NE(o.out.find("by cross-validation"), std::string::npos);
    EXPECT_EQ(run({"srm", path("train"), "--values", "3,1"}).code, 2);
    EXPECT_EQ(run({"srm", path("train"), "--folds", "500"}).code, 2);
}

TEST_F(Theory, AlignmentCombinesKernelsThatCanBeTrained) {
    const json said =
        json_of({"align", path("train"), "--kernel", "linear", "--kernel", "rbf(gamma=3)",
                 "--combine", "margin", "--gradient", "--tol", "0.01"});
    ASSERT_EQ(said["kernels"].size(), 2U);
    EXPECT_EQ(said["kernels"][1]["gradient"][0]["name"], "gamma");
    const json combined = said["combination"];
    EXPECT_LE(combined["relative_gap"].get<double>(), 0.01);
    const Outcome trained = run({"train", path("train"), "--quiet", "--kernel",
                                 combined["kernel"].get<std::string>(), "--cv", "3"});
    EXPECT_EQ(trained.code, 0) << trained.err;
    EXPECT_EQ(run({"align", path("train")}).code, 2);
}

TEST_F(Theory, CalibratedModelsAreSavedAndDrawn) {
    const std::string sure = folder_.path("sure.mercer");
    for (const char* method : {"platt", "isotonic", "temperature"}) {
        const json said =
            json_of({"calibrate", model(), path("aside"), "--method", method, "-o", sure, "--test",
                     path("test"), "--picture", folder_.path("r.svg")});
        EXPECT_LT(said["brier"].get<double>(), 0.2) << method;
        // The saved model has the same probabilities.
        const json again = json_of({"calibrate", sure, path("test")});
        EXPECT_EQ(again["brier"], said["brier"]);
        const json predicted =
            json_of({"predict", sure, path("test"), "--probability", "--decide", "by-probability"});
        for (std::size_t i = 0; i < predicted["labels"].size(); ++i) {
            const json& p = predicted["probability"]["rows"][i];
            const bool last = p[1].get<double>() > p[0].get<double>();
            EXPECT_EQ(predicted["labels"][i].get<double>() > 0, last);
        }
        EXPECT_EQ(content_of(folder_.path("r.svg")).substr(0, 4), "<svg");
    }
    const Outcome o = run({"calibrate", model(), path("test")});
    EXPECT_EQ(o.code, 2);
    EXPECT_NE(o.err.find("no probabilities"), std::string::npos) << o.err;
}

TEST_F(Theory, ConformalSetsIntervalsAndPValues) {
    const json sets = json_of({"conformal", model(), path("test"), "--aside", path("aside")});
    EXPECT_NEAR(sets["covered"].get<double>(), 0.9, 0.1);
    EXPECT_EQ(sets["sets"].size(), 120U);
    const std::string usual = folder_.path("usual.mercer");
    ASSERT_EQ(
        run({"train", path("train"), usual, "--quiet", "--task", "one-class", "--nu", "0.1"}).code,
        0);
    const json p = json_of({"conformal", usual, path("test"), "--aside", path("aside")});
    EXPECT_NEAR(p["outliers"].get<double>(), 0.1, 0.1);
    const std::string curve = folder_.path("curve.mercer");
    ASSERT_EQ(run({"make", "sinc", "--n", "100", "-o", folder_.path("a.csv")}).code, 0);
    ASSERT_EQ(run({"make", "sinc", "--n", "100", "--seed", "2", "-o", folder_.path("b.csv")}).code,
              0);
    ASSERT_EQ(run({"train", folder_.path("a.csv"), curve, "--quiet", "--task", "svr"}).code, 0);
    const json ends =
        json_of({"conformal", curve, folder_.path("a.csv"), "--aside", folder_.path("b.csv")});
    EXPECT_GT(ends["covered"].get<double>(), 0.85);
    EXPECT_EQ(
        run({"conformal", model(), path("test"), "--aside", path("aside"), "--coverage", "1"}).code,
        2);
}

TEST_F(Theory, NuAndCAreTurnedIntoOneAnother) {
    const std::string nu = folder_.path("nu.mercer");
    ASSERT_EQ(run({"train", path("train"), nu, "--quiet", "--task", "nu-svc", "--nu", "0.3",
                   "--tol", "1e-6", "--double-precision"})
                  .code,
              0);
    const double c = json_of({"equivalent", nu})["parts"][0]["C"];
    const std::string by_c = folder_.path("c.mercer");
    ASSERT_EQ(run({"train", path("train"), by_c, "--quiet", "-C", std::to_string(c), "--tol",
                   "1e-6", "--double-precision"})
                  .code,
              0);
    EXPECT_NEAR(json_of({"equivalent", by_c})["parts"][0]["nu"].get<double>(), 0.3, 1e-3);
    EXPECT_NE(run({"equivalent", nu}).out.find("-C "), std::string::npos);
}

TEST_F(Theory, TuneFindsPointsByAProcessAndParametersByGradients) {
    const json found = json_of({"tune", path("train"), "--kernel", "rbf(gamma=1)", "--grid",
                                "gamma=1e-3:100:log9", "--grid", "C=0.01:100:log9", "--search",
                                "bayesian", "--points", "14", "--folds", "3"});
    EXPECT_EQ(found["points"].size(), 14U);
    EXPECT_GT(found["best"]["score"].get<double>(), 0.85);
    for (const char* how : {"alignment", "radius-margin"}) {
        const std::string best = folder_.path("best.mercer");
        const json said =
            json_of({"tune", path("train"), best, "--kernel", "rbf(gamma=20)", "--search", how});
        EXPECT_NE(said["before"], said["after"]);
        const json shown = json_of({"show", best});
        EXPECT_EQ(shown["kernel"], said["kernel"]);
    }
    EXPECT_EQ(run({"tune", path("train"), "--search", "alignment", "--grid", "C=1"}).code, 2);
}

TEST_F(Theory, ColumnsRowsAndLabels) {
    const json ranked = json_of({"features", path("train"), "--folds", "3"});
    EXPECT_EQ(ranked["ranking"].size(), 2U);
    EXPECT_EQ(ranked["rounds"].size(), 2U);
    const json shuffled = json_of({"features", path("test"), "--model", model()});
    EXPECT_GT(shuffled["importance"][0]["drop"].get<double>(), 0.05);
    const json asked = json_of({"query", model(), path("test"), "--count", "5"});
    ASSERT_EQ(asked["rows"].size(), 5U);
    EXPECT_LE(asked["rows"][0]["score"], asked["rows"][4]["score"]);
    const json halved = json_of({"query", model(), path("test"), "--rule", "max-min", "--labelled",
                                 path("train"), "--count", "2", "--shortlist", "6"});
    EXPECT_EQ(halved["rows"].size(), 2U);
    EXPECT_EQ(run({"query", model(), path("test"), "--rule", "max-min"}).code, 2);
    const json spread =
        json_of({"spread", path("train"), path("test"), "--kernel", "rbf(gamma=20)"});
    EXPECT_GT(spread["accuracy"].get<double>(), 0.8);
    EXPECT_EQ(run({"spread", path("train"), path("test"), "--alpha", "2"}).code, 2);
    std::string table = "a,b,left,low\n";
    for (int i = 0; i < 60; ++i) {
        const double x = std::sin(i), y = std::cos(3.0 * i);
        table += std::to_string(x) + ',' + std::to_string(y) + (x < 0 ? ",1" : ",0") +
                 (y < 0 ? ",1\n" : ",0\n");
    }
    const std::string rows = folder_.file("many.csv", table);
    const json many = json_of({"multilabel", rows, rows, "--label-columns", "2", "-C", "100"});
    EXPECT_LT(many["ranking_loss"].get<double>(), 0.05);
    EXPECT_EQ(run({"multilabel", rows, rows, "--label-columns", "4"}).code, 2);
    EXPECT_EQ(run({"multilabel", rows, "--label-columns", "2"}).code, 2);
}

/// What spreads labels, and what finds several a row, is kept in a file and predicts from there.
TEST_F(Theory, SpreadingAndLabelSetsAreModels) {
    const std::string spread = folder_.path("spread.mercer");
    const json first = json_of({"spread", path("train"), path("test"), "--kernel", "rbf(gamma=20)",
                                "--save-model", spread});
    const json later = json_of({"predict", spread, path("test")});
    EXPECT_EQ(later["accuracy"], first["accuracy"]);
    EXPECT_EQ(json_of({"show", spread})["task"], "spreading");
    EXPECT_TRUE(has(run({"show", spread}).out, "residual"));
    EXPECT_TRUE(has(run({"train", path("train"), "--task", "spreading"}).err, "spreading"));

    std::string table = "a,b,left,low\n", bare = "b,a\n";
    for (int i = 0; i < 60; ++i) {
        const double x = std::sin(i), y = std::cos(3.0 * i);
        table += std::to_string(x) + ',' + std::to_string(y) + (x < 0 ? ",1" : ",0") +
                 (y < 0 ? ",1\n" : ",0\n");
        bare += std::to_string(y) + ',' + std::to_string(x) + '\n';
    }
    const std::string rows = folder_.file("many.csv", table);
    const std::string tags = folder_.path("tags.mercer");
    const json judged = json_of(
        {"multilabel", rows, rows, "--label-columns", "2", "-C", "100", "--save-model", tags});
    const json again = json_of({"predict", tags, rows});
    for (const char* figure : {"hamming_loss", "ranking_loss", "one_error", "average_precision"}) {
        EXPECT_EQ(again[figure], judged[figure]) << figure;
    }
    EXPECT_EQ(again["labels"], judged["labels"]);
    // Without the labels, and with the columns in another order: they are found by name.
    const json found = json_of({"predict", tags, folder_.file("bare.csv", bare)});
    EXPECT_EQ(found["labels"], judged["labels"]);
    EXPECT_FALSE(found.contains("hamming_loss"));
    const Outcome text = run({"predict", tags, rows, "--decision"});
    EXPECT_TRUE(text.out.starts_with("label\tleft\tlow\n")) << text.out.substr(0, 80);
    EXPECT_TRUE(has(text.err, "hamming loss"));
    EXPECT_TRUE(has(run({"show", tags}).out, "left low"));
    EXPECT_TRUE(has(run({"predict", tags, folder_.file("c.csv", "a,c\n1,2\n")}).err, "'b'"));
    EXPECT_TRUE(
        has(run({"predict", tags, folder_.file("n.csv", "1,2,3\n4,5,6\n")}).err, "3 columns"));
    EXPECT_TRUE(has(run({"train", rows, "--task", "multilabel"}).err, "multilabel"));
}

}  // namespace
}  // namespace mercer::test
