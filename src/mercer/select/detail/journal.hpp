// What a search has found out so far, in a file that outlives an interruption.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mercer/select/detail/evaluation.hpp"

namespace mercer {

/// A number that differs, but for one chance in 2⁶⁴, where something that was put in does.
class Fingerprint {
   public:
    void add(std::string_view text);
    void add(double value);
    void add(std::uint64_t value);
    void add(const Rows& rows);
    std::uint64_t value() const { return state_; }

   private:
    void add_byte(unsigned char byte);
    std::uint64_t state_ = 0xCBF29CE484222325;  // FNV-1a
};

/// Lines of text, one a point, each with a checksum, written and flushed to the disk as a whole.
class Journal {
   public:
    /// Reads what is there; an unfinished last line, left by an interruption, is cut off. Throws
    /// InvalidInput when the file is no journal, belongs to another search, is damaged or cannot be
    /// written. `scores` is how many a point has, one a fold.
    Journal(std::string path, std::uint64_t fingerprint, std::size_t scores);
    /// One that others keep in their file, whose lines are these: nothing is written.
    static Journal of_others(const std::string& lines, std::uint64_t fingerprint,
                             std::size_t scores);
    /// The lines of the file.
    std::string lines() const;

    /// The score of a point learnt from so many rows, if it is known.
    std::optional<PointScore> find(std::span<const double> values, std::size_t rows) const;
    void add(std::span<const double> values, std::size_t rows, const PointScore& score);

   private:
    struct Entry {
        std::vector<double> values;
        std::size_t rows;
        PointScore score;
    };
    Journal(std::uint64_t fingerprint, std::size_t scores);
    void read(const std::string& content);
    Entry parse(const std::string& line, std::size_t number) const;

    std::string path_{};  ///< empty: others write
    std::string header_;
    std::size_t scores_;
    std::vector<Entry> entries_{};
};

}  // namespace mercer
