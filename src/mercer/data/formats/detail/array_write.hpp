// Numbers as bytes, for the writers of arrays.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "mercer/base/progress.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/formats/detail/write_rows.hpp"

namespace mercer::formats {

/// The bytes of a number, least significant first or most significant first.
template <class T>
void append_bytes(std::string& text, T value, bool big_endian) {
    std::array<char, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(T));
    if (big_endian != (std::endian::native == std::endian::big)) {
        std::reverse(bytes.begin(), bytes.end());
    }
    text.append(bytes.data(), bytes.size());
}

/// The rows as bytes, each number converted by put(text, value).
template <class Put>
void write_dense(const Rows& rows, const Progress& progress, Output& output, Put put) {
    check_columns(rows, 16, "a row of");
    write_rows(rows.size(), progress, output,
               [&](std::string& text, std::size_t first, std::size_t last) {
                   std::vector<double> row(rows.columns());
                   for (std::size_t i = first; i < last; ++i) {
                       rows.copy_row(i, row);
                       for (const double value : row) put(text, value);
                   }
               });
}

/// The rows in their own precision.
void write_numbers(const Rows& rows, const Progress& progress, bool big_endian, Output& output);

}  // namespace mercer::formats
