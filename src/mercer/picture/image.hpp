// Pictures from and to files, for what learns from them.
//
//     const Image photo = read_image("kodim23.png");
//     photo.at(row, column, channel);
//     write_image(contact_sheet(digits, 16), "digits.png");
//
// Pictures as rows: squares of pixels, one per row, and back. Pictures made larger and smaller, and
// how near one comes to another.
//
//     const Image half = shrink(photo, 2);
//     const Image back = enlarge(half, 2, Interpolation::bicubic);
//     psnr(back, photo); ssim(back, photo);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/data/rows.hpp"

namespace mercer MERCER_API {

/// A picture of bytes. Row-major with the channels side by side: channel c of the pixel in row i,
/// column j is pixels[(i * width + j) * channels + c]. One channel is grey (0 black, 255 white),
/// three are red, green, blue.
struct Image {
    std::size_t height = 0;
    std::size_t width = 0;
    std::size_t channels = 1;
    std::vector<std::uint8_t> pixels{};

    /// A picture of one value.
    static Image filled(std::size_t height, std::size_t width, std::size_t channels,
                        std::uint8_t value);

    std::uint8_t& at(std::size_t row, std::size_t column, std::size_t channel = 0) {
        return pixels[(row * width + column) * channels + channel];
    }
    std::uint8_t at(std::size_t row, std::size_t column, std::size_t channel = 0) const {
        return pixels[(row * width + column) * channels + channel];
    }

    /// Throws InvalidInput when it is empty, too large, of another number of channels than 1 or 3,
    /// or holds not exactly as many bytes as its shape says.
    void check() const;
};

/// No picture has more values (pixels times channels) than this; larger files are refused before
/// anything is allocated for them.
inline constexpr std::size_t largest_image = std::size_t{1} << 28;

/// Reads PNG (1 to 16 bits, grey, RGB or palette) or PNM (P2, P3, P5, P6), known by the content,
/// itself compressed or not; "-" is standard input. Samples of more or fewer than 8 bits are
/// brought to 8 by scaling, a palette becomes RGB, transparency is laid over white. Throws
/// InvalidInput for every other format (it names JPEG, GIF, WebP, … for what they are), and for
/// files that are cut short, damaged or too large.
Image read_image(const std::string& path);

/// The same from memory; `name` stands for the file in messages.
Image decode_image(std::string_view bytes, const std::string& name);

/// Writes by the name's ending: .png; .pgm, .ppm or .pnm (binary; .pgm wants grey, .ppm colour).
/// Whole or not at all.
void write_image(const Image& image, const std::string& path);

/// Grey of a colour picture by the weights of Rec. 601; a grey one is given back as it is.
Image grey_image(const Image& image);

/// Pictures of one shape side by side, `columns` in a row, `gap` pixels of white between them; the
/// last row is filled up with white. Throws InvalidInput when their shapes differ.
Image contact_sheet(std::span<const Image> images, std::size_t columns, std::size_t gap = 2);

/// A row of numbers as a grey picture: `low` becomes black and `high` white, what lies outside is
/// clipped. values.size() == height * width.
Image image_of_values(std::span<const double> values, std::size_t height, std::size_t width,
                      double low, double high);

/// The squares of `side` × `side` pixels, from left to right and top to bottom, each as side × side
/// × channels numbers 0 … 255 in the order of the picture. Squares that reach over the edge repeat
/// its last pixel. Throws InvalidInput for a side of 0 or above 256.
Rows image_blocks(const Image& image, std::size_t side);

/// The picture of these squares: what image_blocks was given, when the numbers are unchanged.
/// Numbers are rounded and clipped to bytes. Throws InvalidInput when rows and shape do not fit.
Image image_from_blocks(const Rows& blocks, std::size_t height, std::size_t width,
                        std::size_t channels, std::size_t side);

enum class Interpolation {
    nearest,   ///< each pixel repeated
    bilinear,  ///< straight lines between pixel centres
    bicubic,   ///< cubic convolution with a = −½ (Keys 1981)
};
std::string_view interpolation_name(Interpolation interpolation);

/// One channel as numbers: row-major, levels 0 … 255.
using Plane = Matrix<double>;
Plane plane_of(const Image& image, std::size_t channel = 0);
/// The planes as channels, rounded and clipped to bytes. One or three of one shape.
Image image_of_planes(std::span<const Plane> planes);

/// Every `factor` × `factor` pixels become their mean; what is left over at the right and at the
/// bottom is cut off. Throws InvalidInput unless there is at least one such block; factor >= 1.
Image shrink(const Image& image, std::size_t factor);
Plane shrink(const Plane& plane, std::size_t factor);

/// `factor` times as high and as wide, pixel centres lying as `shrink` has them: the centre of a
/// block is that of the small pixel. Beyond the border its pixels go on. Throws InvalidInput when
/// the result would be too large.
Image enlarge(const Image& image, std::size_t factor, Interpolation interpolation);
Plane enlarge(const Plane& plane, std::size_t factor, Interpolation interpolation);

/// Luminance and two differences of colour (Rec. 601), and back.
std::vector<Plane> luminance_planes(const Image& image);
Image image_of_luminance(std::span<const Plane> planes);

/// Peak signal-to-noise ratio in decibels, 10 log₁₀(255² / mean squared error); infinite for equal
/// pictures. `border` pixels at each side are left out. Throws InvalidInput when shapes differ.
double psnr(const Image& a, const Image& b, std::size_t border = 0);

/// Structural similarity (Wang, Bovik, Sheikh and Simoncelli 2004), the mean over all places where
/// their Gaussian window of 11 × 11 pixels (σ = 1.5) fits, and over channels: 1 for equal pictures.
/// C₁ = (0.01·255)², C₂ = (0.03·255)². Throws InvalidInput when shapes differ or no window fits.
double ssim(const Image& a, const Image& b, std::size_t border = 0);

}  // namespace mercer
