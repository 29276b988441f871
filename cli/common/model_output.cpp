#include "cli/common/model_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "cli/common/cell_output.hpp"
#include "cli/common/label_sets.hpp"
#include "cli/common/output.hpp"
#include "cli/common/session.hpp"
#include "cli/common/tell.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/risk/neighbours.hpp"

namespace mercer::cli {
namespace {

std::string parameters_text(const Model& model) {
    const TrainedWith& t = model.trained();
    std::string text;
    const Cells* const cells = cells_of(model);
    const auto add = [&](bool used, const std::string& name, double value) {
        if (!used || (cells && name == "cells")) return;
        // What the cells do not share stands as 0 in the whole.
        const bool own = cells && value == 0 && name != "epsilon";
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                            own ? "chosen in each cell" : "= " + format_number(value));
    };
    const Task task = model.task();
    const bool sphere_by_c = task == Task::svdd && t.C > 0;
    add(task == Task::svc || task == Task::svr || task == Task::nu_svr || task == Task::adatron ||
            is_multi_label(task) || sphere_by_c,
        "C", t.C);
    add(task == Task::nu_svc || task == Task::nu_svr || task == Task::one_class ||
            task == Task::parzen || (task == Task::svdd && !sphere_by_c),
        "nu", t.nu);
    add(task == Task::svr, "epsilon", t.epsilon);
    add(t.tolerance > 0, "tolerance", t.tolerance);
    for (const auto& [name, value] : t.numbers) add(true, name, value);
    if (!t.bias) text += text.empty() ? "through the origin" : ", through the origin";
    if (!t.tube.empty()) text += ", tube " + t.tube;
    if (t.tube_given) text += ", tube given row by row";
    return text;
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

/// What a kernel has learnt from data can fill pages.
std::string short_text(const Kernel& kernel) {
    constexpr std::size_t longest = 300;
    const std::string text = kernel.text();
    if (text.size() <= longest) return text;
    return fmt::format("{}… ({} characters, all of them with --json)", text.substr(0, longest - 60),
                       text.size());
}

std::vector<std::size_t> points_by_class(const Model& model) {
    const std::size_t k = model.classes();
    const Matrix<double>& coefficients = model.expansion().coefficients;
    if (!is_svm(model.task()) && model.task() != Task::adatron) return {};
    if (k < 2 || coefficients.rows() != k * (k - 1) / 2 || cells_of(model)) return {};
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

std::string describe_machine(const Model& model) {
    const Kernel& kernel = model.expansion().kernel;
    const std::string parameters = parameters_text(model);
    std::string text =
        line("task", task_name(model.task()) + (parameters.empty() ? "" : ", " + parameters));
    const Cells* const cells = cells_of(model);
    text += line("kernel", cells && kernels_differ(*cells)
                               ? kernels_text(*cells)
                               : fmt::format("{}, {}", short_text(kernel),
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
    if (cells) text += describe_cells(*cells);
    if (is_multi_label(model.task())) {
        text += line("labels", fmt::format("{}: {}", model.expansion().outputs(),
                                           fmt::join(output_names(model), " ")));
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
