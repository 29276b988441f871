// Weka's tables: a header that names each attribute and its kind, then lines of values.
#pragma once

#include "mercer/data/format.hpp"
#include "mercer/data/recipe.hpp"

namespace mercer::tables {

bool is_arff(const formats::Input& input);
/// Dense or sparse ("{2 0.5, 7 a}"). Throws Mistake, and InvalidInput.
Table read_arff(const formats::Input& input);

}  // namespace mercer::tables
