// How Rows keeps its numbers: for the files that make Rows, not for those that use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "mercer/data/rows.hpp"

namespace mercer {

/// Only the vectors of the form in use hold anything, and none where the numbers are borrowed. The
/// number of rows is kept apart from the vectors because rows without columns exist (a LIBSVM file
/// of labels alone). What reads goes through `numbers` and `column_index`.
struct Rows::Storage {
    std::size_t rows = 0;
    std::size_t columns = 0;
    bool sparse = false;
    bool in_double = false;  ///< double precision
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<std::size_t> starts;
    std::vector<std::uint32_t> index;
    std::vector<std::size_t> origins;  ///< empty: row i stood at i
    std::vector<ObjectColumn> objects;

    /// Numbers of somebody else, who keeps them as long as `owner` lives.
    std::shared_ptr<const void> owner{};
    std::span<const float> borrowed_floats{};
    std::span<const double> borrowed_doubles{};
    std::span<const std::uint32_t> borrowed_index{};

    template <class T>
    std::span<const T> numbers() const {
        if constexpr (std::is_same_v<T, float>) {
            return owner ? borrowed_floats : std::span<const float>(floats);
        } else {
            return owner ? borrowed_doubles : std::span<const double>(doubles);
        }
    }
    std::span<const std::uint32_t> column_index() const {
        return borrowed_index.empty() ? std::span<const std::uint32_t>(index) : borrowed_index;
    }

    template <class T>
    std::vector<T>& values() {
        if constexpr (std::is_same_v<T, float>) {
            return floats;
        } else {
            return doubles;
        }
    }
    /// A storage of the same shape, precision, origins and objects, without numbers.
    Storage like() const {
        Storage result;
        result.rows = rows;
        result.columns = columns;
        result.sparse = sparse;
        result.in_double = in_double;
        result.origins = origins;
        result.objects = objects;
        return result;
    }
};

namespace rows_detail {

/// Rows a task of a parallel pass: the partition depends on the data alone.
constexpr std::size_t rows_a_task = 1024;

/// Calls body with a number of the storage's precision, so that code is written once.
template <class Body>
decltype(auto) with_precision(const Rows::Storage& storage, Body&& body) {
    return storage.in_double ? body(double{}) : body(float{});
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
