// A part of a support vector machine that was stopped before its first step.
#pragma once

#include "mercer/learn/svm/detail/fit_plan.hpp"
#include "mercer/learn/svm/detail/rank_parts.hpp"

namespace mercer {

/// f = b for a part of two sides that may begin with α = 0 (svc, hard), with its certificate, and
/// without a look at its rows where it is open: thousands of classes would else go on for long
/// after the time limit.
PartResult unbegun_part(const FitPlan& plan, const Part& part, FitStatus why, bool probability);

}  // namespace mercer
