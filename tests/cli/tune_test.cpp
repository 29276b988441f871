// mercer tune, as people run it.
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

std::vector<std::string> iris(std::vector<std::string> more) {
    std::vector<std::string> words{"tune", "@iris", "--kernel", "rbf(gamma=1)", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

TEST(Tune, FindsSavesAndDrawsTheBest) {
    const Folder folder;
    const Outcome o = run(
        iris({folder.path("best.mercer"), "--grid", "gamma=0.01:10:log4", "--grid", "C=0.1,1,10",
              "--csv", folder.path("all.csv"), "--heat-map", folder.path("map.svg"), "--json"}));
    ASSERT_EQ(o.code, 0) << o.err;
    const json said = json::parse(o.out);
    EXPECT_EQ(said["points"].size(), 12U);
    EXPECT_TRUE(said["shared"].get<bool>());
    EXPECT_GT(said["seconds"].get<double>(), 0);
    double highest = 0;
    for (const json& p : said["points"]) highest = std::max(highest, p["score"].get<double>());
    const json best = said["best"];
    EXPECT_EQ(best["score"].get<double>(), highest);
    EXPECT_GT(highest, 0.9);
    // The model saved is the machine of the best point.
    const Outcome shown = run({"show", folder.path("best.mercer"), "--json"});
    ASSERT_EQ(shown.code, 0) << shown.err;
    EXPECT_EQ(json::parse(shown.out)["kernel"], best["kernel"]);
    const std::string csv = content_of(folder.path("all.csv"));
    EXPECT_EQ(csv.substr(0, csv.find('\n')),
              "gamma,C,mean,deviation,fold1,fold2,fold3,fold4,fold5,seconds,rows,status");
    EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 13);
    const std::string svg = content_of(folder.path("map.svg"));
    EXPECT_EQ(svg.substr(0, 4), "<svg");
    std::size_t cells = 0;
    for (std::size_t at = 0; (at = svg.find("<title>", at)) != std::string::npos; ++at) ++cells;
    EXPECT_EQ(cells, 12U);
}

TEST(Tune, PrintsTheBestTen) {
    const Outcome o = run(iris({"--grid", "gamma=0.01:10:log4", "--grid", "C=0.1,1,10,100"}));
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("gamma"), std::string::npos);
    EXPECT_NE(o.out.find("… and 6 more"), std::string::npos) << o.out;
    EXPECT_NE(o.out.find("best        gamma="), std::string::npos) << o.out;
}

TEST(Tune, SearchesOtherMachinesAndWaysToo) {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"--task", "logistic", "--grid", "lambda=0.1,1", "--score", "log-loss"},
             {"--task", "perceptron", "--grid", "passes=1,5"},
             {"--grid", "C=1:100:log2", "--search", "random", "--points", "3", "--one-se"},
             {"--grid", "C=1:100:log2", "--search", "halving", "--points", "4"},
             {"--task", "nu-svc", "--grid", "nu=0.1,0.3", "--scale", "standard", "--repeats", "2"},
             {"--grid", "C=1", "--probability", "--score", "log-loss", "--folds", "2"},
             {"--grid", "C=1,2", "--alone", "--cv", "3"}}) {
        const Outcome o = run(iris(words));
        EXPECT_EQ(o.code, 0) << words[1] << ": " << o.err;
        EXPECT_NE(o.out.find("best "), std::string::npos);
    }
    const Outcome whole =
        run({"tune", "@iris", "--kernel", "polynomial(degree=$d)", "--grid", "d=1,2,3", "--quiet"});
    EXPECT_EQ(whole.code, 0) << whole.err;
}

TEST(Tune, GroupsAndTakesFoldsFromFiles) {
    const Folder folder;
    std::string table = "a,group,y\n";
    std::string keys;
    for (int i = 0; i < 40; ++i) {
        table += std::to_string(i % 2 + 0.01 * i) + "," + std::to_string(i % 8) + "," +
                 std::to_string(i % 2) + "\n";
        keys += "part" + std::to_string(i % 3) + "\n";
    }
    const std::string data = folder.file("data.csv", table);
    const std::string folds = folder.file("folds.txt", keys);
    const Outcome grouped = run({"tune", data, "--label", "y", "--groups", "@group", "--folds", "4",
                                 "--grid", "C=1,10", "--json"});
    ASSERT_EQ(grouped.code, 0) << grouped.err;
    EXPECT_EQ(json::parse(grouped.out)["folds"], 4);
    const Outcome given =
        run({"tune", data, "--label", "y", "--fold-file", folds, "--grid", "C=1,10", "--json"});
    ASSERT_EQ(given.code, 0) << given.err;
    EXPECT_EQ(json::parse(given.out)["folds"], 3);
    const Outcome wrong = run({"tune", data, "--label", "y", "--fold-file", data, "--grid", "C=1"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.err.find("41"), std::string::npos) << wrong.err;
}

TEST(Tune, GoesOnFromItsJournal) {
    const Folder folder;
    const auto words = iris(
        {"--grid", "gamma=0.1,1", "--grid", "C=1,10", "--journal", folder.path("j"), "--json"});
    const Outcome first = run(words);
    const Outcome second = run(words);
    ASSERT_EQ(first.code, 0) << first.err;
    ASSERT_EQ(second.code, 0) << second.err;
    const json a = json::parse(first.out);
    const json b = json::parse(second.out);
    EXPECT_EQ(a["from_journal"], 0);
    EXPECT_EQ(b["from_journal"], 4);
    EXPECT_EQ(a["best"], b["best"]);
    EXPECT_EQ(a["points"], b["points"]);
}

TEST(Tune, SaysWhatIsWrong) {
    const Folder folder;
    const std::string lonely =
        folder.file("lonely.csv", "u,v,y\n1,2,a\n2,3,a\n3,4,b\n5,6,a\n4,4,a\n");
    struct Case {
        std::vector<std::string> words;
        const char* text;
    };
    const std::vector<Case> cases{
        {{"tune", "@iris", "--search", "random"}, "needs --grid"},
        {{"tune", "@iris", "--grid", "C="}, "is empty"},
        {{"tune", "@iris", "--grid", "gama=1"}, "there are C gamma; did you mean gamma?"},
        {{"tune", "@iris", "--grid", "gamma=-1"}, "gamma"},
        {{"tune", "@iris", "--grid", "C=1", "--folds", "151"}, "151 folds"},
        {{"tune", "@iris", "--grid", "C=1", "--folds", "1"}, "--folds"},
        {{"tune", lonely, "--label", "y", "--grid", "C=1", "--folds", "2"}, "single row"},
        {{"tune", "@iris", "--grid", "C=1", "--score", "auc"}, "two classes"},
        {{"tune", "@iris", "--grid", "C=1", "--score", "mse"}, "predicts classes"},
        {{"tune", "@iris", "--grid", "C=1", "--score", "log-loss"}, "--probability"},
        {{"tune", "@iris", "--grid", "C=1", "--score", "acuracy"}, "did you mean accuracy"},
        {{"tune", "@iris", "--grid", "C=1", "--heat-map", "x.svg"}, "two axes"},
        {{"tune", "@iris", "--grid", "C=1", "--csv", "/nowhere/x.csv"}, "/nowhere/x.csv"},
        {{"tune", "@iris", "--grid", "C=1", "--groups", "/nowhere"}, "/nowhere"},
        {{"tune", "@iris", "--grid", "C=1", "--groups", "@9"}, "@9"},
        {{"tune", "@iris", "--grid", "C=1", "--curve", "x"}, "--curve"},
        {{"tune", "@iris", "--grid", "clusters=2", "--task", "k-means"}, "clusters"},
        {{"tune", "@iris", "--kernel", "rbf(gamma=$g)", "--grid", "C=1"}, "$g"},
    };
    for (const Case& c : cases) {
        const Outcome o = run(c.words);
        EXPECT_EQ(o.code, 2) << c.text << o.out;
        EXPECT_NE(o.err.find(c.text), std::string::npos) << c.text << ": " << o.err;
    }
}

TEST(Tune, AValueNoMachineTakesIsRefusedNotPassedOver) {
    const auto refuses = [](const std::vector<std::string>& words, const std::string& part) {
        const Outcome o = run(words);
        EXPECT_EQ(o.code, 2) << o.out;
        EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    };
    refuses({"tune", "@iris", "--grid", "C=-1,1"}, "C=-1");
    refuses({"tune", "@iris", "--grid", "gamma=1,2", "--grid", "C=1,-1"}, "C=-1");
    refuses({"tune", "@iris", "--task", "nu-svc", "--grid", "nu=0.1,2"}, "nu=2");
    refuses({"tune", "@iris", "--task", "adatron", "--grid", "C=1,-1"}, "C=-1");
    refuses({"tune", "@iris", "--task", "logistic", "--grid", "lambda=1,-2"}, "lambda=-2");
    refuses({"tune", "@iris", "--task", "perceptron", "--grid", "budget=5,1"}, "budget=1");
    refuses({"tune", "@iris", "--task", "perceptron", "--grid", "passes=1,1.5"}, "passes=1.5");
    // What only the data makes impossible fails where it happens, and is told of.
    const Folder folder;
    std::string table = "u,v,y\n";
    for (int i = 0; i < 40; ++i) {
        table += std::to_string(i) + "," + std::to_string(i * i % 7) + (i < 8 ? ",a\n" : ",b\n");
    }
    const Outcome some = run({"tune", folder.file("few.csv", table), "--task", "nu-svc", "--grid",
                              "nu=0.1,0.9", "--scale", "standard"});
    EXPECT_EQ(some.code, 0) << some.err;
    EXPECT_NE(some.out.find("1 point, such as nu=0.9: "), std::string::npos) << some.out;
}

TEST(Tune, F1SaysWhichClassIsPositive) {
    const Folder folder;
    std::string table = "u,v,y\n";
    for (int i = 0; i < 60; ++i) {
        table += std::to_string(i % 10) + "," + std::to_string(i % 7) +
                 (i % 5 == 0 ? ",alarm\n" : ",quiet\n");
    }
    const std::string path = folder.file("alarm.csv", table);
    const auto score = [&](std::vector<std::string> more) {
        std::vector<std::string> words{"tune", path, "--grid", "C=1", "--score", "f1", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome o = run(words);
        EXPECT_EQ(o.code, 0) << o.err;
        return json::parse(o.out);
    };
    const json last = score({}), first = score({"--positive", "alarm"});
    EXPECT_EQ(last["positive"], "quiet");
    EXPECT_EQ(first["positive"], "alarm");
    EXPECT_NE(last["best"]["score"], first["best"]["score"]);
    EXPECT_NE(run({"tune", path, "--grid", "C=1", "--score", "f1"}).out.find("f1 of 'quiet'"),
              std::string::npos);
    const auto refuses = [&](const std::vector<std::string>& words, const std::string& part) {
        const Outcome o = run(words);
        EXPECT_EQ(o.code, 2);
        EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    };
    refuses({"tune", path, "--grid", "C=1", "--score", "f1", "--positive", "no"}, "'alarm'");
    refuses({"tune", path, "--grid", "C=1", "--positive", "alarm"}, "it belongs to f1");
    refuses({"tune", "@iris", "--grid", "C=1", "--score", "f1", "--positive", "setosa"},
            "mean over all");
}

TEST(Tune, InterruptedBeforeTheFirstScoreSaysThat) {
    const Outcome o = run_and_signal({"tune", "@digits", "--kernel", "rbf(gamma=1)", "--grid",
                                      "gamma=1e-5:1:log300", "--alone", "--folds", "100"},
                                     SIGINT, 700);
    EXPECT_EQ(o.code, 130) << o.err;
    EXPECT_EQ(o.out.find("no point has a score"), std::string::npos) << o.out;
    // Under load the signal may come before the data is read, and then nothing is printed.
    if (!o.out.empty() && o.out.find("best") != std::string::npos) {
        EXPECT_NE(o.out.find("interrupted before the first point was scored"), std::string::npos)
            << o.out;
    }
}

TEST(Tune, TheJournalKnowsHowSeveralClassesWereTaken) {
    const Folder folder;
    const std::vector<std::string> words{"tune",     "@iris",  "--task",    "adatron",
                                         "--grid",   "C=1,10", "--folds",   "3",
                                         "--passes", "5",      "--journal", folder.path("j")};
    ASSERT_EQ(run(words).code, 0);
    auto other = words;
    other.insert(other.end(), {"--multi-class", "ovr"});
    const Outcome refused = run(other);
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_NE(refused.err.find("another search"), std::string::npos) << refused.err;
    // What changes no score does not matter: more points, more memory, another form of report.
    auto more = words;
    more[5] = "C=1,10,100";
    more.insert(more.end(), {"--memory", "500", "--json"});
    const Outcome resumed = run(more);
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(json::parse(resumed.out)["from_journal"], 2);
}

TEST(Tune, StoppedReportsWhatThereIs) {
    const Folder folder;
    // Long enough to be interrupted; the first chains are done by then, or nothing is.
    const Outcome o = run_and_signal(
        {"tune", "@digits", "--kernel", "rbf(gamma=1)", "--grid", "gamma=1e-5:1:log300", "--grid",
         "C=1,10", "--journal", folder.path("j"), "--json"},
        SIGINT, 1500);
    EXPECT_EQ(o.code, 130) << o.err;
    const json said = json::parse(o.out);
    EXPECT_TRUE(said["cancelled"].get<bool>());
    EXPECT_EQ(said["points"].size(), 600U);
}

}  // namespace
}  // namespace mercer::test
