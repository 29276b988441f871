#include "mercer/select/detail/pilot.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/base/random.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/cells/detail/cell_growth.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer {
namespace {

constexpr double least_seconds = 1e-4;  ///< below it times say nothing of the rows

bool is_judged(Task task) {
    return is_classifier(task) || is_regressor(task);
}

double error_of(Task task, const Labels& said, const Labels& truth) {
    const Score own = score(task, said, truth);
    return is_classifier(task) ? 1 - own.accuracy : own.mean_squared_error;
}

/// Slope of the best line through the last three points (log rows, log value).
double slope_of(std::span<const Trial> trials, double Trial::*value, double least) {
    const std::size_t count = std::min<std::size_t>(trials.size(), 3);
    const auto last = trials.last(count);
    double x = 0, y = 0, xx = 0, xy = 0;
    for (const Trial& t : last) {
        const double a = std::log(static_cast<double>(t.rows));
        const double b = std::log(std::max(t.*value, least));
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    const auto n = static_cast<double>(count);
    const double spread = n * xx - x * x;
    return spread > 0 ? (n * xy - x * y) / spread : 0;
}

}  // namespace

double time_growth(std::span<const Trial> trials, double otherwise) {
    if (trials.size() < 2) return otherwise;
    constexpr double most = 4;
    return std::clamp(slope_of(trials, &Trial::seconds, least_seconds), 1.0, most);
}

double error_at(std::span<const Trial> trials, double rows) {
    const Trial& last = trials.back();
    if (trials.size() < 2 || last.error <= 0) return last.error;
    // One row in so many held out is the least that can be told from none.
    const double slope = std::min(0.0, slope_of(trials, &Trial::error, 1e-4));
    const double more = std::max(1.0, rows / static_cast<double>(last.rows));
    return last.error * std::pow(more, slope);
}

double error_shown(Task task, double error) {
    return is_regressor(task) ? std::sqrt(std::max(error, 0.0)) : error;
}

Pilot::Pilot(const FitSettings& common, const Dataset& data, std::size_t most_rows)
    : common_(common), data_(data) {
    std::vector<std::size_t> order(data.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random(common.seed, 2).shuffle(std::span(order));
    constexpr std::size_t most_held = 4000;
    const std::size_t held = std::min(most_held, std::max<std::size_t>(order.size() / 4, 1));
    held_ = data.select(std::span(order).first(held));
    const std::size_t learnt = std::min(most_rows, order.size() - held);
    const auto first = order.begin() + static_cast<std::ptrdiff_t>(held);
    learnt_.assign(first, first + static_cast<std::ptrdiff_t>(learnt));
    common_.progress = common.progress;
}

Dataset Pilot::rows(std::size_t count) const {
    return data_.select(std::span(learnt_).first(std::min(count, learnt_.size())));
}

Trial Pilot::run(const std::function<Machine(const FitSettings&)>& make, std::size_t count,
                 double seconds) const {
    const auto positions = std::span(learnt_).first(std::min(count, learnt_.size()));
    const Dataset some = data_.select(positions);
    FitSettings own = common_;
    own.time_limit = seconds;
    const Machine machine = make(own).for_rows(positions);
    const Stopwatch clock;
    Model model;
    // Nothing to hand back yet when the time was over; or somebody said stop, or it cannot be.
    const auto unended = [&] {
        return Trial{.rows = some.size(),
                     .seconds = clock.seconds(),
                     .error = guess(machine.task()),
                     .ended = false};
    };
    try {
        model = machine.fit(some);
    } catch (const Cancelled&) {
        if (!keep_going(common_.progress, {"pilot", -1})) throw;
        return unended();
    } catch (const InvalidInput&) {
        if (!(seconds > 0 && clock.seconds() >= seconds)) throw;
        return unended();
    }
    Trial trial{.rows = some.size(), .seconds = clock.seconds()};
    const FitStatus status = model.report().status;
    if (status == FitStatus::cancelled) throw Cancelled();
    trial.ended = status != FitStatus::time_limit;
    trial.support = static_cast<double>(model.points()) / static_cast<double>(some.size());
    if (is_judged(machine.task()) && held_.size() > 0) {
        trial.error = error_of(machine.task(), model.predict_labels(held_.x), held_.y);
    }
    return trial;
}

double Pilot::guess(Task task) const {
    if (is_classifier(task)) {
        const Classes classes = classes_of(held_.y);
        std::vector<std::size_t> count(classes.count(), 0);
        for (const std::int32_t c : classes.index) ++count[static_cast<std::size_t>(c)];
        return 1 - static_cast<double>(std::ranges::max(count)) / static_cast<double>(held_.size());
    }
    if (!is_regressor(task)) return 0;
    const double scale = fit_target_scale(TargetScale::standard, held_.y.values).scale;
    return scale * scale;
}

double Pilot::deviation(Task task, double error) const {
    const auto n = static_cast<double>(std::max<std::size_t>(held_.size(), 1));
    if (is_classifier(task)) return std::sqrt(std::max(error * (1 - error), 1 / n) / n);
    return error * std::sqrt(2 / n);  // squares of normal errors
}

namespace {

/// Learns one cell from four fifths of its rows, and judges it on the others.
struct LearntCell {
    double seconds_a_row = 0;
    double error = 0;
};

class CellTrials {
   public:
    CellTrials(const FitSettings& common, const CellRule& how,
               const std::function<Machine(const FitSettings&)>& make, const Dataset& data)
        : common_(common),
          how_(how),
          make_(make),
          task_(make(common).task()),
          counts_(class_counts(task_, data)),
          sample_(take_sample(task_, data, common)),
          kernel_(resolve(sample_.kernel, sample_.x, sample_.data.feature_names)) {}

    CellTrial run(double seconds) {
        const Stopwatch clock;
        constexpr std::size_t most_cells = 24, fewest = 4;
        Random random(common_.seed, 5);
        std::vector<std::size_t> drawn;
        for (std::size_t k = 0; k < most_cells; ++k) drawn.push_back(random.below(sample_.size()));
        const GrownCells grown = grow_cells(sample_.x, how_.rows, common_.seed,
                                            common_.memory_bytes, common_.progress, drawn);
        // The forks that were left out cost about as much as those on the way.
        const double growth = 2 * clock.seconds();
        std::vector<LearntCell> learnt;
        double rows = 0;
        for (const std::size_t i : drawn) {
            if (learnt.size() >= fewest && clock.seconds() > seconds) break;
            std::vector<std::size_t> own;
            for (std::size_t r = 0; r < grown.cell.size(); ++r) {
                if (grown.cell[r] == grown.cell[i]) own.push_back(r);
            }
            rows += 1 / static_cast<double>(own.size());
            learnt.push_back(learn(std::move(own)));
        }
        // Rows were drawn, and so cells by their size: each row's share of its cell's time counts.
        CellTrial found{.cells = learnt.size()};
        const auto count = static_cast<double>(learnt.size());
        double squares = 0;
        for (const LearntCell& cell : learnt) {
            found.seconds += cell.seconds_a_row / count;
            found.error += cell.error / count;
            squares += cell.error * cell.error / count;
        }
        found.mean_rows = count / rows;
        found.seconds = growth + found.seconds * static_cast<double>(sample_.size()) /
                                     static_cast<double>(threads());
        const double spread = std::max(0.0, squares - found.error * found.error);
        found.deviation = std::sqrt(spread / std::max(count - 1, 1.0));
        return found;
    }

   private:
    LearntCell learn(std::vector<std::size_t> rows) const {
        Random(common_.seed, 6).shuffle(std::span(rows));
        const std::size_t held = std::max<std::size_t>(rows.size() / 5, 1);
        const auto test = std::span<const std::size_t>(rows).first(held);
        const auto train = std::span<const std::size_t>(rows).subspan(held);
        if (train.empty()) return {};
        FitSettings own = common_;
        own.kernel = kernel_;
        own.scaling = {};
        own.time_limit = 0;
        const Dataset learnt = part(train);
        const Dataset judged = part(test);
        if (is_classifier(task_) && classes_of(learnt.y).count() < 2) {
            Labels said = judged.y;
            std::ranges::fill(said.values, learnt.y.values.front());
            return {.error = error_of(task_, said, judged.y)};
        }
        std::vector<std::size_t> origins;
        for (const std::size_t i : train) origins.push_back(sample_.kept[i]);
        const ThreadLimit one(1);  // as cells are learnt, side by side
        const Stopwatch clock;
        const Model model = make_(own).for_rows(origins, counts_).fit(learnt);
        if (model.report().status == FitStatus::cancelled) throw Cancelled();
        // A fifth more rows take half as long again.
        const double seconds = 1.5 * clock.seconds();
        return {.seconds_a_row = seconds / static_cast<double>(rows.size()),
                .error = error_of(task_, model.predict_labels(judged.x), judged.y)};
    }

    Dataset part(std::span<const std::size_t> rows) const {
        Dataset some = sample_.data.select(rows);
        some.x = sample_.x.select(rows);
        return some;
    }

    const FitSettings& common_;
    const CellRule& how_;
    const std::function<Machine(const FitSettings&)>& make_;
    Task task_;
    ClassCounts counts_;
    Sample sample_;
    Kernel kernel_;
};

}  // namespace

std::optional<CellTrial> try_cells(const FitSettings& common, const CellRule& how,
                                   const std::function<Machine(const FitSettings&)>& make,
                                   const Dataset& data, double seconds) {
    // The smallest data set of cells tells whether the machine takes to them.
    const std::vector<std::size_t> few = spread_rows(data, is_classifier(make(common).task()), 60);
    try {
        FitSettings quick = common;
        quick.time_limit = 0;
        approximate(quick, CellRule{.rows = 60}, make).for_rows(few).fit(data.select(few));
    } catch (const InvalidInput&) {
        return {};
    }
    return CellTrials(common, how, make, data).run(seconds);
}

}  // namespace mercer
