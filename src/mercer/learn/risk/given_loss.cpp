#include "mercer/learn/risk/given_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/formula.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/risk/detail/convex_function.hpp"
#include "mercer/learn/risk/detail/newton_risk.hpp"

namespace mercer {
namespace {

const Describe<GivenRiskSettings>& given_risk_described() {
    static const auto settings = [] {
        using S = GivenRiskSettings;
        Describe<S> d;
        Setting& loss = d.add(&S::loss, "loss", "formula in y and z, convex in z");
        loss.placeholder = "FORMULA";
        Setting& slope =
            d.add(&S::slope, "slope", "formula of its slope in z; left out: by differences");
        slope.flag = "loss-slope";
        slope.placeholder = "FORMULA";
        Setting& omega =
            d.add(&S::regulariser, "regulariser", "formula in norm, the length of the function");
        omega.placeholder = "FORMULA";
        d.add(&S::lambda, "lambda", "weight of the penalty", Range::above(0)).tunable = true;
        d.add(&S::bias, "bias", "learn a constant too");
        d.add(&S::tolerance, "tolerance", "stop at this relative gap", Range::above(0)).flag =
            "gap";
        d.add(&S::iteration_limit, "iteration_limit", "Newton steps, at most").flag = "-";
        return d;
    }();
    return settings;
}

/// A formula in y and z seen at many of them.
LossBatch batch_of(const std::string& text) {
    const std::vector<std::string> names{"y", "z"};
    const Formula formula = Formula::parse(text).bind(names);
    return [formula](std::span<const double> y, std::span<const double> z, std::span<double> out) {
        for (std::size_t i = 0; i < z.size(); ++i) {
            const double row[] = {y[i], z[i]};
            out[i] = formula(row);
        }
    };
}

ConvexLoss loss_of(const GivenRiskSettings& s) {
    if (s.functions.value) return {s.functions.value, s.functions.slope};
    return {batch_of(s.loss), s.slope.empty() ? LossBatch() : batch_of(s.slope)};
}

bool is_square(const GivenRiskSettings& s) {
    return !s.functions.regulariser &&
           Formula::parse(s.regulariser).text() == Formula::parse("norm^2").text();
}

Rising regulariser_of(const GivenRiskSettings& s) {
    if (s.functions.regulariser) return {s.functions.regulariser};
    const Formula formula = Formula::parse(s.regulariser);
    if (formula.has_names() || formula.columns_needed() > 0) {
        throw InvalidSetting("regulariser = " + quoted(s.regulariser) +
                             " must be a formula in norm alone, such as norm^1.5");
    }
    return {[formula](double norm) {
        const double row[] = {norm};
        return formula(row);
    }};
}

/// One output: what is minimised, and what has been found.
class Problem {
   public:
    Problem(const GivenRiskSettings& settings, const RiskMatrix& k, std::vector<double> y,
            std::span<const double> weights)
        : settings_(settings),
          k_(k),
          y_(std::move(y)),
          weights_(weights),
          loss_(loss_of(settings)),
          omega_(regulariser_of(settings)),
          square_(is_square(settings)) {
        const auto [low, high] = std::ranges::minmax(y_);
        spread_ = std::max(high - low, 1e-3);
        loss_.check_convex(y_, low - 2 * spread_, high + 2 * spread_);
    }

    Report solve() {
        if (square_) {
            at(settings_.lambda);
        } else if (omega_.check(1000 * spread_)) {
            along_path();
        } else {
            convex_ = false;
            lowest_of_path();
        }
        const auto [low, high] = std::ranges::minmax(z_of(best_));
        loss_.check_convex(y_, low - 0.1 * spread_, high + 0.1 * spread_);
        return report();
    }

    bool is_convex() const { return convex_; }
    const RiskSolution& solution() const { return best_; }

   private:
    double weight(std::size_t i) const { return weights_.empty() ? 1 : weights_[i]; }

    std::vector<double> z_of(const RiskSolution& s) const {
        std::vector<double> z = s.image;
        for (double& v : z) v += s.bias;
        return z;
    }

    RiskSolution newton(double nu, double gap, std::size_t limit, std::span<const double> start) {
        const RiskProblem problem{.k = &k_,
                                  .target = y_,
                                  .weights = weights_,
                                  .lambda = nu,
                                  .bias = settings_.bias,
                                  .given = &loss_};
        const Progress& progress = settings_.common.progress;
        NewtonSettings how{
            .relative_gap = gap, .iteration_limit = limit, .progress = progress, .start = start};
        how.interrupted = [&] {
            return keep_going(progress, {"newton", -1}) ? FitStatus::converged
                                                        : FitStatus::cancelled;
        };
        RiskSolution s = minimise_risk(problem, how);
        steps_ += s.iterations;
        if (s.status == FitStatus::cancelled) throw Cancelled();
        return s;
    }

    /// The machine of ν‖f‖², kept when it is the best by its gap. First by the loss itself; where
    /// that ends at a kink, by envelopes that come ever closer to it.
    void at(double nu) {
        nu_ = nu;
        loss_.smooth(0);
        const double wanted = (square_ ? 1 : 0.3) * settings_.tolerance;
        // As far as it goes: near the end a step costs little and is worth many digits.
        RiskSolution direct = newton(nu, 1e-13, 30, best_.alpha);
        const bool smooth = direct.status == FitStatus::converged;
        keep(std::move(direct));
        if (smooth && !square_) return;
        double t = spread_;
        std::vector<double> start;
        while (own_gap_ > wanted && t > 1e-9 * spread_ && steps_ < most_steps()) {
            t /= 10;
            loss_.smooth(t);
            RiskSolution s = newton(nu, 0.1 * wanted, settings_.iteration_limit, start);
            if (!s.positive_definite) break;
            start = s.alpha;
            keep(std::move(s));
        }
    }
    std::size_t most_steps() const { return 20 * settings_.iteration_limit; }

    /// 2ν‖f‖ = λΩ'(‖f‖) along the path: the left side less the right rises with ν.
    void along_path() {
        const auto rest = [this](double nu) {
            at(nu);
            const double s = norm(last_);
            return 2 * nu * s - settings_.lambda * omega_.slope(s);
        };
        double low = settings_.lambda, high = settings_.lambda;
        double found = rest(low);
        for (int i = 0; i < 30 && found > 0 && gap_ > settings_.tolerance; ++i) {
            found = rest(low /= 10);
        }
        if (low == high) {
            for (int i = 0; i < 30 && found < 0 && gap_ > settings_.tolerance; ++i) {
                found = rest(high *= 10);
            }
        }
        for (int i = 0; i < 100 && gap_ > settings_.tolerance && high > low * (1 + 1e-13); ++i) {
            const double middle = std::sqrt(low) * std::sqrt(high);
            (rest(middle) < 0 ? low : high) = middle;
        }
    }

    /// Without convexity the least of the path is looked for.
    void lowest_of_path() {
        RiskSolution lowest;
        double value = infinity, where = settings_.lambda;
        const auto look = [&](double nu) {
            best_gap_ = gap_ = infinity;
            at(nu);
            if (primal_of(best_) >= value) return;
            value = primal_of(best_);
            lowest = best_;
            where = nu;
        };
        for (int p = -12; p <= 12; ++p) look(settings_.lambda * std::pow(10, p / 3.0));
        for (double factor = 1.5; factor > 1.01; factor = std::sqrt(factor)) {
            const double centre = where;
            look(centre * factor);
            look(centre / factor);
        }
        best_ = std::move(lowest);
        best_nu_ = where;
    }

    double norm(const RiskSolution& s) const {
        return std::sqrt(std::max(0.0, dot(s.alpha, s.image)));
    }

    double primal_of(const RiskSolution& s) const {
        std::vector<double> value(y_.size());
        loss_.values(y_, z_of(s), value);
        double sum = settings_.lambda * omega_.value(norm(s));
        for (std::size_t i = 0; i < y_.size(); ++i) sum += weight(i) * value[i];
        return sum;
    }

    /// The dual at β = −c w ℓ'(z), c = 1 or, where Ω* is infinite there, as large as it allows.
    double dual_of(RiskSolution& s) {
        const std::size_t n = y_.size();
        const std::vector<double> z = z_of(s);
        std::vector<double> a(n), beta(n), image(n), conjugate(n), near(n);
        loss_.evaluate(y_, z, {}, a, {});
        double sum = 0, size = 0;
        for (std::size_t i = 0; i < n; ++i) {
            beta[i] = -weight(i) * a[i];
            sum += beta[i];
            size += std::abs(beta[i]);
        }
        s.infeasibility = settings_.bias ? std::abs(sum) : 0;
        own_gap_ = infinity;
        // What the sum is off by is a rounding of slopes; more is no point of the dual.
        if (s.infeasibility > 1e-6 * size) return -infinity;
        k_.multiply(beta, image);
        const double length = std::sqrt(std::max(0.0, dot(beta, image)));
        const double lambda = settings_.lambda;
        double c = 1;
        double own = omega_.conjugate(length / lambda, norm(s));
        if (!std::isfinite(own) && length > 0) {
            c = std::min(1.0, lambda * omega_.slope(1e6 * (1 + norm(s))) / length) * (1 - 1e-9);
            own = omega_.conjugate(c * length / lambda, norm(s));
        }
        for (std::size_t i = 0; i < n; ++i) near[i] = z[i] - loss_.smoothing() * a[i];
        const auto sum_of_conjugates = [&] {
            loss_.conjugates(y_, a, near, conjugate);
            double all = 0;
            for (std::size_t i = 0; i < n; ++i) all += weight(i) * conjugate[i];
            return all;
        };
        double all = sum_of_conjugates();
        // The gap of the machine of ν‖f‖².
        const double risk = s.primal - lambda * omega_.value(norm(s));
        const double primal = risk + nu_ * norm(s) * norm(s);
        const double dual = -all - length * length / (4 * nu_);
        own_gap_ = (primal - dual) / std::max({std::abs(primal), std::abs(dual), 1e-300});
        if (c < 1) {
            for (double& v : a) v *= c;
            all = sum_of_conjugates();
        }
        return -lambda * own - all;
    }

    void keep(RiskSolution s) {
        if (!s.positive_definite) definite_ = false;
        s.primal = primal_of(s);
        s.dual = dual_of(s);
        if (!convex_) s.dual = -infinity;
        const double size = std::max(std::abs(s.primal), std::abs(s.dual));
        gap_ = std::isfinite(s.dual) && size > 0 ? (s.primal - s.dual) / size
               : s.primal == s.dual              ? 0
                                                 : infinity;
        if (!convex_) gap_ = s.primal;  // the best is the lowest
        last_ = s;
        if (!best_.image.empty() && !(gap_ < best_gap_)) return;
        best_gap_ = gap_;
        best_nu_ = nu_;
        smoothing_ = loss_.smoothing();
        best_ = std::move(s);
    }

    Report report() const {
        if (best_.image.empty() || (!definite_ && !std::isfinite(best_gap_))) {
            throw InvalidInput(
                "the kernel is not positive definite on this data, and Newton's method needs that; "
                "use a larger lambda or another kernel");
        }
        Report r;
        r.primal = best_.primal;
        r.dual = best_.dual;
        r.infeasibility = best_.infeasibility;
        r.kkt_violation = best_.violation;  // by slopes of the envelope, which the loss has nearby
        set_gap(r);
        r.status = !convex_ || r.relative_gap <= settings_.tolerance ? FitStatus::converged
                   : steps_ >= most_steps()                          ? FitStatus::iteration_limit
                                                                     : FitStatus::stalled;
        r.squared_norm = dot(best_.alpha, best_.image);
        r.bias = best_.bias;
        r.rows = y_.size();
        r.iterations = steps_;
        r.figures = {{"lambda", settings_.lambda},
                     {"norm", norm(best_)},
                     {"quadratic", best_nu_},
                     {"smoothing", smoothing_}};
        return r;
    }

    const GivenRiskSettings& settings_;
    const RiskMatrix& k_;
    std::vector<double> y_;
    std::span<const double> weights_;
    ConvexLoss loss_;
    Rising omega_;
    bool square_;
    bool convex_ = true;
    bool definite_ = true;
    double spread_ = 1;
    double nu_ = 0;
    double best_nu_ = 0;
    double gap_ = infinity;
    double own_gap_ = infinity;  ///< of the machine of ν‖f‖²
    double best_gap_ = infinity;
    double smoothing_ = 0;
    std::size_t steps_ = 0;
    RiskSolution last_{};
    RiskSolution best_{};
};

Model train(Task task, const GivenRiskSettings& settings, const Dataset& data) {
    const Stopwatch clock;
    const Sample sample = take_sample(task, data, settings.common);
    const std::size_t n = sample.size();
    if (settings.common.target_scale != TargetScale::automatic &&
        settings.common.target_scale != TargetScale::none) {
        throw InvalidInput("the task " + task_name(task) +
                           " knows nothing of its loss, which is one of the targets as they are; "
                           "leave out their scaling");
    }
    const Gram<double> gram = make_gram<double>(sample.kernel, sample.x, sample.data.feature_names);
    const OwnRiskMatrix k(gram, settings.common);
    const bool classes = is_classifier(task);
    const std::size_t outputs =
        classes && sample.classes.count() > 2 ? sample.classes.count() : std::size_t{1};
    CurvatureTest curvature(gram.kernel(), sample.x,
                            settings.bias ? Directions::balanced : Directions::any);
    ModelParts model = begin_model(task, sample, settings.common);
    model.double_precision = true;
    model.trained.bias = settings.bias;
    model.trained.tolerance = settings.tolerance;
    model.trained.numbers["lambda"] = settings.lambda;
    Matrix<double> coefficients(outputs, n);
    std::vector<double> bias;
    for (std::size_t o = 0; o < outputs; ++o) {
        std::vector<double> y = sample.data.y.values;
        for (std::size_t i = 0; i < n && classes; ++i) y[i] = sample.class_of(i) == o ? 1 : -1;
        Problem problem(settings, k.matrix(), std::move(y), sample.data.weights);
        Report report = problem.solve();
        const Curvature found =
            problem.is_convex() ? curvature({}, report.status) : Curvature{Convexity::unknown};
        settle_bracket(report, found, infinity);
        if (outputs > 1) report.name = sample.classes.names[o] + " vs rest";
        std::ranges::copy(problem.solution().alpha, coefficients.row(o).begin());
        bias.push_back(problem.solution().bias);
        model.reports.push_back(std::move(report));
    }
    set_expansion(model, sample, gram.kernel(), coefficients, std::move(bias));
    const double seconds = clock.seconds();
    for (Report& r : model.reports) {
        r.seconds = seconds / static_cast<double>(outputs);
        r.free_support_vectors = model.expansion.size();
    }
    return Model(std::move(model));
}

}  // namespace

Model GivenRisk::fit(const Dataset& data) const {
    given_risk_described().check(settings_);
    return patient_fit(
        task_, settings_, data,
        [this](const GivenRiskSettings& s, const Dataset& d) { return train(task_, s, d); });
}

GivenRiskSettings given_risk_settings(FitSettings common, const std::string& task,
                                      const SettingValues& values) {
    return given_risk_described().filled(task, std::move(common), values);
}

std::vector<MachineEntry> given_risk_entries() {
    const auto entry = [](Task task, std::string name, Learns learns, std::string about) {
        return given_risk_described().entry(
            {.task = task,
             .name = std::move(name),
             .family = "risk",
             .learns = learns,
             .about = std::move(about),
             .certified = true},
            [task](GivenRiskSettings s) { return GivenRisk(task, std::move(s)); });
    };
    return {
        entry(risk_task, "risk", Learns::numbers, "any convex loss and regulariser, for numbers"),
        entry(risk_classes_task, "risk-classes", Learns::classes,
              "any convex loss and regulariser, for classes")};
}

}  // namespace mercer
