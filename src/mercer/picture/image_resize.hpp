// Pictures made larger and smaller, and how near one comes to another.
//
//     const Image half = shrink(photo, 2);
//     const Image back = enlarge(half, 2, Interpolation::bicubic);
//     psnr(back, photo); ssim(back, photo);
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/picture/image.hpp"

namespace mercer MERCER_API {

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
