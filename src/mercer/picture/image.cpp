#include "mercer/picture/image.hpp"

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/source.hpp"
#include "mercer/picture/detail/image_format.hpp"

namespace mercer {
namespace {

[[noreturn]] void fail(const std::string& name, const std::string& message) {
    throw InvalidInput(Location{.file = name}, message);
}

bool has(std::string_view bytes, std::size_t offset, std::string_view part) {
    return bytes.size() >= offset + part.size() && bytes.substr(offset, part.size()) == part;
}

/// What a picture that is not read calls itself; empty when it is no picture we know of.
std::string_view other_format(std::string_view bytes) {
    if (has(bytes, 0, "\xFF\xD8\xFF")) return "a JPEG";
    if (has(bytes, 0, "GIF8")) return "a GIF";
    if (has(bytes, 0, "RIFF") && has(bytes, 8, "WEBP")) return "a WebP";
    if (has(bytes, 0, "BM")) return "a BMP";
    if (has(bytes, 0, "II*\0") || has(bytes, 0, {"MM\0*", 4})) return "a TIFF";
    if (has(bytes, 4, "ftypavif") || has(bytes, 4, "ftypheic")) return "an AVIF or HEIC";
    if (has(bytes, 0, "P1") || has(bytes, 0, "P4")) return "a bitmap (PBM)";
    if (has(bytes, 0, "P7")) return "a PAM";
    if (has(bytes, 0, "<svg") || has(bytes, 0, "<?xml")) return "an SVG";
    return {};
}

/// "photo.pgm" of "photo.pgm.gz".
std::string_view without_compression(std::string_view path) {
    for (const std::string_view suffix : {".gz", ".bz2", ".xz", ".zst"}) {
        if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
    }
    return path;
}

}  // namespace

Image Image::filled(std::size_t height, std::size_t width, std::size_t channels,
                    std::uint8_t value) {
    Image image{.height = height, .width = width, .channels = channels};
    check_image_shape(height, width, channels, "picture");
    image.pixels.assign(height * width * channels, value);
    return image;
}

void Image::check() const {
    check_image_shape(height, width, channels, "picture");
    if (pixels.size() == height * width * channels) return;
    throw InvalidInput("a picture of " + std::to_string(height) + " × " + std::to_string(width) +
                       " pixels and " + std::to_string(channels) + " channels holds " +
                       std::to_string(pixels.size()) + " bytes, expected " +
                       std::to_string(height * width * channels));
}

void check_image_shape(std::size_t height, std::size_t width, std::size_t channels,
                       const std::string& name) {
    if (height == 0 || width == 0) fail(name, "has no pixels");
    if (channels != 1 && channels != 3) {
        fail(name, "has " + std::to_string(channels) + " channels, expected 1 (grey) or 3 (RGB)");
    }
    // Compared by division: the product may not fit.
    if (width > largest_image / channels || height > largest_image / channels / width) {
        fail(name, "has " + std::to_string(height) + " × " + std::to_string(width) + " pixels of " +
                       std::to_string(channels) + " channels, expected at most " +
                       std::to_string(largest_image) + " values; cut it into parts");
    }
}

Image decode_image(std::string_view bytes, const std::string& name) {
    if (bytes.empty()) fail(name, "is empty, expected a PNG or PNM picture");
    if (has(bytes, 0, "\x89PNG\r\n\x1A\n")) return decode_png(bytes, name);
    if (bytes.size() >= 2 && bytes[0] == 'P' &&
        std::string_view("2356").find(bytes[1]) != std::string_view::npos) {
        return decode_pnm(bytes, name);
    }
    const std::string_view other = other_format(bytes);
    if (!other.empty()) {
        fail(name, "found " + std::string(other) +
                       " picture, expected PNG or PNM (P2, P3, P5, P6); convert it to PNG");
    }
    fail(name, "found bytes that begin with " + quoted(bytes.substr(0, 8)) +
                   ", expected a PNG or PNM picture");
}

Image read_image(const std::string& path) {
    const Content content = read_bytes(path);
    return decode_image(content.view(), path);
}

void write_image(const Image& image, const std::string& path) {
    image.check();
    const std::string_view name = without_compression(path);
    const bool grey = image.channels == 1;
    std::string bytes;
    if (name.ends_with(".png")) {
        bytes = encode_png(image);
    } else if (name.ends_with(".pnm") || name.ends_with(grey ? ".pgm" : ".ppm")) {
        bytes = encode_pnm(image);
    } else if (name.ends_with(".pgm") || name.ends_with(".ppm")) {
        fail(path, grey ? "the picture is grey and .ppm holds colour; name it .pgm or .png"
                        : "the picture has colour and .pgm holds grey; name it .ppm or .png");
    } else {
        fail(path, "pictures are written as .png, .pgm, .ppm or .pnm; name it so");
    }
    write_whole(path, [&](Output& output) { output.write(bytes); });
}

Image grey_image(const Image& image) {
    image.check();
    if (image.channels == 1) return image;
    Image grey = Image::filled(image.height, image.width, 1, 0);
    for (std::size_t k = 0; k < grey.pixels.size(); ++k) {
        const std::uint8_t* p = image.pixels.data() + 3 * k;
        grey.pixels[k] =
            static_cast<std::uint8_t>(std::lround(0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2]));
    }
    return grey;
}

Image contact_sheet(std::span<const Image> images, std::size_t columns, std::size_t gap) {
    if (images.empty() || columns == 0) throw InvalidInput("a contact sheet needs pictures");
    const Image& first = images.front();
    for (const Image& image : images) {
        image.check();
        if (image.height != first.height || image.width != first.width ||
            image.channels != first.channels) {
            throw InvalidInput("the pictures of a contact sheet must be of one shape");
        }
    }
    columns = std::min(columns, images.size());
    const std::size_t rows = (images.size() + columns - 1) / columns;
    Image sheet = Image::filled(rows * (first.height + gap) - gap,
                                columns * (first.width + gap) - gap, first.channels, 255);
    for (std::size_t k = 0; k < images.size(); ++k) {
        const std::size_t top = k / columns * (first.height + gap);
        const std::size_t left = k % columns * (first.width + gap);
        const std::size_t line = first.width * first.channels;
        for (std::size_t i = 0; i < first.height; ++i) {
            std::copy_n(&images[k].pixels[i * line], line, &sheet.at(top + i, left));
        }
    }
    return sheet;
}

Image image_of_values(std::span<const double> values, std::size_t height, std::size_t width,
                      double low, double high) {
    Image image = Image::filled(height, width, 1, 0);
    if (values.size() != image.pixels.size()) {
        throw InvalidInput("a picture of " + std::to_string(height) + " × " +
                           std::to_string(width) + " pixels cannot be made of " +
                           std::to_string(values.size()) + " values");
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
        const double part = (values[k] - low) / (high - low);
        const double level = std::isfinite(part) ? std::clamp(part, 0.0, 1.0) : 0.0;
        image.pixels[k] = static_cast<std::uint8_t>(std::lround(255.0 * level));
    }
    return image;
}

}  // namespace mercer
