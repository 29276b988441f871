#include "mercer/learn/multi_label.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

/// Labels a row has, and those it has not.
struct LabelSets {
    std::vector<std::size_t> had{};
    std::vector<std::size_t> not_had{};
    double pairs() const { return static_cast<double>(had.size() * not_had.size()); }
};

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

/// Coordinate ascent: α of every pair of labels of every row.
class Ranking {
   public:
    Ranking(const Matrix<double>& k, const std::vector<LabelSets>& sets, std::size_t labels,
            double c)
        : k_(k), sets_(sets), c_(c), beta_(labels, k.rows()), f_(labels, k.rows()) {
        for (const LabelSets& s : sets) {
            alpha_.emplace_back(s.had.size() * s.not_had.size(), 0.0);
        }
    }

    void pass() {
        for (std::size_t i = 0; i < sets_.size(); ++i) visit(i);
    }

    struct Values {
        double primal = 0;
        double dual = 0;
    };
    Values values() const {
        double norm = 0;
        for (std::size_t q = 0; q < beta_.rows(); ++q) {
            norm += std::inner_product(beta_.row(q).begin(), beta_.row(q).end(), f_.row(q).begin(),
                                       0.0);
        }
        Values v{.primal = norm / 2, .dual = -norm / 2};
        for (std::size_t i = 0; i < sets_.size(); ++i) {
            if (alpha_[i].empty()) continue;
            for (const std::size_t a : sets_[i].had) {
                for (const std::size_t b : sets_[i].not_had) {
                    const double xi = 1 - (f_(a, i) - f_(b, i));
                    if (xi > 0) v.primal += c_ / sets_[i].pairs() * xi;
                }
            }
            v.dual += std::accumulate(alpha_[i].begin(), alpha_[i].end(), 0.0);
        }
        return v;
    }
    const Matrix<double>& beta() const { return beta_; }
    const Matrix<double>& values_on_rows() const { return f_; }

   private:
    void visit(std::size_t i) {
        const double own = k_(i, i);
        if (alpha_[i].empty() || !(own > 0)) return;
        const double bound = c_ / sets_[i].pairs();
        std::vector<double> change(beta_.rows(), 0.0);
        std::size_t at = 0;
        for (const std::size_t a : sets_[i].had) {
            for (const std::size_t b : sets_[i].not_had) {
                double& alpha = alpha_[i][at++];
                const double slope = 1 - (f_(a, i) - f_(b, i)) - own * (change[a] - change[b]);
                const double next = std::clamp(alpha + slope / (2 * own), 0.0, bound);
                change[a] += next - alpha;
                change[b] -= next - alpha;
                alpha = next;
            }
        }
        const auto row = k_.row(i);
        for (std::size_t q = 0; q < change.size(); ++q) {
            if (change[q] == 0) continue;
            beta_(q, i) += change[q];
            const auto f = f_.row(q);
            for (std::size_t j = 0; j < row.size(); ++j) f[j] += change[q] * row[j];
        }
    }

    const Matrix<double>& k_;
    const std::vector<LabelSets>& sets_;
    double c_;
    std::vector<std::vector<double>> alpha_{};
    Matrix<double> beta_;
    Matrix<double> f_;
};

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

/// Whether the bracket holds under this kernel: β_q of a row changes by no more than the bounds
/// C/pairs of all pairs that label q is in.
void settle(MultiLabelModel& model, const Kernel& kernel, const Rows& x,
            const std::vector<LabelSets>& sets, double c) {
    double squares = 0;
    for (const LabelSets& s : sets) {
        if (s.pairs() == 0) continue;
        const auto had = static_cast<double>(s.had.size());
        const auto not_had = static_cast<double>(s.not_had.size());
        const double bound = c / s.pairs();
        squares +=
            had * (bound * not_had) * (bound * not_had) + not_had * (bound * had) * (bound * had);
    }
    Report report;
    report.primal = model.primal;
    report.dual = model.dual;
    set_gap(report);
    settle_bracket(report, CurvatureTest(kernel, x, Directions::any)(), squares / 2);
    model.convexity = report.convexity;
    model.primal = report.primal;
    model.relative_gap = report.relative_gap;
}

void check(const MultiLabelSettings& s, const Rows& x, MatrixView<const double> labels) {
    require_range("C", s.C, s.C > 0, "greater than 0");
    require_range("tolerance", s.tolerance, s.tolerance > 0, "greater than 0");
    require_finite(x);
    if (labels.rows != x.size() || x.size() == 0) {
        throw InvalidInput("there are " + std::to_string(labels.rows) + " rows of labels for " +
                           std::to_string(x.size()) + " rows of data");
    }
    if (labels.columns < 2) throw InvalidInput("there must be two labels or more to rank");
    const std::size_t n = x.size();
    if (n > std::size_t{1} << 20 || n * n * sizeof(double) > s.common.memory_bytes) {
        throw InvalidInput("the kernel matrix of " + std::to_string(n) +
                           " rows does not fit the memory allowed; raise it or take fewer rows");
    }
}

}  // namespace

Matrix<double> MultiLabelModel::scores(const Rows& x) const {
    return Evaluator(expansion, true)(scaling.apply(x));
}

Matrix<double> MultiLabelModel::predict(const Rows& x) const {
    Matrix<double> result = scores(x);
    for (std::size_t i = 0; i < result.rows(); ++i) {
        const auto row = result.row(i);
        const double t =
            std::inner_product(row.begin(), row.end(), threshold.begin(), threshold.back());
        for (double& value : row) value = value > t ? 1 : 0;
    }
    return result;
}

MultiLabelModel fit_multi_label(const MultiLabelSettings& s, const Rows& x,
                                MatrixView<const double> labels) {
    check(s, x, labels);
    const std::vector<LabelSets> sets = sets_of(labels);
    if (std::ranges::none_of(sets, [](const LabelSets& set) { return set.pairs() > 0; })) {
        throw InvalidInput("every row has all labels or none: there is no ranking to learn");
    }
    MultiLabelModel model;
    model.scaling = Scaling::fit(s.common.scaling, x);
    const Rows scaled = model.scaling.apply(x);
    const Gram<double> gram(s.bias ? s.common.kernel + 1.0 : s.common.kernel, scaled);
    Matrix<double> k(x.size(), x.size());
    gram.matrix(k.view(), s.common.progress);
    Ranking ranking(k, sets, labels.columns, s.C);
    while (model.passes < s.passes && !model.converged) {
        ranking.pass();
        ++model.passes;
        const auto [primal, dual] = ranking.values();
        model.primal = primal;
        model.dual = dual;
        model.relative_gap = primal > 0 ? (primal - dual) / primal : 0;
        model.converged = model.relative_gap <= s.tolerance;
        if (!keep_going(s.common.progress, {.task = "ranking labels", .fraction = -1})) break;
    }
    settle(model, gram.kernel(), scaled, sets, s.C);
    model.threshold = fit_threshold(sets, ranking.values_on_rows());
    model.expansion = {.kernel = gram.kernel(),
                       .points = scaled,
                       .coefficients = ranking.beta(),
                       .bias = std::vector<double>(labels.columns, 0.0)};
    return model;
}

MultiLabelScores multi_label_scores(const MultiLabelModel& model, const Rows& x,
                                    MatrixView<const double> truth) {
    if (truth.rows != x.size() || truth.columns != model.labels() || x.size() == 0) {
        throw InvalidInput("the truth must have a row for each row and a column for each label");
    }
    const std::vector<LabelSets> sets = sets_of(truth);
    const Matrix<double> f = model.scores(x);
    const Matrix<double> found = model.predict(x);
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

}  // namespace mercer
