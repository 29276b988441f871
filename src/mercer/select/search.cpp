#include "mercer/select/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/base/text.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/dist/detail/one_rank.hpp"
#include "mercer/select/detail/bayesian.hpp"
#include "mercer/select/detail/evaluation.hpp"
#include "mercer/select/detail/journal.hpp"
#include "mercer/select/detail/shared_search.hpp"
#include "mercer/select/detail/span_search.hpp"

namespace mercer {
namespace {

constexpr std::size_t halving_factor = 3;
constexpr std::size_t fewest_rows = 100;  ///< to learn from in the first round of halving

/// Points drawn before the Gaussian process has a say.
std::size_t first_points(std::size_t axes, std::size_t points) {
    return std::min(points, 3 + 3 * axes);
}

std::string duration_text(double seconds) {
    char text[48];
    if (seconds < 90) {
        std::snprintf(text, sizeof text, "%.0f s", std::ceil(seconds));
    } else if (seconds < 5400) {
        std::snprintf(text, sizeof text, "%.0f min", std::ceil(seconds / 60));
    } else {
        std::snprintf(text, sizeof text, "%.1f h", seconds / 3600);
    }
    return text;
}

std::size_t most_rows(const std::vector<Split>& folds) {
    std::size_t most = 0;
    for (const Split& fold : folds) most = std::max(most, fold.train.size());
    return most;
}

void summarise(SearchPoint& point) {
    const auto n = static_cast<double>(point.scores.size());
    if (point.scores.empty()) {
        point.mean = point.deviation = std::numeric_limits<double>::quiet_NaN();
        return;
    }
    point.mean = std::accumulate(point.scores.begin(), point.scores.end(), 0.0) / n;
    double squares = 0;
    for (const double s : point.scores) squares += (s - point.mean) * (s - point.mean);
    point.deviation = n > 1 ? std::sqrt(squares / (n - 1)) : 0;
}

/// How closely a larger value of a parameter fits: −1 less, +1 more, 0 not known.
int closeness(const std::string& name) {
    static const std::vector<std::string> looser{"nu",    "epsilon", "lambda", "noise",
                                                 "sigma", "width",   "c",      "length"};
    std::string word = name.starts_with("kernel.") ? name.substr(7) : name;
    word = word.substr(0, word.find('#'));
    if (word == "C" || word == "gamma" || word == "degree" || word == "d") return 1;
    return std::ranges::find(looser, word) != looser.end() ? -1 : 0;
}

class Search {
   public:
    Search(const SearchSpace& space, const Dataset& data, const SearchSettings& settings)
        : space_(space), data_(data), settings_(settings) {
        const Task task = space.task().task;
        result_.measure = settings.measure.value_or(usual_measure(task));
        check_measure(result_.measure, task, 0);
        const Truth truth(task, data, settings.positive);
        check_measure(result_.measure, task, truth.count());
        check_positive(settings.positive, result_.measure);
        if (result_.measure == Metric::f1) result_.positive = truth.positive();
        classes_ = truth.classes().index;
        folds_ = make_folds(settings.folds, task, data);
        result_.folds = folds_.size();
        for (auto& values : settings.method == SearchMethod::grid
                                ? space.grid()
                                : space.random(drawn(), settings.seed)) {
            result_.points.push_back({.values = values, .status = "not done"});
        }
        planned_ = settings.method == SearchMethod::bayesian ? settings.points : 0;
        if (!settings.journal.empty()) open_journal();
    }

    SearchResult run() {
        const std::unique_ptr<Communicator> one = one_rank();
        const SpreadOver here(*one);  // points are shared, machines are not
        std::vector<std::size_t> alive(result_.points.size());
        std::iota(alive.begin(), alive.end(), 0);
        bool going = true;
        if (settings_.method == SearchMethod::halving) going = halve(alive);
        if (going) going = evaluate(alive, folds_, rounds_ - 1);
        if (going && settings_.method == SearchMethod::bayesian) going = improve(alive);
        result_.cancelled = !going;
        choose(alive);
        result_.seconds = clock_.seconds();
        return std::move(result_);
    }

   private:
    /// What a rank has found of its points, in the journal or by itself.
    struct Found {
        std::vector<PointScore> scores{};
        std::vector<char> taken{};         ///< from the journal
        std::vector<std::size_t> order{};  ///< in which they were found

        void add(std::size_t k, const PointScore& score, bool from_journal) {
            scores[k] = score;
            taken[k] = from_journal ? 1 : 0;
            order.push_back(k);
        }
    };

    bool is_spread() const { return settings_.ranks && settings_.ranks->size() > 1; }

    /// Of several ranks the first keeps it, and the others are told what is in it.
    void open_journal() {
        const bool own = !is_spread() || settings_.ranks->rank() == 0;
        if (own) journal_.emplace(settings_.journal, fingerprint(), folds_.size());
        if (!is_spread()) return;
        const std::string lines = own ? journal_->lines() : std::string();
        const std::vector<char> all = settings_.ranks->all_gather(std::span<const char>(lines));
        if (own) return;
        journal_ = Journal::of_others({all.begin(), all.end()}, fingerprint(), folds_.size());
    }

    std::uint64_t fingerprint() const {
        Fingerprint print;
        print.add("1");
        print.add(data_.x);
        for (std::size_t i = 0; i < data_.y.size(); ++i) print.add(data_.y.text(i));
        for (const double w : data_.weights) print.add(w);
        for (const Split& fold : folds_) {
            for (const std::size_t i : fold.test) print.add(std::uint64_t{i});
            print.add("/");
        }
        const SearchTask& task = space_.task();
        for (const std::string& text : {task_name(task.task), task.kernel, task.scaling.text(),
                                        task.fingerprint, measure_name(result_.measure)}) {
            print.add(text);
        }
        for (const Axis& axis : space_.axes()) print.add(axis.name);
        if (!result_.positive.empty()) print.add(result_.positive);
        print.add(settings_.seed);
        print.add(std::uint64_t{settings_.share ? 1U : 0U});
        return print.value();
    }

    std::size_t drawn() const {
        return settings_.method == SearchMethod::bayesian
                   ? first_points(space_.axes().size(), settings_.points)
                   : settings_.points;
    }

    /// One point after another where most is expected; false when told to stop.
    bool improve(std::vector<std::size_t>& alive) {
        while (result_.points.size() < settings_.points) {
            std::vector<std::vector<double>> seen;
            std::vector<double> scores;
            for (const SearchPoint& p : result_.points) {
                seen.push_back(p.values);
                scores.push_back(larger_is_better(result_.measure) ? p.mean : -p.mean);
            }
            if (std::ranges::all_of(scores, [](double s) { return std::isnan(s); })) return true;
            const std::uint64_t seed = settings_.seed + result_.points.size();
            std::vector<double> next = propose(space_, seen, scores, seed);
            if (next.empty()) return true;  // the space has been seen whole
            const std::size_t p = result_.points.size();
            result_.points.push_back({.values = std::move(next), .status = "not done"});
            alive.push_back(p);
            before_ = p;
            done_in_round_ = 0;
            if (!report(0, 1, 0) || !evaluate({p}, folds_, 0)) return false;
        }
        return true;
    }

    /// Rounds on more and more rows, the best third going on; false when told to stop.
    bool halve(std::vector<std::size_t>& alive) {
        const std::size_t all = most_rows(folds_);
        std::size_t rounds = 1;
        for (std::size_t rows = all, left = alive.size();
             left >= halving_factor && rows / halving_factor >= fewest_rows;
             rows /= halving_factor, left /= halving_factor) {
            ++rounds;
        }
        rounds_ = rounds;
        std::size_t divisor = 1;
        for (std::size_t r = 1; r < rounds; ++r) divisor *= halving_factor;
        for (std::size_t r = 0; r + 1 < rounds; ++r, divisor /= halving_factor) {
            const auto folds = thinned(folds_, all / divisor, settings_.seed, classes_);
            if (!evaluate(alive, folds, r)) return false;
            std::ranges::stable_sort(alive,
                                     [&](std::size_t a, std::size_t b) { return better(a, b); });
            alive.resize(std::max<std::size_t>(1, alive.size() / halving_factor));
            std::ranges::sort(alive);
        }
        return true;
    }

    bool better(std::size_t a, std::size_t b) const {
        const double x = result_.points[a].mean;
        const double y = result_.points[b].mean;
        if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
        return larger_is_better(result_.measure) ? x > y : x < y;
    }

    void take(std::size_t p, std::size_t rows, PointScore score) {
        SearchPoint& point = result_.points[p];
        point.scores = std::move(score.scores);
        point.seconds += score.seconds;
        point.status = std::move(score.status);
        point.rows = rows;
        point.done = true;
        summarise(point);
        ++done_in_round_;
        if (!best_so_far_ || better(p, *best_so_far_)) best_so_far_ = p;
    }

    bool evaluate(const std::vector<std::size_t>& alive, const std::vector<Split>& folds,
                  std::size_t round) {
        return is_spread() ? evaluate_spread(alive, folds, round)
                           : evaluate_here(alive, folds, round, nullptr);
    }

    /// Points that share a kernel are one rank's, so that each is found in the way in which one
    /// process finds it. After each has done one such group, all hear of what the others have
    /// found.
    bool evaluate_spread(const std::vector<std::size_t>& alive, const std::vector<Split>& folds,
                         std::size_t round) {
        Communicator& ranks = *settings_.ranks;
        std::vector<std::vector<std::size_t>> groups;
        std::map<std::string, std::size_t> group_of;
        for (const std::size_t p : alive) {
            const std::string kernel = space_.kernel(result_.points[p].values).text();
            const auto [at, is_new] = group_of.emplace(kernel, groups.size());
            if (is_new) groups.emplace_back();
            groups[at->second].push_back(p);
        }
        done_in_round_ = 0;
        bool going = true;
        for (std::size_t first = 0; first < groups.size() && going; first += ranks.size()) {
            const std::size_t own = first + ranks.rank();
            Found found;
            if (own < groups.size()) {
                found.scores.resize(groups[own].size());
                found.taken.resize(groups[own].size());
                going = evaluate_here(groups[own], folds, round, &found);
            }
            for (std::size_t r = 0; r < ranks.size() && first + r < groups.size(); ++r) {
                going = share(groups[first + r], r, folds, found) && going;
            }
            const char stop = going ? 0 : 1;
            const std::vector<char> stops = ranks.all_gather(std::span<const char>(&stop, 1));
            going = std::ranges::find(stops, char{1}) == stops.end();
        }
        return going;
    }

    /// What rank r has found of these points becomes known to all, in the order in which it was
    /// found, which is that of the journal too: each may have begun where the one before it ended.
    /// False where it did not come to their end.
    bool share(const std::vector<std::size_t>& points, std::size_t r,
               const std::vector<Split>& folds, const Found& found) {
        Communicator& ranks = *settings_.ranks;
        const bool own = r == ranks.rank();
        const std::size_t rows = most_rows(folds);
        const auto sent = [&]<class T>(std::span<const T> values) {
            return ranks.all_gather(own ? values : std::span<const T>());
        };
        const std::vector<std::size_t> order = sent(std::span<const std::size_t>(found.order));
        for (const std::size_t k : order) {
            PointScore score = own ? found.scores[k] : PointScore{};
            score.scores = sent(std::span<const double>(score.scores));
            score.seconds = sent(std::span<const double>(&score.seconds, 1)).front();
            const std::vector<char> status = sent(std::span<const char>(score.status));
            score.status.assign(status.begin(), status.end());
            const char from_journal = own ? found.taken[k] : char{0};
            const bool taken = sent(std::span<const char>(&from_journal, 1)).front() == 1;
            if (own) continue;
            if (taken) ++result_.taken;
            if (journal_ && !taken) journal_->add(result_.points[points[k]].values, rows, score);
            take(points[k], rows, std::move(score));
        }
        return order.size() == points.size();
    }

    /// `found`, unless null, gets what came of each.
    bool evaluate_here(const std::vector<std::size_t>& alive, const std::vector<Split>& folds,
                       std::size_t round, Found* found) {
        const std::size_t rows = most_rows(folds);
        if (!found) done_in_round_ = 0;
        if (before_ == 0 && !found) best_so_far_.reset();
        std::vector<std::vector<double>> points;
        Evaluation e{.space = space_,
                     .data = data_,
                     .folds = folds,
                     .measure = result_.measure,
                     .positive = result_.positive};
        for (const std::size_t p : alive) points.push_back(result_.points[p].values);
        e.points = points;
        e.known.assign(points.size(), 0);
        std::vector<std::optional<PointScore>> kept(points.size());
        for (std::size_t k = 0; journal_ && k < points.size(); ++k) {
            kept[k] = journal_->find(points[k], rows);
            e.known[k] = kept[k] ? 1 : 0;
        }
        e.done = [&](std::size_t k, PointScore score) {
            if (journal_) journal_->add(points[k], rows, score);
            if (found) found->add(k, score, false);
            e.known[k] = 0;
            take(alive[k], rows, std::move(score));
        };
        e.progress = [&, count = points.size()](double fraction) {
            return report(round, count, fraction);
        };
        const bool features = settings_.share && can_share_features(e);
        result_.shared = settings_.share && (features || can_share(e));
        const bool whole = features         ? evaluate_features(e)
                           : result_.shared ? evaluate_shared(e)
                                            : evaluate_alone(e);
        for (std::size_t k = 0; k < points.size(); ++k) {
            // What was computed again has marked itself as no longer taken.
            if (!kept[k] || !e.known[k]) continue;
            if (found) found->add(k, *kept[k], true);
            take(alive[k], rows, std::move(*kept[k]));
            ++result_.taken;
        }
        return whole;
    }

    bool report(std::size_t round, std::size_t count, double fraction) {
        if (!settings_.progress) return true;
        std::string detail;
        if (rounds_ > 1) {
            detail = "round " + std::to_string(round + 1) + " of " + std::to_string(rounds_) + ", ";
        }
        const std::size_t all = planned_ > 0 ? planned_ : count;
        detail +=
            std::to_string(before_ + done_in_round_) + " of " + std::to_string(all) + " points";
        if (best_so_far_) {
            const SearchPoint& best = result_.points[*best_so_far_];
            char score[32];
            std::snprintf(score, sizeof score, "%.5g", best.mean);
            detail += ", best " + std::string(score) + " at " + space_.text(best.values);
        }
        double done = (static_cast<double>(round) + fraction) / static_cast<double>(rounds_);
        if (planned_ > 0) {
            done = (static_cast<double>(before_) + fraction * static_cast<double>(count)) /
                   static_cast<double>(planned_);
        }
        if (done > 0)
            detail += ", " + duration_text(clock_.seconds() * (1 - done) / done) + " left";
        return settings_.progress({.task = "search", .fraction = done, .detail = detail});
    }

    /// The best of those that came to the end, or with the rule of one standard error the plainest
    /// of those that are as good.
    void choose(const std::vector<std::size_t>& alive) {
        std::string reason;
        const std::size_t rows = most_rows(folds_);
        std::vector<std::size_t> eligible;
        for (const std::size_t p : alive) {
            const SearchPoint& point = result_.points[p];
            if (!point.done || point.rows != rows) continue;
            if (std::isnan(point.mean)) {
                if (reason.empty()) reason = point.status;
                continue;
            }
            eligible.push_back(p);
            if (!result_.highest || better(p, *result_.highest)) result_.highest = p;
        }
        if (!result_.highest) {
            if (!result_.cancelled && !reason.empty()) {
                throw InvalidInput("no point of the search has a score: " + reason);
            }
            return;
        }
        result_.best = result_.highest;
        if (!settings_.one_standard_error) return;
        const SearchPoint& top = result_.points[*result_.highest];
        const double error = top.deviation / std::sqrt(static_cast<double>(top.scores.size()));
        for (const std::size_t p : eligible) {
            if (std::abs(result_.points[p].mean - top.mean) <= error && plainer(p, *result_.best)) {
                result_.best = p;
            }
        }
    }

    bool plainer(std::size_t a, std::size_t b) const {
        for (std::size_t k = 0; k < space_.axes().size(); ++k) {
            const double x = result_.points[a].values[k];
            const double y = result_.points[b].values[k];
            const int sign = closeness(space_.axes()[k].name);
            if (sign != 0 && x != y) return sign > 0 ? x < y : x > y;
        }
        return better(a, b);
    }

    const SearchSpace& space_;
    const Dataset& data_;
    const SearchSettings& settings_;
    SearchResult result_{};
    std::vector<std::int32_t> classes_{};
    std::vector<Split> folds_{};
    std::optional<Journal> journal_{};
    std::size_t rounds_ = 1;
    std::size_t planned_ = 0;  ///< points of a search that finds them one after another
    std::size_t before_ = 0;   ///< of them, done before this round
    std::size_t done_in_round_ = 0;
    std::optional<std::size_t> best_so_far_{};
    Stopwatch clock_{};
};

}  // namespace

SearchResult search(const SearchSpace& space, const Dataset& data, const SearchSettings& settings) {
    return Search(space, data, settings).run();
}

Model learn_point(const SearchSpace& space, const SearchPoint& point, const Dataset& data,
                  Communicator* ranks) {
    const std::unique_ptr<Communicator> one = one_rank();
    const SpreadOver here(ranks ? *ranks : *one, HeldRows::all);
    return space.machine(point.values).fit(data);
}

}  // namespace mercer
