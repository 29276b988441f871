// The cells of a model among the texts and arrays of its file (docs/model-format.md, "Cells"):
// what is said of each in one list of the metadata, their numbers one after another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mercer/learn/cells/cells.hpp"
#include "mercer/persist/detail/model_arrays.hpp"

namespace mercer::persist {

/// What the arrays of cells point to while they are written.
struct CellArrays {
    Rows points{};
    std::vector<double> coefficients{};
    std::vector<double> bias{};
    std::vector<std::size_t> origins{};
    std::vector<std::size_t> forks{};
};

/// `cells` must live as long as `out`.
void pack_cells(const Cells& cells, Container& out, CellArrays& kept);

/// Gives the model the cells that the container has, if any. Throws InvalidInput naming `name`.
void unpack_cells(const Container& container, ArrayTaker& in, ModelParts& model,
                  const std::string& name);

}  // namespace mercer::persist
