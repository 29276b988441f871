// Figures of kernels, of training and of judgements.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/chart/detail/number.hpp"
#include "mercer/chart/detail/plane.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/calibration.hpp"

namespace mercer::chart {
namespace {

/// The threshold falls from score to score; rows of one score are taken together.
RocCurve curve_of(const std::vector<double>& scores, const std::vector<bool>& positive) {
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>{}, [&](std::size_t i) { return scores[i]; });
    const auto all = static_cast<double>(std::ranges::count(positive, true));
    const double others = static_cast<double>(positive.size()) - all;
    RocCurve curve{.false_positives = {0}, .true_positives = {0}};
    double hits = 0;
    double alarms = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        (positive[order[k]] ? hits : alarms) += 1;
        if (k + 1 < order.size() && scores[order[k]] == scores[order[k + 1]]) continue;
        const double x = alarms / others;
        const double y = hits / all;
        curve.area += (x - curve.false_positives.back()) * 0.5 * (y + curve.true_positives.back());
        curve.false_positives.push_back(x);
        curve.true_positives.push_back(y);
    }
    return curve;
}

}  // namespace

RocCurve roc_curve(const std::vector<double>& scores, const std::vector<bool>& positive,
                   const std::string& name) {
    if (scores.size() != positive.size()) {
        throw InvalidInput("a ROC curve needs one score for each row");
    }
    const auto hits = static_cast<std::size_t>(std::ranges::count(positive, true));
    if (hits == 0 || hits == positive.size()) {
        throw InvalidInput("a ROC curve needs rows of both kinds; " +
                           (name.empty() ? std::string("the positive class") : quoted(name)) +
                           " has " + std::to_string(hits) + " of " +
                           std::to_string(positive.size()));
    }
    if (!std::ranges::all_of(scores, [](double s) { return !std::isnan(s); })) {
        throw InvalidInput("a ROC curve needs scores that are numbers");
    }
    RocCurve curve = curve_of(scores, positive);
    curve.name = name;
    return curve;
}

std::vector<RocCurve> roc_curves(const Model& model, const Dataset& data,
                                 const Progress& progress) {
    if (!is_classifier(model.task())) {
        throw InvalidInput("a ROC curve is of a classifier; this model is of " +
                           task_name(model.task()));
    }
    if (data.y.empty()) throw InvalidInput("the data has no labels to judge by");
    const std::vector<std::size_t> truth = class_positions(model, data.y);
    const std::vector<std::string>& names = model.class_names();
    Matrix<double> scores = model.decision(data.x, progress);
    if (names.size() > 2 && scores.columns() != names.size()) {
        if (!has_probabilities(model)) {
            throw InvalidInput(
                "a ROC curve of several classes needs one score for each: train with "
                "`probability=true` or `multi_class=ovr`");
        }
        scores = model.probabilities(data.x, progress);
    } else if (names.size() > 2 && model.multi_class() == MultiClass::one_vs_one &&
               names.size() == 3) {
        // Three classes have three pairs as well: not one score for each.
        if (!has_probabilities(model)) {
            throw InvalidInput(
                "a ROC curve of several classes needs one score for each: train with "
                "`probability=true` or `multi_class=ovr`");
        }
        scores = model.probabilities(data.x, progress);
    }
    std::vector<RocCurve> curves;
    const std::size_t count = names.size() == 2 ? 1 : names.size();
    for (std::size_t c = 0; c < count; ++c) {
        std::vector<double> column(scores.rows());
        std::vector<bool> positive(scores.rows());
        for (std::size_t i = 0; i < scores.rows(); ++i) {
            column[i] = scores(i, c);
            positive[i] = truth[i] == c;
        }
        curves.push_back(roc_curve(column, positive, names[c]));
    }
    return curves;
}

Drawing roc_figure(const std::vector<RocCurve>& curves) {
    Drawing figure{.title = "ROC"};
    Panel& panel = figure.panel();
    panel.width = panel.height = 320;
    panel.x = {.label = "false positives", .low = 0, .high = 1};
    panel.y = {.label = "true positives", .low = 0, .high = 1};
    panel.add(
        Line{.x = {0, 1}, .y = {0, 1}, .style = {.colour = grey, .width = 1, .dashed = true}});
    for (std::size_t c = 0; c < curves.size(); ++c) {
        panel.add(Line{.x = curves[c].false_positives,
                       .y = curves[c].true_positives,
                       .name = curves[c].name + (curves[c].name.empty() ? "area " : ", area ") +
                               short_number(curves[c].area),
                       .style = {.colour = colour(c), .width = 2}});
    }
    return figure;
}

Drawing reliability_figure(const CalibrationReport& report, const std::string& title) {
    Drawing figure{.title = title};
    Panel& panel = figure.panel();
    panel.width = panel.height = 300;
    panel.x = {.label = "predicted", .low = 0, .high = 1};
    panel.y = {.label = "observed", .low = 0, .high = 1};
    std::size_t most = 1;
    for (const ReliabilityBin& b : report.bins) most = std::max(most, b.rows);
    Bars bars{.name = "rows", .colour = tint(0)};
    Line line{.style = {.width = 2}};
    Dots points{.name = "rows of a bin", .size = 4};
    for (const ReliabilityBin& b : report.bins) {
        if (b.rows == 0) continue;
        const double gap = 0.02 * (b.high - b.low);
        bars.from.push_back(b.low + gap);
        bars.to.push_back(b.high - gap);
        bars.height.push_back(0.2 * static_cast<double>(b.rows) / static_cast<double>(most));
        bars.tips.push_back(std::to_string(b.rows) + " rows");
        line.x.push_back(b.predicted);
        line.y.push_back(b.observed);
        points.tips.push_back("predicted " + short_number(b.predicted) + ", observed " +
                              short_number(b.observed) + ", " + std::to_string(b.rows) + " rows");
    }
    bars.name = "rows, at most " + std::to_string(most);
    points.x = line.x;
    points.y = line.y;
    panel.add(std::move(bars));
    panel.add(Line{.x = {0, 1},
                   .y = {0, 1},
                   .name = "honest",
                   .style = {.colour = grey, .width = 1, .dashed = true}});
    panel.add(std::move(line));
    panel.add(std::move(points));
    return figure;
}

Drawing gram_figure(const Kernel& kernel, const Dataset& data, std::size_t most) {
    if (data.size() == 0) throw InvalidInput("there are no rows to draw");
    std::vector<std::size_t> order =
        thinned_rows(data.size(), std::clamp<std::size_t>(most, 2, 2000));
    if (!data.y.empty()) {
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return data.y.values[i]; });
    }
    const Gram<double> gram(kernel, data.x, data.feature_names);
    const Points<double> rows = gram.select(gram.reference(), order);
    HeatMap map{.values = Matrix<double>(order.size(), order.size())};
    gram.block(rows, rows, map.values.view());
    const auto [low, high] = std::ranges::minmax(map.values.values());
    if (low < 0 && high > 0) map.ramp = Ramp::diverging;
    Drawing figure{.title = gram.kernel().text()};
    Panel& panel = figure.panel();
    panel.width = panel.height = 360;
    panel.title = data.y.empty() ? "rows in their order" : "rows sorted by label";
    panel.x.label = "row";
    panel.y = {.label = "row", .down = true};
    panel.add(std::move(map));
    return figure;
}

Drawing spectrum_figure(const MercerTest& test) {
    if (test.values.empty()) {
        throw InvalidInput("the spectrum has only its ends: give fewer rows");
    }
    Dots positive{.name = "eigenvalue", .size = 2.4};
    Dots negative{.name = "negative, by its size",
                  .colour = {178, 24, 43},
                  .shape = Shape::diamond,
                  .size = 3};
    Dots zero{.name = "0 up to rounding", .colour = grey, .size = 2};
    double largest = 0;
    for (const double value : test.values) largest = std::max(largest, std::abs(value));
    const double floor = std::max(largest * 1e-17, 1e-300);
    for (std::size_t k = 0; k < test.values.size(); ++k) {
        const double value = test.values[k];
        Dots& kind = value < -test.tolerance ? negative : value > test.tolerance ? positive : zero;
        kind.x.push_back(static_cast<double>(k + 1));
        kind.y.push_back(std::max(std::abs(value), floor));
    }
    Drawing figure{.title = test.kernel.text()};
    Panel& panel = figure.panel();
    panel.title = test.indefinite ? "indefinite on these rows" : "";
    panel.x.label = "place";
    panel.y = {.label = "|eigenvalue|", .log = true};
    for (Dots* kind : {&positive, &negative, &zero}) {
        if (!kind->x.empty()) panel.add(*kind);
    }
    return figure;
}

Drawing history_figure(const Model& model) {
    Drawing figure{.title = task_name(model.task()) + ": objective by pass"};
    Panel& panel = figure.panel();
    panel.x.label = "pass";
    panel.y.label = "objective";
    for (const Report& report : model.reports()) {
        if (report.history.empty()) continue;
        Line line{.name = report.name, .style = {.colour = colour(panel.series.size())}};
        for (std::size_t k = 0; k < report.history.size(); ++k) {
            line.x.push_back(static_cast<double>(k + 1));
            line.y.push_back(report.history[k]);
        }
        panel.add(std::move(line));
    }
    if (panel.series.empty()) {
        throw InvalidInput("the model of " + task_name(model.task()) +
                           " keeps no history; perceptrons, the Adatron and other machines that go "
                           "over the data pass by pass do, and `method=smo` can be traced");
    }
    return figure;
}

Drawing steps_figure(const std::vector<StepPoint>& steps) {
    if (steps.empty()) throw InvalidInput("there are no steps to draw");
    Line objective{.style = {.width = 2}};
    Line violation{.style = {.colour = colour(1), .width = 1}};
    std::map<std::size_t, Line> alphas;
    std::map<std::size_t, double> travelled;
    for (const StepPoint& s : steps) {
        objective.x.push_back(s.step);
        objective.y.push_back(s.objective);
        violation.x.push_back(s.step);
        violation.y.push_back(s.violation);
        for (const auto& [row, alpha] :
             {std::pair(s.first, s.first_alpha), std::pair(s.second, s.second_alpha)}) {
            Line& line = alphas[row];
            if (line.x.empty()) {
                line.x = {0};
                line.y = {0};
            }
            travelled[row] += std::abs(alpha - line.y.back());
            // A staircase: it stays as it was until the step that moves it.
            line.x.insert(line.x.end(), {s.step, s.step});
            line.y.insert(line.y.end(), {line.y.back(), alpha});
        }
    }
    std::vector<std::pair<double, std::size_t>> order;
    for (const auto& [row, way] : travelled) order.emplace_back(-way, row);
    std::ranges::sort(order);
    Drawing figure{.title = std::to_string(steps.size()) + " steps of two points"};
    Panel& first = figure.panel();
    first.x.label = "step";
    first.y.label = "dual objective";
    first.add(std::move(objective));
    Panel& second = figure.panel();
    second.x.label = "step";
    second.y = {.label = "KKT violation", .log = true};
    second.add(std::move(violation));
    Panel& third = figure.panel();
    third.x.label = "step";
    third.y.label = "α";
    for (std::size_t k = 0; k < std::min<std::size_t>(order.size(), 8); ++k) {
        Line line = alphas[order[k].second];
        line.name = "row " + std::to_string(order[k].second + 1);
        line.x.push_back(steps.back().step);
        line.y.push_back(line.y.back());
        line.style = {.colour = colour(k), .width = 1.3};
        third.add(std::move(line));
    }
    for (Panel& panel : figure.panels) panel.width = panel.height = 260;
    return figure;
}

}  // namespace mercer::chart
