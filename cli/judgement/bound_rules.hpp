// Which bounds can be computed from which numbers of the command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/common/session.hpp"
#include "mercer/theory/bounds.hpp"

namespace mercer::cli {

/// The numbers that may be given in place of a model, by the names of their options.
using Numbers = std::map<std::string, double>;

/// Every bound, and every plan, whose numbers are there. Throws InvalidInput for a number that none
/// of them can use, with those it would need.
std::vector<Bound> bounds_of(const Numbers& numbers, const Session& session);
std::vector<SamplePlan> plans_of(const Numbers& numbers, const Session& session);

}  // namespace mercer::cli
