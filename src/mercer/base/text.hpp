// Numbers and names as text, the same everywhere: what is printed reads back as the same value.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// The shortest decimal that reads back as exactly this double: 0.1, 1e-05, 3.
std::string format_number(double value);

/// The whole text as one finite decimal number, or nothing. No locale, no hexadecimal.
std::optional<double> parse_number(std::string_view text);

/// Text shortened and made printable for use inside a message: control characters escaped, at most
/// `limit` characters, in single quotes.
std::string quoted(std::string_view text, std::size_t limit = 40);
// Where <iomanip> has been read, std::quoted would fit a std::string better: these fit it as well.
inline std::string quoted(const std::string& text, std::size_t limit = 40) {
    return quoted(std::string_view(text), limit);
}
inline std::string quoted(std::string& text, std::size_t limit = 40) {
    return quoted(std::string_view(text), limit);
}
inline std::string quoted(const char* text, std::size_t limit = 40) {
    return quoted(std::string_view(text), limit);
}

/// The text with a caret under byte `position`, for parse errors:
///     rbf(gama=1)
///         ^
std::string caret_line(std::string_view text, std::size_t position);

/// The candidate nearest to `word` by edit distance when it is near enough to be a slip of the
/// finger ("gama" → "gamma"), else nothing. For "did you mean".
std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& candidates);

/// Orders names as people do: runs of digits by value, the rest by character, so that "x2" < "x10",
/// "-1" < "1" and "9" < "10".
bool natural_less(std::string_view a, std::string_view b);

}  // namespace mercer
