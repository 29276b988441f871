// A trained machine: an expansion, how to read its values, and its certificate.
//
//   const Model model = svc({.C = 10}).fit(data);
//   model.expansion().size(), model.report().gap;
//   Labels labels = model.predict_labels(test.x);
//
// A model made ready to predict, for whoever asks it more than once.
//
//   const Predictor predictor(model);
//   Labels labels = predictor.predict_labels(test.x);      // again and again, from any thread
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/base/words.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/scaling.hpp"
#include "mercer/feature/expansion.hpp"
#include "mercer/learn/extra.hpp"
#include "mercer/learn/report.hpp"

namespace mercer MERCER_API {

class Recipe;

/// Which machine. The lectures' own are named here; others have what `new_task` makes of their
/// names (learn/registry.hpp has an entry for each).
enum class Task : std::uint32_t {
    // Support vector machines (learn/svm/svm.hpp).
    svc,
    nu_svc,
    hard_margin,
    svr,
    nu_svr,
    one_class,
    svdd,
    // The lectures' other machines, one file per family in learn/.
    class_means,  // nearest class mean
    parzen,       // a density with a threshold
    perceptron,
    adatron,
    ridge,
    logistic,
    squared_hinge,
    huber,
    quantile,
    gp,
    kmeans,
    vq,  // a codebook with a bound on the distortion
    // What finds functions of the rows without labels, one per output.
    kpca,        // kernel principal components
    kha,         // the same, learnt online; its models are kpca's
    cca,         // canonical correlation of two views
    ica,         // independent components
    dependency,  // from one feature space to another
    // Classes where rows have several of them, or none yet.
    multi_label,
    spreading,  // over the graph of all rows, labelled or not
};
/// The task of a machine that is not among these, by its name: the same number in every program,
/// and above all of theirs.
constexpr Task new_task(std::string_view name) {
    std::uint32_t hash = 2166136261U;  // Fowler, Noll and Vo's FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return static_cast<Task>(hash | 0x80000000U);
}
/// "svc", "nu-svc", …, as the registry has them; and back, throwing InvalidInput.
std::string task_name(Task task);
Task task_named(std::string_view name);
/// Learns classes from labels.
bool is_classifier(Task task);
/// Learns numbers from labels.
bool is_regressor(Task task);
/// Finds groups without labels.
bool is_clustering(Task task);
/// Finds functions of the rows, one per output: components, canonical variates, sources.
bool is_projection(Task task);
/// Learns which of several labels each row has; `predict_sets` says it.
bool is_multi_label(Task task);
/// One of the machines of learn/svm/svm.hpp: a dual problem solved, and a certificate that
/// `recompute_reports` can check.
bool is_svm(Task task);

enum class MultiClass { one_vs_one, one_vs_rest };
constexpr Words multi_class_words{std::pair{MultiClass::one_vs_one, "ovo"},
                                  std::pair{MultiClass::one_vs_rest, "ovr"}};

/// Numbers the machine was trained with; what a certificate needs to be checked.
struct TrainedWith {
    double C = 0;
    double nu = 0;
    double epsilon = 0;
    double tolerance = 0;
    bool bias = true;
    std::string tube{};       ///< formula of ζ(x); empty: none
    bool tube_given = false;  ///< ζ was given as numbers or a function, which a model does not hold
    std::vector<double> class_weights{};  ///< one per class; empty: all 1
    /// What else this kind of machine was told, by name: lambda, noise, budget, passes, …
    /// Names are words of a-z, 0-9, _ and -.
    std::map<std::string, double> numbers{};
};

/// What decides the class of a row. The two may differ, and either may be wanted: the margin was
/// trained for what errors cost (class weights), the probability says what will come true.
enum class DecideBy {
    margin,       ///< the signs of the decision values, one vote per pair
    probability,  ///< the likeliest class, of models that have probabilities
};

/// What a model is made of, open while it is made: machines, loaders and `reduce` fill one, and a
/// Model is made of it.
///
///   ModelParts parts = model.parts();               // a changed model is another model
///   parts.double_precision = true;
///   const Model exact(std::move(parts));
struct ModelParts {
    Task task = Task::svc;
    MultiClass multi_class = MultiClass::one_vs_one;
    Expansion expansion{};
    /// Row of the training data each point of the expansion came from; empty when not known.
    std::vector<std::size_t> origins{};

    std::vector<std::string> class_names{};  ///< classifiers: in order
    std::vector<double> class_values{};      ///< the same as numbers; empty for text labels
    std::vector<std::string> feature_names{};
    ColumnRoles roles{};  ///< where labels and weights stood in the table trained on
    std::vector<std::string> target_names{};  ///< regression with several outputs
    std::size_t columns = 0;                  ///< of the rows before scaling
    /// What makes such rows of those of a table with columns of several kinds (data/recipe.hpp);
    /// null where rows are given as they are.
    std::shared_ptr<const Recipe> recipe{};
    Scaling scaling{};  ///< applied to rows before anything else but the recipe
    TrainedWith trained{};
    /// One an output of the expansion; machines that learn all outputs together may have one.
    std::vector<Report> reports{};
    Extras extras{};  ///< what it has besides (learn/extra.hpp)
    /// Computes in double precision (default: float kernel values, double sums).
    bool double_precision = false;

    std::size_t classes() const { return class_names.size(); }
};

/// Made by the machines of learn/, saved and loaded by persist/. Its parts were found to fit
/// together when it was made, and never change: copies share them, and all may be asked from
/// several threads at once. The first call that needs kernel values prepares the expansion, for all
/// copies; a Predictor (learn/model.hpp) does that when it is made.
class Model {
   public:
    /// Of nothing: no outputs, and nothing to predict.
    Model();
    /// Throws InvalidInput, beginning with `place`, unless the counts of all parts agree, the
    /// numbers its values depend on are finite, and every extra fits.
    explicit Model(ModelParts parts, const std::string& place = "model");
    // Without moves: what was moved from would be a model of no parts.
    Model(const Model&) = default;
    Model& operator=(const Model&) = default;

    const ModelParts& parts() const& { return *parts_; }
    ModelParts parts() && { return *parts_; }

    Task task() const { return parts_->task; }
    MultiClass multi_class() const { return parts_->multi_class; }
    std::size_t classes() const { return parts_->classes(); }
    std::size_t columns() const { return parts_->columns; }
    bool double_precision() const { return parts_->double_precision; }
    // References into the model; of one that is about to go, copies.
    const Expansion& expansion() const& { return parts_->expansion; }
    Expansion expansion() && { return parts_->expansion; }
    const std::vector<std::size_t>& origins() const& { return parts_->origins; }
    std::vector<std::size_t> origins() && { return parts_->origins; }
    const std::vector<std::string>& class_names() const& { return parts_->class_names; }
    std::vector<std::string> class_names() && { return parts_->class_names; }
    const std::vector<double>& class_values() const& { return parts_->class_values; }
    std::vector<double> class_values() && { return parts_->class_values; }
    const std::vector<std::string>& feature_names() const& { return parts_->feature_names; }
    std::vector<std::string> feature_names() && { return parts_->feature_names; }
    const ColumnRoles& roles() const& { return parts_->roles; }
    ColumnRoles roles() && { return parts_->roles; }
    const std::vector<std::string>& target_names() const& { return parts_->target_names; }
    std::vector<std::string> target_names() && { return parts_->target_names; }
    /// Of models of tables with columns of several kinds; null for others.
    const std::shared_ptr<const Recipe>& recipe() const& { return parts_->recipe; }
    const Scaling& scaling() const& { return parts_->scaling; }
    Scaling scaling() && { return parts_->scaling; }
    const TrainedWith& trained() const& { return parts_->trained; }
    TrainedWith trained() && { return parts_->trained; }
    const std::vector<Report>& reports() const& { return parts_->reports; }
    std::vector<Report> reports() && { return parts_->reports; }
    const Extras& extras() const& { return parts_->extras; }
    Extras extras() && { return parts_->extras; }

    /// Points that answers are made of: those of the expansion, or of what decides in its place.
    std::size_t points() const;

    /// One certificate for the whole: sums of counts, worst of violations and gaps.
    Report report() const;

    /// How a file is to be read for this model (ReadOptions::known).
    KnownColumns known_columns() const;

    /// Decision values, one row for each row of x: one column per output of the expansion (for
    /// one_vs_one the pairs (0,1), (0,2), …, (1,2), …; positive means the first of the pair).
    Matrix<double> decision(const Rows& x, const Progress& progress = {}) const;
    /// Class positions (classifiers), ±1 (one-class, SVDD, Parzen: +1 inside), the nearest centre
    /// (k-means, from 0), what the components leave of each row (kpca) or values (one output).
    std::vector<double> predict(const Rows& x, const Progress& progress = {},
                                DecideBy rule = DecideBy::margin) const;
    /// The same as labels: the classes under their own names.
    Labels predict_labels(const Rows& x, const Progress& progress = {},
                          DecideBy rule = DecideBy::margin) const;
    /// Class probabilities by Platt's sigmoids: pairs coupled (Wu, Lin and Weng 2004), classes
    /// against the rest divided by their sum; or as learnt by `calibrate` (learn/calibration.hpp).
    /// Needs one of them. Never bent towards the predicted class (DecideBy).
    Matrix<double> probabilities(const Rows& x, const Progress& progress = {}) const;

    /// Models of several labels a row: 1 or 0 for each of them, one column per label. Throws
    /// InvalidInput for other models.
    Matrix<double> predict_sets(const Rows& x, const Progress& progress = {}) const;

    /// The same from decision values, for those who have them already.
    Matrix<double> sets_of(MatrixView<const double> decisions) const;
    /// Class positions from decision values, for those who have them already.
    std::vector<double> classify(MatrixView<const double> decisions) const;
    /// These positions as labels, under the classes' own names.
    Labels labels_of(std::vector<double> positions) const;

    /// The expansion's own values at rows that are scaled already.
    Matrix<double> expansion_values(const Rows& scaled, const Progress& progress = {}) const;
    /// Prepares the expansion now, where predictions will ask it.
    void prepare() const;

   private:
    struct Prepared;
    const Evaluator& evaluator() const;

    std::shared_ptr<const ModelParts> parts_;
    std::shared_ptr<Prepared> prepared_;
};

/// Rows to be predicted, before scaling: what the recipe makes of them, where there is one. Rows of
/// sparse data, which lack the columns that are zero in all of them, are made as wide as the model;
/// of a table every column must be there. Throws InvalidInput for other numbers of columns and for
/// values that are not finite.
Rows rows_for(const Model& model, const Rows& x);
/// The same of rows with their labels: data that the recipe has been applied to.
Dataset data_for(const Model& model, const Dataset& data);

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
