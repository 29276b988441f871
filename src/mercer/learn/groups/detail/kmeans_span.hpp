// Groups in the span of some rows. For learn/groups/kmeans.cpp.
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/report.hpp"

namespace mercer {

/// The same on all ranks.
struct SpanGrouping {
    Matrix<double> means{};         ///< μ of each group in features of the span
    std::vector<double> sizes{};    ///< weight of the rows that are nearest to each
    std::vector<double> history{};  ///< J under the kernel itself, pass by pass
    double starts_passes = 0;       ///< those on some rows
    std::size_t start = 0;          ///< the best of them
    std::size_t refilled = 0;
    FitStatus status = FitStatus::converged;
};

/// Throws Cancelled when stopped before there is a grouping.
SpanGrouping group_in_span(const KMeansSettings& settings, const Run& run, const SpanSample& sample,
                           const CentreSpan<float>& span);

}  // namespace mercer
