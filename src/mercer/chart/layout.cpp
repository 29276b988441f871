// Where everything of a figure stands: panels in rows, each with its axes, legend and colour bar.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/chart/detail/canvas.hpp"
#include "mercer/chart/detail/number.hpp"

namespace mercer::chart {
namespace {

constexpr double text_size = 11;

/// Room for words: letters of a browser may be wider than our own.
double room_for(std::string_view text) {
    return 1.15 * text_width(text, text_size);
}

constexpr double line_height = 17;

struct Extent {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    bool tight = false;  ///< what is drawn fills the plane: no room around it

    void add(double value, bool log) {
        if (!std::isfinite(value) || (log && !(value > 0))) return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

/// How far the series of a panel reach.
struct Reach {
    const Panel& panel;
    Extent& x;
    Extent& y;

    void both(const std::vector<double>& a, const std::vector<double>& b) const {
        for (const double value : a) x.add(value, panel.x.log);
        for (const double value : b) y.add(value, panel.y.log);
    }
    void operator()(const Line& s) const { both(s.x, s.y); }
    void operator()(const Dots& s) const { both(s.x, s.y); }
    void operator()(const Band& s) const {
        both(s.x, s.low);
        both({}, s.high);
    }
    void operator()(const Bars& s) const {
        const std::vector<double> base{0};
        if (s.lying) {
            both(s.height, s.from);
            both(base, s.to);
        } else {
            both(s.from, s.height);
            both(s.to, base);
        }
    }
    void operator()(const GridField& f) const {
        both({f.left, f.right}, {f.bottom, f.top});
        x.tight = y.tight = true;
    }
    void operator()(const Fill& s) const { (*this)(s.field); }
    void operator()(const Level& s) const {
        both({s.field.left, s.field.right}, {s.field.bottom, s.field.top});
    }
    void operator()(const HeatMap& s) const {
        both({-0.5, static_cast<double>(s.values.columns()) - 0.5},
             {-0.5, static_cast<double>(s.values.rows()) - 0.5});
        x.tight = y.tight = true;
    }
    void operator()(const Note& s) const { both({s.x}, {s.y}); }
};

/// The axis with both ends.
ChartAxis settled(ChartAxis axis, Extent extent) {
    if (!(extent.low <= extent.high)) {
        extent.low = axis.log ? 1 : 0;
        extent.high = axis.log ? 10 : 1;
    }
    double low = axis.low.value_or(extent.low);
    double high = axis.high.value_or(extent.high);
    if (axis.log) {
        if (!(low > 0)) low = extent.low;
        if (!(high > low)) high = low * 10;
        const double room = extent.tight ? 1 : std::pow(high / low, 0.04);
        if (!axis.low) low /= room;
        if (!axis.high) high *= room;
    } else {
        if (!(high > low)) {
            const double half = low == 0 ? 0.5 : 0.05 * std::abs(low);
            low -= half;
            high += half;
        }
        const double room = extent.tight ? 0 : 0.04 * (high - low);
        if (!axis.low) low -= room;
        if (!axis.high) high += room;
    }
    axis.low = low;
    axis.high = high;
    return axis;
}

struct Tick {
    double value;
    std::string text;
};

std::vector<Tick> ticks_of(const ChartAxis& axis, double length, double spacing) {
    std::vector<Tick> result;
    if (axis.ticks.empty()) {
        const auto count = static_cast<std::size_t>(std::max(2.0, length / spacing));
        const std::vector<double> places = ticks(*axis.low, *axis.high, count, axis.log);
        const std::vector<std::string> texts = tick_texts(places);
        for (std::size_t i = 0; i < places.size(); ++i) result.push_back({places[i], texts[i]});
        return result;
    }
    for (const auto& [place, text] : axis.ticks) {
        if (place >= *axis.low && place <= *axis.high) result.push_back({place, text});
    }
    return result;
}

/// Every k-th, so that words across do not run into one another.
std::vector<Tick> thinned(std::vector<Tick> ticks, double length) {
    double widest = 1;
    for (const Tick& t : ticks) widest = std::max(widest, room_for(t.text) + 8);
    const auto fit = static_cast<std::size_t>(std::max(1.0, length / widest));
    const std::size_t step = (ticks.size() + fit - 1) / std::max<std::size_t>(fit, 1);
    if (step <= 1) return ticks;
    std::vector<Tick> kept;
    for (std::size_t i = 0; i < ticks.size(); i += step) kept.push_back(std::move(ticks[i]));
    return kept;
}

/// What the legend says of a series and how it is drawn.
struct Entry {
    std::string name;
    const Series* series;
    double width() const { return 28 + room_for(name) + 14; }
};

std::vector<Entry> entries_of(const Panel& panel) {
    std::vector<Entry> entries;
    for (const Series& series : panel.series) {
        const std::string name = std::visit(
            [](const auto& s) -> std::string {
                using Kind = std::decay_t<decltype(s)>;
                if constexpr (std::is_same_v<Kind, HeatMap> || std::is_same_v<Kind, Note> ||
                              std::is_same_v<Kind, Fill>) {
                    return {};
                } else {
                    return s.name;
                }
            },
            series);
        if (!name.empty()) entries.push_back({name, &series});
    }
    return entries;
}

struct Swatch {
    Canvas& canvas;
    Place at;  ///< the middle of its left edge

    void area(Colour colour) const {
        canvas.fill({rectangle({at.x, at.y - 5, 22, 10})}, colour, {});
    }
    void line(const Stroke& style) const {
        canvas.stroke({{{at.x, at.y}, {at.x + 22, at.y}}}, style);
    }
    void operator()(const Line& s) const { line(s.style); }
    void operator()(const Level& s) const { line(s.style); }
    void operator()(const Dots& s) const { canvas.mark({at.x + 11, at.y}, s, {}); }
    void operator()(const Bars& s) const { area(s.colour); }
    void operator()(const Band& s) const { area(s.colour); }
    void operator()(const Fill&) const {}
    void operator()(const HeatMap&) const {}
    void operator()(const Note&) const {}
};

/// Colours beside their numbers.
struct ColourBar {
    std::vector<Colour> colours{};  ///< from below
    std::vector<Tick> marks{};      ///< in [0, 1] from below
    std::string name{};
};

ColourBar bar_of(const Panel& panel, double height) {
    ColourBar bar;
    for (const Series& series : panel.series) {
        if (const auto* map = std::get_if<HeatMap>(&series); map != nullptr && map->bar) {
            const auto [low, high] = range_of(*map);
            for (int k = 0; k < 64; ++k) bar.colours.push_back(colour(map->ramp, k / 63.0));
            if (!(high > low)) {
                bar.marks.push_back({0.5, short_number(low)});
                continue;
            }
            const ChartAxis axis{.low = low, .high = high};
            for (Tick t : ticks_of(axis, height, 45)) {
                t.value = (t.value - low) / (high - low);
                bar.marks.push_back(std::move(t));
            }
        } else if (const auto* fill = std::get_if<Fill>(&series);
                   fill != nullptr && !fill->name.empty()) {
            bar.colours = fill->colours;
            bar.name = fill->name;
            const auto count = static_cast<double>(fill->colours.size());
            const std::size_t step = fill->levels.size() / 8 + 1;
            for (std::size_t k = 0; k < fill->levels.size(); k += step) {
                bar.marks.push_back(
                    {static_cast<double>(k + 1) / count, level_number(fill->levels[k])});
            }
        }
    }
    return bar;
}

/// A panel with everything settled.
struct Laid {
    const Panel& panel;
    Frame frame{};
    std::vector<Tick> x_ticks{};
    std::vector<Tick> y_ticks{};
    std::vector<Entry> entries{};
    ColourBar bar{};
    double left = 0, right = 0, top = 0, bottom = 0;  ///< room around the plane

    double width() const { return left + frame.box.width + right; }
    double height() const { return top + frame.box.height + bottom; }
};

std::size_t legend_rows(const std::vector<Entry>& entries, double width) {
    std::size_t rows = entries.empty() ? 0 : 1;
    double used = 0;
    for (const Entry& entry : entries) {
        if (used > 0 && used + entry.width() > width) {
            ++rows;
            used = 0;
        }
        used += entry.width();
    }
    return rows;
}

Laid laid(const Panel& panel) {
    Laid result{.panel = panel};
    Extent x;
    Extent y;
    for (const Series& series : panel.series) std::visit(Reach{panel, x, y}, series);
    Frame& frame = result.frame;
    frame.x = settled(panel.x, x);
    frame.y = settled(panel.y, y);
    frame.box.width = panel.width;
    frame.box.height = panel.height;
    if (panel.equal) {
        const double ratio = (*frame.y.high - *frame.y.low) / (*frame.x.high - *frame.x.low);
        frame.box.height = std::clamp(panel.width * ratio, panel.width / 4, panel.width * 2);
    }
    result.x_ticks = thinned(ticks_of(frame.x, frame.box.width, 70), frame.box.width);
    result.y_ticks = ticks_of(frame.y, frame.box.height, 48);
    result.entries = entries_of(panel);
    result.bar = bar_of(panel, frame.box.height);
    double widest = 0;
    for (const Tick& t : result.y_ticks) widest = std::max(widest, room_for(t.text));
    result.left = widest + 14 + (panel.y.label.empty() ? 0 : line_height);
    double marks = 0;
    for (const Tick& t : result.bar.marks) marks = std::max(marks, room_for(t.text));
    result.right = result.bar.colours.empty() ? 16 : 44 + marks;
    result.top = panel.title.empty() ? 10 : 28;
    result.bottom = 24 + (panel.x.label.empty() ? 0 : line_height) +
                    line_height * static_cast<double>(
                                      legend_rows(result.entries, result.left + frame.box.width)) +
                    4;
    return result;
}

void draw_axes(const Laid& laid, Canvas& canvas) {
    const Box& box = laid.frame.box;
    for (const Tick& t : laid.x_ticks) {
        const double x = laid.frame.at(t.value, *laid.frame.y.low).x;
        canvas.stroke({{{x, box.bottom()}, {x, box.bottom() + 4}}}, {.colour = grey, .width = 1});
        canvas.words({.at = {x, box.bottom() + 16},
                      .text = t.text,
                      .size = text_size,
                      .anchor = Anchor::middle});
    }
    for (const Tick& t : laid.y_ticks) {
        const double y = laid.frame.at(*laid.frame.x.low, t.value).y;
        canvas.stroke({{{box.left - 4, y}, {box.left, y}}}, {.colour = grey, .width = 1});
        canvas.words({.at = {box.left - 7, y + 4},
                      .text = t.text,
                      .size = text_size,
                      .anchor = Anchor::end});
    }
    const Panel& panel = laid.panel;
    const double middle = box.left + box.width / 2;
    canvas.words({.at = {middle, box.bottom() + 16 + line_height},
                  .text = panel.x.label,
                  .size = text_size + 1,
                  .anchor = Anchor::middle});
    canvas.words({.at = {box.left - laid.left + 12, box.top + box.height / 2},
                  .text = panel.y.label,
                  .size = text_size + 1,
                  .anchor = Anchor::middle,
                  .upwards = true});
    canvas.words({.at = {middle, box.top - 9},
                  .text = panel.title,
                  .size = text_size + 2,
                  .anchor = Anchor::middle});
    Path border = rectangle(box);
    border.push_back(border.front());
    canvas.stroke({border}, {.colour = grey, .width = 1});
}

void draw_legend(const Laid& laid, Canvas& canvas) {
    const Box& box = laid.frame.box;
    const double first = box.left - laid.left + 8;
    Place at{first, box.bottom() + 24 + (laid.panel.x.label.empty() ? 0 : line_height) + 6};
    for (const Entry& entry : laid.entries) {
        if (at.x > first && at.x + entry.width() - first > laid.left + box.width) {
            at = {first, at.y + line_height};
        }
        std::visit(Swatch{canvas, at}, *entry.series);
        canvas.words({.at = {at.x + 28, at.y + 4}, .text = entry.name, .size = text_size});
        at.x += entry.width();
    }
}

void draw_bar(const Laid& laid, Canvas& canvas) {
    const ColourBar& bar = laid.bar;
    if (bar.colours.empty()) return;
    const Box& plane = laid.frame.box;
    const Box box{plane.right() + 12, plane.top, 14, plane.height};
    canvas.cells(box, bar.colours.size(), 1, {bar.colours.rbegin(), bar.colours.rend()});
    for (const Tick& t : bar.marks) {
        canvas.words({.at = {box.right() + 6, box.bottom() - t.value * box.height + 4},
                      .text = t.text,
                      .size = text_size});
    }
    canvas.words({.at = {box.left + 7, box.top - 9},
                  .text = bar.name,
                  .size = text_size,
                  .anchor = Anchor::middle});
}

void draw_panel(Laid& laid, Place corner, Canvas& canvas) {
    laid.frame.box.left = corner.x + laid.left;
    laid.frame.box.top = corner.y + laid.top;
    canvas.clip(laid.frame.box);
    for (const Series& series : laid.panel.series) draw(series, laid.frame, canvas);
    canvas.unclip();
    draw_axes(laid, canvas);
    draw_legend(laid, canvas);
    draw_bar(laid, canvas);
}

}  // namespace

Place lay_out(const Drawing& figure, Canvas* canvas) {
    std::vector<Laid> panels;
    for (const Panel& panel : figure.panels) panels.push_back(laid(panel));
    const std::size_t columns =
        std::min(panels.size(), figure.columns != 0 ? figure.columns : std::size_t{3});
    // Panels of a column have one width, those of a row one height, and planes line up.
    std::vector<double> widths(columns);
    std::vector<double> lefts(columns);
    const std::size_t rows = (panels.size() + columns - 1) / columns;
    std::vector<double> heights(rows);
    for (std::size_t k = 0; k < panels.size(); ++k) {
        lefts[k % columns] = std::max(lefts[k % columns], panels[k].left);
    }
    for (std::size_t k = 0; k < panels.size(); ++k) {
        panels[k].left = lefts[k % columns];
        widths[k % columns] = std::max(widths[k % columns], panels[k].width());
        heights[k / columns] = std::max(heights[k / columns], panels[k].height());
    }
    Place size{16, figure.title.empty() ? 8.0 : 30.0};
    const double top = size.y;
    for (const double width : widths) size.x += width;
    for (const double height : heights) size.y += height;
    size.x = std::ceil(std::max(size.x, text_width(figure.title, 15) + 24));
    size.y = std::ceil(size.y + 4);
    if (canvas == nullptr) return size;
    canvas->fill({rectangle({0, 0, size.x, size.y})}, {255, 255, 255}, {});
    canvas->words(
        {.at = {size.x / 2, 22}, .text = figure.title, .size = 15, .anchor = Anchor::middle});
    Place corner{8, top};
    for (std::size_t k = 0; k < panels.size(); ++k) {
        draw_panel(panels[k], corner, *canvas);
        corner.x += widths[k % columns];
        if ((k + 1) % columns == 0) corner = {8, corner.y + heights[k / columns]};
    }
    return size;
}

}  // namespace mercer::chart
