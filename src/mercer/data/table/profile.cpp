// What kind of column each one is, told by its cells.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/data/table/detail/cells.hpp"

namespace mercer {
namespace {

constexpr std::size_t most_counted = 200'000;  ///< different cells that are told apart
constexpr std::size_t shown_examples = 5;
constexpr std::size_t longest_example = 40;

/// Everything one walk over the cells tells.
struct Counts {
    std::unordered_map<std::string_view, std::size_t> cells{};
    std::size_t there = 0;
    std::size_t numbers = 0;
    std::size_t whole = 0;
    std::size_t answers = 0;
    std::size_t dashes = 0;  ///< -, -- and ., which stand for nothing among numbers
    bool yes = false;
    bool no = false;
    bool steps_of_one = true;  ///< whole numbers, each one above the last
    double length = 0;
    std::size_t blanks = 0;  ///< cells of several words
    std::size_t hexadecimal = 0;
    double low = 0, high = 0, sum = 0;
};

bool is_code(std::string_view cell) {
    return cell.size() >= 32 && cell.size() <= 40 && std::ranges::all_of(cell, [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ||
                      c == '-';
           });
}

void count_number(double value, Counts& c) {
    const double before = c.high;
    if (c.numbers == 0) c.low = c.high = value;
    c.steps_of_one &= c.numbers == 0 || value == before + 1;
    c.low = std::min(c.low, value);
    c.high = std::max(c.high, value);
    c.sum += value;
    ++c.numbers;
    c.whole += value == std::floor(value) ? 1 : 0;
}

Counts count_cells(const Table& table, std::size_t column, ColumnProfile& profile) {
    Counts c;
    const Texts& cells = table.cells[column];
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string_view cell = cells.text(i);
        if (is_missing_cell(cell)) {
            ++profile.missing;
            continue;
        }
        ++c.there;
        if (c.cells.size() < most_counted || c.cells.contains(cell)) ++c.cells[cell];
        if (const auto number = tables::number_in(cell, table.decimal_comma)) {
            count_number(*number, c);
        } else if (const auto answer = tables::answer_in(cell)) {
            ++c.answers;
            (*answer ? c.yes : c.no) = true;
        }
        c.dashes += cell == "-" || cell == "--" || cell == "." ? 1 : 0;
        c.length += static_cast<double>(cell.size());
        c.blanks += cell.find(' ') != std::string_view::npos ? 1 : 0;
        c.hexadecimal += is_code(cell) ? 1 : 0;
    }
    profile.distinct = c.cells.size();
    return c;
}

bool has_name_of_identifier(const std::string& name) {
    const std::string word = tables::lower(name);
    return word == "id" || word == "index" || word == "row" || word == "key" || word == "uuid" ||
           word == "rownames" || word == "unnamed: 0" || word.ends_with("_id") ||
           word.ends_with(" id") || word == "no" || word == "nr" || word == "customerid" ||
           word == "passengerid";
}

ColumnKind kind_of_names(const Counts& c, const ColumnProfile& p) {
    const auto n = static_cast<double>(c.there);
    const double length = c.length / n;
    const bool all_differ = p.distinct == c.there || c.cells.size() >= most_counted;
    if (static_cast<double>(c.hexadecimal) > 0.9 * n && p.distinct * 10 > c.there * 9) {
        return ColumnKind::identifier;
    }
    const bool words = static_cast<double>(c.blanks) > 0.5 * n && length > 15;
    if (all_differ && c.there >= 20) {
        return !words && (length < 16 || has_name_of_identifier(p.name)) ? ColumnKind::identifier
                                                                         : ColumnKind::text;
    }
    // A name that hardly ever comes again says nothing of other rows, its letters may.
    if (c.there >= 20 && 2 * p.distinct > c.there) {
        return length >= 8 ? ColumnKind::text : ColumnKind::category;
    }
    return words && length > 40 && p.distinct > 50 ? ColumnKind::text : ColumnKind::category;
}

ColumnKind find_kind(const Table& table, std::size_t column, const Counts& c,
                     const ColumnProfile& p) {
    if (c.there == 0 || (p.distinct == 1 && p.missing == 0)) return ColumnKind::constant;
    const bool mostly_numbers = c.numbers > 0 && 10 * c.numbers >= 9 * (c.there - c.dashes);
    if (table.declared[column] == ColumnKind::category) return ColumnKind::category;
    if (table.declared[column] == ColumnKind::number) return ColumnKind::number;
    if (mostly_numbers) {
        const bool counts_rows = c.whole == c.there && c.steps_of_one && p.distinct == c.there &&
                                 (c.low == 0 || c.low == 1);
        const bool named =
            has_name_of_identifier(p.name) && c.whole == c.there && p.distinct == c.there;
        return c.there >= 5 && (named || (counts_rows && column == 0)) ? ColumnKind::identifier
                                                                       : ColumnKind::number;
    }
    if (c.answers == c.there && c.yes && c.no) return ColumnKind::yes_no;
    if (tables::order_of_dates(table.cells[column])) return ColumnKind::date;
    return kind_of_names(c, p);
}

void find_examples(const Counts& c, ColumnProfile& p) {
    std::vector<std::pair<std::string_view, std::size_t>> all(c.cells.begin(), c.cells.end());
    const std::size_t shown = std::min(shown_examples, all.size());
    std::ranges::partial_sort(
        all, all.begin() + static_cast<std::ptrdiff_t>(shown), [](const auto& a, const auto& b) {
            return a.second != b.second ? a.second > b.second : natural_less(a.first, b.first);
        });
    for (std::size_t k = 0; k < shown; ++k) {
        p.examples.emplace_back(all[k].first.substr(0, longest_example));
        p.counts.push_back(all[k].second);
    }
}

/// Cells that are there and do not fit the kind.
void find_odd(const Table& table, std::size_t column, ColumnProfile& p) {
    const Texts& cells = table.cells[column];
    const auto order = p.kind == ColumnKind::date ? tables::order_of_dates(cells) : std::nullopt;
    if (p.kind != ColumnKind::number && !order) return;
    double sum = 0;
    std::size_t good = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string_view cell = cells.text(i);
        if (is_missing_cell(cell)) continue;
        std::optional<double> value;
        if (order) {
            if (const auto day = tables::day_in(cell, *order)) value = day->days;
        } else {
            value = tables::number_in(cell, table.decimal_comma);
        }
        if (value) {
            p.low = good == 0 ? *value : std::min(p.low, *value);
            p.high = good == 0 ? *value : std::max(p.high, *value);
            sum += *value;
            ++good;
            continue;
        }
        if (p.odd++ > 0) continue;
        p.odd_cell = cell.substr(0, longest_example);
        p.odd_line = table.lines[i];
    }
    p.mean = good == 0 ? 0 : sum / static_cast<double>(good);
}

}  // namespace

std::vector<ColumnProfile> profile(const Table& table) {
    std::vector<ColumnProfile> profiles;
    for (std::size_t j = 0; j < table.columns(); ++j) {
        ColumnProfile& p = profiles.emplace_back();
        p.name = table.names[j];
        const Counts counts = count_cells(table, j, p);
        p.kind = find_kind(table, j, counts, p);
        find_examples(counts, p);
        find_odd(table, j, p);
    }
    return profiles;
}

namespace tables {

std::size_t usual_label(const Table& table, const std::vector<ColumnProfile>& profiles) {
    for (const char* usual : {"label", "class", "target", "y"}) {
        for (std::size_t j = 0; j < table.columns(); ++j) {
            if (lower(table.names[j]) == usual) return j;
        }
    }
    const std::size_t last = table.columns() - 1;
    return profiles[last].kind == ColumnKind::text ? 0 : last;
}

}  // namespace tables
}  // namespace mercer
