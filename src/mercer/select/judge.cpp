#include "mercer/select/judge.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"

namespace mercer {
namespace {

constexpr double normal_quantile = 1.959963984540054;  ///< of 95 %

double ratio(std::size_t part, std::size_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The classes of the model, and behind them those that only the data has.
std::vector<std::string> all_names(const Model& model, const Labels& truth) {
    std::vector<std::string> names = model.class_names();
    for (const std::string& name : classes_of(truth).names) {
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return names;
}

std::size_t place_of(const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

void judge_classes(const std::vector<std::string>& names, Judgement& j) {
    const std::size_t k = names.size();
    j.confusion = Matrix<double>(k, k);
    std::vector<std::size_t> truth(k, 0), said(k, 0), both(k, 0);
    std::size_t right = 0;
    for (std::size_t i = 0; i < j.rows; ++i) {
        const auto t = static_cast<std::size_t>(j.truth[i]);
        const auto p = static_cast<std::size_t>(j.predicted[i]);
        j.confusion(t, p) += 1;
        ++truth[t];
        ++said[p];
        both[t] += t == p ? 1 : 0;
        right += t == p ? 1 : 0;
    }
    std::size_t present = 0, counted = 0, most = 0;
    for (std::size_t c = 0; c < k; ++c) {
        ClassJudgement& one = j.classes.emplace_back();
        one = {.name = names[c],
               .rows = truth[c],
               .predicted = said[c],
               .precision = ratio(both[c], said[c]),
               .recall = ratio(both[c], truth[c]),
               .f1 = ratio(2 * both[c], truth[c] + said[c])};
        if (truth[c] > 0) {
            j.balanced_accuracy += one.recall;
            ++present;
        }
        if (truth[c] + said[c] > 0) {
            j.macro_f1 += one.f1;
            ++counted;
        }
        if (truth[c] > truth[most]) most = c;
    }
    j.balanced_accuracy /= static_cast<double>(present);
    j.macro_f1 /= static_cast<double>(counted);
    j.accuracy = ratio(right, j.rows);
    j.accuracy_interval = wilson_interval(right, j.rows);
    j.accuracy_again = wilson_interval(right, j.rows, std::sqrt(2.0) * normal_quantile);
    j.majority = names[most];
    j.baseline = ratio(truth[most], j.rows);
}

/// ROC and precision by recall as the threshold falls; rows of one score come in one step.
void draw_curves(std::size_t positive, Judgement& j) {
    std::vector<std::size_t> order(j.rows);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order,
                      [&](std::size_t a, std::size_t b) { return j.scores[a] > j.scores[b]; });
    std::size_t all = 0;
    for (const double t : j.truth) all += t == static_cast<double>(positive) ? 1 : 0;
    if (all == 0 || all == j.rows) {
        j.roc_area = j.average_precision = std::nan("");
        return;
    }
    std::size_t hits = 0, misses = 0;
    const double beyond = std::nextafter(j.scores[order.front()], HUGE_VAL);
    j.roc.push_back({beyond, 0, 0});
    for (std::size_t first = 0; first < order.size();) {
        const double score = j.scores[order[first]];
        for (; first < order.size() && j.scores[order[first]] == score; ++first) {
            (j.truth[order[first]] == static_cast<double>(positive) ? hits : misses) += 1;
        }
        const CurvePlace place{score, ratio(misses, j.rows - all), ratio(hits, all)};
        const CurvePlace& before = j.roc.back();
        j.roc_area += (place.x - before.x) * (place.y + before.y) / 2;
        const double precision = ratio(hits, hits + misses);
        j.average_precision += (place.y - before.y) * precision;
        j.precision_recall.push_back({score, place.y, precision});
        j.roc.push_back(place);
    }
}

void judge_order(const Model& model, const Matrix<double>& decisions, const std::string& wanted,
                 Judgement& j) {
    if (model.classes() != 2 || j.classes.size() != 2 || decisions.columns() != 1) {
        if (wanted.empty()) return;
        throw InvalidInput("positive is " + quoted(wanted) + ", and there are " +
                           std::to_string(j.classes.size()) + " classes: it is one of two");
    }
    const std::vector<std::string>& names = model.class_names();
    const std::size_t positive = wanted.empty() ? 1 : place_of(names, wanted);
    if (positive > 1) {
        throw InvalidInput("positive is " + quoted(wanted) + "; expected " + quoted(names[0]) +
                           " or " + quoted(names[1]));
    }
    j.positive = names[positive];
    // Decision values are positive for the first class.
    for (std::size_t i = 0; i < j.rows; ++i) {
        j.scores.push_back(positive == 0 ? decisions(i, 0) : -decisions(i, 0));
    }
    draw_curves(positive, j);
}

void judge_probabilities(const Model& model, const Matrix<double>& decisions, Judgement& j) {
    if (!has_probabilities(model) || j.classes.size() != model.classes()) return;
    std::vector<std::size_t> truth;
    for (const double t : j.truth) truth.push_back(static_cast<std::size_t>(t));
    j.probabilities = calibration_report(probabilities_of(model, decisions.view()).view(), truth);
}

void judge_numbers(Judgement& j) {
    const auto n = static_cast<double>(j.rows);
    j.mean = std::accumulate(j.truth.begin(), j.truth.end(), 0.0) / n;
    std::vector<double> squares;
    double spread = 0, distance = 0, sum = 0;
    for (std::size_t i = 0; i < j.rows; ++i) {
        const double error = j.predicted[i] - j.truth[i];
        const double off = j.truth[i] - j.mean;
        squares.push_back(error * error);
        sum += error * error;
        j.mae += std::abs(error) / n;
        spread += off * off;
        distance += std::abs(off);
    }
    j.rmse = std::sqrt(sum / n);
    j.r2 = spread == 0 ? (sum == 0 ? 1 : 0) : 1 - sum / spread;
    j.baseline_rmse = std::sqrt(spread / n);
    j.baseline_mae = distance / n;
    j.rmse_interval = rms_interval(squares);
    j.rmse_again = rms_interval(squares, squares.size());
}

void judge_coverage(const Model& model, const Rows& x, Judgement& j, const Progress& progress) {
    if (model.task() != Task::gp || model.extras().find<Factor>() == nullptr) return;
    const std::vector<double> deviations = predictive_deviation(model, x, true, progress);
    std::size_t inside = 0;
    for (std::size_t i = 0; i < j.rows; ++i) {
        inside += std::abs(j.predicted[i] - j.truth[i]) <= normal_quantile * deviations[i] ? 1 : 0;
    }
    j.coverage = ratio(inside, j.rows);
}

}  // namespace

Judgement judge(const Model& model, const Dataset& data, const JudgeSettings& settings) {
    const bool classes = is_classifier(model.task());
    if (!classes && !is_regressor(model.task())) {
        throw InvalidInput(
            "a model of the task " + task_name(model.task()) +
            " predicts neither classes nor numbers: there is nothing to judge it by");
    }
    if (data.y.empty() || data.size() == 0) {
        throw InvalidInput("the data has no labels to judge by: say where they are with `label`");
    }
    Judgement j;
    j.rows = data.size();
    j.numbers = !classes;
    const Matrix<double> decisions = model.decision(data.x, settings.progress);
    const Labels predicted = model.labels_of(model.predict(data.x, settings.progress));
    if (!classes) {
        if (data.y.are_text()) {
            throw InvalidInput("the model predicts numbers, and the labels are names such as " +
                               quoted(data.y.text(0)));
        }
        if (!settings.positive.empty()) {
            throw InvalidInput("positive is " + quoted(settings.positive) +
                               ", and the model predicts numbers");
        }
        j.truth = data.y.values;
        j.predicted = predicted.values;
        judge_numbers(j);
        judge_coverage(model, data.x, j, settings.progress);
        return j;
    }
    const std::vector<std::string> names = all_names(model, data.y);
    for (std::size_t i = 0; i < j.rows; ++i) {
        j.truth.push_back(static_cast<double>(place_of(names, data.y.text(i))));
        j.predicted.push_back(static_cast<double>(place_of(names, predicted.text(i))));
    }
    judge_classes(names, j);
    judge_order(model, decisions, settings.positive, j);
    judge_probabilities(model, decisions, j);
    return j;
}

ThresholdChoice choose_threshold(const Judgement& j, double false_positive_cost,
                                 double false_negative_cost) {
    if (j.positive.empty() || j.roc.empty()) {
        throw InvalidInput("a threshold is chosen between two classes of which there are rows");
    }
    if (!(false_positive_cost >= 0 && false_negative_cost >= 0 &&
          false_positive_cost + false_negative_cost > 0)) {
        throw InvalidInput("costs must not be negative, and one of them must be above 0");
    }
    const auto n = static_cast<double>(j.rows);
    std::size_t positives = 0;
    const std::size_t place = j.classes[0].name == j.positive ? 0 : 1;
    for (const double t : j.truth) positives += t == static_cast<double>(place) ? 1 : 0;
    const std::size_t negatives = j.rows - positives;
    ThresholdChoice best;
    best.cost = HUGE_VAL;
    for (const CurvePlace& p : j.roc) {
        const auto wrong =
            static_cast<std::size_t>(std::lround(p.x * static_cast<double>(negatives)));
        const auto missed =
            positives - static_cast<std::size_t>(std::lround(p.y * static_cast<double>(positives)));
        const double cost = (static_cast<double>(wrong) * false_positive_cost +
                             static_cast<double>(missed) * false_negative_cost) /
                            n;
        if (cost >= best.cost) continue;
        best.cost = cost;
        best.threshold = p.threshold;
        best.false_positives = wrong;
        best.false_negatives = missed;
    }
    const auto at = [&](std::size_t t, std::size_t p) { return j.confusion(t, p); };
    best.usual_cost =
        (at(1 - place, place) * false_positive_cost + at(place, 1 - place) * false_negative_cost) /
        n;
    return best;
}

Comparison compare(const Labels& first, const Labels& second, const Labels& truth, bool numbers) {
    if (first.size() != truth.size() || second.size() != truth.size() || truth.empty()) {
        throw InvalidInput("there are " + std::to_string(first.size()) + " and " +
                           std::to_string(second.size()) + " predictions for " +
                           std::to_string(truth.size()) + " labels");
    }
    Comparison c{.rows = truth.size(), .numbers = numbers};
    const auto n = static_cast<double>(c.rows);
    if (!numbers) {
        std::size_t a = 0, b = 0;
        for (std::size_t i = 0; i < c.rows; ++i) {
            const bool x = first.text(i) == truth.text(i);
            const bool y = second.text(i) == truth.text(i);
            a += x ? 1 : 0;
            b += y ? 1 : 0;
            c.only_first += x && !y ? 1 : 0;
            c.only_second += y && !x ? 1 : 0;
        }
        c.first = ratio(a, c.rows);
        c.second = ratio(b, c.rows);
        c.p_value = fair_coin_p(c.only_first, c.only_second);
        c.test = "McNemar's exact test";
        return c;
    }
    std::vector<double> differences;
    double a = 0, b = 0;
    for (std::size_t i = 0; i < c.rows; ++i) {
        const double x = std::abs(first.values[i] - truth.values[i]);
        const double y = std::abs(second.values[i] - truth.values[i]);
        a += x * x;
        b += y * y;
        c.only_first += x < y ? 1 : 0;
        c.only_second += y < x ? 1 : 0;
        differences.push_back(x * x - y * y);
    }
    c.first = std::sqrt(a / n);
    c.second = std::sqrt(b / n);
    c.difference = (a - b) / n;
    double spread = 0;
    for (const double d : differences) spread += (d - c.difference) * (d - c.difference);
    const double error = c.rows > 1 ? std::sqrt(spread / (n - 1) / n) : 0;
    c.t = error > 0 ? c.difference / error : 0;
    c.p_value = c.rows > 1 && error > 0 ? student_p(c.t, n - 1) : 1;
    c.sign_p_value = fair_coin_p(c.only_first, c.only_second);
    c.test = "Student's paired t on squared errors";
    return c;
}

}  // namespace mercer
