// Pictures as rows: squares of pixels, one per row, and back.
#pragma once

#include <cstddef>

#include "mercer/base/export.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/picture/image.hpp"

namespace mercer MERCER_API {

/// The squares of `side` × `side` pixels, from left to right and top to bottom, each as side × side
/// × channels numbers 0 … 255 in the order of the picture. Squares that reach over the edge repeat
/// its last pixel. Throws InvalidInput for a side of 0 or above 256.
Rows image_blocks(const Image& image, std::size_t side);

/// The picture of these squares: what image_blocks was given, when the numbers are unchanged.
/// Numbers are rounded and clipped to bytes. Throws InvalidInput when rows and shape do not fit.
Image image_from_blocks(const Rows& blocks, std::size_t height, std::size_t width,
                        std::size_t channels, std::size_t side);

}  // namespace mercer
