// Data to files, in the formats that `read` knows. What is written reads back equal.
//
//     mercer::write(data, "a9a.npz");
//     mercer::write(data, "x.npy", {.labels_file = "y.npy"});
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/rows.hpp"

namespace mercer MERCER_API {

struct WriteOptions {
    /// A name of format_names() (data/format.hpp). Empty: by the ending of the file's name, with or
    /// without .gz, .bz2, .xz, .zst; any other name means LIBSVM text.
    std::string format{};

    /// Tables: a first line with the names. `automatic`: when there are names or weights.
    HeaderLine header = HeaderLine::automatic;

    /// Labels, or weights, into a file of their own (in the format of its name, or as text) instead
    /// of the data file; "none" leaves them out. Not every format holds both (Format::keeps). The
    /// labels of ….images-idx3-ubyte go to ….labels-idx1-ubyte by themselves.
    std::string labels_file{};
    std::string weights_file{};

    std::size_t first_index = 1;  ///< LIBSVM text: what the first column is called, 0 or 1

    Progress progress{};
};

/// Writes to a file, whole or not at all; "-" is standard output. Numbers are written as the
/// shortest decimals that read back as the same. Names of classes become their positions (0, 1, …)
/// where the format has only numbers for labels.
///
/// In LIBSVM text a first row may end with an entry of value 0 that keeps the number of columns,
/// and a row of zeros without label is written as "1:0", since an empty line is no row. In tables
/// the weight is the last but one column and the label the last.
void write(const Dataset& data, const std::string& path, const WriteOptions& options = {});

/// Dense rows that need not be there all at once.
struct RowBlocks {
    std::size_t rows = 0;
    std::size_t columns = 0;
    bool is_double = false;
    std::function<Rows(std::size_t first)> block{};  ///< some rows from `first` on, at least one
};
/// Whether a file of this name can be written so: an array.
bool takes_blocks(const std::string& path, const WriteOptions& options = {});
/// The same file as `write` makes of these rows, which have no labels.
void write_blocks(const RowBlocks& blocks, const std::string& path,
                  const WriteOptions& options = {});

/// The file of their own that labels will be written to, if there are any; "none", or empty when
/// they stay with the rows.
std::string written_labels_file(const std::string& path, const WriteOptions& options);

}  // namespace mercer
