#include "mercer/learn/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/learn/calibration.hpp"

namespace mercer {
namespace {

/// For one call of a model's own, which outlives it.
Predictor for_now(const Model& model) {
    return Predictor(std::shared_ptr<const Model>(std::shared_ptr<const Model>(), &model));
}

}  // namespace

Predictor::Predictor(Model model) : Predictor(std::make_shared<const Model>(std::move(model))) {}

Predictor::Predictor(std::shared_ptr<const Model> model) : model_(std::move(model)) {
    for (const auto& extra : model_->extras) {
        if (!extra->decides()) continue;
        decider_ = extra.get();
        return;
    }
    evaluator_.emplace(model_->expansion, model_->double_precision);
}

Matrix<double> Predictor::decision(const Rows& x, const Progress& progress) const {
    const Rows scaled = model_->scaling.apply(rows_for(*model_, x));
    Matrix<double> result =
        decider_ ? decider_->decide(*model_, scaled, progress) : (*evaluator_)(scaled, progress);
    for (std::size_t i = 0; i < result.rows(); ++i) {
        if (std::ranges::all_of(result.row(i), [](double f) { return std::isfinite(f); })) continue;
        throw InvalidInput("the model has no finite value at row " + std::to_string(i + 1) +
                           ": its numbers are too large for it");
    }
    return result;
}

std::vector<double> Predictor::predict(const Rows& x, const Progress& progress,
                                       DecideBy rule) const {
    if (rule == DecideBy::probability) {
        return likeliest(*model_, probabilities(x, progress).view());
    }
    for (const auto& extra : model_->extras) {
        if (auto answers = extra->answers(*model_, x, progress)) return std::move(*answers);
    }
    const Matrix<double> decisions = decision(x, progress);
    return model_->classify(decisions.view());
}

Labels Predictor::predict_labels(const Rows& x, const Progress& progress, DecideBy rule) const {
    return model_->labels_of(predict(x, progress, rule));
}

Matrix<double> Predictor::probabilities(const Rows& x, const Progress& progress) const {
    // Says what is missing before anything is computed.
    if (!has_probabilities(*model_)) return probabilities_of(*model_, {});
    const Matrix<double> f = decision(x, progress);
    return probabilities_of(*model_, f.view());
}

Matrix<double> Predictor::predict_sets(const Rows& x, const Progress& progress) const {
    // Says that there are none before anything is computed.
    if (!is_multi_label(model_->task)) return model_->sets_of({});
    const Matrix<double> f = decision(x, progress);
    return model_->sets_of(f.view());
}

Matrix<double> Model::decision(const Rows& x, const Progress& progress) const {
    return for_now(*this).decision(x, progress);
}

std::vector<double> Model::predict(const Rows& x, const Progress& progress, DecideBy rule) const {
    return for_now(*this).predict(x, progress, rule);
}

Labels Model::predict_labels(const Rows& x, const Progress& progress, DecideBy rule) const {
    return for_now(*this).predict_labels(x, progress, rule);
}

Matrix<double> Model::predict_sets(const Rows& x, const Progress& progress) const {
    return for_now(*this).predict_sets(x, progress);
}

Matrix<double> Model::probabilities(const Rows& x, const Progress& progress) const {
    return for_now(*this).probabilities(x, progress);
}

}  // namespace mercer
