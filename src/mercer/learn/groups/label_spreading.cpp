#include "mercer/learn/groups/label_spreading.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

/// The largest but `count` − 1 of these numbers.
double least_of_best(std::span<const double> affinities, std::size_t count) {
    std::vector<double> row(affinities.begin(), affinities.end());
    const auto place = static_cast<std::ptrdiff_t>(count) - 1;
    std::nth_element(row.begin(), row.begin() + place, row.end(), std::greater<>());
    return row[count - 1];
}

/// W without its diagonal; with `neighbours` an edge stays when either end has it among its best.
/// The least affinity among the best of each row; empty where all count.
std::vector<double> make_graph(Matrix<double>& w, std::size_t neighbours) {
    const std::size_t n = w.rows();
    for (std::size_t i = 0; i < n; ++i) {
        w(i, i) = 0;
        for (std::size_t j = 0; j < n; ++j) {
            if (w(i, j) >= 0) continue;
            throw InvalidInput(
                "an affinity must not be negative, and the kernel is below 0 for "
                "some rows; take a kernel such as rbf");
        }
    }
    if (neighbours == 0 || neighbours + 1 >= n) return {};
    std::vector<double> least(n);
    for (std::size_t i = 0; i < n; ++i) least[i] = least_of_best(w.row(i), neighbours);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            if (w(i, j) < std::min(least[i], least[j])) w(i, j) = 0;
        }
    }
    return least;
}

/// S = D^(−1/2) W D^(−1/2); a row without neighbours stays alone. The roots: D^(−1/2), 0 for such.
std::vector<double> normalise(Matrix<double>& w) {
    std::vector<double> root(w.rows(), 0.0);
    for (std::size_t i = 0; i < w.rows(); ++i) {
        double sum = 0;
        for (const double value : w.row(i)) sum += value;
        root[i] = sum > 0 ? 1 / std::sqrt(sum) : 0;
    }
    for (std::size_t i = 0; i < w.rows(); ++i) {
        // Not root_i root_j first: both may be huge where rows are far from all others.
        for (std::size_t j = 0; j < w.rows(); ++j) w(i, j) = w(i, j) * root[i] * root[j];
    }
    return root;
}

Labels labels_of(const Labels& like, const Classes& classes, const Matrix<double>& f,
                 std::size_t first, std::size_t count) {
    Labels labels;
    labels.names = like.names;
    for (std::size_t i = first; i < first + count; ++i) {
        const auto row = f.row(i);
        const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
        if (like.are_text()) {
            const auto found = std::ranges::find(like.names, classes.names[best]);
            labels.values.push_back(static_cast<double>(found - like.names.begin()));
        } else {
            labels.values.push_back(classes.values[best]);
        }
    }
    return labels;
}

/// What is known of the graph when F is.
struct Graph {
    Sample sample{};  ///< labelled rows first; its data are those alone
    Kernel kernel = rbf();
    std::vector<double> least{};
    std::vector<double> root{};
};

bool has_label(const Sample& sample, std::size_t row) {
    return row < sample.data.size() && sample.weight(row) > 0;
}

/// f_c(x) = Σ_j k(x, x_j) F_jc / √D_j; of two classes the first less the second.
Model model_of(const SpreadSettings& s, const Graph& graph, const LabelSpread& found) {
    const std::size_t n = graph.sample.size();
    const std::size_t classes = found.scores.columns();
    Matrix<double> coefficients(classes == 2 ? 1 : classes, n);
    for (std::size_t j = 0; j < n; ++j) {
        const auto f = found.scores.row(j);
        for (std::size_t c = 0; c < coefficients.rows(); ++c) {
            coefficients(c, j) = graph.root[j] * (classes == 2 ? f[0] - f[1] : f[c]);
        }
    }
    ModelParts model = begin_model(Task::spreading, graph.sample, s.common);
    model.double_precision = true;  // roots of rows far from all others are huge
    model.trained.numbers = {{"alpha", s.alpha}};
    if (s.neighbours > 0) model.trained.numbers["neighbours"] = static_cast<double>(s.neighbours);
    std::vector<double> bias(coefficients.rows(), 0.0);
    set_expansion(model, graph.sample, graph.kernel, graph.sample.kept, std::move(coefficients),
                  std::move(bias));
    if (!graph.least.empty()) {
        Neighbourhood near;
        near.count = Matrix<double>(1, 1, static_cast<double>(s.neighbours));
        near.least = Matrix<double>(1, n);
        std::ranges::copy(graph.least, near.least.row(0).begin());
        model.extras.set(std::move(near));
    }
    std::size_t unlabelled = 0;
    for (std::size_t i = 0; i < n; ++i) unlabelled += has_label(graph.sample, i) ? 0 : 1;
    Report report;
    report.rows = n;
    report.free_support_vectors = n;
    report.kernel_evaluations = n * n;
    report.figures = {{"residual", found.residual},
                      {"unlabelled", static_cast<double>(unlabelled)},
                      {"unreached", static_cast<double>(found.unreached)}};
    model.reports = {std::move(report)};
    return Model(std::move(model));
}

/// Labelled and other rows together, checked and scaled.
Sample sample_of(const SpreadSettings& s, const Dataset& labelled, const Rows& unlabelled) {
    labelled.check();
    if (labelled.size() == 0 || labelled.y.empty()) {
        throw InvalidInput("there are no labels to spread: give labelled rows");
    }
    Sample sample{.data = labelled};
    sample.classes = classes_of(labelled.y);
    if (sample.classes.count() < 2) {
        throw InvalidInput("labels of two classes or more are spread; all rows have one label");
    }
    const Rows all = unlabelled.size() > 0 ? concatenate(labelled.x, unlabelled) : labelled.x;
    require_finite(all);
    const std::size_t n = all.size();
    if (n > std::size_t{1} << 20 || 2 * n * n * sizeof(double) > s.common.memory_bytes) {
        throw InvalidInput("the graph of " + std::to_string(n) +
                           " rows does not fit the memory allowed; raise it or take fewer rows");
    }
    sample.kept.resize(n);
    std::iota(sample.kept.begin(), sample.kept.end(), std::size_t{0});
    sample.scaling = Scaling::fit(s.common.scaling, all);
    sample.x = sample.scaling.apply(all);
    return sample;
}

const Describe<SpreadSettings>& described() {
    static const auto settings = [] {
        using S = SpreadSettings;
        Describe<S> d;
        Setting& alpha =
            d.add(&S::alpha, "alpha", "share that comes from the neighbours", Range::inside(0, 1));
        alpha.tunable = true;
        d.add(&S::neighbours, "neighbours", "only the nearest so many of each row count, 0: all")
            .tunable = true;
        return d;
    }();
    return settings;
}

}  // namespace

LabelSpread spread_labels(const SpreadSettings& s, const Dataset& labelled,
                          const Rows& unlabelled) {
    described().check(s);
    const Progress& progress = s.common.progress;
    Graph g{.sample = sample_of(s, labelled, unlabelled)};
    const Classes& classes = g.sample.classes;
    const std::size_t n = g.sample.size();
    const auto gram =
        make_gram<double>(s.common.kernel, g.sample.x, labelled.feature_names, progress);
    g.kernel = gram.kernel();
    Matrix<double> graph(n, n);
    gram.matrix(graph.view(), progress);
    g.least = make_graph(graph, s.neighbours);
    g.root = normalise(graph);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) graph(i, j) = (i == j ? 1 : 0) - s.alpha * graph(i, j);
    }
    const std::size_t k = classes.count();
    Matrix<double> y(k, n);  // one row a right-hand side
    for (std::size_t i = 0; i < labelled.size(); ++i) {
        y(g.sample.class_of(i), i) = (1 - s.alpha) * g.sample.weight(i);
    }
    Matrix<double> factor = graph;
    Matrix<double> solution = y;
    if (!keep_going(progress, {"spreading labels", -1})) throw Cancelled();
    if (!cholesky(factor.view())) {
        throw InvalidInput("the graph cannot be solved in double precision; take a smaller alpha");
    }
    cholesky_solve(std::as_const(factor).view(), solution.view());
    LabelSpread result;
    result.scores = Matrix<double>(n, k);
    for (std::size_t c = 0; c < k; ++c) {
        for (std::size_t i = 0; i < n; ++i) {
            double product = 0;
            for (std::size_t j = 0; j < n; ++j) product += graph(i, j) * solution(c, j);
            result.residual = std::max(result.residual, std::abs(product - y(c, i)));
            result.scores(i, c) = solution(c, i);
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        if (has_label(g.sample, i)) continue;
        const auto row = result.scores.row(i);
        result.unreached += std::ranges::all_of(row, [](double f) { return f <= 0; }) ? 1 : 0;
    }
    result.labelled = labels_of(labelled.y, classes, result.scores, 0, labelled.size());
    result.unlabelled =
        labels_of(labelled.y, classes, result.scores, labelled.size(), n - labelled.size());
    result.model = model_of(s, g, result);
    return result;
}

Model LabelSpreading::fit(const Dataset& data) const {
    return patient_fit(task(), settings_, data,
                       [&](const SpreadSettings& own, const Dataset& some) {
                           const Stopwatch clock;
                           ModelParts model = spread_labels(own, some, unlabelled_).model.parts();
                           if (unlabelled_.size() > 0)
                               model.origins.clear();  // those are not rows of the data
                           model.reports.front().seconds = clock.seconds();
                           return Model(std::move(model));
                       });
}

void Neighbourhood::check(const ModelParts& model, const std::string& place) const {
    const std::size_t points = model.expansion.size();
    const double n = count.values().size() == 1 ? count(0, 0) : 0;
    if (n >= 1 && n == std::floor(n) && n < static_cast<double>(points) && least.rows() == 1 &&
        least.columns() == points) {
        return;
    }
    throw InvalidInput(place +
                       ": the array neighbours must be a whole number from 1 to below the number "
                       "of points, and neighbour_affinity have a number for each of these");
}

std::string Neighbourhood::why_not_reduced() const {
    return "labels spread over nearest rows cannot be reduced: other rows would be the nearest; "
           "spread them over all (neighbours = 0)";
}

Matrix<double> Neighbourhood::decide(const Model& model, const Rows& scaled,
                                     const Progress& progress) const {
    const Expansion& e = model.expansion();
    const auto gram = make_gram<double>(e.kernel, e.reference.size() > 0 ? e.reference : e.points);
    const auto points = e.reference.size() > 0 ? gram.prepare(e.points) : gram.reference();
    const auto wanted = static_cast<std::size_t>(count(0, 0));
    Matrix<double> result(scaled.size(), e.outputs());
    constexpr std::size_t band = 256;
    Matrix<double> values(std::min(band, scaled.size()), e.size());
    for (std::size_t first = 0; first < scaled.size(); first += band) {
        const double done = static_cast<double>(first) / static_cast<double>(scaled.size());
        if (!keep_going(progress, {"predicting", done})) throw Cancelled();
        std::vector<std::size_t> which(std::min(band, scaled.size() - first));
        std::iota(which.begin(), which.end(), first);
        gram.block(gram.prepare(scaled.select(which)), points,
                   values.view().block(0, 0, which.size(), e.size()));
        parallel_ranges(which.size(), 8, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const auto k = values.row(i);
                const double own = least_of_best(k, wanted);
                const auto out = result.row(first + i);
                std::ranges::copy(e.bias, out.begin());
                for (std::size_t j = 0; j < k.size(); ++j) {
                    if (k[j] < std::min(own, least(0, j))) continue;
                    for (std::size_t c = 0; c < out.size(); ++c) {
                        out[c] += e.coefficients(c, j) * k[j];
                    }
                }
            }
        });
    }
    return result;
}

MachineEntry label_spreading_entry() {
    return described().entry({.task = Task::spreading,
                              .name = "spreading",
                              .family = "groups",
                              .learns = Learns::classes,
                              .about = "labels spread over a graph of all rows, labelled or not",
                              .command = "spread",
                              .extras = {extra_kind<Neighbourhood>("neighbourhood")}},
                             label_spreading);
}

}  // namespace mercer
