// A loss of many rows at once.
#pragma once

#include <array>
#include <cstddef>

#include "mercer/learn/risk/losses.hpp"

namespace mercer {

constexpr std::size_t loss_tile_rows = 1024;

/// Values z of at most so many rows, and the loss with its derivatives there.
struct LossTile {
    std::array<double, loss_tile_rows> z;
    std::array<double, loss_tile_rows> value;
    std::array<double, loss_tile_rows> slope;
    std::array<double, loss_tile_rows> curvature;

    /// Of the first n rows, whose targets are y, at the z that stand here; the values themselves
    /// only where they are wanted, they have a logarithm each.
    void evaluate(const LossFunction& loss, const double* y, std::size_t n, bool with_value);
};

}  // namespace mercer
