#include "mercer/picture/transform.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numbers>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

void check_shape(const ImageShape& shape) {
    constexpr std::size_t most = 1 << 14;
    if (shape.height >= 1 && shape.width >= 1 && shape.height <= most && shape.width <= most &&
        std::isfinite(shape.background)) {
        return;
    }
    throw InvalidInput("a row cannot be a picture of " + std::to_string(shape.height) + " x " +
                       std::to_string(shape.width) + " pixels; each side is 1 to 16384");
}

void check_length(const ImageShape& shape, std::span<const double> row) {
    if (row.size() == shape.pixels()) return;
    throw InvalidInput("a row of " + std::to_string(row.size()) + " numbers is no picture of " +
                       std::to_string(shape.height) + " x " + std::to_string(shape.width));
}

void require_finite_amount(const char* what, double value, bool fine) {
    if (fine && std::isfinite(value)) return;
    throw InvalidInput(std::string(what) + " = " + format_number(value) + " is out of range");
}

/// The picture at a place between pixels.
double sample(const ImageShape& s, std::span<const double> row, double down, double right) {
    const double i = std::floor(down), j = std::floor(right);
    const auto at = [&](double y, double x) {
        if (y < 0 || x < 0 || y >= static_cast<double>(s.height) ||
            x >= static_cast<double>(s.width)) {
            return s.background;
        }
        return row[static_cast<std::size_t>(y) * s.width + static_cast<std::size_t>(x)];
    };
    const double y = down - i, x = right - j;
    if (y == 0 && x == 0) return at(i, j);
    return (1 - y) * ((1 - x) * at(i, j) + x * at(i, j + 1)) +
           y * ((1 - x) * at(i + 1, j) + x * at(i + 1, j + 1));
}

/// Where each pixel of the new picture comes from in the old one: about the middle, a matrix and a
/// shift.
struct Affine {
    double yy = 1, yx = 0, xy = 0, xx = 1;
    double y = 0, x = 0;
};

void apply(const ImageShape& s, const Affine& a, std::span<const double> row,
           std::span<double> out) {
    const double middle_y = (static_cast<double>(s.height) - 1) / 2;
    const double middle_x = (static_cast<double>(s.width) - 1) / 2;
    for (std::size_t i = 0; i < s.height; ++i) {
        for (std::size_t j = 0; j < s.width; ++j) {
            const double y = static_cast<double>(i) - middle_y;
            const double x = static_cast<double>(j) - middle_x;
            out[i * s.width + j] = sample(s, row, middle_y + a.yy * y + a.yx * x + a.y,
                                          middle_x + a.xy * y + a.xx * x + a.x);
        }
    }
}

RowTransform affine(const ImageShape& shape, const Affine& a) {
    check_shape(shape);
    return [shape, a](std::span<const double> row, std::span<double> out) {
        check_length(shape, row);
        apply(shape, a, row, out);
    };
}

/// Smooth noise: white noise blurred by a Gaussian, then brought to a root mean square of 1.
std::vector<double> smooth_field(const ImageShape& s, double width, Random& random) {
    std::vector<double> field(s.pixels());
    for (double& v : field) v = random.normal();
    const int reach = static_cast<int>(std::ceil(3 * width));
    std::vector<double> weights;
    for (int d = -reach; d <= reach; ++d) {
        weights.push_back(std::exp(-0.5 * d * d / (width * width)));
    }
    std::vector<double> next(field.size());
    const auto blur = [&](bool down) {
        const long count = static_cast<long>(down ? s.height : s.width);
        const long step = static_cast<long>(down ? s.width : 1);
        for (std::size_t p = 0; p < field.size(); ++p) {
            const long at = static_cast<long>(down ? p / s.width : p % s.width);
            double sum = 0;
            for (long d = std::max<long>(-reach, -at); d <= std::min<long>(reach, count - 1 - at);
                 ++d) {
                sum += weights[static_cast<std::size_t>(d + reach)] *
                       field[static_cast<std::size_t>(static_cast<long>(p) + d * step)];
            }
            next[p] = sum;
        }
        field.swap(next);
    };
    blur(true);
    blur(false);
    double square = 0;
    for (const double v : field) square += v * v / static_cast<double>(field.size());
    for (double& v : field) v /= std::sqrt(std::max(square, 1e-300));
    return field;
}

}  // namespace

RowTransform shift_image(const ImageShape& shape, double down, double right) {
    require_finite_amount("a shift", std::max(std::fabs(down), std::fabs(right)), true);
    return affine(shape, {.y = -down, .x = -right});
}

RowTransform rotate_image(const ImageShape& shape, double degrees) {
    require_finite_amount("an angle", degrees, true);
    const double a = degrees * std::numbers::pi / 180;
    return affine(shape,
                  {.yy = std::cos(a), .yx = std::sin(a), .xy = -std::sin(a), .xx = std::cos(a)});
}

RowTransform scale_image(const ImageShape& shape, double factor_down, double factor_right) {
    require_finite_amount("a scale", std::min(factor_down, factor_right),
                          factor_down > 0 && factor_right > 0);
    return affine(shape, {.yy = 1 / factor_down, .xx = 1 / factor_right});
}

RowTransform shear_image(const ImageShape& shape, double slant) {
    require_finite_amount("a slant", slant, true);
    return affine(shape, {.xy = -slant});
}

RowTransform thicken_image(const ImageShape& shape, double amount) {
    check_shape(shape);
    require_finite_amount("a thickening", amount, std::fabs(amount) <= 1);
    return [shape, amount](std::span<const double> row, std::span<double> out) {
        check_length(shape, row);
        for (std::size_t i = 0; i < shape.height; ++i) {
            for (std::size_t j = 0; j < shape.width; ++j) {
                const double own = row[i * shape.width + j];
                double extreme = own;
                for (const auto& [y, x] :
                     {std::pair{0.0, 1.0}, {0.0, -1.0}, {1.0, 0.0}, {-1.0, 0.0}}) {
                    const double value =
                        sample(shape, row, static_cast<double>(i) + y, static_cast<double>(j) + x);
                    extreme = amount > 0 ? std::max(extreme, value) : std::min(extreme, value);
                }
                out[i * shape.width + j] = own + std::fabs(amount) * (extreme - own);
            }
        }
    };
}

RowTransform elastic_image(const ImageShape& shape, double amount, double width,
                           std::uint64_t seed) {
    check_shape(shape);
    require_finite_amount("a displacement", amount, true);
    require_finite_amount("the width of a field", width, width > 0 && width <= 1000);
    Random random(seed);
    const auto down =
        std::make_shared<const std::vector<double>>(smooth_field(shape, width, random));
    const auto right =
        std::make_shared<const std::vector<double>>(smooth_field(shape, width, random));
    return [shape, amount, down, right](std::span<const double> row, std::span<double> out) {
        check_length(shape, row);
        for (std::size_t p = 0; p < row.size(); ++p) {
            out[p] = sample(shape, row, static_cast<double>(p / shape.width) + amount * (*down)[p],
                            static_cast<double>(p % shape.width) + amount * (*right)[p]);
        }
    };
}

RowTransform deform_image(const ImageShape& shape, double amount, std::uint64_t seed) {
    check_shape(shape);
    require_finite_amount("a displacement", amount, true);
    constexpr double field_width = 4;
    return [shape, amount, seed](std::span<const double> row, std::span<double> out) {
        check_length(shape, row);
        // The stream is the row's own (FNV-1a of its numbers), wherever in a file it stands.
        std::uint64_t stream = 0xCBF29CE484222325U;
        for (const double v : row)
            stream = (stream ^ std::bit_cast<std::uint64_t>(v)) * 0x100000001B3U;
        Random random(seed, stream);
        const std::vector<double> down = smooth_field(shape, field_width, random);
        const std::vector<double> right = smooth_field(shape, field_width, random);
        // What a linear map moves at the edge of the picture is about what the field moves
        // anywhere.
        const double slope = 2 * amount / static_cast<double>(std::min(shape.height, shape.width));
        const double yy = slope * random.normal(), yx = slope * random.normal();
        const double xy = slope * random.normal(), xx = slope * random.normal();
        const double middle_y = (static_cast<double>(shape.height) - 1) / 2;
        const double middle_x = (static_cast<double>(shape.width) - 1) / 2;
        for (std::size_t p = 0; p < row.size(); ++p) {
            const auto i = static_cast<double>(p / shape.width);
            const auto j = static_cast<double>(p % shape.width);
            const double y = i - middle_y, x = j - middle_x;
            out[p] = sample(shape, row, i + yy * y + yx * x + amount * down[p],
                            j + xy * y + xx * x + amount * right[p]);
        }
    };
}

RowTransform deskew_image(const ImageShape& shape) {
    check_shape(shape);
    return [shape](std::span<const double> row, std::span<double> out) {
        check_length(shape, row);
        double ink = 0, y = 0, x = 0;
        for (std::size_t p = 0; p < row.size(); ++p) {
            const double v = std::fabs(row[p] - shape.background);
            ink += v;
            y += v * static_cast<double>(p / shape.width);
            x += v * static_cast<double>(p % shape.width);
        }
        if (!(ink > 0)) {
            std::ranges::copy(row, out.begin());
            return;
        }
        y /= ink;
        x /= ink;
        double yy = 0, xy = 0;
        for (std::size_t p = 0; p < row.size(); ++p) {
            const double v = std::fabs(row[p] - shape.background);
            const double from_y = static_cast<double>(p / shape.width) - y;
            yy += v * from_y * from_y;
            xy += v * from_y * (static_cast<double>(p % shape.width) - x);
        }
        const double slant = yy > 0 ? xy / yy : 0;
        const double middle_y = (static_cast<double>(shape.height) - 1) / 2;
        const double middle_x = (static_cast<double>(shape.width) - 1) / 2;
        apply(shape, {.xy = slant, .y = y - middle_y, .x = x - middle_x}, row, out);
    };
}

RowTransform contrast_row() {
    return [](std::span<const double> row, std::span<double> out) {
        double mean = 0, square = 0;
        for (const double v : row) mean += v / static_cast<double>(row.size());
        for (const double v : row) square += (v - mean) * (v - mean);
        const double deviation = std::sqrt(square / static_cast<double>(row.size()));
        // Below this a patch is flat and what differs is rounding.
        const double factor = deviation > 1e-6 * (1 + std::fabs(mean)) ? 1 / deviation : 0;
        for (std::size_t k = 0; k < row.size(); ++k) out[k] = factor * (row[k] - mean);
    };
}

Rows transformed(const Rows& rows, const RowTransform& transform, const Progress& progress) {
    const std::size_t columns = rows.columns();
    std::vector<float> single(rows.is_double() ? 0 : rows.size() * columns);
    std::vector<double> full(rows.is_double() ? rows.size() * columns : 0);
    constexpr std::size_t band = 4096;
    for (std::size_t first = 0; first < rows.size(); first += band) {
        const double done = static_cast<double>(first) / static_cast<double>(rows.size());
        if (!keep_going(progress, {"transforming", done})) throw Cancelled();
        const std::size_t count = std::min(band, rows.size() - first);
        parallel_ranges(count, 64, [&](std::size_t begin, std::size_t end) {
            std::vector<double> row(columns), out(columns);
            for (std::size_t i = first + begin; i < first + end; ++i) {
                rows.copy_row(i, row);
                transform(row, out);
                for (std::size_t k = 0; k < columns; ++k) {
                    if (!std::isfinite(out[k])) {
                        throw InvalidInput("the transformation of row " + std::to_string(i + 1) +
                                           " has " + format_number(out[k]) + " in column " +
                                           std::to_string(k + 1));
                    }
                    if (rows.is_double()) {
                        full[i * columns + k] = out[k];
                    } else {
                        single[i * columns + k] = static_cast<float>(out[k]);
                    }
                }
            }
        });
    }
    return rows.is_double() ? Rows::dense(std::move(full), columns)
                            : Rows::dense(std::move(single), columns);
}

}  // namespace mercer
