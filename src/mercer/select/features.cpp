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
#include "mercer/learn/predictor.hpp"
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

void check(const EliminationSettings& s, const Dataset& data) {
    if (s.svm.task != Task::svc && s.svm.task != Task::nu_svc) {
        throw InvalidInput("features are eliminated by svc or nu-svc, not " +
                           task_name(s.svm.task));
    }
    require_range("share", s.share, s.share >= 0 && s.share < 1, "at least 0 and less than 1");
    if (data.columns() == 0 || data.columns() > most_columns) {
        throw InvalidInput("features are eliminated among 1 to 100000 columns, and there are " +
                           std::to_string(data.columns()));
    }
    if (s.keep < 1 || s.keep > data.columns()) {
        throw InvalidInput("keep = " + std::to_string(s.keep) + " must be from 1 to the " +
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

}  // namespace

Elimination eliminate_features(const EliminationSettings& s, const Dataset& data) {
    check(s, data);
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
        EliminationRound round{.features = left.size()};
        round.training_accuracy = score(svm.task, model.predict_labels(own.x), own.y).accuracy;
        if (s.folds > 0) {
            round.cv_accuracy = cross_validate(svm, own, s.folds, s.seed).score.accuracy;
        }
        result.rounds.push_back(round);
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
