// One series into the frame of a panel.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "mercer/base/text.hpp"
#include "mercer/chart/detail/canvas.hpp"
#include "mercer/chart/detail/contour.hpp"
#include "mercer/chart/detail/number.hpp"

namespace mercer::chart {
namespace {

double part_of(const ChartAxis& axis, double value) {
    const double low = *axis.low;
    const double high = *axis.high;
    double t = (value - low) / (high - low);
    if (axis.log) {
        if (!(value > 0)) return std::numeric_limits<double>::quiet_NaN();
        t = std::log(value / low) / std::log(high / low);
    }
    // Far outside is as good as further: strokes keep their direction, and dots stay in range.
    t = std::clamp(t, -50.0, 50.0);
    return axis.down ? 1 - t : t;
}

bool seen(Place p) {
    return std::isfinite(p.x) && std::isfinite(p.y);
}

std::vector<Path> on_frame(const std::vector<Path>& paths, const Frame& frame) {
    std::vector<Path> result;
    result.reserve(paths.size());
    for (const Path& path : paths) {
        Path& moved = result.emplace_back();
        moved.reserve(path.size());
        for (const Place p : path) moved.push_back(frame.at(p.x, p.y));
    }
    return result;
}

std::string_view tip_of(const std::vector<std::string>& tips, std::size_t i) {
    return tips.empty() ? std::string_view() : std::string_view(tips[i]);
}

struct Drawer {
    const Frame& frame;
    Canvas& canvas;

    void operator()(const Line& line) const {
        std::vector<Path> paths(1);
        for (std::size_t i = 0; i < line.x.size(); ++i) {
            const Place p = frame.at(line.x[i], line.y[i]);
            if (seen(p)) {
                paths.back().push_back(p);
            } else if (!paths.back().empty()) {
                paths.emplace_back();
            }
        }
        canvas.stroke(paths, line.style);
    }
    void operator()(const Dots& points) const {
        for (std::size_t i = 0; i < points.x.size(); ++i) {
            const Place p = frame.at(points.x[i], points.y[i]);
            if (seen(p)) canvas.mark(p, points, tip_of(points.tips, i));
        }
    }
    void operator()(const Bars& bars) const {
        for (std::size_t i = 0; i < bars.height.size(); ++i) {
            // On a log axis bars begin at its lower end.
            const ChartAxis& along = bars.lying ? frame.x : frame.y;
            const double base = along.log ? *along.low : 0;
            const Place a =
                bars.lying ? frame.at(base, bars.from[i]) : frame.at(bars.from[i], base);
            const Place b = bars.lying ? frame.at(bars.height[i], bars.to[i])
                                       : frame.at(bars.to[i], bars.height[i]);
            if (!seen(a) || !seen(b)) continue;
            const Box box{std::min(a.x, b.x), std::min(a.y, b.y), std::abs(a.x - b.x),
                          std::abs(a.y - b.y)};
            canvas.fill({rectangle(box)}, bars.colour, tip_of(bars.tips, i));
        }
    }
    void operator()(const Band& band) const {
        std::vector<Path> polygons;
        for (std::size_t i = 0; i + 1 < band.x.size(); ++i) {
            const Path quad{
                frame.at(band.x[i], band.low[i]), frame.at(band.x[i + 1], band.low[i + 1]),
                frame.at(band.x[i + 1], band.high[i + 1]), frame.at(band.x[i], band.high[i])};
            if (std::ranges::all_of(quad, seen)) polygons.push_back(quad);
        }
        canvas.fill(polygons, band.colour, {});
    }
    void operator()(const Fill& fill) const {
        // Each colour over the one before: between bands no seam can show.
        for (std::size_t k = 0; k < fill.colours.size(); ++k) {
            const double level =
                k == 0 ? -std::numeric_limits<double>::infinity() : fill.levels[k - 1];
            if (k == 0) {
                const Place a = frame.at(fill.field.left, fill.field.top);
                const Place b = frame.at(fill.field.right, fill.field.bottom);
                canvas.fill({rectangle({std::min(a.x, b.x), std::min(a.y, b.y), std::abs(b.x - a.x),
                                        std::abs(b.y - a.y)})},
                            fill.colours[0], {});
                continue;
            }
            canvas.fill(on_frame(region_above(fill.field, level), frame), fill.colours[k], {});
        }
    }
    void operator()(const Level& level) const {
        canvas.stroke(on_frame(level_lines(level.field, level.value), frame), level.style);
    }
    void operator()(const HeatMap& map) const;
    void operator()(const Note& note) const {
        const Place p = frame.at(note.x, note.y);
        if (seen(p)) canvas.words({.at = p, .text = note.text, .colour = note.colour});
    }
};

void Drawer::operator()(const HeatMap& map) const {
    const std::size_t rows = map.values.rows();
    const std::size_t columns = map.values.columns();
    const auto range = range_of(map);
    const auto shade = [&map, low = range.first, high = range.second](double value) {
        if (std::isnan(value)) return colour(map.ramp, value);
        return colour(map.ramp, high > low ? (value - low) / (high - low) : 1);
    };
    const auto edge = [](std::size_t k) { return static_cast<double>(k) - 0.5; };
    std::vector<Colour> colours;
    colours.reserve(rows * columns);
    for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t i = frame.y.down ? r : rows - 1 - r;
        for (std::size_t j = 0; j < columns; ++j) colours.push_back(shade(map.values(i, j)));
    }
    const Place a = frame.at(edge(0), edge(0));
    const Place b = frame.at(edge(columns), edge(rows));
    canvas.cells({std::min(a.x, b.x), std::min(a.y, b.y), std::abs(b.x - a.x), std::abs(b.y - a.y)},
                 rows, columns, colours);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            const Place p = frame.at(edge(j), edge(i));
            const Place q = frame.at(edge(j + 1), edge(i + 1));
            const Box cell{std::min(p.x, q.x), std::min(p.y, q.y), std::abs(p.x - q.x),
                           std::abs(p.y - q.y)};
            const double value = map.values(i, j);
            if (!map.tips.empty()) {
                canvas.fill({rectangle(cell)}, shade(value), map.tips[i * columns + j]);
            }
            if (map.numbers) {
                const Colour c = shade(value);
                const bool dark = 0.3 * c.red + 0.59 * c.green + 0.11 * c.blue < 140;
                const std::string text = std::isfinite(value) ? short_number(value) : "–";
                const double size =
                    std::clamp(cell.width / (0.62 * static_cast<double>(text.size())), 5.0, 11.0);
                canvas.words(
                    {.at = {cell.left + cell.width / 2, cell.top + cell.height / 2 + 0.35 * size},
                     .text = text,
                     .size = size,
                     .anchor = Anchor::middle,
                     .colour = dark ? Colour{255, 255, 255} : Colour{0, 0, 0}});
            }
        }
    }
    if (map.mark) {
        const auto [i, j] = *map.mark;
        const Place p = frame.at(edge(j), edge(i));
        const Place q = frame.at(edge(j + 1), edge(i + 1));
        canvas.stroke({{p, {q.x, p.y}, q, {p.x, q.y}, p}}, {.colour = {208, 0, 0}, .width = 3});
    }
}

}  // namespace

Place Frame::at(double x_value, double y_value) const {
    return {box.left + box.width * part_of(x, x_value),
            box.bottom() - box.height * part_of(y, y_value)};
}

void draw(const Series& series, const Frame& frame, Canvas& canvas) {
    std::visit(Drawer{frame, canvas}, series);
}

Path marker_outline(Place at, Shape shape, double size) {
    std::size_t corners = 20;
    double turn = 0;
    double radius = size;
    if (shape == Shape::square) {
        corners = 4;
        turn = 0.25 * std::numbers::pi;
        radius = size * 1.2;
    } else if (shape == Shape::diamond) {
        corners = 4;
        radius = size * 1.3;
    } else if (shape == Shape::triangle) {
        corners = 3;
        turn = -0.5 * std::numbers::pi;
        radius = size * 1.35;
    }
    Path path;
    for (std::size_t k = 0; k < corners; ++k) {
        const double angle =
            turn + 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(corners);
        path.push_back({at.x + radius * std::cos(angle), at.y + radius * std::sin(angle)});
    }
    return path;
}

std::vector<Path> marker_strokes(Place at, Shape shape, double size) {
    if (shape == Shape::plus) {
        return {{{at.x - size, at.y}, {at.x + size, at.y}},
                {{at.x, at.y - size}, {at.x, at.y + size}}};
    }
    return {{{at.x - size, at.y - size}, {at.x + size, at.y + size}},
            {{at.x - size, at.y + size}, {at.x + size, at.y - size}}};
}

}  // namespace mercer::chart
