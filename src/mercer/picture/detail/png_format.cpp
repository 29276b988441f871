// PNG through libpng, opened when a picture first needs it (base/detail/library.hpp).
//
// Its simplified interface is used because it keeps libpng's long jumps to itself: a damaged file
// comes back as a message, and no destructor of ours is ever jumped over.
#include <png.h>

#include "mercer/base/detail/library.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/picture/detail/image_format.hpp"

namespace mercer {
namespace {

const Library& png_library() {
    static const Library library({MERCER_PNG_LIBRARY, "libpng16.so.16"},
                                 "PNG pictures; install libpng (Debian: libpng16-16), or use PPM");
    return library;
}

#define MERCER_PNG(name) MERCER_LIBRARY_FUNCTION(::mercer::png_library(), name)

/// libpng's state of one picture, given back at the end.
class PngImage {
   public:
    /// Throws where the library is missing: the destructor must not be the first to ask for it.
    PngImage() : free_(MERCER_PNG(png_image_free)) { image.version = PNG_IMAGE_VERSION; }
    PngImage(const PngImage&) = delete;
    PngImage& operator=(const PngImage&) = delete;
    ~PngImage() { free_(&image); }

    png_image image{};

   private:
    decltype(&png_image_free) free_;
};

[[noreturn]] void fail(const PngImage& png, const std::string& name) {
    throw InvalidInput(Location{.file = name},
                       std::string("the PNG picture is damaged or cut short (") +
                           png.image.message + "); fetch it again");
}

/// Deflate never packs more than 1032 bytes into one, and one byte holds at most 8 pixels: a file
/// that promises more than that is not worth an allocation.
bool can_hold(std::size_t file_bytes, std::size_t height, std::size_t width) {
    constexpr std::size_t pixels_in_byte = 8 * 1032;
    return height * width / pixels_in_byte <= file_bytes;
}

}  // namespace

Image decode_png(std::string_view bytes, const std::string& name) {
    PngImage png;
    if (MERCER_PNG(png_image_begin_read_from_memory)(&png.image, bytes.data(), bytes.size()) == 0) {
        fail(png, name);
    }
    const bool colour = (png.image.format & PNG_FORMAT_FLAG_COLOR) != 0;
    Image image{.height = png.image.height, .width = png.image.width, .channels = colour ? 3U : 1U};
    check_image_shape(image.height, image.width, image.channels, name);
    if (!can_hold(bytes.size(), image.height, image.width)) {
        throw InvalidInput(Location{.file = name},
                           "promises " + std::to_string(image.height) + " × " +
                               std::to_string(image.width) + " pixels, more than its " +
                               std::to_string(bytes.size()) + " bytes can hold");
    }
    // What is done with pictures computes in floating point.
    check_allowance(name,
                    sizeof(float) * static_cast<double>(image.height) *
                        static_cast<double>(image.width) * static_cast<double>(image.channels),
                    bytes.size(), "the picture");
    image.pixels.resize(image.height * image.width * image.channels);
    png.image.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    // 16-bit samples are levels as the 8-bit ones are, not linear light.
    png.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    const png_color white{255, 255, 255};
    const int read =
        MERCER_PNG(png_image_finish_read)(&png.image, &white, image.pixels.data(), 0, nullptr);
    if (read == 0) fail(png, name);
    return image;
}

std::string encode_png(const Image& image) {
    PngImage png;
    png.image.height = static_cast<png_uint_32>(image.height);
    png.image.width = static_cast<png_uint_32>(image.width);
    png.image.format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png.image);
    std::string bytes(size, '\0');
    if (MERCER_PNG(png_image_write_to_memory)(&png.image, bytes.data(), &size, 0,
                                              image.pixels.data(), 0, nullptr) == 0) {
        throw std::runtime_error(std::string("a PNG picture cannot be written: ") +
                                 png.image.message);
    }
    bytes.resize(size);
    return bytes;
}

}  // namespace mercer
