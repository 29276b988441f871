// What the readers of the single formats share.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/format.hpp"
#include "mercer/data/formats/detail/number.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/data/source.hpp"

namespace mercer::formats {

/// Thrown inside the readers of text; becomes InvalidInput once line and column are counted.
struct Mistake {
    const char* where;
    std::string message;
};

/// One that more text may heal.
struct OpenQuote : Mistake {};

[[noreturn]] void fail(const Input& input, const std::string& message);
[[noreturn]] void fail_at(const Input& input, const char* where, const std::string& message);
Location location_of(const Input& input, const char* where);
/// What is said of a line of so many bytes.
std::string long_line(std::size_t bytes, std::size_t longest);
/// And of a label, in quotes, that is a name where numbers came before, or a number behind names.
std::string mixed_labels(const std::string& label, bool is_name);

/// With line and column; in a line longer than the options allow the line itself is the mistake.
[[noreturn]] void fail_mistake(const Input& input, const Mistake& mistake);

/// The word at `where`, up to the next blank, comma or line end, in quotes for a message.
std::string word_at(const Input& input, const char* where);

/// The mistake of text that is no usable number; `where` is its first character.
template <class T>
Mistake number_mistake(const Input& input, const Number<T>& number, const char* where) {
    const std::string found = "found " + word_at(input, where);
    if (number.kind == NumberKind::not_finite) return {where, found + ", expected a finite number"};
    if (number.kind == NumberKind::too_large) {
        return {where, found + ", which is too large for double precision (1.8e308)"};
    }
    return {where, found + ", expected a number"};
}

/// The format the options name, or else the one that recognises the input. Text is made fit for
/// its reader: `copy` holds it where it had to be changed. Throws when no reader fits.
const Format& settle_format(Input& input, Content& copy);
/// The format of a folder; nullptr when none reads folders like this one.
const Format* folder_format(const Input& input);

/// The first line for which `tells`, among the first hundred of the first 64 KiB.
Match match_line(const Input& input, bool (*tells)(std::string_view line));

/// Throws for an option that has no effect where `uses` are the ones that have; `what` it is read:
/// "CSV", "@iris".
void check_uses(const Input& input, const OptionUses& uses, const std::string& what);

/// A file of labels, or of weights: an array, or text with one a line.
Labels read_labels_file(const std::string& path, const ReadOptions& options);
std::vector<double> read_weights_file(const std::string& path);

/// Text with one label a line; what else stands on a line belongs to the label.
Labels read_label_lines(const Input& input);

/// True when a label written as a whole number is not the double it became, beyond 2^53: two
/// classes might become one. And what is said of it.
bool loses_digits(std::string_view text, double value);
std::string lost_digits(std::string_view text, double value);
/// Throws a Mistake for such a label.
void check_whole_label(const char* first, const char* last, double value);

/// Labels gathered one by one; numbers or names, not both.
struct LabelColumn {
    std::vector<double> values;
    std::vector<std::string> names;
    const char* first_number = nullptr;
    const char* first_name = nullptr;

    void add(double value, const char* where);
    void add(std::string name, const char* where);
    void append(LabelColumn&& other);

    /// How far it is, to come back to.
    struct Mark {
        std::size_t values;
        std::size_t names;
        const char* first_number;
        const char* first_name;
    };
    Mark mark() const { return {values.size(), names.size(), first_number, first_name}; }
    void cut(const Mark& mark);
};
Labels labels_from(const Input& input, LabelColumn column);

/// Names to labels: their positions in the ordered list of different names.
Labels labels_from_names(const std::vector<std::string>& names);

/// Throws when that many numbers are more than may be taken for what was read: before they are
/// asked for.
void check_memory(const Input& input, std::size_t rows, std::size_t columns, std::size_t item);

/// The fewest columns that rows of sparse data get.
std::size_t least_columns(const Input& input);
/// The rows in the width and form the options ask for.
Rows fitted(const Input& input, Rows rows);

/// Data read in single precision, or in double where that would do harm (ReadOptions::exact).
/// `read_as(T, rounded)` reads it into numbers of type T, says whether a number was changed by
/// that, and gives nothing when it cannot.
template <class ReadAs>
std::optional<Dataset> in_fitting_precision(const Input& input, const ReadAs& read_as) {
    bool rounded = false;
    if (input.options.double_precision) return read_as(double{}, rounded);
    std::optional<Dataset> single = read_as(float{}, rounded);
    if (!single || !rounded) return single;
    if (!input.options.exact && !column_hurt_by_single(single->x)) return single;
    if (input.options.exact) single.reset();
    std::optional<Dataset> in_double = read_as(double{}, rounded);
    // A column that seemed constant may have been so all along.
    const bool needed = input.options.exact || !in_double || column_hurt_by_single(in_double->x);
    return needed ? std::move(in_double) : std::move(single);
}

/// Dense rows in which NaN stands for a missing value become rows without (MissingValues other
/// than refuse). `name_of(j)` names column j for messages.
template <class T>
void fill_missing(const Input& input, std::vector<T>& values, std::size_t columns,
                  const std::function<std::string(std::size_t)>& name_of);

/// The value for the missing ones of a column that has these, in the order of the rows, by the rule
/// mean or median.
template <class T>
T replacement(const Input& input, std::vector<T> present, const std::string& name);

/// A column given as "first", "last" or a number from 1 (-1: the last), as a position from 0.
/// Nothing when the text is none of these. Throws when the number is out of range.
std::optional<std::size_t> column_position(const Input& input, const std::string& text,
                                           std::size_t columns);

/// Label and weight of a table or array of so many columns, found by position: where they were
/// among the columns known, or absent. `said` is what the options name, and `usual` where a label
/// is looked for when nothing else tells. Throws unless the other columns are as many as known.
ColumnRoles known_positions(const Input& input, std::size_t columns, const ColumnRoles& said,
                            std::size_t usual);

/// Features by their names, for data whose labels do not stand among them. Throws InvalidInput when
/// a known feature is absent, or without names when dense rows have another number of columns.
void order_known(const Input& input, Dataset& data);

/// Cuts text behind newlines into pieces of about `size` bytes, whatever the number of threads.
std::vector<std::string_view> cut_behind_lines(std::string_view text, std::size_t size);

/// Calls parse(k) for every k below count, each on some thread, `wave` of them at a time, and after
/// each wave collect(first, last) on this thread, so that what a piece was parsed into can be used
/// again. Of the mistakes thrown the one first in the text is reported, whichever thread met it.
void parse_pieces(const Input& input, std::size_t count, std::size_t wave,
                  const std::function<void(std::size_t)>& parse,
                  const std::function<void(std::size_t, std::size_t)>& collect);

/// Asks for large pages under memory about to be written for the first time: faulting in small ones
/// takes as long as parsing. A hint that may go unheard.
void prefer_large_pages(void* memory, std::size_t bytes);

}  // namespace mercer::formats
