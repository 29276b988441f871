#include "mercer/learn/multi_label.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/label_ranking.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

std::vector<LabelSets> sets_of(MatrixView<const double> labels) {
    std::vector<LabelSets> sets(labels.rows);
    for (std::size_t i = 0; i < labels.rows; ++i) {
        for (std::size_t k = 0; k < labels.columns; ++k) {
            const double y = labels(i, k);
            if (y != 0 && y != 1) {
                throw InvalidInput("label " + std::to_string(k + 1) + " of row " +
                                   std::to_string(i + 1) + " is " + format_number(y) +
                                   "; a label is 1 (had) or 0");
            }
            (y == 1 ? sets[i].had : sets[i].not_had).push_back(k);
        }
    }
    return sets;
}

/// The threshold between scores that errs least on one row, in the middle of where it may lie.
double best_threshold(const LabelSets& sets, const Matrix<double>& f, std::size_t i) {
    std::vector<double> scores;
    for (std::size_t q = 0; q < f.rows(); ++q) scores.push_back(f(q, i));
    std::ranges::sort(scores);
    double best = scores.front() - 1;
    auto fewest = std::numeric_limits<std::size_t>::max();
    for (std::size_t cut = 0; cut <= scores.size(); ++cut) {
        const double t = cut == 0               ? scores.front() - 1
                         : cut == scores.size() ? scores.back() + 1
                                                : (scores[cut - 1] + scores[cut]) / 2;
        std::size_t wrong = 0;
        for (const std::size_t q : sets.had) wrong += f(q, i) <= t ? 1 : 0;
        for (const std::size_t q : sets.not_had) wrong += f(q, i) > t ? 1 : 0;
        if (wrong < fewest) {
            fewest = wrong;
            best = t;
        }
    }
    return best;
}

/// Least squares of the best thresholds on the scores and 1, with a trace of ridge.
std::vector<double> fit_threshold(const std::vector<LabelSets>& sets, const Matrix<double>& f) {
    const std::size_t size = f.rows() + 1;
    Matrix<double> normal(size, size);
    Matrix<double> right(1, size);
    std::vector<double> row(size, 1.0);
    for (std::size_t i = 0; i < sets.size(); ++i) {
        for (std::size_t q = 0; q < f.rows(); ++q) row[q] = f(q, i);
        const double t = best_threshold(sets[i], f, i);
        for (std::size_t a = 0; a < size; ++a) {
            for (std::size_t b = 0; b < size; ++b) normal(a, b) += row[a] * row[b];
            right(0, a) += row[a] * t;
        }
    }
    double trace = 0;
    for (std::size_t a = 0; a < size; ++a) trace += normal(a, a);
    for (std::size_t a = 0; a < size; ++a) normal(a, a) += 1e-8 * (trace + 1);
    if (cholesky(normal.view())) cholesky_solve(std::as_const(normal).view(), right.view());
    return right.values();
}

/// Half the squares of how far β can move: β_q of a row changes by no more than the bounds C/pairs
/// of all pairs that label q is in.
double reach_of(const std::vector<LabelSets>& sets, std::span<const double> c) {
    double squares = 0;
    for (std::size_t i = 0; i < sets.size(); ++i) {
        if (sets[i].pairs() == 0) continue;
        const auto had = static_cast<double>(sets[i].had.size());
        const auto not_had = static_cast<double>(sets[i].not_had.size());
        const double bound = c[i] / sets[i].pairs();
        squares +=
            had * (bound * not_had) * (bound * not_had) + not_had * (bound * had) * (bound * had);
    }
    return squares / 2;
}

void check(const MultiLabelSettings& s, std::size_t rows, MatrixView<const double> labels,
           const std::vector<std::string>& names) {
    if (labels.columns == 0) {
        throw InvalidInput("the task multilabel needs labels, one column of 0 and 1 each");
    }
    if (labels.rows != rows || rows == 0) {
        throw InvalidInput("there are " + std::to_string(labels.rows) + " rows of labels for " +
                           std::to_string(rows) + " rows of data");
    }
    if (labels.columns < 2) throw InvalidInput("there must be two labels or more to rank");
    if (!names.empty() && names.size() != labels.columns) {
        throw InvalidInput("there are " + std::to_string(names.size()) + " names for " +
                           std::to_string(labels.columns) + " labels");
    }
    if (rows > std::size_t{1} << 20 || rows * rows * sizeof(double) > s.common.memory_bytes) {
        throw InvalidInput("the kernel matrix of " + std::to_string(rows) +
                           " rows does not fit the memory allowed; raise it or take fewer rows");
    }
}

/// These rows of a matrix.
Matrix<double> rows_of(MatrixView<const double> from, const std::vector<std::size_t>& rows) {
    Matrix<double> result(rows.size(), from.columns);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::ranges::copy(from.row(rows[i]), result.row(i).begin());
    }
    return result;
}

Model learn(const MultiLabelSettings& s, const Dataset& data, MatrixView<const double> all) {
    const Sample sample = take_sample(Task::multi_label, data, s.common);
    const Matrix<double> labels = rows_of(all, sample.kept);
    const std::vector<LabelSets> sets = sets_of(labels.view());
    if (std::ranges::none_of(sets, [](const LabelSets& set) { return set.pairs() > 0; })) {
        throw InvalidInput("every row has all labels or none: there is no ranking to learn");
    }
    const auto gram = make_gram<double>(s.bias ? s.common.kernel + 1.0 : s.common.kernel, sample.x,
                                        sample.data.feature_names, s.common.progress);
    Matrix<double> k(sample.size(), sample.size());
    gram.matrix(k.view(), s.common.progress);
    std::vector<double> bounds;
    for (std::size_t i = 0; i < sample.size(); ++i) bounds.push_back(s.C * sample.weight(i));
    const std::size_t room = s.common.memory_bytes / sizeof(double);
    LabelRanking ranking(k, sets, labels.columns(), bounds,
                         room - std::min(room, k.values().size()));
    bool told_to_end = false;
    const auto goes_on = [&] {
        told_to_end = told_to_end ||
                      !keep_going(s.common.progress, {.task = "ranking labels", .fraction = -1});
        return !told_to_end;
    };
    Report report;
    report.rows = sample.size();
    report.status = FitStatus::iteration_limit;
    while (report.iterations < s.passes) {
        ranking.pass(goes_on);
        ++report.iterations;
        const auto [primal, dual] = ranking.values();
        report.primal = primal;
        report.dual = dual;
        set_gap(report);
        if (report.relative_gap <= s.tolerance) {
            report.status = FitStatus::converged;
            break;
        }
        if (!goes_on()) {
            report.status = FitStatus::cancelled;
            break;
        }
    }
    CurvatureTest curvature(gram.kernel(), sample.x, Directions::any);
    settle_bracket(report, curvature({}, report.status), reach_of(sets, bounds));
    ModelParts model = begin_model(Task::multi_label, sample, s.common);
    model.double_precision = true;
    model.trained.C = s.C;
    model.trained.bias = s.bias;
    model.trained.tolerance = s.tolerance;
    set_expansion(model, sample, gram.kernel(), ranking.beta(),
                  std::vector<double>(labels.columns(), 0.0));
    Matrix<double> threshold(1, labels.columns() + 1);
    threshold.values() = fit_threshold(sets, ranking.values_on_rows());
    model.extras.set(Threshold(std::move(threshold)));
    report.free_support_vectors = model.expansion.size();
    model.reports = {std::move(report)};
    return Model(std::move(model));
}

const Describe<MultiLabelSettings>& described() {
    static const auto settings = [] {
        using S = MultiLabelSettings;
        Describe<S> d;
        Setting& cost = d.add(&S::C, "C", "penalty of wrong orders", Range::above(0));
        cost.flag = "C,cost";
        cost.tunable = true;
        d.add(&S::bias, "bias", "add 1 to the kernel");
        d.add(&S::tolerance, "tolerance", "stop at this relative gap", Range::above(0)).flag =
            "tol";
        d.add(&S::passes, "passes", "over the rows, at most", Range::at_least(1));
        return d;
    }();
    return settings;
}

}  // namespace

Model MultiLabel::fit(const Dataset& data, MatrixView<const double> labels,
                      std::vector<std::string> names) const {
    described().check(settings_);
    check(settings_, data.size(), labels, names);
    const auto fit_some = [&](const FitSettings& common, const std::vector<std::size_t>* rows) {
        MultiLabelSettings own = settings_;
        own.common = common;
        if (!rows) return learn(own, data, labels);
        return learn(own, data.select(*rows), rows_of(labels, *rows).view());
    };
    ModelParts model = patient_fit_of(task(), settings_.common, data, fit_some).parts();
    model.target_names = std::move(names);
    return Model(std::move(model));
}

void Threshold::check(const ModelParts& model, const std::string& place) const {
    const std::size_t wanted = model.expansion.outputs() + 1;
    if (coefficients.rows() == 1 && coefficients.columns() == wanted) return;
    throw InvalidInput(place + ": the threshold of " + std::to_string(wanted - 1) +
                       " labels must be 1 x " + std::to_string(wanted) + ", found " +
                       std::to_string(coefficients.rows()) + " x " +
                       std::to_string(coefficients.columns()));
}

Matrix<double> Model::sets_of(MatrixView<const double> decisions) const {
    const Threshold* threshold = extras().find<Threshold>();
    if (!is_multi_label(task()) || !threshold) {
        throw InvalidInput("a model of the task " + task_name(task()) +
                           " has no sets of labels; train one of the task multilabel");
    }
    const auto c = threshold->coefficients.row(0);
    Matrix<double> result(decisions.rows, decisions.columns);
    for (std::size_t i = 0; i < decisions.rows; ++i) {
        const auto row = decisions.row(i);
        const double t = std::inner_product(row.begin(), row.end(), c.begin(), c.back());
        for (std::size_t k = 0; k < row.size(); ++k) result(i, k) = row[k] > t ? 1 : 0;
    }
    return result;
}

MultiLabelScores multi_label_scores(const Model& model, const Rows& x,
                                    MatrixView<const double> truth) {
    if (truth.rows != x.size() || truth.columns != model.expansion().outputs() || x.size() == 0) {
        throw InvalidInput("the truth must have a row for each row and a column for each label");
    }
    const std::vector<LabelSets> sets = sets_of(truth);
    const Matrix<double> f = model.decision(x);
    const Matrix<double> found = model.sets_of(f.view());
    MultiLabelScores result;
    double ranked = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t q = 0; q < truth.columns; ++q) {
            result.hamming_loss += found(i, q) != truth(i, q) ? 1 : 0;
        }
        const LabelSets& s = sets[i];
        if (s.pairs() == 0) continue;
        ++ranked;
        double wrong = 0, precision = 0;
        for (const std::size_t a : s.had) {
            // Labels had, and all labels, that rank no lower than this one.
            double above_had = 0, above = 0;
            for (const std::size_t b : s.not_had) wrong += f(i, b) >= f(i, a) ? 1 : 0;
            for (const std::size_t b : s.had) above_had += f(i, b) >= f(i, a) ? 1 : 0;
            for (std::size_t b = 0; b < f.columns(); ++b) above += f(i, b) >= f(i, a) ? 1 : 0;
            precision += above_had / above;
        }
        result.ranking_loss += wrong / s.pairs();
        result.average_precision += precision / static_cast<double>(s.had.size());
        const auto first = std::ranges::max_element(f.row(i)) - f.row(i).begin();
        result.one_error += truth(i, static_cast<std::size_t>(first)) == 1 ? 0 : 1;
    }
    result.hamming_loss /= static_cast<double>(x.size() * truth.columns);
    for (double* value : {&result.ranking_loss, &result.one_error, &result.average_precision}) {
        *value /= std::max(ranked, 1.0);
    }
    return result;
}

MachineEntry multi_label_entry() {
    return described().entry({.task = Task::multi_label,
                              .name = "multilabel",
                              .family = "ranking",
                              .learns = Learns::label_sets,
                              .about = "rows with several labels each, ranked and cut",
                              .certified = true,
                              .command = "multilabel",
                              .extras = {extra_kind<Threshold>("threshold", true)}},
                             multi_label);
}

}  // namespace mercer
