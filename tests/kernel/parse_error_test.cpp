// Malformed kernel texts, one a mistake, each with its exact message.
#include <gtest/gtest.h>

#include "kernel/support.hpp"
#include "mercer/kernel/definiteness.hpp"

namespace mercer {
namespace {

using test::complaint;

struct Mistake {
    const char* text;
    std::size_t column;  ///< of the caret, from 1
    const char* message;
};

class KernelMistake : public testing::TestWithParam<Mistake> {};

TEST_P(KernelMistake, IsToldWithTheTextAndACaret) {
    const Mistake& m = GetParam();
    const std::string expected = "kernel:1:" + std::to_string(m.column) + ": " + m.message +
                                 "\n    " + m.text + "\n    " + std::string(m.column - 1, ' ') +
                                 "^";
    EXPECT_EQ(complaint([&] { Kernel::parse(m.text); }), expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, KernelMistake,
    testing::Values(
        Mistake{"", 1, "expected a kernel such as rbf(gamma=0.5), found the end"},
        Mistake{"rbf(gama=1)", 5, "rbf has no parameter 'gama'; did you mean gamma?"},
        Mistake{"rbf(degree=2)", 5, "rbf has no parameter 'degree'; it has gamma, sigma, c, width"},
        Mistake{"linear(gamma=1)", 8, "linear has no parameter 'gamma'; it has no parameters"},
        Mistake{"linear(1)", 8, "linear takes no parameters"},
        Mistake{"ball(1, 2)", 9, "ball takes no more parameters than radius"},
        Mistake{"rfb", 1, "unknown kernel 'rfb'; did you mean rbf?"},
        Mistake{"linear + gausian(1)", 10, "unknown kernel 'gausian'; did you mean gaussian?"},
        Mistake{"rbf(gamma=1", 12, "expected ')' to close rbf(, found the end"},
        Mistake{"rbf(gamma=)", 11, "expected a number, scale or auto for gamma of rbf, found ')'"},
        Mistake{"rbf(gamma=linear)", 11,
                "expected a number, scale or auto for gamma of rbf, found 'linear'"},
        Mistake{"rbf(sigma=auto)", 11, "sigma of rbf cannot be auto; give a number > 0"},
        Mistake{"rbf(gamma=1, sigma=2)", 14, "gamma and sigma both set gamma; give one of them"},
        Mistake{"rbf(gamma=1, gamma=2)", 14, "gamma is given twice"},
        Mistake{"matern12(nu=1.5)", 10, "nu is given twice"},
        Mistake{"rbf(gamma=-1)", 11, "gamma of rbf must be a number >= 0, found -1"},
        Mistake{"rbf(sigma=0)", 11, "sigma of rbf must be a number > 0, found 0"},
        Mistake{"rbf(sigma=1e-200)", 11,
                "sigma of rbf = 1e-200 makes gamma infinite; give one nearer to 1"},
        Mistake{"poly(2.5)", 6,
                "degree of polynomial must be a whole number from 0 to 1000, found 2.5"},
        Mistake{"poly(1e9)", 6,
                "degree of polynomial must be a whole number from 0 to 1000, found 1e+09"},
        Mistake{"matern(2)", 8, "nu of matern must be 0.5, 1.5 or 2.5, found 2"},
        Mistake{"ball", 1, "ball needs radius, as in ball(radius=1)"},
        Mistake{"constant", 1, "constant needs value, as in constant(value=1)"},
        Mistake{"1e999*linear", 1, "expected a number of at most 1.8e308, found '1e999'"},
        Mistake{"1e308*1e308*linear", 7, "a constant kernel must be a finite number, found inf"},
        Mistake{"1e308*linear*1e308", 1,
                "the factor of a product must be a finite number, found inf"},
        Mistake{"linear +", 9, "expected a kernel or a number, found the end"},
        Mistake{"* linear", 1, "expected a kernel or a number, found '*'"},
        Mistake{"(linear", 8, "expected ')' to close the parenthesis, found the end"},
        Mistake{"linear)", 7, "expected one of + - * / ^ [ or the end, found ')'"},
        Mistake{"0.3 rbf", 5, "expected one of + - * / ^ [ or the end, found 'rbf'"},
        Mistake{"linear**2", 7, "write powers with ^, not **"},
        Mistake{"linear^rbf", 8, "expected a number as the exponent, found 'rbf'"},
        Mistake{"linear^(rbf)", 8, "an exponent must be a number, not a kernel"},
        Mistake{"linear^2^3", 9, "two powers in a row; write (k^2)^3 or k^6"},
        Mistake{"linear^2[0:3]", 9, "a subset goes before the power: k[0:3]^2 or (k^2)[0:3]"},
        Mistake{"linear/rbf", 8, "a kernel can be divided by a number only; write k^-1 for 1/k"},
        Mistake{"linear/0", 8, "division by zero"},
        Mistake{"(0-1)^0.5", 1, "a constant kernel must be a finite number, found nan"},
        Mistake{"linear[]", 8, "expected a column number, a range 0:10 or a name, found ']'"},
        Mistake{"linear[0:10", 12, "expected ']' to close the columns, found the end"},
        Mistake{"linear[5:5]", 8, "this range is empty; the end is one past the last column"},
        Mistake{"linear[-1]", 8, "columns count from 0; there is no column before it"},
        Mistake{"linear[1.5]", 9, "expected ']' to close the columns, found '.5'"},
        Mistake{"linear[99999999999999999999]", 8,
                "this number is too large for a column number, a range 0:10 or a name"},
        Mistake{"linear[\"age]", 8, "this quote is never closed"},
        Mistake{"linear[\"\"]", 8, "a name in quotes must not be empty"},
        Mistake{"exp", 4, "expected '(' because exp takes a kernel, found the end"},
        Mistake{"exp()", 5, "expected a kernel or a number, found ')'"},
        Mistake{"exp(linear, rbf)", 11, "expected ')' to close exp(, found ','"},
        Mistake{"rbf_of(linear, gamma=scale)", 22,
                "gamma of rbf_of cannot be scale; give a number >= 0"},
        Mistake{"map(linear)", 1, "map needs at least one formula, found none"},
        Mistake{"map(linear, x0 +)", 17,
                "expected a number, a column such as x0, a name or '(', found ')'"},
        Mistake{"sets(linear)", 1,
                "sets needs a width: sets(k, width=3), or for texts split=lines"},
        Mistake{"sets(linear, width=0)", 20,
                "width of sets must be a whole number from 1 to 1e+09, found 0"},
        Mistake{"sets(linear, 2, counted=maybe)", 25,
                "expected false or true for counted of sets, found 'maybe'"},
        Mistake{"sets(center(linear), 2)", 1,
                "center inside sets has no sample of single vectors; write center(sets(...)), "
                "which centres the sets"},
        Mistake{"outer(foo(x0))", 7,
                "there is no function 'foo'; there are exp log sqrt abs sin cos tan tanh sign "
                "floor min max"},
        Mistake{"bilinear([[1,2],[3,1]])", 1,
                "the matrix of bilinear must be symmetric, found 2 in row 0, column 1 and 3 "
                "opposite; use (A + A')/2"},
        Mistake{"bilinear([[1,2],[2]])", 17, "this row has 1 entries, the first has 2"},
        Mistake{"bilinear([[1,a],[2,1]])", 14, "expected a number in the matrix, found 'a'"},
        Mistake{"user(nobody)", 6,
                "no function is registered under 'nobody'; the program that knows it must "
                "register it first"},
        Mistake{"user(2)", 6, "expected the name of a function, found '2'"},
        Mistake{"rbf & linear", 5, "expected one of + - * / ^ [ or the end, found '&'"}));

TEST(KernelMistakes, AnUnknownNameListsTheKernels) {
    const std::string message = complaint([] { Kernel::parse("nothing_like_it"); });
    for (const char* name : {"rbf", "polynomial", "expdot", "normalize", "sets"}) {
        EXPECT_NE(message.find(name), std::string::npos) << message;
    }
    EXPECT_EQ(message.find("power_of"), std::string::npos) << message;
}

TEST(KernelMistakes, LinesAreCounted) {
    EXPECT_EQ(complaint([] { Kernel::parse("rbf +\n  rfb"); }),
              "kernel:2:3: unknown kernel 'rfb'; did you mean rbf?\n      rfb\n      ^");
}

TEST(KernelMistakes, HostileTextsEndInAnErrorQuickly) {
    const auto told = [](const std::string& text, const char* part) {
        const std::string message = complaint([&] { Kernel::parse(text); });
        EXPECT_NE(message.find(part), std::string::npos) << message.substr(0, 300);
        EXPECT_LT(message.size(), 2000u);
    };
    const auto repeated = [](const char* piece, int times) {
        std::string result;
        for (int i = 0; i < times; ++i) result += piece;
        return result;
    };
    told(std::string(1 << 19, '('), "nested");
    told(repeated("exp(", 100000), "nested");
    told(repeated("map(", 100000), "nested");
    told(repeated("sets(rbf_of(", 50000), "nested");
    told("outer(" + repeated("(", 100000), "nested");
    told(std::string(2 << 20, 'a'), "bytes long");
    told("1" + repeated("*rq", 90000), "printed in full");
    told("linear" + repeated("+rbf", 150000), "100000 parts");
    told(std::string("rbf\0", 4), "found '\\x00'");
    told("\xff\xfe", "unknown kernel");
    told("linear[\"" + std::string(1 << 19, 'x'), "never closed");
    told(repeated("(", 150) + "linear" + repeated(")^2)[0]", 150), "expected");
    told(repeated("-((", 90) + "linear" + repeated(")^2)[0]", 90), "at most 250 levels");
}

TEST(KernelMistakes, LongChainsAreFine) {
    std::string text = "linear";
    for (int i = 0; i < 40000; ++i) text += i % 2 == 0 ? "+rbf" : "-2*rbf";
    const Kernel k = Kernel::parse(text);
    EXPECT_EQ(Kernel::parse(k.text()), k);
    EXPECT_EQ(definiteness(k).definite, Definite::unknown);
    std::string signs = std::string(100000, '-') + "linear";
    EXPECT_EQ(Kernel::parse(signs).text(), "linear");
}

TEST(KernelMistakes, RandomBytesNeverDoWorse) {
    Random random(33);
    const std::string pieces[] = {"rbf",   "linear", "(", ")",     "[",    "]",      "+",
                                  "-",     "*",      "/", "^",     ",",    "=",      "gamma",
                                  "1",     ".5",     ":", "x0",    "map(", "outer(", "\"a\"",
                                  "sets(", "exp(",   "2", "scale", "|"};
    int accepted = 0;
    for (int i = 0; i < 30000; ++i) {
        std::string text;
        for (std::size_t n = random.below(9); n > 0; --n) {
            text += random.below(30) == 0 ? std::string(1, static_cast<char>(random.below(256)))
                                          : pieces[random.below(std::size(pieces))];
        }
        std::optional<Kernel> k;
        try {
            k = Kernel::parse(text);
        } catch (const InvalidInput&) {
            continue;
        }
        ++accepted;
        ASSERT_EQ(Kernel::parse(k->text()), *k) << text;
    }
    EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace mercer
