#include "cli/common/model_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/common/label_sets.hpp"
#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/common/tell.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/risk/given_loss.hpp"
#include "mercer/learn/risk/gp_classifier.hpp"
#include "mercer/learn/risk/neighbours.hpp"
#include "mercer/learn/risk/regions.hpp"

namespace mercer::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string parameters_text(const Model& model) {
    const TrainedWith& t = model.trained();
    std::string text;
    const auto add = [&](bool used, const char* name, double value) {
        if (used)
            text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, format_number(value));
    };
    const Task task = model.task();
    const bool sphere_by_c = task == Task::svdd && t.C > 0;
    add(task == Task::svc || task == Task::svr || task == Task::nu_svr || task == Task::adatron ||
            task == Task::multi_label || sphere_by_c,
        "C", t.C);
    add(task == Task::nu_svc || task == Task::nu_svr || task == Task::one_class ||
            task == Task::parzen || (task == Task::svdd && !sphere_by_c),
        "nu", t.nu);
    add(task == Task::svr, "epsilon", t.epsilon);
    add(t.tolerance > 0, "tolerance", t.tolerance);
    for (const auto& [name, value] : t.numbers) add(true, name.c_str(), value);
    if (!t.bias) text += text.empty() ? "through the origin" : ", through the origin";
    if (!t.tube.empty()) text += ", tube " + t.tube;
    if (t.tube_given) text += ", tube given row by row";
    return text;
}

/// Points of each class: in a pair the sign of the coefficient tells. Empty where it does not.
std::vector<std::size_t> points_by_class(const Model& model) {
    const std::size_t k = model.classes();
    const Matrix<double>& coefficients = model.expansion().coefficients;
    if (!is_svm(model.task()) && model.task() != Task::adatron) return {};
    if (k < 2 || coefficients.rows() != k * (k - 1) / 2) return {};
    std::vector<std::size_t> counts(k, 0);
    for (std::size_t p = 0; p < coefficients.columns(); ++p) {
        std::size_t pair = 0;
        std::size_t found = k;
        for (std::size_t a = 0; a < k && found == k; ++a) {
            for (std::size_t b = a + 1; b < k && found == k; ++b, ++pair) {
                const double value = coefficients(pair, p);
                if (value != 0) found = value > 0 ? a : b;
            }
        }
        if (found < k) ++counts[found];
    }
    return counts;
}

std::string classes_text(const Model& model) {
    const std::vector<std::size_t> points = points_by_class(model);
    std::string text = fmt::format("{}: ", model.classes());
    const std::size_t shown = std::min<std::size_t>(model.classes(), 12);
    for (std::size_t c = 0; c < shown; ++c) {
        text += fmt::format("{}{}", c == 0 ? "" : ", ", model.class_names()[c]);
        if (!points.empty()) text += fmt::format(" ({})", points[c]);
    }
    if (shown < model.classes()) text += fmt::format(", … {} more", model.classes() - shown);
    return text + (points.empty() ? "" : " (support vectors)");
}

/// "mistakes 12, passes 3", of all problems.
std::string figures_text(const Model& model) {
    std::string text;
    for (const Report& r : model.reports()) {
        if (r.figures.empty()) continue;
        std::string part = r.name.empty() ? "" : r.name + ": ";
        bool first = true;
        for (const auto& [name, value] : r.figures) {
            part += fmt::format("{}{} {:.6g}", first ? "" : ", ", name, value);
            first = false;
        }
        text += line("figures", part);
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
    if (model.reports().size() != 1) return {};
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
           task == Task::quantile || task == Task::multi_label || task == gpc_task ||
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

/// Primal, dual and gap, or that there is no such bracket.
std::string bracket_text(const Model& model, const Report& r) {
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
    text += line("points", fmt::format("{} for {}", counted(model.expansion().size(), "point"),
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

std::string line(std::string_view name, std::string_view text) {
    return fmt::format("{:<12}{}\n", name, text);
}

void warn(const std::string& text) {
    clear_progress_line();
    tell("mercer: warning: {}\n", text);
}

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
    return fmt::format("{} {}", count, count == 1 ? one : many.empty() ? one + "s" : many);
}

std::string percent(double fraction) {
    return fmt::format("{:.6g} %", 100 * fraction);
}

namespace {

void null_if_infinite(Json& item) {
    if (item.is_number_float()) item = json_number(item.get<double>());
    if (!item.is_structured()) return;
    for (Json& part : item) null_if_infinite(part);
}

}  // namespace

Json json_of(const Report& r) {
    Json json{{"name", r.name},
              {"status", describe(r.status)},
              {"converged", r.status == FitStatus::converged},
              {"primal", r.primal},
              {"dual", r.dual},
              {"gap", r.gap},
              {"relative_gap", r.relative_gap},
              {"kkt_violation", r.kkt_violation},
              {"infeasibility", r.infeasibility},
              {"margin", r.margin},
              {"squared_norm", r.squared_norm},
              {"bias", r.bias},
              {"rho", r.rho},
              {"epsilon", r.epsilon},
              {"radius", r.radius},
              {"rows", r.rows},
              {"support_vectors", r.support_vectors()},
              {"free_support_vectors", r.free_support_vectors},
              {"bounded_support_vectors", r.bounded_support_vectors},
              {"margin_errors", r.margin_errors},
              {"iterations", r.iterations},
              {"kernel_evaluations", r.kernel_evaluations},
              {"seconds", r.seconds > 0 ? Json(r.seconds) : Json()}};
    if (r.convexity != Convexity::not_asked) {
        json["certifies"] = r.is_bracketed() ? "optimum" : "stationary point";
        json["convexity"] = describe(r.convexity);
    }
    if (r.curvature_error > 0) {
        json["least_curvature"] = r.least_curvature;
        json["curvature_error"] = r.curvature_error;
    }
    if (!r.figures.empty()) json["figures"] = r.figures;
    if (!r.history.empty()) json["history"] = r.history;
    if (r.nu > 0) {
        json["nu_property"] = {{"nu", r.nu},
                               {"fraction_errors", r.fraction_errors},
                               {"fraction_support", r.fraction_support}};
    }
    if (has_no_machine(r.status)) {
        json["margin_bound"] = r.margin_bound;
        json["hull_distance"] = r.hull_distance;
        json["hull_weights"] = r.hull_weights;
    }
    // A machine that was stopped may have no bound yet, and figures are only told.
    for (Json& item : json) null_if_infinite(item);
    return json;
}

Json json_of(const Model& model) {
    const TrainedWith& t = model.trained();
    Json parts = Json::array();
    for (const Report& report : model.reports()) parts.push_back(json_of(report));
    Json json{{"task", task_name(model.task())},
              {"kernel", model.expansion().kernel.text()},
              {"definite", describe(definiteness(model.expansion().kernel).definite)},
              {"scaling", model.scaling().rule().text()},
              {"columns", model.columns()},
              {"support_vectors", model.expansion().size()},
              {"outputs", output_names(model)},
              {"trained",
               {{"C", t.C},
                {"nu", t.nu},
                {"epsilon", t.epsilon},
                {"tolerance", t.tolerance},
                {"bias", t.bias},
                {"tube", t.tube},
                {"tube_given", t.tube_given},
                {"class_weights", t.class_weights},
                {"numbers", t.numbers}}},
              {"precision", model.double_precision() ? "double" : "single"},
              {"probability", has_probabilities(model)}};
    if (is_classifier(model.task())) {
        json["multi_class"] = model.multi_class() == MultiClass::one_vs_one ? "ovo" : "ovr";
        json["classes"] = model.class_names();
        const std::vector<std::size_t> points = points_by_class(model);
        if (!points.empty()) json["support_vectors_by_class"] = points;
    }
    for (const auto& [name, array] : model.extras().arrays()) {
        json["arrays"][name] = {array->rows(), array->columns()};
    }
    if (!model.feature_names().empty()) json["features"] = model.feature_names();
    if (!model.reports().empty()) {
        json["certificate"] = json_of(model.report());
        if (model.report().is_bracketed() && model.trained().numbers.contains("centres")) {
            json["certificate"]["certifies"] = "optimum in the span";
        }
        json["parts"] = std::move(parts);
    }
    return json;
}

/// What a kernel has learnt from data can fill pages.
std::string short_text(const Kernel& kernel) {
    constexpr std::size_t longest = 300;
    const std::string text = kernel.text();
    if (text.size() <= longest) return text;
    return fmt::format("{}… ({} characters, all of them with --json)", text.substr(0, longest - 60),
                       text.size());
}

std::string describe_machine(const Model& model) {
    const Kernel& kernel = model.expansion().kernel;
    const std::string parameters = parameters_text(model);
    std::string text =
        line("task", task_name(model.task()) + (parameters.empty() ? "" : ", " + parameters));
    text += line("kernel", fmt::format("{}, {}", short_text(kernel),
                                       describe(definiteness(kernel).definite)));
    const ScalingRule& rule = model.scaling().rule();
    text +=
        line("rows", fmt::format("{}, {} precision, scaling {}", counted(model.columns(), "column"),
                                 model.double_precision() ? "double" : "single", rule.text()));
    if (is_classifier(model.task())) {
        text += line("classes", classes_text(model));
        if (model.classes() > 2) {
            text += line("problems", fmt::format("{}, {}", model.expansion().outputs(),
                                                 model.reports().size() == 1 ? "learnt together"
                                                 : model.multi_class() == MultiClass::one_vs_one
                                                     ? "one per pair of classes"
                                                     : "each class against the rest"));
        }
        if (has_probabilities(model)) text += line("probability", "yes");
    }
    if (is_multi_label(model.task())) {
        text += line("labels", fmt::format("{}: {}", model.expansion().outputs(),
                                           fmt::join(output_names(model), " ")));
    }
    return text;
}

std::string describe_certificate(const Model& model) {
    if (model.reports().empty()) {
        return line("support", counted(model.expansion().size(), "vector")) +
               line("certificate", "none: the file is one of LIBSVM");
    }
    if (model.reports()[0].figures.contains("reduced_from")) return describe_reduction(model);
    if (!has_bracket(model.task())) return describe_learning(model);
    const Report r = model.report();
    if (has_no_machine(r.status)) return describe_no_machine(model);
    const bool several = model.reports().size() > 1;
    std::string text =
        line("status", fmt::format("{}{}, {}", describe(r.status), time_text(r.seconds),
                                   counted(r.iterations, "step")));
    text += line("support", several ? counted(model.expansion().size(), "vector")
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

std::vector<std::string> output_names(const Model& model) {
    const std::size_t outputs = model.expansion().outputs();
    if (is_projection(model.task())) {
        std::vector<std::string> components;
        for (std::size_t c = 1; c <= outputs; ++c) {
            components.push_back(fmt::format("component {}", c));
        }
        return components;
    }
    if (outputs == model.target_names().size() && outputs > 0) return model.target_names();
    if (is_multi_label(model.task())) return label_names(model);
    const std::size_t k = model.classes();
    if (outputs == 1 && k != 2) return {"decision"};
    // Classes that compete with one another, and groups, have values of their own.
    if (model.task() == Task::class_means || model.task() == Task::perceptron ||
        model.task() == Task::spreading || model.task() == knn_task) {
        if (k > 2) return model.class_names();
    }
    if (is_clustering(model.task())) {
        std::vector<std::string> groups;
        for (std::size_t c = 0; c < outputs; ++c) groups.push_back(fmt::format("group {}", c));
        return groups;
    }
    std::vector<std::string> names;
    if (outputs == k * (k - 1) / 2 && (k == 2 || model.multi_class() == MultiClass::one_vs_one)) {
        for (std::size_t a = 0; a < k; ++a) {
            for (std::size_t b = a + 1; b < k; ++b) {
                names.push_back(model.class_names()[a] + " vs " + model.class_names()[b]);
            }
        }
    } else {
        for (std::size_t c = 0; c < outputs; ++c) {
            names.push_back(c < k ? model.class_names()[c] + " vs rest" : std::to_string(c + 1));
        }
    }
    return names;
}

}  // namespace mercer::cli
