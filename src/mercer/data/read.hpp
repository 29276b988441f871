// Data from files, whatever they are written in.
//
//     auto data = mercer::read("a9a.gz");
//     auto digits = mercer::read("train-images-idx3-ubyte.gz");          // labels found beside it
//     auto wine = mercer::read("wine.csv", {.label = "class", .missing = MissingValues::mean});
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"

namespace mercer MERCER_API {

enum class HeaderLine {
    automatic,  ///< yes when the first line has no number and the second has one, or when it is
                ///< scikit-learn's "rows,columns,class names…"
    yes,
    no,
};

/// What to do with an empty field, "?", "NA", "N/A", "nan" or "null" in a table, or NaN in an
/// array. In LIBSVM text a value that is not a number is always an error: what is absent is zero.
enum class MissingValues { refuse, mean, median, zero };

enum class RowForm {
    automatic,  ///< LIBSVM text: dense when more than a quarter of the entries are there, because
                ///< four bytes of value plus four of index, gathered, then cost more than the
                ///< zeros; scipy's matrices sparse; everything else dense
    dense,
    sparse,
};

/// Rows from `first` up to, but without, `last`.
struct RowRange {
    std::size_t first = 0;
    std::size_t last = 0;
    std::size_t size() const { return last - first; }
};

struct ReadOptions {
    /// "csv", …: a name of format_names() (data/format.hpp). Empty: found from the content.
    std::string format{};

    /// The label column of a table: a name of the header, a number counted from 1 (or from the end:
    /// -1), "first", "last" or "none". Empty: the column named label, class, target or y, else the
    /// last, or the first when the last holds a different text in each of the first rows (at least
    /// twenty), which no class does; a table of one column has no labels. Arrays (npy) have none
    /// unless told. "none" also leaves out the labels of the other formats.
    std::string label{};
    /// The columns of a table that hold texts, for kernels on texts: names or numbers as above,
    /// separated by commas, or "none". Empty: those whose field in the first row is no number.
    std::string text_columns{};
    std::string leave_out{};   ///< columns of a table that are not read at all, as above
    bool text_labels = false;  ///< labels that look like numbers are names all the same
    HeaderLine header = HeaderLine::automatic;
    MissingValues missing = MissingValues::refuse;

    /// Numbers are stored in 4 bytes where that does no harm: when every number of the file is
    /// either a float or a decimal that its float writes back, or else when rounding moves no
    /// column by more than a 100000th of the column's own range. Otherwise all take 8 bytes.
    bool exact = false;  ///< 8 bytes already when a single number would change: for copies
    bool double_precision = false;  ///< 8 bytes in any case
    RowForm form = RowForm::automatic;
    std::size_t columns = 0;  ///< at least so many columns; the ones not in the file are zero

    /// The columns of the rows that a model was trained on (Model::known_columns). Features are
    /// then found by name where both have names, in the order known, and by position otherwise; the
    /// label and the weight where they were before, unless `label` and `weight_column` say
    /// otherwise, and both may be absent. Throws InvalidInput for a table or array that lacks a
    /// feature, or that has another number of columns and no names to choose by. LIBSVM text may be
    /// narrower.
    std::shared_ptr<const KnownColumns> known{};

    /// Labels, or weights, in a file of their own: idx, npy, or text with one a line. Labels given
    /// so take the place of any in the data file.
    std::string labels_file{};
    std::string weights_file{};
    std::string weight_column{};  ///< of a table, as `label`

    std::size_t first_index = 1;  ///< LIBSVM text: 0 for files that count from 0
    std::size_t longest_line = std::size_t{1} << 23;  ///< bytes; longer lines are taken for junk

    /// Of the rows of the file those that this function of their number names, for data that
    /// several processes share (dist/communicator.hpp); empty: all. An array (npy) of floats or of
    /// whole numbers of 1 or 2 bytes is read there alone, of other files the rest is forgotten.
    std::function<RowRange(std::size_t)> part{};
    /// Rows that take more bytes than this are not held in memory but fetched when they are looked
    /// at (`place_of` of data/rows.hpp); 0: never. Floats of an array (npy) are left in their file;
    /// rows of text in tables of numbers and LIBSVM's, and other numbers of arrays, are put into a
    /// temporary file as they are read. All else is held.
    std::size_t most_bytes = 0;
    std::string spool{};  ///< folder of that file; empty: see `spool_folder` of data/source.hpp

    /// The options serve several files: one that has no effect in this file is no mistake.
    bool shared = false;

    Progress progress{};
};

/// Reads a file; "-" is standard input and "@digits", "@iris" are the built-in samples. Compressed
/// files (gzip, bzip2, xz, zstd, lz4, …) are unpacked on the way, known by their content. Throws
/// InvalidInput naming file, line, column, what was found and what was expected; also for an option
/// that has no effect in a file of this format.
Dataset read(const std::string& path, const ReadOptions& options = {});

/// The same from memory; `name` stands for the file in messages.
Dataset read_text(std::string_view content, const std::string& name = "text",
                  const ReadOptions& options = {});

}  // namespace mercer
