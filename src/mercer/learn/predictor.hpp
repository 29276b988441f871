// A model made ready to predict, for whoever asks it more than once.
//
//   const Predictor predictor(model);
//   Labels labels = predictor.predict_labels(test.x);      // again and again, from any thread
#pragma once

#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

/// A model whose expansion is packed for products when this is made, not at the first question.
/// Copies share it, and all may be asked from several threads at once. The answers are those of the
/// model's own members of the same names.
class Predictor {
   public:
    explicit Predictor(Model model) : model_(std::move(model)) { model_.prepare(); }

    const Model& model() const { return model_; }

    Matrix<double> decision(const Rows& x, const Progress& progress = {}) const {
        return model_.decision(x, progress);
    }
    std::vector<double> predict(const Rows& x, const Progress& progress = {},
                                DecideBy rule = DecideBy::margin) const {
        return model_.predict(x, progress, rule);
    }
    Labels predict_labels(const Rows& x, const Progress& progress = {},
                          DecideBy rule = DecideBy::margin) const {
        return model_.predict_labels(x, progress, rule);
    }
    Matrix<double> probabilities(const Rows& x, const Progress& progress = {}) const {
        return model_.probabilities(x, progress);
    }
    Matrix<double> predict_sets(const Rows& x, const Progress& progress = {}) const {
        return model_.predict_sets(x, progress);
    }

   private:
    Model model_;
};

}  // namespace mercer
