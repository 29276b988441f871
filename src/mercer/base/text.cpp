#include "mercer/base/text.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace mercer {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Bytes of the UTF-8 character at `at`, or 0 when the bytes there are not one.
std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    std::size_t length = 0;
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead < 0xE0) length = 2;
    if (lead >= 0xE0 && lead < 0xF0) length = 3;
    if (lead >= 0xF0 && lead < 0xF5) length = 4;
    if (length == 0 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return 0;
    }
    return length;
}

/// The text cut into what each character looks like when printed on one line.
struct Cell {
    std::size_t byte = 0;
    std::string shown{};
};
std::vector<Cell> cells(std::string_view text) {
    std::vector<Cell> result;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = utf8_length(text, i);
        const auto byte = static_cast<unsigned char>(text[i]);
        if (length == 0) {
            result.push_back({i, "?"});
        } else if (byte < 0x20 || byte == 0x7F) {
            result.push_back({i, " "});
        } else {
            result.push_back({i, std::string(text.substr(i, length))});
        }
        i += std::max<std::size_t>(length, 1);
    }
    return result;
}

/// Edits (insert, delete, change, swap of neighbours) that turn a into b, ignoring case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1])) {
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[a.size()][b.size()];
}

/// The run of digits at the front of `text`, without leading zeros; `text` moves past it.
std::string_view take_digits(std::string_view& text) {
    std::size_t end = 0;
    while (end < text.size() && is_digit(text[end])) ++end;
    std::string_view run = text.substr(0, end);
    text.remove_prefix(end);
    while (run.size() > 1 && run.front() == '0') run.remove_prefix(1);
    return run;
}

}  // namespace

std::string format_number(double value) {
    if (std::isnan(value)) return "nan";  // its sign is an accident of the processor
    std::array<char, 64> buffer{};
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return error == std::errc{} ? std::string(buffer.data(), end) : std::string("nan");
}

std::optional<double> parse_number(std::string_view text) {
    if (text.size() > 1 && text.front() == '+' && (is_digit(text[1]) || text[1] == '.')) {
        text.remove_prefix(1);
    }
    // Refuse "inf" and "nan" here rather than after parsing: they are words, not decimals.
    const std::size_t first = !text.empty() && text.front() == '-' ? 1 : 0;
    if (first >= text.size() || !(is_digit(text[first]) || text[first] == '.')) return {};
    double value = 0;
    const char* end = text.data() + text.size();
    const auto result = fast_float::from_chars(text.data(), end, value);
    // A number too small for a double is zero; one too large has no value.
    if (result.ptr != end || result.ec == std::errc::invalid_argument) return {};
    if (!std::isfinite(value)) return {};
    return value;
}

std::string quoted(std::string_view text, std::size_t limit) {
    std::string result = "'";
    std::size_t shown = 0;
    for (std::size_t i = 0; i < text.size(); ++shown) {
        if (shown >= limit) {
            result += "...";
            break;
        }
        const std::size_t length = utf8_length(text, i);
        const auto byte = static_cast<unsigned char>(text[i]);
        if (length == 0 || byte < 0x20 || byte == 0x7F) {
            std::array<char, 8> escape{};
            std::snprintf(escape.data(), escape.size(), "\\x%02x", byte);
            result += byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : escape.data();
        } else {
            result += text.substr(i, length);
        }
        i += std::max<std::size_t>(length, 1);
    }
    return result + "'";
}

std::string caret_line(std::string_view text, std::size_t position) {
    position = std::min(position, text.size());
    // Only the line that holds the mistake, and only a window of a very long one.
    const std::size_t before = text.substr(0, position).rfind('\n');
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::size_t end = std::min(text.find('\n', position), text.size());
    constexpr std::size_t reach = 200;
    const std::size_t first = position - begin > reach ? position - reach : begin;
    const std::size_t last = end - position > reach ? position + reach : end;
    const std::vector<Cell> line = cells(text.substr(first, last - first));
    std::size_t column = 0;
    while (column < line.size() && line[column].byte + first < position) ++column;

    constexpr std::size_t window = 36;
    const std::size_t from = column > window ? column - window : 0;
    const std::size_t to = std::min(line.size(), column + window);
    std::string shown = from > 0 || first > begin ? "..." : "";
    const std::size_t indent = shown.size() + column - from;
    for (std::size_t i = from; i < to; ++i) shown += line[i].shown;
    if (to < line.size() || last < end) shown += "...";
    return "    " + shown + "\n    " + std::string(indent, ' ') + "^";
}

std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& candidates) {
    constexpr std::size_t longest = 64;  // beyond this nobody mistyped one letter
    if (word.empty() || word.size() > longest) return {};
    const std::size_t allowed = word.size() <= 2 ? 1 : word.size() <= 5 ? 2 : 3;
    std::optional<std::string> best;
    std::size_t best_distance = allowed + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t longer = std::max(word.size(), candidate.size());
        const std::size_t shorter = std::min(word.size(), candidate.size());
        if (longer - shorter > allowed) continue;
        const std::size_t distance = edit_distance(word, candidate);
        // Half the letters wrong is another word, not a slip.
        if (distance * 2 > longer || distance >= best_distance) continue;
        best = candidate;
        best_distance = distance;
    }
    return best;
}

bool natural_less(std::string_view a, std::string_view b) {
    std::string_view x = a;
    std::string_view y = b;
    while (!x.empty() && !y.empty()) {
        if (is_digit(x.front()) && is_digit(y.front())) {
            const std::string_view left = take_digits(x);
            const std::string_view right = take_digits(y);
            if (left.size() != right.size()) return left.size() < right.size();
            if (left != right) return left < right;
            continue;
        }
        if (x.front() != y.front()) {
            return static_cast<unsigned char>(x.front()) < static_cast<unsigned char>(y.front());
        }
        x.remove_prefix(1);
        y.remove_prefix(1);
    }
    if (x.empty() != y.empty()) return x.empty();
    return a < b;  // "01" and "1" differ only in zeros: any fixed order keeps this an ordering
}

}  // namespace mercer
