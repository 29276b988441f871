#include "mercer/base/formula.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"

namespace mercer {
namespace {

double value(const char* text, const std::vector<double>& row) {
    return Formula::parse(text)(row);
}

std::string message_of(const std::string& text) {
    try {
        Formula::parse(text);
    } catch (const InvalidInput& problem) {
        return problem.what();
    }
    return "accepted";
}

TEST(Formula, FollowsTheRulesOfArithmetic) {
    const std::vector<double> row = {2, -3, 0.5};
    EXPECT_EQ(value("x0 + x1 * x2", row), 2 + -3 * 0.5);
    EXPECT_EQ(value("x0 - x1 - x2", row), 2 + 3 - 0.5);
    EXPECT_EQ(value("x0 / x1 / x2", row), 2 / -3.0 / 0.5);
    EXPECT_EQ(value("-x0^2", row), -4);
    EXPECT_EQ(value("(-x0)^2", row), 4);
    EXPECT_EQ(value("x0^-1", row), 0.5);
    EXPECT_EQ(value("x0^3^2", row), 512);
    EXPECT_EQ(value("2*-x1", row), 6);
    EXPECT_EQ(value("|x1|/x[0]", row), 1.5);
    EXPECT_EQ(value("|x0*|x1||", row), 6);
    EXPECT_EQ(value("min(x0, x1) + max(x0, x2)", row), -1);
    EXPECT_EQ(value("sign(x1) + floor(x2) + sqrt(4)", row), 1);
    EXPECT_DOUBLE_EQ(value("norm^2", row), 4 + 9 + 0.25);
    EXPECT_EQ(value("sin(pi/2)", row), std::sin(std::numbers::pi / 2));
    EXPECT_EQ(value("exp(1) - e", row), std::exp(1.0) - std::numbers::e);
    EXPECT_EQ(value("log(x0) + cos(x1) + tan(x2) + tanh(x2)", row),
              std::log(2) + std::cos(-3.0) + std::tan(0.5) + std::tanh(0.5));
}

TEST(Formula, NamesAreBoundToPositions) {
    const std::vector<std::string> names = {"age", "sepal length", "e"};
    const Formula f = Formula::parse("age + 10*\"sepal length\" + 100*\"e\"");
    EXPECT_TRUE(f.has_names());
    EXPECT_THROW(f(std::vector<double>{1, 2, 3}), InvalidInput);
    const Formula bound = f.bind(names);
    EXPECT_FALSE(bound.has_names());
    EXPECT_EQ(bound.columns_needed(), 3u);
    EXPECT_EQ(bound(std::vector<double>{1, 2, 3}), 321);
    EXPECT_EQ(Formula::parse(f.text()), f);
    EXPECT_THROW(Formula::parse("agee").bind(names), InvalidInput);
    EXPECT_THROW(Formula::parse("a").bind(std::vector<std::string>{"a", "a"}), InvalidInput);
}

TEST(Formula, ColumnsBeyondTheRowAreAnError) {
    const Formula f = Formula::parse("x3 + x[7]");
    EXPECT_EQ(f.columns_needed(), 8u);
    EXPECT_THROW(f(std::vector<double>(7)), InvalidInput);
    EXPECT_NO_THROW(f(std::vector<double>(8)));
}

/// A random formula with every construct, as text with many parentheses.
std::string random_formula(Random& random, int depth) {
    if (depth == 0) {
        const char* atoms[] = {"x0", "x1", "2", "0.5", "age", "\"a b\"", "norm", "pi", "1e-3"};
        return atoms[random.below(9)];
    }
    // Named, because the order in which a compiler works out both sides of + is its own.
    const std::string a = random_formula(random, depth - 1);
    const std::string b = random_formula(random, depth - 1);
    switch (random.below(9)) {
        case 0: return "(" + a + ") + (" + b + ")";
        case 1: return "(" + a + ") - (" + b + ")";
        case 2: return "(" + a + ")*(" + b + ")";
        case 3: return "(" + a + ")/(" + b + ")";
        case 4: return "-(" + a + ")";
        case 5: return "(" + a + ")^(" + b + ")";
        case 6: return "sin(" + a + ")";
        case 7: return "max(" + a + ", " + b + ")";
        default: return "|" + a + "|";
    }
}

TEST(Formula, AColumnNamedXNeedsNoQuotes) {
    const std::vector<std::string> names = {"y", "x"};
    const std::vector<double> row = {3, 5};
    for (const char* text : {"2*x + x[0]", "2*\"x\" + x0", "x + x + y"}) {
        const Formula f = Formula::parse(text);
        EXPECT_EQ(f.bind(names)(row), 13) << text;
        EXPECT_EQ(Formula::parse(f.text()).text(), f.text()) << text;
    }
    const std::vector<std::string> others = {"age", "weight"};
    try {
        Formula::parse("x").bind(others);
        FAIL() << "there is no column x";
    } catch (const InvalidInput& error) {
        EXPECT_NE(std::string(error.what()).find("x0, x1"), std::string::npos) << error.what();
    }
}

TEST(Formula, PrintsBackToTheSameFunction) {
    Random random(3);
    const std::vector<std::string> names = {"x", "age", "a b"};
    for (int i = 0; i < 2000; ++i) {
        const std::string text = random_formula(random, 4);
        const Formula f = Formula::parse(text);
        const Formula again = Formula::parse(f.text());
        ASSERT_EQ(again.text(), f.text()) << text;
        const std::vector<double> row = {random.normal(), random.normal(), random.normal()};
        const double a = f.bind(names)(row);
        const double b = again.bind(names)(row);
        ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << text << " -> " << f.text();
    }
}

TEST(Formula, PrintsNoNeedlessParentheses) {
    for (const char* text :
         {"x0 + x1 - x2", "x0 - (x1 - x2)", "x0*x1/x2", "x0/(x1*x2)", "-x0^2", "(-x0)^2", "x0^-2",
          "x0^x1^2", "(x0^x1)^2", "2*(x0 + 1)", "abs(x0)", "-(x0 + x1)", "min(x0, x1 + 1)"}) {
        EXPECT_EQ(Formula::parse(text).text(), text);
    }
}

TEST(Formula, MistakesShowTheTextWithACaret) {
    const std::pair<const char*, const char*> cases[] = {
        {"x0 +",
         "formula:1:5: expected a number, a column such as x0, a name or '(', found the end\n"
         "    x0 +\n"
         "        ^"},
        {"2 x0",
         "formula:1:3: expected an operator or the end, found 'x0'\n"
         "    2 x0\n"
         "      ^"},
        {"(x0",
         "formula:1:4: expected ')' to close the parenthesis, found the end\n"
         "    (x0\n"
         "       ^"},
        {"foo(x0)",
         "formula:1:1: there is no function 'foo'; there are exp log sqrt abs sin cos tan tanh "
         "sign floor min max\n"
         "    foo(x0)\n"
         "    ^"},
        {"min(x0)",
         "formula:1:7: expected ',' because min takes two arguments, found ')'\n"
         "    min(x0)\n"
         "          ^"},
        {"x0**2",
         "formula:1:3: write powers with ^, not **\n"
         "    x0**2\n"
         "      ^"},
        {"\"abc",
         "formula:1:1: this quote is never closed\n"
         "    \"abc\n"
         "    ^"},
        {"x[-1]",
         "formula:1:3: expected a column number, found '-'\n"
         "    x[-1]\n"
         "      ^"},
    };
    for (const auto& [text, message] : cases) EXPECT_EQ(message_of(text), message);
}

TEST(Formula, HostileTextsEndInAnError) {
    EXPECT_NE(message_of(std::string(100000, '(')).find("nested"), std::string::npos);
    EXPECT_NE(message_of(std::string(100000, '-') + "x0").find("nested"), std::string::npos);
    EXPECT_NE(message_of(std::string(100000, '|')).find("nested"), std::string::npos);
    EXPECT_NE(message_of(std::string(2 << 20, 'x')).find("bytes long"), std::string::npos);
    EXPECT_NE(message_of("x99999999999999999999").find("too large"), std::string::npos);
    EXPECT_NE(message_of("x[99999999999999999999]").find("too large"), std::string::npos);
    EXPECT_NE(message_of("1e999").find("1.8e308"), std::string::npos);
    EXPECT_NE(message_of(std::string("x0\0", 3)).find("expected"), std::string::npos);
    EXPECT_NE(message_of("").find("expected"), std::string::npos);
    std::string power = "x0";
    for (int i = 0; i < 10000; ++i) power += "^x0";
    EXPECT_NE(message_of(power).find("nested"), std::string::npos);
}

TEST(Formula, LongChainsAreNotDeep) {
    std::string text = "x0";
    for (int i = 0; i < 100000; ++i) text += "+x0";
    const Formula f = Formula::parse(text);
    EXPECT_EQ(f(std::vector<double>{1.0}), 100001);
    EXPECT_EQ(Formula::parse(f.text()).text(), f.text());
}

}  // namespace
}  // namespace mercer
