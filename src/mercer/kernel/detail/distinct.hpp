// What combinations of kernels make of distinct rows (004): which of them are strictly positive
// definite, tell rows apart, or are nowhere 0 on the diagonal.
#pragma once

#include <vector>

#include "mercer/kernel/detail/finding.hpp"
#include "mercer/kernel/detail/node.hpp"

namespace mercer {

using Findings = std::vector<Finding>;

/// Of a sum of kernels that are all at least conditionally positive definite.
OfDistinctRows of_sum(const Findings& parts);
/// Of a product of positive definite kernels.
OfDistinctRows of_product(const Findings& parts);
/// Of a power above 0 that is positive definite.
OfDistinctRows of_power(const Finding& part, bool whole, double exponent);
/// Of exp, or of a Gaussian, of a kernel whose features differ for distinct rows.
OfDistinctRows of_gaussian();
/// Of the same kernel on some columns, or on what a map makes of the rows.
OfDistinctRows of_moved(const KernelNode& node, OfDistinctRows inside);

}  // namespace mercer
