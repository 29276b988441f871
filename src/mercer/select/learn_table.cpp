#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/detail/table_warnings.hpp"
#include "mercer/theory/certificate_check.hpp"

namespace mercer {
namespace {

constexpr double sample_rows = 2000;        ///< of the sample that candidates are compared on
constexpr std::size_t evidence_rows = 400;  ///< that widths are found on by the evidence
constexpr std::size_t evidence_columns = 20;
constexpr std::size_t factor_rows = 1500;   ///< up to which deviations are kept
constexpr std::size_t process_rows = 3000;  ///< a Gaussian process of more is too slow to ask
constexpr std::size_t verified_rows = 20'000;

/// A clock for everything, which long work asks whether to go on.
class Budget {
   public:
    Budget(double seconds, const Progress& progress) : seconds_(seconds), progress_(progress) {}

    double used() const { return watch_.seconds(); }
    double left() const { return std::max(0.0, seconds_ - used()); }
    bool stopped() const { return stopped_; }

    /// A listener that says no after this many seconds more.
    Progress until(double seconds, std::string what) {
        return [this, what = std::move(what), limit = used() + seconds](const Moment& moment) {
            if (progress_ && !progress_({.task = "learning",
                                         .fraction = -1,
                                         .detail = what + (moment.detail.empty() ? "" : ": ") +
                                                   std::string(moment.detail)})) {
                stopped_ = true;
            }
            return !stopped_ && used() < limit;
        };
    }
    void check() const {
        if (stopped_) throw Cancelled();
    }

   private:
    double seconds_;
    Progress progress_;
    Stopwatch watch_{};
    bool stopped_ = false;
};

/// Something to try: how it is searched, and the machine of the settings found.
struct Plan {
    std::string name;
    SearchTask task;
};

struct Found {
    Candidate candidate{};
    std::vector<std::string> remarks{};
    std::function<Machine(const Progress&, double seconds, bool probability)> machine{};
};

std::string positions_text(const std::vector<std::size_t>& positions) {
    std::string text;
    for (const std::size_t p : positions) text += (text.empty() ? "" : ",") + std::to_string(p);
    return "[" + text + "]";
}

std::string number_text(double value) {
    return format_number(std::stod(format_number(value)));
}

/// The kernel of a column of texts: by their words where they have some and it is wanted, else by
/// their letters.
std::string text_kernel(const ObjectColumn& column, bool by_words) {
    std::size_t spaced = 0;
    const std::size_t rows = std::min<std::size_t>(column.size(), 1000);
    for (std::size_t i = 0; i < rows; ++i) {
        spaced += column.text(i).find(' ') != std::string_view::npos ? 1 : 0;
    }
    const std::string name = "[\"" + column.name() + "\"]";
    return by_words && 2 * spaced > rows
               ? "normalize(words" + name + ") + normalize(words(n=2)" + name + ")"
               : "normalize(spectrum(k=4)" + name + ") + normalize(spectrum(k=3)" + name + ")";
}

std::string text_kernels(const Rows& x, bool by_words = true) {
    std::string text;
    for (const ObjectColumn& column : x.objects()) {
        if (column.kind() != ObjectKind::text) continue;
        text += (text.empty() ? "" : " + ") + text_kernel(column, by_words);
    }
    return text;
}

/// Features that come from columns of the same kind: [numbers, dates, names].
std::vector<std::vector<std::size_t>> groups_of(const Dataset& data) {
    if (!data.table) return {};
    const Recipe recipe = Recipe::fit(data.table, data.x);
    const std::vector<std::size_t> sources = recipe.sources();
    std::vector<std::vector<std::size_t>> groups(3);
    for (std::size_t f = 0; f < sources.size(); ++f) {
        const ColumnKind kind = data.table->columns()[sources[f]].kind;
        groups[kind == ColumnKind::number ? 0 : kind == ColumnKind::date ? 1 : 2].push_back(f);
    }
    std::erase_if(groups, [](const auto& group) { return group.empty(); });
    return groups;
}

class Learner {
   public:
    Learner(const Dataset& data, const LearnSettings& settings)
        : data_(data), settings_(settings), budget_(settings.seconds, settings.progress) {}

    LearnResult run() {
        settle();
        set_aside();
        draw_sample();
        try_candidates();
        choose();
        train();
        finish();
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
        fold_.folds = std::min<std::size_t>(sample_.size() < 500 ? 5 : 3, sample_.size());
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

    FitSettings common(const std::string& kernel) const {
        FitSettings common;
        common.kernel = Kernel::parse(kernel);
        if (!data_.table) common.scaling = ScalingRule{.kind = ScalingRule::Kind::standard};
        if (numbers()) common.target_scale = TargetScale::standard;
        common.seed = settings_.seed;
        common.double_precision = settings_.double_precision;
        return common;
    }

    SearchTask svm_task(const std::string& kernel) const {
        SvmSettings svm;
        svm.task = numbers() ? Task::svr : Task::svc;
        svm.common = common("linear");
        return svm_search_task(svm, kernel);
    }

    std::vector<Plan> plans() const {
        std::vector<Plan> plans;
        const bool has_numbers = data_.columns() > 0;
        const std::string texts = text_kernels(data_.x);
        const auto with_texts = [&](const std::string& kernel) {
            return texts.empty() ? kernel : kernel + " + " + texts;
        };
        if (!has_numbers) {
            plans.push_back({"texts", svm_task(texts)});
            const std::string letters = text_kernels(data_.x, false);
            if (letters != texts) plans.push_back({"texts by letters", svm_task(letters)});
            return plans;
        }
        plans.push_back({"linear", svm_task(with_texts("linear"))});
        plans.push_back({"Gaussian", svm_task(with_texts("rbf(gamma=1)"))});
        if (const auto groups = groups_of(data_); groups.size() > 1) {
            std::string sum;
            const Dataset own = prepared(sample_);
            for (const auto& group : groups) {
                const double median = median_squared_distance(own.x.select_columns(group));
                sum += (sum.empty() ? "" : " + ") + std::string("rbf(gamma=") +
                       number_text(1 / median) + ")" + positions_text(group);
            }
            plans.push_back({"sum over kinds of columns", svm_task(with_texts(sum))});
        }
        return plans;
    }

    void try_candidates() {
        const std::vector<Plan> all = plans();
        // Half of the time is for comparing, the rest for training and judging.
        const double share = 0.45 * settings_.seconds / static_cast<double>(all.size() + 1);
        for (const Plan& plan : all) {
            found_.push_back(try_search(plan, std::min(share, 0.9 * budget_.left())));
            budget_.check();
        }
        if (const auto by_column = widths_by_evidence(share)) {
            if (numbers()) {
                found_.push_back(try_process(*by_column));
            }
            found_.push_back(try_search(
                {"Gaussian, a width for each column", svm_task(by_column->kernel)}, share));
        }
        for (const Found& found : found_) result_.candidates.push_back(found.candidate);
    }

    Found try_search(const Plan& plan, double seconds) {
        Found found;
        Candidate& c = found.candidate;
        const Stopwatch watch;
        c = {.name = plan.name, .task = plan.task.task, .kernel = plan.task.kernel};
        c.rows = sample_.size();
        try {
            DefaultSearchSettings s{.seconds = seconds};
            s.search.folds = fold_;
            s.search.progress = budget_.until(settings_.seconds, plan.name);
            FoundSettings best = default_search(plan.task, sample_, s);
            c.seconds = watch.seconds();
            c.points = best.result.points.size();
            // Without a single score the middle of the axes is all there is.
            SearchPoint point;
            if (best.result.best) {
                point = best.best();
            } else {
                for (const Axis& axis : best.space.axes())
                    point.values.push_back(axis.values.front());
                point.mean = std::nan("");
                c.status = "the time was too short for a score";
            }
            c.score = point.mean;
            c.deviation = point.deviation;
            c.settings = best.space.settings(point.values);
            c.kernel = best.space.kernel(point.values).text();
            found.remarks = best.remarks;
            const SvmSettings svm = best.space.svm(point.values);
            const Kernel kernel = best.space.kernel(point.values);
            found.machine = [svm, kernel](const Progress& progress, double limit,
                                          bool probability) {
                SvmSettings own = svm;
                own.common.kernel = kernel;
                own.common.progress = progress;
                own.common.time_limit = limit;
                own.probability = probability;
                return Machine(mercer::svm(own));
            };
        } catch (const InvalidInput& error) {
            c.status = error.what();
            c.score = std::nan("");
        }
        return found;
    }

    /// A kernel with a width for each column, by maximal evidence on a small sample.
    struct ByColumn {
        std::string kernel;
        double noise = 0.1;
    };
    std::optional<ByColumn> widths_by_evidence(double seconds) {
        const std::size_t width = prepared(sample_).columns();
        const bool two = !numbers() && classes_of(sample_.y).count() == 2;
        if (!data_.x.objects().empty() || width < 1 || width > evidence_columns ||
            (!numbers() && !two) || budget_.left() < 0.3 * settings_.seconds) {
            return std::nullopt;
        }
        Dataset few = sample_;
        if (few.size() > evidence_rows) {
            const double share =
                static_cast<double>(evidence_rows) / static_cast<double>(few.size());
            few = sample_.select(split_rows(few.size(), share, settings_.seed + 2).test);
        }
        if (two) {
            // Classes as ±1 are a regression: what tells them apart has the same columns.
            const Classes classes = classes_of(few.y);
            few.y = {};
            for (const std::int32_t c : classes.index) few.y.values.push_back(c == 0 ? 1 : -1);
        }
        std::string kernel;
        const Dataset own = prepared(few);
        for (std::size_t j = 0; j < width; ++j) {
            kernel += (j == 0 ? "1*rbf(gamma=" : "*rbf(gamma=") +
                      number_text(0.5 / static_cast<double>(width)) + ")[" + std::to_string(j) +
                      "]";
        }
        try {
            GaussianProcessSettings s;
            s.common = common(kernel);
            s.common.target_scale = TargetScale::standard;
            s.common.time_limit = seconds;
            s.common.progress = budget_.until(seconds, "widths of columns");
            s.optimise = true;
            s.iteration_limit = 60;
            s.keep_factor = false;
            const Model model = gaussian_process(s).fit(few);
            const auto& figures = model.reports().front().figures;
            const auto noise = figures.find("noise");
            return ByColumn{model.expansion().kernel.text(),
                            noise == figures.end() ? 0.1 : noise->second};
        } catch (const InvalidInput&) {
            return std::nullopt;
        }
    }

    Found try_process(const ByColumn& by_column) {
        Found found;
        Candidate& c = found.candidate;
        const Stopwatch watch;
        c = {.name = "Gaussian process", .task = Task::gp, .kernel = by_column.kernel};
        c.settings["noise"] = by_column.noise;
        c.rows = sample_.size();
        c.points = 1;
        if (train_.size() > process_rows) {
            c.status = "more than " + std::to_string(process_rows) + " rows";
            c.score = std::nan("");
            return found;
        }
        GaussianProcessSettings s;
        s.common = common(by_column.kernel);
        s.noise = by_column.noise;
        const bool keep = train_.size() <= factor_rows;
        found.machine = [s, keep](const Progress& progress, double limit, bool) {
            GaussianProcessSettings own = s;
            own.keep_factor = keep;
            own.common.progress = progress;
            own.common.time_limit = limit;
            return Machine(gaussian_process(own));
        };
        try {
            std::vector<double> scores;
            for (const Split& fold : make_folds(fold_, Task::gp, sample_)) {
                GaussianProcessSettings own = s;
                own.keep_factor = false;
                const Model model = gaussian_process(own).fit(sample_.select(fold.train));
                const std::vector<double> said = model.predict(sample_.x.select(fold.test));
                double sum = 0;
                for (std::size_t i = 0; i < said.size(); ++i) {
                    const double off = said[i] - sample_.y.values[fold.test[i]];
                    sum += off * off;
                }
                scores.push_back(sum / static_cast<double>(said.size()));
                budget_.check();
            }
            const auto n = static_cast<double>(scores.size());
            c.score = std::accumulate(scores.begin(), scores.end(), 0.0) / n;
            for (const double score : scores) c.deviation += (score - c.score) * (score - c.score);
            c.deviation = std::sqrt(c.deviation / std::max(1.0, n - 1));
        } catch (const InvalidInput& error) {
            c.status = error.what();
            c.score = std::nan("");
        }
        c.seconds = watch.seconds();
        return found;
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
        const Found& best = found_[result_.chosen];
        const bool svc = best.candidate.task == Task::svc;
        const double limit = std::max(1.0, 0.5 * budget_.left());
        // Five folds for the probabilities cost about four times the machine itself.
        const bool probability = svc && train_.size() <= 5000;
        const Stopwatch watch;
        result_.tested =
            best.machine(budget_.until(limit, "training"), limit, probability).fit(train_);
        train_seconds_ = watch.seconds();
        budget_.check();
        tell_status(result_.tested);
        const Dataset test = data_.select(result_.split.test);
        const Stopwatch asking;
        result_.judgement = judge(result_.tested, test, {.seed = settings_.seed});
        result_.predict_seconds = asking.seconds() * 1000 / static_cast<double>(test.size());
        probability_ = probability;
    }

    void tell_status(const Model& model) {
        const FitStatus status = model.report().status;
        if (status == FitStatus::converged) return;
        result_.warnings.push_back("training ended early (" + describe(status) +
                                   "): more time would make a better machine");
    }

    /// The same on all rows, where time allows, and its certificate.
    void finish() {
        const Found& best = found_[result_.chosen];
        const double growth =
            static_cast<double>(data_.size()) / static_cast<double>(train_.size());
        const double expected = train_seconds_ * growth * growth * 1.2;
        result_.model = result_.tested;
        if (expected < budget_.left()) {
            const double limit = std::max(0.5, 0.9 * budget_.left());
            const Model model =
                best.machine(budget_.until(limit, "training on all rows"), limit, probability_)
                    .fit(data_);
            budget_.check();
            if (model.report().status == FitStatus::converged ||
                result_.tested.report().status != FitStatus::converged) {
                result_.model = model;
                result_.on_all_rows = true;
            }
        }
        verify();
    }

    void verify() {
        const Dataset own = result_.on_all_rows ? data_ : train_;
        if (!is_svm(result_.model.task())) {
            result_.verification = "a Gaussian process has no certificate to recompute";
            return;
        }
        if (own.size() > verified_rows || budget_.left() < 2 * result_.predict_seconds) {
            result_.verification = "not recomputed: there are " + std::to_string(own.size()) +
                                   " rows; `mercer verify` does it";
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
    std::vector<Found> found_{};
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
