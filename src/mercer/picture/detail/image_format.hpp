// The picture formats, for image.cpp.
#pragma once

#include <string>
#include <string_view>

#include "mercer/picture/image.hpp"

namespace mercer {

/// Throws InvalidInput, naming the file, unless a picture of this shape can be had.
void check_image_shape(std::size_t height, std::size_t width, std::size_t channels,
                       const std::string& name);

/// From the bytes of a whole file; `name` is for messages.
Image decode_png(std::string_view bytes, const std::string& name);
Image decode_pnm(std::string_view bytes, const std::string& name);

/// The whole file.
std::string encode_png(const Image& image);
std::string encode_pnm(const Image& image);

}  // namespace mercer
