// What is proved of a model, in words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/common/model_output.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/risk/given_loss.hpp"
#include "mercer/learn/risk/gp_classifier.hpp"
#include "mercer/learn/risk/regions.hpp"

namespace mercer::cli {
namespace {

/// "mistakes 12, passes 3", of all problems.
std::string figures_text(const Model& model) {
    std::string text;
    for (const Report& r : model.reports()) {
        if (r.figures.empty()) continue;
        std::string part = r.name.empty() ? "" : r.name + ": ";
        bool first = true;
        for (const auto& [name, value] : r.figures) {
            if (name.starts_with("cells")) continue;  // the line of cells says it
            part += fmt::format("{}{} {:.6g}", first ? "" : ", ", name, value);
            first = false;
        }
        if (!first) text += line("figures", part);
    }
    return text;
}

/// How the objective, or the mistakes, went: the first few passes and the last.
std::string history_text(const Model& model) {
    if (model.reports().size() != 1 || model.reports()[0].history.size() < 2) return {};
    const std::vector<double>& h = model.reports()[0].history;
    std::string text;
    for (std::size_t i = 0; i < h.size(); ++i) {
        if (i >= 5 && i + 1 < h.size()) {
            if (i == 5) text += " …";
            continue;
        }
        text += fmt::format("{}{:.6g}", i == 0 ? "" : " ", h[i]);
    }
    return line("history", fmt::format("{} ({})", text, counted(h.size(), "pass", "passes")));
}

/// What the machine found besides its expansion: margin, tube, radius.
std::string found_text(const Model& model, const Report& r) {
    if (model.reports().size() != 1 || cells_of(model)) return {};
    if (!is_svm(model.task()) && r.margin <= 0) return {};
    if (is_classifier(model.task()) && !r.is_bracketed()) return {};  // no feature space, no margin
    if (model.task() == Task::svdd) return line("radius", fmt::format("{:.6g}", r.radius));
    if (is_regressor(model.task())) return line("tube", fmt::format("epsilon {:.6g}", r.epsilon));
    return line("margin", fmt::format("{:.6g}", r.margin));
}

/// ", 0.12 s"; a model out of a file has forgotten how long it took.
std::string time_text(double seconds) {
    return seconds > 0 ? fmt::format(", {:.3g} s", seconds) : "";
}

/// What was lost of a model that was made shorter (learn/compress/reduce.hpp).
std::string describe_reduction(const Model& model) {
    double distance = 0, norm = 0, seconds = 0;
    for (const Report& r : model.reports()) {
        const auto figure = [&](const char* name) {
            const auto found = r.figures.find(name);
            return found == r.figures.end() ? 0.0 : found->second;
        };
        distance += figure("squared_distance");
        norm += figure("squared_norm");
        seconds += r.seconds;
    }
    return line("status",
                fmt::format("reduced, {}{}", describe(model.report().status), time_text(seconds))) +
           line("vectors", fmt::format("{} of {:.0f}", model.expansion().size(),
                                       model.reports()[0].figures.at("reduced_from"))) +
           line("distance", fmt::format("{:.6g} squared, {} of the squared norm", distance,
                                        percent(norm > 0 ? distance / norm : 0)));
}

std::string nu_text(const Model& model, const Report& r) {
    const bool by_c = model.task() == Task::svdd && model.trained().C > 0;
    if (r.nu <= 0 || by_c || model.reports().size() != 1) return {};
    const double rounding = 1e-9;
    const bool holds =
        r.fraction_errors <= r.nu + rounding && r.nu <= r.fraction_support + rounding;
    // Only a tube that has a width uses up all of ν (001).
    const bool must = !is_regressor(model.task()) || r.epsilon > 0;
    return line("nu-property",
                fmt::format("{:.4g} of the rows{} are {}, {:.4g} support vectors: {} nu = {:.4g}{}",
                            r.fraction_errors,
                            model.trained().tube.empty() && !model.trained().tube_given
                                ? ""
                                : " (counted by their tube's width)",
                            is_regressor(model.task())    ? "outside the tube"
                            : is_classifier(model.task()) ? "margin errors"
                                                          : "outside",
                            r.fraction_support, holds ? "around" : "not around", r.nu,
                            holds   ? ", as they must be"
                            : !must ? ", as may be where the tube has no width"
                                    : ""));
}

/// Tasks whose tolerance is one on the relative gap, not on the violation.
bool is_solved_to_gap(Task task) {
    return task == Task::logistic || task == Task::squared_hinge || task == Task::huber ||
           task == Task::quantile || is_multi_label(task) || task == gpc_task ||
           task == risk_task || task == risk_classes_task || task == regions_task;
}

std::string tolerance_text(const Model& model, bool of_gap) {
    const double tolerance = model.trained().tolerance;
    if (!(tolerance > 0) || is_solved_to_gap(model.task()) != of_gap) return {};
    return ", tolerance " + format_number(tolerance);
}

/// Of machines in the span of some rows: what their bracket says of the kernel itself.
std::string centres_text(const Model& model) {
    const auto centres = model.trained().numbers.find("centres");
    if (centres == model.trained().numbers.end()) return {};
    const std::string where =
        fmt::format("in the span of {:.0f} centres, whose kernel primal, dual and gap are about",
                    centres->second);
    if (model.task() == Task::nu_svc) {  // told in units of the margin found
        return line("approximate", where + "; nothing is said of the kernel itself");
    }
    double dual = 0;
    bool bounded = true;
    for (const Report& report : model.reports()) {
        const auto found = report.figures.find("exact_dual");
        bounded = bounded && found != report.figures.end();
        if (bounded) dual += found->second;
    }
    return line("approximate",
                fmt::format("{}; under the kernel itself the optimum is at most the primal value{}",
                            where, bounded ? fmt::format(" and at least {:.9g}", dual) : ""));
}

/// The same of cells, each of which has a bracket of its own.
std::string cell_brackets_text(const Model& model, const Report& r) {
    const char* const nothing = "; nothing is said of one machine of all rows";
    if (!r.is_bracketed()) {
        return line("objective",
                    fmt::format("{:.9g} at stationary points, sum over the cells", r.dual)) +
               line("gap", std::string("none: in some cell the kernel is not known to be positive "
                                       "definite") +
                               nothing);
    }
    const bool missed =
        r.figures.contains("cells_refused") || r.figures.contains("cells_not_reached");
    return line("primal", fmt::format("{:.9g}, sum over the cells", r.primal)) +
           line("dual", fmt::format("{:.9g}, sum over the cells", r.dual)) +
           line("gap", fmt::format("{:.3g} relative in the worst cell{}: the optimum of each "
                                   "cell's own machine{} lies between its dual and primal{}",
                                   r.relative_gap, tolerance_text(model, true),
                                   missed ? " that was learnt" : "", nothing));
}

/// Primal, dual and gap, or that there is no such bracket.
std::string bracket_text(const Model& model, const Report& r) {
    if (cells_of(model)) return cell_brackets_text(model, r);
    const bool several = model.reports().size() > 1;
    const char* const of_all = several ? ", sum over the problems" : "";
    if (!r.is_bracketed()) {
        return line("objective", fmt::format("{:.9g} at a stationary point{}", r.dual, of_all)) +
               line("gap", "none: " + describe_curvature(model));
    }
    std::string text = line("primal", fmt::format("{:.9g}{}", r.primal, of_all)) +
                       line("dual", fmt::format("{:.9g}{}", r.dual, of_all));
    text +=
        line("gap", fmt::format("{:.3g} relative{}{}: the optimum{} lies between dual and primal",
                                r.relative_gap, several ? " in the worst" : "",
                                tolerance_text(model, true),
                                model.trained().numbers.contains("centres") ? " in the span" : ""));
    if (r.convexity == Convexity::on_sample) text += line("curvature", describe_curvature(model));
    return text + centres_text(model);
}

/// Machines that nothing certifies: what they did and found.
std::string describe_learning(const Model& model) {
    const Report r = model.report();
    // Passes that are made are the end of a perceptron, not a failure.
    const bool made = model.task() == Task::perceptron && r.status == FitStatus::iteration_limit;
    std::string text = line(
        "status",
        fmt::format("{}{}", made ? "all passes made" : describe(r.status), time_text(r.seconds)));
    text += line("points", fmt::format("{} for {}", counted(model.points(), "point"),
                                       counted(r.rows, "row")));
    text += found_text(model, r);
    if (model.task() == Task::parzen) {
        text += line("threshold",
                     fmt::format("{:.6g}, {:.4g} of the rows outside", r.rho, r.fraction_errors));
    }
    return text + figures_text(model) + history_text(model);
}

/// Why there is no hard margin, and what is proved.
std::string describe_no_machine(const Model& model) {
    const bool proved = std::ranges::any_of(
        model.reports(), [](const Report& r) { return r.status == FitStatus::not_separable; });
    const bool single = model.task() == Task::one_class;
    std::string text = line(
        "status",
        single && proved ? "not separable from the origin: it lies in the hull of the rows in "
                           "feature space; try "
                           "--nu above 0, or another kernel"
        : single ? "no plane between the rows and the origin was found: if there is one, the "
                   "rounding of kernel values hides it; try --nu above 0, or another kernel"
        : proved ? "not separable: no plane in feature space leaves each class on its own side, so "
                   "there is no hard margin; try --task svc, which allows errors, or another kernel"
                 : "no margin found: if there is one, the rounding of kernel values hides it; try "
                   "--scale standard, another kernel, or --task svc, which allows errors");
    for (const Report& r : model.reports()) {
        if (!has_no_machine(r.status)) continue;
        const auto carrying = std::ranges::count_if(r.hull_weights, [](double w) { return w > 0; });
        const std::string means =
            single ? "their mean lies at distance {:.3g} from the origin"
            : model.trained().bias
                ? "the two weighted means lie at distance {:.3g} in feature space"
                : "the mean of the labelled rows lies at distance {:.3g} from the "
                  "origin";
        const std::string proof =
            r.status == FitStatus::not_separable && single ? "the hull holds it"
            : r.status == FitStatus::not_separable         ? "the hulls meet"
            : r.is_bracketed() && std::isfinite(r.margin_bound)
                ? fmt::format("no margin above {:.3g}{}", r.margin_bound,
                              r.figures.contains("margin_bound_is_estimate")
                                  ? " (an estimate: the rounding of kernel values is counted, not "
                                    "proved)"
                                  : "")
                : "nothing is proved, since the kernel is not known to be positive definite";
        text += line("certificate",
                     fmt::format("{}: {} of {} carry weight, and {}: {}",
                                 single           ? "the rows"
                                 : r.name.empty() ? "the classes"
                                                  : r.name,
                                 carrying, counted(r.rows, "row"),
                                 fmt::format(fmt::runtime(means), r.hull_distance), proof));
    }
    return text;
}

}  // namespace

std::string describe_certificate(const Model& model) {
    if (model.reports().empty()) {
        return line("support", counted(model.points(), "vector")) +
               line("certificate", "none: the file is one of LIBSVM");
    }
    if (model.reports()[0].figures.contains("reduced_from")) return describe_reduction(model);
    if (!has_bracket(model.task())) return describe_learning(model);
    const Report r = model.report();
    if (has_no_machine(r.status)) return describe_no_machine(model);
    const bool several = model.reports().size() > 1 || cells_of(model);
    std::string text =
        line("status", fmt::format("{}{}, {}", describe(r.status), time_text(r.seconds),
                                   counted(r.iterations, "step")));
    text += line("support", several ? counted(model.points(), "vector")
                                    : fmt::format("{} of {}: {} free, {} bounded",
                                                  counted(r.support_vectors(), "vector"),
                                                  counted(r.rows, "row"), r.free_support_vectors,
                                                  r.bounded_support_vectors));
    text += found_text(model, r);
    text += bracket_text(model, r);
    if (!is_multi_label(model.task())) {  // whose gap is looked at, and nothing else
        text += line("violation",
                     fmt::format("{:.3g} of the optimality conditions{}{}", r.kkt_violation,
                                 several ? " in the worst" : "", tolerance_text(model, false)));
    }
    return text + nu_text(model, r) + figures_text(model) + history_text(model);
}

std::string describe_curvature(const Model& model) {
    const Report r = model.report();
    const bool bias = directions_of(model.task(), model.trained().bias) == Directions::balanced;
    const std::string among =
        bias ? "among coefficients of sum 0 " : "";  // all that the machine can choose from
    const std::string eigenvalue = fmt::format(
        "the smallest eigenvalue of the kernel matrix {}is {:.3g}", among, r.least_curvature);
    switch (r.convexity) {
        case Convexity::on_sample:
            return fmt::format("{}, known to {:.2g}, on these rows", eigenvalue, r.curvature_error);
        case Convexity::refuted:
            return fmt::format(
                "{}, so the kernel is not {}positive definite and nothing bounds "
                "how much better another machine is",
                eigenvalue, bias ? "even conditionally " : "");
        default:
            return fmt::format(
                "the kernel is not known to be {}positive definite, and the "
                "eigenvalues are looked at up to {} rows of a training that ended",
                bias ? "conditionally " : "", most_rows_for_curvature);
    }
}

std::string describe_parts(const Model& model) {
    if (model.reports().size() < 2) return {};
    std::string text = fmt::format(
        "\n{:<18} {:>7} {:>7} {:>7} {:>7} {:>13} {:>13} {:>9} {:>9}  {}\n", "problem", "rows",
        "support", "free", "bounded", "primal", "dual", "rel. gap", "violation", "status");
    const auto proved = [](double value, int digits) {  // a primal value and a gap may be none
        return std::isnan(value) ? std::string("none") : fmt::format("{:.{}g}", value, digits);
    };
    for (const Report& r : model.reports()) {
        text += fmt::format("{:<18} {:>7} {:>7} {:>7} {:>7} {:>13} {:>13.7g} {:>9} {:>9.2g}  {}\n",
                            r.name, r.rows, r.support_vectors(), r.free_support_vectors,
                            r.bounded_support_vectors, proved(r.primal, 7), r.dual,
                            proved(r.relative_gap, 2), r.kkt_violation, describe(r.status));
    }
    return text;
}

}  // namespace mercer::cli
