#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/table/detail/cells.hpp"

namespace mercer::tables {
namespace {

bool digit(char c) {
    return c >= '0' && c <= '9';
}

/// Currency signs and %, which people write beside numbers; their bytes in UTF-8.
constexpr std::array<std::string_view, 5> signs{"$", "€", "£", "¥", "%"};

std::string_view without_blanks(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::string_view without_signs(std::string_view cell) {
    for (const std::string_view sign : signs) {
        if (cell.size() <= sign.size()) continue;
        if (cell.starts_with(sign)) return without_blanks(cell.substr(sign.size()));
        if (cell.ends_with(sign)) {
            return without_blanks(cell.substr(0, cell.size() - sign.size()));
        }
    }
    return cell;
}

/// The digits without what sets thousands apart, and with a point for the decimal sign. Nothing
/// where groups do not have three digits.
std::optional<std::string> plain_digits(std::string_view text, char separator, char decimal) {
    std::string out;
    std::size_t i = 0;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) out += text[i++] == '-' ? "-" : "";
    std::size_t group = 0;
    bool separated = false;
    for (; i < text.size(); ++i) {
        if (digit(text[i])) {
            out += text[i];
            ++group;
            continue;
        }
        if (text[i] != separator) break;
        if (group == 0 || group > 3 || (separated && group != 3)) return std::nullopt;
        separated = true;
        group = 0;
    }
    if (separated && group != 3) return std::nullopt;
    if (i < text.size() && text[i] == decimal) {
        out += '.';
        ++i;
    }
    for (; i < text.size(); ++i) {
        const char c = text[i];
        if (!digit(c) && c != 'e' && c != 'E' && c != '-' && c != '+') return std::nullopt;
        out += c;
    }
    return out;
}

struct Reader {
    std::string_view text;
    std::size_t at = 0;

    bool end() const { return at == text.size(); }
    bool take(char c) {
        if (end() || text[at] != c) return false;
        ++at;
        return true;
    }
    std::optional<int> number(std::size_t fewest, std::size_t most) {
        const std::size_t first = at;
        int value = 0;
        while (!end() && digit(text[at]) && at - first < most)
            value = 10 * value + (text[at++] - '0');
        if (at - first < fewest || (!end() && digit(text[at]))) {
            at = first;
            return std::nullopt;
        }
        return value;
    }
    /// A month by its English name or the first three letters of it.
    std::optional<int> month() {
        static constexpr std::array<std::string_view, 12> names{
            "january", "february", "march",     "april",   "may",      "june",
            "july",    "august",   "september", "october", "november", "december"};
        std::size_t last = at;
        while (last < text.size() && std::isalpha(static_cast<unsigned char>(text[last])) != 0) {
            ++last;
        }
        const std::string word = lower(text.substr(at, last - at));
        if (word.size() < 3) return std::nullopt;
        for (std::size_t m = 0; m < names.size(); ++m) {
            if (word != names[m] && word != names[m].substr(0, 3)) continue;
            at = last;
            return static_cast<int>(m + 1);
        }
        return std::nullopt;
    }
};

bool is_date(int year, int month, int day) {
    static constexpr std::array<int, 12> lengths{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (year < 1 || month < 1 || month > 12 || day < 1) return false;
    return day <= lengths[static_cast<std::size_t>(month - 1)];
}

struct Parts {
    int year = 0;
    int month = 1;
    int day = 1;
};

/// 17 Nov 2026, Nov 17, 2026, 17-Nov-2026.
std::optional<Parts> date_with_name(Reader& in) {
    Parts parts;
    const auto gap = [&] {
        while (in.take(' ') || in.take('-') || in.take(',') || in.take('.')) {
        }
    };
    std::optional<int> day = in.number(1, 2);
    gap();
    const auto month = in.month();
    if (!month) return std::nullopt;
    gap();
    if (!day) {
        day = in.number(1, 2);
        gap();
    }
    const auto year = in.number(4, 4);
    if (!day || !year) return std::nullopt;
    parts = {*year, *month, *day};
    return parts;
}

std::optional<Parts> date_with_digits(Reader& in, DateOrder order) {
    constexpr std::string_view separators = "-/.";
    const auto first = in.number(1, 4);
    if (!first || in.end() || separators.find(in.text[in.at]) == std::string_view::npos) {
        return std::nullopt;
    }
    const bool year_first = in.at == 4;
    if (year_first != (order == DateOrder::year_first)) return std::nullopt;
    const char separator = in.text[in.at++];
    const auto second = in.number(1, 2);
    if (!second) return std::nullopt;
    if (!in.take(separator)) {
        // 2026-11, but not 2026.11, which is a number.
        if (year_first && separator != '.' && in.end()) return Parts{*first, *second, 1};
        return std::nullopt;
    }
    if (year_first) {
        const auto day = in.number(1, 2);
        return day ? std::optional(Parts{*first, *second, *day}) : std::nullopt;
    }
    auto year = in.number(4, 4);
    if (!year) {
        year = in.number(2, 2);
        if (year) *year += *year < 70 ? 2000 : 1900;
    }
    if (!year) return std::nullopt;
    return order == DateOrder::day_first ? Parts{*year, *second, *first}
                                         : Parts{*year, *first, *second};
}

/// "14:05", "14:05:30.25Z", "2:05 PM", as a fraction of a day; the zone is passed over.
std::optional<double> time_of_day(Reader& in) {
    const auto hour = in.number(1, 2);
    if (!hour || !in.take(':')) return std::nullopt;
    const auto minute = in.number(2, 2);
    if (!minute) return std::nullopt;
    double second = 0;
    if (in.take(':')) {
        const auto whole = in.number(2, 2);
        if (!whole) return std::nullopt;
        second = *whole;
        if (in.take('.')) {
            double unit = 0.1;
            for (; !in.end() && digit(in.text[in.at]); ++in.at, unit /= 10) {
                second += unit * (in.text[in.at] - '0');
            }
        }
    }
    int hours = *hour;
    const std::string rest = lower(without_blanks(in.text.substr(in.at)));
    if (rest == "pm" && hours < 12) hours += 12;
    if (rest == "am" && hours == 12) hours = 0;
    const bool zone = rest.empty() || rest == "z" || rest == "am" || rest == "pm" ||
                      rest == "utc" || rest.front() == '+' || rest.front() == '-';
    if (!zone || hours > 24 || *minute > 59 || second >= 61) return std::nullopt;
    return (hours * 3600.0 + *minute * 60.0 + second) / 86400.0;
}

}  // namespace

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

std::optional<double> number_in(std::string_view cell, bool decimal_comma) {
    if (!decimal_comma) {
        if (const auto plain = parse_number(cell)) return plain;
    }
    if (cell.empty() || cell.size() > 64) return std::nullopt;
    bool negative = false;
    if (cell.front() == '-' && cell.size() > 1 && !digit(cell[1]) && cell[1] != '.') {
        negative = true;  // -$5
        cell.remove_prefix(1);
    }
    const std::string_view bare = without_signs(cell);
    if (bare.empty() || !(digit(bare.back()) || bare.back() == '.')) return std::nullopt;
    const char decimal = decimal_comma ? ',' : '.';
    for (const char separator : {decimal_comma ? '.' : ',', ' ', '\''}) {
        const auto digits = plain_digits(bare, separator, decimal);
        if (!digits) continue;
        if (const auto value = parse_number(*digits)) return negative ? -*value : *value;
    }
    return std::nullopt;
}

CommaHint comma_hint(std::string_view cell) {
    cell = without_signs(cell);
    if (cell.find(',') == std::string_view::npos) return CommaHint::none;
    const bool point = number_in(cell, false).has_value();
    const bool comma = number_in(cell, true).has_value();
    if (point && comma) return CommaHint::either;
    return comma ? CommaHint::decimal : point ? CommaHint::thousands : CommaHint::none;
}

// Howard Hinnant's days_from_civil: eras of 400 years, years that begin in March.
long long days_from_civil(long long year, int month, int day) {
    year -= month <= 2 ? 1 : 0;
    const long long era = (year >= 0 ? year : year - 399) / 400;
    const long long of_era = year - era * 400;
    const long long of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const long long day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return era * 146097 + day_of_era - 719468;
}

Civil civil_from_days(long long days) {
    days += 719468;
    const long long era = (days >= 0 ? days : days - 146096) / 146097;
    const long long of_era = days - era * 146097;
    const long long year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const long long of_year = of_era - (365 * year + year / 4 - year / 100);
    const long long month = (5 * of_year + 2) / 153;
    Civil civil;
    civil.day = static_cast<int>(of_year - (153 * month + 2) / 5 + 1);
    civil.month = static_cast<int>(month < 10 ? month + 3 : month - 9);
    civil.year = year + era * 400 + (civil.month <= 2 ? 1 : 0);
    return civil;
}

std::optional<Day> day_in(std::string_view cell, DateOrder order) {
    if (cell.size() < 6 || cell.size() > 40) return std::nullopt;
    Reader in{cell};
    std::optional<Parts> parts = date_with_digits(in, order);
    if (!parts && order == DateOrder::year_first) {
        in.at = 0;
        parts = date_with_name(in);
    }
    if (!parts || !is_date(parts->year, parts->month, parts->day)) return std::nullopt;
    Day day{.days = static_cast<double>(days_from_civil(parts->year, parts->month, parts->day))};
    if (in.end()) return day;
    if (!in.take('T') && !in.take(' ')) return std::nullopt;
    while (in.take(' ')) {
    }
    const auto time = time_of_day(in);
    if (!time) return std::nullopt;
    day.days += *time;
    day.has_time = *time > 0;
    return day;
}

std::optional<bool> answer_in(std::string_view cell) {
    if (cell.size() > 5) return std::nullopt;
    const std::string word = lower(cell);
    for (const char* yes : {"yes", "y", "true", "t", "on"}) {
        if (word == yes) return true;
    }
    for (const char* no : {"no", "n", "false", "f", "off"}) {
        if (word == no) return false;
    }
    return std::nullopt;
}

std::optional<DateOrder> order_of_dates(const Texts& cells) {
    constexpr std::size_t enough = 200;  // that a column is none shows early
    for (const DateOrder order :
         {DateOrder::year_first, DateOrder::month_first, DateOrder::day_first}) {
        std::size_t found = 0;
        std::size_t others = 0;
        bool points = false;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::string_view cell = cells.text(i);
            if (is_missing_cell(cell)) continue;
            (day_in(cell, order) ? found : others) += 1;
            points |= cell.find('.') != std::string_view::npos;
            if (others > enough && found == 0) break;
        }
        // 05.11.2026 is the 5th of November wherever points are written.
        if (order == DateOrder::month_first && points) continue;
        if (found > 0 && found >= 19 * others) return order;
    }
    return std::nullopt;
}

std::size_t column_named(const Table& table, const std::string& text, const char* what) {
    const auto found = std::ranges::find(table.names, text);
    if (found != table.names.end()) return static_cast<std::size_t>(found - table.names.begin());
    if (text == "first") return 0;
    if (text == "last") return table.columns() - 1;
    if (const auto number = parse_number(text); number && *number == std::floor(*number)) {
        const auto n = static_cast<double>(table.columns());
        if (*number >= 1 && *number <= n) return static_cast<std::size_t>(*number) - 1;
        if (*number <= -1 && *number >= -n) return static_cast<std::size_t>(n + *number);
    }
    std::string message = std::string("there is no ") + what + " column " + quoted(text);
    if (const auto near = nearest_word(text, table.names)) {
        message += "; did you mean " + quoted(*near) + "?";
    } else {
        message += " among the " + std::to_string(table.columns()) + " of the table" +
                   (table.has_names ? "" : ", which has no header line: give its number");
    }
    throw InvalidInput(Location{.file = table.name}, message);
}

}  // namespace mercer::tables

namespace mercer {

bool is_missing_cell(std::string_view cell) {
    if (cell.size() > 4) return false;
    const std::string word = tables::lower(cell);
    for (const char* missing : {"", "?", "na", "n/a", "nan", "null", "none", "#n/a"}) {
        if (word == missing) return true;
    }
    return false;
}

}  // namespace mercer
