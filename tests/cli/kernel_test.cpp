// kernel and gram, from the outside.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

/// The numbers of a table without header.
std::vector<std::vector<double>> table(const std::string& text) {
    std::vector<std::vector<double>> rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        rows.emplace_back();
        for (std::string field; std::getline(fields, field, ',');) {
            rows.back().push_back(std::stod(field));
        }
    }
    return rows;
}

TEST(KernelCommand, TellsDefinitenessWithReasons) {
    const json sum = json_of({"kernel", "rbf(gamma=0.5) + 0.3*poly(degree=2)"});
    EXPECT_EQ(sum["definiteness"]["definite"], "positive");
    EXPECT_GE(sum["definiteness"]["reasons"].size(), 3U) << "the whole and its parts";
    EXPECT_EQ(json_of({"kernel", "negative_distance"})["definiteness"]["definite"], "conditional");
    EXPECT_EQ(json_of({"kernel", "sigmoid"})["definiteness"]["definite"], "refuted");
    EXPECT_EQ(json_of({"kernel", "precomputed"})["definiteness"]["definite"], "unknown");
    const std::string told = run({"kernel", "sigmoid"}).out;
    EXPECT_NE(told.find("not positive definite: for every gamma other than 0"), std::string::npos)
        << told;
    EXPECT_EQ(told.find("not known"), std::string::npos) << told;
    // Sources are named, and where they are listed.
    EXPECT_NE(run({"kernel", "linear + rbf"}).out.find("Ralescu 2016"), std::string::npos);
    EXPECT_NE(told.find("docs/sources.md"), std::string::npos) << told;
    const Outcome text = run({"kernel", "rbf(gamma=0.5) + linear"});
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_TRUE(has(text.out, "definite    strictly positive definite\n")) << text.out;
    EXPECT_TRUE(has(run({"kernel", "linear"}).out, "definite    positive definite\n"));
}

TEST(KernelCommand, TellsWhatIsStrictAndTheDimensionOfTheFeatureSpace) {
    const json gauss = json_of({"kernel", "rbf(gamma=0.5)", "--features", "3"});
    EXPECT_EQ(gauss["definiteness"]["strict"], true);
    EXPECT_EQ(gauss["dimension"]["kind"], "infinite");
    const json cubic = json_of({"kernel", "poly(degree=3)", "--features", "256"});
    EXPECT_EQ(cubic["definiteness"]["strict"], false);
    EXPECT_EQ(cubic["dimension"]["count"], 259UL * 258 * 257 / 6);
    const json large = json_of({"kernel", "poly(degree=40)", "--features", "256"});
    EXPECT_GT(large["dimension"]["log10"], 40);
    const json iris = json_of({"kernel", "poly(degree=2)", "--data", "@iris"});
    EXPECT_EQ(iris["dimension"]["count"], 15);
    EXPECT_EQ(iris["data"]["numerical_rank"], 15);
    const std::string told = run({"kernel", "rbf", "--features", "2"}).out;
    EXPECT_TRUE(has(told, "strictly positive definite")) << told;
    EXPECT_TRUE(has(told, "infinite")) << told;
    EXPECT_TRUE(has(run({"kernel", "linear[5]", "--features", "2"}).err, "5"));
}

TEST(KernelCommand, ShowsTheSpectrumOnData) {
    const json found = json_of({"kernel", "rbf(gamma=scale)", "--data", "@iris"})["data"];
    EXPECT_EQ(found["rows"], 150);
    EXPECT_FALSE(found["indefinite"]);
    EXPECT_NEAR(found["trace"].get<double>(), 150, 1e-9) << "a Gaussian has a diagonal of ones";
    EXPECT_GT(found["effective_rank"], 1);
    EXPECT_LT(found["effective_rank"], 150);
    EXPECT_EQ(found["eigenvalues"].size(), 150U);
    EXPECT_FALSE(has(found["kernel"].get<std::string>(), "scale")) << "resolved";
}

TEST(KernelCommand, GivesAWitnessOfIndefiniteness) {
    const json found =
        json_of({"kernel", "sigmoid(gamma=0.01,coef0=-1)", "--data", "@iris"})["data"];
    EXPECT_TRUE(found["indefinite"]);
    EXPECT_EQ(found["witness"]["a"].size(), 150U);
    EXPECT_LT(found["witness"]["value"], 0);
    const Outcome text = run({"kernel", "sigmoid(gamma=0.01,coef0=-1)", "--data", "@iris"});
    EXPECT_TRUE(has(text.out, "a'Ka = -")) << text.out;
}

TEST(KernelCommand, ListsTheKernels) {
    const json list = json_of({"kernel", "--list"});
    EXPECT_GT(list.size(), 15U);
    const Outcome text = run({"kernel", "--list"});
    for (const json& entry : list) {
        EXPECT_TRUE(has(text.out, entry["name"].get<std::string>()));
    }
}

TEST(KernelCommand, ParseErrorsPointAtThePlace) {
    const Outcome wrong = run({"kernel", "rbf(gama=1)"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_TRUE(has(wrong.err, "rbf(gama=1)\n")) << wrong.err;
    EXPECT_TRUE(has(wrong.err, "^")) << wrong.err;
    EXPECT_EQ(run({"kernel"}).code, 2);
    EXPECT_EQ(run({"kernel", "rbf(gamma=-1)"}).code, 2);
    EXPECT_EQ(run({"kernel", "linear[7]", "--data", "@iris"}).code, 2);
}

TEST(GramCommand, IsSymmetricWithTheKernelsValues) {
    const std::string rows = "1,0\n0,2\n-1,1\n";
    const Outcome gram = run({"gram", "polynomial(degree=2,gamma=1,coef0=1)", "-", "--label",
                              "none", "--to", "csv", "--write-header", "no"},
                             rows);
    ASSERT_EQ(gram.code, 0) << gram.err;
    const auto x = table(rows);
    const auto k = table(gram.out);
    ASSERT_EQ(k.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(k[i].size(), 3U);
        for (std::size_t j = 0; j < 3; ++j) {
            const double dot = x[i][0] * x[j][0] + x[i][1] * x[j][1];
            EXPECT_NEAR(k[i][j], std::pow(1 + dot, 2), 1e-5);
        }
    }
}

TEST(GramCommand, WritesArraysAndBlocksAgainstAnotherFile) {
    const Folder folder;
    const json report =
        json_of({"gram", "rbf(gamma=scale)", "@iris", "--double", "-o", folder.path("k.npy")});
    EXPECT_EQ(report["rows"], 150);
    EXPECT_EQ(report["columns"], 150);
    const json info = json_of({"info", folder.path("k.npy"), "--double", "--label", "none"});
    EXPECT_EQ(info["rows"], 150);
    EXPECT_EQ(info["columns"], 150);
    EXPECT_NEAR(info["high"].get<double>(), 1, 1e-12);
    EXPECT_GT(info["low"], 0);
    const json block = json_of({"gram", "linear", "-", "--label", "none", "--against", "@iris",
                                "-o", folder.path("block.csv")},
                               "1,1,1,1\n2,2,2,2\n");
    EXPECT_EQ(block["rows"], 2);
    EXPECT_EQ(block["columns"], 150);
}

TEST(GramCommand, ValuesThatAreNoNumbersAreAnErrorAndNoFile) {
    const Folder folder;
    const std::string data = folder.file("d.csv", "a,b\n1,2\n-3,1\n2,-2\n");
    for (const char* const name : {"k.npy", "k.csv", "k.libsvm"}) {
        const Outcome o =
            run({"gram", "linear^0.2", data, "--label", "none", "-o", folder.path(name)});
        EXPECT_EQ(o.code, 2) << o.err;
        EXPECT_TRUE(has(o.err, "not a number between row 1 and row 2")) << o.err;
    }
    EXPECT_EQ(run({"gram", "linear^0.2", data, "--label", "none"}).out, "");
    EXPECT_EQ(run({"gram", "linear^0.2", data, "--label", "none", "--precomputed", "-o",
                   folder.path("k.pre")})
                  .code,
              2);
    // Nor does any machine learn from them.
    EXPECT_EQ(run({"train", data, folder.path("m"), "--label", "a", "--task", "ridge", "--kernel",
                   "(linear - 5)^0.5"})
                  .code,
              2);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"d.csv"});
}

TEST(GramCommand, LibsvmReadsThePrecomputedText) {
    const Folder folder;
    const std::string path = folder.path("iris.pre");
    const Outcome outcome = run({"gram", "linear", "@iris", "--precomputed", "-o", path});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const Outcome peer =
        run_program("sh", {"-c", "command -v svm-train >/dev/null || exit 77; svm-train -q -t 4 '" +
                                     path + "' '" + folder.path("model") + "'"});
    if (peer.code == 77) GTEST_SKIP() << "svm-train (package libsvm-tools) is not installed";
    EXPECT_EQ(peer.code, 0) << peer.err;
    EXPECT_TRUE(has(content_of(folder.path("model")), "nr_class 3"));
}

TEST(GramCommand, BadUseIsExitCodeTwo) {
    const Folder folder;
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"gram", "rbf(", "@iris"},
             {"gram", "linear"},
             {"gram", "linear", "@iris", "--json"},
             {"gram", "linear[9]", "@iris", "-o", folder.path("k.npy")},
             {"gram", "linear", "@iris", "--against", "@digits2", "-o", folder.path("k.npy")},
             {"gram", "linear", "@digits", "--against", "@iris", "-o", folder.path("k.npy")}}) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 2) << outcome.err;
        EXPECT_EQ(outcome.out, "");
    }
    EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace mercer::test
