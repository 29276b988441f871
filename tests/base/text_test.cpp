#include "mercer/base/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "mercer/base/random.hpp"

namespace mercer {
namespace {

TEST(Text, NumbersReadBackAsTheSameDouble) {
    Random random(1);
    int checked = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t bits = random.bits();
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        if (!std::isfinite(value)) continue;
        const auto back = parse_number(format_number(value));
        ASSERT_TRUE(back.has_value()) << format_number(value);
        ASSERT_EQ(*back, value) << format_number(value);
        ++checked;
    }
    EXPECT_GT(checked, 15000);
}

TEST(Text, NumbersAreShort) {
    EXPECT_EQ(format_number(0.1), "0.1");
    EXPECT_EQ(format_number(1e-5), "1e-05");
    EXPECT_EQ(format_number(3), "3");
    EXPECT_EQ(format_number(-2.5), "-2.5");
}

TEST(Text, OnlyWholeFiniteDecimalsAreNumbers) {
    for (const char* good : {"1", "+1", "-1", ".5", "5.", "1e5", "1E+5", "-0", "+.5", "1e-999"}) {
        EXPECT_TRUE(parse_number(good).has_value()) << good;
    }
    for (const char* bad : {"", "+", "-", ".", "e5", "1e", "1 ", " 1", "1,5", "0x10", "inf", "nan",
                            "-inf", "infinity", "1e999", "-1e999", "++1", "+-1", "1a"}) {
        EXPECT_FALSE(parse_number(bad).has_value()) << bad;
    }
    EXPECT_EQ(parse_number("1e-999"), 0.0);
}

TEST(Text, QuotedIsPrintableAndShort) {
    EXPECT_EQ(quoted("abc"), "'abc'");
    EXPECT_EQ(quoted("a\nb\tc"), "'a\\nb\\tc'");
    EXPECT_EQ(quoted(std::string_view("\0\x7f", 2)), "'\\x00\\x7f'");
    EXPECT_EQ(quoted("\xff"), "'\\xff'");
    EXPECT_EQ(quoted("gr\xc3\xbc\xc3\x9f"), "'gr\xc3\xbc\xc3\x9f'");
    EXPECT_EQ(quoted(std::string(100, 'x'), 5), "'xxxxx...'");
}

TEST(Text, CaretStandsUnderTheByte) {
    EXPECT_EQ(caret_line("rbf(gama=1)", 4), "    rbf(gama=1)\n        ^");
    EXPECT_EQ(caret_line("", 0), "    \n    ^");
    EXPECT_EQ(caret_line("abc", 99), "    abc\n       ^");
    // A two-byte letter takes one column, and only the line with the mistake is shown.
    EXPECT_EQ(caret_line("\xc3\xbc+?", 3), "    \xc3\xbc+?\n      ^");
    EXPECT_EQ(caret_line("one\ntwo\nthree", 5), "    two\n     ^");
}

TEST(Text, CaretOfAVeryLongLineShowsAWindow) {
    std::string text(1 << 20, 'a');
    text[500000] = '!';
    const std::string shown = caret_line(text, 500000);
    EXPECT_LT(shown.size(), 300u);
    const std::size_t newline = shown.find('\n');
    const std::size_t caret = shown.find('^') - newline - 1;
    EXPECT_EQ(shown.at(caret), '!');
}

TEST(Text, NearestWordFindsSlipsOnly) {
    const std::vector<std::string> words = {"gamma", "sigma", "c", "width"};
    EXPECT_EQ(nearest_word("gama", words), "gamma");
    EXPECT_EQ(nearest_word("gmama", words), "gamma");
    EXPECT_EQ(nearest_word("Sigma", words), "sigma");
    EXPECT_EQ(nearest_word("widht", words), "width");
    EXPECT_FALSE(nearest_word("degree", words).has_value());
    EXPECT_FALSE(nearest_word("", words).has_value());
    EXPECT_FALSE(nearest_word(std::string(1 << 20, 'g'), words).has_value());
}

TEST(Text, NaturalOrderIsHowPeopleCount) {
    EXPECT_TRUE(natural_less("x2", "x10"));
    EXPECT_TRUE(natural_less("-1", "1"));
    EXPECT_TRUE(natural_less("9", "10"));
    EXPECT_TRUE(natural_less("a", "b"));
    EXPECT_TRUE(natural_less("a", "a1"));
    EXPECT_TRUE(natural_less("99999999999999999999998", "99999999999999999999999"));
    EXPECT_FALSE(natural_less("x10", "x2"));
    EXPECT_FALSE(natural_less("same", "same"));
}

TEST(Text, NaturalOrderIsAStrictWeakOrder) {
    Random random(2);
    const std::string alphabet = "019a-x.";
    std::vector<std::string> words;
    for (int i = 0; i < 60; ++i) {
        std::string word;
        for (std::size_t n = random.below(5); n > 0; --n) {
            word += alphabet[random.below(alphabet.size())];
        }
        words.push_back(word);
    }
    for (const auto& a : words) {
        for (const auto& b : words) {
            EXPECT_EQ(!natural_less(a, b) && !natural_less(b, a), a == b) << a << " " << b;
            for (const auto& c : words) {
                if (natural_less(a, b) && natural_less(b, c)) {
                    EXPECT_TRUE(natural_less(a, c)) << a << " " << b << " " << c;
                }
            }
        }
    }
}

}  // namespace
}  // namespace mercer
