// Reading small languages (kernel expressions, formulas) token by token, with errors that show the
// text and a caret. Everything read is hostile: length and nesting are bounded here, once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mercer {

class Scanner {
   public:
    /// `source` names the language in messages: "kernel", "formula". The text must outlive this.
    Scanner(std::string_view text, std::string source);

    /// Where the next token starts, in bytes, blanks skipped.
    std::size_t position();
    bool at_end();
    /// The next character that is not blank; '\0' at the end.
    char peek();
    /// Takes the character if it is next.
    bool accept(char c);
    /// Takes the character or fails with "expected 'c' to …, found …".
    void expect(char c, std::string_view purpose);

    bool at_word();
    /// A plain word: letters, digits, '_' and '.', not starting with a digit or '.'. Bytes of other
    /// alphabets count as letters.
    std::string word();
    bool at_number();
    /// A decimal number without sign. Fails when it is too large for a double.
    double number();
    bool at_quote() { return peek() == '"'; }
    /// Text in double quotes, where \" and \\ stand for " and \.
    std::string quoted_name();
    /// A whole number that can count columns.
    std::size_t index(std::string_view purpose);

    /// What stands next, for messages: "'x'", "the end".
    std::string found();
    [[noreturn]] void fail(const std::string& message) { fail_at(position(), message); }
    [[noreturn]] void fail_at(std::size_t position, const std::string& message) const;

    /// Back to an earlier position, to read a token in another way.
    void go_back(std::size_t position) { next_ = position; }

    /// Counts one level of nesting for as long as it lives; fails beyond the limit.
    class Level {
       public:
        explicit Level(Scanner& scanner) : scanner_(scanner) { scanner_.enter(); }
        ~Level() { --scanner_.depth_; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;

       private:
        Scanner& scanner_;
    };

    static constexpr std::size_t longest_text = std::size_t{1} << 20;
    static constexpr std::size_t deepest_nesting = 200;

   private:
    void enter();

    std::string_view text_;
    std::string source_;
    std::size_t next_ = 0;
    std::size_t depth_ = 0;
};

/// True for what Scanner::word reads in one piece.
bool is_plain_word(std::string_view text);
/// The name in double quotes, as Scanner::quoted_name reads it.
std::string in_double_quotes(std::string_view name);

}  // namespace mercer
