#include "mercer/learn/components/ica.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/components/detail/ica_contrast.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

/// Two sources after a turn.
struct Pair {
    std::vector<double> a, b;
};

Pair turned(std::span<const double> a, std::span<const double> b, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    Pair p{std::vector<double>(a.size()), std::vector<double>(a.size())};
    for (std::size_t i = 0; i < a.size(); ++i) {
        p.a[i] = c * a[i] + s * b[i];
        p.b[i] = c * b[i] - s * a[i];
    }
    return p;
}

/// The rotation, searched for.
class Search {
   public:
    Search(const IcaSettings& settings, const Run& run, const Kernel& kernel, double kappa,
           Matrix<double> sources)
        : settings_(settings),
          run_(run),
          kernel_(kernel),
          kappa_(kappa),
          sources_(std::move(sources)),
          rotation_(sources_.rows(), sources_.rows()) {
        for (std::size_t s = 0; s < count(); ++s) {
            rotation_(s, s) = 1;
            features_.push_back(ica_features(sources_.row(s), kernel_, kappa_));
        }
        contrast_ = whole().value();
        history_.push_back(contrast_);
    }

    FitStatus sweep() {
        for (std::size_t sweep = 0; sweep < settings_.sweeps; ++sweep) {
            double largest = 0;
            for (std::size_t a = 0; a < count(); ++a) {
                for (std::size_t b = a + 1; b < count(); ++b) {
                    if (const FitStatus stop = asked(sweep); stop != FitStatus::converged) {
                        return stop;
                    }
                    try {
                        largest = std::max(largest, std::abs(turn(a, b)));
                    } catch (const Cancelled&) {  // nothing was turned
                        return fit_status(run_);
                    }
                }
            }
            history_.push_back(contrast_);
            if (largest <= settings_.tolerance) return FitStatus::converged;
        }
        return FitStatus::iteration_limit;
    }

    const Matrix<double>& rotation() const { return rotation_; }
    const std::vector<double>& history() const { return history_; }
    double contrast() const { return contrast_; }

   private:
    std::size_t count() const { return sources_.rows(); }

    SourceCorrelations whole() const {
        std::vector<const IcaFeatures*> all;
        for (const IcaFeatures& f : features_) all.push_back(&f);
        return {std::move(all), settings_.contrast};
    }

    FitStatus asked(std::size_t sweep) {
        const double done = static_cast<double>(sweep) / static_cast<double>(settings_.sweeps);
        const std::string detail =
            "sweep " + std::to_string(sweep + 1) + "  contrast " + std::to_string(contrast_);
        run_.goes_on({"training", done, detail});
        return fit_status(run_);
    }

    /// The best angle of one plane: a grid, because the contrast has several valleys, and golden
    /// section in the lowest. The angle turned by; 0 when nothing is gained.
    double turn(std::size_t a, std::size_t b) {
        const SourceCorrelations now = whole();
        const auto at = [&](double angle) {
            if (!run_.goes_on({"training", -1})) throw Cancelled();
            const Pair p = turned(sources_.row(a), sources_.row(b), angle);
            const IcaFeatures x = ica_features(p.a, kernel_, kappa_);
            const IcaFeatures y = ica_features(p.b, kernel_, kappa_);
            return now.with(a, x, b, y).value();
        };
        constexpr int cells = 12;
        const double step = std::numbers::pi / 2 / cells;
        double best = 0, least = contrast_;
        for (int i = 1; i < cells; ++i) {
            const double angle = step * (i <= cells / 2 ? i : i - cells);
            if (const double value = at(angle); value < least) {
                least = value;
                best = angle;
            }
        }
        golden_section(at, best, least, step);
        if (!(least < contrast_)) return 0;
        accept(a, b, best);
        return best;
    }

    template <class Function>
    void golden_section(const Function& at, double& best, double& least, double step) const {
        constexpr double golden = 0.6180339887498949;
        double low = best - step, high = best + step;
        double left = high - golden * (high - low), right = low + golden * (high - low);
        double left_value = at(left), right_value = at(right);
        while (high - low > 0.25 * settings_.tolerance) {
            if (left_value < right_value) {
                high = right;
                right = left;
                right_value = left_value;
                left = high - golden * (high - low);
                left_value = at(left);
            } else {
                low = left;
                left = right;
                left_value = right_value;
                right = low + golden * (high - low);
                right_value = at(right);
            }
            const bool lower = left_value < right_value;
            if (const double value = lower ? left_value : right_value; value < least) {
                least = value;
                best = lower ? left : right;
            }
        }
    }

    void accept(std::size_t a, std::size_t b, double angle) {
        const Pair p = turned(sources_.row(a), sources_.row(b), angle);
        const Pair r = turned(rotation_.row(a), rotation_.row(b), angle);
        std::ranges::copy(p.a, sources_.row(a).begin());
        std::ranges::copy(p.b, sources_.row(b).begin());
        std::ranges::copy(r.a, rotation_.row(a).begin());
        std::ranges::copy(r.b, rotation_.row(b).begin());
        features_[a] = ica_features(p.a, kernel_, kappa_);
        features_[b] = ica_features(p.b, kernel_, kappa_);
        contrast_ = whole().value();
    }

    const IcaSettings& settings_;
    Run run_;
    const Kernel& kernel_;
    double kappa_;
    Matrix<double> sources_;  ///< one a row
    Matrix<double> rotation_;
    std::vector<IcaFeatures> features_{};
    double contrast_ = 0;
    std::vector<double> history_{};
};

/// The data about their mean, and the directions of their variance.
struct Whitened {
    Matrix<double> columns{};    ///< one column of the data a row, centred and weighted
    std::vector<double> mean{};  ///< of the data
    Matrix<double> forth{};      ///< components × columns: to variance 1
    Matrix<double> back{};       ///< its (pseudo-)inverse transposed, likewise
};

Whitened whiten(const Sample& sample, std::size_t components) {
    const std::size_t n = sample.size(), d = sample.x.columns();
    Whitened w{.columns = Matrix<double>(d, n), .mean = std::vector<double>(d, 0.0)};
    std::vector<double> row(d);
    for (std::size_t i = 0; i < n; ++i) {
        sample.x.copy_row(i, row);
        for (std::size_t j = 0; j < d; ++j) {
            w.columns(j, i) = row[j];
            w.mean[j] += row[j] / static_cast<double>(n);
        }
    }
    for (std::size_t j = 0; j < d; ++j) {
        for (double& value : w.columns.row(j)) value -= w.mean[j];
    }
    Matrix<double> covariance(d, d);
    multiply_transposed(w.columns.view(), w.columns.view(), covariance.view());
    for (double& value : covariance.values()) value /= static_cast<double>(n);
    const Spectrum spectrum = symmetric_eigen(covariance.view());
    const std::size_t m = components == 0 ? d : components;
    if (!(spectrum.values[d - m] > 1e-12 * spectrum.values.back())) {
        std::size_t rank = 0;
        while (rank < d && spectrum.values[d - 1 - rank] > 1e-12 * spectrum.values.back()) ++rank;
        throw InvalidInput("the columns are linearly dependent: there are at most " +
                           std::to_string(rank) + " sources; ask for so many components");
    }
    w.forth = Matrix<double>(m, d);
    w.back = Matrix<double>(m, d);
    for (std::size_t s = 0; s < m; ++s) {
        const double deviation = std::sqrt(spectrum.values[d - 1 - s]);
        for (std::size_t j = 0; j < d; ++j) {
            w.forth(s, j) = spectrum.vectors(d - 1 - s, j) / deviation;
            w.back(s, j) = spectrum.vectors(d - 1 - s, j) * deviation;
        }
    }
    return w;
}

/// a b for small a.
Matrix<double> product(const Matrix<double>& a, const Matrix<double>& b) {
    Matrix<double> c(a.rows(), b.columns());
    for (std::size_t i = 0; i < a.rows(); ++i) {
        for (std::size_t k = 0; k < a.columns(); ++k) {
            const auto from = b.row(k);
            const auto to = c.row(i);
            for (std::size_t j = 0; j < from.size(); ++j) to[j] += a(i, k) * from[j];
        }
    }
    return c;
}

/// Sources by falling variance contributed, ‖column of A‖; the largest weight of each positive.
void put_in_order(Matrix<double>& unmixing, Matrix<double>& mixing) {
    const std::size_t m = unmixing.rows();
    std::vector<std::size_t> order(m);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> size;
    for (std::size_t s = 0; s < m; ++s) {
        const auto a = mixing.row(s);
        size.push_back(std::inner_product(a.begin(), a.end(), a.begin(), 0.0));
    }
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return size[a] > size[b]; });
    Matrix<double> w(m, unmixing.columns()), a(m, mixing.columns());
    for (std::size_t s = 0; s < m; ++s) {
        const auto from = unmixing.row(order[s]);
        const double largest = *std::ranges::max_element(
            from, [](double x, double y) { return std::abs(x) < std::abs(y); });
        const double sign = largest < 0 ? -1 : 1;
        for (std::size_t j = 0; j < w.columns(); ++j) {
            w(s, j) = sign * from[j];
            a(s, j) = sign * mixing(order[s], j);
        }
    }
    unmixing = std::move(w);
    mixing = std::move(a);
}

/// s = W (x − mean) as an expansion: the rows of W are its points, each output takes one.
void set_unmixing(ModelParts& model, const Matrix<double>& unmixing,
                  const std::vector<double>& mean) {
    Expansion& e = model.expansion;
    const std::size_t m = unmixing.rows();
    e.kernel = linear();
    e.points = Rows::dense(unmixing.values(), unmixing.columns());
    e.coefficients = Matrix<double>(m, m);
    for (std::size_t s = 0; s < m; ++s) {
        e.coefficients(s, s) = 1;
        const auto w = unmixing.row(s);
        e.bias.push_back(-std::inner_product(w.begin(), w.end(), mean.begin(), 0.0));
    }
}

constexpr Words contrasts{std::pair{IcaContrast::correlation, "correlation"},
                          std::pair{IcaContrast::variance, "variance"}};

const Describe<IcaSettings>& ica_settings() {
    static const auto settings = [] {
        using S = IcaSettings;
        Describe<S> d;
        d.add(&S::components, "components", "sources; 0: as many as columns");
        d.add(&S::contrast, contrasts, "contrast", "what is lowered");
        d.add(&S::kappa, "kappa", "regularisation; 0: the usual one",
              {.low = 0, .words = "greater than 0, or 0 for the usual one"});
        d.add(&S::sweeps, "sweeps", "over all pairs of sources, at most", Range::at_least(1));
        d.add(&S::tolerance, "tolerance", "stop when a sweep turns no pair by more than this angle",
              Range::above(0));
        return d;
    }();
    return settings;
}

void check(const IcaSettings& s, std::size_t rows, std::size_t columns) {
    constexpr std::size_t most = 64;
    ica_settings().check(s);
    const std::size_t m = s.components == 0 ? columns : s.components;
    if (m < 2 || m > columns || m > most) {
        throw InvalidInput(std::to_string(m) + " components of " + std::to_string(columns) +
                           " columns: there must be at least 2, at most as many as columns, and "
                           "at most " +
                           std::to_string(most));
    }
    if (rows <= m) {
        throw InvalidInput(std::to_string(rows) + " rows are too few for " + std::to_string(m) +
                           " sources");
    }
    if (is_centered(s.common.kernel)) {
        throw InvalidInput("the sources are centred by themselves; leave center(…) out");
    }
}

}  // namespace

namespace {

Model learn(const IcaSettings& settings, const Dataset& data) {
    const IcaSettings& s = settings;
    const Run run = s.common.run();
    if (!data.weights.empty() &&
        std::ranges::adjacent_find(data.weights, std::not_equal_to<>()) != data.weights.end()) {
        throw InvalidInput(
            "independent components of weighted rows are not defined here; leave "
            "the weights out");
    }
    const Sample sample = take_sample(Task::ica, data, s.common);
    check(s, sample.size(), sample.x.columns());
    Whitened w = whiten(sample, s.components);
    const double kappa = s.kappa > 0 ? s.kappa : sample.size() > 1000 ? 0.002 : 0.02;
    Matrix<double> sources = product(w.forth, w.columns);
    const Kernel kernel = resolve(s.common.kernel, Rows::dense(sources.values(), 1));
    Search search(s, run, kernel, kappa, std::move(sources));
    const FitStatus status = search.sweep();
    Matrix<double> unmixing = product(search.rotation(), w.forth);
    Matrix<double> mixing = product(search.rotation(), w.back);
    put_in_order(unmixing, mixing);
    ModelParts model = begin_model(Task::ica, sample, s.common);
    model.double_precision = true;
    set_unmixing(model, unmixing, w.mean);
    model.trained.tolerance = s.tolerance;
    model.trained.numbers = {{"kappa", kappa},
                             {"variance", s.contrast == IcaContrast::variance ? 1.0 : 0.0}};
    Matrix<double> columns(mixing.columns(), mixing.rows());
    for (std::size_t i = 0; i < columns.rows(); ++i) {
        for (std::size_t j = 0; j < columns.columns(); ++j) columns(i, j) = mixing(j, i);
    }
    add_table(model, "mixing", std::move(columns));
    Report report;
    report.status = status;
    report.rows = sample.size();
    report.primal = search.contrast();
    report.iterations = search.history().size() - 1;
    report.history = search.history();
    report.figures = {{"contrast", search.contrast()},
                      {"sweeps", static_cast<double>(search.history().size() - 1)},
                      {"kappa", kappa}};
    report.seconds = run.seconds();
    model.reports = {std::move(report)};
    return Model(std::move(model));
}

}  // namespace

Model KernelIca::fit(const Dataset& data) const {
    require_numbers_only(data.x, "the separation of sources");
    return patient_fit(task(), settings_, data, learn);
}

Matrix<double> unmixing_matrix(const Model& model) {
    const bool straight = model.task() == tdsep_task && is_linear(model.expansion().kernel);
    if (model.task() != Task::ica && !straight) {
        throw InvalidInput("a model of the task " + task_name(model.task()) + " and the kernel " +
                           model.expansion().kernel.text() + " has no unmixing matrix");
    }
    // Scaling is s(x) = (x − c) f: differences of its values at unit vectors are the factors.
    const std::size_t d = model.columns();
    Matrix<double> unit(d + 1, d);
    for (std::size_t j = 0; j < d; ++j) unit(j + 1, j) = 1;
    const Matrix<double> f = model.decision(Rows::dense(unit.values(), d));
    Matrix<double> w(f.columns(), d);
    for (std::size_t s = 0; s < w.rows(); ++s) {
        for (std::size_t j = 0; j < d; ++j) w(s, j) = f(j + 1, s) - f(0, s);
    }
    return w;
}

MachineEntry ica_entry() {
    return ica_settings().entry({.task = Task::ica,
                                 .name = "ica",
                                 .family = "components",
                                 .learns = Learns::functions,
                                 .about = "independent sources of mixed rows",
                                 .command = "ica"},
                                kernel_ica);
}

}  // namespace mercer
