// predict and split, from the outside.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "mercer/data/read.hpp"

namespace mercer::test {
namespace {

void must(const Words& words) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST(Predict, LabelsGoOneALineUnderTheirOwnNames) {
    const Folder folder;
    const std::string model = folder.path("m");
    must({"train", "@iris", model});
    const Outcome outcome = run({"predict", model, "@iris"});
    EXPECT_EQ(outcome.code, 0);
    const Words labels = lines_of(outcome.out);
    const Dataset iris = read("@iris");
    ASSERT_EQ(labels.size(), iris.size());
    std::size_t right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) right += labels[i] == iris.y.text(i) ? 1U : 0U;
    EXPECT_GT(right, 140U);
    // The score leaves the labels alone: it goes where they do not.
    const std::string score = "(" + std::to_string(right) + " of 150 rows)";
    EXPECT_TRUE(has(outcome.err, score)) << outcome.err;
    const Outcome filed = run({"predict", model, "@iris", "-o", folder.path("labels")});
    EXPECT_TRUE(has(filed.out, score)) << filed.out;
    EXPECT_EQ(filed.err, "");
    EXPECT_EQ(content_of(folder.path("labels")), outcome.out);
    const json report = json_of({"predict", model, "@iris"});
    EXPECT_EQ(report["labels"].get<Words>(), labels);
    EXPECT_EQ(report["right"], right);
}

TEST(Predict, DecisionsAndProbabilitiesAgreeWithTheLabels) {
    const Folder folder;
    const std::string data = folder.path("moons.csv");
    const std::string model = folder.path("m");
    must({"make", "moons", "--n", "120", "--noise", "0.25", "-o", data});
    must({"train", data, model, "--probability"});
    const Outcome outcome = run({"predict", model, data, "--decision", "--probability"});
    const Words lines = lines_of(outcome.out);
    ASSERT_EQ(lines.size(), 121U);
    const json classes = json_of({"show", model})["classes"];
    const std::string first = classes[0];
    const std::string second = classes[1];
    EXPECT_EQ(lines[0],
              "label\t" + first + " vs " + second + "\tP(" + first + ")\tP(" + second + ")");
    for (std::size_t i = 1; i < lines.size(); ++i) {
        std::istringstream in(lines[i]);
        std::string label;
        double decision = 0, p = 0, q = 0;
        in >> label >> decision >> p >> q;
        EXPECT_EQ(label, decision > 0 ? first : second);
        EXPECT_NEAR(p + q, 1, 1e-12);
        EXPECT_GT(p, 0);
        EXPECT_GT(q, 0);
    }
    must({"train", data, model});
    EXPECT_EQ(run({"predict", model, data, "--probability"}).code, 2);
    // Several classes: rows of probabilities add up to 1 too.
    must({"train", "@iris", model, "--probability"});
    const json many = json_of({"predict", model, "@iris", "--probability", "--decision"});
    EXPECT_EQ(many["decision"]["columns"].size(), 3U);
    EXPECT_EQ(many["decision"]["columns"][0], "setosa vs versicolor");
    ASSERT_EQ(many["probability"]["rows"].size(), 150U);
    for (const json& row : many["probability"]["rows"]) {
        const auto values = row.get<std::vector<double>>();
        EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), 1, 1e-9);
    }
}

TEST(Predict, TheLikeliestClassIsThereForTheAsking) {
    const Folder folder;
    const std::string model = folder.path("m");
    // One row in eight is rare and counts seven times.
    std::string table = "x,y,class\n";
    for (int i = 0; i < 240; ++i) {
        const bool rare = i % 8 == 0;
        const double x = std::sin(i * 1.7) + (rare ? 0.8 : 0);
        table += std::to_string(x) + "," + std::to_string(std::cos(i * 2.3)) +
                 (rare ? ",rare\n" : ",usual\n");
    }
    const std::string data = folder.file("d.csv", table);
    must({"train", data, model, "--balanced", "--probability"});
    const json by_margin = json_of({"predict", model, data, "--probability", "--decision"});
    const json likeliest =
        json_of({"predict", model, data, "--probability", "--decide", "by-probability"});
    EXPECT_EQ(by_margin["probability"], likeliest["probability"]);
    const bool rare_first = by_margin["probability"]["columns"][0] == "P(rare)";
    std::size_t differ = 0, flat = 0;
    for (std::size_t i = 0; i < 240; ++i) {
        const double rare = by_margin["probability"]["rows"][i][rare_first ? 0 : 1];
        EXPECT_EQ(likeliest["labels"][i], rare > 0.5 ? "rare" : "usual");
        differ += by_margin["labels"][i] != likeliest["labels"][i] ? 1 : 0;
        flat += std::abs(rare - 0.5) < 1e-6 ? 1 : 0;
    }
    EXPECT_GT(differ, 20U) << "weights move the label long before the rare class is likely";
    EXPECT_EQ(flat, 0U) << "no probability is bent to a half";
    must({"train", data, model});
    const Outcome none = run({"predict", model, data, "--decide", "by-probability"});
    EXPECT_EQ(none.code, 2);
    EXPECT_TRUE(has(none.err, "--probability")) << none.err;
    EXPECT_EQ(run({"predict", model, data, "--decide", "by-lot"}).code, 2);
}

TEST(Predict, ColumnsAreMatchedByNameAndLabelsMayBeAbsent) {
    const Folder folder;
    const std::string train = folder.file(
        "train.csv", "u,v,class\n1,5,a\n2,4,a\n1,4,a\n7,1,b\n8,2,b\n9,1,b\n2,5,a\n7,2,b\n");
    const std::string model = folder.path("m");
    must({"train", train, model});
    const std::string expected = run({"predict", model, train}).out;
    const std::string turned = folder.file("turned.csv",
                                           "v,extra,u,class\n5,0,1,a\n4,0,2,a\n4,0,1,a\n1,0,7,b\n2,"
                                           "0,8,b\n1,0,9,b\n5,0,2,a\n2,0,7,b\n");
    EXPECT_EQ(run({"predict", model, turned}).out, expected);
    // A table without labels: its last column must not be taken for them.
    for (const char* header : {"u,v\n", ""}) {
        const std::string bare = folder.file(
            "bare.csv", std::string(header) + "1,5\n2,4\n1,4\n7,1\n8,2\n9,1\n2,5\n7,2\n");
        const Outcome outcome = run({"predict", model, bare});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        EXPECT_EQ(outcome.out, expected);
        EXPECT_EQ(outcome.err, "");
    }
    const Outcome lacking =
        run({"predict", model, folder.file("w.csv", "u,w,class\n1,2,a\n3,4,b\n")});
    EXPECT_EQ(lacking.code, 2);
    EXPECT_TRUE(has(lacking.err, "'v'")) << lacking.err;
    EXPECT_EQ(run({"predict", model, "@digits"}).code, 2);
    EXPECT_EQ(run({"predict", train, model}).code, 2);
    EXPECT_EQ(run({"predict", "-", "-"}).code, 2);
}

TEST(Predict, RegressionIsScoredByItsSquaredError) {
    const Folder folder;
    const std::string data = folder.path("sinc.csv");
    const std::string model = folder.path("m");
    must({"make", "sinc", "--n", "80", "--noise", "0.05", "-o", data});
    must({"train", data, model, "--task", "svr", "-C", "10", "--epsilon", "0.02"});
    const json report = json_of({"predict", model, data});
    const Dataset truth = read(data);
    const auto values = report["labels"].get<std::vector<double>>();
    ASSERT_EQ(values.size(), truth.size());
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        sum += (values[i] - truth.y.values[i]) * (values[i] - truth.y.values[i]);
    }
    EXPECT_NEAR(report["mean_squared_error"].get<double>(), sum / 80, 1e-12);
    EXPECT_LT(sum / 80, 0.05);
    EXPECT_EQ(run({"predict", model, data, "--probability"}).code, 2);
}

TEST(Predict, SingleClassMachinesSayInsideOrOutside) {
    const Folder folder;
    const std::string model = folder.path("m");
    for (const char* task : {"one-class", "svdd"}) {
        must({"train", "@iris", model, "--task", task, "--nu", "0.1"});
        const Outcome outcome = run({"predict", model, "@iris"});
        const Words labels = lines_of(outcome.out);
        ASSERT_EQ(labels.size(), 150U);
        std::size_t outside = 0;
        for (const std::string& label : labels) {
            EXPECT_TRUE(label == "1" || label == "-1") << label;
            outside += label == "-1" ? 1U : 0U;
        }
        // The nu-property, seen from the outside: free support vectors lie on the edge.
        EXPECT_LE(outside, 45U) << task;
        EXPECT_GE(outside, 1U) << task;
        EXPECT_TRUE(has(outcome.err, "inside")) << outcome.err;
    }
}

TEST(Split, DrawsEveryRowOnceAndKeepsTheClassesInProportion) {
    const Folder folder;
    const Words words{
        "split",  "@iris", folder.path("a.csv"), folder.path("b.csv"), "--test", "0.3",
        "--seed", "5"};
    must(words);
    const Dataset train = read(folder.path("a.csv"));
    const Dataset test = read(folder.path("b.csv"));
    EXPECT_EQ(train.size(), 105U);
    EXPECT_EQ(test.size(), 45U);
    for (const Dataset* part : {&train, &test}) {
        std::vector<std::size_t> counts(3, 0);
        for (const std::int32_t c : classes_of(part->y).index)
            ++counts[static_cast<std::size_t>(c)];
        EXPECT_EQ(counts, std::vector<std::size_t>(3, part->size() / 3));
    }
    const auto body = [&](const char* name) {
        Words lines = lines_of(content_of(folder.path(name)));
        lines.erase(lines.begin());
        return lines;
    };
    Words all = body("a.csv");
    const Words held = body("b.csv");
    all.insert(all.end(), held.begin(), held.end());
    must({"convert", "@iris", "-o", folder.path("all.csv")});
    Words whole = body("all.csv");
    std::sort(all.begin(), all.end());
    std::sort(whole.begin(), whole.end());
    EXPECT_EQ(all, whole);
    const std::string first = content_of(folder.path("b.csv"));
    must(words);
    EXPECT_EQ(content_of(folder.path("b.csv")), first);
    EXPECT_EQ(run({"split", "@iris", folder.path("c"), folder.path("d"), "--test", "1"}).code, 2);
    EXPECT_EQ(run({"split", "@iris", "-", folder.path("d")}).code, 2);
}

}  // namespace
}  // namespace mercer::test
