#include "mercer/learn/svm/svm.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <type_traits>

#include "mercer/base/detail/buffer.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/density_marks.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/platt.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/detail/span_sample.hpp"
#include "mercer/learn/svm/detail/fit_plan.hpp"
#include "mercer/learn/svm/detail/hull_proof.hpp"
#include "mercer/learn/svm/detail/rank_parts.hpp"
#include "mercer/learn/svm/detail/unbegun_part.hpp"

namespace mercer {
namespace {

bool tell(const Progress& progress, const std::string& part, std::size_t number, std::size_t parts,
          const DualMoment& m) {
    const auto count = [](auto value) { return static_cast<double>(value); };
    const Figure figures[]{{"part", count(number)},
                           {"parts", count(parts)},
                           {"iterations", count(m.iterations)},
                           {"steps", count(m.steps)},
                           {"objective", m.objective},
                           {"violation", m.violation},
                           {"gap", m.gap},
                           {"support", count(m.support)},
                           {"active", count(m.active)},
                           {"seconds", m.seconds}};
    return progress({.task = "training", .fraction = -1, .detail = part, .figures = figures});
}

void check_start(const SvmSettings& settings, const FitPlan& plan, std::size_t rows) {
    if (!settings.start) return;
    const Model& from = *settings.start;
    const auto refuse = [](const std::string& why) {
        throw InvalidInput("the machine to begin from " + why +
                           "; give one that was trained on the same rows with the same task");
    };
    if (from.task() != settings.task) refuse("is one for " + task_name(from.task()));
    if (from.class_names() != plan.sample.classes.names) refuse("has other classes");
    if (from.trained().numbers.contains("centres")) refuse("is one of the span of some rows");
    if (cells_of(from)) refuse("is one of cells");
    if (from.expansion().outputs() != plan.parts.size()) {
        refuse("has " + std::to_string(from.expansion().outputs()) + " outputs instead of " +
               std::to_string(plan.parts.size()));
    }
    if (from.origins().size() != from.expansion().size()) {
        refuse("does not say which rows its points were");
    }
    if (std::ranges::any_of(from.origins(), [&](std::size_t row) { return row >= rows; })) {
        refuse("was trained on more than these " + std::to_string(rows) + " rows");
    }
}

/// One training run in one precision.
template <class T>
class Trainer {
   public:
    using Operator = SharedOperator<T>;
    /// Parts solved at the same time, at most. Each has this share of the memory whether or not the
    /// others are there, so that nothing depends on the number of threads.
    static constexpr std::size_t parts_at_once = 8;

    /// `before` is asked while a kernel that centres looks for its centre. `ranks` (may be null)
    /// learn the machine together, and each of them has all rows.
    Trainer(const SvmSettings& settings, FitPlan plan, Progress before, Communicator* ranks)
        : settings_(settings),
          run_(settings.common.run()),
          plan_(std::move(plan)),
          ranks_(ranks, plan_.parts),
          before_(std::move(before)),
          gram_(make_gram<T>(plan_.sample.kernel, x(), plan_.sample.data.feature_names, before_)),
          gap_is_proof_(convexity_by_rule(gram_.kernel(), settings.task, settings.bias) ==
                        Convexity::by_rule) {
        for (const Part& part : plan_.parts) {
            const auto rows = static_cast<double>(part.open ? x().size() : part.problem.size());
            start_values_ += rows * rows;
        }
        // Parts of all rows (one class against the rest, several outputs) share one store. Those of
        // some rows (pairs of classes) share the whole matrix where it is small, or nothing: few
        // rows matter to more than two or three pairs, and a whole row would be five times as long
        // as that of one pair of ten classes.
        if (plan_.parts[0].rows.is_all()) {
            const bool alone = plan_.parts.size() == 1 && !settings.probability;
            order_ = gram_.near_order(gram_.reference());
            const OperatorRequest request{.reuse = alone ? Reuse::marked : Reuse::rows,
                                          .memory_bytes = settings.common.memory_bytes,
                                          .partners = ranks_.partners()};
            shared_ =
                order_.empty()
                    ? make_operator(gram_, request)
                    : make_operator(gram_, gram_.select_among(gram_.reference(), order_), request);
        }
    }

    ModelParts run() {
        ModelParts model = empty_model();
        std::vector<PartResult> found(plan_.parts.size());
        // One store, or all ranks at one part: one after another, each with all threads.
        if (shared_ || ranks_.shares_columns()) {
            for (std::size_t number = 0; number < found.size(); ++number) {
                train_part(number, found[number]);
            }
        } else {
            store_matrix();
            train_parts(found);
            if (matrix_) found[0].report.kernel_evaluations += matrix_->evaluations();
        }
        std::vector<Sigmoid> sigmoids;
        for (PartResult& part : found) {
            model.reports.push_back(std::move(part.report));
            if (part.sigmoid) sigmoids.push_back(*part.sigmoid);
            // What single precision could not carry in training it cannot carry in prediction.
            if (part.in_double) model.double_precision = true;
        }
        if (!shared_) share_seconds(model.reports);
        settle_brackets(found, model.reports);
        fill_expansion(found, model);
        if (!sigmoids.empty()) model.extras.set(Calibration(std::move(sigmoids)));
        return model;
    }

   private:
    const Rows& x() const { return plan_.sample.x; }

    ModelParts empty_model() const {
        ModelParts model = begin_model(settings_.task, plan_.sample, settings_.common);
        model.multi_class = settings_.multi_class;
        model.trained = {.C = settings_.C,
                         .nu = settings_.nu,
                         .epsilon = settings_.epsilon,
                         .tolerance = settings_.tolerance,
                         .bias = settings_.bias,
                         .tube = settings_.tube ? settings_.tube->text() : std::string(),
                         .tube_given = !settings_.tube && !plan_.tube.empty(),
                         .class_weights = plan_.class_weights};
        return model;
    }

    /// Whether pairs of classes share the matrix of all rows. Theirs together have at least as many
    /// values, each in a product too small to be quick and of rows that are copied first; but of
    /// larger pairs many values are never asked for, the more so the cheaper they are (by
    /// measurement, docs/performance.md).
    bool shares_matrix() const {
        const std::size_t n = x().size(), memory = settings_.common.memory_bytes / 2;
        if (plan_.parts.size() < 2 || n > memory / sizeof(T) / n || gram_.is_plain()) return false;
        const std::size_t width = x().nonzeros() / n;
        const std::size_t rows_a_class = std::min<std::size_t>(32 + width / 4, 128);
        constexpr std::size_t most_rows = 8192;
        return n <= std::min(most_rows, rows_a_class * plan_.sample.classes.count());
    }

    void store_matrix() {
        if (!shares_matrix()) return;
        const auto until_too_late = [this](const Moment& moment) {
            if (too_late()) return false;
            const std::lock_guard one_at_a_time(progress_mutex_);
            wish_.stop = !keep_going(settings_.common.progress, moment);
            return !wish_.stop;
        };
        try {
            matrix_ = make_operator(gram_, {.reuse = Reuse::whole,
                                            .memory_bytes = settings_.common.memory_bytes / 2,
                                            .progress = until_too_late});
        } catch (const Cancelled&) {  // what is left of the time is the parts' own affair
        }
    }

    /// Those of this rank, several at the same time, each on one thread; then those of the others
    /// are heard of.
    void train_parts(std::vector<PartResult>& found) {
        const KeepBuffers keep_buffers;
        std::vector<std::size_t> order;
        for (std::size_t number = 0; number < found.size(); ++number) {
            if (ranks_.has(number)) order.push_back(number);
        }
        // The largest first, so that no thread is left alone with one at the end.
        std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t number) {
            return plan_.parts[number].problem.size();
        });
        parallel_for(
            order.size(), [&](std::size_t k) { train_part(order[k], found[order[k]]); },
            parts_at_once);
        ranks_.exchange(found);
    }

    /// Parts under way together share the time: their seconds add up to what all of them took.
    void share_seconds(std::vector<Report>& reports) const {
        double sum = 0;
        for (const Report& report : reports) sum += report.seconds;
        for (Report& report : reports) report.seconds *= sum > 0 ? run_.seconds() / sum : 1;
    }

    void train_part(std::size_t number, PartResult& found) {
        Part& part = plan_.parts[number];
        // The first is begun in any case: what stops it says so with a certificate.
        if (const auto late = too_late(); late && number > 0 && can_be_left_out(part)) {
            found = unbegun_part(plan_, part, *late, settings_.probability);
            return;
        }
        complete(settings_, plan_, part);
        if (shared_) {
            put_in_order(part, order_);
        } else if (!matrix_) {
            put_in_order(part, gram_.near_order(gram_.reference(), part.rows.some()));
        }
        if (settings_.task == Task::svdd) {
            part.problem.diagonal.resize(x().size());
            gram_.diagonal(points_of(part.rows), part.problem.diagonal);
        }
        const Operator op = shared_ ? shared_ : operator_for(part.rows);
        found.learned = solve(part, number, *op, found);
        found.reach = reach_of(part.problem, found.learned);
        if (settings_.probability && is_classifier(settings_.task)) {
            found.sigmoid = cross_validated_sigmoid(part, number, op);
        }
        keep_support(part, found);
        part.problem = {.task = part.problem.task, .bias = part.problem.bias};
        if (shared_) part.rows = {};  // all of them, in whatever order
    }

    /// Why it is too late to begin with another part, where it is. Ranks that solve each of them
    /// together agree on that inside it.
    std::optional<FitStatus> too_late() {
        if (ranks_.shares_columns()) return {};
        const std::lock_guard one_at_a_time(progress_mutex_);
        if (wish_.stop) return FitStatus::cancelled;
        const double limit = settings_.common.time_limit;
        if (limit > 0 && run_.seconds() >= limit) return FitStatus::time_limit;
        return {};
    }

    /// Whether a part need not be begun when it is too late. Not where there is more to it: a start
    /// that is given, or one that has to be summed; throws Cancelled where such sums take long.
    bool can_be_left_out(const Part& part) const {
        if (settings_.start) return false;
        const Task task = part.problem.task;
        if (task == Task::svc || task == Task::hard_margin) return true;
        constexpr double most = 0x1p28;  // kernel values: some tenths of a second
        if (start_values_ > most) throw Cancelled();
        return false;
    }

    /// Keeps of β what is not 0.
    static void keep_support(const Part& part, PartResult& found) {
        std::vector<double>& beta = found.learned.beta;
        std::vector<double> kept;
        for (std::size_t i = 0; i < beta.size(); ++i) {
            if (beta[i] == 0) continue;
            found.support.push_back(part.rows[i]);
            kept.push_back(beta[i]);
        }
        beta = std::move(kept);
    }

    void settle_brackets(const std::vector<PartResult>& found, std::vector<Report>& reports) const {
        const Subproblem& first = plan_.parts.front().problem;
        CurvatureTest curvature(gram_.kernel(), x(), directions_of(first.task, first.bias));
        for (std::size_t number = 0; number < reports.size(); ++number) {
            settle_bracket(reports[number],
                           curvature(plan_.parts[number].rows, reports[number].status),
                           found[number].reach);
        }
    }

    Points<T> points_of(const RowChoice& rows) const {
        return rows.is_all() ? gram_.reference()
                             : gram_.select_among(gram_.reference(), rows.some());
    }

    Operator operator_for(const RowChoice& rows) const {
        if (matrix_) return sub_operator(matrix_, rows.some());
        return make_operator(gram_, points_of(rows),
                             {.reuse = settings_.probability ? Reuse::rows : Reuse::marked,
                              .memory_bytes = settings_.common.memory_bytes / parts_at_once,
                              .partners = ranks_.partners()});
    }

    DualSettings dual_settings(const std::string& name, std::size_t number) {
        DualSettings dual;
        dual.tolerance = settings_.tolerance;
        if (gap_is_proof_) dual.relative_gap = settings_.relative_gap;
        dual.iteration_limit = settings_.iteration_limit;
        dual.method = settings_.method;
        dual.shrinking = settings_.shrinking;
        dual.cancels_start = true;
        // Ranks that solve a problem together stop together: their clocks may differ.
        if (!ranks_.shares_columns()) dual.time_limit = run_.time_left();
        dual.progress = [this, name, number](DualMoment moment) {
            if (!gap_is_proof_) moment.gap = std::numeric_limits<double>::quiet_NaN();
            // Once told to stop, the problems that are left are not begun either: each returns its
            // feasible start, with a certificate that says how far from the optimum that is.
            const std::lock_guard one_at_a_time(progress_mutex_);
            if (!wish_.stop && settings_.common.progress) {
                wish_.stop =
                    !tell(settings_.common.progress, name, number, plan_.parts.size(), moment);
            }
            if (ranks_.shares_columns()) {
                const double limit = settings_.common.time_limit;
                if (limit > 0 && run_.seconds() >= limit) wish_ = {true, true};
                wish_ = ranks_.agreed(wish_);
            }
            return !wish_.stop;
        };
        return dual;
    }

    std::function<void(const TwoPointStep&)> trace_of(const Part& part, std::size_t number) {
        return [this, &part, number](const TwoPointStep& step) {
            FitStep traced{part.name, number, step};
            for (std::size_t& row : traced.step.row) {
                row = plan_.sample.kept[part.rows[row]];
            }
            const std::lock_guard one_at_a_time(progress_mutex_);
            settings_.trace(traced);
        };
    }

    /// Empty without a machine to begin from.
    std::vector<double> start_of(const Part& part, std::size_t number) const {
        if (!settings_.start) return {};
        const Model& from = *settings_.start;
        std::vector<double> of_data(plan_.sample.kept.back() + 1, 0.0);
        for (std::size_t k = 0; k < from.origins().size(); ++k) {
            if (from.origins()[k] >= of_data.size()) continue;  // a row without weight now
            of_data[from.origins()[k]] = from.expansion().coefficients(number, k);
        }
        std::vector<double> beta(part.problem.size());
        for (std::size_t i = 0; i < beta.size(); ++i) {
            beta[i] = of_data[plan_.sample.kept[part.rows[i]]];
        }
        return dual_start(part.problem, beta);
    }

    Learned solve(const Part& part, std::size_t number, const SymmetricOperator<T>& op,
                  PartResult& found) {
        DualSettings dual = dual_settings(part.name, number);
        if (settings_.trace) dual.trace = trace_of(part, number);
        DualSolution solution =
            solve_dual(op, make_dual(part.problem), dual, start_of(part, number));
        if constexpr (std::is_same_v<T, float>) {
            if (lost_in_single(part.problem, op, solution)) {
                go_on_in_double(part, number, solution);
                found.in_double = true;
            }
        }
        if (solution.infeasibility) throw InvalidInput(solution.infeasibility->explanation);
        Learned learned = interpret(part.problem, solution);
        Report& report = found.report;
        report = certify(part.problem, learned, solution.row_gradient);
        report.name = part.name;
        report.status = wish_.late && solution.status == DualStatus::cancelled
                            ? FitStatus::time_limit
                            : fit_status(solution.status);
        report.iterations = solution.steps;
        report.kernel_evaluations = solution.evaluations;
        report.seconds = solution.seconds;
        if (solution.recession) add_hull_proof(part, *solution.recession, report);
        if (separates_origin(settings_.task, part.problem)) {
            learned.bias = report.bias = -1;
            report.rho = 1;
        }
        return learned;
    }

    /// Whether kernel values of single precision do not carry the hard margin: it is so small, if
    /// there is one at all, that Σ|β| times their rounding is more than the tolerance.
    bool lost_in_single(const Subproblem& problem, const SymmetricOperator<float>& op,
                        const DualSolution& solution) const {
        if (problem.task != Task::hard_margin) return false;
        if (solution.status == DualStatus::unbounded || solution.status == DualStatus::stalled) {
            return true;
        }
        if (solution.status != DualStatus::converged) return false;
        std::vector<double> diagonal(op.size());
        op.diagonal(diagonal);
        double sum = 0;
        for (const double alpha : solution.alpha) sum += alpha;
        return 0x1p-22 * sum * *std::ranges::max_element(diagonal) > settings_.tolerance;
    }

    /// From where single precision has brought it.
    void go_on_in_double(const Part& part, std::size_t number, DualSolution& solution) {
        const Gram<double>& gram = gram_in_double();
        const auto points = part.rows.is_all()
                                ? gram.reference()
                                : gram.select_among(gram.reference(), part.rows.some());
        const auto op = make_operator(
            gram, points,
            {.reuse = Reuse::marked,
             .memory_bytes = settings_.common.memory_bytes / (shared_ ? 1 : parts_at_once),
             .partners = ranks_.partners()});
        const std::vector<double> start =
            solution.recession ? solution.recession->direction : solution.alpha;
        DualSettings dual = dual_settings(part.name, number);
        if (settings_.trace) dual.trace = trace_of(part, number);
        DualSolution better = solve_dual<double>(*op, make_dual(part.problem), dual, start);
        better.steps += solution.steps;
        better.evaluations += solution.evaluations;
        better.seconds += solution.seconds;
        solution = std::move(better);
    }

    const Gram<double>& gram_in_double() {
        const std::lock_guard one_at_a_time(double_mutex_);
        if (!gram_in_double_) {
            gram_in_double_ =
                make_gram<double>(gram_.kernel(), x(), plan_.sample.data.feature_names, before_);
        }
        return *gram_in_double_;
    }

    void add_hull_proof(const Part& part, const RecessionDirection& recession,
                        Report& report) const {
        const Rows own = part.rows.is_all() ? x() : x().select(part.rows.some());
        prove_hulls(part.problem, gram_.kernel(), own, recession).tell(report);
    }

    /// Platt's sigmoid from decisions that no point had a part in: five folds.
    Sigmoid cross_validated_sigmoid(const Part& part, std::size_t number, const Operator& op) {
        constexpr std::size_t folds = 5;
        const std::size_t n = part.problem.size();
        std::vector<std::size_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        Random(settings_.common.seed, number).shuffle(std::span(order));
        std::vector<double> decisions(n, 0.0);
        for (std::size_t fold = 0; fold < folds; ++fold) {
            const std::size_t first = fold * n / folds;
            const std::size_t last = (fold + 1) * n / folds;
            const std::span<const std::size_t> held(order.data() + first, last - first);
            std::vector<std::size_t> rest;
            for (std::size_t i = 0; i < n; ++i) {
                if (i < first || i >= last) rest.push_back(order[i]);
            }
            std::ranges::sort(rest);  // near rows stand together
            fold_decisions(part, number, op, rest, held, decisions);
        }
        return fit_sigmoid(decisions, part.problem.target);
    }

    void fold_decisions(const Part& part, std::size_t number, const Operator& op,
                        const std::vector<std::size_t>& rest, std::span<const std::size_t> held,
                        std::vector<double>& decisions) {
        Subproblem problem = part.problem;
        problem.target.clear();
        problem.bound.clear();
        for (const std::size_t i : rest) {
            problem.target.push_back(part.problem.target[i]);
            problem.bound.push_back(part.problem.bound[i]);
        }
        const auto [low, high] = std::ranges::minmax(problem.target);
        if (low == high) {  // one class only: all that can be said is its name
            for (const std::size_t i : held) decisions[i] = low;
            return;
        }
        DualSolution solution = solve_dual(*sub_operator(op, rest), make_dual(problem),
                                           dual_settings(part.name, number));
        const Learned learned = interpret(problem, solution);
        std::vector<std::size_t> support;
        std::vector<double> coefficients;
        for (std::size_t i = 0; i < rest.size(); ++i) {
            if (learned.beta[i] == 0) continue;
            support.push_back(rest[i]);
            coefficients.push_back(learned.beta[i]);
        }
        Matrix<T> tile(held.size(), support.size());
        if (!support.empty()) op->tile(held, support, tile.view());
        for (std::size_t r = 0; r < held.size(); ++r) {
            double f = learned.bias;
            for (std::size_t s = 0; s < support.size(); ++s) {
                f += coefficients[s] * static_cast<double>(tile(r, s));
            }
            decisions[held[r]] = f;
        }
    }

    /// The parts' coefficients over one common set of points, each row once.
    void fill_expansion(const std::vector<PartResult>& found, ModelParts& model) const {
        const bool sphere = settings_.task == Task::svdd;
        std::vector<bool> used(x().size(), false);
        for (const PartResult& part : found) {
            for (const std::size_t row : part.support) used[row] = true;
        }
        std::vector<std::size_t> points;
        std::vector<std::size_t> place(x().size(), 0);
        for (std::size_t i = 0; i < x().size(); ++i) {
            if (!used[i]) continue;
            place[i] = points.size();
            points.push_back(i);
            model.origins.push_back(plan_.sample.kept[i]);
        }
        Expansion& e = model.expansion;
        e.kernel = gram_.kernel();
        e.points = x().select(points);
        e.coefficients = Matrix<double>(found.size(), points.size());
        for (std::size_t p = 0; p < found.size(); ++p) {
            const std::vector<std::size_t>& support = found[p].support;
            const Learned& learned = found[p].learned;
            for (std::size_t k = 0; k < support.size(); ++k) {
                e.coefficients(p, place[support[k]]) = (sphere ? 2 : 1) * learned.beta[k];
            }
            const double r2 = learned.radius * learned.radius;
            e.bias.push_back(sphere ? r2 - model.reports[p].squared_norm : learned.bias);
        }
        e.self = sphere ? -1 : 0;
        if (is_centered(e.kernel)) e.reference = x();
    }

    const SvmSettings& settings_;
    Run run_;
    FitPlan plan_;
    RankParts ranks_;
    Progress before_;
    Gram<T> gram_;
    double start_values_ = 0;  ///< of the kernel, that starts which are not 0 are sums of
    bool gap_is_proof_;  ///< by rule; whether it is on these rows is known after training only
    std::optional<Gram<double>> gram_in_double_{};  ///< once single precision was not enough
    Operator shared_{};
    Operator matrix_{};                 ///< whole, where pairs of classes share it
    std::vector<std::size_t> order_{};  ///< of the rows in it; empty: as they are
    std::mutex progress_mutex_{};
    std::mutex double_mutex_{};
    Wish wish_{};
};

bool scales(TargetScale rule) {
    return rule == TargetScale::standard || rule == TargetScale::minmax;
}

/// The machine of scaled targets is that of the targets themselves with other settings: divided by
/// scale², ½‖w‖² + C s Σ max(0, |y − f| − ε s) has the terms of t = y/s. The bias takes the shift.
Model fit_in_units(const SvmSettings& settings, const Dataset& data,
                   MatrixView<const double> targets,
                   const std::function<Model(const SvmSettings&)>& fit) {
    if (targets.columns > 1) {
        throw InvalidInput("target_scale = " + target_scale_name(settings.common.target_scale) +
                           " is for one target, and there are " + std::to_string(targets.columns) +
                           "; scale them before");
    }
    std::vector<double> y;
    for (std::size_t i = 0; i < targets.rows; ++i) y.push_back(targets(i, 0));
    if (targets.columns == 0) y = data.y.values;
    const bool known = !data.y.are_text() && y.size() == data.size();
    const TargetScaling scaling =
        known ? fit_target_scale(settings.common.target_scale, y, data.weights) : TargetScaling{};
    SvmSettings own = settings;
    own.common.target_scale = TargetScale::none;
    if (std::isfinite(scaling.scale)) {  // else the plan will say which target is not finite
        own.C *= scaling.scale;
        own.epsilon *= scaling.scale;
        own.tolerance *= scaling.scale;
    }
    ModelParts model = fit(own).parts();
    note_target_scaling(model, scaling);
    return Model(std::move(model));
}

Model fit_rows(const SvmSettings& settings, const Dataset& data, MatrixView<const double> targets,
               const Progress& before, Communicator* ranks) {
    FitPlan plan = plan_fit(settings, data, targets, RestParts::open);
    if (const double most = largest_nu(plan); settings.some_rows && settings.nu > most) {
        // Of some rows a class may have too few: the largest share that can be met, and a bit.
        SvmSettings own = settings;
        own.nu = 0.999 * most;
        return fit_rows(own, data, targets, before, ranks);
    }
    check_start(settings, plan, data.size());
    const std::vector<std::size_t> kept = plan.sample.kept;
    ModelParts model = settings.common.double_precision
                           ? Trainer<double>(settings, std::move(plan), before, ranks).run()
                           : Trainer<float>(settings, std::move(plan), before, ranks).run();
    if (settings.probability && settings.task == Task::one_class) {
        const std::vector<double> marks =
            density_marks(Model(model).decision(data.x.select(kept)).values());
        if (!marks.empty()) {
            Matrix<double> array(1, marks.size());
            array.values() = marks;
            model.extras.set(DensityMarks(std::move(array)));
        }
    }
    return Model(std::move(model));
}

/// The settings for some of the rows, which come to an end by themselves.
SvmSettings for_few_rows(const SvmSettings& settings, const std::vector<std::size_t>& rows) {
    SvmSettings own = settings;
    own.start.reset();
    own.common.progress = nullptr;
    own.trace = nullptr;
    own.common.time_limit = 0.1;
    if (settings.tube_values.empty()) return own;
    own.tube_values.clear();
    for (const std::size_t i : rows) own.tube_values.push_back(settings.tube_values[i]);
    return own;
}

/// A kernel that centres evaluates itself on all pairs of rows before there is anything to train,
/// and a start with many rows in it has to be summed. Whoever says stop until then gets a machine
/// of few rows.
Model fit_patiently(const SvmSettings& settings, const Dataset& data,
                    MatrixView<const double> targets) {
    const bool centred = is_centered(settings.common.kernel);
    return patient_fit_of(settings.task, settings.common, data,
                          [&](const FitSettings& own, const std::vector<std::size_t>* rows) {
                              const Progress& before = centred ? own.progress : Progress{};
                              if (!rows) {
                                  try {
                                      return fit_rows(settings, data, targets, before, nullptr);
                                  } catch (const Cancelled&) {
                                      own.progress({"training", -1});  // which learns of it so
                                      throw;
                                  }
                              }
                              Matrix<double> few(targets.columns > 0 ? rows->size() : 0,
                                                 targets.columns);
                              for (std::size_t i = 0; i < few.rows(); ++i) {
                                  std::ranges::copy(targets.row((*rows)[i]), few.row(i).begin());
                              }
                              return fit_rows(for_few_rows(settings, *rows), data.select(*rows),
                                              std::as_const(few).view(), before, nullptr);
                          });
}

Model fit_all_rows(const SvmSettings& settings, const Dataset& data,
                   MatrixView<const double> targets, Communicator* ranks) {
    if (scales(settings.common.target_scale)) {
        return fit_in_units(settings, data, targets, [&](const SvmSettings& own) {
            return fit_all_rows(own, data, targets, ranks);
        });
    }
    if (ranks) return fit_rows(settings, data, targets, settings.common.progress, ranks);
    return fit_patiently(settings, data, targets);
}

/// Every rank has all rows, or gets them from the others.
Model fit_on_ranks(const SvmSettings& settings, const Dataset& data,
                   MatrixView<const double> targets, Communicator& ranks) {
    if (settings.trace) refuse_spread("a trace of steps");
    SvmSettings own = settings;
    std::vector<double> tubes = ranks.all_gather(std::span<const double>(settings.tube_values));
    return with_all_rows(data, targets, [&](const Dataset& all, MatrixView<const double> y) {
        // Each had those of its rows, even where features of all rows were made of them; or all.
        if (tubes.size() == all.size()) own.tube_values = std::move(tubes);
        return fit_all_rows(own, all, y, &ranks);
    });
}

}  // namespace

Model Svm::fit(const Dataset& data) const {
    return fit(data, {});
}

Model Svm::fit(const Dataset& data, MatrixView<const double> targets) const {
    if (targets.columns > 0 && !is_regressor(settings_.task)) {
        throw InvalidInput("several targets need a regression task: svr or nu-svr");
    }
    if (targets.columns > 0 && targets.rows != data.size()) {
        throw InvalidInput("there are " + std::to_string(targets.rows) + " rows of targets for " +
                           std::to_string(data.size()) + " rows of data");
    }
    if (settings_.trace && settings_.method != DualMethod::smo) {
        throw InvalidInput("only the method smo takes steps of two points, which can be traced");
    }
    check_target_scale(settings_.common.target_scale, settings_.task);
    if (targets.columns == 0) {
        if (auto model = fit_linear_by_passes(settings_, data)) return *std::move(model);
    }
    Communicator& ranks = current_ranks();
    if (ranks.size() > 1) return fit_on_ranks(settings_, data, targets, ranks);
    return fit_all_rows(settings_, data, targets, nullptr);
}

}  // namespace mercer
