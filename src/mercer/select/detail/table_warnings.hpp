// What to mind before believing a machine that was learnt from a table.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/data/dataset.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer {

/// Too few rows, classes that are rare, columns that tell the target by themselves.
std::vector<std::string> table_warnings(const Dataset& data, bool numbers);

/// What to say where the rows seem to be in the order of time: a column of numbers or dates rises
/// from row to row, and targets of neighbours are alike. Empty elsewhere. Rows set aside at random
/// then lie between rows learnt from, which those to come will not.
std::string order_of_time(const Dataset& data);

/// How many of the test rows are, number for number, also among the training rows.
std::size_t rows_on_both_sides(const Dataset& data, const Split& split);

}  // namespace mercer
