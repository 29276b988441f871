// A search in the span of some rows: for each kernel the centres are drawn and the features of all
// rows computed once, and every point with that kernel learns from them.
#pragma once

#include "mercer/select/detail/evaluation.hpp"

namespace mercer {

/// True for a search in the span of some rows whose features can be held; others train every
/// machine by itself.
bool can_share_features(const Evaluation& evaluation);

/// False when it was told to stop.
bool evaluate_features(const Evaluation& evaluation);

}  // namespace mercer
