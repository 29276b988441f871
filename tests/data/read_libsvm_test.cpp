#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <vector>

#include "data/support.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/scaling.hpp"
#include "mercer/data/summary.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;
using Values = std::vector<std::vector<double>>;

TEST(ReadLibsvm, RowsLabelsAndZeros) {
    const Dataset data = read_text("+1 1:0.5 3:2\n-1 2:-1e1\n0\n3.5 3:7 # 4:1\n");
    EXPECT_EQ(full(data.x), (Values{{0.5, 0, 2}, {0, -10, 0}, {0, 0, 0}, {0, 0, 7}}));
    EXPECT_EQ(data.y.values, (std::vector<double>{1, -1, 0, 3.5}));
    EXPECT_FALSE(data.y.are_text());
}

TEST(ReadLibsvm, WhatSvmlightAllowsBesides) {
    const Dataset data = read_text("# a comment\n\n  1 qid:3 1:1\t2:2 \r\n-1 qid:4 2:3 # x:y\n");
    EXPECT_EQ(full(data.x), (Values{{1, 2}, {0, 3}}));
    EXPECT_EQ(data.y.values, (std::vector<double>{1, -1}));
}

TEST(ReadLibsvm, NoNewlineAtTheEndAndByteOrderMark) {
    EXPECT_EQ(full(read_text("\xEF\xBB\xBF"
                             "1 1:2\n2 2:3")
                       .x),
              (Values{{2, 0}, {0, 3}}));
}

TEST(ReadLibsvm, LabelsMayBeAbsent) {
    const Dataset data = read_text("1:1 2:2\n2:3\n");
    EXPECT_TRUE(data.y.empty());
    EXPECT_EQ(full(data.x), (Values{{1, 2}, {0, 3}}));
    EXPECT_TRUE(read_text("1 1:1\n", "t", {.label = "none"}).y.empty());
}

TEST(ReadLibsvm, FilesThatCountFromZero) {
    const Dataset data = read_text("1 0:5 2:6\n", "t", {.first_index = 0});
    EXPECT_EQ(full(data.x), (Values{{5, 0, 6}}));
}

TEST(ReadLibsvm, WidthAndForm) {
    const std::string text = "1 1:1\n1 8:1\n";
    const Dataset sparse = read_text(text);
    EXPECT_TRUE(sparse.x.is_sparse());  // one entry in eight
    EXPECT_FALSE(sparse.x.is_double());
    const Dataset wide = read_text(text, "t", {.double_precision = true, .columns = 10});
    EXPECT_EQ(wide.columns(), 10U);
    EXPECT_TRUE(wide.x.is_double());
    EXPECT_FALSE(read_text(text, "t", {.form = RowForm::dense}).x.is_sparse());
    EXPECT_FALSE(read_text("1 1:1\n1 2:1\n").x.is_sparse());  // one in two
    EXPECT_TRUE(read_text("1 1:1\n1 2:1\n", "t", {.form = RowForm::sparse}).x.is_sparse());
    // Exactly a quarter stays sparse; a zero written out widens but does not count.
    EXPECT_TRUE(read_text("1 1:1 4:0\n").x.is_sparse());
    EXPECT_EQ(read_text("1 1:1 4:0\n").columns(), 4U);
    EXPECT_EQ(read_text("1 1:1 4:0\n").x.nonzeros(), 1U);
}

TEST(ReadLibsvm, TheHighestIndexCostsNoMemory) {
    const Dataset data = read_text("1 4294967295:1\n");
    EXPECT_EQ(data.columns(), 4294967295U);
    EXPECT_EQ(data.x.nonzeros(), 1U);
    for (const auto& work : std::vector<std::function<void()>>{
             [&] { summarize(data); },
             [&] { column_moments(data.x); },
             [&] { Scaling::fit(ScalingRule::parse("standard"), data.x); },
         }) {
        EXPECT_NE(message_of(work).find("4294967295 columns would take"), std::string::npos);
    }
    EXPECT_NE(message_of([] {
                  std::string text;
                  for (int i = 0; i < 10000; ++i) text += "1 4294967295:1\n";
                  read_text(text, "t", {.form = RowForm::dense});
              }).find("would take"),
              std::string::npos);
}

/// Decimal texts of many shapes, short and long, with and without exponent.
std::string random_decimal(Random& random) {
    std::string text = random.below(3) == 0 ? "-" : random.below(9) == 0 ? "+" : "";
    const std::size_t whole = random.below(12);
    const std::size_t fraction = whole == 0 ? 1 + random.below(12) : random.below(20);
    const auto digits = [&](std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) text += static_cast<char>('0' + random.below(10));
    };
    digits(whole);
    if (fraction > 0 || random.below(5) == 0) text += '.';
    digits(fraction);
    if (random.below(3) == 0) {
        text += random.below(2) == 0 ? "e" : "E-";
        text += std::to_string(random.below(25));
    }
    return text;
}

TEST(ReadLibsvm, NumbersAreRoundedCorrectly) {
    Random random(11);
    std::string text;
    std::vector<std::string> decimals;
    for (int i = 0; i < 20000; ++i) {
        decimals.push_back(random_decimal(random));
        text += decimals.back() + " 1:" + decimals.back() + " 2:1\n";
    }
    const Values single = full(read_text(text).x);
    const Dataset twice = read_text(text, "t", {.double_precision = true});
    const Values doubles = full(twice.x);
    for (std::size_t i = 0; i < decimals.size(); ++i) {
        // The C library's conversions round correctly.
        ASSERT_EQ(single[i][0], std::strtof(decimals[i].c_str(), nullptr)) << decimals[i];
        ASSERT_EQ(doubles[i][0], std::strtod(decimals[i].c_str(), nullptr)) << decimals[i];
        ASSERT_EQ(twice.y.values[i], std::strtod(decimals[i].c_str(), nullptr)) << decimals[i];
    }
}

TEST(ReadLibsvm, SmallNumbersBecomeZeroLargeOnesAreRefused) {
    EXPECT_EQ(full(read_text("1 1:1e-400 2:1\n").x)[0][0], 0);
    EXPECT_NE(message_of([] { read_text("1 1:1e399\n"); }).find("too large"), std::string::npos);
    EXPECT_EQ(full(read_text("1 1:1e39\n").x)[0][0], 1e39);
}

TEST(ReadLibsvm, IndicesOfEveryLength) {
    std::string text = "1";
    std::vector<std::size_t> expected;
    for (std::size_t index = 1; index < 4294967295; index = index * 3 + 1) {
        text += " " + std::to_string(index) + ":" + std::to_string(expected.size() + 1);
        expected.push_back(index - 1);
    }
    const Rows rows = read_text(text + "\n").x;
    const SparseView<float> view = rows.sparse_view<float>();
    ASSERT_EQ(view.nonzeros(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_EQ(view.index[k], expected[k]);
        EXPECT_EQ(view.value[k], static_cast<float>(k + 1));
    }
}

/// Several megabytes, so that many pieces are parsed side by side.
std::string long_text() {
    Random random(5);
    std::string text;
    while (text.size() < (std::size_t{3} << 20)) {
        text += std::to_string(random.below(3));
        for (std::size_t index = 1 + random.below(50); index < 400; index += 1 + random.below(90)) {
            text += " " + std::to_string(index) + ":" + std::to_string(random.uniform());
        }
        text += '\n';
    }
    return text;
}

TEST(ReadLibsvm, TheNumberOfThreadsChangesNothing) {
    const std::string text = long_text();
    set_threads(1);
    const Dataset one = read_text(text);
    set_threads(4);
    const Dataset four = read_text(text);
    set_threads(0);
    testing::expect_equal(one, four);
    EXPECT_EQ(one.size(), static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
}

TEST(ReadLibsvm, TheFirstOfManyMistakesIsReported) {
    std::string text = long_text();
    const std::size_t early = text.find('\n', 1000) + 1;
    const std::size_t late = text.find('\n', text.size() - 1000) + 1;
    text.insert(late, "oops 1:1\n");
    text.insert(early, "1 1:oops\n");
    const auto line = std::count(text.begin(), text.begin() + static_cast<long>(early), '\n') + 1;
    for (const std::size_t threads : {1U, 2U, 4U}) {
        set_threads(threads);
        EXPECT_EQ(message_of([&] { read_text(text, "t"); }),
                  "t:" + std::to_string(line) + ":5: found 'oops', expected a number");
    }
    set_threads(0);
}

/// As expect_equal, for sets too wide to be compared in full.
void expect_same_entries(const Dataset& a, const Dataset& b) {
    ASSERT_TRUE(a.x.is_sparse() && b.x.is_sparse());
    const SparseView<float> x = a.x.sparse_view<float>();
    const SparseView<float> z = b.x.sparse_view<float>();
    ASSERT_EQ(x.rows, z.rows);
    ASSERT_EQ(x.nonzeros(), z.nonzeros());
    EXPECT_EQ(x.columns, z.columns);
    EXPECT_TRUE(std::equal(x.starts, x.starts + x.rows + 1, z.starts));
    EXPECT_TRUE(std::equal(x.index, x.index + x.nonzeros(), z.index));
    EXPECT_TRUE(std::equal(x.value, x.value + x.nonzeros(), z.value));
    EXPECT_EQ(a.y.values, b.y.values);
}

/// Large files are fetched in stretches of half a megabyte: rows that cross, end at, or are longer
/// than a stretch must come out as they do from memory.
TEST(ReadLibsvm, LargeFilesGiveTheSameAsMemory) {
    const testing::Folder folder;
    constexpr std::size_t stretch = std::size_t{1} << 19;
    const std::string rows = long_text();
    std::string text;
    for (std::size_t begin = 0; begin < rows.size();) {
        const std::size_t end = rows.find('\n', begin) + 1;
        text += rows.substr(begin, end - begin);
        begin = end;
        const std::size_t left = stretch - text.size() % stretch;
        // At every other border a line ends exactly; at the others one crosses.
        if (left > 10 && left < 200 && text.size() / stretch % 2 == 0) {
            text += "3 1:1 #" + std::string(left - 8, '-') + "\n";
        }
    }
    std::string wide = "7";
    for (int index = 1; wide.size() < 1'700'000; ++index)
        wide += " " + std::to_string(index) + ":2";
    text += wide + "\n";
    for (const bool ended : {true, false}) {
        const std::string content = ended ? text : text + "5 2:0.5";
        ASSERT_GT(content.size(), std::size_t{1} << 22);
        const std::string path = folder.file("large", content);
        expect_same_entries(read(path), read_text(content, path));
    }
    const std::string mistaken = text + "1 5:1 4:1\n";
    const std::string path = folder.file("mistaken", mistaken);
    const std::string message = message_of([&] { read(path); });
    EXPECT_EQ(message, message_of([&] { read_text(mistaken, path); }));
    EXPECT_NE(message.find("found index 4 after 5"), std::string::npos);
    const std::string mixed = folder.file("mixed", text + "5:1\n");
    EXPECT_NE(message_of([&] { read(mixed); }).find("expected a label"), std::string::npos);
}

TEST(ReadLibsvm, ProgressIsToldAndMayStop) {
    std::vector<double> seen;
    const std::string text = long_text();
    read_text(text, "t", {.progress = [&](const Moment& moment) {
                  seen.push_back(moment.fraction);
                  return true;
              }});
    EXPECT_GE(seen.size(), 2U);
    EXPECT_EQ(seen.back(), 1);
    EXPECT_THROW(read_text(text, "t", {.progress = [](const Moment&) { return false; }}),
                 Cancelled);
}

}  // namespace
}  // namespace mercer
