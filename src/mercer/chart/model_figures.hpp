// Figures of models, kernels and judgements, drawn once for the command line, reports and pages.
//
//     const Model model = svc({.C = 10}).fit(data);
//     chart::write(chart::decision_figure(model, data), "regions.svg");
//     chart::write(chart::spectrum_figure(mercer_test(rbf(), data.x)), "spectrum.png");
//
// What came of learning from a table, as one page that stands alone: no scripts, no outside
// addresses.
//
//   const LearnResult result = learn_table(data, {.seconds = 60});
//   const std::string html = chart::learn_report(result, data, {.title = "customers.csv"});
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/chart/chart.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/judge.hpp"
#include "mercer/theory/mercer_test.hpp"

namespace mercer MERCER_API {
namespace chart {

/// Which plane through the rows is drawn, and how finely.
struct PlaneSettings {
    std::size_t first = 0;  ///< columns of the rows, before scaling
    std::size_t second = 1;
    std::size_t resolution = 140;    ///< nodes along a side, 2 … 1000
    std::size_t most_points = 4000;  ///< of the rows themselves; more are thinned evenly
    Progress progress{};
};

/// What a model makes of the plane of two columns (the others stand at their means): the regions of
/// classes, with border and margins where there are two, and support vectors ringed; the contours
/// of a machine of one class with the edge of its region; contours of every component of a
/// projection; values of a regression. Of a regression on one column its curve, with the tube or,
/// for Gaussian processes, twice the deviation. Throws InvalidInput for rows without numbers and
/// columns that are not there.
Drawing decision_figure(const Model& model, const Dataset& data,
                        const PlaneSettings& settings = {});

/// The decision of one output over the plane; `around` says which rows it must reach.
GridField decision_field(const Model& model, const Dataset& around, std::size_t output,
                         const PlaneSettings& settings = {});

struct RowsSettings {
    std::size_t first = 0;  ///< columns
    std::size_t second = 1;
    bool joined = false;  ///< by lines, in the order of the rows
    bool log_x = false;
    bool log_y = false;
};
/// Rows over two columns, a colour for each label; of labels that are many numbers a shade. Throws
/// InvalidInput for columns that are not there, and for too many curves.
Drawing rows_figure(const Dataset& data, const RowsSettings& settings = {});

/// Rows over two columns, the codes that stand for them, and around each code the circle in which
/// its rows lie; a radius of 0 draws none. Throws InvalidInput as `rows_figure`, and for codes of
/// another width.
Drawing codes_figure(const Dataset& data, const Rows& codes, double radius,
                     const RowsSettings& settings = {});

struct SheetSettings {
    std::size_t width = 0;    ///< of a picture in pixels; 0: pictures are square
    std::size_t across = 16;  ///< pictures in a line
    bool bright = false;      ///< the largest value is white
};
/// Rows as grey pictures side by side. Throws InvalidInput for rows that are no such pictures, and
/// for more than a million pixels.
Drawing sheet_figure(const Rows& rows, const SheetSettings& settings = {});

/// The Gram matrix, rows sorted by class (numbers: by value); of more rows than `most` every k-th.
Drawing gram_figure(const Kernel& kernel, const Dataset& data, std::size_t most = 400);

/// Eigenvalues, descending; the negative ones by their size, in another colour. The test must have
/// them all (MercerTest::values).
Drawing spectrum_figure(const MercerTest& test);

/// How the objective went, one line per problem that kept its history. Throws InvalidInput when
/// none did.
Drawing history_figure(const Model& model);

/// One step of two points, as `mercer train --trace` writes it.
struct StepPoint {
    double step = 0;
    std::size_t first = 0;  ///< rows, from 0
    std::size_t second = 0;
    double first_alpha = 0;  ///< after the step
    double second_alpha = 0;
    double objective = 0;
    double violation = 0;
};
/// The path of training by two points: objective, violation, and the multipliers that moved most.
Drawing steps_figure(const std::vector<StepPoint>& steps);

/// Predicted against observed, with the diagonal of perfect honesty and bars for the rows.
Drawing reliability_figure(const CalibrationReport& report, const std::string& title = {});

/// A curve of true against false positives as the threshold falls: rows of the positive class first
/// when they are the surest. From (0, 0) to (1, 1), ties in one step.
struct RocCurve {
    std::string name{};
    std::vector<double> false_positives{};
    std::vector<double> true_positives{};
    double area = 0;
};
/// Throws InvalidInput unless there are rows of both kinds and every score is a number.
RocCurve roc_curve(const std::vector<double>& scores, const std::vector<bool>& positive,
                   const std::string& name = {});
/// Of two classes that of the first; of more each against the others, by their probabilities or,
/// where the model has one decision per class, by these.
std::vector<RocCurve> roc_curves(const Model& model, const Dataset& data,
                                 const Progress& progress = {});
Drawing roc_figure(const std::vector<RocCurve>& curves);

/// What `learn_table` found; each throws InvalidInput where there is nothing to draw.
/// The error by the rows learnt from, with the deviation over samples and the baseline.
Drawing learning_curve_figure(const LearnResult& result);
/// The scores of the settings that were searched, a panel a candidate: of two axes a map (the best
/// over the others), of one a line.
Drawing tuning_figure(const std::vector<Candidate>& candidates, bool numbers);
/// Partial dependence: lines for numbers and dates, bars for levels.
Drawing effects_figure(const LearnResult& result);
Drawing importance_figure(const LearnResult& result);

struct ReportTexts {
    std::string title{};
    std::vector<std::string> commands{};  ///< that do it again
    std::string python{};                 ///< the same in Python
};

/// The data with its drift, the machines tried with the map of their settings, the judgement with
/// its pictures, the learning curve, what columns add and do, the worst mistakes with the training
/// rows that weighed most, the certificate, and how to do it again.
/// Every text of the data is escaped.
std::string learn_report(const LearnResult& result, const Dataset& data, const ReportTexts& texts);

}  // namespace chart
}  // namespace mercer
