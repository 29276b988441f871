// Series as rows of numbers: vectors of `width` numbers one after another, and with `counted` their
// number before them, as for `sets`.
#pragma once

#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer::leaves {

ParameterForm width_form();
ParameterForm counted_form();

/// The numbers of a series. Throws InvalidInput for a row that is none.
std::span<const double> series_of(const KernelNode& node, const Object& object);

}  // namespace mercer::leaves
