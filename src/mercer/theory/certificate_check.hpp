// Does the certificate a model carries hold? Recomputed from the model and its data alone, in
// double precision, and compared with what the model claims.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

/// The optimum of one problem lies in [low, high], whatever was rounded.
struct ProvedBracket {
    double low = 0;   ///< at most the dual value of an exactly feasible point
    double high = 0;  ///< at least the primal value of the machine; infinite where it has none

    double relative_width() const;
};

/// One problem of the model: a pair of classes, a target, a sample.
struct CheckedReport {
    Report claimed{};
    Report found{};
    double allowed_violation = 0;       ///< 0: not looked at, the gap says it all (nested regions)
    double allowed_gap = 0;             ///< relative
    bool has_nu_property = false;       ///< all weights 1 and a plain tube: 001's form of it
    std::vector<std::string> broken{};  ///< sentences for people; empty: it holds
    std::optional<ProvedBracket> proved{};  ///< by add_proofs
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

/// A bracket as a theorem about the numbers in model and data, by interval arithmetic from the
/// kernel values on (rigorous.cpp): nothing is assumed of the solver, of the model's claims or of
/// sums in floating point. Rows are taken as read and scaled, parameters of the kernel in their
/// canonical form, bounds C_i as computed. Throws InvalidInput for kernels without a proved bound
/// on their rounding or not known by rule to be positive definite (conditionally, where the machine
/// has a bias), and where the equalities cannot be met exactly.
std::vector<ProvedBracket> prove_brackets(const Model& model, const Dataset& data,
                                          const Progress& progress = {});
/// Throws as prove_brackets does for the kernel.
void require_provable(const Model& model);
/// Puts the proved brackets beside the checks. A claim that is not compatible with its bracket to
/// 1e-3, and a bracket without an upper end, break the certificate.
void add_proofs(std::vector<CheckedReport>& checks, const Model& model, const Dataset& data,
                const Progress& progress = {});

}  // namespace mercer
