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

FoundSettings default_search(const SearchTask& task, const Dataset& data,
                             const DefaultSearchSettings& settings) {
    const Stopwatch watch;
    std::vector<Axis> axes = default_axes(task, data);
    SearchSettings own = settings.search;
    own.method = SearchMethod::grid;
    bool late = false;
    own.progress = [&](const Moment& moment) {
        late |= settings.seconds > 0 && watch.seconds() > settings.seconds;
        return !late && (!settings.search.progress || settings.search.progress(moment));
    };
    FoundSettings found{.space = SearchSpace(task, axes, data)};
    found.result = search(found.space, data, own);
    const auto better = [&](const SearchPoint& a, const SearchPoint& b) {
        return larger_is_better(found.result.measure) ? a.mean > b.mean : a.mean < b.mean;
    };
    while (!found.result.cancelled && found.result.best && found.widened < settings.widenings) {
        const std::vector<double> at = found.best().values;
        std::vector<Axis> next = axes;
        bool wider = false;
        for (std::size_t k = 0; k < axes.size(); ++k) {
            const int edge = edge_of(axes[k], at[k]);
            if (!wider && edge != 0 && axes[k].range && may_widen(axes[k], edge)) {
                wider = true;
                next[k].values.clear();
                for (int s = 1; s <= 2; ++s) {
                    next[k].values.push_back(at[k] * std::pow(value_step, edge * s));
                    axes[k].values.push_back(next[k].values.back());
                }
            } else {
                next[k].values = around(axes[k], at[k]);
            }
        }
        if (!wider) break;
        ++found.widened;
        const SearchSpace beyond(task, next, data);
        SearchResult more = search(beyond, data, own);
        found.result.cancelled = more.cancelled;
        found.result.seconds += more.seconds;
        for (SearchPoint& point : more.points) found.result.points.push_back(std::move(point));
        if (!more.best) continue;
        const std::size_t first = found.result.points.size() - more.points.size();
        const std::size_t best = first + *more.best;
        if (better(found.result.points[best], found.best())) found.result.best = best;
    }
    found.result.highest = found.result.best;
    if (!found.result.best) return found;
    if (found.widened > 0) found.space = SearchSpace(task, axes, data);
    for (std::size_t k = 0; k < axes.size(); ++k) {
        const int edge = edge_of(axes[k], found.best().values[k]);
        if (edge == 0 || !may_widen(axes[k], edge) || !axes[k].range) continue;
        found.remarks.push_back("the best " + axes[k].name + " = " +
                                format_number(found.best().values[k]) +
                                " lies at the edge of what was tried: a " +
                                (edge < 0 ? "smaller" : "larger") + " one may be better");
    }
    if (late) {
        found.remarks.push_back(
            "the search ended with its time: more time would try more settings");
    }
    return found;
}

}  // namespace mercer
