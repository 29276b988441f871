// Linear equations Σ_a w_a z_a = 0 whose positive solutions are points common to two hulls.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "mercer/base/detail/exact_sum.hpp"
#include "mercer/base/matrix.hpp"

namespace mercer {

struct HullEquations {
    Matrix<double> matrix;  ///< one row an equation, column a is z_a

    HullEquations(std::size_t equations, std::size_t unknowns) : matrix(equations, unknowns) {}

    struct Solution {
        std::vector<double> weights{};  ///< better ones than were given; empty: there are none
        bool proved = false;            ///< an exact solution, all of it positive, is near
    };
    /// From weights that nearly solve them.
    Solution positive_solution(std::span<const double> w) const;

    /// Σ_a w_a matrix(e, a), rounded once.
    double residual(std::size_t e, std::span<const double> w) const;

   private:
    /// Places of an invertible square part, as large as can be found, by elimination with the
    /// largest pivot; rows and columns in the order they were taken.
    struct Part {
        std::vector<std::size_t> equations, unknowns;
    };
    Part regular_part() const;
    bool depends(std::size_t e, std::span<const std::size_t> others) const;
    bool solved_exactly(std::span<const double> w) const;
};

}  // namespace mercer
