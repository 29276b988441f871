// The rows of a table in text: a piece of text becomes numbers, labels and weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/table.hpp"

namespace mercer::formats {

/// Bytes of text a task.
constexpr std::size_t table_piece_bytes = std::size_t{1} << 19;

/// The rows of one piece of the file, or of the whole of it.
template <class T>
struct TablePart {
    std::vector<T> values;
    LabelColumn labels;
    std::vector<double> weights;
    std::vector<Texts> texts;  ///< one a column of texts
    std::size_t rows = 0;
    bool missing = false;
    bool rounded = false;  ///< some value is not as it was written

    void append(TablePart&& other) {
        values.insert(values.end(), other.values.begin(), other.values.end());
        labels.append(std::move(other.labels));
        weights.insert(weights.end(), other.weights.begin(), other.weights.end());
        texts.resize(std::max(texts.size(), other.texts.size()));
        for (std::size_t k = 0; k < other.texts.size(); ++k) {
            for (std::size_t i = 0; i < other.texts[k].size(); ++i) {
                texts[k].push_back(other.texts[k].text(i));
            }
        }
        rows += other.rows;
        missing |= other.missing;
        rounded |= other.rounded;
    }
};

template <class T>
class RowParser {
   public:
    RowParser(const Input& input, const TableLayout& layout, std::string_view text,
              TablePart<T>& part)
        : input_(input),
          layout_(layout),
          scan_(input, layout.delimiter),
          part_(part),
          p_(text.data()),
          last_(text.data() + text.size()),
          features_(layout.features()) {
        part.texts.resize(layout.texts());
    }

    void parse() {
        while (next_row()) {
        }
    }

    /// The same of text that may end inside a row, within quotes: where that row begins, or the
    /// end.
    const char* parse_whole_rows() {
        for (;;) {
            const char* const begin = p_;
            const std::size_t values = part_.values.size(), weights = part_.weights.size();
            const LabelColumn::Mark labels = part_.labels.mark();
            try {
                if (!next_row()) return p_;
            } catch (const OpenQuote&) {
                part_.values.resize(values);
                part_.weights.resize(weights);
                part_.labels.cut(labels);
                return begin;
            }
        }
    }

   private:
    std::size_t left() const { return static_cast<std::size_t>(last_ - p_); }

    /// False when there is none.
    bool next_row() {
        while (p_ != last_) {
            p_ = scan_.skip_blanks(p_);
            if (*p_ == '\n' || *p_ == '#') {
                p_ = static_cast<const char*>(std::memchr(p_, '\n', left())) + 1;
                continue;
            }
            const char* line = p_;
            parse_row(line);
            const auto length = static_cast<std::size_t>(p_ - line);
            if (length > input_.options.longest_line) {
                throw Mistake{line, long_line(length, input_.options.longest_line)};
            }
            ++p_;
            ++part_.rows;
            return true;
        }
        return false;
    }

    /// Leaves p_ at the newline behind the row.
    void parse_row(const char* line) {
        const std::size_t place = part_.values.size();
        part_.values.resize(place + features_);
        T* out = part_.values.data() + place;
        const std::size_t columns = layout_.roles.size();
        std::size_t texts = 0;
        for (std::size_t j = 0; j < columns; ++j) {
            switch (layout_.roles[j]) {
                case ColumnRole::feature: *out++ = feature(j); break;
                case ColumnRole::text: text(part_.texts[texts++]); break;
                case ColumnRole::label: label(); break;
                case ColumnRole::weight: weight(); break;
                case ColumnRole::ignored: ignore(); break;
            }
            if (*p_ == '\n') {
                if (j + 1 != columns) refuse_width(line);
                return;
            }
            p_ = scan_.step(p_);
        }
        refuse_width(line);
    }

    [[noreturn]] void refuse_width(const char* line) const {
        const char* p = line;
        throw Mistake{line, "found " + std::to_string(scan_.line(p).size()) + " fields, expected " +
                                std::to_string(layout_.roles.size()) + " as in the rows before"};
    }

    /// True when a field may end here; then p is moved to its delimiter.
    bool ends_field(const char*& p) const {
        const char* behind = scan_.skip_blanks(p);
        if (*behind != '\n' && *behind != layout_.delimiter &&
            !(layout_.delimiter == ' ' && behind != p)) {
            return false;
        }
        p = behind;
        return true;
    }

    T feature(std::size_t j) {
        const char* first = scan_.skip_blanks(p_);
        const Number<T> number = read_number<T>(first, last_);
        const char* end = number.end;
        if (is_usable(number) && ends_field(end)) {
            p_ = end;
            return number.value;
        }
        return unusual_feature(j);
    }

    bool is_usable(const Number<T>& number) {
        if (number.kind == NumberKind::good) return true;
        if (number.kind != NumberKind::rounded) return false;
        part_.rounded = true;
        return true;
    }

    /// A number in quotes, a missing value, or a mistake.
    T unusual_feature(std::size_t j) {
        Field field;
        p_ = scan_.field(p_, field);
        if (is_missing(field.raw())) {
            if (input_.options.missing == MissingValues::refuse) {
                const std::string found =
                    field.raw().empty() ? "an empty field" : quoted(field.raw());
                throw Mistake{field.first, "found " + found + " in column " +
                                               layout_.column_text(j) +
                                               ", expected a number; to fill in missing values " +
                                               "set `missing=mean`, median or zero"};
            }
            part_.missing = true;
            return std::numeric_limits<T>::quiet_NaN();
        }
        const Number<T> number = read_number<T>(field.first, last_);
        if (number.end == field.last && is_usable(number)) return number.value;
        const bool whole = number.end == field.last && number.kind != NumberKind::malformed;
        if (whole) throw number_mistake(input_, number, field.first);
        throw Mistake{field.first,
                      "found " + quoted(field.raw()) + " in column " + layout_.column_text(j) +
                          ", expected a number" +
                          "; columns that hold text do so from the first row on, or by "
                          "`text_columns`"};
    }

    void label() {
        Field field;
        p_ = scan_.field(p_, field);
        const Number<double> number = read_number<double>(field.first, last_);
        const bool whole = number.end == field.last && number.kind != NumberKind::malformed;
        const bool not_a_number = whole && number.kind == NumberKind::not_finite;
        if (field.raw().empty() || field.raw() == "?" || not_a_number) {
            throw Mistake{field.first, "found " +
                                           (field.raw().empty() ? std::string("an empty field")
                                                                : quoted(field.raw())) +
                                           " in the label column, expected a label"};
        }
        if (whole && number.kind == NumberKind::too_large) {
            throw number_mistake(input_, number, field.first);
        }
        if (whole && !input_.options.text_labels) {
            check_whole_label(field.first, field.last, number.value);
            part_.labels.add(number.value, field.first);
        } else {
            part_.labels.add(field.text(), field.first);
        }
    }

    void text(Texts& out) {
        Field field;
        p_ = scan_.field(p_, field);
        if (field.quoted) {
            out.push_back(field.text());
        } else {
            out.push_back(field.raw());
        }
    }

    void ignore() {
        Field field;
        p_ = scan_.field(p_, field);
    }

    void weight() {
        Field field;
        p_ = scan_.field(p_, field);
        const Number<double> number = read_number<double>(field.first, last_);
        if (number.kind != NumberKind::good || number.end != field.last || number.value < 0) {
            throw Mistake{field.first, "found " + quoted(field.raw()) +
                                           " in the weight column, expected a number from 0"};
        }
        part_.weights.push_back(number.value);
    }

    const Input& input_;
    const TableLayout& layout_;
    FieldScanner scan_;
    TablePart<T>& part_;
    const char* p_;
    const char* last_;
    std::size_t features_;
};

/// What a table has beside its numbers: names and roles of its columns, labels and weights, of so
/// many rows. Throws InvalidInput when the table promised another number.
Dataset table_outline(const Input& input, const TableLayout& layout, std::size_t rows);
/// Names of classes that a header has said, for labels that are their numbers.
void name_classes(const TableLayout& layout, Labels& labels);
/// Where each feature stands among all columns of the file.
std::vector<std::size_t> feature_positions(const TableLayout& layout);
/// Names for columns that the options have added.
void name_added_columns(Dataset& data);

/// A table of numbers from text of any length; nothing where it has columns of texts, or where the
/// options change the form of its rows.
std::optional<Dataset> read_table_text(TextWindows& windows,
                                       char (*delimiter_of)(const Input& input));

}  // namespace mercer::formats
