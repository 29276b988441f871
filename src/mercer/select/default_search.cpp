#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/select/automatic.hpp"

namespace mercer {
namespace {

constexpr double value_step = 4;  ///< from one value of gamma or C to the next

Axis log_axis(const std::string& name, double middle, int below, int above,
              double factor = value_step) {
    Axis axis{.name = name, .range = true, .logarithmic = true};
    // From the middle outwards: a search that time cuts short has seen the likeliest values.
    axis.values.push_back(middle);
    for (int k = 1; k <= std::max(below, above); ++k) {
        if (k <= above) axis.values.push_back(middle * std::pow(factor, k));
        if (k <= below) axis.values.push_back(middle * std::pow(factor, -k));
    }
    return axis;
}

bool has_setting(const SearchTask& task, const std::string& name) {
    return std::ranges::find(task.settings, name) != task.settings.end();
}

/// The kernel has a single parameter of this name: the width of a function of distances.
bool has_one_gamma(const std::string& text, const Rows& rows, const Dataset& data) {
    if (text.find('$') != std::string::npos) return false;
    const Kernel kernel = resolve(Kernel::parse(text), rows, data.feature_names);
    return std::ranges::count(parameters(kernel), std::string("gamma"), &KernelParameter::name) ==
           1;
}

/// Which end of an axis the best point lies at: −1, +1, or 0.
int edge_of(const Axis& axis, double value) {
    if (axis.values.size() < 2) return 0;
    const auto [low, high] = std::ranges::minmax(axis.values);
    if (value <= low * (1 + 1e-9)) return -1;
    return value >= high * (1 - 1e-9) ? 1 : 0;
}

/// The best value with the ones beside it.
std::vector<double> around(const Axis& axis, double value) {
    std::vector<double> sorted = axis.values;
    std::ranges::sort(sorted);
    std::vector<double> near;
    for (std::size_t k = 0; k < sorted.size(); ++k) {
        const bool here = std::abs(sorted[k] - value) <= 1e-9 * std::abs(value);
        const bool below =
            k + 1 < sorted.size() && std::abs(sorted[k + 1] - value) <= 1e-9 * std::abs(value);
        const bool above = k > 0 && std::abs(sorted[k - 1] - value) <= 1e-9 * std::abs(value);
        if (here || below || above) near.push_back(sorted[k]);
    }
    return near;
}

/// How far an axis may go: beyond that nothing is left to find.
bool may_widen(const Axis& axis, int direction) {
    if (axis.name == "nu") return false;
    const auto [low, high] = std::ranges::minmax(axis.values);
    if (axis.name == "epsilon") return direction < 0 && low > 1e-3;
    return direction < 0 ? low > 1e-7 : high < 1e6;
}

}  // namespace

double median_squared_distance(const Rows& rows, std::uint64_t seed, std::size_t pairs) {
    if (rows.size() < 2) throw InvalidInput("distances need two rows at least");
    Random random(seed);
    std::vector<double> a(rows.columns()), b(rows.columns()), distances;
    for (std::size_t p = 0; p < pairs; ++p) {
        const std::size_t i = random.below(rows.size());
        const std::size_t k = random.below(rows.size());
        if (i == k) continue;
        rows.copy_row(i, a);
        rows.copy_row(k, b);
        double sum = 0;
        for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
        if (sum > 0) distances.push_back(sum);
    }
    if (distances.empty()) return 1;
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::ranges::nth_element(distances, middle);
    return *middle;
}

std::vector<Axis> default_axes(const SearchTask& task, const Dataset& data) {
    std::vector<Axis> axes;
    const Dataset own = prepared(data);
    const Rows scaled = Scaling::fit(task.scaling, own.x).apply(own.x);
    if (own.columns() > 0 && own.size() > 1 && has_one_gamma(task.kernel, scaled, own)) {
        axes.push_back(log_axis("gamma", 1 / median_squared_distance(scaled), 2, 2));
    }
    if (has_setting(task, "C")) axes.push_back(log_axis("C", 4, 2, 2));
    if (has_setting(task, "epsilon")) {
        axes.push_back(
            {.name = "epsilon", .values = {0.1, 0.3}, .range = true, .logarithmic = true});
    }
    if (has_setting(task, "lambda")) axes.push_back(log_axis("lambda", 0.1, 3, 2, 10));
    if (has_setting(task, "nu") && !has_setting(task, "C")) {
        axes.push_back({.name = "nu", .values = {0.05, 0.1, 0.2, 0.3, 0.5}});
    }
    if (axes.empty()) {
        throw InvalidInput("neither the kernel " + quoted(task.kernel) + " nor the task " +
                           task_name(task.task) +
                           " has anything that is searched by itself: say what with `grid`");
    }
    return axes;
}

namespace {

/// The points of one search after another, and the best of all.
class GrowingSearch {
   public:
    GrowingSearch(const SearchTask& task, const Dataset& data, const DefaultSearchSettings& s)
        : task_(task),
          data_(data),
          settings_(s),
          axes_(s.axes.empty() ? default_axes(task, data) : s.axes),
          found_{.space = SearchSpace(task, axes_, data)} {
        own_ = s.search;
        own_.method = SearchMethod::grid;
        own_.progress = [this](const Moment& moment) {
            found_.late |= settings_.seconds > 0 && watch_.seconds() > settings_.seconds;
            return !found_.late &&
                   (!settings_.search.progress || settings_.search.progress(moment));
        };
    }

    FoundSettings run() {
        found_.result = search(found_.space, data_, own_);
        while (goes_on() && found_.widened < settings_.widenings && widen()) ++found_.widened;
        double step = value_step;
        for (std::size_t k = 0; k < settings_.refinements && goes_on(); ++k) {
            step = std::sqrt(step);
            refine(step);
        }
        found_.result.highest = found_.result.best;
        if (found_.result.best) {
            found_.space = SearchSpace(task_, axes_, data_);
            tell();
        }
        return std::move(found_);
    }

   private:
    bool goes_on() const { return !found_.result.cancelled && found_.result.best; }

    /// False where the best point lies at no end that may be moved.
    bool widen() {
        const std::vector<double> at = found_.best().values;
        std::vector<Axis> next = axes_;
        bool wider = false;
        for (std::size_t k = 0; k < axes_.size(); ++k) {
            const int edge = edge_of(axes_[k], at[k]);
            if (wider || edge == 0 || !axes_[k].range || !may_widen(axes_[k], edge)) {
                next[k].values = around(axes_[k], at[k]);
                continue;
            }
            wider = true;
            next[k].values.clear();
            for (int s = 1; s <= 2; ++s) {
                next[k].values.push_back(at[k] * std::pow(value_step, edge * s));
                axes_[k].values.push_back(next[k].values.back());
            }
        }
        if (wider) add(next);
        return wider;
    }

    /// The best value of each axis and those a smaller step away from it.
    void refine(double step) {
        const std::vector<double> at = found_.best().values;
        std::vector<Axis> next = axes_;
        for (std::size_t k = 0; k < axes_.size(); ++k) {
            next[k].values = {at[k]};
            if (!axes_[k].range) continue;
            for (const double value : {at[k] * step, at[k] / step}) {
                next[k].values.push_back(value);
                axes_[k].values.push_back(value);
            }
        }
        add(next);
    }

    void add(const std::vector<Axis>& axes) {
        SearchResult more = search(SearchSpace(task_, axes, data_), data_, own_);
        SearchResult& all = found_.result;
        all.cancelled = more.cancelled;
        all.seconds += more.seconds;
        const std::size_t first = all.points.size();
        for (SearchPoint& point : more.points) all.points.push_back(std::move(point));
        if (!more.best) return;
        const SearchPoint& point = all.points[first + *more.best];
        const bool better = larger_is_better(all.measure) ? point.mean > found_.best().mean
                                                          : point.mean < found_.best().mean;
        if (better) all.best = first + *more.best;
    }

    /// What more would help.
    void tell() {
        for (std::size_t k = 0; k < axes_.size(); ++k) {
            const double value = found_.best().values[k];
            const int edge = edge_of(axes_[k], value);
            if (edge == 0 || !may_widen(axes_[k], edge) || !axes_[k].range) continue;
            found_.remarks.push_back("the best " + axes_[k].name + " = " + format_number(value) +
                                     " lies at the edge of what was tried: a " +
                                     (edge < 0 ? "smaller" : "larger") + " one may be better");
        }
        if (!found_.late) return;
        found_.remarks.push_back(
            "the search ended with its time: more time would try more settings");
    }

    const SearchTask& task_;
    const Dataset& data_;
    const DefaultSearchSettings& settings_;
    const Stopwatch watch_{};
    SearchSettings own_{};
    std::vector<Axis> axes_;  ///< with all values that were tried
    FoundSettings found_;
};

}  // namespace

FoundSettings default_search(const SearchTask& task, const Dataset& data,
                             const DefaultSearchSettings& settings) {
    return GrowingSearch(task, data, settings).run();
}

}  // namespace mercer
