#include "mercer/picture/denoise.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/model.hpp"

namespace mercer {
namespace {

/// Rows projected and brought back together: the coefficients of so many are held at a time.
constexpr std::size_t coefficient_bytes = std::size_t{128} << 20;

/// Rows in the space the kernel sees.
Rows scaled_rows(const Model& model, const Rows& x) {
    return model.scaling().apply(rows_for(model, x));
}

/// Where a patch lies in a picture.
struct Place {
    std::size_t row = 0;
    std::size_t column = 0;
    std::size_t channel = 0;
};

std::vector<Place> places_of(const Image& image, std::size_t patch, std::size_t stride) {
    std::vector<Place> places;
    for (std::size_t c = 0; c < image.channels; ++c) {
        for (const std::size_t i : patch_corners(image.height, patch, stride)) {
            for (const std::size_t j : patch_corners(image.width, patch, stride)) {
                places.push_back({i, j, c});
            }
        }
    }
    return places;
}

/// Patches as rows of levels in [0, 1] less their mean, which goes to `means`.
Rows cut(const Image& image, const std::vector<Place>& places, std::size_t patch,
         std::vector<double>& means) {
    const std::size_t d = patch * patch;
    std::vector<double> values(places.size() * d);
    means.assign(places.size(), 0.0);
    for (std::size_t p = 0; p < places.size(); ++p) {
        double* row = values.data() + p * d;
        for (std::size_t i = 0; i < patch; ++i) {
            for (std::size_t j = 0; j < patch; ++j) {
                const Place& at = places[p];
                row[i * patch + j] = image.at(at.row + i, at.column + j, at.channel) / 255.0;
                means[p] += row[i * patch + j] / static_cast<double>(d);
            }
        }
        for (std::size_t k = 0; k < d; ++k) row[k] -= means[p];
    }
    return Rows::dense(std::move(values), d);
}

Model learn_patches(const Image& example, const ImageDenoiseSettings& s, std::size_t stride) {
    std::vector<Place> places = places_of(example, s.patch, stride);
    if (s.sample > 0 && places.size() > s.sample) {
        Random(s.pca.common.seed).shuffle(std::span(places));
        places.resize(s.sample);
    }
    std::vector<double> means;
    Dataset data;
    data.x = cut(example, places, s.patch, means);
    return kernel_pca(s.pca).fit(data);
}

/// The mean of what overlapping patches say of each pixel.
class Mosaic {
   public:
    explicit Mosaic(const Image& like)
        : image_(like), sum_(like.pixels.size(), 0.0), count_(like.pixels.size(), 0.0) {}

    void lay(const Place& at, std::size_t patch, std::span<const double> row, double mean) {
        for (std::size_t i = 0; i < patch; ++i) {
            for (std::size_t j = 0; j < patch; ++j) {
                const std::size_t k =
                    ((at.row + i) * image_.width + at.column + j) * image_.channels + at.channel;
                sum_[k] += row[i * patch + j] + mean;
                count_[k] += 1;
            }
        }
    }

    Image finished() && {
        for (std::size_t k = 0; k < sum_.size(); ++k) {
            const double level = std::clamp(255 * sum_[k] / count_[k], 0.0, 255.0);
            image_.pixels[k] = static_cast<std::uint8_t>(std::lround(level));
        }
        return std::move(image_);
    }

   private:
    Image image_;
    std::vector<double> sum_;
    std::vector<double> count_;
};

void check_patch(const Image& image, const ImageDenoiseSettings& s) {
    image.check();
    if (s.patch >= 2 && s.patch <= std::min(image.height, image.width)) return;
    throw InvalidInput("patch = " + std::to_string(s.patch) +
                       " must be between 2 and the shorter side of the picture, " +
                       std::to_string(std::min(image.height, image.width)));
}

}  // namespace

std::vector<std::size_t> patch_corners(std::size_t length, std::size_t patch, std::size_t stride) {
    if (patch == 0 || patch > length || stride == 0) {
        throw InvalidInput("patches of " + std::to_string(patch) + " pixels at steps of " +
                           std::to_string(stride) + " do not cover " + std::to_string(length));
    }
    std::vector<std::size_t> corners;
    for (std::size_t at = 0; at + patch < length; at += stride) corners.push_back(at);
    corners.push_back(length - patch);
    return corners;
}

Denoised denoise(const PrincipalComponents& components, const Rows& x,
                 const DenoiseSettings& settings) {
    const Model& model = components.model();
    const Expansion& e = model.expansion();
    const PreimageFinder finder(e.kernel, e.points, settings.preimage);
    const Predictor predictor(model);
    model.scaling().undo(e.points.select(std::vector<std::size_t>{0}));  // refuses before the work
    Denoised result;
    const std::size_t batch =
        std::clamp<std::size_t>(coefficient_bytes / sizeof(double) / e.size(), 1, 4096);
    std::vector<std::size_t> which;
    for (std::size_t first = 0; first < x.size(); first += batch) {
        which.resize(std::min(batch, x.size() - first));
        std::iota(which.begin(), which.end(), first);
        const Rows part = x.select(which);
        const Matrix<double> p = predictor.decision(part, settings.preimage.progress);
        const Matrix<double> targets = components.expand(p.view(), settings.components);
        std::vector<Preimage> found = finder.find(targets.view(), scaled_rows(model, part));
        std::ranges::move(found, std::back_inserter(result.preimages));
    }
    result.x = model.scaling().undo(preimage_rows(result.preimages));
    return result;
}

Image denoise_image(const Image& noisy, const Image& example,
                    const ImageDenoiseSettings& settings) {
    check_patch(noisy, settings);
    check_patch(example, settings);
    const std::size_t stride =
        settings.stride > 0 ? settings.stride : std::max<std::size_t>(settings.patch / 4, 1);
    const PrincipalComponents components(learn_patches(example, settings, stride));
    const std::vector<Place> places = places_of(noisy, settings.patch, stride);
    std::vector<double> means;
    const Rows rows = cut(noisy, places, settings.patch, means);
    const Denoised clean = denoise(components, rows, settings.denoise);
    Mosaic mosaic(noisy);
    std::vector<double> row(settings.patch * settings.patch);
    for (std::size_t p = 0; p < places.size(); ++p) {
        clean.x.copy_row(p, row);
        mosaic.lay(places[p], settings.patch, row, means[p]);
    }
    return std::move(mosaic).finished();
}

}  // namespace mercer
