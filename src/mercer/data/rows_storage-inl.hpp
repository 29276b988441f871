// How Rows keeps its numbers: for the files that make Rows, not for those that use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "mercer/data/rows.hpp"

namespace mercer {

/// Only the vectors of the form in use hold anything. The number of rows is kept apart from the
/// vectors because rows without columns exist (a LIBSVM file of labels alone).
struct Rows::Storage {
    std::size_t rows = 0;
    std::size_t columns = 0;
    bool sparse = false;
    bool twice = false;  ///< double precision
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<std::size_t> starts;
    std::vector<std::uint32_t> index;
    std::vector<std::size_t> origins;  ///< empty: row i stood at i

    template <class T>
    std::vector<T>& values() {
        if constexpr (std::is_same_v<T, float>) {
            return floats;
        } else {
            return doubles;
        }
    }
    template <class T>
    const std::vector<T>& values() const {
        return const_cast<Storage*>(this)->values<T>();
    }

    /// An empty storage of the same shape, precision and origins.
    Storage like() const {
        Storage result;
        result.rows = rows;
        result.columns = columns;
        result.sparse = sparse;
        result.twice = twice;
        result.origins = origins;
        return result;
    }
};

namespace rows_detail {

/// Rows a task of a parallel pass: the partition depends on the data alone.
constexpr std::size_t rows_a_task = 1024;

/// Calls body with a number of the storage's precision, so that code is written once.
template <class Body>
decltype(auto) with_precision(const Rows::Storage& storage, Body&& body) {
    return storage.twice ? body(double{}) : body(float{});
}

/// Rows that were never given anything are empty, not an error.
inline const Rows::Storage& empty_storage() {
    static const Rows::Storage empty;
    return empty;
}

inline const Rows::Storage& at(const std::shared_ptr<const Rows::Storage>& storage) {
    return storage ? *storage : empty_storage();
}

}  // namespace rows_detail
}  // namespace mercer
