// --approximate cells, as people run it.
#include <gtest/gtest.h>

#include <csignal>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

/// A board with its model of cells.
struct Board {
    Folder folder{};
    std::string data = folder.path("board.csv");
    std::string model = folder.path("board.mercer");

    explicit Board(const std::string& rows = "900") {
        EXPECT_EQ(run({"make", "checkerboard", "-n", rows, "--noise", "0.02", "-o", data}).code, 0);
    }
    Outcome train(const Words& more = {}) const {
        Words words{"train", data, model,     "--kernel",      "rbf(gamma=4)",
                    "-C",    "10", "--quiet", "--approximate", "cells(rows=150)"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }
};

TEST(Cells, TrainPredictShowAndVerify) {
    const Board board;
    const Outcome trained = board.train();
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_TRUE(has(trained.out, "sum over the cells")) << trained.out;
    EXPECT_TRUE(has(trained.out, "nothing is said of one machine of all rows")) << trained.out;
    EXPECT_TRUE(has(trained.out, "in the worst cell")) << trained.out;
    EXPECT_TRUE(has(trained.out, "\ncells       ")) << trained.out;
    const Outcome predicted = run({"predict", board.model, board.data, "-o", "/dev/null"});
    ASSERT_EQ(predicted.code, 0) << predicted.err;
    EXPECT_TRUE(has(predicted.out, "accuracy 9")) << predicted.out;
    const json shown = json_of({"show", board.model});
    EXPECT_EQ(shown["certificate"]["certifies"], "optimum of each cell");
    ASSERT_GE(shown["cells"].size(), 6U);
    double dual = 0;
    std::size_t rows = 0;
    for (const json& cell : shown["cells"]) {
        rows += cell["rows"].get<std::size_t>();
        if (cell.contains("certificate")) dual += cell["certificate"]["dual"].get<double>();
    }
    EXPECT_EQ(rows, 900U);
    EXPECT_NEAR(shown["certificate"]["dual"].get<double>(), dual, 1e-9 * dual);
    const json verified = json_of({"verify", board.model, board.data});
    EXPECT_TRUE(verified["holds"].get<bool>());
    EXPECT_EQ(verified["certifies"], "optimum of each cell");
    EXPECT_TRUE(verified["converged"].get<bool>());
    EXPECT_EQ(verified["parts"][0]["claimed"]["name"], "cell 1");
    EXPECT_EQ(verified["parts"].size(), shown["cells"].size());
    const Outcome proved = run({"verify", board.model, board.data, "--rigorous"});
    EXPECT_EQ(proved.code, 0) << proved.out;
    EXPECT_TRUE(has(proved.out, "every optimum lies in its bracket")) << proved.out;
    EXPECT_TRUE(has(proved.out, "nothing is said of one machine of all rows")) << proved.out;
}

TEST(Cells, CrossValidateAndDependOnTheSeedAlone) {
    const Board board;
    const json one = json_of({"train", board.data, "--kernel", "rbf(gamma=4)", "-C", "10", "--cv",
                              "3", "--approximate", "cells(rows=150)"});
    EXPECT_GT(one["cross_validation"]["accuracy"].get<double>(), 0.85);
    ASSERT_EQ(board.train().code, 0);
    const std::string first = content_of(board.model);
    for (const char* threads : {"1", "2", "3"}) {
        ASSERT_EQ(board.train({"--threads", threads}).code, 0);
        EXPECT_EQ(content_of(board.model), first) << threads;
    }
    ASSERT_EQ(board.train({"--seed", "2"}).code, 0);
    EXPECT_NE(content_of(board.model), first);
}

TEST(Cells, RefuseWhatIsOfOneMachine) {
    const Board board;
    ASSERT_EQ(board.train().code, 0);
    const auto refuses = [](const Words& words, const std::string& part) {
        const Outcome o = run(words);
        EXPECT_EQ(o.code, 2) << words[0];
        EXPECT_TRUE(has(o.err, part)) << o.err;
    };
    refuses({"show", board.model, "--alpha", "3"}, "cells");
    refuses({"export", board.model, board.folder.path("m.onnx")}, "expansion");
    refuses({"export", board.model, board.folder.path("m.libsvm"), "--to", "libsvm"}, "cells");
    refuses({"reduce", board.model, board.folder.path("small"), "--vectors", "5"}, "cells");
    refuses({"cascade", board.model, board.data, board.folder.path("quick")}, "cells");
    refuses({"bounds", board.model, board.data}, "cells");
    refuses({"query", board.model, board.data, "--rule", "max-min", "--labelled", board.data},
            "cells");
    refuses({"train", board.data, "--from", board.model}, "cells");
    refuses({"train", board.data, "--approximate", "cells(rows=3)"}, "from 10 to 1000000");
    refuses({"train", board.data, "--approximate", "cellar"}, "cells(rows=2000)");
    refuses({"train", board.data, "--task", "one-class", "--approximate", "cells"},
            "classes and numbers");
    refuses({"train", board.data, "--probability", "--approximate", "cells"}, "expansion");
    refuses({"train", board.data, "--approximate", "cells", "--checkpoint", "c"}, "--checkpoint");
}

TEST(Cells, AreCalibratedAndJudgedAsAnyModel) {
    const Board board;
    ASSERT_EQ(board.train().code, 0);
    const std::string sure = board.folder.path("sure.mercer");
    const Outcome calibrated =
        run({"calibrate", board.model, board.data, "--method", "platt", "-o", sure});
    ASSERT_EQ(calibrated.code, 0) << calibrated.err;
    const Outcome told = run({"predict", sure, board.data, "--probability", "-o", "/dev/null"});
    EXPECT_EQ(told.code, 0) << told.err;
    EXPECT_EQ(run({"judge", board.model, board.data}).code, 0);
}

TEST(Cells, AreTunedOneByOne) {
    const Board board;
    const std::string csv = board.folder.path("cells.csv");
    const Words words{"tune",   board.data,      board.model,       "--kernel", "rbf(gamma=1)",
                      "--grid", "gamma=1,10",    "--grid",          "C=1,10",   "--folds",
                      "3",      "--approximate", "cells(rows=150)", "--csv",    csv,
                      "--quiet"};
    const Outcome o = run(words);
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(has(o.out, "grid, 4 points in each of")) << o.out;
    EXPECT_TRUE(has(o.out, "over the folds of the cells")) << o.out;
    EXPECT_TRUE(has(o.out, "\ngamma       ")) << o.out;
    Words with_json = words;
    with_json.push_back("--json");
    const json said = json::parse(run(with_json).out);
    const json cells = said["search"]["cells"];
    const Words lines = lines_of(content_of(csv));
    EXPECT_EQ(lines[0], "cell,rows,gamma,C,score");
    EXPECT_EQ(lines.size(), cells.size() + 1);
    EXPECT_GT(said["search"]["score"].get<double>(), 0.85);
    EXPECT_EQ(run({"verify", board.model, board.data}).code, 0);
    // Each cell has the values it chose.
    const json shown = json_of({"show", board.model});
    for (std::size_t k = 0; k < cells.size(); ++k) {
        if (!cells[k].contains("values")) continue;
        EXPECT_EQ(shown["cells"][k]["C"], cells[k]["values"]["C"]);
    }
    for (const Words& more : {Words{"--journal", board.folder.path("j")},
                              Words{"--heat-map", board.folder.path("map.svg")}}) {
        Words other = words;
        other.insert(other.end(), more.begin(), more.end());
        const Outcome refused = run(other);
        EXPECT_EQ(refused.code, 2);
        EXPECT_TRUE(has(refused.err, "in cells")) << refused.err;
    }
}

TEST(Cells, HaveTheSameBytesFromRowsThatMemoryDoesNotHold) {
    const Board board("150000");  // 1.2 MB of rows
    std::vector<std::string> models;
    for (const char* memory : {"1", "64"}) {
        const Outcome o = run({"train", board.data, board.model, "--kernel", "rbf(gamma=10)",
                               "--approximate", "cells(rows=100)", "--memory", memory, "--json"});
        ASSERT_EQ(o.code, 0) << o.err;
        EXPECT_EQ(json::parse(o.out)["held"], models.empty() ? "temporary file" : "memory");
        models.push_back(content_of(board.model));
    }
    EXPECT_EQ(models[0], models[1]);
}

TEST(Cells, SearchesInTheSpanOfSomeRowsShareFeatures) {
    const Board board;
    const json said = json_of({"tune", board.data, board.model, "--task", "ridge", "--kernel",
                               "rbf(gamma=1)", "--grid", "gamma=1,4", "--grid", "lambda=0.01,0.1",
                               "--approximate", "nystroem(centres=100)"});
    EXPECT_TRUE(said["shared"].get<bool>());
    EXPECT_EQ(said["points"].size(), 4U);
    EXPECT_LE(json_of({"show", board.model})["support_vectors"].get<int>(), 100);
    const Outcome refused = run({"tune", board.data, "--grid", "C=1", "--approximate", "auto"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(has(refused.err, "mercer plan")) << refused.err;
}

TEST(Cells, OfATimeThatIsOverAnswerEverywhere) {
    const Board board("40000");
    const Outcome o = run({"tune", board.data, board.model, "--kernel", "rbf(gamma=1)", "--grid",
                           "gamma=0.1:100:log10", "--grid", "C=0.1:1000:log10", "--approximate",
                           "cells(rows=1000)", "--time-limit", "1.5", "--json"});
    ASSERT_EQ(o.code, 0) << o.err;
    const json said = json::parse(o.out);
    EXPECT_EQ(said["certificate"]["status"], "stopped at the time limit");
    EXPECT_GT(said["certificate"]["figures"]["cells_not_reached"].get<double>(), 0);
    EXPECT_TRUE(has(o.err, "time limit")) << o.err;
    EXPECT_EQ(run({"predict", board.model, board.data, "-o", "/dev/null"}).code, 0);
    const Outcome verified = run({"verify", board.model, board.data});
    EXPECT_EQ(verified.code, 0);
    EXPECT_TRUE(has(verified.out, "stopped early")) << verified.out;
}

TEST(Cells, ThatAreInterruptedAreSaved) {
    const Board board("40000");
    const Outcome o = run_and_signal(
        {"tune", board.data, board.model, "--kernel", "rbf(gamma=1)", "--grid",
         "gamma=0.1:100:log10", "--grid", "C=0.1:1000:log10", "--approximate", "cells(rows=1000)"},
        SIGINT, 1500);
    EXPECT_EQ(o.code, 130) << o.err;
    // Under load the signal may come before there is a cell.
    if (!o.out.empty()) {
        EXPECT_EQ(run({"predict", board.model, board.data, "-o", "/dev/null"}).code, 0);
    }
}

TEST(Plan, WeighsAllRowsCellsAndSpans) {
    const Board board("9000");
    const json plan = json_of({"plan", board.data, "--kernel", "rbf(gamma=4)", "-C", "10"});
    ASSERT_EQ(plan["ways"].size(), 4U);
    EXPECT_EQ(plan["ways"][0]["approximate"], "");
    EXPECT_EQ(plan["ways"][1]["approximate"], "cells(rows=2000)");
    EXPECT_EQ(plan["ways"][1]["certificate"], "optimum of each cell");
    EXPECT_EQ(plan["ways"][3]["approximate"], "nystroem(centres=1000)");
    EXPECT_GE(plan["growth"].get<double>(), 1);
    EXPECT_GT(plan["support"].get<double>(), 0);
    const Outcome o = run({"plan", board.data, "--kernel", "rbf(gamma=4)", "-C", "10"});
    EXPECT_TRUE(has(o.out, "error expected")) << o.out;
    EXPECT_TRUE(has(o.out, "grows as rows^")) << o.out;
    EXPECT_TRUE(has(o.out, "choice      ")) << o.out;
}

}  // namespace
}  // namespace mercer::test
