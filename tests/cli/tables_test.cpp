// Tables as people have them, through the program: looked at, learnt from, judged.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

/// Rows with a gap, a category, a date, yes and no, a name of its own and a constant.
std::string customers(std::size_t rows, std::size_t first = 0) {
    std::string text = "id;age;city;joined;member;flag;churn\n";
    for (std::size_t k = 0; k < rows; ++k) {
        const std::size_t i = first + k;
        const std::size_t age = 20 + (i * 7) % 50;
        const char* const city = i % 3 == 0 ? "Rome" : i % 3 == 1 ? "Oslo" : "Bonn";
        const bool left = (age > 45) != (i % 3 == 0);
        text += "c" + std::to_string(1000 + i) + ";" +
                (i % 11 == 5 ? "" : std::to_string(age) + ",5") + ";" + city + ";" +
                std::to_string(1 + i % 28) + ".03.2026;" + (i % 2 == 0 ? "yes" : "no") + ";x;" +
                (left ? "left" : "stayed") + "\n";
    }
    return text;
}

TEST(TablesCli, InfoTellsEveryColumn) {
    const Folder folder;
    const std::string file = folder.file("customers.csv", customers(60));
    const Outcome outcome = run({"info", file, "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json table = json::parse(outcome.out).at("table");
    std::string kinds;
    for (const json& column : table.at("columns"))
        kinds += column.at("kind").get<std::string>() + " ";
    EXPECT_EQ(kinds, "identifier number category date yes-no constant category ");
    EXPECT_EQ(table.at("columns")[1].at("missing"), 5);
    const Outcome text = run({"info", file});
    ASSERT_EQ(text.code, 0);
    EXPECT_NE(text.out.find("decimal commas"), std::string::npos) << text.out;
}

TEST(TablesCli, TrainKeepsTheRecipeAndPredictAppliesIt) {
    const Folder folder;
    const std::string file = folder.file("customers.csv", customers(90));
    const std::string model = folder.path("m.mercer");
    const Outcome trained = run({"train", file, model, "-C", "10", "--cv", "3", "--json"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    const json cv = json::parse(trained.out).at("cross_validation");
    EXPECT_GT(cv.at("accuracy").get<double>(), cv.at("baseline").get<double>() + 0.1);
    EXPECT_EQ(cv.at("each").size(), 3U);
    EXPECT_EQ(run({"verify", model, file}).code, 0);
    // A lone row with a gap, its columns in another order.
    const std::string lone =
        folder.file("lone.csv", "city,member,age,joined\nOslo,yes,,2026-03-05\n");
    const Outcome predicted = run({"predict", model, lone});
    ASSERT_EQ(predicted.code, 0) << predicted.err;
    EXPECT_TRUE(predicted.out == "left\n" || predicted.out == "stayed\n") << predicted.out;
    const Outcome why = run({"predict", model, file, "--beside", "id,age", "--explain"});
    ASSERT_EQ(why.code, 0) << why.err;
    EXPECT_TRUE(why.out.starts_with("id\tage\tlabel\tbecause\nc1000\t20,5\t"))
        << why.out.substr(0, 200);
    const std::string renamed =
        folder.file("renamed.csv", "town,member,age,joined\nOslo,yes,30,2026-03-05\n");
    const Outcome refused = run({"predict", model, renamed});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("lacks the column 'city'"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("'town'"), std::string::npos) << refused.err;
    const std::string other =
        folder.file("other.csv", "city,member,age,joined\nParis,yes,30,2026-03-05\n");
    const Outcome unseen = run({"predict", model, other});
    EXPECT_EQ(unseen.code, 0);
    EXPECT_NE(unseen.err.find("none of the levels"), std::string::npos) << unseen.err;
}

TEST(TablesCli, ColumnsAreOverruled) {
    const Folder folder;
    const std::string file = folder.file("customers.csv", customers(60));
    const Outcome outcome = run({"train", file, "--column", "age=category", "--drop", "joined",
                                 "--id", "member", "--cv", "3", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("left out: id, joined, member, flag"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(run({"train", file, "--column", "age=colour"}).code, 2);
    EXPECT_EQ(run({"train", file, "--column", "nothing=number"}).code, 2);
}

TEST(TablesCli, LearnJudgesOnRowsSetAside) {
    const Folder folder;
    const std::string file = folder.file("customers.csv", customers(150));
    const std::string model = folder.path("m.mercer");
    const Outcome outcome =
        run({"learn", file, "--target", "churn", "-o", model, "--time", "10", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json said = json::parse(outcome.out);
    EXPECT_EQ(said.at("target"), "classes");
    EXPECT_EQ(said.at("rows_set_aside"), said.at("judgement").at("rows"));
    EXPECT_GT(said.at("judgement").at("accuracy").get<double>(),
              said.at("judgement").at("baseline").get<double>());
    EXPECT_GE(said.at("candidates").size(), 3U);
    // The facts that a report draws.
    EXPECT_EQ(said.at("candidates")[0].at("axes"), json({"C"}));
    EXPECT_GE(said.at("candidates")[0].at("tried").size(), 3U);
    EXPECT_EQ(said.at("learning_curve").back().at("rows"), 120);
    EXPECT_FALSE(said.at("effects").empty());
    EXPECT_TRUE(said.at("drift").empty());
    EXPECT_LT(said.at("judgement").at("accuracy_again")[0].get<double>(),
              said.at("judgement").at("accuracy_interval")[0].get<double>());
    const std::string fresh = folder.file("fresh.csv", customers(60, 500));
    const Outcome judged = run({"judge", model, fresh, "--json"});
    ASSERT_EQ(judged.code, 0) << judged.err;
    EXPECT_EQ(json::parse(judged.out).at("rows"), 60);
    EXPECT_EQ(run({"judge", model, fresh, "--positive", "nobody"}).code, 2);
    const Outcome costly = run({"judge", model, fresh, "--cost-false-negative", "10"});
    EXPECT_NE(costly.out.find("threshold"), std::string::npos) << costly.out;
}

TEST(TablesCli, TheReportIsOnePageWithAllItsPictures) {
    const Folder folder;
    const std::string file = folder.file("customers.csv", customers(150));
    const std::string page = folder.path("page.html");
    const Outcome outcome =
        run({"learn", file, "--target", "churn", "--time", "8", "--by-time", "--report", page});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const std::string html = content_of(page);
    for (const char* part : {"Settings tried", "Learning curve", "What columns add",
                             "What columns do", "Drift", "Worst mistakes", "Certificate"}) {
        EXPECT_NE(html.find(std::string("<h2>") + part), std::string::npos) << part;
    }
    EXPECT_EQ(html.find("<script"), std::string::npos);
    EXPECT_EQ(html.find("src="), std::string::npos);
}

TEST(TablesCli, PredictWarnsOfRowsFarFromThoseLearntFrom) {
    const Folder folder;
    std::string known = "x,z,y\n", far = known;
    for (int i = 0; i < 120; ++i) {
        const double x = i % 12 / 12.0, z = i % 7;
        known += std::to_string(x) + "," + std::to_string(z) + (x > 0.5 ? ",up\n" : ",down\n");
        far += std::to_string(x + 40) + "," + std::to_string(z) + ",up\n";
    }
    const std::string model = folder.path("m.mercer");
    const std::string file = folder.file("known.csv", known), other = folder.file("far.csv", far);
    ASSERT_EQ(run({"train", file, model, "--column", "x=number"}).code, 0);
    const Outcome near = run({"predict", model, file});
    EXPECT_EQ(near.err.find("deviations from the mean"), std::string::npos) << near.err;
    const Outcome warned = run({"predict", model, other});
    EXPECT_EQ(warned.code, 0);
    EXPECT_NE(warned.err.find("120 of 120 rows have a 'x' more than"), std::string::npos)
        << warned.err;
    EXPECT_EQ(warned.err.find("'z'"), std::string::npos) << warned.err;
}

TEST(TablesCli, CompareTellsTwoModelsApart) {
    const Folder folder;
    const std::string file = folder.file("customers.csv", customers(120));
    const std::string good = folder.path("good.mercer");
    const std::string bad = folder.path("bad.mercer");
    ASSERT_EQ(run({"train", file, good, "-C", "100"}).code, 0);
    ASSERT_EQ(run({"train", file, bad, "-C", "0.0001", "--drop", "age"}).code, 0);
    const Outcome outcome = run({"compare", good, bad, file, "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json said = json::parse(outcome.out);
    EXPECT_GT(said.at("only_first").get<int>(), said.at("only_second").get<int>());
    EXPECT_LT(said.at("p_value").get<double>(), 0.01);
    const Outcome same = run({"compare", good, good, file, "--json"});
    EXPECT_EQ(json::parse(same.out).at("p_value"), 1.0);
}

TEST(TablesCli, TuneSearchesByItself) {
    const Outcome outcome = run({"tune", "@iris", "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json said = json::parse(outcome.out);
    EXPECT_GT(said.at("points").size(), 20U);
    const Outcome refused = run({"tune", "@iris", "--search", "random"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("needs --grid"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace mercer::test
