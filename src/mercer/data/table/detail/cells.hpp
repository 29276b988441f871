// What a single cell of a table says.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mercer/data/recipe.hpp"

namespace mercer::tables {

/// The number in a cell: plain, or with a sign of percent or currency, or thousands set apart by
/// commas (points or blanks where the decimal sign is a comma), apostrophes or blanks.
std::optional<double> number_in(std::string_view cell, bool decimal_comma);

/// What a cell tells about the decimal sign: 3,14 is a decimal comma, 1,234.5 is none, 1,234 may be
/// either.
enum class CommaHint { none, decimal, thousands, either };
CommaHint comma_hint(std::string_view cell);

/// A day, in days since 1970-01-01, with its time as a fraction.
struct Day {
    double days = 0;
    bool has_time = false;
};
std::optional<Day> day_in(std::string_view cell, DateOrder order);

/// Days since 1970-01-01 of a date of the Gregorian calendar, and back.
long long days_from_civil(long long year, int month, int day);
struct Civil {
    long long year = 1970;
    int month = 1;
    int day = 1;
};
Civil civil_from_days(long long days);

/// yes, true, on, … are true; no, false, off, … are false.
std::optional<bool> answer_in(std::string_view cell);

std::string lower(std::string_view text);

/// The column a person means: by its name, its number from 1 (-1: the last), first or last. Throws
/// InvalidInput.
std::size_t column_named(const Table& table, const std::string& text, const char* what);

/// Of cells that are dates in some order: the order in which all of them are, or nothing.
std::optional<DateOrder> order_of_dates(const Texts& cells);

/// The column that is the label where nobody says: one with a usual name, else the last, or the
/// first where the last holds texts.
std::size_t usual_label(const Table& table, const std::vector<ColumnProfile>& profiles);

}  // namespace mercer::tables
