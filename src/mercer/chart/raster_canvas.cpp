// Charts as dots: polygons by the exact area they cover of each dot, strokes as polygons.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/chart/detail/canvas.hpp"
#include "mercer/chart/detail/stroke_font.hpp"
#include "mercer/picture/detail/image_format.hpp"

namespace mercer::chart {
namespace {

/// Signed areas of polygons in a window of dots. Every edge adds, to the dots right of it, the
/// height it spans there; summed along a row this is how much of each dot lies inside.
class Coverage {
   public:
    Coverage(std::ptrdiff_t left, std::ptrdiff_t top, std::ptrdiff_t right, std::ptrdiff_t bottom)
        : left_(left),
          top_(top),
          width_(right - left),
          height_(bottom - top),
          sums_(static_cast<std::size_t>((width_ + 2) * height_)) {}

    void add(const Path& polygon) {
        for (std::size_t k = 0; k < polygon.size(); ++k) {
            edge(polygon[k], polygon[(k + 1) % polygon.size()]);
        }
    }
    /// Calls use(x, y, part) for each dot that is covered in part.
    template <class Use>
    void each(const Use& use) const {
        for (std::ptrdiff_t y = 0; y < height_; ++y) {
            double sum = 0;
            for (std::ptrdiff_t x = 0; x < width_; ++x) {
                sum += at(x, y);
                const double part = std::min(1.0, std::abs(sum));
                if (part > 1e-4) use(x + left_, y + top_, part);
            }
        }
    }

   private:
    double at(std::ptrdiff_t x, std::ptrdiff_t y) const {
        return sums_[static_cast<std::size_t>(y * (width_ + 2) + x)];
    }
    void put(std::ptrdiff_t x, std::ptrdiff_t y, double area) {
        sums_[static_cast<std::size_t>(y * (width_ + 2) + x)] += area;
    }
    void edge(Place a, Place b) {
        if (a.y == b.y) return;
        const double direction = a.y < b.y ? 1 : -1;
        if (a.y > b.y) std::swap(a, b);
        const double slope = (b.x - a.x) / (b.y - a.y);
        const auto limit = static_cast<double>(height_);
        const double first = std::clamp(a.y - static_cast<double>(top_), 0.0, limit);
        const double last = std::clamp(b.y - static_cast<double>(top_), 0.0, limit);
        for (auto row = static_cast<std::ptrdiff_t>(first); row < height_; ++row) {
            const double from = std::max(first, static_cast<double>(row));
            const double to = std::min(last, static_cast<double>(row + 1));
            if (to <= from) break;
            const auto x_at = [&](double y) {
                return a.x + (y + static_cast<double>(top_) - a.y) * slope -
                       static_cast<double>(left_);
            };
            span(row, x_at(from), x_at(to), direction * (to - from));
        }
    }
    /// An edge within a row of dots, from x to z, of this height.
    void span(std::ptrdiff_t row, double x, double z, double height) {
        const auto limit = static_cast<double>(width_);
        if (x > z) std::swap(x, z);
        x = std::clamp(x, 0.0, limit);
        z = std::clamp(z, 0.0, limit);
        const auto first = static_cast<std::ptrdiff_t>(x);
        const auto last = static_cast<std::ptrdiff_t>(z);
        if (first == last) {
            const double inside = static_cast<double>(first + 1) - 0.5 * (x + z);
            put(first, row, height * inside);
            put(first + 1, row, height * (1 - inside));
            return;
        }
        for (std::ptrdiff_t c = first; c <= last; ++c) {
            const double from = std::max(x, static_cast<double>(c));
            const double to = std::min(z, static_cast<double>(c + 1));
            const double piece = height * (to - from) / (z - x);
            const double inside = static_cast<double>(c + 1) - 0.5 * (from + to);
            put(c, row, piece * inside);
            put(c + 1, row, piece * (1 - inside));
        }
    }

    std::ptrdiff_t left_, top_, width_, height_;
    std::vector<double> sums_;
};

/// Pieces of a path of these lengths, drawn and left out in turn.
std::vector<Path> dashes(const Path& path, double drawn, double left_out) {
    std::vector<Path> result;
    double left = drawn;
    bool on = true;
    if (!path.empty()) result.push_back({path.front()});
    for (std::size_t k = 0; k + 1 < path.size(); ++k) {
        Place at = path[k];
        const Place end = path[k + 1];
        double rest = std::hypot(end.x - at.x, end.y - at.y);
        while (rest > left) {
            const double t = left / rest;
            at = {at.x + t * (end.x - at.x), at.y + t * (end.y - at.y)};
            rest -= left;
            if (on) {
                result.back().push_back(at);
            } else {
                result.push_back({at});
            }
            on = !on;
            left = on ? drawn : left_out;
        }
        left -= rest;
        if (on) result.back().push_back(end);
    }
    return result;
}

class RasterCanvas final : public Canvas {
   public:
    RasterCanvas(Place size, double scale)
        : scale_(scale),
          image_(Image::filled(static_cast<std::size_t>(std::ceil(size.y * scale)),
                               static_cast<std::size_t>(std::ceil(size.x * scale)), 3, 255)) {
        unclip();
    }

    const Image& image() const { return image_; }

    void fill(const std::vector<Path>& polygons, Colour colour, std::string_view) override {
        std::vector<Path> scaled = polygons;
        for (Path& path : scaled) {
            for (Place& p : path) p = {p.x * scale_, p.y * scale_};
        }
        blend(scaled, colour);
    }
    void stroke(const std::vector<Path>& paths, const Stroke& style) override {
        std::vector<Path> pieces;
        for (const Path& path : paths) {
            if (!style.dashed) {
                outline(path, style.width, pieces);
                continue;
            }
            for (const Path& dash : dashes(path, 5, 4)) outline(dash, style.width, pieces);
        }
        blend(pieces, style.colour);
    }
    void mark(Place at, const Dots& style, std::string_view) override {
        if (style.shape == Shape::cross || style.shape == Shape::plus) {
            stroke(marker_strokes(at, style.shape, style.size),
                   {.colour = style.colour, .width = 1.3});
            return;
        }
        Path path = marker_outline(at, style.shape, style.size);
        if (style.shape == Shape::ring) {
            path.push_back(path.front());
            stroke({path}, {.colour = style.colour, .width = 1.3});
            return;
        }
        fill({marker_outline(at, style.shape, style.size + 0.4)}, {255, 255, 255, 0.6}, {});
        fill({path}, style.colour, {});
    }
    void words(const Label& label) override {
        double width = 0;
        std::vector<Path> strokes = letter_strokes(label.text, label.size, width);
        const double shift = label.anchor == Anchor::start    ? 0
                             : label.anchor == Anchor::middle ? -width / 2
                                                              : -width;
        for (Path& path : strokes) {
            for (Place& p : path) {
                p.x += shift;
                if (label.upwards) p = {p.y, -p.x};
                p = {p.x + label.at.x, p.y + label.at.y};
            }
        }
        stroke(strokes, {.colour = label.colour, .width = 0.095 * label.size});
    }
    void cells(const Box& box, std::size_t rows, std::size_t columns,
               const std::vector<Colour>& colours) override {
        const auto edge = [&](double from, double length, std::size_t k, std::size_t count) {
            const double at = from + length * static_cast<double>(k) / static_cast<double>(count);
            return static_cast<std::ptrdiff_t>(std::lround(at * scale_));
        };
        for (std::size_t i = 0; i < rows; ++i) {
            for (std::size_t j = 0; j < columns; ++j) {
                const Colour c = colours[i * columns + j];
                const std::ptrdiff_t bottom = edge(box.top, box.height, i + 1, rows);
                const std::ptrdiff_t right = edge(box.left, box.width, j + 1, columns);
                for (auto y = edge(box.top, box.height, i, rows); y < bottom; ++y) {
                    for (auto x = edge(box.left, box.width, j, columns); x < right; ++x) {
                        put(x, y, c, c.opacity);
                    }
                }
            }
        }
    }
    void clip(const Box& box) override {
        const auto dot = [&](double v) {
            return static_cast<std::ptrdiff_t>(std::lround(v * scale_));
        };
        left_ = std::max<std::ptrdiff_t>(0, dot(box.left));
        top_ = std::max<std::ptrdiff_t>(0, dot(box.top));
        right_ = std::min(static_cast<std::ptrdiff_t>(image_.width), dot(box.right()));
        bottom_ = std::min(static_cast<std::ptrdiff_t>(image_.height), dot(box.bottom()));
    }
    void unclip() override {
        left_ = top_ = 0;
        right_ = static_cast<std::ptrdiff_t>(image_.width);
        bottom_ = static_cast<std::ptrdiff_t>(image_.height);
    }

   private:
    /// The pieces of a stroke, all turning the same way: overlapping areas add up and are cut at 1.
    void outline(const Path& path, double width, std::vector<Path>& pieces) const {
        const double half = 0.5 * width * scale_;
        for (std::size_t k = 0; k < path.size(); ++k) {
            const Place a{path[k].x * scale_, path[k].y * scale_};
            if (half > 0.8) pieces.push_back(marker_outline(a, Shape::circle, half));
            if (k + 1 == path.size()) break;
            const Place b{path[k + 1].x * scale_, path[k + 1].y * scale_};
            const double length = std::hypot(b.x - a.x, b.y - a.y);
            if (length == 0) continue;
            const double x = half * (b.x - a.x) / length;
            const double y = half * (b.y - a.y) / length;
            pieces.push_back(
                {{a.x + y, a.y - x}, {b.x + y, b.y - x}, {b.x - y, b.y + x}, {a.x - y, a.y + x}});
        }
    }
    void blend(const std::vector<Path>& polygons, Colour colour) {
        double low_x = INFINITY, low_y = INFINITY, high_x = -INFINITY, high_y = -INFINITY;
        for (const Path& path : polygons) {
            for (const Place p : path) {
                low_x = std::min(low_x, p.x);
                high_x = std::max(high_x, p.x);
                low_y = std::min(low_y, p.y);
                high_y = std::max(high_y, p.y);
            }
        }
        const auto clamped = [](double v, std::ptrdiff_t low, std::ptrdiff_t high) {
            return static_cast<std::ptrdiff_t>(
                std::clamp(v, static_cast<double>(low), static_cast<double>(high)));
        };
        if (!(low_x <= high_x)) return;
        const std::ptrdiff_t left = clamped(std::floor(low_x), left_, right_);
        const std::ptrdiff_t right = clamped(std::ceil(high_x), left_, right_);
        const std::ptrdiff_t top = clamped(std::floor(low_y), top_, bottom_);
        const std::ptrdiff_t bottom = clamped(std::ceil(high_y), top_, bottom_);
        if (left >= right || top >= bottom) return;
        Coverage coverage(left, top, right, bottom);
        for (const Path& path : polygons) coverage.add(path);
        coverage.each([&](std::ptrdiff_t x, std::ptrdiff_t y, double part) {
            put(x, y, colour, part * colour.opacity);
        });
    }
    void put(std::ptrdiff_t x, std::ptrdiff_t y, Colour c, double part) {
        if (x < left_ || x >= right_ || y < top_ || y >= bottom_) return;
        const auto mix = [&](std::size_t channel, std::uint8_t value) {
            std::uint8_t& dot =
                image_.at(static_cast<std::size_t>(y), static_cast<std::size_t>(x), channel);
            dot = static_cast<std::uint8_t>(std::lround(dot + part * (value - dot)));
        };
        mix(0, c.red);
        mix(1, c.green);
        mix(2, c.blue);
    }

    double scale_;
    Image image_;
    std::ptrdiff_t left_ = 0, top_ = 0, right_ = 0, bottom_ = 0;
};

}  // namespace

std::string png(const Drawing& figure, double scale) {
    check(figure);
    if (!(scale >= 0.5 && scale <= 8)) {
        throw InvalidInput("a picture has 0.5 to 8 dots a pixel, not " + format_number(scale));
    }
    RasterCanvas canvas(lay_out(figure, nullptr), scale);
    lay_out(figure, &canvas);
    return encode_png(canvas.image());
}

}  // namespace mercer::chart
