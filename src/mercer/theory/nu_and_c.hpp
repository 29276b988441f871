// The two ways to say how soft a margin may be, turned into one another (001): if ν-SV
// classification leads to ρ > 0, C-SV classification with C = 1/ρ leads to the same decision
// function; and a C-machine is the ν-machine with ν = Σ α_i / (C m).
//
//   const SoftMargin s = equivalent_settings(model).front();
//   s.nu, s.C;                                         // either may be trained with
#pragma once

#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

struct SoftMargin {
    std::string name{};  ///< "3 vs 8" among several, else empty
    double nu = 0;
    double C = 0;
    double rho = 0;  ///< 1/C
};

/// One for each output of an svc or nu-svc model: pairs of classes trained with one ν have a C of
/// their own each, and the other way round. Scalings are those of learn/svm/svm.hpp. Throws
/// InvalidInput for other tasks, a ν-machine without margin (ρ = 0), weighted classes, and models
/// that do not say what they were trained with.
std::vector<SoftMargin> equivalent_settings(const Model& model);

}  // namespace mercer
