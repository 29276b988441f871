#include "mercer/learn/risk/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/feature/neighbours.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"

namespace mercer {
namespace {

const Describe<NearestSettings>& nearest_settings() {
    static const auto settings = [] {
        using S = NearestSettings;
        Describe<S> d;
        Setting& count =
            d.add(&S::neighbours, "neighbours", "nearest rows that are asked", Range::at_least(1));
        count.tunable = true;
        Setting& path = d.add(&S::path, "path",
                              "numbers of neighbours to choose from by leave-one-out error, 1,3,5",
                              Range::at_least(1));
        path.flag = "neighbours-path";
        path.placeholder = "N,N";
        d.add(&S::vote, neighbour_vote_words, "vote", "what each of them counts");
        d.add(&S::leave_one_out, "leave_one_out", "also leave-one-out errors").flag = "loo";
        return d;
    }();
    return settings;
}

/// How many rows must be sought so that whichever they are they weigh at least `count`: as many as
/// the lightest need. More than there are when all together do not.
std::size_t sought(std::span<const double> weights, double count, std::size_t rows) {
    if (weights.empty()) return static_cast<std::size_t>(std::min(count, 1e18));
    std::vector<double> ascending(weights.begin(), weights.end());
    std::ranges::sort(ascending);
    double sum = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        sum += ascending[i];
        if (sum >= count) return i + 1;
    }
    return rows + 1;
}

/// The numbers of neighbours to choose from.
std::vector<double> counts_of(const NearestSettings& s, std::span<const double> weights,
                              std::size_t rows) {
    std::vector<double> counts = s.path;
    if (counts.empty()) counts.push_back(static_cast<double>(s.neighbours));
    const bool left_out = s.leave_one_out || !s.path.empty();
    const std::string name = s.path.empty() ? "neighbours = " : "path = ";
    for (const double k : counts) {
        if (k != std::floor(k)) {
            throw InvalidSetting(name + format_number(k) + " must be a whole number of neighbours");
        }
        const std::size_t there = rows - (left_out ? 1 : 0);
        double heaviest = 0, sum = weights.empty() ? static_cast<double>(rows) : 0;
        for (const double w : weights) {
            heaviest = std::max(heaviest, w);
            sum += w;
        }
        const double most = left_out ? sum - (weights.empty() ? 1 : heaviest) : sum;
        if (k <= most && there > 0) continue;
        throw InvalidSetting(name + format_number(k) + " must be from 1 to " +
                             format_number(std::floor(most)) + ", the " +
                             (weights.empty() ? "number" : "weight") + " of the rows there are" +
                             (left_out ? " beside the one that is left out" : ""));
    }
    return counts;
}

/// What the nearest rows count; `distances` are squared. A row of weight w is as good as w rows:
/// the nearest count until `count` of them are together.
void votes(std::span<const std::uint32_t> nearest, std::span<const double> distances,
           std::span<const double> weights, double count, std::span<double> out) {
    const bool met = !distances.empty() && distances[0] <= 0;
    double left = count;
    for (std::size_t r = 0; r < nearest.size(); ++r) {
        out[r] = std::min(left, weights.empty() ? 1 : weights[nearest[r]]);
        left -= out[r];
        if (distances.empty()) continue;
        out[r] *= met ? (distances[r] <= 0 ? 1 : 0) : 1 / std::sqrt(distances[r]);
    }
}

/// The weighted mean of what the nearest say. Of two classes with as many votes the first wins,
/// whose decisions are those above 0.
void mean_of(const Matrix<double>& said, std::span<const std::uint32_t> nearest,
             std::span<const double> votes, bool two_classes, std::span<double> out) {
    std::ranges::fill(out, 0.0);
    double sum = 0;
    for (std::size_t r = 0; r < nearest.size(); ++r) {
        sum += votes[r];
        for (std::size_t c = 0; c < out.size(); ++c) out[c] += votes[r] * said(c, nearest[r]);
    }
    for (double& value : out) value /= sum;
    if (two_classes && out[0] == 0) out[0] = std::numeric_limits<double>::min();
}

struct VoteRule {
    bool by_distance = false;
    bool two_classes = false;
    std::span<const double> weights{};
};

/// The answers of the first neighbours found, `count` of them.
Matrix<double> answers_of(const Neighbours& found, const Matrix<double>& distances, double count,
                          const Matrix<double>& said, const VoteRule& rule) {
    Matrix<double> result(found.size(), said.rows());
    std::vector<double> own(found.count());
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto nearest = found.index.row(i);
        const auto d = rule.by_distance ? distances.row(i) : std::span<const double>();
        votes(nearest, d, rule.weights, count, own);
        mean_of(said, nearest, own, rule.two_classes, result.row(i));
    }
    return result;
}

/// What each row says, outputs × rows: ±1 of two classes, 1 for its own of several.
Matrix<double> said_classes(const Sample& sample) {
    const std::size_t k = sample.classes.count();
    Matrix<double> said(k == 2 ? 1 : k, sample.size());
    for (std::size_t i = 0; i < sample.size(); ++i) {
        if (k == 2) {
            said(0, i) = sample.sign_of(i);
        } else {
            said(sample.class_of(i), i) = 1;
        }
    }
    return said;
}

/// The error of one row left out: wrong or not, or the square over all outputs.
double error_of(const Sample& sample, const Matrix<double>& said, std::size_t row,
                std::span<const double> answer) {
    if (sample.classes.count() == 2) return (answer[0] > 0) == (said(0, row) > 0) ? 0 : 1;
    if (sample.classes.count() > 2) {
        const auto best =
            static_cast<std::size_t>(std::ranges::max_element(answer) - answer.begin());
        return best == sample.class_of(row) ? 0 : 1;
    }
    double sum = 0;
    for (std::size_t o = 0; o < answer.size(); ++o) {
        sum += (answer[o] - said(o, row)) * (answer[o] - said(o, row));
    }
    return sum;
}

/// Rows (neighbours, leave-one-out error).
Matrix<double> leave_one_out(const NearestSettings& s, const Sample& sample,
                             const NeighbourSearch& search, const Matrix<double>& said,
                             const std::vector<double>& counts, const VoteRule& rule) {
    const std::size_t most = sought(rule.weights, std::ranges::max(counts), sample.size());
    const Neighbours found = search.among(std::min(most, sample.size() - 1), s.common.progress);
    Matrix<double> distances;
    if (rule.by_distance) distances = squared_distances(found, search.squared_lengths());
    Matrix<double> path(counts.size(), 2);
    for (std::size_t p = 0; p < counts.size(); ++p) {
        const Matrix<double> answers = answers_of(found, distances, counts[p], said, rule);
        double sum = 0, weight = 0;
        for (std::size_t i = 0; i < sample.size(); ++i) {
            sum += sample.weight(i) * error_of(sample, said, i, answers.row(i));
            weight += sample.weight(i);
        }
        path(p, 0) = counts[p];
        path(p, 1) = sum / weight;
    }
    return path;
}

/// Probabilities are shares of votes: decisions −1 … 1 of two classes, 0 … 1 of several.
Calibration shares(std::size_t outputs) {
    Matrix<double> table(2 * outputs, 3);
    for (std::size_t o = 0; o < outputs; ++o) {
        table(2 * o, 0) = table(2 * o + 1, 0) = static_cast<double>(o);
        table(2 * o, 1) = outputs == 1 ? -1 : 0;
        table(2 * o + 1, 1) = table(2 * o + 1, 2) = 1;
    }
    Calibration shares;
    shares.isotonic = std::move(table);
    return shares;
}

Model train(Task task, const NearestSettings& s, const Sample& sample, Matrix<double> said) {
    const Stopwatch clock;
    const std::vector<double> counts = counts_of(s, sample.data.weights, sample.size());
    const bool classes = is_classifier(task);
    const VoteRule rule{.by_distance = s.vote == NeighbourVote::distance,
                        .two_classes = classes && sample.classes.count() == 2,
                        .weights = sample.data.weights};
    ModelParts model = begin_model(task, sample, s.common);
    Report report;
    double count = counts.front();
    const Kernel kernel = resolve(sample.kernel, sample.x, sample.data.feature_names);
    if (s.leave_one_out || !s.path.empty()) {
        const NeighbourSearch search(sample.kernel, sample.x, {}, sample.data.feature_names,
                                     s.common.double_precision);
        const Matrix<double> path = leave_one_out(s, sample, search, said, counts, rule);
        std::size_t best = 0;
        for (std::size_t p = 1; p < path.rows(); ++p) best = path(p, 1) < path(best, 1) ? p : best;
        count = counts[best];
        report.figures["loo_error"] = path(best, 1);
        report.kernel_evaluations = sample.size() * (sample.size() - 1);
        if (!s.path.empty()) add_table(model, "path", path);
    }
    std::vector<std::size_t> all(sample.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<double> bias(said.rows(), 0.0);
    const std::size_t outputs = said.rows();
    set_expansion(model, sample, kernel, all, std::move(said), std::move(bias));
    Nearest nearest;
    nearest.rule = Matrix<double>(1, 2);
    nearest.rule(0, 0) = count;
    nearest.rule(0, 1) = rule.by_distance ? 1 : 0;
    if (!rule.weights.empty()) {
        nearest.weights = Matrix<double>(1, sample.size());
        std::ranges::copy(rule.weights, nearest.weights->row(0).begin());
    }
    model.extras.set(std::move(nearest));
    if (classes) model.extras.set(shares(outputs));
    model.trained.numbers["neighbours"] = count;
    report.figures["neighbours"] = count;
    report.rows = report.free_support_vectors = sample.size();
    report.seconds = clock.seconds();
    model.reports = {std::move(report)};
    return Model(std::move(model));
}

}  // namespace

Model NearestNeighbours::fit(const Dataset& data) const {
    nearest_settings().check(settings_);
    return patient_fit(task_, settings_, data, [this](const NearestSettings& s, const Dataset& d) {
        const Sample sample = take_sample(task_, d, s.common);
        if (is_classifier(task_)) {
            if (sample.classes.count() > 2) {
                ask_to_keep(s.common, sample.classes.count(), sample.size());
            }
            return train(task_, s, sample, said_classes(sample));
        }
        Matrix<double> said(1, sample.size());
        std::ranges::copy(sample.data.y.values, said.row(0).begin());
        return train(task_, s, sample, std::move(said));
    });
}

Model NearestNeighbours::fit(const Dataset& data, MatrixView<const double> targets) const {
    nearest_settings().check(settings_);
    if (is_classifier(task_)) refuse_targets(task_);
    if (targets.rows != data.size() || targets.columns == 0) {
        throw InvalidInput("there are " + std::to_string(targets.rows) + " rows of " +
                           std::to_string(targets.columns) + " targets for " +
                           std::to_string(data.size()) + " rows of data");
    }
    Dataset numbered = data;  // each row's place among the targets stands for its label
    numbered.y = {};
    numbered.y.values.resize(targets.rows);
    std::iota(numbered.y.values.begin(), numbered.y.values.end(), 0.0);
    const auto fit_some = [&](const NearestSettings& s, const Dataset& d) {
        const Sample sample = take_sample(task_, d, s.common);
        Matrix<double> said(targets.columns, sample.size());
        for (std::size_t i = 0; i < sample.size(); ++i) {
            const auto row = static_cast<std::size_t>(sample.data.y.values[i]);
            for (std::size_t o = 0; o < targets.columns; ++o) {
                said(o, i) = targets(row, o);
                check_target(said(o, i), row);
            }
        }
        return train(task_, s, sample, std::move(said));
    };
    return patient_fit(task_, settings_, numbered, fit_some);
}

void Nearest::check(const ModelParts& model, const std::string& place) const {
    const std::size_t points = model.expansion.size();
    if (weights && (weights->rows() != 1 || weights->columns() != points ||
                    !std::ranges::all_of(weights->values(), [](double w) { return w > 0; }))) {
        throw InvalidInput(
            place + ": the array neighbour_weights must have a number above 0 for each point");
    }
    double most = static_cast<double>(points);
    if (weights) most = std::accumulate(weights->values().begin(), weights->values().end(), 0.0);
    if (rule.rows() == 1 && rule.columns() == 2 && rule(0, 0) >= 1 && rule(0, 0) <= most &&
        rule(0, 0) == std::floor(rule(0, 0)) && (rule(0, 1) == 0 || rule(0, 1) == 1)) {
        return;
    }
    throw InvalidInput(place +
                       ": the array neighbours must be a whole number from 1 to the number of "
                       "points, counted by their weights, and 0 or 1 for votes by distance");
}

std::string Nearest::why_not_reduced() const {
    return "nearest neighbours cannot be reduced: with other points others would be the nearest";
}

Matrix<double> Nearest::decide(const Model& model, const Rows& scaled,
                               const Progress& progress) const {
    const Expansion& e = model.expansion();
    const NeighbourSearch search(e.kernel, e.points, e.reference, {}, model.double_precision());
    const VoteRule how{.by_distance = rule(0, 1) != 0,
                       .two_classes = is_classifier(model.task()) && model.classes() == 2,
                       .weights = weights ? std::span<const double>(weights->values())
                                          : std::span<const double>()};
    const std::size_t most = std::min(sought(how.weights, rule(0, 0), e.size()), e.size());
    const Neighbours found = search(scaled, most, progress);
    Matrix<double> distances;
    if (how.by_distance) distances = squared_distances(found, search.squared_lengths(scaled));
    return answers_of(found, distances, rule(0, 0), e.coefficients, how);
}

std::vector<MachineEntry> nearest_entries() {
    const auto entry = [](Task task, std::string name, Learns learns, std::string about) {
        return nearest_settings().entry(
            {.task = task,
             .name = std::move(name),
             .family = "risk",
             .learns = learns,
             .about = std::move(about),
             .extras = {extra_kind<Nearest>("neighbours", true)}},
            [task](NearestSettings s) { return NearestNeighbours(task, std::move(s)); });
    };
    return {entry(knn_task, "knn", Learns::classes, "the class of most nearest rows"),
            entry(knn_regression_task, "knn-regression", Learns::numbers,
                  "the mean of the nearest rows' targets")};
}

}  // namespace mercer
