#include "mercer/learn/svm/detail/fit_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/data/source.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/detail/model_check.hpp"
#include "mercer/learn/detail/sample.hpp"

namespace mercer {
namespace {

std::vector<double> tube_of(const SvmSettings& s, const Dataset& data,
                            const std::vector<std::size_t>& kept, std::size_t given_rows) {
    std::vector<double> zeta;
    if (!s.tube_values.empty()) {
        if (s.tube_values.size() != given_rows) {
            throw InvalidInput("the tube has " + std::to_string(s.tube_values.size()) +
                               " widths for " + std::to_string(given_rows) + " rows");
        }
        for (const std::size_t i : kept) zeta.push_back(s.tube_values[i]);
    } else if (s.tube || s.tube_function) {
        const std::optional<Formula> bound =
            s.tube && s.tube->has_names() ? s.tube->bind(data.feature_names) : s.tube;
        std::vector<double> row(data.columns());
        for (std::size_t i = 0; i < data.size(); ++i) {
            data.x.copy_row(i, row);
            zeta.push_back(bound ? (*bound)(row) : s.tube_function(row));
        }
    }
    for (std::size_t i = 0; i < zeta.size(); ++i) {
        if (!(zeta[i] >= 0 && std::isfinite(zeta[i]))) {
            throw InvalidInput("the tube's width at row " + std::to_string(kept[i] + 1) + " is " +
                               format_number(zeta[i]) + "; it must be 0 or greater");
        }
    }
    return zeta;
}

std::vector<double> weights_by_class(const SvmSettings& s, const Classes& classes) {
    std::vector<double> counts(classes.count(), 0.0);
    for (const std::int32_t c : classes.index) ++counts[static_cast<std::size_t>(c)];
    return mercer::weights_by_class(s, classes.names, counts);
}

std::vector<std::size_t> all_rows(std::size_t count) {
    std::vector<std::size_t> rows(count);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    return rows;
}

std::vector<std::size_t> merged(const std::vector<std::size_t>& a,
                                const std::vector<std::size_t>& b) {
    std::vector<std::size_t> rows(a.size() + b.size());
    std::ranges::merge(a, b, rows.begin());
    return rows;
}

template <class T>
void put_in_order(std::vector<T>& values, std::span<const std::size_t> order) {
    if (values.empty()) return;
    std::vector<T> moved;
    moved.reserve(order.size());
    for (const std::size_t i : order) moved.push_back(values[i]);
    values = std::move(moved);
}

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

/// What bounds the α of a row.
double bound_of(const SvmSettings& s, const FitPlan& plan, std::size_t row) {
    const double weight = plan.class_weights[plan.sample.class_of(row)] * plan.sample.weight(row);
    return s.task == Task::svc      ? s.C * weight
           : s.task == Task::nu_svc ? weight
                                    : std::numeric_limits<double>::infinity();
}

/// The rows of class a and of those that stand against it.
void fill_classes(const SvmSettings& s, const FitPlan& plan, const std::vector<std::size_t>& rows,
                  std::size_t a, Part& part) {
    Subproblem& p = part.problem;
    p.target.reserve(rows.size());
    p.bound.reserve(rows.size());
    for (const std::size_t i : rows) {
        p.target.push_back(plan.sample.class_of(i) == a ? 1.0 : -1.0);
        p.bound.push_back(bound_of(s, plan, i));
    }
    if (rows.size() < plan.sample.size()) part.rows = RowChoice(rows);
}

/// The two-class problem of class a against class b, or against all others (b = none), which is
/// left open. `rows_of` are the rows of each class.
Part class_part(const SvmSettings& s, const FitPlan& plan,
                const std::vector<std::vector<std::size_t>>& rows_of, std::size_t a,
                std::size_t b) {
    Part part;
    part.problem.task = s.task;
    part.problem.bias = s.bias;
    part.problem.nu = s.nu;
    if (b == none) {
        part.open = a;
    } else {
        fill_classes(s, plan, merged(rows_of[a], rows_of[b]), a, part);
    }
    const Classes& classes = plan.sample.classes;
    if (classes.count() > 2) {
        part.name = classes.names[a] + " vs " + (b == none ? "rest" : classes.names[b]);
    }
    return part;
}

/// Each machine has a coefficient for each row: thousands of classes, which numbers taken for
/// labels are, make millions of pairs.
void check_machines(std::size_t classes, std::size_t machines, std::size_t rows) {
    const double bytes = sizeof(double) * static_cast<double>(machines) * static_cast<double>(rows);
    if (bytes <= static_cast<double>(physical_memory()) / 2) return;
    throw InvalidInput(std::to_string(classes) + " classes make " + std::to_string(machines) +
                       " machines, whose coefficients for " + std::to_string(rows) +
                       " rows would take " + format_number(std::ceil(bytes / 0x1p30)) +
                       " GB; if the labels are numbers to be predicted use `task=svr`, else "
                       "`multi_class=ovr`");
}

void plan_classes(const SvmSettings& s, FitPlan& plan, RestParts parts) {
    const std::size_t k = plan.sample.classes.count();
    plan.class_weights = weights_by_class(s, plan.sample.classes);
    std::vector<std::vector<std::size_t>> rows_of(k);
    for (std::size_t i = 0; i < plan.sample.size(); ++i) {
        rows_of[plan.sample.class_of(i)].push_back(i);
    }
    plan.class_bounds.assign(k, 0.0);
    for (std::size_t i = 0; i < plan.sample.size(); ++i) {
        plan.class_bounds[plan.sample.class_of(i)] += bound_of(s, plan, i);
    }
    const bool rest = s.multi_class == MultiClass::one_vs_rest && k > 2;
    check_machines(k, rest ? k : pairs_of(k), plan.sample.size());
    for (std::size_t a = 0; a < k; ++a) {
        if (rest) {
            plan.parts.push_back(class_part(s, plan, rows_of, a, none));
            if (parts == RestParts::whole) complete(s, plan, plan.parts.back());
            continue;
        }
        for (std::size_t b = a + 1; b < k; ++b) {
            plan.parts.push_back(class_part(s, plan, rows_of, a, b));
        }
    }
}

Part regression_part(const SvmSettings& s, const FitPlan& plan, std::vector<double> target) {
    Part part;
    part.problem.task = s.task;
    part.problem.nu = s.nu;
    part.problem.epsilon = s.epsilon;
    part.problem.tube = plan.tube;
    part.problem.target = std::move(target);
    for (std::size_t i = 0; i < plan.sample.size(); ++i) {
        if (!std::isfinite(part.problem.target[i])) {
            throw InvalidInput("the target of row " + std::to_string(plan.sample.kept[i] + 1) +
                               " is not finite");
        }
        part.problem.bound.push_back(s.C * plan.sample.weight(i));
    }
    return part;
}

/// One-class without errors (001, separating unlabelled data from the origin): min ½‖w‖² with
/// <w, Φ(x)> >= 1 is the hard margin, through the origin, of rows that all have the label +1.
Part origin_part(const FitPlan& plan) {
    Part part;
    part.problem.task = Task::hard_margin;
    part.problem.bias = false;
    part.problem.target.assign(plan.sample.size(), 1.0);
    part.problem.bound.assign(plan.sample.size(), std::numeric_limits<double>::infinity());
    return part;
}

Part single_class_part(const SvmSettings& s, const FitPlan& plan) {
    if (s.task == Task::one_class && s.nu == 0) return origin_part(plan);
    Part part;
    part.problem.task = s.task;
    part.problem.nu = s.task == Task::svdd && s.C > 0 ? 0 : s.nu;  // C rules, if given
    double total = 0;
    for (std::size_t i = 0; i < plan.sample.size(); ++i) total += plan.sample.weight(i);
    for (std::size_t i = 0; i < plan.sample.size(); ++i) {
        const double weight = plan.sample.weight(i);
        double bound = weight;
        if (s.task == Task::svdd) {
            // C Σ ξ as in 002, or C = 1/(ν m): then ν bounds the fraction outside.
            bound = s.C > 0    ? s.C * weight
                    : s.nu > 0 ? weight / (s.nu * total)
                               : std::numeric_limits<double>::infinity();
        }
        part.problem.bound.push_back(bound);
    }
    if (s.task == Task::svdd && s.C > 0 && s.C * total < 1) {
        throw InvalidInput("C = " + format_number(s.C) + " is too small for " +
                           std::to_string(plan.sample.size()) +
                           " rows: the smallest feasible value is " + format_number(1 / total));
    }
    return part;
}

}  // namespace

void complete(const SvmSettings& settings, const FitPlan& plan, Part& part) {
    if (!part.open) return;
    fill_classes(settings, plan, all_rows(plan.sample.size()), *part.open, part);
    part.open.reset();
}

void put_in_order(Part& part, std::span<const std::size_t> order) {
    if (order.empty()) return;
    std::vector<std::size_t> rows;
    for (const std::size_t i : order) rows.push_back(part.rows[i]);
    part.rows = RowChoice(std::move(rows));
    for (auto* values :
         {&part.problem.target, &part.problem.bound, &part.problem.tube, &part.problem.diagonal}) {
        put_in_order(*values, order);
    }
}

void check_settings(const SvmSettings& s) {
    if (!is_svm(s.task)) {
        throw InvalidInput("the task " + task_name(s.task) +
                           " is no support vector machine and has a trainer of its own");
    }
    check_ranges(s);
    const bool has_tube = s.tube || !s.tube_values.empty() || s.tube_function;
    if (has_tube && s.task != Task::nu_svr) {
        throw InvalidInput("a tube of varying width needs the task nu-svr, which finds its size");
    }
    if (!s.bias && s.task != Task::svc && s.task != Task::hard_margin) {
        throw InvalidInput("only svc and hard can be trained without a bias");
    }
}

FitPlan plan_fit(const SvmSettings& settings, const Dataset& data, MatrixView<const double> targets,
                 RestParts rest) {
    check_settings(settings);
    FitPlan plan;
    const Sample& sample = plan.sample =
        take_sample(settings.task, data, settings.common, targets.columns == 0);
    plan.tube = tube_of(settings, sample.data, sample.kept, data.size());
    if (is_classifier(settings.task)) {
        plan_classes(settings, plan, rest);
    } else if (targets.columns > 0) {
        for (std::size_t c = 0; c < targets.columns; ++c) {
            std::vector<double> target;
            for (const std::size_t i : sample.kept) {
                check_target(targets(i, c), i);
                target.push_back(targets(i, c));
            }
            plan.parts.push_back(regression_part(settings, plan, std::move(target)));
        }
    } else if (is_regressor(settings.task)) {
        plan.parts.push_back(regression_part(settings, plan, sample.data.y.values));
    } else {
        plan.parts.push_back(single_class_part(settings, plan));
    }
    return plan;
}

void number_labels(const Model& model, Dataset& data) {
    if (!is_classifier(model.task()) || data.y.empty()) return;
    const std::vector<std::size_t> positions = class_positions(model, data.y);
    data.y = {.values = {positions.begin(), positions.end()}, .names = {}};
}

std::vector<double> weights_by_class(const SvmSettings& settings,
                                     const std::vector<std::string>& names,
                                     const std::vector<double>& counts) {
    std::vector<double> weights(names.size(), 1.0);
    const double rows = std::accumulate(counts.begin(), counts.end(), 0.0);
    for (std::size_t c = 0; settings.balanced && c < weights.size(); ++c) {
        weights[c] = rows / (static_cast<double>(names.size()) * counts[c]);
    }
    for (const auto& [name, factor] : settings.class_weights) {
        const auto found = std::find(names.begin(), names.end(), name);
        if (found == names.end() && settings.some_rows) continue;
        if (found == names.end()) {
            std::string known;
            for (const std::string& text : names) known += ' ' + text;
            throw InvalidInput("there is no class " + quoted(name) + " to weigh; there are" +
                               known);
        }
        require_range("the weight of a class", factor, factor > 0, "greater than 0");
        weights[static_cast<std::size_t>(found - names.begin())] *= factor;
    }
    return weights;
}

double largest_nu(const FitPlan& plan) {
    double most = std::numeric_limits<double>::infinity();
    for (const Part& part : plan.parts) {
        if (part.problem.task != Task::nu_svc) continue;
        double positive = 0, all = 0;
        if (part.open) {
            positive = plan.class_bounds[*part.open];
            all = std::accumulate(plan.class_bounds.begin(), plan.class_bounds.end(), 0.0);
        }
        for (std::size_t i = 0; i < part.problem.size(); ++i) {
            all += part.problem.bound[i];
            positive += part.problem.target[i] > 0 ? part.problem.bound[i] : 0;
        }
        most = std::min(most, 2 * std::min(positive, all - positive) / all);
    }
    return most;
}

void settle_weights(SvmSettings& settings, const ClassCounts& all) {
    if (settings.tube || settings.tube_function) {
        throw InvalidInput(
            "a tube given as a formula is one of rows before they are scaled, which cells do not "
            "keep; give its widths row by row");
    }
    const std::vector<double> weights = is_classifier(settings.task)
                                            ? weights_by_class(settings, all.names, all.rows)
                                            : std::vector<double>();
    settings.some_rows = true;
    if (settings.class_weights.empty() && !settings.balanced) return;
    settings.balanced = false;
    for (std::size_t c = 0; c < weights.size(); ++c) {
        settings.class_weights[all.names[c]] = weights[c];
    }
}

}  // namespace mercer
