// Each scaling does what its name says on the rows it was fitted on, repeats itself on others, and
// survives being written down.
#include "mercer/data/scaling.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <new>

#include "data/support.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

using testing::message_of;

std::vector<double> row(const Rows& rows, std::size_t i) {
    std::vector<double> result(rows.columns());
    rows.copy_row(i, result);
    return result;
}

std::vector<double> column(const Rows& rows, std::size_t j) {
    std::vector<double> result;
    for (std::size_t i = 0; i < rows.size(); ++i) result.push_back(row(rows, i)[j]);
    return result;
}

Scaling fitted(const char* rule, const Rows& rows) {
    return Scaling::fit(ScalingRule::parse(rule), rows);
}

/// Rows with many zeros, columns of very different widths, the last one constant.
Rows mixed_rows(std::size_t n) {
    Random random(5);
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < 5; ++j) {
            const double size = std::pow(10.0, static_cast<double>(j) - 1);
            values.push_back(random.uniform() < 0.5 ? 0 : size * (random.normal() + 2));
        }
        values.push_back(0.1);
    }
    return Rows::dense(std::move(values), 6);
}

TEST(Scaling, StandardGivesMeanZeroAndDeviationOne) {
    const Rows rows = mixed_rows(5000);
    const Rows scaled = fitted("standard", rows).apply(rows);
    for (std::size_t j = 0; j < 5; ++j) {
        double sum = 0;
        double squares = 0;
        for (const double value : column(scaled, j)) {
            sum += value;
            squares += value * value;
        }
        EXPECT_NEAR(sum / 5000, 0, 1e-12);
        EXPECT_NEAR(squares / 5000, 1, 1e-12);
    }
    for (const double value : column(scaled, 5)) EXPECT_EQ(value, 0) << "constant column";
}

TEST(Scaling, MinmaxReachesBothEndsExactlyAndNeverLeavesTheRange) {
    const Rows rows = mixed_rows(3000);
    for (const auto& [low, high] : {std::pair(0.0, 1.0), {-1.0, 1.0}, {2.5, 7.0}}) {
        ScalingRule rule{.kind = ScalingRule::Kind::minmax, .low = low, .high = high};
        const Rows scaled = Scaling::fit(rule, rows).apply(rows);
        for (std::size_t j = 0; j < 5; ++j) {
            const auto values = column(scaled, j);
            EXPECT_EQ(*std::min_element(values.begin(), values.end()), low);
            EXPECT_EQ(*std::max_element(values.begin(), values.end()), high);
        }
        for (const double value : column(scaled, 5)) {
            EXPECT_EQ(value, low <= 0 && high >= 0 ? 0 : low) << "constant column";
        }
    }
}

TEST(Scaling, UnitGivesEveryRowLengthOneAndLeavesZeroRows) {
    const double huge = 1e300;  // its square overflows
    const Rows rows = Rows::dense(std::vector<double>{3, 4, 0, 0, huge, huge, -1e-300, 0}, 2);
    const Rows scaled = fitted("unit", rows).apply(rows);
    for (const std::size_t i : {0UL, 2UL, 3UL}) {
        EXPECT_NEAR(std::hypot(row(scaled, i)[0], row(scaled, i)[1]), 1, 1e-15);
    }
    EXPECT_EQ(row(scaled, 1), (std::vector<double>{0, 0}));
    EXPECT_NEAR(row(scaled, 0)[0], 0.6, 1e-15);
}

TEST(Scaling, FactorMultipliesAndNoneKeeps) {
    const Rows rows = mixed_rows(20);
    const Rows scaled = fitted("1/255", rows).apply(rows);
    const Rows same = fitted("none", rows).apply(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rows.columns(); ++j) {
            EXPECT_DOUBLE_EQ(row(scaled, i)[j] * 255, row(rows, i)[j]);
        }
        EXPECT_EQ(row(same, i), row(rows, i));
    }
}

TEST(Scaling, SparseAndDenseAgreeInBothPrecisions) {
    const Rows dense = mixed_rows(2500);
    for (const char* rule : {"standard", "minmax", "minmax(-1,1)", "unit", "3", "none"}) {
        for (const bool is_double : {true, false}) {
            const Rows a = is_double ? dense : dense.to_float();
            const Rows b = a.to_sparse();
            const Scaling scaling = fitted(rule, a);
            const Rows scaled_a = scaling.apply(a);
            const Rows scaled_b = fitted(rule, b).apply(b);
            EXPECT_EQ(scaled_a.is_double(), is_double);
            EXPECT_EQ(scaled_b.is_sparse(), scaling.keeps_zeros()) << rule;
            for (std::size_t i = 0; i < a.size(); ++i) {
                for (std::size_t j = 0; j < a.columns(); ++j) {
                    EXPECT_NEAR(row(scaled_a, i)[j], row(scaled_b, i)[j], is_double ? 1e-12 : 1e-5)
                        << rule;
                }
            }
        }
    }
}

TEST(Scaling, NonNegativeSparseRowsStaySparseUnderMinmax) {
    const Rows rows =
        Rows::sparse({0, 2, 3, 3}, {0, 2, 2}, std::vector<float>{2, 5, 1}, std::size_t{4});
    const Rows scaled = fitted("minmax", rows).apply(rows);
    EXPECT_TRUE(scaled.is_sparse());
    EXPECT_EQ(row(scaled, 0), (std::vector<double>{1, 0, 1, 0}));
    EXPECT_FALSE(fitted("minmax(-1,1)", rows).apply(rows).is_sparse());
}

TEST(Scaling, LaterRowsGetTheFirstMap) {
    const Rows train = Rows::dense(std::vector<double>{0, 10, 2, 10, 4, 10}, 2);
    const Scaling scaling = fitted("minmax", train);
    const Rows test = scaling.apply(Rows::dense(std::vector<double>{8, 99}, 2));
    EXPECT_EQ(row(test, 0), (std::vector<double>{2, 0})) << "outside the range, constant column";
    const Rows one = Rows::dense(std::vector<double>{2}, 1);
    EXPECT_EQ(row(scaling.apply(one.to_sparse()), 0), (std::vector<double>{0.5, 0}))
        << "columns that sparse rows lack are zeros";
    const std::string absent = message_of([&] { scaling.apply(one); });
    EXPECT_NE(absent.find("1 columns"), std::string::npos) << absent;
    const std::string message = message_of([&] {
        scaling.apply(Rows::dense(std::vector<double>{1, 2, 3}, 3));
    });
    EXPECT_NE(message.find("3 columns"), std::string::npos) << message;
}

TEST(Scaling, TheNumberOfThreadsChangesNoBit) {
    const Rows rows = mixed_rows(20000);
    set_threads(1);
    const Scaling one = fitted("standard", rows);
    set_threads(3);
    const Scaling three = fitted("standard", rows);
    set_threads(0);
    EXPECT_EQ(one, three);
}

TEST(Scaling, RulesReadBackFromTheirText) {
    for (const char* text : {"none", "standard", "minmax", "minmax(-1,1)", "minmax(0.5,2e3)",
                             "unit", "1/255", "0.25", "-3"}) {
        const ScalingRule rule = ScalingRule::parse(text);
        EXPECT_EQ(ScalingRule::parse(rule.text()), rule) << text;
    }
    EXPECT_EQ(ScalingRule::parse(" minmax( -1 , 1 ) "), ScalingRule::parse("minmax(-1,1)"));
}

TEST(Scaling, BadRulesAreNamed) {
    for (const char* text : {"", "standart", "minmax(1,1)", "minmax(2,1)", "minmax(1)",
                             "minmax(a,b)", "0", "1/0", "1/x", "nan", "inf", "minmax(-1e308,1e308)",
                             "1e308/1e-308", "0x10", "minmax(1,2", "1/2/3"}) {
        EXPECT_NE(message_of([&] { ScalingRule::parse(text); }).find("scaling"), std::string::npos)
            << text;
    }
}

TEST(Scaling, JsonReadsBackExactly) {
    const Dataset iris = embedded("iris");
    for (const char* rule : {"none", "standard", "minmax(-1,1)", "unit", "1/255"}) {
        const Scaling scaling = fitted(rule, iris.x);
        EXPECT_EQ(Scaling::from_json(scaling.json()), scaling) << rule;
    }
}

TEST(Scaling, HostileJsonIsRefused) {
    const std::string head = R"({"format":"mercer scaling","version":1,"kind":)";
    const std::vector<std::string> bad{
        "",
        "{",
        "[]",
        "null",
        "7",
        "\xff\xfe",
        R"({"format":"other","version":1,"kind":"none"})",
        R"({"format":"mercer scaling","version":2,"kind":"none"})",
        R"({"format":"mercer scaling","version":1})",
        head + R"("cubic"})",
        head + "3}",
        head + R"("standard"})",
        head + R"("standard","center":[1],"spread":[1,2]})",
        head + R"("standard","center":[],"spread":[]})",
        head + R"("standard","center":[1],"spread":[-1]})",
        head + R"("standard","center":["1"],"spread":[1]})",
        head + R"("standard","center":[null],"spread":[1]})",
        head + R"("standard","center":[1e999],"spread":[1]})",
        head + R"("minmax","low":1,"high":0,"center":[1],"spread":[1]})",
        head + R"("minmax","center":[1],"spread":[1]})",
        head + R"("factor","factor":0})",
        head + R"("factor","factor":"2"})",
        std::string(100000, '[')};
    for (const std::string& text : bad) {
        const std::string message = message_of([&] { Scaling::from_json(text, "here.json"); });
        EXPECT_NE(message.find("here.json"), std::string::npos)
            << message << "\nfor " << text.substr(0, 80);
    }
}

TEST(Scaling, RowsThatCannotBeScaledAreRefused) {
    const auto refused = [](const std::string& word, const char* rule, const Rows& rows) {
        const std::string message = message_of([&] { fitted(rule, rows); });
        EXPECT_NE(message.find(word), std::string::npos) << message;
    };
    refused("at least one row", "standard", Rows());
    refused("too wide", "minmax", Rows::dense(std::vector<double>{-1.7e308, 1.7e308}, 1));
    refused("too wide", "standard", Rows::dense(std::vector<double>{-1.7e308, 1.7e308}, 1));
}

TEST(Scaling, FillingAHugeSparseSetIsRefusedBeforeAnythingIsAllocated) {
    // Dense, these 40000 rows of 2^18 columns would take 42 GB.
    const std::size_t columns = std::size_t{1} << 18;
    std::vector<std::size_t> starts(40001, 0);
    for (std::size_t i = 1; i < starts.size(); ++i) starts[i] = 1;
    const Rows rows = Rows::sparse(starts, {3}, std::vector<float>{1}, columns);
    const Scaling scaling = fitted("standard", rows);
    const std::string message = message_of([&] { scaling.apply(rows); });
    EXPECT_NE(message.find("4 GiB"), std::string::npos) << message;
}

TEST(Scaling, UndoLeadsBack) {
    const Rows rows = Rows::dense(std::vector<double>{1, -2, 7, 3, 5, 7, -4, 0.5, 7}, 3);
    for (const char* rule : {"none", "standard", "minmax", "minmax(-1,3)", "1/255"}) {
        const Scaling scaling = Scaling::fit(ScalingRule::parse(rule), rows);
        const Rows back = scaling.undo(scaling.apply(rows));
        for (std::size_t i = 0; i < 3; ++i) {
            std::vector<double> row(3);
            std::vector<double> again(3);
            rows.copy_row(i, row);
            back.copy_row(i, again);
            for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(again[j], row[j], 1e-12) << rule;
        }
    }
    EXPECT_THROW(Scaling::fit(ScalingRule::parse("unit"), rows).undo(rows), InvalidInput);
    const Scaling standard = Scaling::fit(ScalingRule::parse("standard"), rows);
    EXPECT_THROW(standard.undo(Rows::dense(std::vector<double>{1, 2}, 2)), InvalidInput);
}

TEST(Scaling, AMillionColumnsAreNotHeldOnceForEachPieceOfTheRows) {
    constexpr std::size_t columns = 1'000'000, rows = 17'000;  // 16 pieces
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> index;
    for (std::size_t i = 0; i < rows; ++i) {
        index.push_back(static_cast<std::uint32_t>(i * 50 % columns));
        starts.push_back(index.size());
    }
    const Rows wide = Rows::sparse(starts, index, std::vector<float>(rows, 2), columns);
    const Scaling scaling = fitted("standard", wide);
    EXPECT_DOUBLE_EQ(scaling.center()[50], 2.0 / rows);
    EXPECT_EQ(scaling.center()[51], 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // Sanitizers take more addresses than any limit leaves.
    const auto fit_in_little = [&] {
        const ThreadLimit one(1);
        long pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const rlim_t most = static_cast<rlim_t>(pages) * 4096 + (std::size_t{300} << 20);
        const rlimit limit{most, most};
        setrlimit(RLIMIT_AS, &limit);
        try {
            std::_Exit(fitted("standard", wide).center().size() == columns ? 0 : 1);
        } catch (const std::bad_alloc&) {
            std::_Exit(2);
        }
    };
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(fit_in_little(), ::testing::ExitedWithCode(0), "");
#endif
}

}  // namespace
}  // namespace mercer
