// mercer plot, and what show says of w and α, as people run them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

class Plot : public ::testing::Test {
   protected:
    void SetUp() override {
        ASSERT_EQ(run({"make", "moons", "-n", "60", "-o", data()}).code, 0);
        ASSERT_EQ(run({"train", data(), model(), "-C", "10", "--quiet"}).code, 0);
    }
    std::string data() const { return folder_.path("moons.csv"); }
    std::string model() const { return folder_.path("moons.mercer"); }
    Outcome plot(std::vector<std::string> words, const std::string& name) const {
        words.insert(words.begin(), "plot");
        words.insert(words.end(), {"-o", folder_.path(name)});
        return run(words);
    }
    void expect_picture(const std::vector<std::string>& words, const std::string& part) const {
        const Outcome o = plot(words, "picture.svg");
        ASSERT_EQ(o.code, 0) << words[0] << ": " << o.err;
        const std::string svg = content_of(folder_.path("picture.svg"));
        EXPECT_EQ(svg.substr(0, 4), "<svg");
        EXPECT_NE(svg.find(part), std::string::npos) << words[0];
        EXPECT_EQ(svg.find("nan"), std::string::npos) << words[0];
    }
    Folder folder_;
};

TEST_F(Plot, DrawsEachKind) {
    expect_picture({"regions", model(), data()}, "support vectors");
    expect_picture({"gram", "rbf(gamma=1)", data()}, "data:image/png;base64,");
    expect_picture({"spectrum", "rbf(gamma=1)", data()}, "eigenvalue");
    expect_picture({"roc", model(), data()}, "false positives");
    const std::string probable = folder_.path("p.mercer");
    ASSERT_EQ(run({"train", data(), probable, "--probability", "--quiet"}).code, 0);
    expect_picture({"reliability", probable, data()}, "observed");
    const std::string steps = folder_.path("steps.csv");
    ASSERT_EQ(run({"train", data(), folder_.path("s.mercer"), "--method", "smo", "--trace", steps,
                   "--quiet"})
                  .code,
              0);
    expect_picture({"steps", steps}, "KKT violation");
    const std::string passes = folder_.path("a.mercer");
    ASSERT_EQ(run({"train", data(), passes, "--task", "adatron", "--quiet"}).code, 0);
    expect_picture({"convergence", passes}, "pass");
    expect_picture({"points", data()}, "x0");
    const std::string table = folder_.file("t.csv", "rows,error,label\n1,10,a\n10,1,a\n1,3,b\n");
    expect_picture({"curves", table, "--log", "both", "--label", "label"}, "error");
}

TEST_F(Plot, WritesPngByTheName) {
    ASSERT_EQ(plot({"regions", model(), data()}, "picture.png").code, 0);
    EXPECT_EQ(content_of(folder_.path("picture.png")).substr(1, 3), "PNG");
}

TEST_F(Plot, SaysWhatIsWrong) {
    const auto refuse = [&](const std::vector<std::string>& words, const std::string& name,
                            const std::string& part) {
        const Outcome o = plot(words, name);
        EXPECT_EQ(o.code, 2) << words[0];
        EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
    };
    refuse({"regions", model(), data()}, "x.jpg", ".svg or .png");
    refuse({"regions", model()}, "x.svg", "needs data as well");
    refuse({"regions", model(), data(), "--plane", "1,7"}, "x.svg", "there is no column '7'");
    refuse({"regions", model(), data(), "--plane", "1"}, "x.svg", "--plane takes two");
    refuse({"reliability", model(), data()}, "x.svg", "--probability");
    refuse({"convergence", model()}, "x.svg", "keeps no history");
    refuse({"steps", data()}, "x.svg", "no column 'problem'");
    refuse({"nothing", model()}, "x.svg", "none of");
    refuse({"gram", "rbf(gama=1)", data()}, "x.svg", "^");
    refuse({"roc", model(), data(), "--plane", "1,2"}, "x.svg", "--plane");
    const Outcome over = run({"plot", "regions", model(), data(), "-o", data()});
    EXPECT_EQ(over.code, 2);
}

TEST_F(Plot, ShowHasWAndAlpha) {
    const std::string plane = folder_.path("plane.mercer");
    ASSERT_EQ(
        run({"train", data(), plane, "--kernel", "linear", "--double-precision", "--quiet"}).code,
        0);
    const Outcome text = run({"show", plane, "--alpha", "3"});
    ASSERT_EQ(text.code, 0) << text.err;
    EXPECT_NE(text.out.find("\nw "), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("coefficient  row of"), std::string::npos) << text.out;
    const Outcome o = run({"show", plane, "--alpha", "1000", "--json"});
    ASSERT_EQ(o.code, 0) << o.err;
    const json said = json::parse(o.out);
    const auto list = said["coefficients"].begin().value();
    // Σ α_i y_i = 0, and the largest comes first.
    double sum = 0;
    for (const json& one : list) sum += one["coefficient"].get<double>();
    EXPECT_NEAR(sum, 0, 1e-6);
    EXPECT_GE(std::abs(list[0]["coefficient"].get<double>()),
              std::abs(list[1]["coefficient"].get<double>()));
    // w = Σ α_i y_i x_i, from the rows that it names.
    const Outcome rows = run({"convert", data(), "-o", "-", "--to", "csv"});
    ASSERT_EQ(rows.code, 0) << rows.err;
    std::vector<std::array<double, 2>> x;
    std::istringstream lines(rows.out);
    for (std::string line; std::getline(lines, line);) {
        std::array<double, 2> row{};
        if (std::sscanf(line.c_str(), "%lf,%lf", &row[0], &row[1]) == 2) x.push_back(row);
    }
    ASSERT_EQ(x.size(), 60U);
    double first = 0;
    for (const json& one : list) {
        first += one["coefficient"].get<double>() * x[one["row"].get<std::size_t>() - 1][0];
    }
    EXPECT_NEAR(first, said["w"].begin().value()[0].get<double>(), 1e-5);
}

}  // namespace
}  // namespace mercer::test
