#include "mercer/learn/risk/class_means.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"

namespace mercer {
namespace {

/// v_i = Σ_j a_j k(x_j, x_i) at every point of an expansion with one output.
std::vector<double> values_at_points(const Expansion& e, bool double_precision,
                                     const Progress& progress) {
    return Evaluator(e, double_precision)(e.points, progress).values();
}

/// The mean of one class, as an expansion over its rows.
Expansion mean_of(const Sample& sample, const Kernel& kernel, std::span<const std::size_t> rows) {
    Expansion e;
    e.kernel = kernel;
    e.points = rows.size() == sample.size() ? sample.x : sample.x.select(rows);
    e.coefficients = Matrix<double>(1, rows.size());
    double sum = 0;
    for (const std::size_t i : rows) sum += sample.weight(i);
    for (std::size_t p = 0; p < rows.size(); ++p) {
        e.coefficients(0, p) = sample.weight(rows[p]) / sum;
    }
    e.bias = {0};
    if (is_centered(kernel)) e.reference = sample.x;
    return e;
}

/// Σ_i a_i v_i.
double inner(const Expansion& e, std::span<const double> v) {
    const auto a = e.coefficients.row(0);
    return std::inner_product(a.begin(), a.end(), v.begin(), 0.0);
}

/// With a linear kernel a mean is one point of input space: rows × columns, one a class.
constexpr std::size_t most_mean_bytes = std::size_t{1} << 28;

struct Means {
    std::vector<Expansion> of_class;
    std::vector<double> squared_norm;
    bool points_of_input_space = false;
};

/// The norms ‖μ_c‖², each over the rows of its own class; a class of m rows takes m² kernel values,
/// a block at a time.
Means find_means(const Sample& sample, const Kernel& kernel, const FitSettings& settings) {
    const std::size_t k = sample.classes.count();
    std::vector<std::vector<std::size_t>> rows(k);
    for (std::size_t i = 0; i < sample.size(); ++i) rows[sample.class_of(i)].push_back(i);
    Means means;
    means.points_of_input_space =
        is_linear(kernel) && sample.x.columns() <= most_mean_bytes / sizeof(double) / k;
    for (std::size_t c = 0; c < k; ++c) {
        Expansion mean = mean_of(sample, kernel, rows[c]);
        if (means.points_of_input_space) {
            Expansion raw = mean;
            raw.kernel = linear();
            mean.points = Rows::dense(weight_vectors(raw).values(), sample.x.columns());
            mean.coefficients = Matrix<double>(1, 1, 1.0);
        }
        const Progress part = [&](const Moment& m) {
            const double done = (static_cast<double>(c) + m.fraction) / static_cast<double>(k);
            return keep_going(settings.progress, {"class means", done});
        };
        const bool twice = settings.double_precision || means.points_of_input_space;
        const double norm = inner(mean, values_at_points(mean, twice, part));
        if (!std::isfinite(norm)) throw InvalidInput("the kernel takes values that are not finite");
        means.squared_norm.push_back(norm);
        means.of_class.push_back(std::move(mean));
    }
    return means;
}

/// Σ over classes of factor(output, class) × mean of the class, over one set of points.
void fill_expansion(ModelParts& model, const Sample& sample, const Means& means,
                    const Matrix<double>& factor, std::vector<double> bias) {
    const Kernel& kernel = means.of_class[0].kernel;
    if (means.points_of_input_space) {
        Expansion& e = model.expansion;
        std::vector<double> points;
        for (const Expansion& mean : means.of_class) {
            const MatrixView<const double> view = mean.points.dense_view<double>();
            points.insert(points.end(), view.row(0).begin(), view.row(0).end());
        }
        e.kernel = kernel;
        e.points = Rows::dense(std::move(points), sample.x.columns());
        e.coefficients = factor;
        e.bias = std::move(bias);
        return;
    }
    // Of thousands of classes a row has a coefficient in its own alone; of two there is one output.
    Matrix<double> coefficients(factor.rows(), sample.size());
    std::vector<std::size_t> next(means.of_class.size(), 0);
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const std::size_t c = sample.class_of(i);
        const std::size_t output = factor.rows() == 1 ? 0 : c;
        coefficients(output, i) = factor(output, c) * means.of_class[c].coefficients(0, next[c]++);
    }
    std::vector<std::size_t> all(sample.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    set_expansion(model, sample, kernel, all, std::move(coefficients), std::move(bias));
}

/// ρ with at most the share nu of the weights strictly below or at it: halfway between the last
/// density that is left outside and the first that is not.
double threshold(const Sample& sample, std::span<const double> density, double nu) {
    std::vector<std::size_t> order(density.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return density[i]; });
    double total = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) total += sample.weight(i);
    double outside = 0;
    double below = density[order[0]] - std::abs(density[order[0]]);
    std::size_t next = 0;
    // Rows of one density go together.
    while (next < order.size()) {
        std::size_t end = next;
        double weight = 0;
        while (end < order.size() && density[order[end]] == density[order[next]]) {
            weight += sample.weight(order[end++]);
        }
        if (end == order.size() || outside + weight > nu * total * (1 + 1e-12)) break;
        outside += weight;
        below = density[order[next]];
        next = end;
    }
    return (below + density[order[next]]) / 2;
}

}  // namespace

namespace {

Model learn_means(const ClassMeansSettings& settings, const Dataset& data) {
    const Stopwatch clock;
    const Sample sample = take_sample(Task::class_means, data, settings.common);
    const Kernel kernel = resolve(sample.kernel, sample.x, sample.data.feature_names);
    const Means means = find_means(sample, kernel, settings.common);
    const std::size_t k = sample.classes.count();
    if (!means.points_of_input_space) {
        ask_to_keep(settings.common, k == 2 ? 1 : k, sample.size());
    }
    ModelParts model = begin_model(Task::class_means, sample, settings.common);
    model.trained.bias = settings.bias;
    Matrix<double> factor(k == 2 ? 1 : k, k);
    std::vector<double> bias;
    const double half = settings.bias ? 0.5 : 0;
    if (k == 2) {
        factor(0, 0) = 1;
        factor(0, 1) = -1;
        bias = {half * (means.squared_norm[1] - means.squared_norm[0])};
    } else {
        for (std::size_t c = 0; c < k; ++c) {
            factor(c, c) = 1;
            bias.push_back(-half * means.squared_norm[c]);
        }
    }
    Report report;
    if (k == 2) {
        // ‖c₊ − c₋‖² needs the products between the classes as well.
        const Expansion& a = means.of_class[0];
        const bool twice = settings.common.double_precision || means.points_of_input_space;
        const Matrix<double> across =
            Evaluator(means.of_class[1], twice)(a.points, settings.common.progress);
        report.squared_norm = std::max(
            0.0, means.squared_norm[0] + means.squared_norm[1] - 2 * inner(a, across.values()));
        report.margin = std::sqrt(report.squared_norm) / 2;
        report.bias = bias[0];
    }
    fill_expansion(model, sample, means, factor, std::move(bias));
    report.rows = sample.size();
    report.free_support_vectors = model.expansion.size();
    report.seconds = clock.seconds();
    model.reports = {std::move(report)};
    return Model(std::move(model));
}

}  // namespace

Model ClassMeans::fit(const Dataset& data) const {
    return patient_fit(task(), settings_, data, learn_means);
}

namespace {

const Describe<ParzenSettings>& parzen_settings() {
    static const auto settings = [] {
        Describe<ParzenSettings> d;
        d.add(&ParzenSettings::nu, "nu", "share of rows left outside, at most",
              {.low = 0, .high = 1, .high_open = true})
            .tunable = true;
        return d;
    }();
    return settings;
}

Model learn_density(const ParzenSettings& settings, const Dataset& data) {
    const Stopwatch clock;
    parzen_settings().check(settings);
    const Sample sample = take_sample(Task::parzen, data, settings.common);
    const Kernel kernel = resolve(sample.kernel, sample.x, sample.data.feature_names);
    std::vector<std::size_t> all(sample.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const Expansion mean = mean_of(sample, kernel, all);
    const std::vector<double> density =
        values_at_points(mean, settings.common.double_precision, settings.common.progress);
    if (!std::ranges::all_of(density, [](double p) { return std::isfinite(p); })) {
        throw InvalidInput("the kernel takes values that are not finite");
    }
    const double rho = threshold(sample, density, settings.nu);
    ModelParts model = begin_model(Task::parzen, sample, settings.common);
    model.trained.nu = settings.nu;
    set_expansion(model, sample, kernel, mean.coefficients, {-rho});
    Report report;
    report.rows = sample.size();
    report.rho = rho;
    report.bias = -rho;
    report.nu = settings.nu;
    report.squared_norm = inner(mean, density);
    report.free_support_vectors = model.expansion.size();
    report.margin_errors = static_cast<std::size_t>(
        std::ranges::count_if(density, [rho](double p) { return p <= rho; }));
    report.fraction_errors =
        static_cast<double>(report.margin_errors) / static_cast<double>(sample.size());
    report.fraction_support = 1;
    report.seconds = clock.seconds();
    model.reports = {std::move(report)};
    return Model(std::move(model));
}

}  // namespace

Model Parzen::fit(const Dataset& data) const {
    return patient_fit(task(), settings_, data, learn_density);
}

MachineEntry class_means_entry() {
    Describe<ClassMeansSettings> d;
    d.add(&ClassMeansSettings::bias, "bias",
          "compare distances to the means, which needs a constant");
    return d.entry({.task = Task::class_means,
                    .name = "class-means",
                    .family = "risk",
                    .learns = Learns::classes,
                    .about = "the nearest class mean in feature space"},
                   class_means);
}

MachineEntry parzen_entry() {
    return parzen_settings().entry({.task = Task::parzen,
                                    .name = "parzen",
                                    .family = "risk",
                                    .learns = Learns::region,
                                    .about = "a region by a threshold on Parzen's density"},
                                   parzen);
}

}  // namespace mercer
