// Every so many-th row of a problem, each counting for those left out: what it takes to find out
// about where the optimum of all rows is.
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/base/operator.hpp"
#include "mercer/solver/detail/canonical.hpp"

namespace mercer {

/// The rows at 0, stride, 2 stride, …
template <class T>
ExplicitRows<T> sample_rows(const ExplicitRows<T>& rows, std::size_t stride);

/// Their variables, in the order that they have in the form, with boxes as many times as large.
CanonicalDual sample_form(const CanonicalDual& form, std::size_t stride);

/// A point of the form as one of the sample's.
std::vector<double> sample_point(const CanonicalDual& form, const std::vector<double>& u,
                                 std::size_t stride);

}  // namespace mercer
