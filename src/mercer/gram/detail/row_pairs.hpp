// Functions of two rows, and rows of a matrix that was computed elsewhere, as objects that are
// compared by pairs: what a program's own kernels and `precomputed` have in common with kernels on
// structures.
#pragma once

#include <memory>

#include "mercer/data/rows.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {

/// k(x, z) = the leaf's own function of the two rows.
std::unique_ptr<const ObjectPairs> row_pairs(const Kernel& leaf, const Rows& rows);

/// k(x, z) = x[origin of z].
std::unique_ptr<const ObjectPairs> given_pairs(const Rows& rows);

}  // namespace mercer
