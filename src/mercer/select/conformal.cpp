#include "mercer/select/conformal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"

namespace mercer {
namespace {

bool is_single_class(Task task) {
    return task == Task::one_class || task == Task::svdd || task == Task::parzen;
}

/// How strange each class would be as the answer; one column a class.
Matrix<double> nonconformity_of(const Model& model, const Rows& x, const Progress& progress) {
    const Matrix<double> f = model.decision(x, progress);
    if (is_classifier(model.task()) && has_probabilities(model)) {
        Matrix<double> p = probabilities_of(model, f.view());
        for (double& value : p.values()) value = 1 - value;
        return p;
    }
    const Matrix<double> scores = class_scores(model, f.view());
    Matrix<double> strange(scores.rows(), scores.columns());
    for (std::size_t i = 0; i < scores.rows(); ++i) {
        for (std::size_t c = 0; c < scores.columns(); ++c) {
            double best = -infinity;
            for (std::size_t other = 0; other < scores.columns(); ++other) {
                if (other != c) best = std::max(best, scores(i, other));
            }
            strange(i, c) = best - scores(i, c);
        }
    }
    return strange;
}

std::vector<double> unit_of(const Model& model, const Rows& x, const ConformalSettings& settings) {
    if (!settings.scaled) return std::vector<double>(x.size(), 1.0);
    return predictive_deviation(model, x, true, settings.progress);
}

std::vector<double> outlyingness(const Model& model, const Rows& x, const Progress& progress) {
    const Matrix<double> f = model.decision(x, progress);
    std::vector<double> result;
    for (std::size_t i = 0; i < f.rows(); ++i) result.push_back(-f(i, 0));
    return result;
}

void check(const Model& model, const Dataset& data, const ConformalSettings& s) {
    require_range("coverage", s.coverage, s.coverage > 0 && s.coverage < 1,
                  "greater than 0 and less than 1");
    const bool regression = is_regressor(model.task());
    if (!is_classifier(model.task()) && !regression && !is_single_class(model.task())) {
        throw InvalidInput("there are no prediction sets for the task " + task_name(model.task()));
    }
    if (regression && model.expansion().outputs() != 1) {
        throw InvalidInput("intervals are those of a regression with one output");
    }
    if (data.size() == 0) throw InvalidInput("no rows were set aside to learn the sets from");
    if (!is_single_class(model.task()) && data.y.empty()) {
        throw InvalidInput("the rows set aside need labels, and have none");
    }
    if (regression && data.y.are_text()) {
        throw InvalidInput("the targets set aside must be numbers, and are names");
    }
    if (s.scaled && model.task() != Task::gp) {
        throw InvalidInput(
            "intervals are scaled by the deviations of a Gaussian process, and this "
            "is a model of the task " +
            task_name(model.task()));
    }
    if (s.by_class && !is_classifier(model.task())) {
        throw InvalidInput("only classifiers have thresholds by class");
    }
}

void require_kind(bool fine, const char* what, Task task) {
    if (!fine) {
        throw InvalidInput(std::string(what) + " are not for the task " + task_name(task));
    }
}

}  // namespace

double conformal_quantile(std::vector<double> values, double coverage) {
    const auto n = static_cast<double>(values.size());
    // A hair less, so that rounding of (n + 1) c does not ask for one row more.
    const double rank = std::ceil((n + 1) * coverage - 1e-9);
    if (rank > n) return infinity;
    const auto place = static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
    std::nth_element(values.begin(), values.begin() + place, values.end());
    return values[static_cast<std::size_t>(place)];
}

Conformal::Conformal(const Model& model, const Dataset& data, const ConformalSettings& settings)
    : settings_(settings), rows_(data.size()) {
    check(model, data, settings);
    if (is_single_class(model.task())) {
        nonconformity_ = outlyingness(model, data.x, settings.progress);
        std::ranges::sort(nonconformity_);
        thresholds_ = {conformal_quantile(nonconformity_, settings.coverage)};
        return;
    }
    if (is_regressor(model.task())) {
        const Matrix<double> f = model.decision(data.x, settings.progress);
        const std::vector<double> unit = unit_of(model, data.x, settings);
        std::vector<double> errors;
        for (std::size_t i = 0; i < data.size(); ++i) {
            errors.push_back(std::abs(data.y.values[i] - f(i, 0)) / unit[i]);
        }
        thresholds_ = {conformal_quantile(std::move(errors), settings.coverage)};
        return;
    }
    const std::vector<std::size_t> truth = class_positions(model, data.y);
    const Matrix<double> strange = nonconformity_of(model, data.x, settings.progress);
    std::vector<std::vector<double>> groups(settings.by_class ? model.classes() : 1);
    for (std::size_t i = 0; i < data.size(); ++i) {
        groups[settings.by_class ? truth[i] : 0].push_back(strange(i, truth[i]));
    }
    for (std::size_t c = 0; c < groups.size(); ++c) {
        if (groups[c].empty()) {
            throw InvalidInput("no row of the class " + model.class_names()[c] + " was set aside");
        }
        thresholds_.push_back(conformal_quantile(std::move(groups[c]), settings.coverage));
    }
}

std::vector<std::vector<std::size_t>> Conformal::sets(const Model& model, const Rows& x) const {
    require_kind(is_classifier(model.task()), "sets of classes", model.task());
    const Matrix<double> strange = nonconformity_of(model, x, settings_.progress);
    std::vector<std::vector<std::size_t>> result(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t c = 0; c < model.classes(); ++c) {
            if (strange(i, c) <= thresholds_[settings_.by_class ? c : 0]) result[i].push_back(c);
        }
    }
    return result;
}

Matrix<double> Conformal::intervals(const Model& model, const Rows& x) const {
    require_kind(is_regressor(model.task()), "intervals", model.task());
    const Matrix<double> f = model.decision(x, settings_.progress);
    const std::vector<double> unit = unit_of(model, x, settings_);
    Matrix<double> result(x.size(), 2);
    for (std::size_t i = 0; i < x.size(); ++i) {
        result(i, 0) = f(i, 0) - thresholds_[0] * unit[i];
        result(i, 1) = f(i, 0) + thresholds_[0] * unit[i];
    }
    return result;
}

std::vector<double> Conformal::p_values(const Model& model, const Rows& x) const {
    require_kind(is_single_class(model.task()), "p-values", model.task());
    std::vector<double> result;
    for (const double strange : outlyingness(model, x, settings_.progress)) {
        const auto stranger =
            nonconformity_.end() - std::ranges::lower_bound(nonconformity_, strange);
        result.push_back((1 + static_cast<double>(stranger)) /
                         (1 + static_cast<double>(nonconformity_.size())));
    }
    return result;
}

}  // namespace mercer
