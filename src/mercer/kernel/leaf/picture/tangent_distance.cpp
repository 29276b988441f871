// tangent_distance: how far two pictures are apart when each may be moved, turned, stretched and
// made bolder a little [Simard, Le Cun and Denker 1993; 62 of 001]
#include <algorithm>
#include <array>
#include <bit>

#include "mercer/base/error.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"
#include "mercer/kernel/leaf/detail/each_pair.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/kernel/leaf/picture/tangent_distance.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// out[r][s] = Σ_k a[k][r] b[k][s] for r, s below 8: products of two pictures and their seven
/// tangents with one another.
void tangent_products(const double* a, const double* b, std::size_t pixels, double* out) {
    const hn::CappedTag<double, 8> d;
    using V = hn::Vec<hn::CappedTag<double, 8>>;
    for (std::size_t s = 0; s < 8; s += hn::Lanes(d)) {
        V sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
        V sum4 = sum0, sum5 = sum0, sum6 = sum0, sum7 = sum0;
        for (std::size_t k = 0; k < pixels; ++k) {
            const V right = hn::LoadU(d, b + 8 * k + s);
            const double* left = a + 8 * k;
            sum0 = hn::MulAdd(hn::Set(d, left[0]), right, sum0);
            sum1 = hn::MulAdd(hn::Set(d, left[1]), right, sum1);
            sum2 = hn::MulAdd(hn::Set(d, left[2]), right, sum2);
            sum3 = hn::MulAdd(hn::Set(d, left[3]), right, sum3);
            sum4 = hn::MulAdd(hn::Set(d, left[4]), right, sum4);
            sum5 = hn::MulAdd(hn::Set(d, left[5]), right, sum5);
            sum6 = hn::MulAdd(hn::Set(d, left[6]), right, sum6);
            sum7 = hn::MulAdd(hn::Set(d, left[7]), right, sum7);
        }
        hn::StoreU(sum0, d, out + s);
        hn::StoreU(sum1, d, out + 8 + s);
        hn::StoreU(sum2, d, out + 16 + s);
        hn::StoreU(sum3, d, out + 24 + s);
        hn::StoreU(sum4, d, out + 32 + s);
        hn::StoreU(sum5, d, out + 40 + s);
        hn::StoreU(sum6, d, out + 48 + s);
        hn::StoreU(sum7, d, out + 56 + s);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {

MERCER_SIMD_EXPORT(tangent_products);

using namespace leaves;

constexpr std::size_t slots = 8;  // a picture and up to seven tangents
enum Moves { all_moves, affine_moves, shift_moves };

struct Shape {
    std::size_t height = 0;
    std::size_t width = 0;
};

/// Height and width of rows of so many pixels.
Shape shape_of(const KernelNode& node, std::size_t pixels) {
    const auto height = static_cast<std::size_t>(node.parameter("height"));
    const auto width = static_cast<std::size_t>(node.parameter("width"));
    Shape shape{height, width};
    if (height == 0 && width == 0) {
        shape.height =
            static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(pixels))));
        shape.width = shape.height;
    } else if (height == 0) {
        shape.height = pixels / width;
    } else if (width == 0) {
        shape.width = pixels / height;
    }
    if (pixels == 0 || shape.height * shape.width != pixels) {
        throw InvalidInput("tangent_distance: rows of " + std::to_string(pixels) +
                           " numbers are no pictures of " + std::to_string(shape.height) + " x " +
                           std::to_string(shape.width) +
                           " pixels; say their height and width, as in "
                           "tangent_distance(height=28, width=28)");
    }
    return shape;
}

/// Smoothed along lines of `count` values `step` apart, which begin at `first`; beyond their ends
/// the last value goes on.
void smooth_line(std::span<double> values, std::size_t first, std::size_t step, std::size_t count,
                 double sigma, std::vector<double>& line) {
    line.resize(count);
    for (std::size_t i = 0; i < count; ++i) line[i] = values[first + i * step];
    const auto reach = static_cast<std::ptrdiff_t>(std::ceil(3 * sigma));
    const auto last = static_cast<std::ptrdiff_t>(count) - 1;
    for (std::ptrdiff_t i = 0; i <= last; ++i) {
        double sum = 0, weight = 0;
        for (std::ptrdiff_t j = -reach; j <= reach; ++j) {
            const double w = std::exp(-static_cast<double>(j * j) / (2 * sigma * sigma));
            sum += w * line[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i + j, 0, last))];
            weight += w;
        }
        values[first + static_cast<std::size_t>(i) * step] = sum / weight;
    }
}

/// Directions in which a picture I moves, from its slopes I_x and I_y at (x, y) from the middle:
/// right, down; larger x I_x + y I_y, turned y I_x − x I_y; stretched x I_x − y I_y, y I_x + x I_y
/// along the axes and the diagonals; bolder I_x² + I_y². One after another, `pixels` numbers each.
std::vector<double> tangents_of(Row image, const Shape& shape, double blur, int moves) {
    const std::size_t pixels = image.size();
    std::vector<double> smooth(image.begin(), image.end()), line;
    if (blur > 0) {
        for (std::size_t i = 0; i < shape.height; ++i) {
            smooth_line(smooth, i * shape.width, 1, shape.width, blur, line);
        }
        for (std::size_t j = 0; j < shape.width; ++j) {
            smooth_line(smooth, j, shape.width, shape.height, blur, line);
        }
    }
    const std::size_t count = moves == shift_moves ? 2 : moves == affine_moves ? 6 : 7;
    std::vector<double> all(count * pixels);
    const auto at = [&](std::size_t i, std::size_t j) { return smooth[i * shape.width + j]; };
    for (std::size_t i = 0; i < shape.height; ++i) {
        for (std::size_t j = 0; j < shape.width; ++j) {
            const std::size_t right = std::min(j + 1, shape.width - 1), left = j - (j > 0 ? 1 : 0);
            const std::size_t below = std::min(i + 1, shape.height - 1),
                              above = i - (i > 0 ? 1 : 0);
            const double slope_x = (at(i, right) - at(i, left)) / 2;
            const double slope_y = (at(below, j) - at(above, j)) / 2;
            const double x = static_cast<double>(j) - static_cast<double>(shape.width - 1) / 2;
            const double y = static_cast<double>(i) - static_cast<double>(shape.height - 1) / 2;
            const std::array<double, 7> move{slope_x,
                                             slope_y,
                                             x * slope_x + y * slope_y,
                                             y * slope_x - x * slope_y,
                                             x * slope_x - y * slope_y,
                                             y * slope_x + x * slope_y,
                                             slope_x * slope_x + slope_y * slope_y};
            for (std::size_t t = 0; t < count; ++t) all[t * pixels + i * shape.width + j] = move[t];
        }
    }
    return all;
}

double inner(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

/// Orthonormal directions of the same span, those that add nothing to it 0. By Gram and Schmidt,
/// twice over.
void orthonormalise(std::span<double> all, std::size_t pixels) {
    const auto row = [&](std::size_t t) { return all.subspan(t * pixels, pixels); };
    for (std::size_t t = 0; t < all.size() / pixels; ++t) {
        const double before = std::sqrt(inner(row(t), row(t)));
        for (int pass = 0; pass < 2; ++pass) {
            for (std::size_t s = 0; s < t; ++s) {
                const double share = inner(row(s), row(t));
                for (std::size_t k = 0; k < pixels; ++k) row(t)[k] -= share * row(s)[k];
            }
        }
        const double after = std::sqrt(inner(row(t), row(t)));
        const double factor = after > 1e-8 * before ? 1 / after : 0;
        for (double& v : row(t)) v *= factor;
    }
}

struct TangentRule {
    double blur = 0;
    int moves = all_moves;
    bool both = true;
    const KernelNode* node = nullptr;

    struct Item {
        std::uint64_t order = 0;
        std::vector<double> packed{};     ///< pixels × slots
        std::array<double, slots> own{};  ///< products with the picture itself
    };
    struct Scratch {
        std::array<double, slots * slots> products{};
    };

    Item item(const Object& object) const {
        const Row image = std::get<Row>(object);
        for (const double value : image) {
            if (!std::isfinite(value)) {
                throw InvalidInput("tangent_distance: a picture has a pixel that is not finite");
            }
        }
        std::vector<double> all = tangents_of(image, shape_of(*node, image.size()), blur, moves);
        orthonormalise(all, image.size());
        Item result;
        result.packed.assign(image.size() * slots, 0.0);
        for (std::size_t k = 0; k < image.size(); ++k) {
            result.packed[k * slots] = image[k];
            result.order = hash_together(result.order, std::bit_cast<std::uint64_t>(image[k]));
            for (std::size_t t = 0; t < all.size() / image.size(); ++t) {
                result.packed[k * slots + 1 + t] = all[t * image.size() + k];
            }
        }
        for (std::size_t r = 0; r < slots; ++r) {
            for (std::size_t k = 0; k < image.size(); ++k) {
                result.own[r] += result.packed[k * slots + r] * image[k];
            }
        }
        return result;
    }

    /// −½ D². With e = x − z, u = X e, v = Z e and M = X Z' for orthonormal tangents X and Z:
    /// one-sided distances are |e|² − |u|² and |e|² − |v|², whose mean is taken. Two-sided, both
    /// move: (I − MM') a = u − M v, b = v − M'a and D² = |e|² − a·u − b·v.
    double operator()(const Item& x, const Item& z, Scratch& scratch) const {
        MERCER_SIMD(tangent_products)
        (x.packed.data(), z.packed.data(), x.packed.size() / slots, scratch.products.data());
        const auto p = [&](std::size_t r, std::size_t s) {
            return scratch.products[slots * r + s];
        };
        double squared = x.own[0] + z.own[0] - 2 * p(0, 0);
        constexpr std::size_t n = slots - 1;
        std::array<double, n> u{}, v{};
        for (std::size_t t = 0; t < n; ++t) {
            u[t] = x.own[t + 1] - p(t + 1, 0);
            v[t] = p(0, t + 1) - z.own[t + 1];
        }
        if (both) {
            squared -= explained(u, v, scratch);
        } else {
            for (std::size_t t = 0; t < n; ++t) squared -= 0.5 * (u[t] * u[t] + v[t] * v[t]);
        }
        // Rounding of products of long rows is not a distance.
        return squared > 1e-13 * (x.own[0] + z.own[0]) ? -0.5 * squared : 0;
    }

    /// a·u + b·v. The system is solved by LDL'; directions that the two pictures have in common are
    /// left to one of them.
    static double explained(const std::array<double, slots - 1>& u,
                            const std::array<double, slots - 1>& v, const Scratch& scratch) {
        constexpr std::size_t n = slots - 1;
        const auto m = [&](std::size_t r, std::size_t s) {
            return scratch.products[slots * (r + 1) + s + 1];
        };
        double s[n][n];
        std::array<double, n> a{};
        for (std::size_t r = 0; r < n; ++r) {
            for (std::size_t c = 0; c <= r; ++c) {
                double sum = r == c ? 1 : 0;
                for (std::size_t t = 0; t < n; ++t) sum -= m(r, t) * m(c, t);
                s[r][c] = sum;
            }
            a[r] = u[r];
            for (std::size_t t = 0; t < n; ++t) a[r] -= m(r, t) * v[t];
        }
        for (std::size_t c = 0; c < n; ++c) {
            const double pivot = s[c][c];
            if (pivot <= 1e-9) {
                for (std::size_t r = c; r < n; ++r) s[r][c] = 0;
                continue;
            }
            for (std::size_t r = c + 1; r < n; ++r) {
                const double factor = s[r][c] / pivot;
                for (std::size_t t = c + 1; t <= r; ++t) s[r][t] -= factor * s[t][c];
                a[r] -= factor * a[c];
            }
        }
        for (std::size_t c = n; c-- > 0;) {
            if (s[c][c] == 0) {
                a[c] = 0;
                continue;
            }
            for (std::size_t r = c + 1; r < n; ++r) a[c] -= s[r][c] * a[r];
            a[c] /= s[c][c];
        }
        double sum = 0;
        for (std::size_t t = 0; t < n; ++t) {
            double b = v[t];
            for (std::size_t r = 0; r < n; ++r) b -= m(r, t) * a[r];
            sum += a[t] * u[t] + b * v[t];
        }
        return sum;
    }

    double pair_work(const std::vector<Item>& items) const {
        return 500 + mean_of(items, [](const Item& i) { return 8 * i.packed.size(); });
    }
};

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> rows) {
    const TangentRule rule{.blur = node.parameter("blur"),
                           .moves = static_cast<int>(node.parameter("moves")),
                           .both = node.parameter("sides") == 2,
                           .node = &node};
    return each_pair(rule, rows);
}

}  // namespace

const Leaf& tangent_distance_leaf() {
    static const Leaf leaf{
        .entry = {.name = "tangent_distance",
                  .aliases = {"tangent"},
                  .formula = "-1/2 min |x + X'a - z - Z'b|^2 over a, b; X, Z the tangents of x, z",
                  .about =
                      "pictures that may be moved, turned, stretched and made bolder a little; "
                      "sides=1: one of them at a time, the mean of both",
                  .parameters = {whole("height", {}, 0, 1e5, 0.0), whole("width", {}, 0, 1e5, 0.0),
                                 whole("sides", {}, 1, 2, 2.0),
                                 word("moves", {"all", "affine", "shift"}),
                                 at_least_zero("blur", 0.0)}},
        .prepare = prepare,
        .judge =
            [](const KernelNode&, const Assumptions&) {
                return Finding::refuted(
                    "it is 0 for x = z and below 0 for pictures at a distance, so 2 by 2 matrices "
                    "refute it. Nor is it conditionally positive definite in general: tangent "
                    "distances need not be those of points in any space [Haasdonk and Keysers "
                    "2002]. Test it on the data");
            },
    };
    return leaf;
}

}  // namespace mercer
#endif  // HWY_ONCE
