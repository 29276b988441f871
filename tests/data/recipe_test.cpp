#include "mercer/data/recipe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

ColumnKind kind_of(const std::string& text, const std::string& name) {
    for (const ColumnProfile& p : profile(table_from_text(text))) {
        if (p.name == name) return p.kind;
    }
    ADD_FAILURE() << "no column " << name;
    return ColumnKind::constant;
}

/// Thirty rows of a table with every kind of column.
std::string mixed_text(char separator = ',') {
    std::string text = "id,age,city,joined,member,comment,flag,churn\n";
    for (int i = 0; i < 30; ++i) {
        const std::string age = i == 4 ? "" : std::to_string(20 + i);
        const char* const city = i % 3 == 0 ? "Rome" : i % 3 == 1 ? "Oslo" : "Bonn";
        text += "c" + std::to_string(1000 + i) + "," + age + "," + city + ",2026-01-" +
                (i < 9 ? "0" : "") + std::to_string(i + 1) + "," + (i % 2 == 0 ? "yes" : "no") +
                ",they said number " + std::to_string(i) + " again,7," +
                (i % 4 == 0 ? "left" : "stayed") + "\n";
    }
    std::ranges::replace(text, ',', separator);
    return text;
}

TEST(Tables, KindsAreFoundFromContent) {
    const std::string text = mixed_text();
    EXPECT_EQ(kind_of(text, "id"), ColumnKind::identifier);
    EXPECT_EQ(kind_of(text, "age"), ColumnKind::number);
    EXPECT_EQ(kind_of(text, "city"), ColumnKind::category);
    EXPECT_EQ(kind_of(text, "joined"), ColumnKind::date);
    EXPECT_EQ(kind_of(text, "member"), ColumnKind::yes_no);
    EXPECT_EQ(kind_of(text, "comment"), ColumnKind::text);
    EXPECT_EQ(kind_of(text, "flag"), ColumnKind::constant);
    EXPECT_EQ(kind_of(text, "churn"), ColumnKind::category);
}

TEST(Tables, EverySeparatorGivesTheSameCells) {
    const Table comma = table_from_text(mixed_text());
    for (const char separator : {';', '\t', '|'}) {
        const Table other = table_from_text(mixed_text(separator));
        EXPECT_EQ(other.names, comma.names) << separator;
        for (std::size_t j = 0; j < comma.columns(); ++j) {
            EXPECT_EQ(other.cells[j].bytes, comma.cells[j].bytes) << separator << j;
        }
    }
}

TEST(Tables, LineEndsAndMarksOfOtherSystems) {
    const Table plain = table_from_text("a,b\n1,x\n2,y\n");
    for (const char* text : {"\xEF\xBB\xBF"
                             "a,b\r\n1,x\r\n2,y\r\n",
                             "a,b\r1,x\r2,y\r", "\"a\",\"b\"\n\"1\",\"x\"\n\"2\",\"y\"\n"}) {
        const Table other = table_from_text(text);
        EXPECT_EQ(other.names, plain.names);
        ASSERT_EQ(other.rows(), 2U);
        EXPECT_EQ(other.cell(1, 1), "y");
    }
    const Table wide =
        table_from_text(std::string_view("\xFF\xFE"
                                         "a\0,\0b\0\n\0"
                                         "1\0,\0x\0\n\0",
                                         18));
    EXPECT_EQ(wide.cell(0, 1), "x");
    EXPECT_EQ(table_from_text("a,b\n1,caf\xE9\n").cell(0, 1), "caf\xC3\xA9");
}

TEST(Tables, NamesOfRowsThatRWritesWithoutAHeading) {
    const Table table = table_from_text("\"x\" \"y\"\n\"1\" 3.5 \"a\"\n\"2\" 4.5 \"b\"\n");
    EXPECT_EQ(table.names, (std::vector<std::string>{"row", "x", "y"}));
    EXPECT_EQ(table.cell(1, 2), "b");
}

TEST(Tables, NumbersAsPeopleWriteThem) {
    const auto value = [](const std::string& cells, std::size_t row) {
        const Table table = table_from_text("x;y\n" + cells);
        return plan_columns(table, {.label = "none"})
            ->dataset(table)
            .x.dense_view<double>()(row, 0);
    };
    EXPECT_DOUBLE_EQ(value("3,25;1\n4,5;2\n", 0), 3.25);
    EXPECT_DOUBLE_EQ(value("1.234,5;1\n2,5;2\n", 0), 1234.5);
    EXPECT_DOUBLE_EQ(value("1,234.5;1\n2,000.25;2\n", 0), 1234.5);
    EXPECT_DOUBLE_EQ(value("12 %;1\n15 %;2\n", 1), 15);
    EXPECT_DOUBLE_EQ(value("$1,200;1\n-$3.5;2\n", 1), -3.5);
}

TEST(Tables, DatesAreDaysSince1970InAnyOrder) {
    const auto days = [](const std::string& cells) {
        const Table table = table_from_text("when;y\n" + cells);
        return plan_columns(table, {.label = "y"})->dataset(table).x.dense_view<double>()(0, 0);
    };
    EXPECT_DOUBLE_EQ(days("1970-01-02;1\n1971-01-01;2\n"), 1);
    EXPECT_DOUBLE_EQ(days("02.01.1970;1\n25.01.1970;2\n"), 1);
    EXPECT_DOUBLE_EQ(days("01/02/1970;1\n01/25/1970;2\n"), 1);
    EXPECT_DOUBLE_EQ(days("2 Jan 1970;1\n3 Jan 1970;2\n"), 1);
    EXPECT_DOUBLE_EQ(days("1970-01-01 12:00;1\n1971-01-01 13:00;2\n"), 0.5);
    EXPECT_DOUBLE_EQ(days("2000-03-01;1\n2001-01-01;2\n"), 11017);
}

TEST(Tables, OddCellsAreCountedWithTheirLine) {
    std::string text = "x,y\n";
    for (int i = 0; i < 40; ++i)
        text += (i == 7 ? std::string("abc") : std::to_string(i * i)) + ",1\n";
    const ColumnProfile p = profile(table_from_text(text))[0];
    EXPECT_EQ(p.kind, ColumnKind::number);
    EXPECT_EQ(p.odd, 1U);
    EXPECT_EQ(p.odd_cell, "abc");
    EXPECT_EQ(p.odd_line, 9U);
}

TEST(Tables, RaggedLinesAreADefectThatLearningRefuses) {
    const Table table = table_from_text("a,b\n1,2\n3,4\n5,6\n7\n");
    EXPECT_NE(table.defect.find("5: found 1 fields, expected 2"), std::string::npos)
        << table.defect;
    EXPECT_THROW(plan_columns(table)->dataset(table), InvalidInput);
}

TEST(Tables, ArffSaysItsKinds) {
    const Table table = table_from_text(
        "% a comment\n@RELATION r\n@attribute 'the size' numeric\n@attribute c {1,2}\n"
        "@attribute s string\n@data\n1.5,1,'a, b'\n?,2,\"x\"\n{0 3, 1 2}\n");
    EXPECT_EQ(table.names, (std::vector<std::string>{"the size", "c", "s"}));
    EXPECT_EQ(table.cell(0, 2), "a, b");
    EXPECT_EQ(table.cell(2, 0), "3");
    const auto profiles = profile(table);
    EXPECT_EQ(profiles[0].kind, ColumnKind::number);
    EXPECT_EQ(profiles[0].missing, 1U);
    EXPECT_EQ(profiles[1].kind, ColumnKind::category);
}

TEST(Recipe, FillsMarksScalesAndSpreadsLevels) {
    const Table table = table_from_text("x,c,y\n1,a,0\n,b,1\n3,a,0\n5,,1\n");
    const Dataset data = plan_columns(table, {.label = "y"})->dataset(table);
    const Recipe recipe = Recipe::fit(data.table, data.x);
    EXPECT_EQ(recipe.names(),
              (std::vector<std::string>{"x", "x is missing", "c=a", "c=b", "c is missing"}));
    const Rows x = recipe.apply(data.x);
    const auto v = x.dense_view<float>();
    // Median 3 and mean 3 of 1, 3, 5: the gap becomes 0, the deviation is √(8/3).
    EXPECT_FLOAT_EQ(v(1, 0), 0);
    EXPECT_FLOAT_EQ(v(0, 0), static_cast<float>(-2 / std::sqrt(8.0 / 3)));
    EXPECT_FLOAT_EQ(v(1, 1), 1);
    EXPECT_FLOAT_EQ(v(0, 1), 0);
    EXPECT_FLOAT_EQ(v(0, 2), 1);
    EXPECT_FLOAT_EQ(v(1, 3), 1);
    EXPECT_FLOAT_EQ(v(3, 4), 1);
    EXPECT_FLOAT_EQ(v(3, 2) + v(3, 3), 0);
}

TEST(Recipe, IsFittedOnItsOwnRowsAlone) {
    const Table table = table_from_text("x,c,y\n1,a,0\n2,a,1\n3,a,0\n1000,b,1\n");
    const Dataset data = plan_columns(table, {.label = "y"})->dataset(table);
    const std::size_t some[] = {0, 1, 2};
    const Recipe recipe = Recipe::fit(data.table, data.x.select(some));
    const Rows x = recipe.apply(data.x);
    const auto v = x.dense_view<float>();
    EXPECT_FLOAT_EQ(v(1, 0), 0);            // the mean of 1, 2, 3
    EXPECT_GT(v(3, 0), 100);                // not pulled in by itself
    EXPECT_FLOAT_EQ(v(3, 1) + v(3, 2), 0);  // a level the fit has not seen
}

TEST(Recipe, BendsColumnsWithFarOutliers) {
    std::string text = "x,y\n";
    for (int i = 0; i < 100; ++i) text += std::to_string(i == 0 ? 1000000 : i) + ",1\n";
    const Table table = table_from_text(text);
    const Dataset data = plan_columns(table, {.label = "none", .drop = {"y"}})->dataset(table);
    const Recipe recipe = Recipe::fit(data.table, data.x);
    EXPECT_TRUE(recipe.fitted()[0].bent);
    const Rows x = recipe.apply(data.x);
    const auto v = x.dense_view<float>();
    EXPECT_LT(v(0, 0), 12);
    EXPECT_LT(v(1, 0), v(2, 0));  // the order stays
}

TEST(Recipe, ReadsBackWhatItWrites) {
    const Table table = table_from_text(mixed_text());
    const Dataset data = plan_columns(table, {.label = "churn"})->dataset(table);
    const Recipe recipe = Recipe::fit(data.table, data.x);
    const Recipe again = Recipe::from_json(recipe.json());
    EXPECT_EQ(again.columns(), recipe.columns());
    EXPECT_EQ(again.fitted(), recipe.fitted());
    for (const char* broken : {"", "{}", "[1]", "{\"columns\":[],\"fitted\":[]}"}) {
        EXPECT_THROW(Recipe::from_json(broken), InvalidInput) << broken;
    }
    std::string text = recipe.json();
    text.replace(text.find("\"spread\":"), 9, "\"spread\":-");
    EXPECT_THROW(Recipe::from_json(text), InvalidInput);
}

TEST(Recipe, ColumnsAreFoundByNameInAnyOrder) {
    const Table table = table_from_text("x,c,y\n1,a,0\n2,b,1\n3,a,0\n");
    const auto columns = plan_columns(table, {.label = "y"});
    const Table other = table_from_text("extra,c,x\n9,b,2\n");
    const Dataset data = columns->dataset(other);
    EXPECT_DOUBLE_EQ(data.x.dense_view<double>()(0, 0), 2);
    EXPECT_DOUBLE_EQ(data.x.dense_view<double>()(0, 1), 1);
    EXPECT_TRUE(data.y.empty());
    try {
        columns->dataset(table_from_text("X,c\n1,a\n2,b\n"));
        FAIL();
    } catch (const InvalidInput& error) {
        EXPECT_NE(std::string(error.what()).find("lacks the column 'x'"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("'X'"), std::string::npos);
    }
}

TEST(Recipe, TablesWithoutNamesAreMatchedByPosition) {
    const Table table = table_from_text("a,1,x\nb,2,y\na,3,x\nb,4,y\n");
    ASSERT_FALSE(table.has_names);
    const auto columns = plan_columns(table, {.label = "first"});
    const Dataset data = columns->dataset(table_from_text("7,y\n8,x\n"));
    EXPECT_DOUBLE_EQ(data.x.dense_view<double>()(0, 0), 7);
    EXPECT_THROW(columns->dataset(table_from_text("7\n8\n")), InvalidInput);
}

TEST(Recipe, WishesOverrule) {
    const Table table = table_from_text("code,x,y\n1,5,0\n2,6,1\n1,7,0\n2,8,1\n3,9,1\n");
    const auto columns = plan_columns(
        table, {.label = "y", .kinds = {{"code", ColumnKind::category}}, .drop = {"x"}});
    ASSERT_EQ(columns->columns().size(), 1U);
    EXPECT_EQ(columns->columns()[0].levels, (std::vector<std::string>{"1", "2", "3"}));
    EXPECT_EQ(columns->left_out(), (std::vector<std::string>{"x"}));
    EXPECT_THROW(plan_columns(table, {.label = "z"}), InvalidInput);
    EXPECT_THROW(plan_columns(table, {.label = "y", .drop = {"x", "code"}}), InvalidInput);
}

TEST(Recipe, LevelsAreBounded) {
    std::string text = "c,x\n";
    for (int i = 0; i < 1000; ++i) text += "v" + std::to_string(i % 200) + ",1\n";
    const Table table = table_from_text(text);
    const auto columns = plan_columns(table, {.label = "none"});
    EXPECT_EQ(columns->columns()[0].levels.size(), TableColumns::most_levels);
    EXPECT_TRUE(columns->columns()[0].more_levels);
    const Dataset data = columns->dataset(table);
    EXPECT_EQ(Recipe::fit(data.table, data.x).apply(data.x).columns(),
              TableColumns::most_levels + 1);
}

TEST(Tables, WorkbooksAreRefusedWithTheWayOut) {
    for (const auto& [bytes, word] :
         {std::pair<std::string, std::string>{"PK\x03\x04....[Content_Types].xml", "as CSV"},
          {"PAR1....", "to_csv"}}) {
        try {
            table_from_text(bytes);
            FAIL() << word;
        } catch (const InvalidInput& error) {
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
        }
    }
}

}  // namespace
}  // namespace mercer
