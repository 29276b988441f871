// The dual has one vector of multipliers a level, 0 <= α_j <= 1/(ν_j m), Σ α_j = 1, and the value
// −(1/2q) γ'Kγ with γ = Σ_j α_j = q w. Levels take turns: with the others held fixed one of them is
// a one-class problem with a linear term, ½α'Kα + α'K(γ − α_j), for the one dual solver. The
// constraints are those of each level alone, so that taking turns ends at the optimum; how far it
// is the gap says, whose primal value is that of w with the best thresholds, which are quantiles of
// <w, Φ(x_i)>.
#include "mercer/learn/risk/regions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/dist/detail/one_rank.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/locate.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/rank_values.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/risk/detail/region_levels.hpp"
#include "mercer/solver/dual.hpp"

namespace mercer {
namespace {

constexpr std::size_t most_levels = 100;
constexpr std::size_t most_sweeps = 500;

const Describe<RegionSettings>& region_settings() {
    static const auto settings = [] {
        Describe<RegionSettings> d;
        Setting& shares = d.add(&RegionSettings::shares, "shares",
                                "of the rows that the regions hold, at least", Range::inside(0, 1));
        shares.placeholder = "X,X,…";
        Setting& tolerance = d.add(&RegionSettings::tolerance, "tolerance",
                                   "stop at this relative gap", Range::above(0));
        tolerance.of_solver = true;
        tolerance.flag = "tol";
        return d;
    }();
    return settings;
}

std::vector<double> sorted_shares(const RegionSettings& s) {
    region_settings().check(s);
    std::vector<double> shares = s.shares;
    std::ranges::sort(shares);
    if (shares.empty() || shares.size() > most_levels) {
        throw InvalidInput("`shares` takes 1 to 100 numbers, and was given " +
                           std::to_string(shares.size()));
    }
    for (std::size_t j = 0; j < shares.size(); ++j) {
        if (!(shares[j] > 0 && shares[j] < 1)) {
            throw InvalidInput("shares = " + format_number(shares[j]) +
                               " must be greater than 0 and less than 1");
        }
        if (j > 0 && shares[j] == shares[j - 1]) {
            throw InvalidInput("the share " + format_number(shares[j]) + " is given twice");
        }
    }
    return shares;
}

class Turns {
   public:
    Turns(const Sample& sample, const Kernel& kernel, const RegionSettings& settings,
          std::vector<double> shares)
        : sample_(sample),
          settings_(settings),
          shares_(std::move(shares)),
          gram_(make_gram<double>(kernel, sample.x, sample.data.feature_names,
                                  settings.common.progress)),
          k_(make_operator(gram_, {.reuse = Reuse::whole,
                                   .memory_bytes = settings.common.memory_bytes,
                                   .progress = settings.common.progress})),
          alpha_(shares_.size()),
          product_(shares_.size()),
          gamma_(sample.size(), 0.0),
          value_(sample.size(), 0.0) {
        for (std::size_t i = 0; i < sample.size(); ++i) total_ += sample.weight(i);
    }

    FitStatus run() {
        for (sweeps = 1;; ++sweeps) {
            for (std::size_t j = 0; j < shares_.size(); ++j) turn(j);
            measure();
            const double enough = settings_.tolerance * std::max(std::abs(primal), std::abs(dual));
            if (std::abs(gap()) <= enough) return FitStatus::converged;
            // Below 0 it is no gap: the kernel has negative curvature, and turns need not end.
            if (gap() < 0) return FitStatus::stalled;
            if (shares_.size() == 1 || sweeps == most_sweeps) return FitStatus::iteration_limit;
            const double done = static_cast<double>(sweeps) / most_sweeps;
            const Moment moment{.task = "nested regions", .fraction = done};
            if (!keep_going(settings_.common.progress, moment)) return FitStatus::cancelled;
        }
    }

    /// Of w: γ/q.
    Matrix<double> coefficients() const {
        Matrix<double> c(1, gamma_.size());
        for (std::size_t i = 0; i < gamma_.size(); ++i) c(0, i) = gamma_[i] / levels();
        return c;
    }
    double gap() const { return primal - dual; }
    const std::vector<double>& gamma() const { return gamma_; }

    double primal = 0;
    double dual = 0;
    double squared_norm = 0;
    double kkt_violation = 0;
    std::size_t sweeps = 0;

   private:
    double levels() const { return static_cast<double>(shares_.size()); }
    double nu(std::size_t j) const { return 1 - shares_[j]; }
    double bound(std::size_t j, std::size_t i) const {
        return sample_.weight(i) / (nu(j) * total_);
    }

    void turn(std::size_t j) {
        const std::size_t n = sample_.size();
        DualProblem problem;
        problem.lower.assign(n, 0.0);
        problem.equalities = {{.coefficients = std::vector<double>(n, 1.0), .value = 1}};
        for (std::size_t i = 0; i < n; ++i) {
            problem.upper.push_back(bound(j, i));
            problem.p.push_back(value_[i] - (product_[j].empty() ? 0 : product_[j][i]));
        }
        DualSettings dual_settings;
        // Of the size of the values <w, Φ(x)>, once there is one.
        dual_settings.tolerance =
            0.1 * settings_.tolerance * (squared_norm > 0 ? levels() * squared_norm : scale());
        DualSolution solution = solve_dual(*k_, problem, dual_settings, alpha_[j]);
        for (std::size_t i = 0; i < n; ++i) {
            gamma_[i] += solution.alpha[i] - (alpha_[j].empty() ? 0 : alpha_[j][i]);
            value_[i] = problem.p[i] + solution.row_gradient[i];
        }
        alpha_[j] = std::move(solution.alpha);
        product_[j] = std::move(solution.row_gradient);
    }

    double scale() const {
        std::vector<double> diagonal(sample_.size());
        k_->diagonal(diagonal);
        return 0.01 *
               std::max(*std::ranges::max_element(diagonal), std::numeric_limits<double>::min());
    }

    void measure() {
        std::vector<double> f = value_;
        for (double& x : f) x /= levels();
        squared_norm = std::inner_product(gamma_.begin(), gamma_.end(), f.begin(), 0.0) / levels();
        const RegionValues values = region_values(sample_, shares_, f, squared_norm);
        primal = values.primal;
        dual = values.dual;
        kkt_violation = 0;
        for (std::size_t j = 0; j < shares_.size(); ++j) {
            double used = -infinity,
                   room = infinity;  // of the values of rows with and below bounds
            for (std::size_t i = 0; i < f.size(); ++i) {
                if (alpha_[j][i] > 0) used = std::max(used, f[i]);
                if (alpha_[j][i] < bound(j, i)) room = std::min(room, f[i]);
            }
            kkt_violation = std::max(kkt_violation, used - room);
        }
    }

    const Sample& sample_;
    const RegionSettings& settings_;
    std::vector<double> shares_;
    double total_ = 0;
    Gram<double> gram_;
    SharedOperator<double> k_;
    std::vector<std::vector<double>> alpha_;    ///< one a level; empty before its first turn
    std::vector<std::vector<double>> product_;  ///< K α_j
    std::vector<double> gamma_;                 ///< Σ_j α_j
    std::vector<double> value_;                 ///< K γ
};

/// Thresholds halfway between the last row outside and the first inside, so that rounding moves
/// none across. Rows that support a plane all have its value, up to what the solver and single
/// precision leave: they are not torn apart.
Matrix<double> levels_of(const Sample& sample, const std::vector<double>& f,
                         const std::vector<double>& shares) {
    const Ordered o = ordered(sample, f);
    const double same = 1e-5 * std::max(std::abs(f[o.order.front()]), std::abs(f[o.order.back()]));
    Matrix<double> table(shares.size(), 3);
    for (std::size_t j = 0; j < shares.size(); ++j) {
        const std::size_t place = first_inside(sample, f, o, 1 - shares[j], same);
        const double inside = f[o.order[place]];
        const double outside = place > 0 ? f[o.order[place - 1]] : inside - std::abs(inside);
        double weight = 0;
        for (std::size_t k = place; k < o.order.size(); ++k) weight += sample.weight(o.order[k]);
        table(j, 0) = shares[j];
        table(j, 1) = (inside + outside) / 2;
        table(j, 2) = weight / o.total;
    }
    return table;
}

/// Rows with a multiplier, and those of them that no level has room for.
void count_support(Report& report, const Sample& sample, std::span<const double> shares,
                   std::span<const double> gamma) {
    double total = 0, bounds = 0;
    for (std::size_t i = 0; i < gamma.size(); ++i) total += sample.weight(i);
    for (const double share : shares) bounds += 1 / (1 - share);
    for (std::size_t i = 0; i < gamma.size(); ++i) {
        if (gamma[i] == 0) continue;
        const bool full = gamma[i] >= sample.weight(i) / total * bounds * (1 - 1e-9);
        ++(full ? report.bounded_support_vectors : report.free_support_vectors);
    }
}

Model learn_regions(const RegionSettings& settings, const Dataset& data) {
    const Stopwatch watch;
    const std::vector<double> shares = sorted_shares(settings);
    const Sample sample = take_sample(regions_task, data, settings.common);
    const std::size_t n = sample.size();
    if (n > std::size_t{1} << 20 || n * n * sizeof(double) > settings.common.memory_bytes) {
        throw InvalidInput("the kernel matrix of " + std::to_string(n) +
                           " rows does not fit the memory allowed; raise `memory` or take fewer "
                           "rows");
    }
    const Kernel kernel = resolve(sample.kernel, sample.x, sample.data.feature_names);
    Turns turns(sample, kernel, settings, shares);
    Report report;
    report.status = turns.run();
    ModelParts model = begin_model(regions_task, sample, settings.common);
    model.trained.tolerance = settings.tolerance;
    set_expansion(model, sample, kernel, turns.coefficients(), {0});
    const std::vector<double> f =
        Evaluator(model.expansion, true)(sample.x, settings.common.progress).values();
    Matrix<double> levels = levels_of(sample, f, shares);
    // Decision values are those of the largest region.
    const double outermost = levels(levels.rows() - 1, 1);
    for (std::size_t j = 0; j < levels.rows(); ++j) levels(j, 1) -= outermost;
    model.expansion.bias = {-outermost};
    report.rows = n;
    report.rho = outermost;
    report.bias = -outermost;
    report.squared_norm = turns.squared_norm;
    report.kkt_violation = turns.kkt_violation;
    report.iterations = turns.sweeps;
    report.figures["levels"] = static_cast<double>(shares.size());
    report.primal = turns.primal;
    report.dual = turns.dual;
    count_support(report, sample, shares, turns.gamma());
    report.infeasibility = region_infeasibility(sample, shares, turns.gamma());
    set_gap(report);
    CurvatureTest curvature(kernel, sample.x, Directions::any);
    settle_bracket(report, curvature({}, report.status, settings.common.progress), infinity);
    // Turns that came to an end are no proof of anything without a bracket.
    if (!report.is_bracketed() && report.status == FitStatus::converged) {
        report.status = FitStatus::stalled;
    }
    report.seconds = watch.seconds();
    model.reports = {std::move(report)};
    model.extras.set(NestedLevels(std::move(levels)));
    return Model(std::move(model));
}

}  // namespace

namespace {

Report regions_by_ranks(const Model& model, const Dataset& data, const Progress& progress,
                        Communicator* ranks) {
    const auto* levels = model.extras().find<NestedLevels>();
    if (model.task() != regions_task || !levels || model.reports().size() != 1) {
        throw InvalidInput("this is no model of the task regions with its report");
    }
    Dataset given = data;
    given.x = rows_for(model, given.x);
    const std::vector<std::size_t> located = locate_points(model, model.scaling().apply(given.x));
    FitSettings settings{.kernel = model.expansion().kernel};
    Sample sample = take_sample(regions_task, given, settings);
    sample.x = model.scaling().apply(sample.data.x).to_double();
    std::vector<std::size_t> place(given.size(), sample.size());
    for (std::size_t i = 0; i < sample.kept.size(); ++i) place[sample.kept[i]] = i;
    std::vector<double> shares;
    for (std::size_t j = 0; j < levels->levels.rows(); ++j) shares.push_back(levels->levels(j, 0));
    const auto q = static_cast<double>(shares.size());
    std::vector<double> gamma(sample.size(), 0.0);
    for (std::size_t p = 0; p < located.size(); ++p) {
        // A point whose row has no weight is one that no multiplier is allowed for.
        if (place[located[p]] == sample.size()) {
            throw InvalidInput(
                "a point of the model is a row of weight 0: the model was trained "
                "with other weights");
        }
        gamma[place[located[p]]] += q * model.expansion().coefficients(0, p);
    }
    Expansion exact = model.expansion();
    exact.points = exact.points.to_double();
    exact.bias = {0};
    const std::vector<double> f =
        values_by_ranks(Evaluator(exact, true), sample.x, progress, ranks).values();
    Report report;
    report.status = model.reports()[0].status;
    report.rows = sample.size();
    report.rho = -model.expansion().bias[0];
    report.bias = model.expansion().bias[0];
    report.squared_norm = std::inner_product(gamma.begin(), gamma.end(), f.begin(), 0.0) / q;
    const RegionValues values = region_values(sample, shares, f, report.squared_norm);
    report.primal = values.primal;
    report.dual = values.dual;
    report.infeasibility = region_infeasibility(sample, shares, gamma);
    count_support(report, sample, shares, gamma);
    set_gap(report);
    CurvatureTest curvature(model.expansion().kernel, sample.x, Directions::any);
    settle_bracket(report, curvature({}, FitStatus::converged, progress), infinity);
    double total = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) total += sample.weight(i);
    for (std::size_t j = 0; j < shares.size(); ++j) {
        double inside = 0;
        for (std::size_t i = 0; i < sample.size(); ++i) {
            if (f[i] + report.bias >= levels->levels(j, 1)) inside += sample.weight(i);
        }
        report.figures["inside_" + std::to_string(j + 1)] = inside / total;
    }
    return report;
}

}  // namespace

Report recompute_regions(const Model& model, const Dataset& data, const Progress& progress) {
    Communicator& ranks = current_ranks();
    if (ranks.size() == 1 || held_rows() == HeldRows::own) {
        return regions_by_ranks(model, data, progress, nullptr);
    }
    const std::unique_ptr<Communicator> one = one_rank();
    const SpreadOver here(*one);
    return regions_by_ranks(model, data, progress, &ranks);
}

Model Regions::fit(const Dataset& data) const {
    return patient_fit(task(), settings_, data, learn_regions);
}

void NestedLevels::check(const ModelParts& model, const std::string& place) const {
    const bool fits = model.expansion.outputs() == 1 && levels.rows() >= 1 &&
                      levels.rows() <= most_levels && levels.columns() == 3;
    bool sound = fits;
    for (std::size_t j = 0; sound && j < levels.rows(); ++j) {
        sound = levels(j, 0) > 0 && levels(j, 0) < 1 && levels(j, 2) >= 0 && levels(j, 2) <= 1;
        if (j > 0)
            sound = sound && levels(j, 0) > levels(j - 1, 0) && levels(j, 1) <= levels(j - 1, 1);
    }
    if (!sound) {
        throw InvalidInput(place +
                           ": the table of regions needs one output and rows of share, threshold "
                           "and share inside, shares ascending and thresholds not");
    }
}

std::optional<std::vector<double>> NestedLevels::answers(const Model& model, const Rows& x,
                                                         const Progress& progress) const {
    std::vector<double> result = model.decision(x, progress).values();
    for (double& value : result) {
        double share = -1;
        for (std::size_t j = levels.rows(); j-- > 0 && value >= levels(j, 1);) share = levels(j, 0);
        value = share;
    }
    return result;
}

MachineEntry regions_entry() {
    return region_settings().entry(
        {.task = regions_task,
         .name = "regions",
         .family = "risk",
         .learns = Learns::region,
         .about = "nested regions that hold given shares of the rows, by parallel planes",
         .certified = true,
         .extras = {extra_kind<NestedLevels>("nested levels", true)}},
        regions);
}

}  // namespace mercer
