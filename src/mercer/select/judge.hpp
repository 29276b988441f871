// How good a model is on rows it has not seen, from every side: mistakes by class, the order of the
// scores, honesty of the probabilities, errors of numbers, each beside what guessing would reach
// and with an interval that says how much the rows can tell.
//
//   const Judgement j = judge(model, test);
//   j.accuracy, j.accuracy_interval, j.baseline;    // classes
//   j.rmse, j.r2, j.rmse_interval;                  // numbers
//   const Comparison c = compare(a.predict_labels(test.x), b.predict_labels(test.x), test.y);
//   c.p_value;                                      // of the two being equally good
//
// Do probabilities keep their word? Of the rows told 70 %, do 70 % come true?
//
//   const CalibrationReport r = calibration_report(model.probabilities(test.x).view(), truth);
//   r.brier, r.log_loss, r.expected_error;      // one number each
//   for (const ReliabilityBin& b : r.bins) b.predicted; // the reliability picture
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

/// Rows whose probability lies in (low, high], the first bin including 0.
struct ReliabilityBin {
    double low = 0;
    double high = 0;
    std::size_t rows = 0;
    double predicted = 0;  ///< mean probability
    double observed = 0;   ///< share that came true
};

struct CalibrationReport {
    std::size_t rows = 0;
    std::size_t classes = 0;
    double accuracy = 0;  ///< of the likeliest class
    /// Two classes: the mean of (p − 1[y])² for the last class; more: the mean over rows of
    /// Σ_c (p_c − 1[y = c])² (Brier 1950).
    double brier = 0;
    double log_loss = 0;
    /// Σ over bins of rows × |predicted − observed| / all rows.
    double expected_error = 0;
    double largest_error = 0;  ///< of a bin
    /// Two classes: of the probability of the last class; more: of the likeliest class.
    std::vector<ReliabilityBin> bins{};
};

/// `truth` are positions of classes, one per row. Throws InvalidInput for no rows, no bins,
/// probabilities outside [0, 1] and positions beyond the classes.
CalibrationReport calibration_report(MatrixView<const double> probabilities,
                                     std::span<const std::size_t> truth, std::size_t bins = 10);

struct ConfidenceInterval {
    double low = 0;
    double high = 0;
};

/// Wilson's interval for a share of which `hits` of `rows` were seen (Wilson 1927). `z` is the
/// normal quantile, by default of 95 %.
ConfidenceInterval wilson_interval(std::size_t hits, std::size_t rows,
                                   double z = 1.959963984540054);

/// An interval of 95 % for a root mean square of which these squares were seen: of the mean of all
/// rows there are, or, with `others`, of what so many other rows would show. Student's t in the
/// logarithm, with a relative variance of the squares of at least 2, as normal errors have. Up to
/// infinity for a single square.
ConfidenceInterval rms_interval(std::span<const double> squares, std::size_t others = 0);

/// A curve over thresholds: of ROC the share of false positives and that of true ones, of precision
/// and recall the recall and the precision. `threshold` is the least score called positive.
struct CurvePlace {
    double threshold = 0;
    double x = 0;
    double y = 0;
};

struct ClassJudgement {
    std::string name{};
    std::size_t rows = 0;       ///< that are of it
    std::size_t predicted = 0;  ///< that are said to be of it
    double precision = 0;       ///< of those said to be of it, how many are; 0 when there are none
    double recall = 0;          ///< of those that are of it, how many are found
    double f1 = 0;
};

struct Judgement {
    std::size_t rows = 0;
    bool numbers = false;  ///< a regression: the second part counts

    // Classes.
    std::vector<ClassJudgement> classes{};
    Matrix<double> confusion{};  ///< (truth, predicted): rows
    double accuracy = 0;
    ConfidenceInterval accuracy_interval{};  ///< of 95 %: of the accuracy on all rows there are
    ConfidenceInterval accuracy_again{};     ///< of that on as many other rows, which vary too
    double balanced_accuracy = 0;
    double macro_f1 = 0;
    std::string majority{};  ///< the most frequent class of these rows
    double baseline = 0;     ///< the accuracy of always saying it
    /// Two classes: the one that counts as positive, by name; empty otherwise.
    std::string positive{};
    std::vector<CurvePlace> roc{};
    std::vector<CurvePlace> precision_recall{};
    double roc_area = 0;
    double average_precision = 0;  ///< Σ (R_k − R_{k−1}) P_k
    std::optional<CalibrationReport> probabilities{};

    // Numbers.
    double rmse = 0;
    ConfidenceInterval rmse_interval{};  ///< of 95 %, by `rms_interval`
    ConfidenceInterval rmse_again{};     ///< on as many other rows
    double mae = 0;
    double r2 = 0;
    double mean = 0;           ///< of the targets of these rows
    double baseline_rmse = 0;  ///< of always saying it
    double baseline_mae = 0;
    /// Gaussian processes: the share of targets within the central 95 % of what was predicted.
    std::optional<double> coverage{};
    double coverage_wanted = 0.95;

    std::vector<double> truth{};      ///< positions among the classes' names, or targets
    std::vector<double> predicted{};  ///< the same
    /// Two classes: the larger, the more it is the positive one.
    std::vector<double> scores{};
};

struct JudgeSettings {
    std::string positive{};  ///< of two classes; empty: the last of them by name
    Progress progress{};
};

/// Throws InvalidInput for models that predict neither classes nor numbers, data without labels, no
/// rows, and a positive class that is none of two. A class that the model does not know is one that
/// it always misses.
Judgement judge(const Model& model, const Dataset& data, const JudgeSettings& settings = {});

/// What a threshold costs: rows called positive that are not, and the others.
struct ThresholdChoice {
    double threshold = 0;  ///< of the score
    double cost = 0;       ///< a row, in the mean
    std::size_t false_positives = 0;
    std::size_t false_negatives = 0;
    double usual_cost = 0;  ///< a row, where the model itself decides
};
/// The cheapest threshold on these rows; it should be used on others. Throws InvalidInput unless
/// there are two classes and costs are not negative, one of them positive.
ThresholdChoice choose_threshold(const Judgement& judgement, double false_positive_cost,
                                 double false_negative_cost);

/// Two machines on the same rows.
struct Comparison {
    std::size_t rows = 0;
    bool numbers = false;
    double first = 0;  ///< accuracy, or root mean squared error
    double second = 0;
    std::size_t only_first = 0;  ///< rows that only the first has right, or is nearer in
    std::size_t only_second = 0;
    /// Of as large a difference between machines that are equally good. Classes: McNemar's exact
    /// test. Numbers: Student's paired t on the squared errors.
    double p_value = 1;
    double sign_p_value = 1;  ///< numbers: the exact sign test on which error is smaller
    double difference = 0;    ///< numbers: mean of the first's squared errors less the second's
    double t = 0;             ///< numbers: in units of its standard error
    std::string test{};       ///< its name
};
Comparison compare(const Labels& first, const Labels& second, const Labels& truth,
                   bool numbers = false);

/// Why a model says of a row what it says.
struct Explanation {
    std::string toward{};  ///< what larger values mean: a class against another, or the target
    double value = 0;      ///< the decision value, or the prediction
    double bias = 0;       ///< of it
    /// Terms α_i k(x_i, x) of the points of the expansion, the largest first: where the point stood
    /// in the training data, and the term.
    std::vector<std::pair<std::size_t, double>> points{};
    /// What each column adds: the value less that with the column at its usual value, which is the
    /// mean of the expansion's points or, of a table, the gap that the recipe fills. The largest
    /// first. They need not sum to the value.
    std::vector<std::pair<std::string, double>> columns{};
};
/// One for each row; `most` entries of each kind. Of several classes it is of the one predicted
/// against the next. Throws InvalidInput for models that decide by more than their expansion, or
/// have more than a thousand columns.
std::vector<Explanation> explain(const Model& model, const Rows& x, std::size_t most = 5,
                                 const Progress& progress = {});

/// Two-sided probability of at most min(a, b) among a + b tosses of a fair coin.
double fair_coin_p(std::size_t a, std::size_t b);
/// Two-sided tail of Student's t.
double student_p(double t, double degrees);

}  // namespace mercer
