#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/detail/budget.hpp"
#include "mercer/select/detail/drift.hpp"
#include "mercer/select/detail/learn_candidates.hpp"
#include "mercer/select/detail/learn_facts.hpp"
#include "mercer/select/detail/table_warnings.hpp"
#include "mercer/theory/certificate_check.hpp"

namespace mercer {
namespace {

constexpr double sample_rows = 2000;  ///< of the sample that candidates are compared on
constexpr double small_sample = 900;  ///< whose folds are drawn several times
constexpr std::size_t verified_rows = 20'000;
constexpr std::size_t explained_rows = 100;
constexpr std::size_t effect_rows = 200;
constexpr std::size_t shown_effects = 6;

class Learner {
   public:
    Learner(const Dataset& data, const LearnSettings& settings)
        : data_(data), settings_(settings), budget_(settings.seconds, settings.progress) {}

    LearnResult run() {
        settle();
        set_aside();
        draw_sample();
        found_ = try_candidates({.settings = settings_,
                                 .numbers = numbers(),
                                 .train = train_,
                                 .sample = sample_,
                                 .folds = fold_,
                                 .budget = budget_});
        for (const FoundCandidate& found : found_) result_.candidates.push_back(found.candidate);
        choose();
        train();
        finish();
        if (settings_.study) study();
        result_.seconds = budget_.used();
        return std::move(result_);
    }

   private:
    bool numbers() const { return result_.numbers; }

    void settle() {
        if (data_.y.empty()) {
            throw InvalidInput("the data has no labels: say which column is the target");
        }
        if (data_.size() < 10) {
            throw InvalidInput("there are " + std::to_string(data_.size()) +
                               " rows; ten at least are needed to learn and to judge");
        }
        const Target target =
            settings_.target == Target::automatic ? target_of(data_.y) : settings_.target;
        result_.numbers = target == Target::numbers;
        if (numbers() && data_.y.are_text()) {
            throw InvalidInput("the target holds names such as " + quoted(data_.y.text(0)) +
                               ": they are classes, not numbers");
        }
        if (!numbers()) {
            const Classes classes = classes_of(data_.y);
            if (classes.count() < 2) {
                throw InvalidInput("all rows are of one class, " + quoted(classes.names[0]) +
                                   ": there is nothing to tell apart");
            }
            classes_ = classes.index;
            if (classes.count() > 100) {
                throw InvalidInput("the target has " + std::to_string(classes.count()) +
                                   " different names: too many to be classes; name another column");
            }
        }
        result_.warnings = table_warnings(data_, numbers());
        if (numbers() && !settings_.by_time && settings_.groups.empty()) {
            const std::string ordered = order_of_time(data_);
            if (!ordered.empty()) result_.warnings.push_back(ordered);
        }
    }

    void set_aside() {
        const std::size_t n = data_.size();
        if (settings_.by_time) {
            const auto first =
                static_cast<std::size_t>(std::ceil((1 - settings_.test) * static_cast<double>(n)));
            for (std::size_t i = 0; i < n; ++i) {
                (i < first ? result_.split.train : result_.split.test).push_back(i);
            }
        } else if (!settings_.groups.empty()) {
            set_groups_aside();
        } else {
            result_.split = split_rows(n, settings_.test, settings_.seed, classes_);
        }
        if (result_.split.train.size() < 5 || result_.split.test.empty()) {
            throw InvalidInput("too few rows, or groups, are left to learn from or to judge on");
        }
        train_ = data_.select(result_.split.train);
        const std::size_t repeats = rows_on_both_sides(data_, result_.split);
        if (repeats > 0) {
            result_.warnings.push_back(std::to_string(repeats) + " of the " +
                                       std::to_string(result_.split.test.size()) +
                                       " rows set aside are also among those learnt from: the "
                                       "error may be told too small");
        }
        if (!settings_.by_time) return;
        result_.drift = column_drift(data_, result_.split, numbers());
        for (std::string& warning : drift_warnings(result_.drift)) {
            result_.warnings.push_back(std::move(warning));
        }
    }

    void set_groups_aside() {
        if (settings_.groups.size() != data_.size()) {
            throw InvalidInput(std::to_string(settings_.groups.size()) + " groups for " +
                               std::to_string(data_.size()) + " rows");
        }
        std::set<std::string> names(settings_.groups.begin(), settings_.groups.end());
        std::vector<std::string> order(names.begin(), names.end());
        Random(settings_.seed).shuffle(std::span(order));
        std::set<std::string> held;
        std::size_t rows = 0;
        for (const std::string& name : order) {
            if (static_cast<double>(rows) >= settings_.test * static_cast<double>(data_.size()))
                break;
            held.insert(name);
            rows += static_cast<std::size_t>(std::ranges::count(settings_.groups, name));
        }
        for (std::size_t i = 0; i < data_.size(); ++i) {
            (held.contains(settings_.groups[i]) ? result_.split.test : result_.split.train)
                .push_back(i);
        }
    }

    /// The rows that candidates are compared on, and their folds.
    void draw_sample() {
        std::vector<std::size_t> rows(train_.size());
        std::iota(rows.begin(), rows.end(), 0);
        // Comparing costs about the square of the rows.
        const double most =
            std::clamp(sample_rows * std::sqrt(settings_.seconds / 60), 400.0, 2 * sample_rows);
        if (static_cast<double>(rows.size()) > most) {
            const double share = most / static_cast<double>(rows.size());
            const Classes classes = numbers() ? Classes{} : classes_of(train_.y);
            rows = split_rows(train_.size(), share, settings_.seed + 1, classes.index).test;
        }
        sample_ = train_.select(rows);
        fold_.seed = settings_.seed;
        // The fewer rows, the more a choice hangs on how the folds are drawn.
        const double scarce =
            static_cast<double>(sample_.size()) / std::min(1.0, std::sqrt(settings_.seconds / 60));
        fold_.folds = std::min<std::size_t>(scarce < small_sample ? 5 : 3, sample_.size());
        fold_.repeats = scarce < small_sample ? 3 : 1;
        if (!settings_.groups.empty()) {
            std::set<std::string> names;
            for (const std::size_t i : rows) {
                fold_.keys.push_back(settings_.groups[result_.split.train[i]]);
                names.insert(fold_.keys.back());
            }
            fold_.kind = FoldKind::grouped;
            fold_.folds = std::min(fold_.folds, names.size());
            if (names.size() < 2) fold_ = {.folds = 3, .seed = settings_.seed};
        }
        // A class of a single row can stand in one fold only.
        if (!numbers() && fold_.kind == FoldKind::automatic) {
            const Classes classes = classes_of(sample_.y);
            std::vector<std::size_t> count(classes.count(), 0);
            for (const std::int32_t c : classes.index) ++count[static_cast<std::size_t>(c)];
            if (std::ranges::min(count) < 2) fold_.kind = FoldKind::plain;
        }
    }

    void choose() {
        std::optional<std::size_t> best;
        for (std::size_t k = 0; k < found_.size(); ++k) {
            const double score = result_.candidates[k].score;
            if (std::isnan(score) || !found_[k].machine) continue;
            const double now = best ? result_.candidates[*best].score : 0;
            if (!best || (numbers() ? score < now : score > now)) best = k;
        }
        for (std::size_t k = found_.size(); !best && k-- > 0;) {
            if (!found_[k].machine) continue;
            best = k;
            result_.warnings.push_back("the time was too short to compare machines: give more");
        }
        if (!best) {
            const std::string why = found_.empty() ? "" : found_.front().candidate.status;
            throw InvalidInput("no machine could be learnt: " + why);
        }
        result_.chosen = *best;
        result_.remarks = found_[*best].remarks;
    }

    /// On the training part alone, judged on the rows set aside.
    void train() {
        FoundCandidate& best = found_[result_.chosen];
        if (best.refine) {
            best.refine(best, 0.3 * budget_.left());
            result_.candidates[result_.chosen] = best.candidate;
        }
        const bool svc = best.candidate.task == Task::svc;
        const double limit = std::max(1.0, 0.5 * budget_.left());
        // Five folds for the probabilities cost about four times the machine itself.
        const bool probability = svc && train_.size() <= 5000;
        const Stopwatch watch;
        try {
            result_.tested =
                best.machine(budget_.until(limit, "training"), limit, probability).fit(train_);
        } catch (const InvalidInput& error) {
            // What could be learnt on the folds cannot on all rows: the next best is taken.
            result_.candidates[result_.chosen].status = error.what();
            result_.candidates[result_.chosen].score = std::nan("");
            best.machine = {};
            choose();
            train();
            return;
        }
        train_seconds_ = watch.seconds();
        budget_.check();
        tell_status(result_.tested);
        const Dataset test = data_.select(result_.split.test);
        const Stopwatch asking;
        result_.judgement = judge(result_.tested, test);
        result_.predict_seconds = asking.seconds() * 1000 / static_cast<double>(test.size());
        probability_ = probability;
        const Judgement& j = result_.judgement;
        if (numbers() ? j.rmse >= j.baseline_rmse : j.accuracy <= j.baseline) {
            result_.warnings.push_back(
                std::string("the machine is no better than always saying ") +
                (numbers() ? "the mean" : quoted(j.majority)) +
                " on the rows set aside: the columns may not tell the target");
        }
    }

    void tell_status(const Model& model) {
        const FitStatus status = model.report().status;
        if (status == FitStatus::converged) return;
        // Budget says no where the time is over, which machines take for a wish.
        const bool late = status == FitStatus::cancelled || status == FitStatus::time_limit;
        result_.warnings.push_back("training ended early (" +
                                   (late ? "its time was over" : describe(status)) +
                                   "): more time would make a better machine");
    }

    /// The same on all rows, where time allows, and its certificate.
    void finish() {
        const FoundCandidate& best = found_[result_.chosen];
        const double growth =
            static_cast<double>(data_.size()) / static_cast<double>(train_.size());
        const double expected = train_seconds_ * growth * growth * 1.2;
        result_.model = result_.tested;
        if (expected < budget_.left()) {
            try_all_rows(best);
        }
        verify();
    }

    void try_all_rows(const FoundCandidate& best) {
        const double limit = std::max(0.5, 0.9 * budget_.left());
        try {
            const Model model =
                best.machine(budget_.until(limit, "training on all rows"), limit, probability_)
                    .fit(data_);
            budget_.check();
            if (model.report().status != FitStatus::converged &&
                result_.tested.report().status == FitStatus::converged) {
                return;
            }
            result_.model = model;
            result_.on_all_rows = true;
        } catch (const InvalidInput&) {
            return;  // the machine that was judged is one, too
        }
    }

    /// With the time that is left, half of it at most for either.
    void study() {
        const FoundCandidate& best = found_[result_.chosen];
        const Dataset test = data_.select(result_.split.test);
        const double half = 0.5 * budget_.left();
        const auto listener = budget_.until(half, "what columns do");
        const auto rows = [&](std::size_t most) {
            return test.x.slice(0, std::min(most, test.size()));
        };
        result_.importance = column_importance(result_.tested, rows(explained_rows), listener);
        budget_.check();
        std::vector<std::string> names;
        for (const auto& [name, value] : result_.importance) {
            if (names.size() < shown_effects) names.push_back(name);
        }
        result_.effects =
            column_effects(result_.tested, train_, rows(effect_rows), names, listener);
        budget_.check();
        const Judgement& j = result_.judgement;
        result_.curve =
            learning_curve(best.machine, train_, test, numbers() ? j.rmse : 1 - j.accuracy,
                           train_seconds_, settings_.seed, budget_, budget_.left());
        tell_curve();
    }

    void tell_curve() {
        if (result_.curve.size() < 2) return;
        const CurveSize& all = result_.curve.back();
        const CurveSize& half = result_.curve[result_.curve.size() - 2];
        if (half.draws < 3 || half.error - all.error < 2 * half.deviation ||
            half.error < 1.05 * all.error) {
            return;
        }
        std::array<char, 160> text{};
        std::snprintf(text.data(), text.size(),
                      "from %zu rows the error was %.4g, from %zu it is %.4g: more rows would "
                      "probably help further",
                      half.rows, half.error, all.rows, all.error);
        result_.remarks.emplace_back(text.data());
    }

    void verify() {
        const Dataset own = result_.on_all_rows ? data_ : train_;
        if (!is_svm(result_.model.task())) {
            result_.verification = "a Gaussian process has no certificate to recompute";
            return;
        }
        if (own.size() > verified_rows || budget_.left() < 2 * result_.predict_seconds) {
            result_.verification =
                "not recomputed: there are " + std::to_string(own.size()) + " rows";
            return;
        }
        try {
            const auto checks = check_certificate(
                result_.model, own, budget_.until(std::max(1.0, budget_.left()), "verifying"));
            result_.verified =
                std::ranges::all_of(checks, [](const auto& c) { return c.broken.empty(); });
            double gap = 0;
            for (const CheckedReport& c : checks) gap = std::max(gap, c.found.relative_gap);
            std::array<char, 32> digits{};
            std::snprintf(digits.data(), digits.size(), "%.2g", gap);
            result_.verification =
                result_.verified
                    ? std::string("recomputed from model and data, it holds; relative gap ") +
                          digits.data()
                    : "broken: " + first_broken(checks);
        } catch (const InvalidInput& error) {
            result_.verification = error.what();
        } catch (const Cancelled&) {
            result_.verification = "not recomputed: the time was over";
        }
    }

    static std::string first_broken(const std::vector<CheckedReport>& checks) {
        for (const CheckedReport& c : checks) {
            if (!c.broken.empty()) return c.broken.front();
        }
        return {};
    }

    const Dataset& data_;
    const LearnSettings& settings_;
    Budget budget_;
    LearnResult result_{};
    std::vector<std::int32_t> classes_{};
    Dataset train_{};
    Dataset sample_{};
    FoldRule fold_{};
    std::vector<FoundCandidate> found_{};
    double train_seconds_ = 0;
    bool probability_ = false;
};

}  // namespace

Target target_of(const Labels& labels) {
    constexpr std::size_t most = 10;
    if (labels.are_text()) return Target::classes;
    std::set<double> values;
    bool whole = true;
    for (const double v : labels.values) {
        values.insert(v);
        whole &= v == std::floor(v);
        if (values.size() > most) return Target::numbers;
    }
    if (!whole && values.size() > 2) return Target::numbers;
    // Three different numbers in five rows are measurements.
    return values.size() * 3 <= labels.size() ? Target::classes : Target::numbers;
}

LearnResult learn_table(const Dataset& data, const LearnSettings& settings) {
    require_range("the time", settings.seconds, settings.seconds > 0,
                  "a number of seconds above 0");
    require_range("the share set aside", settings.test, settings.test > 0 && settings.test < 1,
                  "above 0 and below 1");
    return Learner(data, settings).run();
}

}  // namespace mercer
