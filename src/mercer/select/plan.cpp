// All rows, cells, or the span of some rows: what each would cost and give, from trials on a few.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/centres.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/detail/span_sample.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/detail/pilot.hpp"

namespace mercer {
namespace {

constexpr double small_share = 1e-3;  ///< of the kernel, left by centres that serve
constexpr std::size_t first_rows = 1000;

std::string about(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2g", value);
    return text;
}

std::string duration(double seconds) {
    if (seconds < 90) return about(seconds) + " s";
    if (seconds < 5400) return std::to_string(std::lround(seconds / 60)) + " min";
    return about(seconds / 3600) + " h";
}

class Planner {
   public:
    Planner(const FitSettings& common, const std::function<Machine(const FitSettings&)>& make,
            const Dataset& data, const PlanSettings& settings)
        : common_(common),
          make_(make),
          data_(data),
          settings_(settings),
          task_(make(common).task()),
          pilot_(common, data, settings.pilot_rows) {}

    TrainingPlan run() {
        plan_.pilot_rows = pilot_.held();
        from_all_rows();
        in_cells();
        in_spans();
        choose();
        plan_.seconds = clock_.seconds();
        return std::move(plan_);
    }

   private:
    double n() const { return static_cast<double>(data_.size()); }
    double limit() const { return common_.time_limit > 0 ? common_.time_limit : settings_.seconds; }
    /// For the pilot; each of the three ways has about a third of it.
    double budget() const {
        constexpr double most = 15;
        return settings_.pilot_seconds > 0 ? settings_.pilot_seconds : std::min(most, limit() / 20);
    }
    bool judged() const { return is_classifier(task_) || is_regressor(task_); }
    double memory() const { return static_cast<double>(common_.memory_bytes); }

    void look_up() const {
        if (!keep_going(common_.progress, {"pilot", -1})) throw Cancelled();
    }

    /// Twice as many rows again and again, as long as there is time for it.
    std::vector<Trial> trials_of(const std::function<Machine(const FitSettings&)>& make,
                                 std::size_t first, double seconds) const {
        std::vector<Trial> trials;
        const Stopwatch clock;
        for (std::size_t rows = std::min(first, pilot_.most());;
             rows = std::min(2 * rows, pilot_.most())) {
            look_up();
            const double left = std::max(3 * seconds - clock.seconds(), seconds);
            trials.push_back(pilot_.run(make, rows, left));
            if (!trials.back().ended) {
                // What was not learnt to its end says no more than that it takes longer.
                if (trials.size() > 1) trials.pop_back();
                break;
            }
            if (rows == pilot_.most()) break;
            // Three sizes say how time grows, and are waited for somewhat longer.
            const double next = 4 * trials.back().seconds;
            const bool enough = trials.size() >= 3;
            if (clock.seconds() + next > (enough ? seconds : 3 * seconds)) break;
        }
        return trials;
    }

    void from_all_rows() {
        const bool stores = !is_svm(task_);
        exact_ = trials_of(make_, first_rows, budget() / 3);
        const Trial& last = exact_.back();
        plan_.pilot_rows += last.rows;
        plan_.growth = time_growth(exact_, stores ? 3 : 2);
        plan_.support = last.support;
        TrainingWay way{.pilot_error = error_shown(task_, last.error)};
        way.seconds = last.seconds * std::pow(n() / static_cast<double>(last.rows), plan_.growth);
        expected_ = error_at(exact_, n());
        way.expected_error = error_shown(task_, expected_);
        way.deviation = deviation(last.error);
        way.bytes =
            stores ? n() * n() * sizeof(double) : std::min(n() * n() * sizeof(float), memory());
        way.fits = way.bytes <= memory();
        way.certificate = has_bracket(task_) ? "optimum" : "none";
        way.tried = last.ended;
        plan_.ways.push_back(std::move(way));
    }

    /// Of the error as it is shown.
    double deviation(double error) const {
        const double own = pilot_.deviation(task_, error);
        return is_regressor(task_) ? own / (2 * std::sqrt(std::max(error, 1e-300))) : own;
    }

    void in_cells() {
        const CellRule how;
        constexpr std::size_t fewest = 4;  // cells, below which one machine is as quick
        if (!judged() || data_.size() < fewest * how.rows) return;
        look_up();
        const auto found = try_cells(common_, how, make_, data_, budget() / 3);
        if (!found) return;
        TrainingWay way{.approximate = "cells(rows=" + std::to_string(how.rows) + ")",
                        .cell_rows = how.rows,
                        .seconds = found->seconds};
        way.pilot_error = way.expected_error = error_shown(task_, found->error);
        way.deviation = is_regressor(task_)
                            ? found->deviation / (2 * std::max(way.pilot_error, 1e-300))
                            : found->deviation;
        const auto rows = static_cast<double>(how.rows);
        way.bytes = std::min(16 * rows * rows * static_cast<double>(threads()), memory());
        way.fits = 16 * rows * rows <= memory();
        way.certificate = has_bracket(task_) ? "optimum of each cell" : "none";
        plan_.pilot_rows += static_cast<std::size_t>(found->mean_rows) * found->cells;
        plan_.ways.push_back(std::move(way));
    }

    bool can_span(const Sample& sample) const {
        const Kernel kernel = resolve(sample.kernel, sample.x, sample.data.feature_names);
        return convexity_by_rule(kernel, Directions::any) == Convexity::by_rule &&
               !is_centered(kernel);
    }

    void in_spans() {
        const Sample sample = take_sample(task_, pilot_.rows(4000), common_);
        if (!can_span(sample)) return;
        const auto gram = make_gram<float>(sample.kernel, sample.x, sample.data.feature_names);
        std::vector<double> left;
        draw_centres(gram, {.count = 1000, .seed = common_.seed, .progress = common_.progress},
                     left);
        try {
            for (const std::size_t centres : {std::size_t{250}, std::size_t{1000}}) {
                if (4 * centres <= data_.size()) in_span(centres, left);
            }
        } catch (const InvalidInput&) {  // a machine that has no words for it
        }
    }

    void in_span(std::size_t centres, const std::vector<double>& left) {
        TrainingWay way{.approximate = "nystroem(centres=" + std::to_string(centres) + ")",
                        .centres = centres};
        if (!left.empty()) way.left = left[std::min(centres, left.size()) - 1];
        // Fewer rows than a few times the centres would say nothing of what those leave out.
        const std::size_t few = std::clamp<std::size_t>(pilot_.most() / 4, 1, centres);
        const bool blocks = goes_by_blocks();
        // Those that will go over the rows in passes, because features would not fit, do so here.
        const bool stored = features_fit(data_.size(), centres, common_);
        const auto make = [&](const FitSettings& given) {
            FitSettings own = given;
            if (!stored && blocks) own.memory_bytes = std::min(own.memory_bytes, few * few);
            return approximate(own, Nystroem{.centres = few}, make_);
        };
        std::vector<Trial> trials = trials_of(make, 4 * few, budget() / 6);
        const Trial& last = trials.back();
        const double more = static_cast<double>(centres) / static_cast<double>(few);
        way.seconds = last.seconds * more * more *
                      std::pow(n() / static_cast<double>(last.rows), time_growth(trials, 1));
        way.pilot_error = error_shown(task_, last.error);
        way.deviation = deviation(last.error);
        way.expected_error = error_shown(task_, span_error(last));
        const auto m = static_cast<double>(centres);
        way.bytes = blocks && !stored ? 4 * m * m * sizeof(double) : 3 * n() * m * sizeof(float);
        way.fits = blocks || way.bytes <= memory();
        way.certificate =
            has_bracket(task_) ? "optimum in the span, at most that of all rows" : "none";
        way.tried = last.ended;
        plan_.ways.push_back(std::move(way));
    }

    /// Where the span costs nothing against all rows of the pilot, more rows help as they help
    /// those; where it does, it is the span that limits.
    double span_error(const Trial& last) const {
        if (!judged()) return 0;
        double exact = exact_.back().error;
        for (const Trial& t : exact_) {
            if (t.rows <= last.rows) exact = t.error;
        }
        const double noise = 2 * pilot_.deviation(task_, exact);
        return last.error > exact + noise ? last.error
                                          : std::min(last.error, std::max(expected_, 0.0));
    }

    /// Machines that need no features stored have a fit of their own in a span; the smallest tells,
    /// told that there is no room for features.
    bool goes_by_blocks() const {
        const Dataset few = pilot_.rows(60);
        FitSettings tight = common_;
        tight.memory_bytes = 1;
        try {
            return make_(tight).fit_in_span(few, {}, {.centres = 2}).has_value();
        } catch (const InvalidInput&) {  // too few rows for it
            return false;
        }
    }

    /// Of two ways, the one with the smaller error, or where those cannot be told apart the one
    /// whose centres leave less of the kernel, or the quicker. Of two spans that is the one with
    /// fewer centres, whatever a clock says of trials that take milliseconds.
    bool better(const TrainingWay& a, const TrainingWay& b) const {
        if (a.tried != b.tried) return a.tried;
        const double noise = std::hypot(a.deviation, b.deviation);
        if (judged() && std::abs(a.expected_error - b.expected_error) > noise) {
            return a.expected_error < b.expected_error;
        }
        if (a.centres > 0 && b.centres > 0) {
            return std::max(a.left, b.left) > small_share ? a.left < b.left : a.centres < b.centres;
        }
        return a.seconds < b.seconds;
    }

    void choose() {
        const TrainingWay& all = plan_.ways.front();
        const std::string of_all = "all " + std::to_string(data_.size()) +
                                   " rows would take about " + duration(all.seconds);
        if (all.fits && all.seconds <= limit()) {
            plan_.why = of_all + ", within the time allowed";
            return;
        }
        for (const bool in_time : {true, false}) {
            for (std::size_t w = 1; w < plan_.ways.size() && (in_time || plan_.chosen == 0); ++w) {
                const TrainingWay& way = plan_.ways[w];
                if (!way.fits || (in_time && way.seconds > limit())) continue;
                if (plan_.chosen == 0 || better(way, plan_.ways[plan_.chosen])) plan_.chosen = w;
            }
            if (plan_.chosen > 0) break;
        }
        if (plan_.chosen == 0) {
            plan_.why = of_all + ", and nothing else serves: " +
                        (plan_.ways.size() == 1 ? "the kernel cannot be approximated, or there are "
                                                  "too few rows"
                                                : "the others do not fit into memory; allow more "
                                                  "with `memory_bytes`");
            return;
        }
        plan_.why = reason(all, of_all);
    }

    std::string error_text(const TrainingWay& way) const {
        if (!way.tried) return "an error not known";
        return is_classifier(task_) ? about(100 * way.expected_error) + " % wrong"
                                    : "an error of " + about(way.expected_error);
    }

    static std::string name_of(const TrainingWay& way) {
        return way.cell_rows > 0 ? "cells of " + std::to_string(way.cell_rows) + " rows"
                                 : "the span of " + std::to_string(way.centres) + " centres";
    }

    std::string reason(const TrainingWay& all, const std::string& of_all) const {
        const TrainingWay& way = plan_.ways[plan_.chosen];
        std::string text =
            all.fits ? of_all : "the kernel matrix of all rows does not fit into memory";
        if (is_svm(task_)) text += " (" + about(100 * plan_.support) + " % support vectors)";
        text += "; " + name_of(way) + (way.cell_rows > 0 ? " take about " : " takes about ") +
                duration(way.seconds);
        if (judged()) text += ", " + error_text(way) + " expected";
        for (const TrainingWay& other : plan_.ways) {
            const bool other_kind = (other.cell_rows > 0) != (way.cell_rows > 0);
            if (&other == &way || &other == &all || !other_kind || !judged()) continue;
            if (&other != &plan_.ways.back() && other.cell_rows == 0) continue;
            text += " against " + error_text(other) + " in " + name_of(other);
        }
        if (way.centres > 0) {
            text += "; the centres leave " + about(100 * way.left) + " % of the kernel";
            if (way.left > small_share) text += ", and more would serve better";
        }
        if (way.seconds > limit()) text += "; that is more than the time allowed";
        return text;
    }

    const FitSettings& common_;
    const std::function<Machine(const FitSettings&)>& make_;
    const Dataset& data_;
    const PlanSettings& settings_;
    Task task_;
    Pilot pilot_;
    Stopwatch clock_{};
    TrainingPlan plan_{};
    std::vector<Trial> exact_{};
    double expected_ = 0;  ///< the error of all rows, squared for numbers
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
