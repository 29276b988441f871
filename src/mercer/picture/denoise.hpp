// Denoising (001, "Kernel PCA Denoising"): what the first components keep of a row in feature
// space, brought back to input space by a pre-image. Noise lies mostly in the other components.
//
//   const PrincipalComponents components(kernel_pca({.components = 64}).fit(clean));
//   Rows better = denoise(components, noisy.x).x;
//   Image sharp = denoise_image(noisy_photo, noisy_photo, {.patch = 8});
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/feature/preimage.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/picture/image.hpp"

namespace mercer MERCER_API {

struct DenoiseSettings {
    std::size_t components = 0;   ///< 0: all that the model has
    PreimageSettings preimage{};  ///< the noisy rows are its starts; its progress is told
};

struct Denoised {
    Rows x{};                           ///< as the data, not scaled
    std::vector<Preimage> preimages{};  ///< in the space of the scaled rows, with distances
};

/// Each row of x replaced by a pre-image of its projection PΦ(x). Throws InvalidInput for kernels
/// without pre-images (see PreimageFinder) and for scaling that cannot be undone; Cancelled.
Denoised denoise(const PrincipalComponents& components, const Rows& x,
                 const DenoiseSettings& settings = {});

struct ImageDenoiseSettings {
    std::size_t patch = 8;      ///< pixels a side
    std::size_t stride = 0;     ///< between patches; 0: a quarter of the patch
    std::size_t sample = 2000;  ///< patches learnt from, drawn by the seed of `pca`
    KernelPcaSettings pca{};    ///< its kernel on patches of levels in [0, 1] less their mean
    DenoiseSettings denoise{};
};

/// Every patch of the picture denoised by the kernel PCA of patches of `example` (which may be the
/// picture itself), and put together again as the mean of those that overlap. Each channel for
/// itself. Throws InvalidInput when a picture is smaller than a patch; Cancelled.
Image denoise_image(const Image& noisy, const Image& example,
                    const ImageDenoiseSettings& settings = {});

/// The corners (0, stride, 2·stride, …, and the last that fits) of patches along one side.
std::vector<std::size_t> patch_corners(std::size_t length, std::size_t patch, std::size_t stride);

}  // namespace mercer
