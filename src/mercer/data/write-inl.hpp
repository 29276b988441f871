// What the writers of the single formats share. For the .cpp files of this room only.
#pragma once

#include <charconv>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "mercer/base/file.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/write.hpp"

namespace mercer::formats {

void write_libsvm(const Dataset& data, const WriteOptions& options, Output& output);
void write_table(const Dataset& data, const WriteOptions& options, char delimiter, Output& output);
void write_npy(const Dataset& data, const WriteOptions& options, Output& output);
void write_npz(const Dataset& data, const WriteOptions& options, Output& output);
/// `images`: as three dimensions, when the columns make a square.
void write_idx(const Dataset& data, const WriteOptions& options, bool images, Output& output);

/// One label a line, or an array of them.
void write_label_lines(const Labels& labels, Output& output);
void write_label_npy(const Labels& labels, Output& output);
void write_label_idx(const Labels& labels, Output& output);

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
