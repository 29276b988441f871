#include "mercer/learn/online/adatron.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "mercer/base/error.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/svm/detail/subproblem.hpp"
#include "mercer/solver/dual.hpp"

namespace mercer {
namespace {

const Describe<AdatronSettings>& described() {
    static const auto settings = [] {
        using S = AdatronSettings;
        Describe<S> d;
        Range below_two = Range::inside(0, 2);
        below_two.words =
            "greater than 0 and less than 2: beyond that the steps no longer raise the dual";
        d.add(&S::rate, "rate", "step, as a multiple of 1 / max k(x,x), below 2", below_two)
            .tunable = true;
        Setting& penalty = d.add(&S::C, "C", "penalty of errors; 0: the hard margin",
                                 {.low = 0, .words = "0 (hard margin) or greater"});
        penalty.tunable = true;
        penalty.flag = "C,cost";
        d.add(&S::bias, "bias", "learn a constant too");
        d.add(&S::multi_class, multi_class_words, "multi_class",
              "more than two classes: every pair, or each against the rest");
        d.add(&S::tolerance, "tolerance", "stop at this violation of the optimality conditions",
              Range::above(0))
            .flag = "tol";
        d.add(&S::passes, "passes", "over the data, at most", Range::at_least(1)).tunable = true;
        return d;
    }();
    return settings;
}

void check_settings(const AdatronSettings& s) {
    described().check(s);
}

/// Two classes, as a problem without equality: what certificate and SMO know it by.
struct Pair {
    std::string name{};
    std::vector<std::size_t> positions{};
    Subproblem problem{};
};

Pair pair_of(const AdatronSettings& s, const Sample& sample, std::size_t a, std::size_t b,
             bool against_rest) {
    Pair pair;
    pair.problem.task = s.C > 0 ? Task::svc : Task::hard_margin;
    pair.problem.bias = false;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const std::size_t c = sample.class_of(i);
        if (!against_rest && c != a && c != b) continue;
        pair.positions.push_back(i);
        pair.problem.target.push_back(c == a ? 1 : -1);
        pair.problem.bound.push_back(s.C > 0 ? s.C * sample.weight(i)
                                             : std::numeric_limits<double>::infinity());
    }
    if (sample.classes.count() > 2) {
        const auto& names = sample.classes.names;
        pair.name = names[a] + " vs " + (against_rest ? "rest" : names[b]);
    }
    return pair;
}

std::vector<Pair> pairs_of(const AdatronSettings& s, const Sample& sample) {
    const std::size_t k = sample.classes.count();
    std::vector<Pair> pairs;
    if (k > 2 && s.multi_class == MultiClass::one_vs_rest) {
        for (std::size_t a = 0; a < k; ++a) pairs.push_back(pair_of(s, sample, a, 0, true));
        return pairs;
    }
    for (std::size_t a = 0; a < k; ++a) {
        for (std::size_t b = a + 1; b < k; ++b) pairs.push_back(pair_of(s, sample, a, b, false));
    }
    return pairs;
}

/// The coefficients of one problem on their way up. v_i = Σ_j α_j y_j K(i, j), so h_i = y_i v_i.
template <class T>
class Ascent {
   public:
    Ascent(const SymmetricOperator<T>& op, const Subproblem& problem, double rate)
        : op_(op),
          problem_(problem),
          alpha_(problem.size(), 0.0),
          v_(problem.size(), 0.0),
          diagonal_(problem.size()),
          block_(std::min<std::size_t>(problem.size(), 128), problem.size()) {
        op.diagonal(diagonal_);
        const double largest = *std::ranges::max_element(diagonal_);
        if (!(largest > 0) || !std::isfinite(largest)) {
            throw InvalidInput("the Adatron needs a kernel with a finite k(x,x) > 0 for some row");
        }
        eta_ = rate / largest;
    }

    /// All rows once, in order. The kernel rows of those that are likely to move come in blocks.
    void pass(const Progress& progress = {}) {
        const std::size_t n = alpha_.size();
        for (std::size_t first = 0; first < n; first += block_.rows()) {
            if (!keep_going(progress, {"training", -1})) throw Cancelled();
            const std::size_t last = std::min(n, first + block_.rows());
            which_.clear();
            for (std::size_t i = first; i < last; ++i) {
                if (change(i) != 0) which_.push_back(i);
            }
            if (!which_.empty()) {
                op_.rows(which_, block_.view().block(0, 0, which_.size(), n));
            }
            std::size_t next = 0;
            for (std::size_t i = first; i < last; ++i) {
                const bool fetched = next < which_.size() && which_[next] == i;
                const std::span<const T> row = block_.row(fetched ? next++ : 0);
                step(i, fetched ? row : std::span<const T>());
            }
        }
    }

    /// Rule (32), with the upper bound of a soft margin.
    double change(std::size_t i) const {
        const double h = problem_.target[i] * v_[i];
        return std::min(problem_.bound[i] - alpha_[i], std::max(-alpha_[i], eta_ * (1 - h)));
    }

    /// Largest |∂Q/∂α| on the wrong side: 0 exactly at the fixed points of the rule.
    double violation() const {
        double worst = 0;
        for (std::size_t i = 0; i < alpha_.size(); ++i) {
            const double slope = 1 - problem_.target[i] * v_[i];
            if (alpha_[i] < problem_.bound[i]) worst = std::max(worst, slope);
            if (alpha_[i] > 0) worst = std::max(worst, -slope);
        }
        return worst;
    }

    /// v afresh from the kernel, free of what rounding has added up.
    void refresh() {
        std::ranges::fill(v_, 0.0);
        std::vector<std::size_t> support;
        for (std::size_t i = 0; i < alpha_.size(); ++i) {
            if (alpha_[i] > 0) support.push_back(i);
        }
        for (std::size_t first = 0; first < support.size(); first += block_.rows()) {
            const std::size_t count = std::min(block_.rows(), support.size() - first);
            const auto part = std::span(support).subspan(first, count);
            op_.rows(part, block_.view().block(0, 0, count, alpha_.size()));
            for (std::size_t r = 0; r < count; ++r) {
                add(block_.row(r), alpha_[part[r]] * problem_.target[part[r]]);
            }
        }
        objective_ = 0;
        for (std::size_t i = 0; i < alpha_.size(); ++i) {
            objective_ += alpha_[i] * (1 - 0.5 * problem_.target[i] * v_[i]);
        }
    }

    const std::vector<double>& alpha() const { return alpha_; }
    const std::vector<double>& v() const { return v_; }
    double objective() const { return objective_; }
    double least_gain() const { return least_gain_; }
    std::size_t steps() const { return steps_; }
    double eta() const { return eta_; }

   private:
    void step(std::size_t i, std::span<const T> row) {
        const double delta = change(i);
        if (delta == 0) return;
        if (row.empty()) {  // an earlier row of the block has made this one move
            single_.resize(alpha_.size());
            op_.rows({&i, 1}, MatrixView<T>(single_.data(), 1, alpha_.size()));
            row = single_;
        }
        // (36): ΔQ = Δα (1 − h − ½ Δα k(x, x)).
        const double h = problem_.target[i] * v_[i];
        const double gain = delta * (1 - h - 0.5 * delta * diagonal_[i]);
        objective_ += gain;
        least_gain_ = steps_ == 0 ? gain : std::min(least_gain_, gain);
        ++steps_;
        alpha_[i] += delta;
        add(row, delta * problem_.target[i]);
    }

    void add(std::span<const T> row, double factor) {
        for (std::size_t j = 0; j < row.size(); ++j) v_[j] += factor * static_cast<double>(row[j]);
    }

    const SymmetricOperator<T>& op_;
    const Subproblem& problem_;
    std::vector<double> alpha_;
    std::vector<double> v_;
    std::vector<double> diagonal_;
    Matrix<T> block_;
    std::vector<T> single_{};
    std::vector<std::size_t> which_{};
    double eta_ = 0;
    double objective_ = 0;
    double least_gain_ = 0;
    std::size_t steps_ = 0;
};

/// Passes until the conditions hold to the tolerance. `listen` is told after each pass and asks the
/// run whether to go on.
template <class T>
FitStatus climb(Ascent<T>& ascent, const AdatronSettings& s, const Run& run,
                const std::function<bool(std::size_t)>& listen) {
    for (std::size_t pass = 0; pass < s.passes; ++pass) {
        try {
            ascent.pass(run.progress());
        } catch (const Cancelled&) {  // between two steps, and so whole
            return fit_status(run);
        }
        bool done = ascent.violation() <= s.tolerance;
        if (done) {
            ascent.refresh();
            done = ascent.violation() <= s.tolerance;
        }
        if (!listen(pass)) return fit_status(run);
        if (done) return FitStatus::converged;
    }
    return FitStatus::iteration_limit;
}

/// One training in one precision.
template <class T>
class Trainer {
   public:
    using Operator = std::shared_ptr<const SymmetricOperator<T>>;

    Trainer(const AdatronSettings& settings, const Sample& sample)
        : settings_(settings),
          sample_(sample),
          run_(settings.common.run()),
          // The constant 1 is the image's extra coordinate, which the bias weighs.
          gram_(make_gram<T>(settings.bias ? sample.kernel + 1.0 : sample.kernel, sample.x,
                             sample.data.feature_names)),
          whole_(make_operator(gram_, {.reuse = Reuse::whole,
                                       .memory_bytes = settings.common.memory_bytes,
                                       .progress = settings.common.progress})),
          curvature_(gram_.kernel(), sample.x, Directions::any) {}

    Operator operator_for(const Pair& pair) const {
        if (pair.positions.size() == sample_.size()) return whole_;
        return sub_operator(whole_, pair.positions);
    }

    void fit(ModelParts& model) {
        const std::vector<Pair> pairs = pairs_of(settings_, sample_);
        Matrix<double> coefficients(pairs.size(), sample_.size());
        std::vector<double> bias;
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            const Learned learned = solve(pairs[p], p, pairs.size(), model.reports);
            double sum = 0;
            for (std::size_t i = 0; i < learned.beta.size(); ++i) {
                coefficients(p, pairs[p].positions[i]) = learned.beta[i];
                sum += learned.beta[i];
            }
            bias.push_back(settings_.bias ? sum : 0);
            model.reports.back().bias = bias.back();
        }
        const Kernel own = resolve(sample_.kernel, sample_.x, sample_.data.feature_names);
        set_expansion(model, sample_, own, coefficients, std::move(bias));
    }

   private:
    Learned solve(const Pair& pair, std::size_t number, std::size_t pairs,
                  std::vector<Report>& reports) {
        const double begun = run_.seconds();
        const Operator op = operator_for(pair);
        const std::uint64_t before = op->evaluations();
        Ascent<T> ascent(*op, pair.problem, settings_.rate);
        std::vector<double> history;
        FitStatus status = fit_status(run_);
        if (!run_.is_over()) {
            status = climb<T>(ascent, settings_, run_, [&](std::size_t pass) {
                history.push_back(ascent.objective());
                const double done =
                    (static_cast<double>(number) +
                     static_cast<double>(pass) / static_cast<double>(settings_.passes)) /
                    static_cast<double>(pairs);
                const std::string detail = pair.name + " pass " + std::to_string(pass + 1) +
                                           "  violation " + std::to_string(ascent.violation());
                return run_.goes_on({"training", done, detail});
            });
        }
        // Who is told to stop does not begin a pass over all support vectors.
        if (status == FitStatus::iteration_limit) ascent.refresh();
        Learned learned;
        for (std::size_t i = 0; i < ascent.alpha().size(); ++i) {
            learned.beta.push_back(ascent.alpha()[i] * pair.problem.target[i]);
        }
        Report report = certify(pair.problem, learned, ascent.v());
        report.name = pair.name;
        report.status = status;
        settle_bracket(report, curvature_(RowChoice(pair.positions), status),
                       reach_of(pair.problem, learned));
        report.iterations = ascent.steps();
        report.kernel_evaluations = op->evaluations() - before;
        report.seconds = run_.seconds() - begun;
        report.figures["passes"] = static_cast<double>(history.size());
        report.figures["least_gain"] = ascent.least_gain();
        report.figures["eta"] = ascent.eta();
        report.history = std::move(history);
        reports.push_back(std::move(report));
        return learned;
    }

    const AdatronSettings& settings_;
    const Sample& sample_;
    Run run_;
    Gram<T> gram_;
    Operator whole_;
    CurvatureTest curvature_;
};

template <class T>
std::vector<CurvePoint> curves(const AdatronSettings& s, const Sample& sample) {
    const Trainer<T> trainer(s, sample);
    const Pair pair = pairs_of(s, sample).front();
    const auto op = trainer.operator_for(pair);
    std::vector<CurvePoint> points;
    const Run run = s.common.run();
    Ascent<T> ascent(*op, pair.problem, s.rate);
    climb<T>(ascent, s, run, [&](std::size_t) {
        points.push_back(
            {"adatron", ascent.steps(), run.seconds(), ascent.objective(), ascent.violation()});
        return run.goes_on({"adatron", -1});
    });
    DualSettings dual;
    dual.method = DualMethod::smo;
    dual.tolerance = s.tolerance;
    dual.time_limit = s.common.time_limit;
    dual.progress = [&](const DualMoment& m) {
        points.push_back({"smo", m.steps, m.seconds, 0 - m.objective, m.violation});
        return keep_going(s.common.progress, {"smo", -1});
    };
    const DualSolution solution = solve_dual(*op, make_dual(pair.problem), dual);
    points.push_back(
        {"smo", solution.steps, solution.seconds, 0 - solution.objective, solution.violation});
    return points;
}

}  // namespace

namespace {

Model learn(const AdatronSettings& settings, const Dataset& data) {
    check_settings(settings);
    const Sample sample = take_sample(Task::adatron, data, settings.common);
    ModelParts model = begin_model(Task::adatron, sample, settings.common);
    model.multi_class = settings.multi_class;
    model.trained.C = settings.C;
    model.trained.tolerance = settings.tolerance;
    model.trained.bias = settings.bias;
    model.trained.numbers["rate"] = settings.rate;
    model.trained.numbers["passes"] = static_cast<double>(settings.passes);
    if (settings.common.double_precision) {
        Trainer<double>(settings, sample).fit(model);
    } else {
        Trainer<float>(settings, sample).fit(model);
    }
    return Model(std::move(model));
}

}  // namespace

Model Adatron::fit(const Dataset& data) const {
    return patient_fit(task(), settings_, data, learn);
}

std::vector<CurvePoint> convergence_curves(const AdatronSettings& settings, const Dataset& data) {
    check_settings(settings);
    const Sample sample = take_sample(Task::adatron, data, settings.common);
    if (sample.classes.count() != 2) {
        throw InvalidInput(
            "a convergence curve is that of one problem: it needs data of two "
            "classes, and there are " +
            std::to_string(sample.classes.count()));
    }
    return settings.common.double_precision ? curves<double>(settings, sample)
                                            : curves<float>(settings, sample);
}

AdatronSettings adatron_settings(FitSettings common, const SettingValues& values) {
    return described().filled("adatron", std::move(common), values);
}

MachineEntry adatron_entry() {
    return described().entry({.task = Task::adatron,
                              .name = "adatron",
                              .family = "online",
                              .learns = Learns::classes,
                              .about = "the maximum margin, one coefficient at a time",
                              .certified = true},
                             adatron);
}

}  // namespace mercer
