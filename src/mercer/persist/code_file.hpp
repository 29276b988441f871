// Rows, or a picture, written as a codebook and a number per row (learn/groups/quantiser.hpp).
//
//     save_codes({.codes = book.codes, .index = book.nearest}, "rows.vq");
//     Rows rows = load_codes("rows.vq").decoded();
//
// The file has a head of 64 bytes, the codes (bytes for a picture, single precision otherwise), and
// the numbers in as many bits as the largest needs. docs/machines/vector-quantisation.md has it in
// full.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/rows.hpp"

namespace mercer MERCER_API {

struct CodeFile {
    Rows codes{};
    std::vector<std::size_t> index{};  ///< of the code of each row
    double radius = 0;                 ///< every row was so near to its code; 0: not promised
    // Of a picture in squares (picture/image.hpp); all 0 for rows.
    std::size_t height = 0;
    std::size_t width = 0;
    std::size_t channels = 0;
    std::size_t side = 0;

    bool is_image() const { return side > 0; }
    /// Each row replaced by its code.
    Rows decoded() const { return codes.select(index); }
};

/// Whole or not at all; a suffix .gz, .bz2, .xz or .zst compresses. Codes of pictures are rounded
/// to bytes. Throws InvalidInput when the parts do not fit together.
void save_codes(const CodeFile& file, const std::string& path);
/// Throws InvalidInput for what is no such file, damaged or cut short.
CodeFile load_codes(const std::string& path);

std::string codes_to_memory(const CodeFile& file);
CodeFile codes_from_memory(std::string_view bytes, const std::string& name = "codes");

}  // namespace mercer
