#include "mercer/base/detail/scanner.hpp"

#include <algorithm>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool starts_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
}

bool continues_word(char c) {
    return starts_word(c) || is_digit(c) || c == '.';
}

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

}  // namespace

Scanner::Scanner(std::string_view text, std::string source)
    : text_(text), source_(std::move(source)) {
    if (text.size() > longest_text) {
        throw InvalidInput(source_ + ": the text is " + std::to_string(text.size()) +
                           " bytes long; at most " + std::to_string(longest_text) +
                           " are read. Write it shorter.");
    }
}

std::size_t Scanner::position() {
    while (next_ < text_.size() && is_blank(text_[next_])) ++next_;
    return next_;
}

bool Scanner::at_end() {
    return position() == text_.size();
}

char Scanner::peek() {
    return at_end() ? '\0' : text_[next_];
}

bool Scanner::accept(char c) {
    if (at_end() || text_[next_] != c) return false;
    ++next_;
    return true;
}

void Scanner::expect(char c, std::string_view purpose) {
    if (accept(c)) return;
    fail(std::string("expected '") + c + "' " + std::string(purpose) + ", found " + found());
}

bool Scanner::at_word() {
    return !at_end() && starts_word(text_[next_]);
}

std::string Scanner::word() {
    const std::size_t first = position();
    while (next_ < text_.size() && continues_word(text_[next_])) ++next_;
    return std::string(text_.substr(first, next_ - first));
}

bool Scanner::at_number() {
    if (at_end()) return false;
    if (is_digit(text_[next_])) return true;
    return text_[next_] == '.' && next_ + 1 < text_.size() && is_digit(text_[next_ + 1]);
}

double Scanner::number() {
    const std::size_t first = position();
    std::size_t end = first;
    const auto digits = [&] {
        while (end < text_.size() && is_digit(text_[end])) ++end;
    };
    digits();
    if (end < text_.size() && text_[end] == '.') {
        ++end;
        digits();
    }
    // The exponent belongs to the number only when digits follow it.
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
        std::size_t after = end + 1;
        if (after < text_.size() && (text_[after] == '+' || text_[after] == '-')) ++after;
        if (after < text_.size() && is_digit(text_[after])) {
            end = after;
            digits();
        }
    }
    const std::string_view token = text_.substr(first, end - first);
    const auto value = parse_number(token);
    if (!value) fail("expected a number of at most 1.8e308, found " + quoted(token));
    next_ = end;
    return *value;
}

std::string Scanner::quoted_name() {
    const std::size_t first = position();
    expect('"', "to open a quoted name");
    std::string name;
    while (next_ < text_.size() && text_[next_] != '"') {
        if (text_[next_] == '\\' && next_ + 1 < text_.size()) ++next_;
        name += text_[next_++];
    }
    if (next_ == text_.size()) fail_at(first, "this quote is never closed");
    ++next_;
    if (name.empty()) fail_at(first, "a name in quotes must not be empty");
    return name;
}

std::size_t Scanner::index(std::string_view purpose) {
    const std::size_t first = position();
    // 15 digits count more columns than any memory holds, and leave room to add one.
    std::size_t value = 0;
    while (next_ < text_.size() && is_digit(text_[next_]) && next_ - first < 15) {
        value = value * 10 + static_cast<std::size_t>(text_[next_++] - '0');
    }
    if (next_ == first) fail("expected " + std::string(purpose) + ", found " + found());
    if (next_ < text_.size() && is_digit(text_[next_])) {
        fail_at(first, "this number is too large for " + std::string(purpose));
    }
    return value;
}

std::string Scanner::found() {
    if (at_end()) return "the end";
    if (at_word() || at_number()) {
        std::size_t end = next_;
        while (end < text_.size() && continues_word(text_[end])) ++end;
        return quoted(text_.substr(next_, end - next_));
    }
    return quoted(text_.substr(next_, 1));
}

void Scanner::fail_at(std::size_t position, const std::string& message) const {
    const std::string_view before = text_.substr(0, position);
    const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t newline = before.rfind('\n');
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    throw InvalidInput({source_, lines + 1, position - begin + 1},
                       message + "\n" + caret_line(text_, position));
}

void Scanner::enter() {
    if (++depth_ <= deepest_nesting) return;
    --depth_;
    fail("nested more than " + std::to_string(deepest_nesting) + " levels deep");
}

bool is_plain_word(std::string_view text) {
    return !text.empty() && starts_word(text.front()) &&
           std::all_of(text.begin(), text.end(), continues_word);
}

std::string in_double_quotes(std::string_view name) {
    std::string result = "\"";
    for (const char c : name) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + "\"";
}

}  // namespace mercer
