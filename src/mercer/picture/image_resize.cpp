#include "mercer/picture/image.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

constexpr std::size_t grain = 32;  // rows of pixels a piece of work

/// Four neighbours and their weights for one place of the large picture.
struct Taps {
    std::array<std::size_t, 4> at{};
    std::array<double, 4> weight{};
};

/// Cubic convolution: (a+2)|t|³ − (a+3)|t|² + 1 up to 1, a|t|³ − 5a|t|² + 8a|t| − 4a up to 2.
double cubic(double t) {
    constexpr double a = -0.5;
    const double u = std::abs(t);
    if (u <= 1) return ((a + 2) * u - (a + 3)) * u * u + 1;
    if (u < 2) return ((a * u - 5 * a) * u + 8 * a) * u - 4 * a;
    return 0;
}

/// For each pixel along one side of the large picture.
std::vector<Taps> taps_of(std::size_t length, std::size_t factor, Interpolation interpolation) {
    std::vector<Taps> result(length * factor);
    const auto inside = [&](std::ptrdiff_t i) {
        return static_cast<std::size_t>(
            std::clamp<std::ptrdiff_t>(i, 0, static_cast<std::ptrdiff_t>(length) - 1));
    };
    for (std::size_t i = 0; i < result.size(); ++i) {
        const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(factor) - 0.5;
        const auto floor = static_cast<std::ptrdiff_t>(std::floor(place));
        const double t = place - std::floor(place);
        Taps& taps = result[i];
        for (std::size_t k = 0; k < 4; ++k) {
            taps.at[k] = inside(floor - 1 + static_cast<std::ptrdiff_t>(k));
        }
        switch (interpolation) {
            case Interpolation::nearest:
                taps.at[1] = i / factor;
                taps.weight = {0, 1, 0, 0};
                break;
            case Interpolation::bilinear: taps.weight = {0, 1 - t, t, 0}; break;
            default: taps.weight = {cubic(t + 1), cubic(t), cubic(1 - t), cubic(2 - t)};
        }
    }
    return result;
}

void check_same(const Image& a, const Image& b, std::size_t border) {
    if (a.height != b.height || a.width != b.width || a.channels != b.channels) {
        const auto shape = [](const Image& i) {
            return std::to_string(i.width) + " x " + std::to_string(i.height) + " x " +
                   std::to_string(i.channels);
        };
        throw InvalidInput("pictures of " + shape(a) + " and " + shape(b) +
                           " cannot be compared; they must have one shape");
    }
    if (2 * border >= std::min(a.height, a.width)) {
        throw InvalidInput("a border of " + std::to_string(border) +
                           " pixels leaves nothing of the picture");
    }
}

Plane inner_part(const Image& image, std::size_t channel, std::size_t border) {
    Plane plane(image.height - 2 * border, image.width - 2 * border);
    for (std::size_t i = 0; i < plane.rows(); ++i) {
        for (std::size_t j = 0; j < plane.columns(); ++j) {
            plane(i, j) = image.at(i + border, j + border, channel);
        }
    }
    return plane;
}

constexpr std::size_t window = 11;

/// Local means under the Gaussian window, only where it fits.
Plane smoothed(const Plane& plane) {
    std::array<double, window> weight{};
    double sum = 0;
    for (std::size_t k = 0; k < window; ++k) {
        const double t = static_cast<double>(k) - 5;
        sum += weight[k] = std::exp(-t * t / (2 * 1.5 * 1.5));
    }
    for (double& w : weight) w /= sum;
    Plane across(plane.rows(), plane.columns() - window + 1);
    parallel_ranges(across.rows(), grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            for (std::size_t j = 0; j < across.columns(); ++j) {
                for (std::size_t k = 0; k < window; ++k) {
                    across(i, j) += weight[k] * plane(i, j + k);
                }
            }
        }
    });
    Plane result(plane.rows() - window + 1, across.columns());
    parallel_ranges(result.rows(), grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            for (std::size_t k = 0; k < window; ++k) {
                for (std::size_t j = 0; j < result.columns(); ++j) {
                    result(i, j) += weight[k] * across(i + k, j);
                }
            }
        }
    });
    return result;
}

Plane product(const Plane& a, const Plane& b) {
    Plane result = a;
    for (std::size_t k = 0; k < result.values().size(); ++k) result.values()[k] *= b.values()[k];
    return result;
}

double plane_ssim(const Plane& a, const Plane& b) {
    constexpr double c1 = 0.01 * 255 * 0.01 * 255, c2 = 0.03 * 255 * 0.03 * 255;
    const Plane ma = smoothed(a), mb = smoothed(b);
    const Plane aa = smoothed(product(a, a)), bb = smoothed(product(b, b));
    const Plane ab = smoothed(product(a, b));
    double sum = 0;
    for (std::size_t k = 0; k < ma.values().size(); ++k) {
        const double x = ma.values()[k], y = mb.values()[k];
        const double vx = aa.values()[k] - x * x, vy = bb.values()[k] - y * y;
        const double vxy = ab.values()[k] - x * y;
        sum += (2 * x * y + c1) * (2 * vxy + c2) / ((x * x + y * y + c1) * (vx + vy + c2));
    }
    return sum / static_cast<double>(ma.values().size());
}

}  // namespace

std::string_view interpolation_name(Interpolation interpolation) {
    switch (interpolation) {
        case Interpolation::nearest: return "nearest";
        case Interpolation::bilinear: return "bilinear";
        default: return "bicubic";
    }
}

Plane plane_of(const Image& image, std::size_t channel) {
    image.check();
    return inner_part(image, channel, 0);
}

Image image_of_planes(std::span<const Plane> planes) {
    if (planes.size() != 1 && planes.size() != 3) {
        throw InvalidInput("a picture has 1 or 3 planes, not " + std::to_string(planes.size()));
    }
    Image image = Image::filled(planes[0].rows(), planes[0].columns(), planes.size(), 0);
    for (std::size_t c = 0; c < planes.size(); ++c) {
        if (planes[c].rows() != image.height || planes[c].columns() != image.width) {
            throw InvalidInput("the planes of a picture must have one shape");
        }
        for (std::size_t i = 0; i < image.height; ++i) {
            for (std::size_t j = 0; j < image.width; ++j) {
                image.at(i, j, c) =
                    static_cast<std::uint8_t>(std::lround(std::clamp(planes[c](i, j), 0.0, 255.0)));
            }
        }
    }
    return image;
}

Plane shrink(const Plane& plane, std::size_t factor) {
    if (factor == 0 || plane.rows() < factor || plane.columns() < factor) {
        throw InvalidInput("a picture of " + std::to_string(plane.columns()) + " x " +
                           std::to_string(plane.rows()) + " pixels has no blocks of " +
                           std::to_string(factor) + " x " + std::to_string(factor));
    }
    Plane result(plane.rows() / factor, plane.columns() / factor);
    const double share = 1 / static_cast<double>(factor * factor);
    parallel_ranges(result.rows(), grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first * factor; i < last * factor; ++i) {
            for (std::size_t j = 0; j < result.columns() * factor; ++j) {
                result(i / factor, j / factor) += share * plane(i, j);
            }
        }
    });
    return result;
}

Plane enlarge(const Plane& plane, std::size_t factor, Interpolation interpolation) {
    if (factor == 0 || plane.rows() == 0 || plane.columns() == 0 ||
        factor > largest_image / plane.rows() / factor / plane.columns()) {
        throw InvalidInput("a picture of " + std::to_string(plane.columns()) + " x " +
                           std::to_string(plane.rows()) + " pixels cannot be made " +
                           std::to_string(factor) + " times as large");
    }
    const std::vector<Taps> down = taps_of(plane.rows(), factor, interpolation);
    const std::vector<Taps> across = taps_of(plane.columns(), factor, interpolation);
    Plane result(down.size(), across.size());
    parallel_ranges(result.rows(), grain, [&](std::size_t first, std::size_t last) {
        std::vector<double> row(plane.columns());
        for (std::size_t i = first; i < last; ++i) {
            std::ranges::fill(row, 0.0);
            for (std::size_t k = 0; k < 4; ++k) {
                const auto from = plane.row(down[i].at[k]);
                for (std::size_t j = 0; j < row.size(); ++j) {
                    row[j] += down[i].weight[k] * from[j];
                }
            }
            for (std::size_t j = 0; j < across.size(); ++j) {
                for (std::size_t k = 0; k < 4; ++k) {
                    result(i, j) += across[j].weight[k] * row[across[j].at[k]];
                }
            }
        }
    });
    return result;
}

Image shrink(const Image& image, std::size_t factor) {
    std::vector<Plane> planes;
    for (std::size_t c = 0; c < image.channels; ++c) {
        planes.push_back(shrink(plane_of(image, c), factor));
    }
    return image_of_planes(planes);
}

Image enlarge(const Image& image, std::size_t factor, Interpolation interpolation) {
    std::vector<Plane> planes;
    for (std::size_t c = 0; c < image.channels; ++c) {
        planes.push_back(enlarge(plane_of(image, c), factor, interpolation));
    }
    return image_of_planes(planes);
}

std::vector<Plane> luminance_planes(const Image& image) {
    if (image.channels == 1) return {plane_of(image)};
    std::vector<Plane> p{plane_of(image, 0), plane_of(image, 1), plane_of(image, 2)};
    for (std::size_t k = 0; k < p[0].values().size(); ++k) {
        const double r = p[0].values()[k], g = p[1].values()[k], b = p[2].values()[k];
        const double y = 0.299 * r + 0.587 * g + 0.114 * b;
        p[0].values()[k] = y;
        p[1].values()[k] = b - y;
        p[2].values()[k] = r - y;
    }
    return p;
}

Image image_of_luminance(std::span<const Plane> planes) {
    if (planes.size() != 3) return image_of_planes(planes);
    std::vector<Plane> p(planes.begin(), planes.end());
    for (std::size_t k = 0; k < p[0].values().size(); ++k) {
        const double y = p[0].values()[k];
        const double b = p[1].values()[k] + y, r = p[2].values()[k] + y;
        p[0].values()[k] = r;
        p[1].values()[k] = (y - 0.299 * r - 0.114 * b) / 0.587;
        p[2].values()[k] = b;
    }
    return image_of_planes(p);
}

double psnr(const Image& a, const Image& b, std::size_t border) {
    check_same(a, b, border);
    double sum = 0, count = 0;
    for (std::size_t c = 0; c < a.channels; ++c) {
        const Plane p = inner_part(a, c, border), q = inner_part(b, c, border);
        for (std::size_t k = 0; k < p.values().size(); ++k) {
            const double d = p.values()[k] - q.values()[k];
            sum += d * d;
        }
        count += static_cast<double>(p.values().size());
    }
    if (sum == 0) return std::numeric_limits<double>::infinity();
    return 10 * std::log10(255.0 * 255.0 * count / sum);
}

double ssim(const Image& a, const Image& b, std::size_t border) {
    check_same(a, b, border);
    if (std::min(a.height, a.width) < window + 2 * border) {
        throw InvalidInput(
            "structural similarity looks through a window of 11 x 11 pixels, which "
            "does not fit a picture of " +
            std::to_string(a.width) + " x " + std::to_string(a.height));
    }
    double sum = 0;
    for (std::size_t c = 0; c < a.channels; ++c) {
        sum += plane_ssim(inner_part(a, c, border), inner_part(b, c, border));
    }
    return sum / static_cast<double>(a.channels);
}

}  // namespace mercer
