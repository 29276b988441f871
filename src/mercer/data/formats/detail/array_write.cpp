#include "mercer/data/formats/detail/array_write.hpp"

namespace mercer::formats {

void write_numbers(const Rows& rows, const Progress& progress, bool big_endian, Output& output) {
    if (rows.is_double()) {
        write_dense(rows, progress, output, [=](std::string& text, double value) {
            append_bytes(text, value, big_endian);
        });
    } else {
        write_dense(rows, progress, output, [=](std::string& text, double value) {
            append_bytes(text, static_cast<float>(value), big_endian);
        });
    }
}

}  // namespace mercer::formats
