#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <numeric>

#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/formats/detail/input.hpp"
#include "mercer/data/source.hpp"

namespace mercer::formats {
namespace {

/// The line around `where`.
std::string_view line_at(const Input& input, const char* where) {
    const char* first = where;
    while (first != input.begin() && first[-1] != '\n') --first;
    const char* last = std::find(where, input.end(), '\n');
    return {first, static_cast<std::size_t>(last - first)};
}

}  // namespace

Location location_of(const Input& input, const char* where) {
    const char* line = input.begin();
    std::size_t count = input.lines_before + 1;
    while (const void* found =
               std::memchr(line, '\n', static_cast<std::size_t>(std::max(where, line) - line))) {
        line = static_cast<const char*>(found) + 1;
        ++count;
    }
    return {input.name, count, static_cast<std::size_t>(where - line) + 1};
}

std::string long_line(std::size_t bytes, std::size_t longest) {
    return "found a line of " + std::to_string(bytes) + " bytes, expected at most " +
           std::to_string(longest) + "; if rows really are that long, raise longest_line";
}

std::string mixed_labels(const std::string& label, bool is_name) {
    return "found the label " + label + ", expected " + (is_name ? "a number" : "a name") +
           " as in the rows before; to take all labels for names set `text_labels=true`";
}

void fail(const Input& input, const std::string& message) {
    throw InvalidInput(Location{.file = input.name}, message);
}

void fail_at(const Input& input, const char* where, const std::string& message) {
    throw InvalidInput(location_of(input, where), message);
}

void fail_mistake(const Input& input, const Mistake& mistake) {
    // In a line of megabytes the mistake is the line, not the word somewhere inside it.
    const std::string_view line = line_at(input, mistake.where);
    if (line.size() <= input.options.longest_line) fail_at(input, mistake.where, mistake.message);
    fail_at(input, line.data(), long_line(line.size(), input.options.longest_line));
}

std::string word_at(const Input& input, const char* where) {
    const char* last = where;
    while (last != input.end() && !is_blank(*last) && *last != '\n' && *last != ',' &&
           *last != ';') {
        ++last;
    }
    if (last == where) return "nothing";
    return quoted(std::string_view(where, static_cast<std::size_t>(last - where)));
}

bool loses_digits(std::string_view text, double value) {
    constexpr double exact = 0x1p53;
    if (std::abs(value) < exact) return false;
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    if (!std::ranges::all_of(text, is_digit)) return false;
    std::uint64_t whole = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, whole);
    const bool read = error == std::errc() && end == last && std::abs(value) < 0x1p64;
    return !read || static_cast<std::uint64_t>(std::abs(value)) != whole;
}

std::string lost_digits(std::string_view text, double value) {
    return "found the label " + quoted(text) + ", which as a number would become " +
           format_number(value) +
           "; to take labels for names set `text_labels=true`; a target may be written with a "
           "point or an exponent";
}

void check_whole_label(const char* first, const char* last, double value) {
    const std::string_view text(first, static_cast<std::size_t>(last - first));
    if (loses_digits(text, value)) throw Mistake{first, lost_digits(text, value)};
}

void LabelColumn::add(double value, const char* where) {
    if (first_number == nullptr) first_number = where;
    values.push_back(value);
}

void LabelColumn::add(std::string name, const char* where) {
    if (first_name == nullptr) first_name = where;
    names.push_back(std::move(name));
}

void LabelColumn::append(LabelColumn&& other) {
    if (first_number == nullptr) first_number = other.first_number;
    if (first_name == nullptr) first_name = other.first_name;
    values.insert(values.end(), other.values.begin(), other.values.end());
    names.insert(names.end(), std::make_move_iterator(other.names.begin()),
                 std::make_move_iterator(other.names.end()));
}

void LabelColumn::cut(const Mark& mark) {
    values.resize(mark.values);
    names.resize(mark.names);
    first_number = mark.first_number;
    first_name = mark.first_name;
}

Labels labels_from(const Input& input, LabelColumn column) {
    if (column.names.empty()) return {.values = std::move(column.values), .names = {}};
    if (!column.values.empty()) {
        // A letter among a thousand numbers is a slip, not a class.
        const bool name_later = column.first_name > column.first_number;
        const char* where = name_later ? column.first_name : column.first_number;
        fail_at(input, where, mixed_labels(word_at(input, where), name_later));
    }
    return labels_from_names(column.names);
}

namespace {

void check_line_label(const Input& input, double value, const char* first, const char* last) {
    try {
        check_whole_label(first, last, value);
    } catch (const Mistake& mistake) {
        fail_mistake(input, mistake);
    }
}

}  // namespace

Labels read_label_lines(const Input& input) {
    LabelColumn column;
    const char* p = input.begin();
    while (p != input.end()) {
        const char* end = std::find(p, input.end(), '\n');
        while (p != end && is_blank(*p)) ++p;
        const char* last = end;
        while (last != p && is_blank(last[-1])) --last;
        const std::string_view text(p, static_cast<std::size_t>(last - p));
        const std::optional<double> number = parse_number(text);
        if (text.empty()) {
            // A blank line holds no label; the count of labels will tell if one is missing.
        } else if (number && !input.options.text_labels) {
            check_line_label(input, *number, p, last);
            column.add(*number, p);
        } else {
            column.add(std::string(text), p);
        }
        p = end == input.end() ? end : end + 1;
    }
    return labels_from(input, std::move(column));
}

Labels labels_from_names(const std::vector<std::string>& names) {
    const auto less = [](const std::string& a, const std::string& b) {
        if (natural_less(a, b)) return true;
        return !natural_less(b, a) && a < b;
    };
    Labels labels;
    labels.names = names;
    std::sort(labels.names.begin(), labels.names.end());
    labels.names.erase(std::unique(labels.names.begin(), labels.names.end()), labels.names.end());
    std::sort(labels.names.begin(), labels.names.end(), less);
    for (const std::string& name : names) {
        const auto found = std::lower_bound(labels.names.begin(), labels.names.end(), name, less);
        labels.values.push_back(static_cast<double>(found - labels.names.begin()));
    }
    return labels;
}

void check_memory(const Input& input, std::size_t rows, std::size_t columns, std::size_t item) {
    check_allowance(
        input.name,
        static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(item),
        input.bytes.size(), std::to_string(rows) + " x " + std::to_string(columns) + " numbers");
}

std::size_t least_columns(const Input& input) {
    const std::size_t known = input.options.known ? input.options.known->features : 0;
    return std::max(known, input.options.columns);
}

Rows fitted(const Input& input, Rows rows) {
    const std::size_t item = rows.is_double() ? sizeof(double) : sizeof(float);
    const std::size_t columns =
        std::max(rows.columns(), rows.is_sparse() ? least_columns(input) : input.options.columns);
    RowForm form = input.options.form;
    if (form == RowForm::automatic) form = rows.is_sparse() ? RowForm::sparse : RowForm::dense;
    if (form == RowForm::dense || !rows.is_sparse()) {
        check_memory(input, rows.size(), columns, item);
    }
    // A dense set that is to be sparse is widened after, a sparse one that is to be dense before.
    if (form == RowForm::sparse) return rows.to_sparse().widened(columns);
    return rows.widened(columns).to_dense();
}

template <class T>
T replacement(const Input& input, std::vector<T> present, const std::string& name) {
    if (present.empty()) {
        fail(input, "column " + name + " has no value at all to impute from; leave the column out");
    }
    const auto middle = std::next(present.begin(), static_cast<std::ptrdiff_t>(present.size() / 2));
    if (input.options.missing == MissingValues::median) {
        std::nth_element(present.begin(), middle, present.end());
        if (present.size() % 2 == 1) return *middle;
        const T below = *std::max_element(present.begin(), middle);
        return std::midpoint(below, *middle);
    }
    double sum = 0;
    for (const T value : present) sum += static_cast<double>(value);
    return static_cast<T>(sum / static_cast<double>(present.size()));
}

template float replacement(const Input&, std::vector<float>, const std::string&);
template double replacement(const Input&, std::vector<double>, const std::string&);

template <class T>
void fill_missing(const Input& input, std::vector<T>& values, std::size_t columns,
                  const std::function<std::string(std::size_t)>& name_of) {
    std::vector<char> missing(columns, 0);
    for (std::size_t k = 0; k < values.size(); k += columns) {
        for (std::size_t j = 0; j < columns; ++j) {
            if (std::isnan(values[k + j])) missing[j] = 1;
        }
    }
    for (std::size_t j = 0; j < columns; ++j) {
        if (missing[j] == 0) continue;
        T value{};
        if (input.options.missing != MissingValues::zero) {
            std::vector<T> present;
            for (std::size_t k = j; k < values.size(); k += columns) {
                if (!std::isnan(values[k])) present.push_back(values[k]);
            }
            value = replacement(input, std::move(present), name_of(j));
        }
        for (std::size_t k = j; k < values.size(); k += columns) {
            if (std::isnan(values[k])) values[k] = value;
        }
    }
}

template void fill_missing(const Input&, std::vector<float>&, std::size_t,
                           const std::function<std::string(std::size_t)>&);
template void fill_missing(const Input&, std::vector<double>&, std::size_t,
                           const std::function<std::string(std::size_t)>&);

std::optional<std::size_t> column_position(const Input& input, const std::string& text,
                                           std::size_t columns) {
    if (text == "first") return 0;
    if (text == "last") return columns - 1;
    long long number = 0;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (text.empty() || end != last || error != std::errc()) return std::nullopt;
    const auto count = static_cast<long long>(columns);
    if (number >= 1 && number <= count) return static_cast<std::size_t>(number - 1);
    if (number < 0 && number >= -count) return static_cast<std::size_t>(count + number);
    fail(input, "there is no column " + text + ": columns are numbered from 1 to " +
                    std::to_string(columns) + " (or from the end, -1 to -" +
                    std::to_string(columns) + ")");
}

std::vector<std::string_view> cut_behind_lines(std::string_view text, std::size_t size) {
    std::vector<std::string_view> pieces;
    while (!text.empty()) {
        std::size_t cut = text.size() <= size ? std::string_view::npos : text.find('\n', size);
        cut = cut == std::string_view::npos ? text.size() : cut + 1;
        pieces.push_back(text.substr(0, cut));
        text.remove_prefix(cut);
    }
    return pieces;
}

void parse_pieces(const Input& input, std::size_t count, std::size_t wave,
                  const std::function<void(std::size_t)>& parse,
                  const std::function<void(std::size_t, std::size_t)>& collect) {
    std::vector<std::optional<Mistake>> mistakes(wave);
    for (std::size_t first = 0; first < count; first += wave) {
        const double fraction = static_cast<double>(first) / static_cast<double>(count);
        if (!keep_going(input.options.progress, {.task = "reading", .fraction = fraction})) {
            throw Cancelled();
        }
        const std::size_t last = std::min(count, first + wave);
        parallel_for(last - first, [&](std::size_t task) {
            try {
                parse(first + task);
            } catch (Mistake& mistake) {
                mistakes[task] = std::move(mistake);
            }
        });
        for (const std::optional<Mistake>& mistake : mistakes) {
            if (mistake) fail_mistake(input, *mistake);
        }
        collect(first, last);
    }
}

void prefer_large_pages(void* memory, std::size_t bytes) {
    constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
    const auto first = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page;
    const auto last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / page * page;
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace mercer::formats
