#include "mercer/select/detail/learn_candidates.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

constexpr const char* smooth_plan = "Gaussian";
constexpr const char* kinked_plan = "Laplacian";
constexpr double comparing_share = 0.5;  ///< of the time; the rest is for training and judging

/// Something to try by a search of its settings.
struct SearchPlan {
    std::string name;
    SearchTask task;
};

std::string positions_text(const std::vector<std::size_t>& positions) {
    std::string text;
    for (const std::size_t p : positions) text += (text.empty() ? "" : ",") + std::to_string(p);
    return "[" + text + "]";
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

SearchTask svm_task(const LearnTask& task, const std::string& kernel) {
    SvmSettings svm;
    svm.task = task.numbers ? Task::svr : Task::svc;
    svm.common = common_settings(task, "linear");
    return svm_search_task(svm, kernel);
}

std::string sum_over_groups(const LearnTask& task,
                            const std::vector<std::vector<std::size_t>>& groups) {
    std::string sum;
    const Dataset own = prepared(task.sample);
    for (const auto& group : groups) {
        const double median = median_squared_distance(own.x.select_columns(group));
        sum += (sum.empty() ? "" : " + ") + std::string("rbf(gamma=") + format_number(1 / median) +
               ")" + positions_text(group);
    }
    return sum;
}

std::vector<SearchPlan> plans_of(const LearnTask& task) {
    std::vector<SearchPlan> plans;
    const Dataset& data = task.train;
    const std::string texts = text_kernels(data.x);
    const auto with_texts = [&](const std::string& kernel) {
        return texts.empty() ? kernel : kernel + " + " + texts;
    };
    if (data.columns() == 0) {
        plans.push_back({"texts", svm_task(task, texts)});
        const std::string letters = text_kernels(data.x, false);
        if (letters != texts) plans.push_back({"texts by letters", svm_task(task, letters)});
        return plans;
    }
    plans.push_back({"linear", svm_task(task, with_texts("linear"))});
    plans.push_back({smooth_plan, svm_task(task, with_texts("rbf(gamma=1)"))});
    plans.push_back({kinked_plan, svm_task(task, with_texts("laplacian(gamma=1)"))});
    if (const auto groups = groups_of(data); groups.size() > 1) {
        plans.push_back({"sum over kinds of columns",
                         svm_task(task, with_texts(sum_over_groups(task, groups)))});
    }
    return plans;
}

void take_settings(const FoundSettings& best, FoundCandidate& found) {
    Candidate& c = found.candidate;
    c.points += best.result.points.size();
    c.axes.clear();
    for (const Axis& axis : best.space.axes()) c.axes.push_back(axis.name);
    for (const SearchPoint& point : best.result.points) {
        if (!point.done || std::isnan(point.mean)) continue;
        c.tried.push_back({point.values, point.mean, point.deviation});
    }
    // Without a single score the middle of the axes is all there is.
    SearchPoint point;
    if (best.result.best) {
        point = best.best();
    } else {
        for (const Axis& axis : best.space.axes()) point.values.push_back(axis.values.front());
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
    found.machine = [svm, kernel](const Progress& progress, double limit, bool probability) {
        SvmSettings own = svm;
        own.common.kernel = kernel;
        own.common.progress = progress;
        own.common.time_limit = limit;
        own.probability = probability;
        return Machine(mercer::svm(own));
    };
}

/// The settings around the best, for which there was no time before.
void look_closer(const LearnTask& task, const SearchPlan& plan, const FoundSettings& before,
                 FoundCandidate& found, double seconds) {
    DefaultSearchSettings s{.seconds = seconds, .widenings = 0, .refinements = 2};
    s.axes = before.space.axes();
    for (std::size_t k = 0; k < s.axes.size(); ++k) s.axes[k].values = {before.best().values[k]};
    s.search.folds = task.folds;
    s.search.progress = task.budget.until(task.budget.seconds(), plan.name);
    FoundCandidate closer;
    closer.candidate = found.candidate;
    take_settings(default_search(plan.task, task.sample, s), closer);
    const double now = closer.candidate.score, then = found.candidate.score;
    if (task.numbers ? now < then : now > then) found = closer;
}

FoundCandidate try_search(const LearnTask& task, const SearchPlan& plan, double seconds) {
    FoundCandidate found;
    Candidate& c = found.candidate;
    const Stopwatch watch;
    c = {.name = plan.name, .task = plan.task.task, .kernel = plan.task.kernel};
    c.rows = task.sample.size();
    try {
        DefaultSearchSettings s{.seconds = seconds, .refinements = 2};
        s.search.folds = task.folds;
        s.search.progress = task.budget.until(task.budget.seconds(), plan.name);
        const FoundSettings best = default_search(plan.task, task.sample, s);
        take_settings(best, found);
        if (best.late && best.result.best) {
            found.refine = [task, plan, best](FoundCandidate& own, double more) {
                look_closer(task, plan, best, own, more);
            };
        }
    } catch (const InvalidInput& error) {
        c.status = error.what();
        c.score = std::nan("");
    }
    c.seconds = watch.seconds();
    return found;
}

/// The mean of the two kernels on all columns that were found: where each has a part of the truth
/// it has both, and it hangs less on which of them the folds prefer by chance.
std::optional<SearchPlan> sum_of_best(const LearnTask& task,
                                      const std::vector<FoundCandidate>& found) {
    std::string sum;
    std::size_t count = 0;
    for (const FoundCandidate& one : found) {
        const Candidate& c = one.candidate;
        if ((c.name != smooth_plan && c.name != kinked_plan) || std::isnan(c.score)) continue;
        sum += (sum.empty() ? "0.5*(" : " + 0.5*(") + c.kernel + ")";
        ++count;
    }
    if (count < 2) return std::nullopt;
    return SearchPlan{"Gaussian and Laplacian", svm_task(task, sum)};
}

}  // namespace

FitSettings common_settings(const LearnTask& task, const std::string& kernel) {
    FitSettings common;
    common.kernel = Kernel::parse(kernel);
    if (!task.train.table) common.scaling = ScalingRule{.kind = ScalingRule::Kind::standard};
    if (task.numbers) common.target_scale = TargetScale::standard;
    common.seed = task.settings.seed;
    common.double_precision = task.settings.double_precision;
    return common;
}

std::vector<FoundCandidate> try_candidates(const LearnTask& task) {
    std::vector<FoundCandidate> found;
    const std::vector<SearchPlan> plans = plans_of(task);
    const double end = task.budget.used() + comparing_share * task.budget.seconds();
    // What one leaves over the next ones share. Widths may take as long as four searches, and come
    // behind the first, so that a slow machine has them.
    const auto share = [&](std::size_t parts) {
        return std::max(0.0, end - task.budget.used()) / static_cast<double>(parts);
    };
    for (std::size_t k = 0; k < plans.size(); ++k) {
        const std::size_t left = plans.size() - k + 1;  // with the sum of the best
        found.push_back(try_search(task, plans[k], share(k == 0 ? left + 4 : left)));
        task.budget.check();
        if (k > 0) continue;
        for (FoundCandidate& one : try_column_widths(task, 4 * share(left + 3))) {
            found.push_back(std::move(one));
        }
        task.budget.check();
    }
    if (const auto plan = sum_of_best(task, found)) {
        found.push_back(try_search(task, *plan, share(1)));
        task.budget.check();
    }
    return found;
}

}  // namespace mercer
