#include "mercer/picture/superres.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/picture/denoise.hpp"

namespace mercer {
namespace {

/// Patches with less contrast (in levels of grey) have nothing to be made sharper.
constexpr double least_contrast = 2;
constexpr std::size_t block_rows = 2048;

void check_shape(std::size_t factor, std::size_t patch) {
    if (factor < 2 || factor > 8) {
        throw InvalidInput("factor = " + std::to_string(factor) + " must be between 2 and 8");
    }
    if (patch < factor || patch > 64) {
        throw InvalidInput("patch = " + std::to_string(patch) +
                           " must be at least the factor and at most 64 pixels");
    }
}

/// The patch at one place about its mean, over its contrast, which is returned (0 when too small).
double take_low(const Plane& plane, std::size_t top, std::size_t left, std::size_t patch,
                std::span<double> low) {
    double mean = 0, square = 0;
    for (std::size_t k = 0; k < low.size(); ++k) {
        low[k] = plane(top + k / patch, left + k % patch);
        mean += low[k] / static_cast<double>(low.size());
    }
    for (double& v : low) {
        v -= mean;
        square += v * v;
    }
    const double contrast = std::sqrt(square / static_cast<double>(low.size()));
    if (contrast < least_contrast) return 0;
    for (double& v : low) v /= contrast;
    return contrast;
}

/// What fills in the high parts of many patches: row t of `low` in, row t of `high` out.
using Filler = std::function<void(const Matrix<double>& low, Matrix<double>& high)>;

/// The patches of a stretched picture that have contrast, and where they lie.
struct Places {
    std::vector<std::size_t> top{}, left{};
    std::vector<double> contrast{};
    std::vector<double> low{};
};

/// Adds the mean of all patches' high parts to the stretched picture.
Plane with_details(const Plane& stretched, std::size_t patch, std::size_t stride,
                   const Filler& fill, const Progress& progress) {
    const std::size_t step = stride == 0 ? std::max<std::size_t>(1, patch / 4) : stride;
    const auto tops = patch_corners(stretched.rows(), patch, step);
    const auto lefts = patch_corners(stretched.columns(), patch, step);
    const std::size_t size = patch * patch;
    Plane sum(stretched.rows(), stretched.columns()), count(stretched.rows(), stretched.columns());
    Places places;
    std::vector<double> low(size);
    const auto flush = [&] {
        Matrix<double> in(places.top.size(), size), out(places.top.size(), size);
        in.values() = std::exchange(places.low, {});
        if (in.rows() > 0) fill(in, out);
        for (std::size_t t = 0; t < in.rows(); ++t) {
            for (std::size_t k = 0; k < size; ++k) {
                sum(places.top[t] + k / patch, places.left[t] + k % patch) +=
                    places.contrast[t] * out(t, k);
            }
        }
        places = {};
    };
    for (std::size_t row = 0; row < tops.size(); ++row) {
        const double done = static_cast<double>(row) / static_cast<double>(tops.size());
        if (!keep_going(progress, {"enlarging", done})) throw Cancelled();
        for (const std::size_t left : lefts) {
            for (std::size_t k = 0; k < size; ++k) {
                count(tops[row] + k / patch, left + k % patch) += 1;  // a flat patch adds nothing
            }
            const double contrast = take_low(stretched, tops[row], left, patch, low);
            if (contrast == 0) continue;
            places.top.push_back(tops[row]);
            places.left.push_back(left);
            places.contrast.push_back(contrast);
            places.low.insert(places.low.end(), low.begin(), low.end());
            if (places.top.size() == block_rows) flush();
        }
    }
    flush();
    Plane result = stretched;
    for (std::size_t k = 0; k < result.values().size(); ++k) {
        result.values()[k] += sum.values()[k] / count.values()[k];
    }
    return result;
}

/// Luminance with details, colours as they are stretched.
/// With `only_high` what is left of the details is what a shrunk picture cannot have.
Image enlarge_with(const Image& small, std::size_t factor, std::size_t patch, std::size_t stride,
                   const Filler& fill, const Progress& progress, bool only_high = false) {
    std::vector<Plane> planes = luminance_planes(small);
    for (Plane& plane : planes) plane = enlarge(plane, factor, Interpolation::bicubic);
    if (std::min(planes[0].rows(), planes[0].columns()) < patch) {
        throw InvalidInput("a picture of " + std::to_string(small.width) + " x " +
                           std::to_string(small.height) + " pixels, " + std::to_string(factor) +
                           " times as large, is smaller than a patch of " + std::to_string(patch));
    }
    Plane detailed = with_details(planes[0], patch, stride, fill, progress);
    if (only_high) {
        const Plane known = enlarge(shrink(detailed, factor), factor, Interpolation::bicubic);
        for (std::size_t k = 0; k < detailed.values().size(); ++k) {
            detailed.values()[k] += planes[0].values()[k] - known.values()[k];
        }
    }
    planes[0] = std::move(detailed);
    return image_of_luminance(planes);
}

/// v = (low, detail · high).
Rows joined(const Matrix<double>& low, const Matrix<double>& high, double detail) {
    const std::size_t size = low.columns();
    std::vector<double> values(low.rows() * 2 * size);
    for (std::size_t t = 0; t < low.rows(); ++t) {
        for (std::size_t k = 0; k < size; ++k) {
            values[t * 2 * size + k] = low(t, k);
            values[t * 2 * size + size + k] = detail * high(t, k);
        }
    }
    return Rows::dense(std::move(values), 2 * size);
}

/// low + high: the patch itself.
Rows added(const Matrix<double>& low, const Matrix<double>& high) {
    std::vector<double> values = low.values();
    for (std::size_t k = 0; k < values.size(); ++k) values[k] += high.values()[k];
    return Rows::dense(std::move(values), low.columns());
}

std::size_t whole_number(const Model& model, const char* name) {
    const auto found = model.trained().numbers.find(name);
    if (found == model.trained().numbers.end() || !(found->second >= 1) || found->second > 1000 ||
        found->second != std::floor(found->second)) {
        throw InvalidInput(std::string("the model was not learnt from pictures: its number '") +
                           name + "' is missing or out of range");
    }
    return static_cast<std::size_t>(found->second);
}

}  // namespace

PatchPairs draw_patches(std::span<const Image> examples, std::size_t factor, std::size_t patch,
                        std::size_t count, std::uint64_t seed) {
    check_shape(factor, patch);
    if (examples.empty()) throw InvalidInput("there is no picture to learn from");
    if (count == 0) throw InvalidInput("sample = 0 must be at least 1");
    const std::size_t size = patch * patch;
    PatchPairs pairs{.patch = patch};
    std::vector<double> lows, highs;
    for (std::size_t e = 0; e < examples.size(); ++e) {
        const Plane whole = luminance_planes(examples[e])[0];
        const Plane stretched = enlarge(shrink(whole, factor), factor, Interpolation::bicubic);
        if (std::min(stretched.rows(), stretched.columns()) < patch) {
            throw InvalidInput("picture " + std::to_string(e + 1) + " of " +
                               std::to_string(whole.columns()) + " x " +
                               std::to_string(whole.rows()) + " pixels is smaller than a patch");
        }
        Random random(seed, e);
        std::vector<double> low(size);
        const std::size_t share = count / examples.size() + (e < count % examples.size() ? 1 : 0);
        std::size_t taken = 0;
        for (std::size_t attempt = 0; taken < share && attempt < 20 * share; ++attempt) {
            const std::size_t top = random.below(stretched.rows() - patch + 1);
            const std::size_t left = random.below(stretched.columns() - patch + 1);
            const double contrast = take_low(stretched, top, left, patch, low);
            if (contrast == 0) continue;
            lows.insert(lows.end(), low.begin(), low.end());
            for (std::size_t k = 0; k < size; ++k) {
                const std::size_t i = top + k / patch, j = left + k % patch;
                highs.push_back((whole(i, j) - stretched(i, j)) / contrast);
            }
            ++taken;
        }
    }
    if (lows.empty()) throw InvalidInput("the pictures are flat: no patch has any contrast");
    pairs.low = Matrix<double>(lows.size() / size, size);
    pairs.high = Matrix<double>(lows.size() / size, size);
    pairs.low.values() = std::move(lows);
    pairs.high.values() = std::move(highs);
    return pairs;
}

SuperResolution SuperResolution::learn(std::span<const Image> examples,
                                       const SuperresSettings& settings) {
    require_range("detail", settings.detail, settings.detail > 0, "greater than 0");
    if (settings.rounds == 0) throw InvalidInput("rounds = 0 must be at least 1");
    const PatchPairs pairs = draw_patches(examples, settings.factor, settings.patch,
                                          settings.sample, settings.hebbian.common.seed);
    Dataset patches;
    const bool large = settings.kind == PatchKind::large;
    patches.x =
        large ? added(pairs.low, pairs.high) : joined(pairs.low, pairs.high, settings.detail);
    ModelParts model = hebbian_pca(settings.hebbian).fit(patches).parts();
    model.trained.numbers["factor"] = static_cast<double>(settings.factor);
    model.trained.numbers["patch"] = static_cast<double>(settings.patch);
    model.trained.numbers["detail"] = settings.detail;
    if (large) model.trained.numbers["large"] = 1;
    model.trained.numbers["rounds"] = static_cast<double>(settings.rounds);
    SuperResolution result{Model(std::move(model))};
    result.preimage = settings.preimage;
    result.stride = settings.stride;
    return result;
}

SuperResolution::SuperResolution(const Model& model)
    : components_(model),
      factor_(whole_number(model, "factor")),
      patch_(whole_number(model, "patch")),
      rounds_(whole_number(model, "rounds")),
      kind_(model.trained().numbers.contains("large") ? PatchKind::large : PatchKind::pairs) {
    check_shape(factor_, patch_);
    const std::size_t columns = (kind_ == PatchKind::large ? 1 : 2) * patch_ * patch_;
    const auto found = model.trained().numbers.find("detail");
    if (found == model.trained().numbers.end() || !(found->second > 0) ||
        model.columns() != columns || !model.scaling().center().empty()) {
        throw InvalidInput(
            "the model was not learnt from pictures: its columns are not those of "
            "patches");
    }
    detail_ = found->second;
}

Image SuperResolution::enlarge(const Image& small, const Progress& progress) const {
    const Expansion& e = components_.model().expansion();
    const PreimageFinder finder(e.kernel, e.points, preimage);
    const Predictor predictor(components_.model());
    const std::size_t size = patch_ * patch_;
    const Filler fill = [&](const Matrix<double>& low, Matrix<double>& high) {
        for (std::size_t round = 0; round < rounds_; ++round) {
            const bool large = kind_ == PatchKind::large;
            const Rows v = large ? added(low, high) : joined(low, high, detail_);
            const Matrix<double> p = predictor.decision(v);
            const std::vector<Preimage> found = finder.find(components_.expand(p.view()).view(), v);
            for (std::size_t t = 0; t < found.size(); ++t) {
                for (std::size_t k = 0; k < size; ++k) {
                    high(t, k) = large ? found[t].z[k] - low(t, k) : found[t].z[size + k] / detail_;
                }
            }
        }
    };
    return enlarge_with(small, factor_, patch_, stride, fill, progress, kind_ == PatchKind::large);
}

Image enlarge_by_nearest(const Image& small, std::size_t factor, const PatchPairs& examples,
                         std::size_t stride, const Progress& progress) {
    check_shape(factor, examples.patch);
    const std::size_t n = examples.low.rows();
    std::vector<double> half(n);  // ½‖low‖², so that low·x − half is largest at the nearest
    for (std::size_t i = 0; i < n; ++i) {
        const auto row = examples.low.row(i);
        half[i] = 0.5 * std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    }
    const Filler fill = [&](const Matrix<double>& low, Matrix<double>& high) {
        parallel_ranges(low.rows(), 64, [&](std::size_t first, std::size_t last) {
            Matrix<double> products(last - first, n);
            multiply_transposed(low.view().block(first, 0, last - first, low.columns()),
                                examples.low.view(), products.view());
            for (std::size_t t = first; t < last; ++t) {
                std::size_t best = 0;
                double largest = -std::numeric_limits<double>::infinity();
                for (std::size_t i = 0; i < n; ++i) {
                    if (const double value = products(t - first, i) - half[i]; value > largest) {
                        largest = value;
                        best = i;
                    }
                }
                std::ranges::copy(examples.high.row(best), high.row(t).begin());
            }
        });
    };
    return enlarge_with(small, factor, examples.patch, stride, fill, progress);
}

}  // namespace mercer
