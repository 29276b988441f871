// What is said of the cells of a model.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "mercer/learn/cells/cells.hpp"

namespace mercer::cli {

bool kernels_differ(const Cells& cells);
/// How many cells have which kernel.
std::string kernels_text(const Cells& cells);
/// A line: how many there are, of how many rows, and what became of those without a machine.
std::string describe_cells(const Cells& cells);
/// One object a cell.
nlohmann::ordered_json json_of(const Cells& cells);

}  // namespace mercer::cli
