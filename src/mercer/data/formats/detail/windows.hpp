// Text that need not be in memory: windows onto it, one after another, and what is gathered from
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mercer/data/detail/byte_source.hpp"
#include "mercer/data/detail/spool.hpp"
#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {

/// A window begins where the last one was left and ends behind a newline. Its bytes stay where they
/// are until the next is fetched.
class TextWindows {
   public:
    /// `bytes` of text at a time, more where a row needs it.
    static constexpr std::size_t usual_bytes = std::size_t{1} << 23;
    TextWindows(ByteSource& source, const ReadOptions& options, std::size_t bytes = usual_bytes);

    /// Fetches text behind what the last window has left; false when there is no more text at all.
    /// With `least_lines` at least so many lines, if there are so many in 16 MiB.
    bool fetch(std::size_t least_lines = 1);
    /// What a reader is given; places of mistakes are those in the whole text.
    Input input() const;
    /// No text follows.
    bool is_last() const { return over_; }
    /// So many bytes at the beginning of the window have become rows.
    void drop(std::size_t bytes);
    std::size_t text_bytes() const { return total_; }  ///< dropped so far

    void rewind();

   private:
    [[noreturn]] void refuse_line(std::size_t begun);
    bool has_lines(std::size_t count) const;

    ByteSource& source_;
    ReadOptions options_;  ///< without the listener, who is told here
    Progress progress_;
    std::size_t bytes_;
    std::string buffer_{};
    std::size_t begin_ = 0;  ///< of the window in the buffer
    std::size_t end_ = 0;    ///< of the window: behind a newline
    std::size_t dropped_ = 1;
    std::size_t lines_before_ = 0;
    std::size_t total_ = 0;
    bool over_ = false;
    bool first_ = true;
};

/// Where a word of the text stands that is not there any more.
struct SeenWord {
    Location where{};
    std::string word{};  ///< in quotes

    SeenWord(const Input& window, const char* place)
        : where(location_of(window, place)), word(word_at(window, place)) {}
    bool operator<(const SeenWord& other) const {
        return std::pair(where.line, where.column) <
               std::pair(other.where.line, other.where.column);
    }
};

/// The labels of one window after another; each name is held once.
class LabelGatherer {
   public:
    void append(const Input& window, LabelColumn&& column);
    /// All of them. Throws InvalidInput where some are names and others numbers.
    Labels finish();

   private:
    std::vector<double> values_{};  ///< numbers, or positions among the names
    std::vector<std::string> names_{};
    std::unordered_map<std::string, std::size_t> places_{};
    std::optional<SeenWord> first_number_{};
    std::optional<SeenWord> first_name_{};
};

/// Where the numbers of rows are gathered, and how much of them may be in memory.
struct Holding {
    explicit Holding(const ReadOptions& options, std::string called)
        : most(options.most_bytes), folder(spool_folder(options.spool)), name(std::move(called)) {}

    std::size_t most;
    std::string folder;
    std::string name;

    template <class... T>
    void keep(Store<T>&... stores) const {
        if ((stores.bytes() + ...) > most) (stores.spill(folder, name), ...);
    }
};

/// Dense rows out of what was gathered, in memory or where it waits.
template <class T>
Rows dense_rows(Store<T>& values, std::size_t columns) {
    if (!values.is_spilled()) return Rows::dense(values.take(), columns);
    const auto mapping = values.map();
    return Rows::borrow(MatrixView<const T>(reinterpret_cast<const T*>(mapping->data()),
                                            values.size() / columns, columns),
                        mapping);
}

/// As in_fitting_precision, for data whose numbers may wait in a file: read once more rather than
/// held twice.
template <class ReadAs>
std::optional<Dataset> in_lean_precision(const Input& input, const ReadAs& read_as) {
    bool rounded = false;
    const bool exact = input.options.exact;
    if (!input.options.double_precision) {
        std::optional<Dataset> single = read_as(float{}, rounded);
        if (!single || !rounded || (!exact && !column_hurt_by_single(single->x))) return single;
    }
    std::optional<Dataset> in_double = read_as(double{}, rounded);
    if (input.options.double_precision || exact || !in_double ||
        column_hurt_by_single(in_double->x)) {
        return in_double;
    }
    in_double.reset();
    return read_as(float{}, rounded);
}

}  // namespace mercer::formats
