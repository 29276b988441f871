#include "mercer/learn/online/perceptron.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/online/detail/perceptron_core.hpp"

namespace mercer {
namespace {

/// A weight vector a class, dense; beyond this the points themselves are the smaller thing to hold.
constexpr std::size_t most_weight_bytes = std::size_t{1} << 28;
constexpr std::size_t value_bytes = std::size_t{64} << 20;  // kernel values of a block

constexpr Words pass_orders{std::pair{PassOrder::given, "given"},
                            std::pair{PassOrder::shuffled, "shuffled"}};
constexpr Words variants{std::pair{PerceptronVariant::plain, "plain"},
                         std::pair{PerceptronVariant::averaged, "averaged"},
                         std::pair{PerceptronVariant::voted, "voted"}};

const Describe<PerceptronSettings>& perceptron_settings() {
    static const auto settings = [] {
        using S = PerceptronSettings;
        Describe<S> d;
        d.add(&S::passes, "passes", "over the data, at most", Range::at_least(1)).tunable = true;
        d.add(&S::order, pass_orders, "order", "rows of a pass");
        d.add(&S::variant, variants, "variant", "the last vector, the mean of all, or all voting");
        d.add(&S::budget, "budget", "keep at most so many points, merging the others; 0: all")
            .tunable = true;
        d.add(&S::bias, "bias", "learn a constant too");
        return d;
    }();
    return settings;
}

void check_settings(const PerceptronSettings& s) {
    perceptron_settings().check(s);
    if (s.budget == 1) throw InvalidSetting("budget = 1 must be 0 (none) or at least 2");
    if (s.budget > 0 && s.variant == PerceptronVariant::voted) {
        throw InvalidInput(
            "a voted perceptron needs every point it ever had, so it cannot have a budget; use the "
            "averaged variant");
    }
    const double bytes = static_cast<double>(s.budget) * static_cast<double>(s.budget) * 8;
    if (bytes > static_cast<double>(s.common.memory_bytes)) {
        throw InvalidInput("budget = " + std::to_string(s.budget) +
                           " needs the kernel values between so many points, more than the memory "
                           "allowed for them; give a smaller budget or more memory");
    }
}

/// The passes over the data, primal or dual: what both keep alike.
class Passes {
   public:
    Passes(const PerceptronSettings& settings, const Sample& sample)
        : settings_(settings), sample_(sample), run_(settings.common.run()), order_(sample.size()) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
    }

    /// Calls block(rows in order, record) for all rows a pass, until a pass has no mistakes, the
    /// passes are made or someone says stop.
    template <class Block>
    void go(std::size_t block_rows, Block&& block) {
        for (std::size_t pass = 0; pass < settings_.passes; ++pass) {
            if (settings_.order == PassOrder::shuffled) {
                Random(settings_.common.seed, pass).shuffle(std::span(order_));
            }
            PassRecord record;
            for (std::size_t first = 0; first < order_.size(); first += block_rows) {
                if (!may_go_on(pass, first)) return;
                const std::size_t count = std::min(block_rows, order_.size() - first);
                block(std::span<const std::size_t>(order_).subspan(first, count), record);
            }
            history_.push_back(static_cast<double>(record.mistakes));
            least_lead_ = record.least_lead;
            if (record.mistakes == 0) {
                status_ = FitStatus::converged;
                return;
            }
        }
    }

    bool separated() const { return status_ == FitStatus::converged; }

    /// `squared_norm` of the joint weight vector with its biases, `radius2` the largest k(x,x) and
    /// 1 for a bias: only asked for when a pass went without mistakes.
    template <class Norm, class Radius>
    Report report(std::size_t outputs, std::size_t mistakes, std::size_t points,
                  Norm&& squared_norm, Radius&& radius2) const {
        Report r;
        r.status = status_;
        r.rows = sample_.size();
        r.free_support_vectors = points;
        r.history = history_;
        r.iterations = steps_;
        r.figures["mistakes"] = static_cast<double>(mistakes);
        r.figures["passes"] = static_cast<double>(history_.size());
        if (!history_.empty()) r.figures["last_mistakes"] = history_.back();
        if (separated() && settings_.budget == 0) {
            const double norm2 = squared_norm();
            r.squared_norm = norm2;
            if (norm2 > 0 && least_lead_ > 0) {
                r.margin = least_lead_ / std::sqrt(norm2);
                // Each update moves the joint vector by ‖(Φ(x), 1)‖, or by √2 times that.
                const double moves = outputs == 1 ? 1 : 2;
                if (sample_.data.weights.empty()) {
                    r.figures["mistake_bound"] = moves * radius2() / (r.margin * r.margin);
                }
            }
        }
        r.seconds = run_.seconds();
        return r;
    }

    void count_steps(std::size_t rows) { steps_ += rows; }

   private:
    bool may_go_on(std::size_t pass, std::size_t first) {
        const auto n = static_cast<double>(order_.size());
        const double done = (static_cast<double>(pass) + static_cast<double>(first) / n) /
                            static_cast<double>(settings_.passes);
        const std::string detail = history_.empty()
                                       ? ""
                                       : std::to_string(static_cast<std::size_t>(history_.back())) +
                                             " mistakes in the pass before";
        if (run_.goes_on({"training", done, detail})) return true;
        status_ = fit_status(run_);
        return false;
    }

    const PerceptronSettings& settings_;
    const Sample& sample_;
    Run run_;
    std::vector<std::size_t> order_;
    std::vector<double> history_{};
    double least_lead_ = 0;
    std::size_t steps_ = 0;
    FitStatus status_ = FitStatus::iteration_limit;
};

/// Calls body(column, value) for the entries of a row that may differ from 0.
template <class Body>
void each_entry(const Rows& rows, std::size_t i, Body&& body) {
    const auto visit = [&]<class T>(T) {
        if (rows.is_sparse()) {
            const SparseView<T> view = rows.sparse_view<T>();
            const auto index = view.row_index(i);
            const auto value = view.row_value(i);
            for (std::size_t e = 0; e < index.size(); ++e) {
                body(index[e], static_cast<double>(value[e]));
            }
            return;
        }
        const std::span<const T> row = rows.dense_view<T>().row(i);
        for (std::size_t j = 0; j < row.size(); ++j) body(j, static_cast<double>(row[j]));
    };
    rows.is_double() ? visit(double{}) : visit(float{});
}

/// Algorithm 28: the weight vectors themselves. The kernel is factor × x·z.
class Primal {
   public:
    Primal(const Sample& sample, double factor, std::size_t outputs, bool bias)
        : sample_(sample),
          factor_(factor),
          use_bias_(bias ? 1 : 0),
          w_(outputs, sample.x.columns()),
          late_(outputs, sample.x.columns()),
          bias_(outputs, 0.0),
          late_bias_(outputs, 0.0),
          f_(outputs, 0.0) {}

    void learn(std::span<const std::size_t> rows, PassRecord& record) {
        for (const std::size_t i : rows) {
            const auto late = static_cast<double>(steps_++);
            std::ranges::copy(bias_, f_.begin());
            for (std::size_t c = 0; c < f_.size(); ++c) f_[c] += factor_ * dot(c, i);
            const std::size_t y = sample_.class_of(i);
            record.least_lead = std::min(record.least_lead, perceptron_lead(f_, y));
            const PerceptronUpdate update = perceptron_update(f_, y);
            if (!update.made()) continue;
            ++record.mistakes;
            ++mistakes_;
            if (update.up != PerceptronUpdate::none) add(update.up, i, sample_.weight(i), late);
            if (update.down != PerceptronUpdate::none)
                add(update.down, i, -sample_.weight(i), late);
        }
    }

    /// ‖w‖² + b² over all outputs, the factor of the kernel counted once: Σ α α k.
    double squared_norm() const {
        double sum = 0;
        for (const double w : w_.values()) sum += factor_ * w * w;
        for (const double b : bias_) sum += use_bias_ * b * b;
        return sum;
    }
    double radius2() const {
        double largest = 0;
        for (std::size_t i = 0; i < sample_.size(); ++i) {
            double sum = 0;
            each_entry(sample_.x, i, [&](std::size_t, double v) { sum += v * v; });
            largest = std::max(largest, sum);
        }
        return factor_ * largest + use_bias_;
    }

    void fill(ModelParts& model, const Kernel& kernel, bool averaged) const {
        const double t = averaged && steps_ > 0 ? 1 / static_cast<double>(steps_) : 0;
        std::vector<double> points(w_.values());
        for (std::size_t j = 0; j < points.size(); ++j) points[j] -= t * late_.values()[j];
        Expansion& e = model.expansion;
        e.kernel = kernel;
        e.points = Rows::dense(std::move(points), w_.columns());
        e.coefficients = Matrix<double>(f_.size(), f_.size());
        for (std::size_t c = 0; c < f_.size(); ++c) {
            e.coefficients(c, c) = 1;
            e.bias.push_back(bias_[c] - t * late_bias_[c]);
        }
    }
    std::size_t mistakes() const { return mistakes_; }

   private:
    double dot(std::size_t c, std::size_t i) const {
        const double* const w = w_.row(c).data();
        double sum = 0;
        each_entry(sample_.x, i, [&](std::size_t j, double v) { sum += w[j] * v; });
        return sum;
    }
    void add(std::size_t c, std::size_t i, double amount, double late) {
        double* const w = w_.row(c).data();
        double* const l = late_.row(c).data();
        each_entry(sample_.x, i, [&](std::size_t j, double v) {
            w[j] += amount * v;
            l[j] += late * amount * v;
        });
        bias_[c] += use_bias_ * amount;
        late_bias_[c] += use_bias_ * late * amount;
    }

    const Sample& sample_;
    double factor_;
    double use_bias_;
    Matrix<double> w_;
    Matrix<double> late_;
    std::vector<double> bias_;
    std::vector<double> late_bias_;
    std::vector<double> f_;
    std::size_t steps_ = 0;
    std::size_t mistakes_ = 0;
};

Matrix<double> votes_array(const std::vector<PerceptronVote>& votes) {
    const auto number = [](std::size_t output) {
        return output == PerceptronUpdate::none ? -1.0 : static_cast<double>(output);
    };
    Matrix<double> array(votes.size(), 5);
    for (std::size_t i = 0; i < votes.size(); ++i) {
        array(i, 0) = static_cast<double>(votes[i].slot);
        array(i, 1) = number(votes[i].update.up);
        array(i, 2) = number(votes[i].update.down);
        array(i, 3) = votes[i].weight;
        array(i, 4) = static_cast<double>(votes[i].survived);
    }
    return array;
}

/// ‖w‖² + b² over all outputs; a machine without bias has b = 0.
double joint_squared_norm(Expansion e, bool double_precision) {
    double sum = 0;
    for (double& b : e.bias) {
        sum += b * b;
        b = 0;
    }
    const Matrix<double> f = Evaluator(e, double_precision)(e.points);
    for (std::size_t c = 0; c < e.outputs(); ++c) {
        for (std::size_t i = 0; i < e.size(); ++i) sum += e.coefficients(c, i) * f(i, c);
    }
    return sum;
}

/// Algorithm 29, in blocks.
template <class T>
void train_dual(const PerceptronSettings& settings, const Sample& sample, const Kernel& kernel,
                std::size_t outputs, ModelParts& model) {
    const auto gram = make_gram<T>(kernel, sample.x);
    const bool voting = settings.variant == PerceptronVariant::voted;
    PerceptronCore<T> core(outputs, settings.budget, settings.bias, voting);
    Passes passes(settings, sample);
    std::vector<std::size_t> classes;
    std::vector<double> weights;
    std::optional<Points<T>> held;
    std::size_t held_mistakes = 0;
    // More rows a block mean fewer, larger products, but each costs kernel values among themselves.
    constexpr std::size_t block_rows = 512;
    passes.go(block_rows, [&](std::span<const std::size_t> rows, PassRecord& record) {
        // Many points leave room for fewer rows.
        const std::size_t most = std::clamp<std::size_t>(
            value_bytes / sizeof(T) / (core.positions().size() + block_rows), 16, block_rows);
        for (std::size_t first = 0; first < rows.size(); first += most) {
            const auto part = rows.subspan(first, std::min(most, rows.size() - first));
            classes.clear();
            weights.clear();
            for (const std::size_t i : part) {
                classes.push_back(sample.class_of(i));
                if (!sample.data.weights.empty()) weights.push_back(sample.weight(i));
            }
            if (!held || held_mistakes != core.mistakes()) {
                held = gram.select(gram.reference(), core.positions());
                held_mistakes = core.mistakes();
            }
            core.learn(gram, gram.select(gram.reference(), part), *held, part, classes, weights,
                       record);
        }
        passes.count_steps(rows.size());
    });
    const bool averaged = settings.variant == PerceptronVariant::averaged;
    set_expansion(model, sample, kernel, core.positions(), core.coefficients(averaged),
                  core.bias(averaged));
    if (voting) model.extras.set(Votes(votes_array(core.votes())));
    const auto squared_norm = [&] {
        Expansion plain = model.expansion;
        plain.coefficients = core.coefficients(false);
        plain.bias = core.bias(false);
        return joint_squared_norm(std::move(plain), settings.common.double_precision);
    };
    const auto radius2 = [&] {
        std::vector<double> diagonal(sample.size());
        gram.diagonal(gram.reference(), diagonal);
        return *std::ranges::max_element(diagonal) + (settings.bias ? 1 : 0);
    };
    Report report =
        passes.report(outputs, core.mistakes(), model.expansion.size(), squared_norm, radius2);
    report.kernel_evaluations = core.evaluations();
    if (settings.budget > 0) {
        report.figures["merges"] = static_cast<double>(core.merges());
        report.figures["forgotten"] = core.forgotten();
    }
    model.reports = {std::move(report)};
}

/// Algorithm 28 for a kernel that is a multiple of x·z.
void train_primal(const PerceptronSettings& settings, const Sample& sample, const Kernel& kernel,
                  std::size_t outputs, ModelParts& model) {
    const double one[] = {1.0};
    Primal primal(sample, kernel(one, one), outputs, settings.bias);
    Passes passes(settings, sample);
    passes.go(4096, [&](std::span<const std::size_t> rows, PassRecord& record) {
        primal.learn(rows, record);
        passes.count_steps(rows.size());
    });
    primal.fill(model, kernel, settings.variant == PerceptronVariant::averaged);
    model.reports = {passes.report(
        outputs, primal.mistakes(), outputs, [&] { return primal.squared_norm(); },
        [&] { return primal.radius2(); })};
}

}  // namespace

namespace {

Model learn(const PerceptronSettings& settings, const Dataset& data) {
    check_settings(settings);
    const Sample sample = take_sample(Task::perceptron, data, settings.common);
    const Kernel kernel = resolve(sample.kernel, sample.x, sample.data.feature_names);
    const std::size_t k = sample.classes.count();
    const std::size_t outputs = k == 2 ? 1 : k;
    ModelParts model = begin_model(Task::perceptron, sample, settings.common);
    model.trained.bias = settings.bias;
    model.trained.numbers["passes"] = static_cast<double>(settings.passes);
    if (settings.variant == PerceptronVariant::averaged) model.trained.numbers["averaged"] = 1;
    if (settings.variant == PerceptronVariant::voted) model.trained.numbers["voted"] = 1;
    if (settings.budget > 0) {
        model.trained.numbers["budget"] = static_cast<double>(settings.budget);
    }
    const bool primal = is_linear(kernel) && settings.variant != PerceptronVariant::voted &&
                        sample.x.columns() <= most_weight_bytes / sizeof(double) / outputs / 2;
    if (primal) {
        train_primal(settings, sample, kernel, outputs, model);
    } else if (settings.common.double_precision) {
        train_dual<double>(settings, sample, kernel, outputs, model);
    } else {
        train_dual<float>(settings, sample, kernel, outputs, model);
    }
    return Model(std::move(model));
}

}  // namespace

Model Perceptron::fit(const Dataset& data) const {
    return patient_fit(task(), settings_, data, learn);
}

MachineEntry perceptron_entry() {
    return perceptron_settings().entry({.task = Task::perceptron,
                                        .name = "perceptron",
                                        .family = "online",
                                        .learns = Learns::classes,
                                        .about = "one row after another, added when it is wrong",
                                        .extras = {extra_kind<Votes>("votes")}},
                                       perceptron);
}

}  // namespace mercer
