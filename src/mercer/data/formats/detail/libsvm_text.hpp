// LIBSVM and SVMlight text: one row a line, "label index:value index:value … # comment", with
// indices from 1 in increasing order; what is not listed is zero. SVMlight's "qid:…" after the
// label is skipped. Here a piece of text becomes rows, and pieces become a whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/parallel.hpp"
#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {

/// The rows of one piece of the file.
template <class T>
struct Piece {
    std::unique_ptr<std::uint32_t[]> index;
    std::unique_ptr<T[]> value;
    std::size_t capacity = 0;
    std::size_t entries = 0;
    std::vector<std::size_t> row_ends;  ///< entries up to and with each row
    std::vector<double> labels;
    std::size_t width = 0;                     ///< highest index seen, plus one
    bool rounded = false;                      ///< some value is not as it was written
    const char* first_labelled = nullptr;      ///< the first row with a label
    const char* first_not_labelled = nullptr;  ///< and the first without

    /// Empties the piece and makes room for the entries of `bytes` of text.
    void restart(std::size_t bytes) {
        // The shortest entry, "1:1" and a blank, takes four bytes.
        const std::size_t most = bytes / 4 + 1;
        if (most > capacity) {
            index = std::make_unique_for_overwrite<std::uint32_t[]>(most);
            value = std::make_unique_for_overwrite<T[]>(most);
            capacity = most;
        }
        entries = 0;
        row_ends.clear();
        labels.clear();
        width = 0;
        rounded = false;
        first_labelled = nullptr;
        first_not_labelled = nullptr;
    }
};

/// An index of one to four digits before a colon: nearly all of them, and so quick to read because
/// the length seldom changes within a row, where indices ascend. Returns the number of digits, 0
/// when this is something else.
inline std::size_t read_short_index(const char* p, std::size_t& number) {
    number = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        if (!is_digit(p[k])) return 0;
        number = number * 10 + static_cast<std::size_t>(p[k] - '0');
        if (p[k + 1] == ':') return k + 1;
    }
    return 0;
}

template <class T>
class PieceParser {
   public:
    PieceParser(const Input& input, std::string_view text, Piece<T>& piece)
        : input_(input), piece_(piece), p_(text.data()), last_(text.data() + text.size()) {
        piece.restart(text.size());
    }

    void parse() {
        while (p_ != last_) {
            const char* line = p_;
            skip_blanks();
            if (!at_line_end()) parse_row();
            if (*p_ == '#') p_ = static_cast<const char*>(std::memchr(p_, '\n', left()));
            if (static_cast<std::size_t>(p_ - line) > input_.options.longest_line) {
                throw Mistake{line, ""};
            }
            ++p_;
        }
        piece_.width = width_;
    }

   private:
    std::size_t left() const { return static_cast<std::size_t>(last_ - p_); }
    bool at_line_end() const { return *p_ == '\n' || *p_ == '#'; }
    void skip_blanks() {
        while (is_blank(*p_)) ++p_;
    }

    void parse_row() {
        parse_label();
        std::size_t entries = piece_.entries;
        std::uint32_t* const index = piece_.index.get();
        T* const value = piece_.value.get();
        const std::size_t first_index = input_.options.first_index;
        std::size_t lowest = first_index;  // the smallest index that may come next
        const char* p = p_;                // a copy that can stay in a register
        for (;;) {
            // The usual entry first: a blank, then an index of few digits.
            if (*p == ' ') ++p;
            const char* word = p;
            std::size_t number = 0;
            p += read_short_index(p, number);
            if (p == word) {
                p_ = p;
                skip_blanks();
                if (at_line_end()) break;
                word = p_;
                number = parse_index();
                p = p_;
            }
            if (number < lowest) refuse_index(word, lowest);
            ++p;
            T parsed{};
            if (is_digit(*p) && (p[1] == ' ' || p[1] == '\n')) {
                parsed = static_cast<T>(*p++ - '0');
            } else {
                p_ = p;
                parsed = parse_value();
                p = p_;
            }
            lowest = number + 1;
            index[entries] = static_cast<std::uint32_t>(number - first_index);
            value[entries] = parsed;
            // A zero written out widens the set but need not be kept.
            entries += parsed != T{} ? 1 : 0;
        }
        piece_.entries = entries;
        piece_.row_ends.push_back(entries);
        width_ = std::max(width_, lowest - first_index);
    }

    /// An index of any length at p_, which then points at the colon.
    std::size_t parse_index() {
        std::size_t number = 0;
        const char* word = p_;
        for (; is_digit(*p_); ++p_) number = number * 10 + static_cast<std::size_t>(*p_ - '0');
        if (*p_ != ':' || p_ == word || p_ - word > 10 ||
            number > std::numeric_limits<std::uint32_t>::max()) {
            refuse_index(word, 0);
        }
        return number;
    }

    T parse_value() {
        const Number<T> number = read_number<T>(p_, last_);
        if (number.kind != NumberKind::good) {
            if (number.kind != NumberKind::rounded) throw number_mistake(input_, number, p_);
            piece_.rounded = true;
        }
        if (!is_blank(*number.end) && *number.end != '\n' && *number.end != '#') {
            throw Mistake{p_, "found " + word_at(input_, p_) + ", expected a number"};
        }
        p_ = number.end;
        return number.value;
    }

    void parse_label() {
        const char* word = p_;
        // The usual label, a sign and a digit or a digit alone, in short.
        const char* digit = *word == '+' || *word == '-' ? word + 1 : word;
        if (is_digit(*digit) && digit[1] == ' ' && digit[2] != 'q') {
            const double value = *digit - '0';
            add_label(*word == '-' ? -value : value, word);
            p_ = digit + 1;
            return;
        }
        const Number<double> number = read_number<double>(p_, last_);
        if (number.kind == NumberKind::good && *number.end == ':') {
            // No label: the row begins with its first entry.
            if (piece_.first_not_labelled == nullptr) piece_.first_not_labelled = word;
            return;
        }
        if (number.kind != NumberKind::good && number.kind != NumberKind::malformed) {
            throw number_mistake(input_, number, word);
        }
        if (number.kind == NumberKind::good && *number.end == ',') {
            throw Mistake{word,
                          "found several labels in one row, expected one; make one file a label"};
        }
        if (number.kind != NumberKind::good ||
            (!is_blank(*number.end) && *number.end != '\n' && *number.end != '#')) {
            throw Mistake{word, "found " + word_at(input_, word) + ", expected a label: a number"};
        }
        check_whole_label(word, number.end, number.value);
        add_label(number.value, word);
        p_ = number.end;
        skip_query();
    }

    void add_label(double value, const char* where) {
        if (piece_.first_labelled == nullptr) piece_.first_labelled = where;
        piece_.labels.push_back(value);
    }

    /// "qid:7", SVMlight's ranking groups.
    void skip_query() {
        skip_blanks();
        if (left() < 4 || std::string_view(p_, 4) != "qid:") return;
        while (!is_blank(*p_) && *p_ != '\n') ++p_;
    }

    [[noreturn]] void refuse_index(const char* word, std::size_t lowest) const {
        const Number<double> number = read_number<double>(word, last_);
        const char* end = word;
        while (is_digit(*end)) ++end;
        const std::string digits(word, end);
        const std::string first = std::to_string(input_.options.first_index);
        if (end == word || *end != ':' || number.kind != NumberKind::good) {
            throw Mistake{word, "found " + word_at(input_, word) +
                                    ", expected index:value with a whole index from " + first};
        }
        if (number.value > std::numeric_limits<std::uint32_t>::max() || digits.size() > 10) {
            throw Mistake{word, "found index " + digits + ", expected at most 4294967295"};
        }
        if (number.value < static_cast<double>(input_.options.first_index)) {
            throw Mistake{word, "found index " + digits + ", expected indices from " + first +
                                    "; for a file that counts from 0 set `first_index=0`"};
        }
        if (number.value == static_cast<double>(lowest - 1)) {
            throw Mistake{word, "found index " + digits + " a second time, expected each index " +
                                    "once a row"};
        }
        throw Mistake{word, "found index " + digits + " after " + std::to_string(lowest - 1) +
                                ", expected increasing indices; sort the entries of the row"};
    }

    const Input& input_;
    Piece<T>& piece_;
    const char* p_;
    const char* last_;
    std::size_t width_ = 0;
};

constexpr const char* no_libsvm_rows =
    "holds no rows, expected lines of the form label index:value ...";

/// What is said of a row that begins with this word and has a label, or none, unlike those before.
inline std::string some_labels(const std::string& word, bool absent) {
    return absent ? "found " + word + ", expected a label as in the rows before"
                  : "found the label " + word + ", expected none as in the rows before";
}

/// The pieces put together.
template <class T>
class Whole {
   public:
    /// `bytes` of text are to come.
    Whole(const Input& input, std::size_t bytes) : input_(input), bytes_(bytes) {
        starts_.push_back(0);
    }

    /// Some value is not as it was written.
    bool is_rounded() const { return rounded_; }
    /// Some rows have a label and others have not.
    bool is_mixed() const { return labelled_ != nullptr && not_labelled_ != nullptr; }

    /// One vector a task, each filled in the order of the pieces.
    void append(std::span<const Piece<T>> pieces, std::size_t bytes_so_far) {
        std::size_t entries = index_.size();
        std::size_t rows = starts_.size();
        for (const Piece<T>& piece : pieces) {
            entries += piece.entries;
            rows += piece.row_ends.size();
        }
        const double share = static_cast<double>(bytes_) /
                             static_cast<double>(std::max<std::size_t>(bytes_so_far, 1));
        reserve(index_, entries, share, 4);
        reserve(value_, entries, share, 4);
        reserve(starts_, rows, share, 2);
        reserve(labels_, rows, share, 2);
        parallel_for(3, [&](std::size_t task) {
            for (const Piece<T>& piece : pieces) {
                if (task == 0) {
                    const std::uint32_t* first = piece.index.get();
                    index_.insert(index_.end(), first, first + piece.entries);
                } else if (task == 1) {
                    const T* first = piece.value.get();
                    value_.insert(value_.end(), first, first + piece.entries);
                } else {
                    append_rows(piece);
                }
            }
        });
    }

    Dataset finish() {
        if (starts_.size() == 1) {
            fail(input_, no_libsvm_rows);
        }
        check_labels();
        Dataset data;
        data.y.values = std::move(labels_);
        data.x = Rows::sparse(std::move(starts_), std::move(index_), std::move(value_), width_);
        return data;
    }

   private:
    /// Room for `size` items now and for what the rest of the file will bring if it goes on as it
    /// began, at least `shortest` bytes of text an item: pages that are never used cost nothing.
    template <class Item>
    void reserve(std::vector<Item>& items, std::size_t size, double share, std::size_t shortest) {
        if (size <= items.capacity()) return;
        const double expected = static_cast<double>(size) * share * 1.02;
        const auto most = static_cast<double>(bytes_ / shortest + 2);
        const auto count = std::max(size, static_cast<std::size_t>(std::min(expected, most)));
        items.reserve(count);
        const std::size_t used = items.size();
        prefer_large_pages(items.data() + used, (count - used) * sizeof(Item));
    }

    void append_rows(const Piece<T>& piece) {
        const std::size_t before = starts_.back();
        for (const std::size_t end : piece.row_ends) starts_.push_back(before + end);
        labels_.insert(labels_.end(), piece.labels.begin(), piece.labels.end());
        width_ = std::max(width_, piece.width);
        if (labelled_ == nullptr) labelled_ = piece.first_labelled;
        if (not_labelled_ == nullptr) not_labelled_ = piece.first_not_labelled;
        rounded_ |= piece.rounded;
    }

    /// Labels are all there or all absent.
    void check_labels() const {
        if (!is_mixed()) return;
        const bool absent = not_labelled_ > labelled_;
        const char* const where = absent ? not_labelled_ : labelled_;
        fail_at(input_, where, some_labels(word_at(input_, where), absent));
    }

    const Input& input_;
    std::size_t bytes_;
    std::vector<std::uint32_t> index_;
    std::vector<T> value_;
    std::vector<std::size_t> starts_;
    std::vector<double> labels_;
    std::size_t width_ = 0;
    bool rounded_ = false;
    const char* labelled_ = nullptr;
    const char* not_labelled_ = nullptr;
};

}  // namespace mercer::formats
