// All rows, or the span of some: what each would cost, from trials on a few rows.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/centres.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer {
namespace {

constexpr double small_share = 1e-3;  ///< of the kernel, left by centres that serve

/// One machine of some rows, timed and judged on others.
struct Trial {
    double seconds = 0;
    double error = 0;
};

class Planner {
   public:
    Planner(const FitSettings& common, const std::function<Machine(const FitSettings&)>& make,
            const Dataset& data, const PlanSettings& settings)
        : common_(common), make_(make), data_(data), settings_(settings) {
        std::vector<std::size_t> order(data.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        Random(common.seed, 2).shuffle(std::span(order));
        const std::size_t rows = std::min(settings.pilot_rows, data.size());
        order.resize(rows);
        const std::span<const std::size_t> drawn(order);
        learnt_ = data.select(drawn.first((rows + 1) / 2));
        held_ = data.select(drawn.subspan((rows + 1) / 2));
    }

    TrainingPlan run() {
        const Stopwatch clock;
        TrainingPlan plan{.pilot_rows = learnt_.size() + held_.size()};
        plan.ways.push_back(from_all_rows());
        if (can_span()) {
            const std::vector<double> left = shares();
            for (const std::size_t centres : {std::size_t{250}, std::size_t{1000}}) {
                if (4 * centres <= data_.size()) plan.ways.push_back(in_span(centres, left));
            }
        }
        choose(plan);
        plan.seconds = clock.seconds();
        return plan;
    }

   private:
    double n() const { return static_cast<double>(data_.size()); }
    double limit() const { return common_.time_limit > 0 ? common_.time_limit : settings_.seconds; }

    Trial trial(const Machine& machine, const Dataset& rows) const {
        const Stopwatch clock;
        const Model model = machine.fit(rows);
        Trial found{.seconds = clock.seconds()};
        const Task task = machine.task();
        if (held_.size() == 0 || !(is_classifier(task) || is_regressor(task))) return found;
        const Score own = score(task, model.predict_labels(held_.x), held_.y);
        found.error = is_classifier(task) ? 1 - own.accuracy : std::sqrt(own.mean_squared_error);
        return found;
    }

    /// Time by a power of the rows: rows of the matrix for each support vector, or a factor of all
    /// of it.
    TrainingWay from_all_rows() const {
        const Machine machine = make_(common_);
        const Trial found = trial(machine, learnt_);
        TrainingWay way{.pilot_error = found.error};
        const bool stores = !is_svm(machine.task());
        const double growth = n() / static_cast<double>(learnt_.size());
        way.seconds = found.seconds * std::pow(growth, stores ? 3 : 2);
        const auto memory = static_cast<double>(common_.memory_bytes);
        way.bytes =
            stores ? n() * n() * sizeof(double) : std::min(n() * n() * sizeof(float), memory);
        way.fits = way.bytes <= memory;
        return way;
    }

    bool can_span() const {
        const Sample sample = take_sample(make_(common_).task(), learnt_, common_);
        const Kernel kernel = resolve(sample.kernel, sample.x, learnt_.feature_names);
        return convexity_by_rule(kernel, Directions::any) == Convexity::by_rule &&
               !is_centered(kernel);
    }

    /// What 1, 2, … centres leave of the kernel on the rows of the pilot.
    std::vector<double> shares() const {
        const Sample sample = take_sample(make_(common_).task(), learnt_, common_);
        const auto gram = make_gram<float>(sample.kernel, sample.x, learnt_.feature_names);
        std::vector<double> left;
        draw_centres(gram, {.count = 1000, .seed = common_.seed, .progress = common_.progress},
                     left);
        return left;
    }

    TrainingWay in_span(std::size_t centres, const std::vector<double>& left) const {
        TrainingWay way{.approximate = "nystroem(centres=" + std::to_string(centres) + ")",
                        .centres = centres};
        if (!left.empty()) way.left = left[std::min(centres, left.size()) - 1];
        const std::size_t few = std::min(centres, learnt_.size() / 4);
        const Machine machine =
            approximate(common_, {.centres = std::max<std::size_t>(few, 1)}, make_);
        const Trial found = trial(machine, learnt_);
        way.pilot_error = found.error;
        // Rows times centres kernel values, and times the square of the centres for the features.
        const double more =
            static_cast<double>(centres) / static_cast<double>(std::max<std::size_t>(few, 1));
        way.seconds = found.seconds * n() / static_cast<double>(learnt_.size()) * more * more;
        const auto m = static_cast<double>(centres);
        const bool blocks = goes_by_blocks();
        way.bytes = blocks ? 4 * m * m * sizeof(double) : 3 * n() * m * sizeof(float);
        way.fits = blocks || way.bytes <= static_cast<double>(common_.memory_bytes);
        return way;
    }

    /// Machines that need no features stored have a fit of their own in a span; the smallest tells.
    bool goes_by_blocks() const {
        std::vector<std::size_t> few(std::min<std::size_t>(learnt_.size(), 60));
        std::iota(few.begin(), few.end(), std::size_t{0});
        try {
            return make_(common_).fit_in_span(learnt_.select(few), {}, {.centres = 2}).has_value();
        } catch (const InvalidInput&) {  // too few rows for it
            return false;
        }
    }

    void choose(TrainingPlan& plan) const {
        const TrainingWay& all = plan.ways.front();
        const std::string of_all = "all " + std::to_string(data_.size()) +
                                   " rows would take about " +
                                   format_number(std::ceil(all.seconds)) + " s";
        if (all.fits && all.seconds <= limit()) {
            plan.why = of_all + ", within the time allowed";
            return;
        }
        for (std::size_t w = 1; w < plan.ways.size(); ++w) {
            const TrainingWay& way = plan.ways[w];
            if (!way.fits || (way.seconds > limit() && plan.chosen > 0)) continue;
            plan.chosen = w;
            if (way.left <= small_share) break;
        }
        if (plan.chosen == 0) {
            plan.why =
                of_all + ", and no span of some of them serves: " +
                (plan.ways.size() == 1 ? "the kernel cannot be approximated, or there are too "
                                         "few rows"
                                       : "their features do not fit into memory; allow more "
                                         "with `memory_bytes`");
            return;
        }
        const TrainingWay& way = plan.ways[plan.chosen];
        plan.why = (all.fits ? of_all : "the kernel matrix of all rows does not fit into memory") +
                   "; " + std::to_string(way.centres) + " centres leave " +
                   format_number(std::round(1e4 * 100 * way.left) / 1e4) +
                   " % of the kernel and take about " + format_number(std::ceil(way.seconds)) +
                   " s" + (way.left > small_share ? ", though more would serve better" : "");
    }

    const FitSettings& common_;
    const std::function<Machine(const FitSettings&)>& make_;
    const Dataset& data_;
    const PlanSettings& settings_;
    Dataset learnt_{};
    Dataset held_{};
};

}  // namespace

TrainingPlan plan_training(const FitSettings& common,
                           const std::function<Machine(const FitSettings&)>& make,
                           const Dataset& data, const PlanSettings& settings) {
    if (data.size() < 4)
        throw InvalidInput("there are too few rows to try anything on: at least 4");
    return Planner(common, make, data, settings).run();
}

}  // namespace mercer
