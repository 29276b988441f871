// What a function says of many rows, of which each rank says its share.
#pragma once

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/feature/expansion.hpp"

namespace mercer {

/// All values on every rank, each of which has all rows; null: one process.
inline Matrix<double> values_by_ranks(const Evaluator& f, const Rows& x, const Progress& progress,
                                      Communicator* ranks) {
    if (!ranks || ranks->size() == 1) return f(x, progress);
    const std::size_t first = x.size() * ranks->rank() / ranks->size();
    const std::size_t last = x.size() * (ranks->rank() + 1) / ranks->size();
    const Matrix<double> own = f(x.slice(first, last - first), progress);
    const std::vector<double> all = ranks->all_gather(std::span<const double>(own.values()));
    Matrix<double> values(x.size(), all.size() / x.size());
    values.values() = all;
    return values;
}

}  // namespace mercer
