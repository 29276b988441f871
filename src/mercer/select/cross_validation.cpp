#include "mercer/select/cross_validation.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

/// Squared correlation and error as LIBSVM prints them.
void score_regression(const Labels& predicted, const Labels& truth, Score& score) {
    double p = 0, y = 0, pp = 0, yy = 0, py = 0, error = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const double a = predicted.values[i];
        const double b = truth.values[i];
        error += (a - b) * (a - b);
        p += a;
        y += b;
        pp += a * a;
        yy += b * b;
        py += a * b;
    }
    const auto n = static_cast<double>(truth.size());
    score.mean_squared_error = error / n;
    const double spread = (n * pp - p * p) * (n * yy - y * y);
    score.squared_correlation = spread > 0 ? (n * py - p * y) * (n * py - p * y) / spread : 0;
}

}  // namespace

std::vector<std::size_t> draw_folds(std::size_t rows, std::size_t folds, std::uint64_t seed,
                                    std::span<const std::int32_t> classes) {
    if (folds < 2 || folds > rows) {
        throw InvalidInput(std::to_string(folds) + " folds cannot be made of " +
                           std::to_string(rows) + " rows: give 2 to " + std::to_string(rows));
    }
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), 0);
    Random(seed).shuffle(std::span(order));
    // Dealing the rows class by class, one fold after another, spreads every class evenly.
    if (!classes.empty()) {
        std::ranges::stable_sort(
            order, [&](std::size_t a, std::size_t b) { return classes[a] < classes[b]; });
    }
    std::vector<std::size_t> fold(rows);
    for (std::size_t i = 0; i < rows; ++i) fold[order[i]] = i % folds;
    return fold;
}

Score score(Task task, const Labels& predicted, const Labels& truth) {
    if (predicted.size() != truth.size()) {
        throw InvalidInput("there are " + std::to_string(predicted.size()) + " predictions for " +
                           std::to_string(truth.size()) + " labels");
    }
    Score result;
    if (truth.size() == 0) return result;
    if (is_regressor(task)) {
        score_regression(predicted, truth, result);
        return result;
    }
    std::size_t right = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const bool by_value = !predicted.are_text() && !truth.are_text();
        right +=
            (by_value ? predicted.values[i] == truth.values[i] : predicted.text(i) == truth.text(i))
                ? 1
                : 0;
    }
    result.accuracy = static_cast<double>(right) / static_cast<double>(truth.size());
    return result;
}

CrossValidation cross_validate(const SvmSettings& settings, const Dataset& data, std::size_t folds,
                               std::uint64_t seed, const Progress& progress) {
    return cross_validate(svm(settings), data, folds, seed, progress);
}

CrossValidation cross_validate(const Machine& machine, const Dataset& data, std::size_t folds,
                               std::uint64_t seed, const Progress& progress) {
    const Task task = machine.task();
    if (is_clustering(task)) {
        throw InvalidInput("the task " + task_name(task) +
                           " cannot be cross-validated: its groups have no names to compare");
    }
    const bool labelled = !data.y.empty();
    const Classes classes = is_classifier(task) && labelled ? classes_of(data.y) : Classes{};
    const auto fold = draw_folds(data.size(), folds, seed, classes.index);
    CrossValidation result;
    result.predictions.values.resize(data.size());
    for (std::size_t f = 0; f < folds; ++f) {
        std::vector<std::size_t> train;
        std::vector<std::size_t> held;
        for (std::size_t i = 0; i < data.size(); ++i) (fold[i] == f ? held : train).push_back(i);
        const Model model = machine.for_rows(train).fit(data.select(train));
        if (result.status == FitStatus::converged) result.status = model.report().status;
        const auto ask = [&](const Moment& moment) {
            const double done = static_cast<double>(f) + std::max(0.0, moment.fraction);
            return keep_going(progress, {moment.task, done / static_cast<double>(folds)});
        };
        if (!ask({"predicting", 0})) throw Cancelled();
        const Labels predicted = model.predict_labels(data.x.select(held), ask);
        // A fold may miss a class, so that names are looked up again among all of them.
        if (data.y.are_text()) result.predictions.names = data.y.names;
        for (std::size_t i = 0; i < held.size(); ++i) {
            double value = predicted.values[i];
            if (predicted.are_text()) {
                const auto found =
                    std::find(data.y.names.begin(), data.y.names.end(), predicted.text(i));
                value = static_cast<double>(found - data.y.names.begin());
            }
            result.predictions.values[held[i]] = value;
        }
        if (labelled) result.folds.push_back(score(task, predicted, data.y.select(held)));
    }
    if (labelled) result.score = score(task, result.predictions, data.y);
    return result;
}

}  // namespace mercer
