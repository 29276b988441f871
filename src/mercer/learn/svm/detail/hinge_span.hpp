// C-support vector machines by passes over all rows, in the span of some of them or in the space of
// the columns. For learn/svm/svm_span.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mercer/learn/passes/detail/span_products.hpp"
#include "mercer/learn/report.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {

/// One two-class problem: of this rank's rows the label y = ±1, and the penalty C_i, which is 0 for
/// rows that take no part.
struct HingeProblem {
    std::vector<double> target{};
    std::vector<double> penalty{};
};

struct HingeSolution {
    std::vector<double> weights{};  ///< w of f = w·φ + b
    double bias = 0;
    Report report{};
};

/// Some rows, and the features of all in their span.
struct SpanOfSome {
    const CentreSpan<float>& span;
    const SpanProducts& products;
};

/// Minimises ½‖w‖² + Σ C_i max(0, 1 − y_i (w·φ_i + b)) over the rows of all ranks. Throws Cancelled
/// when stopped before there is a certified machine; stopped later it hands back that one.
/// With `span` (else null: the features are those of the kernel itself) the figures have a bound of
/// the dual value under the kernel itself, exact_dual.
HingeSolution minimise_hinge(const HingeProblem& problem, const FeatureProducts& features,
                             const SpanOfSome* span, const SpanSample& sample,
                             const SvmSettings& settings, const Run& run);

}  // namespace mercer
