// LIBSVM text: recognised, read from memory or from a file without taking all of its text into
// memory, and written. libsvm_windows.cpp reads it where the rows need not be in memory either.
#include <algorithm>
#include <atomic>
#include <optional>

#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/libsvm_text.hpp"
#include "mercer/data/formats/detail/libsvm_windows.hpp"
#include "mercer/data/formats/detail/write_rows.hpp"
#include "mercer/data/source.hpp"

namespace mercer::formats {
namespace {

/// "12:" with something behind it that could be a value.
bool is_entry(std::string_view word) {
    const std::size_t colon = word.find_first_not_of("0123456789");
    return colon != 0 && colon != std::string_view::npos && word[colon] == ':';
}

/// True when the line looks like LIBSVM text. Mistakes in it should not hide that, so any word
/// after the first that begins like an entry will do; the first word must be one all through,
/// because a table may begin with a time of day.
bool is_libsvm_line(std::string_view line) {
    bool first = true;
    while (true) {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos || line[begin] == '#') return false;
        line.remove_prefix(begin);
        const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
        const std::string_view word = line.substr(0, end);
        line.remove_prefix(end);
        const bool entry = is_entry(word);
        if (entry && !first) return true;
        if (entry && parse_number(word.substr(word.find(':') + 1))) return true;
        if (first && word.find_first_of(";\"") != std::string_view::npos) return false;
        first = false;
    }
}

/// Bytes of text a task.
constexpr std::size_t piece_bytes = std::size_t{1} << 19;

/// Tasks at a time. The memory a piece is parsed into serves again in the next wave, warm; the rows
/// do not depend on how many there are, since pieces are joined in order.
std::size_t wave_size() {
    return std::clamp<std::size_t>(4 * threads(), 4, 128);
}

template <class T>
Dataset read_as(const Input& input, bool& rounded) {
    const std::vector<std::string_view> texts = cut_behind_lines(input.bytes, piece_bytes);
    const std::size_t wave = wave_size();
    std::vector<Piece<T>> pieces(std::min(wave, texts.size()));
    Whole<T> whole(input, input.bytes.size());
    parse_pieces(
        input, texts.size(), wave,
        [&](std::size_t k) {
            // What will be read again need not be read to the end.
            if (input.options.exact && whole.is_rounded()) {
                pieces[k % wave].restart(0);
            } else {
                PieceParser<T>(input, texts[k], pieces[k % wave]).parse();
            }
        },
        [&](std::size_t first, std::size_t last) {
            const std::string_view text = texts[last - 1];
            whole.append(std::span(pieces).first(last - first),
                         static_cast<std::size_t>(text.data() + text.size() - input.begin()));
        });
    rounded = whole.is_rounded();
    return whole.finish();
}

Dataset in_wanted_form(const Input& input, Dataset data) {
    const std::size_t columns = std::max(data.x.columns(), least_columns(input));
    const bool full = is_quarter_full(data.x.nonzeros(), data.x.size(), columns);
    const bool fill = input.options.form == RowForm::automatic && full;
    data.x = fill ? data.x.widened(columns).to_dense() : fitted(input, std::move(data.x));
    return data;
}

/// The lines of one stretch of a file: those whose first byte lies in [first, last).
class Stretch {
   public:
    /// The text, ended by a newline; nothing when a line is too long to be one.
    std::optional<std::string_view> fetch(const PlainFile& file, std::size_t first,
                                          std::size_t last, std::size_t longest_line) {
        // From the byte before, to see whether a line begins at `first`.
        const std::size_t begin = first == 0 ? 0 : first - 1;
        std::size_t size = 0;
        std::size_t end = last;  // of what to fetch next
        std::size_t newline = npos;
        std::size_t guess = std::size_t{1} << 12;  // how long the last line may be
        while (newline == npos && begin + size < file.size()) {
            end = std::min(file.size(), end + guess);
            guess *= 2;
            if (end - begin + 1 > buffer_size_) grow(end - begin + 1, size);
            file.fetch(begin + size, buffer_.get() + size, end - begin - size);
            const std::size_t searched = std::max(size, last - 1 - begin);
            size = end - begin;
            newline = std::string_view(buffer_.get(), size).find('\n', searched);
            if (size > last - begin + longest_line) return std::nullopt;
        }
        if (newline == npos) {
            newline = size;  // the file's last line may lack its newline
            buffer_[size] = '\n';
        }
        const std::string_view text(buffer_.get(), newline + 1);
        if (first == 0) return text;
        return text.substr(std::min(text.find('\n') + 1, text.size()));
    }

   private:
    static constexpr std::size_t npos = std::string_view::npos;

    void grow(std::size_t size, std::size_t used) {
        auto larger = std::make_unique_for_overwrite<char[]>(size + size / 8);
        if (used > 0) std::memcpy(larger.get(), buffer_.get(), used);
        buffer_ = std::move(larger);
        buffer_size_ = size + size / 8;
    }

    std::unique_ptr<char[]> buffer_;
    std::size_t buffer_size_ = 0;
};

template <class T>
std::optional<Dataset> read_file_as(const Input& input, const PlainFile& file, bool& rounded) {
    const std::size_t count = (file.size() + piece_bytes - 1) / piece_bytes;
    const std::size_t wave = wave_size();
    std::vector<Piece<T>> pieces(std::min(wave, count));
    std::vector<Stretch> stretches(pieces.size());
    Whole<T> whole(input, file.size());
    std::atomic<bool> mistaken = false;
    for (std::size_t first = 0; first < count; first += wave) {
        const double fraction = static_cast<double>(first) / static_cast<double>(count);
        if (!keep_going(input.options.progress, {.task = "reading", .fraction = fraction})) {
            throw Cancelled();
        }
        const std::size_t last = std::min(count, first + wave);
        parallel_for(last - first, [&](std::size_t k) {
            const std::size_t begin = (first + k) * piece_bytes;
            const std::size_t end = std::min(file.size(), begin + piece_bytes);
            const auto text = stretches[k].fetch(file, begin, end, input.options.longest_line);
            if (!text) {
                mistaken = true;
                return;
            }
            try {
                const Input part{*text, input.name, input.options};
                PieceParser<T>(part, *text, pieces[k]).parse();
            } catch (const Mistake&) {
                mistaken = true;
            }
        });
        if (mistaken) return std::nullopt;
        whole.append(std::span(pieces).first(last - first),
                     std::min(file.size(), last * piece_bytes));
        if (whole.is_mixed()) return std::nullopt;
        if (input.options.exact && whole.is_rounded()) break;  // it will be read again
    }
    rounded = whole.is_rounded();
    return whole.finish();
}

Dataset read_libsvm(const Input& input) {
    return in_wanted_form(input, *in_fitting_precision(input, [&](auto number, bool& rounded) {
                              return std::optional(read_as<decltype(number)>(input, rounded));
                          }));
}

std::optional<Dataset> read_libsvm_file(const Input& input, const PlainFile& file) {
    std::optional<Dataset> data = in_fitting_precision(input, [&](auto number, bool& rounded) {
        return read_file_as<decltype(number)>(input, file, rounded);
    });
    if (!data) return std::nullopt;
    return in_wanted_form(input, std::move(*data));
}

std::optional<Dataset> read_libsvm_windows(TextWindows& windows) {
    return read_libsvm_text(windows, piece_bytes);
}

/// One more than the highest column that holds anything.
template <class T>
std::size_t used_columns(const Rows& rows) {
    std::size_t used = 0;
    if (rows.is_sparse()) {
        const SparseView<T> view = rows.sparse_view<T>();
        for (std::size_t k = 0; k < view.nonzeros(); ++k) {
            if (view.value[k] != T{}) used = std::max<std::size_t>(used, view.index[k] + 1UL);
        }
        return used;
    }
    const MatrixView<const T> view = rows.dense_view<T>();
    for (std::size_t i = 0; i < view.rows; ++i) {
        std::size_t j = view.columns;
        while (j > used && view(i, j - 1) == T{}) --j;
        used = j;
        if (used == view.columns) break;
    }
    return used;
}

void append_entry(std::string& text, std::size_t index, auto value) {
    if (!text.empty() && text.back() != '\n') text += ' ';
    append_number(text, index);
    text += ':';
    append_number(text, value);
}

/// Row i as entries; true when there were any.
template <class T>
bool append_entries(std::string& text, const Rows& rows, std::size_t i, std::size_t first_index) {
    bool any = false;
    const auto put = [&](std::size_t column, T value) {
        if (value == T{}) return;
        append_entry(text, column + first_index, value);
        any = true;
    };
    if (rows.is_sparse()) {
        const SparseView<T> view = rows.sparse_view<T>();
        const auto index = view.row_index(i);
        const auto value = view.row_value(i);
        for (std::size_t k = 0; k < index.size(); ++k) put(index[k], value[k]);
    } else {
        const auto row = rows.dense_view<T>().row(i);
        for (std::size_t j = 0; j < row.size(); ++j) put(j, row[j]);
    }
    return any;
}

template <class T>
void write_libsvm_as(const Dataset& data, const WriteOptions& options, Output& output) {
    const bool widen = used_columns<T>(data.x) < data.columns();
    write_rows(data.size(), options.progress, output,
               [&](std::string& text, std::size_t first, std::size_t last) {
                   for (std::size_t i = first; i < last; ++i) {
                       if (!data.y.empty()) append_number(text, data.y.values[i]);
                       bool any = append_entries<T>(text, data.x, i, options.first_index);
                       if (i == 0 && widen) {
                           append_entry(text, data.columns() - 1 + options.first_index, 0);
                           any = true;
                       }
                       if (!any && data.y.empty()) append_entry(text, options.first_index, 0);
                       text += '\n';
                   }
               });
}

void write_libsvm(const Dataset& data, const std::string&, const WriteOptions& options,
                  Output& output) {
    if (options.first_index > 1) {
        throw InvalidInput("first_index is " + std::to_string(options.first_index) +
                           ", expected 0 or 1");
    }
    data.x.is_double() ? write_libsvm_as<double>(data, options, output)
                       : write_libsvm_as<float>(data, options, output);
}

}  // namespace

Format libsvm() {
    return {
        .name = "libsvm",
        .title = "LIBSVM text",
        .about =
            "`label index:value …` a line, indices from 1; SVMlight's comments and `qid` are "
            "skipped",
        // A row may have a label and no entry, so one line does not decide.
        .recognise = [](const Input& input) { return match_line(input, is_libsvm_line); },
        .read = read_libsvm,
        .read_pieces = read_libsvm_file,
        .read_windows = read_libsvm_windows,
        .uses = {.first_index = true},
        .any_width = true,
        .write = write_libsvm,
        .keeps = {.weights = false, .class_names = false},
    };
}

}  // namespace mercer::formats
