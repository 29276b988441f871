// Figures of what `learn_table` found: the search, the error by rows, what columns do.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "mercer/base/error.hpp"
#include "mercer/chart/model_figures.hpp"

namespace mercer::chart {
namespace {

constexpr std::size_t shown_importances = 15;
constexpr double no_score = std::numeric_limits<double>::quiet_NaN();

std::string axis_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

/// Different values of one axis, ascending; nearly equal ones are one.
std::vector<double> values_of(const Candidate& c, std::size_t axis) {
    std::vector<double> values;
    for (const TriedSettings& t : c.tried) values.push_back(t.values[axis]);
    std::ranges::sort(values);
    const auto same = [](double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); };
    values.erase(std::unique(values.begin(), values.end(), same), values.end());
    return values;
}

std::size_t place_among(const std::vector<double>& values, double value) {
    const auto nearest = std::ranges::min_element(
        values, {}, [&](double v) { return std::abs(std::log(v / value)); });
    return static_cast<std::size_t>(nearest - values.begin());
}

double shown_score(const TriedSettings& t, bool numbers) {
    return numbers ? std::sqrt(t.score) : t.score;
}

bool is_better(double a, double b, bool numbers) {
    return std::isnan(b) || (numbers ? a < b : a > b);
}

const char* score_name(bool numbers) {
    return numbers ? "RMSE over folds" : "accuracy over folds";
}

/// Scores along the one axis that was searched, with the deviation over the folds.
void draw_line(const Candidate& c, bool numbers, std::size_t axis, Panel& panel) {
    std::vector<TriedSettings> points = c.tried;
    std::ranges::sort(points, {}, [&](const TriedSettings& t) { return t.values[axis]; });
    Line line;
    Band band;
    for (const TriedSettings& t : points) {
        const double score = shown_score(t, numbers);
        // Of a root the deviation is that of the square by twice the root.
        const double off = numbers && score > 0 ? t.deviation / (2 * score) : t.deviation;
        line.x.push_back(t.values[axis]);
        line.y.push_back(score);
        band.x.push_back(t.values[axis]);
        band.low.push_back(score - off);
        band.high.push_back(score + off);
    }
    panel.x = {.label = c.axes[axis], .log = true};
    panel.y.label = score_name(numbers);
    panel.add(band);
    panel.add(line);
    panel.add(Dots{.x = line.x, .y = line.y});
}

/// The best score of each pair of values, whatever the other axes were.
void draw_map(const Candidate& c, bool numbers, std::size_t across, std::size_t upwards,
              Panel& panel) {
    const std::vector<double> x = values_of(c, across), y = values_of(c, upwards);
    HeatMap map{.values = Matrix<double>(y.size(), x.size())};
    std::ranges::fill(map.values.values(), no_score);
    double best = no_score;
    for (const TriedSettings& t : c.tried) {
        const std::size_t row = place_among(y, t.values[upwards]);
        const std::size_t column = place_among(x, t.values[across]);
        const double score = shown_score(t, numbers);
        double& cell = map.values(row, column);
        if (is_better(score, cell, numbers)) cell = score;
        if (!is_better(score, best, numbers)) continue;
        best = score;
        map.mark = {row, column};
    }
    // What is far from the best is all one colour: the map is about the best.
    const auto scores = map.values.values();
    const auto far = [&](double v) { return numbers ? v > 2 * best : v < best - 0.2; };
    if (std::ranges::any_of(scores, far)) {
        (numbers ? map.high : map.low) = numbers ? 2 * best : best - 0.2;
    }
    panel.x.label = c.axes[across];
    panel.y.label = c.axes[upwards];
    for (std::size_t k = 0; k < x.size(); ++k) {
        panel.x.ticks.emplace_back(static_cast<double>(k), axis_number(x[k]));
    }
    for (std::size_t k = 0; k < y.size(); ++k) {
        panel.y.ticks.emplace_back(static_cast<double>(k), axis_number(y[k]));
    }
    panel.add(map);
}

std::string effect_label(const LearnResult& r, const ColumnEffect& e) {
    if (r.numbers) return "mean prediction";
    return e.lines.size() == 1 ? "share of " + e.lines.front() : "share of a class";
}

void draw_levels(const ColumnEffect& e, Panel& panel) {
    for (std::size_t k = 0; k < e.levels.size(); ++k) {
        panel.x.ticks.emplace_back(static_cast<double>(k), e.levels[k]);
    }
    const double width = 0.8 / static_cast<double>(e.means.rows());
    for (std::size_t l = 0; l < e.means.rows(); ++l) {
        Bars bars{.name = e.lines.size() > 1 ? e.lines[l] : "", .colour = colour(l)};
        for (std::size_t k = 0; k < e.places.size(); ++k) {
            const double left = static_cast<double>(k) - 0.4 + static_cast<double>(l) * width;
            bars.from.push_back(left);
            bars.to.push_back(left + width);
            bars.height.push_back(e.means(l, k));
        }
        panel.add(bars);
    }
}

void draw_effect_lines(const ColumnEffect& e, Panel& panel) {
    std::vector<double> x = e.places;
    if (e.date) {
        constexpr double days_a_year = 365.2425;
        for (double& v : x) v = 1970 + v / days_a_year;
        panel.x.label += ", year";
    }
    for (std::size_t l = 0; l < e.means.rows(); ++l) {
        const auto row = e.means.row(l);
        panel.add(Line{.x = x,
                       .y = {row.begin(), row.end()},
                       .name = e.lines.size() > 1 ? e.lines[l] : "",
                       .style = {.colour = colour(l)}});
    }
}

}  // namespace

Drawing learning_curve_figure(const LearnResult& r) {
    if (r.curve.empty()) throw InvalidInput("there is no learning curve to draw");
    Drawing drawing;
    Panel& panel = drawing.panel();
    panel.title = "learning curve";
    panel.x = {.label = "rows learnt from", .log = true};
    panel.y.label = r.numbers ? "RMSE on the rows set aside" : "share of wrong rows set aside";
    Line line;
    Band band{.name = "± deviation over samples"};
    for (const CurveSize& c : r.curve) {
        const auto rows = static_cast<double>(c.rows);
        panel.x.ticks.emplace_back(rows, std::to_string(c.rows));
        line.x.push_back(rows);
        line.y.push_back(c.error);
        if (c.draws < 2) continue;
        band.x.push_back(rows);
        band.low.push_back(c.error - c.deviation);
        band.high.push_back(c.error + c.deviation);
    }
    if (band.x.size() > 1) panel.add(band);
    panel.add(line);
    panel.add(Dots{.x = line.x, .y = line.y});
    const Judgement& j = r.judgement;
    const double baseline = r.numbers ? j.baseline_rmse : 1 - j.baseline;
    panel.add(Line{.x = {line.x.front(), line.x.back()},
                   .y = {baseline, baseline},
                   .name = r.numbers ? "always saying the mean" : "always saying " + j.majority,
                   .style = {.colour = grey, .dashed = true}});
    return drawing;
}

Drawing tuning_figure(const std::vector<Candidate>& candidates, bool numbers) {
    Drawing drawing;
    drawing.title = score_name(numbers);
    for (const Candidate& c : candidates) {
        if (c.tried.size() < 2 || c.axes.empty()) continue;
        // The two axes with most values; the first of equals.
        std::vector<std::size_t> order(c.axes.size());
        for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
            return values_of(c, a).size() > values_of(c, b).size();
        });
        Panel& panel = drawing.panel();
        panel.title = c.name;
        panel.width = 300;
        panel.height = 260;
        if (order.size() < 2 || values_of(c, order[1]).size() < 2) {
            draw_line(c, numbers, order[0], panel);
        } else {
            const auto [across, upwards] = std::minmax(order[0], order[1]);
            draw_map(c, numbers, across, upwards, panel);
        }
    }
    drawing.columns = 2;
    if (drawing.panels.empty()) throw InvalidInput("no settings were searched");
    return drawing;
}

Drawing effects_figure(const LearnResult& r) {
    if (r.effects.empty()) throw InvalidInput("there are no effects of columns to draw");
    Drawing drawing;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (const ColumnEffect& e : r.effects) {
        for (const double v : e.means.values()) {
            low = std::min(low, v);
            high = std::max(high, v);
        }
    }
    const double room = 0.05 * std::max(high - low, 1e-9 * std::max(1.0, std::abs(high)));
    for (const ColumnEffect& e : r.effects) {
        Panel& panel = drawing.panel();
        panel.width = 240;
        panel.height = 200;
        panel.x.label = e.column;
        // One scale for all: what is flat says little.
        panel.y = {.label = effect_label(r, e), .low = low - room, .high = high + room};
        if (e.levels.empty()) {
            draw_effect_lines(e, panel);
        } else {
            draw_levels(e, panel);
        }
    }
    return drawing;
}

Drawing importance_figure(const LearnResult& r) {
    if (r.importance.empty()) throw InvalidInput("there are no importances of columns to draw");
    const std::size_t shown = std::min(r.importance.size(), shown_importances);
    Drawing drawing;
    Panel& panel = drawing.panel();
    panel.height = 40 + 22 * static_cast<double>(shown);
    panel.x.label = "mean change of the decision value without the column";
    panel.y.down = true;
    Bars bars{.lying = true};
    for (std::size_t k = 0; k < shown; ++k) {
        const auto at = static_cast<double>(k);
        bars.from.push_back(at - 0.4);
        bars.to.push_back(at + 0.4);
        bars.height.push_back(r.importance[k].second);
        panel.y.ticks.emplace_back(at, r.importance[k].first);
    }
    panel.add(bars);
    return drawing;
}

}  // namespace mercer::chart
