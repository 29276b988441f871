// One door to every machine: a task by name, a dict of settings, and data.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/labels.hpp"
#include "common/settings.hpp"
#include "machines.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/risk/given_loss.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/select/automatic.hpp"
#include "steps.hpp"

namespace mercer::python {
namespace {

using Fit = std::function<Model(const Progress&)>;

void name_by_position(ModelParts& model) {
    std::vector<double> positions(model.classes());
    std::iota(positions.begin(), positions.end(), 0.0);
    name_classes(model, {}, std::move(positions));
}

/// Steps a machine may take beyond those it has taken, so that a refinement costs at most about as
/// much as the training it refines; a few for machines that were done at once.
std::uint64_t steps_to_refine(const Model& model) {
    constexpr std::uint64_t few = 2000;
    std::uint64_t most = 0;
    for (const Report& report : model.reports()) most = std::max(most, report.iterations);
    return most + few;
}

/// A refined model says the tolerance it was asked for and the work of both trainings.
void add_work(ModelParts& fine, const Model& first) {
    fine.trained.tolerance = first.trained().tolerance;
    for (std::size_t part = 0; part < fine.reports.size(); ++part) {
        fine.reports[part].iterations += first.reports()[part].iterations;
        fine.reports[part].kernel_evaluations += first.reports()[part].kernel_evaluations;
        fine.reports[part].seconds += first.reports()[part].seconds;
    }
}

/// The machine taken on from where its tolerance let it stop, to `finest`: once the active set is
/// found, the free variables are solved for exactly. What does not get there in time, or is
/// stopped, stays as it was.
Model refined(const Model& model, SvmSettings settings, double finest, const Dataset& data,
              MatrixView<const double> targets) {
    const Report first = model.report();
    if (first.status != FitStatus::converged || first.kkt_violation <= finest) return model;
    settings.start = std::make_shared<const Model>(model);
    settings.tolerance = finest;
    settings.iteration_limit = steps_to_refine(model);
    settings.probability = false;
    if (settings.common.time_limit > 0) {
        settings.common.time_limit = std::max(1e-9, settings.common.time_limit - first.seconds);
    }
    const Model found = Svm(std::move(settings)).fit(data, targets);
    if (found.report().status != FitStatus::converged) return model;
    ModelParts fine = found.parts();
    fine.extras = model.extras();
    add_work(fine, model);
    return Model(std::move(fine));
}

/// `finest` is 0, or what the machine is refined to after it has met its tolerance. Given a table
/// for its steps it takes those of two points.
Fit svm_fit(SvmSettings settings, double finest, const Dataset& data,
            MatrixView<const double> targets, StepTable* steps) {
    if (steps) {
        settings.method = DualMethod::smo;
        settings.trace = steps->listener();
        finest = 0;
    }
    return [settings, finest, &data, targets](const Progress& report) {
        SvmSettings own = settings;
        own.common.progress = report;
        const Model model = Svm(own).fit(data, targets);
        return finest > 0 ? refined(model, std::move(own), finest, data, targets) : model;
    };
}

/// Refined as support vector machines are, by a tolerance that is a relative gap. Machines begin
/// anew: few rows are learnt in a moment.
Fit risk_fit(const MachineEntry& machine, const FitSettings& common, const SettingValues& values,
             double finest, const Dataset& data) {
    return [&machine, common, values, finest, &data](const Progress& report) {
        FitSettings own = common;
        own.progress = report;
        const Model model = machine.make(own, values).fit(data);
        const Report first = model.report();
        const bool sharp = finest <= 0 || first.relative_gap <= finest;
        if (first.status != FitStatus::converged || !first.is_bracketed() || sharp) return model;
        if (own.time_limit > 0) own.time_limit = std::max(1e-9, own.time_limit - first.seconds);
        SettingValues finer = values;
        finer["tolerance"] = finest;
        const Model found = machine.make(own, finer).fit(data);
        if (found.report().status != FitStatus::converged) return model;
        ModelParts fine = found.parts();
        add_work(fine, model);
        return Model(std::move(fine));
    };
}

/// A function of two arrays, called wherever the work runs.
LossBatch batch_of(const nb::object& function, const char* name) {
    if (function.is_none()) return {};
    // Given up by whoever is last, which may be a thread without the interpreter's lock.
    const std::shared_ptr<const void> alive = keep_alive(function);
    const nb::handle handle = function;
    return [alive, handle, name](std::span<const double> y, std::span<const double> z,
                                 std::span<double> out) {
        const nb::gil_scoped_acquire lock;
        const nb::object found = handle(give(std::vector<double>(y.begin(), y.end())),
                                        give(std::vector<double>(z.begin(), z.end())));
        const auto values = nb::cast<Numbers>(
            nb::module_::import_("numpy").attr("ascontiguousarray")(found, "float64"));
        if (values.size() != out.size()) {
            throw InvalidInput(std::string(name) + " returned " + std::to_string(values.size()) +
                               " numbers for " + std::to_string(out.size()) + " of y and z");
        }
        std::copy_n(values.data(), out.size(), out.begin());
    };
}

/// The functions among the settings of the task risk.
GivenFunctions functions_of(const Settings& s) {
    GivenFunctions functions;
    functions.value = batch_of(s.get<nb::object>("loss_function", nb::none()), "loss");
    functions.slope = batch_of(s.get<nb::object>("slope_function", nb::none()), "loss_slope");
    const auto omega = s.get<nb::object>("regulariser_function", nb::none());
    if (omega.is_none()) return functions;
    const std::shared_ptr<const void> alive = keep_alive(omega);
    const nb::handle handle = omega;
    functions.regulariser = [alive, handle](double norm) {
        const nb::gil_scoped_acquire lock;
        return nb::cast<double>(handle(norm));
    };
    return functions;
}

/// How a machine is made of what all are told alike.
using Make = std::function<Machine(const FitSettings&)>;

Make maker_of(const MachineEntry& machine, const FitSettings& common, const Settings& s,
              const nb::dict& settings) {
    s.number("finest", 0);  // the sharpest answer belongs to machines of all rows
    s.flag("trace", false);
    if (machine.learns == Learns::label_sets) {
        throw InvalidInput("the task " + machine.name +
                           " learns from all rows: without approximate");
    }
    if (is_svm(machine.task)) {
        SvmSettings svm = svm_settings_of(machine.task, common, s, settings);
        svm.start.reset();
        return [svm](const FitSettings& settled) {
            SvmSettings inner = svm;
            inner.common = settled;
            return Machine(Svm(std::move(inner)));
        };
    }
    const SettingValues values = values_of(settings, s.asked());
    machine.make(common, values);  // what no machine can take is said before any work
    return [&machine, values](const FitSettings& settled) { return machine.make(settled, values); };
}

/// In the span of some rows or in cells, or where that is "auto" as a plan says.
Fit span_fit(const std::string& how, const FitSettings& common, const Make& make,
             const Dataset& data, MatrixView<const double> targets) {
    if (how != "auto") check_approximation(how);
    return [how, common, make, &data, targets](const Progress& report) {
        FitSettings own = common;
        own.progress = report;
        std::string chosen = how;
        if (how == "auto") {
            if (targets.columns > 0) {
                throw InvalidInput(
                    "approximate='auto' is for one target; say nystroem(centres=1000) or "
                    "cells(rows=2000)");
            }
            const TrainingPlan plan = plan_training(own, make, data);
            chosen = plan.ways[plan.chosen].approximate;
        }
        if (chosen.empty()) return make(own).fit(data, targets);
        return approximate(own, chosen, make).fit(data, targets);
    };
}

Fit machine_fit(Task task, const nb::dict& settings, const Kernel& kernel, const Dataset& data,
                MatrixView<const double> targets, StepTable& steps) {
    const MachineEntry& machine = machine_entry(task);
    if (!machine.make) {
        throw InvalidInput("the task " + machine.name +
                           " learns from two sets of rows: fit_cca and fit_dependency take them");
    }
    const Settings s(settings);
    const FitSettings common = common_of(s, kernel);
    const std::string how = s.text("approximate", "");
    if (!how.empty()) {
        return span_fit(how, common, maker_of(machine, common, s, settings), data, targets);
    }
    if (is_svm(task)) {
        const double finest = s.number("finest", 0);
        StepTable* const table = s.flag("trace", false) ? &steps : nullptr;
        const SvmSettings svm = svm_settings_of(task, common, s, settings);
        return svm_fit(svm, finest, data, targets, table);
    }
    const bool given = task == risk_task || task == risk_classes_task;
    if (machine.family == "risk" && machine.certified && machine.find("tolerance") && !given &&
        task != Task::ridge) {
        const double finest = s.number("finest", 0);
        return risk_fit(machine, common, values_of(settings, s.asked()), finest, data);
    }
    if (task == risk_task || task == risk_classes_task) {
        const GivenFunctions functions = functions_of(s);
        std::vector<std::string> own = s.asked();
        GivenRiskSettings given =
            given_risk_settings(common, machine.name, values_of(settings, own));
        given.functions = functions;
        return [given, task, &data](const Progress& report) {
            GivenRiskSettings at_work = given;
            at_work.common.progress = report;
            return GivenRisk(task, std::move(at_work)).fit(data);
        };
    }
    const SettingValues values = values_of(settings, s.asked());
    machine.make(common, values);  // what no machine can take is said before any work
    return [&machine, common, values, &data, targets](const Progress& report) {
        FitSettings own = common;
        own.progress = report;
        return machine.make(own, values).fit(data, targets);
    };
}

/// Learns. `y` are numbers, or positions of classes, which have the names `classes` or are the
/// numbers `class_values`; `targets` several outputs instead. `taken` becomes the table of steps,
/// where the setting trace asks for one; `target_names` are those of several outputs.
Model fit(const std::string& task_text, const Kernel& kernel, nb::dict settings, const Rows& x,
          std::optional<Numbers> y, std::optional<Table> targets, std::optional<Numbers> weights,
          const std::vector<std::string>& names, nb::object callback, bool keep,
          const std::vector<std::string>& classes, const std::vector<double>& class_values,
          std::optional<nb::dict> taken, std::vector<std::string> target_names) {
    Dataset data;
    data.x = x;
    if (y) data.y.values = copy_of(*y);
    if (weights) data.weights = copy_of(*weights);
    data.feature_names = names;
    MatrixView<const double> outputs;
    if (targets) outputs = {targets->data(), targets->shape(0), targets->shape(1)};
    const Task task = task_named(task_text);
    StepTable steps;
    const Fit work = machine_fit(task, settings, kernel, data, outputs, steps);
    ModelParts model;
    const std::function<void(const Progress&)> job = [&](const Progress& report) {
        model = work(report).parts();
        // The model outlives the caller's arrays.
        model.expansion.points = model.expansion.points.owned();
        model.expansion.reference = model.expansion.reference.owned();
    };
    run_beside(job, std::move(callback), keep);
    if (taken) taken->update(steps.columns());
    if (classes.size() + class_values.size() == model.classes()) {
        name_classes(model, classes, class_values);
    }
    if (!target_names.empty()) model.target_names = std::move(target_names);
    return Model(std::move(model));
}

/// The ways to train and what they would cost, the one to be chosen, and why.
nb::tuple plan(const std::string& task_text, const Kernel& kernel, nb::dict settings, const Rows& x,
               std::optional<Numbers> y, const std::vector<std::string>& names, double seconds,
               nb::object callback) {
    Dataset data;
    data.x = x;
    if (y) data.y.values = copy_of(*y);
    data.feature_names = names;
    const MachineEntry& machine = machine_entry(task_named(task_text));
    const Settings s(settings);
    const FitSettings common = common_of(s, kernel);
    s.text("approximate", "");
    const Make make = maker_of(machine, common, s, settings);
    TrainingPlan found;
    const std::function<void(const Progress&)> work = [&](const Progress& progress) {
        FitSettings own = common;
        own.progress = progress;
        found = plan_training(own, make, data, {.seconds = seconds});
    };
    run_beside(work, std::move(callback));
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    nb::list ways;
    for (const TrainingWay& way : found.ways) {
        nb::dict entry;
        entry["approximate"] = way.approximate.empty() ? nb::none() : nb::cast(way.approximate);
        entry["seconds"] = way.seconds;
        entry["bytes"] = way.bytes;
        entry["left"] = way.left;
        entry["pilot_error"] = way.pilot_error;
        entry["expected_error"] = way.tried ? way.expected_error : nan;
        entry["deviation"] = way.deviation;
        entry["certificate"] = way.certificate;
        entry["fits"] = way.fits;
        ways.append(entry);
    }
    return nb::make_tuple(ways, found.chosen, found.why);
}

/// What makes a trained regression useless on these targets: nothing, "C" or "epsilon", and their
/// deviation.
nb::tuple trouble_of(const Model& model, const Numbers& y) {
    const double deviation = fit_target_scale(TargetScale::standard, copy_of(y)).scale;
    switch (target_trouble(model, deviation)) {
        case TargetTrouble::penalty_too_small: return nb::make_tuple("C", deviation);
        case TargetTrouble::tube_too_wide: return nb::make_tuple("epsilon", deviation);
        default: return nb::make_tuple("", deviation);
    }
}

/// What the registry knows: (name, what it learns, names of its settings) of every machine;
/// settings that no command has are left out.
nb::list machine_list() {
    nb::list list;
    for (const MachineEntry* entry : machines()) {
        std::vector<std::string> names;
        for (const Setting& setting : entry->settings) {
            if (setting.flag != "-") names.push_back(setting.name);
        }
        list.append(nb::make_tuple(entry->name, entry->about, names));
    }
    return list;
}

}  // namespace

SvmSettings svm_settings_of(Task task, const FitSettings& common, const Settings& s,
                            const nb::dict& settings) {
    std::vector<std::string> weights;
    for (const double weight : s.get("class_weights", std::vector<double>{})) {
        weights.push_back(std::to_string(weights.size()) + '=' + format_number(weight));
    }
    std::vector<std::string> own = s.asked();
    own.insert(own.end(), {"start", "tube_values"});
    SettingValues values = values_of(settings, own);
    if (!weights.empty()) values["class_weights"] = std::move(weights);
    SvmSettings svm = svm_settings(task, common, values);
    svm.tube_values = s.get("tube_values", std::vector<double>{});
    const auto start = s.get<nb::object>("start", nb::none());
    if (!start.is_none()) {
        ModelParts from = nb::cast<const Model&>(start).parts();
        name_by_position(from);  // as the classes of these rows are called while it learns
        svm.start = std::make_shared<const Model>(std::move(from));
    }
    return svm;
}

void bind_machines(nb::module_& m) {
    m.def("fit", &fit, nb::arg("task"), nb::arg("kernel"), nb::arg("settings"), nb::arg("x"),
          nb::arg("y").none(), nb::arg("targets").none(), nb::arg("weights").none(),
          nb::arg("names"), nb::arg("callback").none(), nb::arg("keep"),
          nb::arg("classes") = std::vector<std::string>(),
          nb::arg("class_values") = std::vector<double>(), nb::arg("taken") = nb::none(),
          nb::arg("target_names") = std::vector<std::string>());
    m.def("plan", &plan, nb::arg("task"), nb::arg("kernel"), nb::arg("settings"), nb::arg("x"),
          nb::arg("y").none(), nb::arg("names"), nb::arg("seconds"),
          nb::arg("callback") = nb::none());
    m.def("target_trouble", &trouble_of);
    m.def("machines", &machine_list);
}

}  // namespace mercer::python
