// A search over support vector machines that computes no kernel value twice.
//
// The rows are put in the order of classes and folds, and their squared distances are computed once
// (a change of γ maps them anew and computes none; kernels that are not radial are computed once a
// kernel). One stored matrix then serves every penalty, fold and pair of classes: a problem copies
// its own rows and columns, which are few stretches thanks to the order, and is solved for one
// penalty after another, each beginning at the solution for the last, scaled into the new box.
// Held-out rows are judged from the same matrix.
#pragma once

#include "mercer/select/detail/evaluation.hpp"

namespace mercer {

/// True when the search is one of support vector machines that can share: svc, nu-svc, svr, nu-svr
/// or one-class without probabilities, a kernel that does not depend on the rows learnt from, and a
/// matrix of all rows within the memory allowed.
bool can_share(const Evaluation& evaluation);

/// False when told to stop. Points that share a kernel are done together.
bool evaluate_shared(const Evaluation& evaluation);

}  // namespace mercer
