// The nearest points in feature space, for any kernel:
//
//     ‖Φ(x) − Φ(z)‖² = k(x,x) − 2 k(x,z) + k(z,z)
//
// (002 §1). Nothing is approximated: blocks of the Gram engine say which points can be among the
// nearest, and those few are measured once more by the formula in double precision. Of points at
// the same distance the one that stands first is the nearer, so the answer is the same for any
// number of threads and any precision of the blocks.
//
//   const NeighbourSearch search(rbf({.gamma = 0.5}), train.x);
//   const Neighbours of_test = search(test.x, 3);
//   of_test.index(7, 0);                      // the point nearest to row 7
//   search.among(3);                          // of each point, among the others
//
// For a kernel that is conditionally positive definite this is still a squared distance; for one
// that is neither it may be negative, and the order is all that is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

/// One row of each for each row asked about, the nearest first.
struct Neighbours {
    Matrix<std::uint32_t> index{};  ///< positions of points
    /// k(z,z) − 2 k(x,z), by which they are ordered; k(x,x) more is the squared distance.
    Matrix<double> score{};

    std::size_t size() const { return index.rows(); }
    std::size_t count() const { return index.columns(); }
};

class NeighbourSearch {
   public:
    /// A kernel that is centred is so on `reference`, or on the points where that is empty. Throws
    /// InvalidInput when the kernel does not fit the rows.
    explicit NeighbourSearch(const Kernel& kernel, const Rows& points, const Rows& reference = {},
                             std::span<const std::string> names = {},
                             bool double_precision = false);

    std::size_t size() const;
    const Kernel& kernel() const;  ///< with everything resolved

    /// The `count` nearest points of each row. Throws InvalidInput unless there are as many.
    /// Throws Cancelled.
    Neighbours operator()(const Rows& x, std::size_t count, const Progress& progress = {}) const;
    /// The nearest others of each point, which is itself not among them.
    Neighbours among(std::size_t count, const Progress& progress = {}) const;

    /// k(x, x) of rows, and of the points.
    std::vector<double> squared_lengths(const Rows& x) const;
    std::vector<double> squared_lengths() const;

   private:
    struct State;
    std::shared_ptr<const State> state_;
};

/// Squared distances from the scores, where there is such a thing as k(x, x): not below 0.
Matrix<double> squared_distances(const Neighbours& found, std::span<const double> own);

}  // namespace mercer
