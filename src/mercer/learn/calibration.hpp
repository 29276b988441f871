// Probabilities that keep their word: learnt on rows the machine had not seen, by Platt's sigmoid
// (learn/detail/platt.hpp), by a curve that only rises (isotonic), or by one temperature for all
// classes.
//
//   Model sure = calibrate(model, held_out, CalibrationMethod::isotonic);
//   sure.probabilities(test.x);
//   sure.predict_labels(test.x, {}, DecideBy::probability);   // the likeliest classes
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

enum class CalibrationMethod { platt, isotonic, temperature };
/// "platt", "isotonic", "temperature"; and back, throwing InvalidInput.
std::string method_name(CalibrationMethod method);
CalibrationMethod calibration_named(std::string_view name);

/// A function that nowhere falls: values at some places, straight lines between, flat outside.
struct IsotonicMap {
    std::vector<double> at{};     ///< ascending
    std::vector<double> value{};  ///< ascending

    double operator()(double x) const;
};
/// The rising function nearest to the targets by weighted squares, by pooling adjacent violators
/// (Ayer et al. 1955). Equal places count as one with the mean of their targets. `weights` is empty
/// (all 1) or one per target, > 0.
IsotonicMap fit_isotonic(std::span<const double> places, std::span<const double> targets,
                         std::span<const double> weights = {});

/// Platt's sigmoid for class probabilities: 1 / (1 + exp(a f + b)).
struct Sigmoid {
    double a = 0;
    double b = 0;
};

/// How the decisions of a classifier become probabilities. Of the three ways the first that is
/// there counts: the temperature, the rising curves, the sigmoids.
struct Calibration final : ArrayExtra<Calibration> {
    std::optional<Matrix<double>> temperature{};  ///< 1 × 1, above 0
    std::optional<Matrix<double>> isotonic{};     ///< output, place, value; output by output
    /// One an output. A regression of LIBSVM's has one, whose `a` is the scale of its noise.
    std::vector<Sigmoid> sigmoids{};

    Calibration() = default;
    explicit Calibration(std::vector<Sigmoid> platt) : sigmoids(std::move(platt)) {}
    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("temperature", self.temperature);
        visit("isotonic", self.isotonic);
    }
    /// Arrays of these names mean something else to machines that are no classifiers.
    static std::shared_ptr<const Extra> take(const ModelParts& model, Arrays& from);
    void check(const ModelParts& model, const std::string& place) const override;
};
/// Of these extras; empty where there are none.
std::span<const Sigmoid> sigmoids_of(const Extras& extras);

/// Limits of bins of the decision values of a one-class machine (learn/detail/density_marks.hpp),
/// which say how sure it is: ten, ascending.
struct DensityMarks final : ArrayExtra<DensityMarks> {
    Matrix<double> marks{};  ///< 1 × 10

    DensityMarks() = default;
    explicit DensityMarks(Matrix<double> limits) : marks(std::move(limits)) {}
    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("density_marks", self.marks);
    }
    void check(const ModelParts& model, const std::string& place) const override;
};

/// Positions of labels among the classes of a model. Throws InvalidInput for one it does not know.
std::vector<std::size_t> class_positions(const Model& model, const Labels& labels);

/// One score per class, the larger the likelier: (f, 0) of two classes, the decisions themselves of
/// one against the rest, the sum of those in its favour of pairs.
Matrix<double> class_scores(const Model& model, MatrixView<const double> decisions);

/// T > 0 such that softmax(scores / T) makes the true classes likeliest (Guo et al. 2017).
double fit_temperature(MatrixView<const double> scores, std::span<const std::size_t> truth);

/// The model with its probabilities learnt anew on these rows, which should not be those it was
/// trained on. Throws InvalidInput for other models than classifiers, labels the model does not
/// know, and classes (platt, isotonic) of which there is no row.
Model calibrate(const Model& model, const Dataset& held_out, CalibrationMethod method);

bool has_probabilities(const Model& model);
/// From decision values, for those who have them already. Throws InvalidInput without
/// probabilities.
Matrix<double> probabilities_of(const Model& model, MatrixView<const double> decisions);
/// What the columns are the probabilities of: the classes, or "inside" and "outside" of one-class
/// machines.
std::vector<std::string> probability_names(const Model& model);
/// What a model predicts of these probabilities: the position of the likeliest class, the first of
/// equals; of one-class machines +1 or −1.
std::vector<double> likeliest(const Model& model, MatrixView<const double> probabilities);

}  // namespace mercer
