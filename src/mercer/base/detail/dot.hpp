// The sum of products of two lists of numbers, in the order of the lists.
#pragma once

#include <numeric>
#include <span>

namespace mercer {

inline double dot(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace mercer
