// svm-train, svm-predict and svm-scale beside the programs of LIBSVM itself.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

/// Our program under LIBSVM's name.
std::string ours(const std::string& name) {
    return (std::filesystem::path(MERCER_PROGRAM).parent_path() / "libsvm" / name).string();
}

/// Words split at blanks, so that options read as people write them.
Outcome call(const std::string& program, const std::string& options, const Words& files) {
    Words words;
    std::istringstream in(options);
    for (std::string word; in >> word;) words.push_back(word);
    words.insert(words.end(), files.begin(), files.end());
    return run_program(program, words);
}

struct Case {
    const char* program;
    const char* options;
    Words files;
};

class Dropin : public ::testing::Test {
   protected:
    void SetUp() override {
        for (const char* name : {"svm-train", "svm-predict", "svm-scale"}) {
            const std::string path = std::string("/usr/bin/") + name;
            if (access(path.c_str(), X_OK) != 0) {
                GTEST_SKIP() << "LIBSVM's own " << name << " is not installed (libsvm-tools)";
            }
        }
    }

    /// A file of the shared data, or a skip.
    std::string data(const std::string& name) {
        const char* const folder = std::getenv("MERCER_DATA");
        const std::string path =
            std::string(folder == nullptr ? "../shared/data" : folder) + "/" + name;
        return std::filesystem::exists(path) ? path : "";
    }

    /// Iris with its rows mixed, so that the classes first appear as 2, 0, 1 or so.
    std::string iris() {
        EXPECT_EQ(run({"convert", "@iris", "-o", folder_.path("iris.libsvm")}).code, 0);
        const Words lines = lines_of(content_of(folder_.path("iris.libsvm")));
        std::string text;
        for (std::size_t i = 0; i < lines.size(); ++i) text += lines[(i * 67 + 149) % 150] + "\n";
        return folder_.file("iris.mixed", text);
    }

    std::string predictions(const std::string& program, const std::string& file,
                            const std::string& model, const std::string& options = "") {
        const std::string out = folder_.path("out");
        const Outcome outcome = call(program, options, {file, model, out});
        EXPECT_EQ(outcome.code, 0) << program << outcome.err;
        said_ = outcome.out;
        return content_of(out);
    }

    /// Labels must be the same text, values the same numbers up to the order of summation.
    void expect_equal(const std::string& a, const std::string& b, bool values) {
        const Words left = lines_of(a);
        const Words right = lines_of(b);
        ASSERT_EQ(left.size(), right.size());
        EXPECT_TRUE(values || a == b);
        for (std::size_t i = 0; values && i < left.size(); ++i) {
            const double value = std::stod(right[i]);
            ASSERT_NEAR(std::stod(left[i]), value, 1e-9 * (1 + std::abs(value)))
                << "line " << i + 1;
        }
    }

    /// Both trainings to a tight tolerance differ only where the decision is as good as zero.
    void expect_same_machine(const std::string& file, const std::string& our_model,
                             const std::string& ours_said, const std::string& theirs_said) {
        const Words left = lines_of(ours_said);
        const Words right = lines_of(theirs_said);
        ASSERT_EQ(left.size(), right.size());
        const Outcome outcome = run({"predict", our_model, file, "--decision", "--json"});
        const json rows = json::parse(outcome.out)["decision"]["rows"];
        for (std::size_t i = 0; i < left.size(); ++i) {
            if (left[i] == right[i]) continue;
            double nearest = 1e300;
            for (const double f : rows[i].get<std::vector<double>>()) {
                nearest = std::min(nearest, std::abs(f));
            }
            EXPECT_LT(nearest, 1e-3) << "row " << i + 1;
        }
    }

    void exchange(const std::string& file, const std::string& options, bool values) {
        SCOPED_TRACE(file + " " + options);
        const std::string our_model = folder_.path("ours.model");
        const std::string their_model = folder_.path("theirs.model");
        const Outcome mine = call(ours("svm-train"), options, {file, our_model});
        const Outcome other = call("/usr/bin/svm-train", options, {file, their_model});
        ASSERT_EQ(mine.code, 0) << mine.err;
        ASSERT_EQ(other.code, 0) << other.err;
        const std::string a = predictions(ours("svm-predict"), file, our_model);
        const std::string we_said = said_;
        const std::string b = predictions("/usr/bin/svm-predict", file, our_model);
        EXPECT_EQ(we_said, said_);
        const std::string c = predictions("/usr/bin/svm-predict", file, their_model);
        const std::string they_said = said_;
        const std::string d = predictions(ours("svm-predict"), file, their_model);
        EXPECT_EQ(they_said, said_);
        expect_equal(a, b, values);
        expect_equal(d, c, values);
        if (has(options, "-t 4")) {
            EXPECT_EQ(a, c);
        } else if (!values) {
            expect_same_machine(file, our_model, a, c);
        }
        // The label line and the classes' order are LIBSVM's.
        const auto label_line = [](const std::string& path) {
            const std::string text = content_of(path);
            const std::size_t at = text.find("\nlabel");
            return at == text.npos ? "" : text.substr(at, text.find('\n', at + 1) - at);
        };
        EXPECT_EQ(label_line(our_model), label_line(their_model));
        // A nu-SVC is printed after division by the square of a small number.
        expect_same_messages(mine.out, other.out, has(options, "-s 1") ? 1e-4 : 1e-5);
    }

    /// The same lines, with numbers that agree as far as the tolerance allows.
    static void expect_same_messages(const std::string& a, const std::string& b, double close) {
        static const std::regex objective("obj = (\\S+), rho = (\\S+)");
        static const std::regex other("^(nu|C|epsilon) = (\\S+)");
        const auto numbers = [](const std::string& text, const std::regex& pattern,
                                std::size_t group) {
            std::vector<double> found;
            for (const std::string& line : lines_of(text)) {
                std::smatch match;
                if (std::regex_search(line, match, pattern))
                    found.push_back(std::stod(match[group]));
            }
            return found;
        };
        const auto near = [](const std::vector<double>& x, const std::vector<double>& y,
                             double off) {
            ASSERT_EQ(x.size(), y.size());
            for (std::size_t i = 0; i < x.size(); ++i) {
                EXPECT_NEAR(x[i], y[i], off * (1 + std::abs(y[i])));
            }
        };
        near(numbers(a, objective, 1), numbers(b, objective, 1), close);
        near(numbers(a, objective, 2), numbers(b, objective, 2), 1e-3);
        near(numbers(a, other, 2), numbers(b, other, 2), 1e-3);
        for (const char* line : {"optimization finished, #iter = ", "nSV = ", "nBSV = "}) {
            EXPECT_TRUE(has(a, line)) << a;
        }
        EXPECT_EQ(has(a, "Total nSV = "), has(b, "Total nSV = "));
    }

    Folder folder_;
    std::string said_;
};

TEST_F(Dropin, ClassifiersAndSingleClassesAreExchanged) {
    const std::string heart = data("heart/heart_scale");
    if (heart.empty()) GTEST_SKIP() << "heart_scale is not under MERCER_DATA";
    for (const char* options : {"-s 0 -t 0 -e 1e-5", "-s 0 -t 1 -r 1 -d 2 -e 1e-5", "-s 0 -e 1e-5",
                                "-s 0 -t 3 -g 0.01 -e 1e-5", "-s 0 -c 5 -w1 2 -w-1 0.5 -e 1e-5",
                                "-s 1 -t 2 -n 0.5 -e 1e-5", "-s 1 -t 1 -r 1 -n 0.5 -e 1e-5",
                                "-s 2 -n 0.1 -e 1e-5", "-s 2 -t 1 -n 0.3 -e 1e-5"}) {
        exchange(heart, options, false);
    }
    // Of -1 and 1 the 1 comes first, whichever stands first in the file.
    Words lines = lines_of(content_of(heart));
    std::ranges::stable_sort(lines, {}, [](const std::string& line) { return line[0] != '-'; });
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    exchange(folder_.file("turned", text), "-e 1e-5", false);
    for (const char* options : {"-e 1e-5", "-s 1 -n 0.2 -e 1e-5", "-t 0 -e 1e-5"}) {
        exchange(iris(), options, false);
    }
}

TEST_F(Dropin, RegressionsAreExchanged) {
    const std::string housing = data("boston_housing/housing_scale");
    if (housing.empty()) GTEST_SKIP() << "housing_scale is not under MERCER_DATA";
    for (const char* options : {"-s 3 -t 2 -p 0.5 -c 3 -e 1e-5", "-s 3 -t 0 -e 1e-4",
                                "-s 4 -n 0.3 -c 2 -e 1e-5", "-s 4 -t 1 -r 1 -d 2 -c 0.1 -e 1e-5"}) {
        exchange(housing, options, true);
    }
}

TEST_F(Dropin, PrecomputedKernelsInAnyOrder) {
    const std::string heart = data("heart/heart_scale");
    if (heart.empty()) GTEST_SKIP() << "heart_scale is not under MERCER_DATA";
    const Words lines = lines_of(run({"gram", "rbf(gamma=0.1)", heart, "--precomputed"}).out);
    ASSERT_EQ(lines.size(), 270U);
    // Some of the rows, mixed: their numbers say which they are.
    std::string some;
    for (std::size_t i = 0; i < 200; ++i) some += lines[(i * 37) % 270] + "\n";
    exchange(folder_.file("some", some), "-t 4 -e 1e-5", false);
    EXPECT_TRUE(has(call(ours("svm-train"), "-t 4 -v 5", {folder_.path("some")}).out,
                    "Cross Validation Accuracy = 8"));
    const Outcome plain = call(ours("svm-train"), "-t 4", {heart, folder_.path("m")});
    EXPECT_TRUE(has(plain.err, "Wrong input format: first column must be 0:sample_serial_number"));
}

TEST_F(Dropin, ProbabilitiesAgree) {
    const std::string heart = data("heart/heart_scale");
    if (heart.empty()) GTEST_SKIP() << "heart_scale is not under MERCER_DATA";
    for (const std::string& file : {heart, iris()}) {
        const std::string our_model = folder_.path("ours.model");
        const std::string their_model = folder_.path("theirs.model");
        ASSERT_EQ(call(ours("svm-train"), "-b 1", {file, our_model}).code, 0);
        ASSERT_EQ(call("/usr/bin/svm-train", "-b 1", {file, their_model}).code, 0);
        const auto accuracy = [&] { return std::stod(said_.substr(said_.find("= ") + 2)); };
        const Words a = lines_of(predictions(ours("svm-predict"), file, our_model, "-b 1"));
        const double our_accuracy = accuracy();
        // The sigmoids of one model give the same numbers in both programs.
        EXPECT_EQ(a, lines_of(predictions("/usr/bin/svm-predict", file, our_model, "-b 1")));
        const Words c = lines_of(predictions("/usr/bin/svm-predict", file, their_model, "-b 1"));
        EXPECT_EQ(c, lines_of(predictions(ours("svm-predict"), file, their_model, "-b 1")));
        // Sigmoids are fitted on folds drawn at random, so that the two models differ a little.
        EXPECT_NEAR(our_accuracy, accuracy(), 3.0);
        ASSERT_EQ(a.size(), c.size());
        EXPECT_EQ(a[0], c[0]);
        for (std::size_t i = 1; i < a.size(); ++i) {
            std::istringstream in(a[i]);
            double label = 0, sum = 0;
            in >> label;
            for (double p = 0; in >> p;) sum += p;
            EXPECT_NEAR(sum, 1, 1e-5);  // six digits are written
        }
        predictions(ours("svm-predict"), file, our_model);
        EXPECT_TRUE(
            has(said_, "Model supports probability estimates, but disabled in prediction."));
    }
}

TEST_F(Dropin, TheNoiseOfARegressionIsEstimated) {
    const std::string housing = data("boston_housing/housing_scale");
    if (housing.empty()) GTEST_SKIP() << "housing_scale is not under MERCER_DATA";
    const std::string model = folder_.path("m");
    const auto sigma = [](const std::string& text) {
        return std::stod(text.substr(text.find("sigma= ") + 7));
    };
    const Outcome mine = call(ours("svm-train"), "-s 3 -b 1", {housing, folder_.path("other")});
    const Outcome other = call("/usr/bin/svm-train", "-s 3 -b 1", {housing, model});
    EXPECT_NEAR(sigma(mine.out), sigma(other.out), 0.1 * sigma(other.out));
    for (const std::string& path : {model, folder_.path("other")}) {
        predictions(ours("svm-predict"), housing, path, "-b 1");
        const std::string first = said_;
        predictions("/usr/bin/svm-predict", housing, path, "-b 1");
        EXPECT_EQ(first, said_);
        EXPECT_TRUE(has(said_, "sigma="));
    }
}

TEST_F(Dropin, CrossValidationPrintsWhatToolsParse) {
    const std::string heart = data("heart/heart_scale");
    const std::string housing = data("boston_housing/housing_scale");
    if (heart.empty() || housing.empty()) GTEST_SKIP() << "no data under MERCER_DATA";
    const auto number = [](const std::string& text, const std::string& name) {
        const std::regex pattern(name + " = ([0-9.e+-]+)");
        std::smatch match;
        return std::regex_search(text, match, pattern) ? std::stod(match[1]) : std::nan("");
    };
    // Folds are drawn at random by both: on 270 rows an accuracy has a deviation of 2.3 %.
    const char* const accuracy = "Cross Validation Accuracy";
    EXPECT_NEAR(number(call(ours("svm-train"), "-v 5", {heart}).out, accuracy),
                number(call("/usr/bin/svm-train", "-q -v 5", {heart}).out, accuracy), 5);
    const std::string mine = call(ours("svm-train"), "-s 4 -v 5", {housing}).out;
    const std::string other = call("/usr/bin/svm-train", "-s 4 -q -v 5", {housing}).out;
    for (const char* name : {"Cross Validation Mean squared error",
                             "Cross Validation Squared correlation coefficient"}) {
        EXPECT_NEAR(number(mine, name), number(other, name), 0.25 * number(other, name));
    }
    EXPECT_EQ(lines_of(call(ours("svm-train"), "-q -v 5", {heart}).out).size(), 1U);
    EXPECT_EQ(call(ours("svm-train"), "-q", {heart, folder_.path("m")}).out, "");
    EXPECT_EQ(call(ours("svm-predict"), "-q", {heart, folder_.path("m"), folder_.path("o")}).out,
              "");
}

TEST_F(Dropin, ScalingIsEqualToTheByte) {
    std::vector<std::string> files{
        folder_.file("gaps", "1.5 1:2 3:4\n-1 2:5.1 4:0\n2 1:0.7\n+3 2:-1e-3 7:1e10\n"),
        folder_.file("zero", "1 0:3 1:2\n2 0:1 1:4\n")};
    for (const char* name :
         {"svmguide1/svmguide1", "australian/australian", "breast_cancer_wisconsin/breast-cancer",
          "boston_housing/housing_scale", "heart/heart_scale"}) {
        if (const std::string path = data(name); !path.empty()) files.push_back(path);
    }
    const std::string range = folder_.path("range");
    for (const std::string& file : files) {
        for (const char* options : {"", "-l 0", "-l 0 -u 5 -y -1 1", "-l -3.5 -u 0.7 -y 0.1 0.3"}) {
            SCOPED_TRACE(file + " " + options);
            const std::string save = std::string(options) + " -s " + range;
            const Outcome theirs = call("/usr/bin/svm-scale", save, {file});
            const std::string their_range = content_of(range);
            const Outcome mine = call(ours("svm-scale"), save, {file});
            EXPECT_EQ(mine.out, theirs.out);
            EXPECT_EQ(mine.err, theirs.err);
            EXPECT_EQ(content_of(range), their_range);
            for (const std::string& other : {file, files[0]}) {
                const Outcome again = call(ours("svm-scale"), "-r " + range, {other});
                const Outcome expected = call("/usr/bin/svm-scale", "-r " + range, {other});
                EXPECT_EQ(again.out, expected.out);
                EXPECT_EQ(again.err, expected.err);
            }
        }
    }
}

TEST_F(Dropin, MistakesAreAnsweredAsLibsvmDoes) {
    const std::string bad = folder_.file("bad", "1 1:2\n-1 1:a\n");
    const std::string good = folder_.file("good", "1 1:2\n-1 1:1\n1 1:3\n-1 1:0.5\n");
    const std::string model = folder_.path("good.model");
    ASSERT_EQ(call(ours("svm-train"), "-q", {good, model}).code, 0);
    const std::string out = folder_.path("o");
    const std::vector<Case> cases{{"svm-train", "", {bad}},
                                  {"svm-train", "", {folder_.path("absent")}},
                                  {"svm-train", "-c 0", {good}},
                                  {"svm-train", "-s 1 -n 2", {good}},
                                  {"svm-train", "-s 9", {good}},
                                  {"svm-train", "-t 7", {good}},
                                  {"svm-train", "-e 0", {good}},
                                  {"svm-train", "-s 3 -p -1", {good}},
                                  {"svm-predict", "", {bad, model, out}},
                                  {"svm-predict", "", {good, folder_.path("absent"), out}},
                                  {"svm-predict", "", {folder_.path("absent"), model, out}},
                                  {"svm-scale", "", {folder_.path("absent")}},
                                  {"svm-scale", "-l 1 -u 0", {good}},
                                  {"svm-scale", "-s a -r b", {good}}};
    for (const Case& c : cases) {
        const Outcome mine = call(ours(c.program), c.options, c.files);
        const Outcome theirs = call(std::string("/usr/bin/") + c.program, c.options, c.files);
        EXPECT_EQ(mine.code, 1) << c.program << c.options;
        EXPECT_EQ(theirs.code, 1) << c.program << c.options;
        EXPECT_EQ(lines_of(mine.err + "\n").front(), lines_of(theirs.err + "\n").front())
            << c.program << " " << c.options;
    }
    EXPECT_TRUE(has(call(ours("svm-train"), "", {bad}).err, "bad:2:6: "));
    const std::vector<Case> wrong{{"svm-train", "", {}},         {"svm-train", "-k 3", {good}},
                                  {"svm-train", "-v 1", {good}}, {"svm-train", "-c", {}},
                                  {"svm-predict", "", {good}},   {"svm-predict", "-x 1", {good}},
                                  {"svm-scale", "", {}},         {"svm-scale", "-x 1", {good}}};
    for (const Case& c : wrong) {
        const Outcome mine = call(ours(c.program), c.options, c.files);
        EXPECT_EQ(mine.code, 1) << c.program << c.options;
        EXPECT_TRUE(mine.out.starts_with(std::string("Usage: ") + c.program)) << mine.out;
    }
}

TEST(LibsvmNames, OneClassHasProbabilitiesByDensityMarks) {
    const Folder folder;
    std::string text;
    for (int i = 0; i < 60; ++i) {
        text += "1 1:" + std::to_string(std::sin(i * 1.3)) +
                " 2:" + std::to_string(i * 37 % 60 / 30.0) + "\n";
    }
    const std::string file = folder.file("data", text);
    const std::string model = folder.path("m");
    const std::string out = folder.path("o");
    ASSERT_EQ(run({"svm-train", "-q", "-s", "2", "-n", "0.3", "-b", "1", file, model}).code, 0);
    const std::string content = content_of(model);
    const std::size_t at = content.find("\nprob_density_marks ");
    ASSERT_NE(at, std::string::npos) << content.substr(0, 200);
    std::istringstream line(content.substr(at + 20, content.find('\n', at + 1) - at - 20));
    std::vector<double> marks;
    for (double mark = 0; line >> mark;) marks.push_back(mark);
    ASSERT_EQ(marks.size(), 10U);
    EXPECT_TRUE(std::ranges::is_sorted(marks));
    EXPECT_LT(marks[4], 0);
    EXPECT_GT(marks[5], 0);
    ASSERT_EQ(run({"svm-predict", "-q", "-b", "1", file, model, out}).code, 0);
    const Words lines = lines_of(content_of(out));
    ASSERT_EQ(lines.size(), 61U);
    EXPECT_EQ(lines[0], "label normal outlier");
    // The decision values, by the other program, tell which mark a row has passed.
    const Words decisions = lines_of(run({"predict", model, file, "--decision"}).out);
    std::size_t outside = 0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        double label = 0, inside = 0, rest = 0, f = 0;
        std::istringstream(lines[i]) >> label >> inside >> rest;
        std::istringstream(decisions[i].substr(decisions[i].find('\t'))) >> f;
        EXPECT_EQ(label, f > 0 ? 1 : -1);
        EXPECT_NEAR(inside + rest, 1, 1e-5);
        const auto passed = std::ranges::count_if(marks, [&](double m) { return m <= f; });
        EXPECT_NEAR(inside,
                    passed == 0    ? 0.001
                    : passed == 10 ? 0.999
                                   : 0.1 * double(passed),
                    1e-6);
        outside += label < 0 ? 1 : 0;
    }
    EXPECT_GT(outside, 5U);
    // Without marks there are none to be had; with too few rows there is a warning and a model.
    ASSERT_EQ(run({"svm-train", "-q", "-s", "2", file, model}).code, 0);
    EXPECT_EQ(run({"svm-predict", "-b", "1", file, model, out}).code, 1);
    const Outcome few = run({"svm-train", "-q", "-s", "2", "-b", "1",
                             folder.file("few", "1 1:1\n1 1:2\n1 1:3\n1 1:5\n"), model});
    EXPECT_EQ(few.code, 0) << few.err;
    EXPECT_TRUE(has(few.err, "too few to do a probability estimation")) << few.err;
}

TEST(LibsvmNames, TheProgramAnswersToThemToo) {
    const Folder folder;
    std::string text;
    for (int i = 0; i < 30; ++i) {
        text +=
            std::to_string(i % 2 * 2 - 1) + " 1:" + std::to_string(i % 7 + i % 2 * 4) + " 2:1\n";
    }
    const std::string file = folder.file("data", text);
    const std::string model = folder.path("m");
    EXPECT_EQ(run({"svm-train", "-q", file, model}).code, 0);
    EXPECT_EQ(run({"svm-predict", file, model, folder.path("o")}).code, 0);
    EXPECT_EQ(run({"predict", model, file}).out, content_of(folder.path("o")));
    EXPECT_TRUE(has(run({"show", model}).out, "rbf(gamma=0.5)"));
    EXPECT_EQ(run({"verify", model, file}).code, 1);
    EXPECT_EQ(run({"svm-train", folder.file("one", "1 1:2\n1 1:3\n"), model}).code, 1);
}

}  // namespace
}  // namespace mercer::test
