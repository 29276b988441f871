// New vectors for a shorter expansion, one after another. For learn/compress/reduce.cpp.
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/base/progress.hpp"
#include "mercer/learn/detail/selection.hpp"

namespace mercer::reduction {

struct Construction {
    std::vector<double> z{};      ///< one vector after another
    std::vector<double> error{};  ///< ρ after 0, 1, … of them
    bool cancelled = false;
};

/// Each vector is the pre-image, with a free factor, of what is left of w (001 refs 10, 11, 53);
/// where there are several outputs, of their combination that has most left at the point it starts
/// from. All coefficients are refitted after each. Points must be dense.
Construction construct(const Expansion& e, const OwnValues& own, std::size_t most, double error,
                       const Progress& progress);

}  // namespace mercer::reduction
