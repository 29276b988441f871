#include "mercer/learn/groups/kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/groups/detail/kernel_lloyd.hpp"
#include "mercer/learn/groups/detail/kmeans_span.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"

namespace mercer {
namespace {

/// From so many rows on starts are tried on some of them where their kernel values do not fit.
constexpr std::size_t many_rows = 16'384;

/// Means of features take this much memory at most.
constexpr std::size_t most_mean_bytes = std::size_t{1} << 28;

/// The features behind the kernel, where products of all rows with all means have fewer terms than
/// there are pairs of rows.
template <class T>
std::optional<ExplicitRows<T>> useful_features(const Gram<T>& gram, std::size_t clusters) {
    auto rows = gram.explicit_rows(gram.reference(), Columns::all());
    if (!rows || rows->columns > most_mean_bytes / sizeof(double) / clusters) return std::nullopt;
    const auto n = static_cast<double>(gram.size());
    const auto products = static_cast<double>(rows->values.size() * clusters);
    return products <= n * n ? std::move(rows) : std::nullopt;
}

/// With a linear kernel a centre is a point of input space.
void collapse(Expansion& e) {
    Expansion raw = e;
    raw.kernel = linear();
    Matrix<double> centres = weight_vectors(raw);  // of 2 μ
    for (double& v : centres.values()) v /= 2;
    e.points = Rows::dense(std::move(centres.values()), e.points.columns());
    e.coefficients = Matrix<double>(e.outputs(), e.outputs());
    for (std::size_t c = 0; c < e.outputs(); ++c) e.coefficients(c, c) = 2;
}

/// What the starts came to: the best of them, and how all went.
struct Starts {
    Grouping best{};
    std::size_t number = 0;  ///< of the best
    std::size_t passes = 0;
    FitStatus status = FitStatus::converged;
};

template <class T>
Starts best_start(KernelLloyd<T>& lloyd, std::size_t count) {
    Starts starts;
    Grouping& best = starts.best;
    for (std::size_t number = 0; number < count; ++number) {
        Grouping g;
        try {
            g = lloyd.start(number);
        } catch (const Cancelled&) {
            if (best.cluster.empty()) throw;
            starts.status = FitStatus::cancelled;
            break;
        }
        starts.passes += g.history.size();
        const bool stop = g.status == FitStatus::cancelled || g.status == FitStatus::time_limit;
        if (stop) starts.status = g.status;
        if (best.cluster.empty() || g.objective < best.objective) {
            best = std::move(g);
            starts.number = number;
        }
        if (stop) break;
    }
    return starts;
}

/// Rows, drawn evenly, on which starts are tried where the values of all do not fit: a quarter of
/// what does, so that all starts together cost less than one pass over the whole. None where there
/// are few rows.
std::vector<std::size_t> rows_to_try(const KMeansSettings& s, std::size_t n, std::size_t entry) {
    const double room = static_cast<double>(s.common.memory_bytes) / static_cast<double>(entry);
    const auto count = static_cast<std::size_t>(std::sqrt(room) / 2);
    if (n < many_rows || count < 100 * s.clusters || 4 * count > n) return {};
    std::vector<std::size_t> rows(n);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    Random(s.common.seed, s.starts).shuffle(std::span(rows));
    rows.resize(count);
    std::ranges::sort(rows);
    return rows;
}

/// Of each group with each row, as many as the model has coefficients. Throws InvalidInput where
/// they are more than may be held.
std::size_t bytes_of_sums(const KMeansSettings& s, std::size_t rows) {
    const std::size_t most = s.common.memory_bytes / sizeof(double) / s.clusters;
    if (rows <= most) return sizeof(double) * s.clusters * rows;
    const double bytes =
        sizeof(double) * static_cast<double>(s.clusters) * static_cast<double>(rows);
    const auto needed = static_cast<std::size_t>(bytes / 0x1p20) + 1;
    throw InvalidInput(std::to_string(s.clusters) + " groups of " + std::to_string(rows) +
                       " rows take " + std::to_string(needed) + " MiB, and the memory setting is " +
                       std::to_string(s.common.memory_bytes >> 20) +
                       " MiB; raise `memory_bytes`, take fewer `clusters`, or learn in the span "
                       "of some rows (`approximate`)");
}

template <class T>
void train(const KMeansSettings& s, const Sample& sample, ModelParts& model) {
    const Run run = s.common.run();
    const auto gram =
        make_gram<T>(s.common.kernel, sample.x, sample.data.feature_names, s.common.progress);
    auto features = useful_features(gram, s.clusters);
    const bool by_features = features.has_value();
    const std::size_t sums = bytes_of_sums(s, sample.size());
    const std::size_t n = sample.size();
    const OperatorRequest request{.reuse = by_features ? Reuse::none : Reuse::whole,
                                  .memory_bytes = s.common.memory_bytes - sums,
                                  .progress = s.common.progress};
    const std::size_t kept = request.memory_bytes / sizeof(T) / n;  // rows of values
    const auto tried = by_features ? std::vector<std::size_t>{} : rows_to_try(s, n, sizeof(T));
    // Where values cannot be kept each pair is computed once for the first sums, and rows that move
    // later seldom move twice. Of narrow kernels an operator knows which values are nothing.
    const bool few_kept = tried.empty() ? n / 2 > kept : n > kept;
    const bool by_pairs = !by_features && few_kept && !gram.is_local(gram.reference());
    OperatorRequest whole = request;
    if (by_pairs) whole.reuse = Reuse::none;
    const auto op = make_operator(gram, whole);
    std::vector<double> weights(n);
    for (std::size_t i = 0; i < n; ++i) weights[i] = sample.weight(i);
    auto lloyd = std::make_unique<KernelLloyd<T>>(s, run, weights, *op, std::move(features),
                                                  by_pairs ? std::optional(gram) : std::nullopt);
    std::uint64_t evaluations = 0;
    Starts starts;
    if (tried.empty()) {
        starts = best_start(*lloyd, s.starts);
    } else {
        const auto few = make_operator(gram, gram.select(gram.reference(), tried), request);
        std::vector<double> own;
        for (const std::size_t i : tried) own.push_back(weights[i]);
        KernelLloyd<T> trial(s, run, own, *few);
        starts = best_start(trial, s.starts);
        evaluations = few->evaluations();
        starts.best = lloyd->start_from(s.starts - 1, tried, starts.best.cluster);
        starts.passes += starts.best.history.size();
    }
    evaluations += lloyd->evaluations();
    lloyd.reset();  // its sums are as large as the coefficients
    const Grouping& best = starts.best;
    std::vector<double> square = best.square;
    const std::vector<double>& weight = best.weight;
    Matrix<double> coefficients(s.clusters, sample.size());
    for (std::size_t i = 0; i < sample.size(); ++i) {
        coefficients(best.cluster[i], i) = 2 * sample.weight(i) / weight[best.cluster[i]];
    }
    Matrix<double> sizes(s.clusters, 1);
    for (std::size_t c = 0; c < s.clusters; ++c) {
        sizes(c, 0) = weight[c];
        square[c] = -square[c];
    }
    std::vector<std::size_t> all(sample.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    set_expansion(model, sample, gram.kernel(), all, std::move(coefficients), std::move(square),
                  -1);
    if (is_linear(gram.kernel()) &&
        sample.x.columns() <= most_mean_bytes / sizeof(double) / s.clusters) {
        collapse(model.expansion);
        model.origins.clear();
    }
    add_table(model, "sizes", std::move(sizes));
    Report report;
    report.status = starts.status == FitStatus::converged ? best.status : starts.status;
    report.rows = sample.size();
    report.primal = best.objective;
    report.free_support_vectors = model.expansion.size();
    report.iterations = starts.passes;
    report.kernel_evaluations = evaluations + op->evaluations();
    report.figures["objective"] = best.objective;
    report.figures["passes"] = static_cast<double>(best.history.size());
    report.figures["start"] = static_cast<double>(starts.number);
    report.figures["refilled"] = static_cast<double>(best.refilled);
    report.history = best.history;
    report.seconds = run.seconds();
    model.reports = {std::move(report)};
}

}  // namespace

namespace {

const Describe<KMeansSettings>& kmeans_settings() {
    static const auto settings = [] {
        using S = KMeansSettings;
        Describe<S> d;
        d.add(&S::clusters, "clusters", "how many groups", Range::at_least(1));
        d.add(&S::starts, "starts", "the best of so many is kept", Range::at_least(1));
        d.add(&S::passes, "passes", "over the data, at most", Range::at_least(1));
        return d;
    }();
    return settings;
}

void require_rows(const KMeansSettings& s, std::size_t rows) {
    if (s.clusters <= rows) return;
    throw InvalidInput("clusters = " + std::to_string(s.clusters) + " must be at most " +
                       std::to_string(rows) + ", the number of rows");
}

Model learn(const KMeansSettings& settings, const Dataset& data) {
    const KMeansSettings& s = settings;
    kmeans_settings().check(s);
    const Sample sample = take_sample(Task::kmeans, data, s.common);
    require_rows(s, sample.size());
    ModelParts model = begin_model(Task::kmeans, sample, s.common);
    model.trained.numbers["clusters"] = static_cast<double>(s.clusters);
    model.trained.numbers["starts"] = static_cast<double>(s.starts);
    if (s.common.double_precision) {
        train<double>(s, sample, model);
    } else {
        train<float>(s, sample, model);
    }
    return Model(std::move(model));
}

}  // namespace

namespace {

Model learn_in_span(const KMeansSettings& s, const Dataset& data, const Nystroem& how) {
    const Run run = s.common.run();
    const SpanSample sample = take_span_sample(Task::kmeans, data, s.common, false);
    require_rows(s, sample.leaves.rows());
    const CentreSpan<float> span(sample, s.common, how);
    SpanGrouping found = group_in_span(s, run, sample, span);
    ModelParts model = begin_model(Task::kmeans, sample, s.common);
    model.trained.numbers["clusters"] = static_cast<double>(s.clusters);
    model.trained.numbers["starts"] = static_cast<double>(s.starts);
    model.trained.numbers["centres"] = static_cast<double>(span.size());
    model.double_precision = true;  // coefficients over centres that lie close cancel
    std::vector<double> bias;
    Matrix<double> sizes(s.clusters, 1);
    Matrix<double> beta = found.means;
    for (std::size_t c = 0; c < s.clusters; ++c) {
        sizes(c, 0) = found.sizes[c];
        bias.push_back(-dot(found.means.row(c), found.means.row(c)));
    }
    for (double& value : beta.values()) value *= 2;
    backward_solve(span.factor(), beta.view());
    span.write(model, std::move(beta), std::move(bias), -1);
    add_table(model, "sizes", std::move(sizes));
    Report report;
    report.status = found.status;
    report.rows = sample.leaves.rows();
    report.primal = found.history.back();
    report.free_support_vectors = span.size();
    report.iterations = static_cast<std::size_t>(found.starts_passes) + found.history.size();
    report.figures["objective"] = report.primal;
    report.figures["passes"] = static_cast<double>(found.history.size());
    report.figures["start"] = static_cast<double>(found.start);
    report.figures["refilled"] = static_cast<double>(found.refilled);
    report.history = std::move(found.history);
    report.seconds = run.seconds();
    model.reports = {std::move(report)};
    return Model(std::move(model));
}

}  // namespace

Model KMeans::fit_in_span(const Dataset& data, MatrixView<const double> targets,
                          const Nystroem& how) const {
    kmeans_settings().check(settings_);
    if (targets.columns > 0) refuse_targets(task());
    return span_fit(task(), settings_, data,
                    [&how](const KMeansSettings& settings, const Dataset& own) {
                        return learn_in_span(settings, own, how);
                    });
}

Model KMeans::fit(const Dataset& data) const {
    return patient_fit(task(), settings_, data, learn);
}

MachineEntry kmeans_entry() {
    return kmeans_settings().entry({.task = Task::kmeans,
                                    .name = "k-means",
                                    .family = "groups",
                                    .learns = Learns::groups,
                                    .about = "groups about means in feature space"},
                                   kmeans);
}

}  // namespace mercer
