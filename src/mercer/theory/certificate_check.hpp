// Does the certificate a model carries hold? Recomputed from the model and its data alone, in
// double precision, and compared with what the model claims.
#pragma once

#include <string>
#include <vector>

#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/model.hpp"

namespace mercer {

/// One problem of the model: a pair of classes, a target, a sample.
struct CheckedReport {
    Report claimed{};
    Report found{};
    double allowed_violation = 0;
    double allowed_gap = 0;             ///< relative
    bool has_nu_property = false;       ///< all weights 1 and a plain tube: 001's form of it
    std::vector<std::string> broken{};  ///< sentences for people; empty: it holds
};

/// A machine that claims the tolerance it was trained to must keep twice that tolerance, one that
/// stopped earlier twice the violation it claims, because the numbers are recomputed from rounded
/// coefficients. Machines trained on float kernel values may moreover be off by four roundings of
/// each term of Σ β_j k(x_j, x): 2⁻²² Σ|β_j| max k(x, x). The relative gap may be twice the claimed
/// one and 1e-4, bounds and equalities must hold to 1e-6, the claimed dual value must be met to
/// 1e-3, the support vectors must be as many, and the ν-property must hold to within a row.
///
/// Throws InvalidInput when the model has no certificate, or is not one of this data.
std::vector<CheckedReport> check_certificate(const Model& model, const Dataset& data,
                                             const Progress& progress = {});

}  // namespace mercer
