// Tables as text: how fields are told apart, and what each column is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {

/// One field: the text between delimiters without surrounding blanks and quotes.
struct Field {
    const char* first = nullptr;
    const char* last = nullptr;
    bool quoted = false;

    std::string_view raw() const { return {first, static_cast<std::size_t>(last - first)}; }
    /// With doubled quotes made single.
    std::string text() const;
};

/// Walks over fields. The delimiter ' ' means runs of blanks.
class FieldScanner {
   public:
    FieldScanner(const Input& input, char delimiter) : input_(input), delimiter_(delimiter) {}

    bool is_blank_here(char c) const {
        return c == ' ' || c == '\r' || (c == '\t' && delimiter_ != '\t');
    }
    const char* skip_blanks(const char* p) const {
        while (is_blank_here(*p)) ++p;
        return p;
    }

    /// The field at p; returns the delimiter or newline behind it.
    const char* field(const char* p, Field& out) const;

    /// From behind a field to the next one, or to the newline when it was the last.
    const char* step(const char* p) const {
        return delimiter_ == ' ' || *p == '\n' ? p : skip_blanks(p + 1);
    }
    /// All fields of the line at p, which is moved to the next line.
    std::vector<Field> line(const char*& p) const;

    /// The start of the next line that is neither blank nor a comment, or the end of the text.
    const char* next_line(const char* p) const;

    char delimiter() const { return delimiter_; }

   private:
    const char* quoted_field(const char* p, Field& out) const;
    bool closes_on_line(const char* p) const;

    const Input& input_;
    char delimiter_;
};

enum class ColumnRole : std::uint8_t { feature, text, label, weight, ignored };

/// What the first lines and the options say about a table.
struct TableLayout {
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    char delimiter = ',';
    const char* first_row = nullptr;  ///< start of the first line of data; null without text
    std::vector<ColumnRole> roles;    ///< one a column
    std::vector<std::string> names;   ///< from the header, one a column; or empty
    std::size_t label = none;         ///< position of the label column
    std::size_t weight = none;
    std::vector<bool> text_like;       ///< one a column: texts, if it is a feature
    std::vector<std::string> objects;  ///< names of the columns of texts, in their order
    /// For each feature that was known beforehand its place among the features here; empty when
    /// they stand in that order.
    std::vector<std::size_t> order;
    std::vector<std::string> classes;  ///< scikit-learn's header: the names of labels 0, 1, …
    std::size_t promised_rows = none;  ///< and how many rows follow

    std::size_t features() const;  ///< that are numbers
    std::size_t texts() const;
    /// "3" or "3 (age)", counting from 1.
    std::string column_text(std::size_t position) const;
};

/// What the first line of a table has outside quotes.
struct Delimiters {
    bool tab = false;
    bool semicolon = false;
    bool comma = false;
};
Delimiters find_delimiters(const Input& input);

TableLayout find_layout(const Input& input, char delimiter);
/// Gives the columns of a layout that has names and kinds their roles: label, weight, left out, and
/// everything else a feature.
void place_columns(const Input& input, TableLayout& layout);

void write_table(const Dataset& data, const WriteOptions& options, char delimiter, Output& output);

/// Gives the columns the roles that ReadOptions::known says; `said` are label and weight as the
/// options name them.
void place_known(const Input& input, const ColumnRoles& said, TableLayout& layout);
/// The column whose name is usual for labels, or none.
std::size_t usual_label(const std::vector<std::string>& names);

/// "", "?", "NA", "N/A", "nan", "null" in any case.
bool is_missing(std::string_view text);

}  // namespace mercer::formats
