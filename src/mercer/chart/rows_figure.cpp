// Rows themselves: two columns of a table as points or curves, one for each label.
#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/chart/model_figures.hpp"

namespace mercer::chart {
namespace {

constexpr std::size_t most_series = 12;
constexpr std::size_t shades = 24;  ///< of labels that are numbers

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

}  // namespace mercer::chart
