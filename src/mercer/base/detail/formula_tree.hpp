// A formula as a tree, for those who write it down in another language.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base/formula.hpp"

namespace mercer {

struct FormulaTree {
    enum class Kind { number, column, name, norm, sum, product, negate, power, call };
    Kind kind = Kind::number;
    double value = 0;        ///< number
    std::size_t column = 0;  ///< column
    std::string name{};      ///< of the column that waits to be bound, or of the function called
    std::vector<FormulaTree> parts{};
    std::vector<bool> inverse{};  ///< sum: subtracted; product: divided by
};

FormulaTree tree_of(const Formula& formula);

}  // namespace mercer
