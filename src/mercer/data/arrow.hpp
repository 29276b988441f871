// Rows out of tables that other libraries hold, by Arrow's C data interface: frames of pandas and
// polars, results of DuckDB, Arrow's own tables, readers and scanners have such a stream. Arrow
// itself is not needed.
//
//     mercer::Dataset data = mercer::read_arrow(stream, "prices", {.label = "price"});
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/read.hpp"

struct ArrowArrayStream;  // as Arrow's C stream interface defines it

namespace mercer MERCER_API {

/// How many bytes numbers take.
enum class ArrowNumbers {
    fitting,  ///< four where that does no harm, as in files (ReadOptions); else eight
    typed,    ///< four when there are floats of four or two bytes and nothing that they do not hold
};

/// A table that comes batch after batch, and once. Columns are numbers, which become features, and
/// one of them or of texts may be the label (ReadOptions: label, text_labels, weight_column,
/// leave_out, known, missing, double_precision, most_bytes, spool, progress; the others have no
/// meaning here). A null is a missing value, and so is NaN. Throws InvalidInput for other columns
/// among the features, for what the stream says, and for structures that contradict themselves.
class ArrowRows {
   public:
    /// Takes the stream over and releases it, also where this throws. `name` is for messages.
    ArrowRows(ArrowArrayStream& stream, const std::string& name, const ReadOptions& options = {},
              ArrowNumbers numbers = ArrowNumbers::fitting);
    ArrowRows(ArrowRows&&) noexcept;
    ~ArrowRows();

    /// Of the features, in their order; empty where columns have none.
    const std::vector<std::string>& names() const;
    std::size_t columns() const;  ///< features
    /// "boolean", "whole", "float", "text", or "" without labels.
    const std::string& label_kind() const;

    /// The next `rows` rows, fewer at the end and then none. Missing values are refused, or zero.
    std::optional<Dataset> next(std::size_t rows);
    /// All that are left, those that memory is not to hold in a temporary file.
    Dataset rest();

   private:
    struct State;
    std::unique_ptr<State> state_;
};

/// All rows.
Dataset read_arrow(ArrowArrayStream& stream, const std::string& name,
                   const ReadOptions& options = {}, ArrowNumbers numbers = ArrowNumbers::fitting);

}  // namespace mercer
