// Candidates with a width for each column. The widths of each fold are found on its training rows
// alone, so that scores are comparable with those of machines that have few settings.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "mercer/base/error.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/select/detail/column_widths.hpp"
#include "mercer/select/detail/learn_candidates.hpp"

namespace mercer {
namespace {

constexpr std::size_t most_widths = 64;
constexpr std::size_t most_summed = 20;  ///< columns whose sum is tried: it doubles the widths
constexpr std::size_t most_classes = 10;
constexpr std::size_t few_steps = 40;      ///< of the search for the evidence
constexpr double most_rows = 1000;         ///< of a search in a fold
constexpr std::size_t factor_rows = 1500;  ///< up to which deviations are kept
constexpr std::array<double, 5> penalties{4, 1, 16, 0.25, 64};

/// As many rows as a factorisation, whose time grows with their cube, allows in this time.
std::size_t rows_in_time(double rows_a_second, double seconds, double least, double most) {
    return static_cast<std::size_t>(std::clamp(rows_a_second * std::cbrt(seconds), least, most));
}

class WidthCandidate {
   public:
    WidthCandidate(const LearnTask& task, bool kinked, double seconds)
        : task_(task),
          numbers_(task.numbers),
          end_(task.budget.used() + seconds),
          first_rows_(rows_in_time(160, task.budget.seconds(), 200, 1000)),
          process_rows_(rows_in_time(1600, task.budget.seconds(), 1500, 8000)),
          shape_{.kinked = kinked} {}

    std::optional<FoundCandidate> operator()() {
        const std::size_t width = prepared(task_.sample).columns();
        const auto first = [&](const ColumnShape& shape) {
            const ColumnWidths start{.kernel = kernel_of_columns(shape, width)};
            const Stopwatch watch;
            auto found =
                find_widths(task_.sample, numbers_, start, settings(0.2), first_rows_, few_steps);
            slowest_ = std::max(slowest_, watch.seconds());
            task_.budget.check();
            return found;
        };
        if (task_.budget.used() > end_) return std::nullopt;
        std::optional<ColumnWidths> best = first(shape_);
        if (best && width > 1 && width <= most_summed) {
            const ColumnShape summed{.kinked = shape_.kinked, .with_sum = true};
            const auto found = first(summed);
            if (found && found->evidence > best->evidence) {
                best = found;
                shape_ = summed;
            }
        }
        if (!best || !find_in_folds(width)) return std::nullopt;
        widths_ = std::make_shared<ColumnWidths>(*best);
        const bool process = numbers_ && task_.train.size() <= process_rows_;
        return process ? process_candidate() : machine_candidate();
    }

   private:
    FitSettings settings(double share) const {
        FitSettings common = common_settings(task_, "linear");
        common.time_limit = std::max(0.05, share * (end_ - task_.budget.used()));
        common.progress = task_.budget.until(common.time_limit, "widths of columns");
        return common;
    }

    bool find_in_folds(std::size_t width) {
        folds_ = make_folds(task_.folds, numbers_ ? Task::svr : Task::svc, task_.sample);
        // As many rows as the folds have time for, at the pace that was seen.
        const double each = 0.6 * (end_ - task_.budget.used()) / static_cast<double>(folds_.size());
        const double pace = static_cast<double>(std::min(first_rows_, task_.sample.size())) /
                            std::cbrt(std::max(1e-3, slowest_));
        const std::size_t rows = rows_in_time(pace, std::max(0.0, each), 200, most_rows);
        const ColumnWidths start{.kernel = kernel_of_columns(shape_, width)};
        for (std::size_t f = 0; f < folds_.size(); ++f) {
            if (task_.budget.used() > end_) return false;  // a part of the folds says nothing
            const Dataset own = task_.sample.select(folds_[f].train);
            const double share = 0.6 / static_cast<double>(folds_.size() - f);
            const auto found = find_widths(own, numbers_, start, settings(share), rows, few_steps);
            task_.budget.check();
            if (!found) return false;
            of_folds_.push_back(*found);
        }
        return true;
    }

    FoundCandidate begun(const std::string& machine, Task task) const {
        FoundCandidate found;
        found.candidate = {
            .name = machine + shape_.name(), .task = task, .kernel = widths_->kernel};
        found.candidate.rows = task_.sample.size();
        found.refine = [widths = widths_, task = task_](FoundCandidate& own, double seconds) {
            FitSettings common = common_settings(task, "linear");
            common.time_limit = seconds;
            common.progress = task.budget.until(seconds, "widths of columns on more rows");
            const std::size_t rows = rows_in_time(900, seconds, 300, 3000);
            const auto better =
                find_widths(task.train, task.numbers, *widths, common, rows, few_steps);
            if (!better) return;
            *widths = *better;
            own.candidate.kernel = better->kernel;
            if (own.candidate.task == Task::gp) own.candidate.settings["noise"] = better->noise;
        };
        return found;
    }

    GaussianProcessSettings process_settings(const ColumnWidths& widths) const {
        GaussianProcessSettings s;
        s.common = common_settings(task_, widths.kernel);
        s.noise = widths.noise;
        s.keep_factor = false;
        return s;
    }

    FoundCandidate process_candidate() const {
        FoundCandidate found = begun("Gaussian process, ", Task::gp);
        Candidate& c = found.candidate;
        const Stopwatch watch;
        c.settings["noise"] = widths_->noise;
        c.points = 1;
        const bool keep = task_.train.size() <= factor_rows;
        found.machine = [s = process_settings(*widths_), widths = widths_, keep](
                            const Progress& progress, double limit, bool) {
            GaussianProcessSettings own = s;
            own.common.kernel = Kernel::parse(widths->kernel);
            own.noise = widths->noise;
            own.keep_factor = keep;
            own.common.progress = progress;
            own.common.time_limit = limit;
            return Machine(gaussian_process(own));
        };
        const TriedSettings tried = over_folds([&](std::size_t f) {
            return Machine(gaussian_process(process_settings(of_folds_[f])));
        });
        c.score = tried.score;
        c.deviation = tried.deviation;
        if (std::isnan(c.score)) c.status = "no process could be learnt on the folds";
        c.seconds = watch.seconds();
        return found;
    }

    SvmSettings machine_settings(const ColumnWidths& widths, double penalty) const {
        SvmSettings s;
        s.task = numbers_ ? Task::svr : Task::svc;
        s.common = common_settings(task_, widths.kernel);
        s.C = penalty;
        return s;
    }

    FoundCandidate machine_candidate() const {
        FoundCandidate found = begun("", numbers_ ? Task::svr : Task::svc);
        Candidate& c = found.candidate;
        const Stopwatch watch;
        c.axes = {"C"};
        c.score = std::nan("");
        for (const double penalty : penalties) {
            if (!c.tried.empty() && task_.budget.used() > end_) break;
            TriedSettings tried = over_folds([&](std::size_t f) {
                return Machine(mercer::svm(machine_settings(of_folds_[f], penalty)));
            });
            if (std::isnan(tried.score)) continue;
            const bool first = c.tried.empty();
            if (first || (numbers_ ? tried.score < c.score : tried.score > c.score)) {
                c.score = tried.score;
                c.deviation = tried.deviation;
                c.settings["C"] = penalty;
            }
            tried.values = {penalty};
            c.tried.push_back(tried);
        }
        c.points = c.tried.size();
        if (c.tried.empty()) {
            c.status = "the time was too short for a score";
            return found;
        }
        found.machine = [s = machine_settings(*widths_, c.settings["C"]), widths = widths_](
                            const Progress& progress, double limit, bool probability) {
            SvmSettings own = s;
            own.common.kernel = Kernel::parse(widths->kernel);
            own.common.progress = progress;
            own.common.time_limit = limit;
            own.probability = probability;
            return Machine(mercer::svm(own));
        };
        c.seconds = watch.seconds();
        return found;
    }

    /// Accuracy or mean squared error, each fold by its own machine.
    template <class Make>
    TriedSettings over_folds(const Make& make) const {
        std::vector<double> scores;
        try {
            for (std::size_t f = 0; f < folds_.size(); ++f) {
                const Machine machine = make(f);
                const Model model = machine.fit(task_.sample.select(folds_[f].train));
                const Score s =
                    score(model.task(), model.predict_labels(task_.sample.x.select(folds_[f].test)),
                          task_.sample.select(folds_[f].test).y);
                scores.push_back(numbers_ ? s.mean_squared_error : s.accuracy);
                task_.budget.until(task_.budget.seconds(), "widths of columns")({});
                task_.budget.check();
            }
        } catch (const InvalidInput&) {
            return {.score = std::nan("")};
        }
        const auto n = static_cast<double>(scores.size());
        TriedSettings tried;
        tried.score = std::accumulate(scores.begin(), scores.end(), 0.0) / n;
        for (const double s : scores) tried.deviation += (s - tried.score) * (s - tried.score);
        tried.deviation = std::sqrt(tried.deviation / std::max(1.0, n - 1));
        return tried;
    }

    const LearnTask& task_;
    bool numbers_;
    double end_;
    double slowest_ = 0;        ///< seconds of a search on the first rows
    std::size_t first_rows_;    ///< that the shape is chosen on
    std::size_t process_rows_;  ///< up to which a process is learnt
    ColumnShape shape_;
    std::vector<Split> folds_{};
    std::vector<ColumnWidths> of_folds_{};
    std::shared_ptr<ColumnWidths> widths_{};
};

}  // namespace

std::vector<FoundCandidate> try_column_widths(const LearnTask& task, double seconds) {
    const std::size_t width = prepared(task.sample).columns();
    if (!task.train.x.objects().empty() || width < 1 || width > most_widths) return {};
    if (!task.numbers && classes_of(task.sample.y).count() > most_classes) return {};
    std::vector<FoundCandidate> found;
    const double end = task.budget.used() + seconds;
    // What the first leaves over is the second's.
    for (const bool kinked : {true, false}) {
        const double left = end - task.budget.used();
        if (auto one = WidthCandidate(task, kinked, kinked ? left / 2 : left)()) {
            found.push_back(std::move(*one));
        }
    }
    return found;
}

}  // namespace mercer
