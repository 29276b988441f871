#include "mercer/select/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"

namespace mercer {
namespace {

constexpr Words measures{std::pair{Metric::accuracy, "accuracy"},
                         std::pair{Metric::balanced_accuracy, "balanced-accuracy"},
                         std::pair{Metric::f1, "f1"},
                         std::pair{Metric::auc, "auc"},
                         std::pair{Metric::log_loss, "log-loss"},
                         std::pair{Metric::mean_squared_error, "mse"},
                         std::pair{Metric::mean_absolute_error, "mae"},
                         std::pair{Metric::r2, "r2"}};

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Rows of each class: in truth, as predicted, and both.
struct Counts {
    std::vector<double> truth;
    std::vector<double> predicted;
    std::vector<double> both;

    explicit Counts(const Judged& j)
        : truth(j.classes, 0.0), predicted(j.classes, 0.0), both(j.classes, 0.0) {
        for (std::size_t i = 0; i < j.truth.size(); ++i) {
            const auto t = static_cast<std::size_t>(j.truth[i]);
            const auto p = static_cast<std::size_t>(j.predicted[i]);
            ++truth[t];
            ++predicted[p];
            if (t == p) ++both[t];
        }
    }
};

double balanced_accuracy(const Judged& j) {
    const Counts counts(j);
    double sum = 0;
    std::size_t present = 0;
    for (std::size_t c = 0; c < j.classes; ++c) {
        if (counts.truth[c] == 0) continue;
        sum += counts.both[c] / counts.truth[c];
        ++present;
    }
    return sum / static_cast<double>(present);
}

double f1(const Judged& j) {
    const Counts counts(j);
    const auto of_class = [&](std::size_t c) {
        const double all = counts.truth[c] + counts.predicted[c];
        return all > 0 ? 2 * counts.both[c] / all : 0;
    };
    if (j.classes == 2) return of_class(j.positive);
    double sum = 0;
    std::size_t present = 0;
    for (std::size_t c = 0; c < j.classes; ++c) {
        if (counts.truth[c] + counts.predicted[c] == 0) continue;
        sum += of_class(c);
        ++present;
    }
    return sum / static_cast<double>(present);
}

/// The share of pairs (a row of each class) that the decision orders rightly, equal ones counting
/// half: from the ranks, as Mann and Whitney's statistic.
double auc(const Judged& j) {
    std::vector<std::size_t> order(j.decision.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t i) { return j.decision[i]; });
    double ranks = 0;
    double positive = 0;
    for (std::size_t first = 0; first < order.size();) {
        std::size_t last = first;
        double here = 0;
        while (last < order.size() && j.decision[order[last]] == j.decision[order[first]]) {
            here += j.truth[order[last++]] > 0 ? 1 : 0;
        }
        ranks += here * (static_cast<double>(first + last - 1) / 2 + 1);
        positive += here;
        first = last;
    }
    const double negative = static_cast<double>(order.size()) - positive;
    if (positive == 0 || negative == 0) return unknown;
    return (ranks - positive * (positive + 1) / 2) / (positive * negative);
}

double log_loss(const Judged& j) {
    double sum = 0;
    for (std::size_t i = 0; i < j.truth.size(); ++i) {
        const double p = j.probabilities(i, static_cast<std::size_t>(j.truth[i]));
        sum -= std::log(std::max(p, std::numeric_limits<double>::epsilon()));
    }
    return sum / static_cast<double>(j.truth.size());
}

double r2(const Judged& j) {
    const auto n = static_cast<double>(j.truth.size());
    const double mean = std::accumulate(j.truth.begin(), j.truth.end(), 0.0) / n;
    double error = 0;
    double spread = 0;
    for (std::size_t i = 0; i < j.truth.size(); ++i) {
        error += (j.truth[i] - j.predicted[i]) * (j.truth[i] - j.predicted[i]);
        spread += (j.truth[i] - mean) * (j.truth[i] - mean);
    }
    if (spread == 0) return error == 0 ? 1 : 0;
    return 1 - error / spread;
}

template <class Term>
double mean_over_rows(const Judged& j, const Term& term) {
    double sum = 0;
    for (std::size_t i = 0; i < j.truth.size(); ++i) sum += term(j.truth[i], j.predicted[i]);
    return sum / static_cast<double>(j.truth.size());
}

bool is_of_regression(Metric measure) {
    return measure == Metric::mean_squared_error || measure == Metric::mean_absolute_error ||
           measure == Metric::r2;
}

}  // namespace

std::string measure_name(Metric measure) {
    return std::string(measures.word(measure));
}

Metric measure_named(std::string_view name) {
    return measures.value(name, "score");
}

bool larger_is_better(Metric measure) {
    return measure != Metric::log_loss && measure != Metric::mean_squared_error &&
           measure != Metric::mean_absolute_error;
}

Metric usual_measure(Task task) {
    return is_regressor(task) ? Metric::mean_squared_error : Metric::accuracy;
}

void check_measure(Metric measure, Task task, std::size_t classes) {
    const std::string what = "the score " + measure_name(measure);
    if (is_clustering(task)) {
        throw InvalidInput("the task " + task_name(task) +
                           " cannot be searched by a score: its groups have no names to compare");
    }
    if (is_of_regression(measure) != is_regressor(task)) {
        throw InvalidInput(
            what + (is_regressor(task) ? " is for classes, and " : " is for numbers, and ") +
            task_name(task) +
            (is_regressor(task) ? " predicts numbers: use mse, mae or r2"
                                : " predicts classes: use accuracy, "
                                  "balanced-accuracy, f1, auc or log-loss"));
    }
    if (measure == Metric::auc && classes > 2) {
        throw InvalidInput(what + " needs two classes, and there are " + std::to_string(classes) +
                           "; try balanced-accuracy or f1");
    }
}

void check_positive(const std::string& positive, Metric measure) {
    if (positive.empty() || measure == Metric::f1) return;
    throw InvalidInput("positive is " + quoted(positive) + ", and the score " +
                       measure_name(measure) + " is of both classes: only f1 is of one");
}

double judge(Metric measure, const Judged& j) {
    if (j.truth.empty()) return unknown;
    switch (measure) {
        case Metric::accuracy:
            return mean_over_rows(j, [](double a, double b) { return a == b ? 1.0 : 0.0; });
        case Metric::balanced_accuracy: return balanced_accuracy(j);
        case Metric::f1: return f1(j);
        case Metric::auc: return auc(j);
        case Metric::log_loss: return log_loss(j);
        case Metric::mean_squared_error:
            return mean_over_rows(j, [](double a, double b) { return (a - b) * (a - b); });
        case Metric::mean_absolute_error:
            return mean_over_rows(j, [](double a, double b) { return std::abs(a - b); });
        case Metric::r2: return r2(j);
    }
    return unknown;
}

}  // namespace mercer
