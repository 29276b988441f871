// A model made ready to predict, for whoever asks it more than once.
//
//   const Predictor predictor(model);
//   Labels labels = predictor.predict_labels(test.x);      // again and again, from any thread
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

/// The model as it was when this was made, and its expansion packed for products. Nothing in it
/// changes afterwards: copies share it, and all may be asked from several threads at once. The
/// answers are those of the model's own members of the same names.
class Predictor {
   public:
    explicit Predictor(Model model);
    /// Shares the model, which must not change while this lives.
    explicit Predictor(std::shared_ptr<const Model> model);

    const Model& model() const { return *model_; }

    Matrix<double> decision(const Rows& x, const Progress& progress = {}) const;
    std::vector<double> predict(const Rows& x, const Progress& progress = {},
                                DecideBy rule = DecideBy::margin) const;
    Labels predict_labels(const Rows& x, const Progress& progress = {},
                          DecideBy rule = DecideBy::margin) const;
    Matrix<double> probabilities(const Rows& x, const Progress& progress = {}) const;
    Matrix<double> predict_sets(const Rows& x, const Progress& progress = {}) const;

   private:
    std::shared_ptr<const Model> model_;
    const Extra* decider_ = nullptr;  ///< of the model, where it takes the expansion apart itself
    std::optional<Evaluator> evaluator_{};  ///< where none does
};

}  // namespace mercer
