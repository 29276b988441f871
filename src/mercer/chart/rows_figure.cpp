// Rows themselves: two columns of a table as points or curves, one for each label; points with the
// codes that stand for them; and rows that are pictures.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/chart/model_figures.hpp"

namespace mercer::chart {
namespace {

constexpr std::size_t most_series = 12;
constexpr std::size_t shades = 24;   ///< of labels that are numbers
constexpr std::size_t corners = 72;  ///< of a circle
constexpr std::size_t most_pixels = 1'000'000;

struct PlotSeries {
    std::string name{};
    Colour colour{};
    std::vector<double> x{};
    std::vector<double> y{};
};

/// One a class, or of numbers one a shade.
std::vector<PlotSeries> series_of(const Dataset& data, const RowsSettings& s) {
    const Classes classes = data.y.empty() ? Classes{} : classes_of(data.y);
    const bool shaded = !data.y.are_text() && classes.count() > most_series;
    if (s.joined && shaded) {
        throw InvalidInput("the labels have " + std::to_string(classes.count()) +
                           " different values; joined are at most " + std::to_string(most_series) +
                           " curves, each under a label");
    }
    std::vector<PlotSeries> series(shaded ? shades : std::max<std::size_t>(1, classes.count()));
    double low = 0, width = 1;
    if (shaded) {
        const auto [least, most] = std::ranges::minmax(data.y.values);
        low = least;
        width = most > least ? most - least : 1;
    }
    for (std::size_t k = 0; k < series.size(); ++k) {
        const double part = static_cast<double>(k) / static_cast<double>(series.size());
        series[k].colour = shaded ? colour(Ramp::viridis, part) : colour(k);
        if (!shaded && classes.count() > 0) series[k].name = classes.names[k];
    }
    std::vector<double> row(data.columns());
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.x.copy_row(i, row);
        const double part = shaded ? (data.y.values[i] - low) / width : 0;
        const std::size_t place =
            shaded           ? std::min(shades - 1, static_cast<std::size_t>(part * shades))
            : data.y.empty() ? 0
                             : static_cast<std::size_t>(classes.index[i]);
        series[place].x.push_back(row[s.first]);
        series[place].y.push_back(row[s.second]);
    }
    return series;
}

}  // namespace

Drawing rows_figure(const Dataset& data, const RowsSettings& s) {
    if (std::max(s.first, s.second) >= data.columns()) {
        throw InvalidInput("rows are drawn over two columns of numbers; these have " +
                           std::to_string(data.columns()));
    }
    const auto name_of = [&](std::size_t j) {
        return j < data.feature_names.size() ? data.feature_names[j]
                                             : "column " + std::to_string(j + 1);
    };
    Drawing drawing;
    Panel& panel = drawing.panel();
    panel.x = {.label = name_of(s.first), .log = s.log_x};
    panel.y = {.label = name_of(s.second), .log = s.log_y};
    panel.width = s.joined ? 480 : 340;
    panel.height = s.joined ? 300 : 340;
    for (PlotSeries& one : series_of(data, s)) {
        if (s.joined) {
            panel.add(
                Line{.x = one.x, .y = one.y, .name = one.name, .style = {.colour = one.colour}});
        }
        panel.add(Dots{.x = std::move(one.x),
                       .y = std::move(one.y),
                       .name = s.joined ? "" : one.name,
                       .colour = one.colour,
                       .size = s.joined ? 2.6 : 2.2});
    }
    return drawing;
}

Drawing codes_figure(const Dataset& data, const Rows& codes, double radius, const RowsSettings& s) {
    if (codes.columns() != data.columns()) {
        throw InvalidInput("the codes have " + std::to_string(codes.columns()) +
                           " columns, the rows " + std::to_string(data.columns()));
    }
    Drawing drawing = rows_figure(data, s);
    Panel& panel = drawing.panels.front();
    panel.equal = true;
    std::vector<double> code(codes.columns());
    Dots places{.name = "codes", .colour = ink, .size = 3.6};
    Line circles{.style = {.colour = ink, .width = 0.8}};
    if (radius > 0) circles.name = "radius " + format_number(radius);
    for (std::size_t i = 0; i < codes.size(); ++i) {
        codes.copy_row(i, code);
        places.x.push_back(code[s.first]);
        places.y.push_back(code[s.second]);
        for (std::size_t k = 0; radius > 0 && k <= corners; ++k) {
            const double angle =
                2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(corners);
            circles.x.push_back(code[s.first] + radius * std::cos(angle));
            circles.y.push_back(code[s.second] + radius * std::sin(angle));
        }
        circles.x.push_back(std::numeric_limits<double>::quiet_NaN());
        circles.y.push_back(std::numeric_limits<double>::quiet_NaN());
    }
    if (radius > 0) panel.add(std::move(circles));
    panel.add(std::move(places));
    return drawing;
}

Drawing sheet_figure(const Rows& rows, const SheetSettings& s) {
    const std::size_t pixels = rows.columns();
    const std::size_t width =
        s.width > 0 ? s.width
                    : static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(pixels))));
    if (rows.size() == 0 || width == 0 || pixels % width != 0 ||
        (s.width == 0 && pixels != width * width)) {
        throw InvalidInput(
            std::to_string(rows.size()) + " rows of " + std::to_string(pixels) +
            (s.width > 0 ? " columns are no pictures " + std::to_string(s.width) + " pixels wide"
                         : " columns are no square pictures: say how wide they are"));
    }
    if (rows.size() > most_pixels / pixels) {
        throw InvalidInput(std::to_string(rows.size()) + " pictures of " + std::to_string(pixels) +
                           " pixels are more than a sheet of a million pixels holds");
    }
    const std::size_t height = pixels / width;
    const std::size_t across = std::min(std::max<std::size_t>(1, s.across), rows.size());
    const std::size_t lines = (rows.size() + across - 1) / across;
    HeatMap map{.values = Matrix<double>(lines * (height + 1) - 1, across * (width + 1) - 1),
                .ramp = Ramp::greys,
                .bar = false};
    std::ranges::fill(map.values.values(), std::numeric_limits<double>::quiet_NaN());
    std::vector<double> picture(pixels);
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, picture);
        for (std::size_t k = 0; k < pixels; ++k) {
            const double value = s.bright ? -picture[k] : picture[k];
            low = std::min(low, value);
            high = std::max(high, value);
            map.values(i / across * (height + 1) + k / width,
                       i % across * (width + 1) + k % width) = value;
        }
    }
    map.low = low;
    map.high = high;
    Drawing drawing;
    Panel& panel = drawing.panel();
    panel.y = {.label = "row", .down = true};
    for (std::size_t line = 0; line < lines; ++line) {
        const double middle =
            static_cast<double>(line * (height + 1)) + (static_cast<double>(height) - 1) / 2;
        panel.y.ticks.emplace_back(middle, std::to_string(line * across + 1));
    }
    for (std::size_t k = 0; k < across; k += std::max<std::size_t>(1, across / 8)) {
        const double middle =
            static_cast<double>(k * (width + 1)) + (static_cast<double>(width) - 1) / 2;
        panel.x.ticks.emplace_back(middle, "+" + std::to_string(k));
    }
    // Three dots a pixel, where that is neither tiny nor larger than a page.
    panel.width = std::clamp(3.0 * static_cast<double>(map.values.columns()), 120.0, 900.0);
    panel.equal = true;
    panel.add(std::move(map));
    return drawing;
}

}  // namespace mercer::chart
