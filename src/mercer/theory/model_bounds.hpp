// Every bound that can be computed of a trained machine and its training data.
//
//   for (const MachineBounds& m : model_bounds(model, data, {.delta = 0.05})) {
//       for (const Bound& b : m.bounds) b.name, b.value, b.confidence, b.vacuous;
//   }
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/theory/bounds.hpp"

namespace mercer MERCER_API {

struct ModelBoundSettings {
    double delta = 0.05;  ///< the probability with which a bound may fail
    /// Single class: γ as a share of ρ, by which the region is widened.
    double widen = 0.5;
    /// Train again without each support vector: exact leave-one-out, essential support vectors.
    bool leave_one_out = true;
    std::size_t memory_bytes = std::size_t{1} << 30;  ///< for kernel values
    Progress progress{};
};

/// One two-class problem of a classifier, or the single class.
struct MachineBounds {
    std::string name{};  ///< "3 vs 8" among several, else empty
    std::size_t rows = 0;
    std::vector<Bound> bounds{};
};

/// For svc, nu-svc and hard: the VC dimension of margin planes with R the smallest sphere's radius,
/// the VC bound with it, and with that of half-spaces for linear kernels; radius-margin; support
/// vectors and the essential among them; leave-one-out exactly, by span, by Jaakkola and Haussler,
/// by ξα; the Rademacher bound over all Λ, sample compression by support vectors, and for linear
/// kernels that separate the bits of the plane. For one-class: theorem 5 of 001. Throws
/// InvalidInput for other tasks, data the model was not trained on, δ outside (0, 1) and a class of
/// a single row. Throws Cancelled.
std::vector<MachineBounds> model_bounds(const Model& model, const Dataset& data,
                                        const ModelBoundSettings& settings = {});

}  // namespace mercer
