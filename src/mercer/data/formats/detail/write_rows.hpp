// What the writers of the single formats share.
#pragma once

#include <charconv>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "mercer/base/file.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"

namespace mercer::formats {

/// One label a line.
void write_label_lines(const Labels& labels, Output& output);

/// The shortest decimal that reads back as this number.
template <class T>
void append_number(std::string& text, T value) {
    char buffer[32];
    const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
    text.append(buffer, result.ptr);
}

/// Writes the text of all rows: append(text, first, last) adds that of rows first … last-1 on some
/// thread, and the pieces go out in order.
void write_rows(std::size_t rows, const Progress& progress, Output& output,
                const std::function<void(std::string&, std::size_t, std::size_t)>& append);

}  // namespace mercer::formats
