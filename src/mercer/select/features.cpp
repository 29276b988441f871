#include "mercer/select/features.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/select/cross_validation.hpp"
#include "mercer/select/detail/evaluation.hpp"

namespace mercer {
namespace {

constexpr std::size_t most_columns = 100'000;

Matrix<double> dense_values(const Rows& x) {
    Matrix<double> values(x.size(), x.columns());
    for (std::size_t i = 0; i < x.size(); ++i) x.copy_row(i, values.row(i));
    return values;
}

/// These numbers with the objects that the rows have beside theirs.
Rows rows_of(const Matrix<double>& values, const Rows& like = {}) {
    const Rows rows = Rows::dense(values.values(), values.columns());
    if (like.objects().empty()) return rows;
    return rows.with_objects({like.objects().begin(), like.objects().end()});
}

void check(const SvmSettings& svm, std::size_t keep, const Dataset& data) {
    if (svm.task != Task::svc && svm.task != Task::nu_svc) {
        throw InvalidInput("features are eliminated by svc or nu-svc, not " + task_name(svm.task));
    }
    if (data.columns() == 0 || data.columns() > most_columns) {
        throw InvalidInput("features are eliminated among 1 to 100000 columns, and there are " +
                           std::to_string(data.columns()));
    }
    if (keep < 1 || keep > data.columns()) {
        throw InvalidInput("keep = " + std::to_string(keep) + " must be from 1 to the " +
                           std::to_string(data.columns()) + " columns");
    }
}

/// Σ over outputs of β'Kβ.
double total_norm(const Kernel& kernel, const Matrix<double>& points,
                  const Matrix<double>& coefficients) {
    const auto gram = make_gram<double>(kernel, rows_of(points));
    double sum = 0;
    std::vector<double> product(points.rows());
    for (std::size_t o = 0; o < coefficients.rows(); ++o) {
        const auto beta = coefficients.row(o);
        std::ranges::fill(product, 0.0);
        gram.add_product(gram.reference(), gram.reference(), beta, product);
        sum += std::inner_product(beta.begin(), beta.end(), product.begin(), 0.0);
    }
    return sum;
}

/// How ‖w‖² changes without each of the columns left, at fixed α.
std::vector<double> criterion(const Model& model, const std::vector<std::size_t>& left) {
    const Expansion& e = model.expansion();
    std::vector<double> result;
    if (is_linear(e.kernel)) {
        const Matrix<double> w = weight_vectors(e);
        for (const std::size_t j : left) {
            double sum = 0;
            for (std::size_t o = 0; o < w.rows(); ++o) sum += w(o, j) * w(o, j);
            result.push_back(sum);
        }
        return result;
    }
    const Matrix<double> points = dense_values(e.points);
    const double whole = total_norm(e.kernel, points, e.coefficients);
    result.resize(left.size());
    parallel_for(left.size(), [&](std::size_t k) {
        Matrix<double> without = points;
        for (std::size_t i = 0; i < without.rows(); ++i) without(i, left[k]) = 0;
        result[k] = std::abs(whole - total_norm(e.kernel, without, e.coefficients));
    });
    return result;
}

/// How well the machine does on so many features.
EliminationRound round_of(const SvmSettings& svm, const Model& model, const Dataset& data,
                          std::size_t features, std::size_t folds, std::uint64_t seed) {
    EliminationRound round{.features = features};
    round.training_accuracy = score(svm.task, model.predict_labels(data.x), data.y).accuracy;
    if (folds > 0) round.cv_accuracy = cross_validate(svm, data, folds, seed).score.accuracy;
    return round;
}

/// |w_j|, over all outputs.
std::vector<double> weight_lengths(const Model& model) {
    const Matrix<double> w = weight_vectors(model.expansion());
    std::vector<double> lengths(w.columns());
    for (std::size_t j = 0; j < w.columns(); ++j) {
        double sum = 0;
        for (std::size_t o = 0; o < w.rows(); ++o) sum += w(o, j) * w(o, j);
        lengths[j] = std::sqrt(sum);
    }
    return lengths;
}

/// One step of zero_norm_features: scale ← scale |w|, the largest 1 again, and what has become
/// nothing is 0 but for the `keep` heaviest. Returns the largest relative change, and appends the
/// columns that went, lightest first.
double rescale(std::vector<double>& scale, const std::vector<double>& w, std::size_t keep,
               std::vector<std::size_t>& gone) {
    constexpr double nothing = 1e-6;
    std::vector<double> next(scale.size());
    for (std::size_t j = 0; j < scale.size(); ++j) next[j] = scale[j] * w[j];
    const double largest = *std::ranges::max_element(next);
    if (!(largest > 0)) return 0;
    std::vector<std::size_t> left;
    for (std::size_t j = 0; j < scale.size(); ++j) {
        if (scale[j] > 0) left.push_back(j);
    }
    std::ranges::stable_sort(left, {}, [&](std::size_t j) { return next[j]; });
    double change = 0;
    for (std::size_t k = 0; k < left.size(); ++k) {
        const std::size_t j = left[k];
        double value = next[j] / largest;
        if (value < nothing && left.size() - k > keep) {
            value = 0;
            gone.push_back(j);
        }
        // Of those that have to stay none may vanish.
        if (left.size() - k <= keep) value = std::max(value, nothing);
        change = std::max(change, std::abs(value - scale[j]) / scale[j]);
        scale[j] = value;
    }
    return change;
}

}  // namespace

Elimination eliminate_features(const EliminationSettings& s, const Dataset& data) {
    check(s.svm, s.keep, data);
    require_range("share", s.share, s.share >= 0 && s.share < 1, "at least 0 and less than 1");
    require_numbers_only(data.x, "the elimination of features");
    Dataset own = data;
    // Scaled once: afterwards a 0 has to stay one.
    Matrix<double> values = dense_values(Scaling::fit(s.svm.common.scaling, data.x).apply(data.x));
    SvmSettings svm = s.svm;
    svm.common.scaling = {};
    own.x = rows_of(values);
    svm.common.kernel = resolve(svm.common.kernel, own.x, data.feature_names);
    std::vector<std::size_t> left(data.columns());
    std::iota(left.begin(), left.end(), std::size_t{0});
    Elimination result;
    std::vector<std::size_t> gone;
    while (true) {
        own.x = rows_of(values);
        const Model model = Svm(svm).fit(own);
        result.rounds.push_back(round_of(svm, model, own, left.size(), s.folds, s.seed));
        const std::vector<double> loss = criterion(model, left);
        std::vector<std::size_t> order(left.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [&](std::size_t k) { return loss[k]; });
        const bool last = left.size() <= s.keep;
        const auto wanted = static_cast<std::size_t>(s.share * static_cast<double>(left.size()));
        const std::size_t count =
            last ? left.size() : std::clamp<std::size_t>(wanted, 1, left.size() - s.keep);
        for (std::size_t k = 0; k < count; ++k) gone.push_back(left[order[k]]);
        if (last) break;
        for (std::size_t k = 0; k < count; ++k) {
            for (std::size_t i = 0; i < values.rows(); ++i) values(i, left[order[k]]) = 0;
        }
        std::erase_if(left,
                      [&](std::size_t j) { return std::ranges::find(gone, j) != gone.end(); });
        const double done = static_cast<double>(gone.size()) / static_cast<double>(data.columns());
        if (!keep_going(s.progress, {.task = "features", .fraction = done})) throw Cancelled();
    }
    result.ranking.assign(gone.rbegin(), gone.rend());
    return result;
}

ZeroNorm zero_norm_features(const ZeroNormSettings& s, const Dataset& data) {
    check(s.svm, s.keep, data);
    require_numbers_only(data.x, "the zero norm");
    require_range("rounds", static_cast<double>(s.rounds), s.rounds >= 1, "at least 1");
    if (!is_linear(s.svm.common.kernel)) {
        throw InvalidInput(
            "the zero norm counts the weights of columns, which only a linear "
            "kernel has; " +
            s.svm.common.kernel.text() + " is another: `method=elimination` takes any");
    }
    const Matrix<double> values =
        dense_values(Scaling::fit(s.svm.common.scaling, data.x).apply(data.x));
    SvmSettings svm = s.svm;
    svm.common.scaling = {};
    Dataset own = data;
    ZeroNorm result;
    result.scale.assign(data.columns(), 1.0);
    std::vector<std::size_t> gone;
    for (std::size_t round = 0; round < s.rounds && !result.converged; ++round) {
        Matrix<double> scaled = values;
        for (std::size_t i = 0; i < scaled.rows(); ++i) {
            for (std::size_t j = 0; j < scaled.columns(); ++j) scaled(i, j) *= result.scale[j];
        }
        own.x = rows_of(scaled);
        const Model model = Svm(svm).fit(own);
        result.rounds.push_back(
            round_of(svm, model, own, data.columns() - gone.size(), s.folds, s.seed));
        result.converged = rescale(result.scale, weight_lengths(model), s.keep, gone) < 1e-3;
        const double done = static_cast<double>(round + 1) / static_cast<double>(s.rounds);
        if (!keep_going(s.progress, {.task = "features", .fraction = done})) throw Cancelled();
    }
    for (std::size_t j = 0; j < data.columns(); ++j) {
        if (result.scale[j] > 0) result.selected.push_back(j);
    }
    std::ranges::stable_sort(result.selected, std::ranges::greater(),
                             [&](std::size_t j) { return result.scale[j]; });
    result.ranking = result.selected;
    result.ranking.insert(result.ranking.end(), gone.rbegin(), gone.rend());
    return result;
}

std::vector<Importance> permutation_importance(const Model& model, const Dataset& data,
                                               const ImportanceSettings& settings) {
    const Metric measure = settings.measure.value_or(usual_measure(model.task()));
    check_measure(measure, model.task(), model.classes());
    if (measure == Metric::log_loss) {
        throw InvalidInput("importance is measured by predictions: log-loss needs probabilities");
    }
    if (data.y.empty()) throw InvalidInput("importance needs labels, and the data has none");
    if (data.size() < 2) throw InvalidInput("importance needs two rows or more");
    if (data.columns() > most_columns || settings.repeats == 0) {
        throw InvalidInput("importance is for at most 100000 columns and at least one repeat");
    }
    const Truth truth(model.task(), data, settings.positive);
    check_positive(settings.positive, measure);
    std::vector<std::size_t> all(data.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const Predictor predictor(model);
    const auto judged = [&](const Rows& x) {
        const double value =
            judge(measure, truth.judged(model.parts(), predictor.decision(x), all));
        return larger_is_better(measure) ? value : -value;
    };
    Matrix<double> values = dense_values(data.x);
    const double whole = judged(rows_of(values, data.x));
    std::vector<Importance> result(data.columns());
    for (std::size_t j = 0; j < data.columns(); ++j) {
        std::vector<double> column(data.size());
        for (std::size_t i = 0; i < data.size(); ++i) column[i] = values(i, j);
        std::vector<double> drops;
        for (std::size_t r = 0; r < settings.repeats; ++r) {
            std::vector<double> shuffled = column;
            Random(settings.seed, j * settings.repeats + r).shuffle(std::span(shuffled));
            for (std::size_t i = 0; i < data.size(); ++i) values(i, j) = shuffled[i];
            drops.push_back(whole - judged(rows_of(values, data.x)));
        }
        for (std::size_t i = 0; i < data.size(); ++i) values(i, j) = column[i];
        const auto n = static_cast<double>(drops.size());
        result[j].drop = std::accumulate(drops.begin(), drops.end(), 0.0) / n;
        double squares = 0;
        for (const double d : drops) squares += (d - result[j].drop) * (d - result[j].drop);
        result[j].deviation = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
        const double done = static_cast<double>(j + 1) / static_cast<double>(data.columns());
        if (!keep_going(settings.progress, {.task = "importance", .fraction = done})) {
            throw Cancelled();
        }
    }
    return result;
}

}  // namespace mercer
