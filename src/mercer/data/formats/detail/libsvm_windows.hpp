// LIBSVM text of any length.
#pragma once

#include <cstddef>
#include <optional>

#include "mercer/data/formats/detail/windows.hpp"

namespace mercer::formats {

/// A quarter of the entries are there: see RowForm::automatic. Compared in doubles because the
/// product may overflow.
inline bool is_quarter_full(std::size_t entries, std::size_t rows, std::size_t columns) {
    const double all = static_cast<double>(rows) * static_cast<double>(columns);
    return static_cast<double>(entries) > 0.25 * all;
}

/// The rows of all windows, `piece` bytes of text a task.
std::optional<Dataset> read_libsvm_text(TextWindows& windows, std::size_t piece);

}  // namespace mercer::formats
