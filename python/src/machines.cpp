// One door to every machine: a task by name, a dict of settings, and data.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "hebbian.hpp"
#include "interrupt.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/components/ica.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/groups/quantiser.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/online/perceptron.hpp"
#include "mercer/learn/risk/class_means.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "settings.hpp"
#include "steps.hpp"

namespace mercer::python {
namespace {

using Fit = std::function<Model(const Tell&)>;

/// Classes by the names and numbers of the caller, in the caller's order; machines learn them as
/// positions. Names of parts, "0 vs 1", follow.
void name_classes(Model& model, std::vector<std::string> names, std::vector<double> values) {
    for (const double value : values) names.push_back(format_number(value));
    const auto name_of = [&](const std::string& position) {
        const auto found = std::ranges::find(model.class_names, position);
        const auto place = static_cast<std::size_t>(found - model.class_names.begin());
        return place < names.size() ? names[place] : position;
    };
    for (Report& report : model.reports) {
        const std::size_t middle = report.name.find(" vs ");
        if (middle == std::string::npos) continue;
        report.name = name_of(report.name.substr(0, middle)) + " vs " +
                      name_of(report.name.substr(middle + 4));
    }
    model.class_names = std::move(names);
    model.class_values = std::move(values);
}

void name_by_position(Model& model) {
    std::vector<double> positions(model.classes());
    std::iota(positions.begin(), positions.end(), 0.0);
    name_classes(model, {}, std::move(positions));
}

MultiClass multi_class_of(const Settings& s) {
    return s.flag("one_vs_rest", false) ? MultiClass::one_vs_rest : MultiClass::one_vs_one;
}

SvmSettings svm_settings(Task task, const Settings& s, const Kernel& kernel) {
    SvmSettings svm;
    svm.task = task;
    svm.kernel = kernel;
    svm.C = s.number("C", task == Task::svdd ? 0 : svm.C);
    svm.nu = s.number("nu", svm.nu);
    svm.epsilon = s.number("epsilon", svm.epsilon);
    svm.bias = s.flag("bias", svm.bias);
    svm.multi_class = multi_class_of(s);
    const auto weights = s.get("class_weights", std::vector<double>{});
    for (std::size_t c = 0; c < weights.size(); ++c) {
        svm.class_weights[std::to_string(c)] = weights[c];
    }
    svm.target_scale = target_scale_named(s.text("target_scale", "auto"));
    svm.probability = s.flag("probability", false);
    svm.seed = s.count("seed", svm.seed);
    svm.tolerance = s.number("tolerance", svm.tolerance);
    svm.relative_gap = s.number("relative_gap", svm.relative_gap);
    svm.time_limit = s.number("time_limit", svm.time_limit);
    svm.iteration_limit = s.count("iteration_limit", 0);
    svm.memory_bytes = s.count("memory_bytes", svm.memory_bytes);
    svm.double_precision = s.flag("double_precision", false);
    svm.shrinking = s.flag("shrinking", true);
    const auto start = s.get<nb::object>("start", nb::none());
    if (!start.is_none()) {
        auto from = std::make_shared<Model>(nb::cast<const Model&>(start));
        name_by_position(*from);  // as the classes of these rows are called while it learns
        svm.start = std::move(from);
    }
    return svm;
}

Event event_of(const FitMoment& moment) {
    const DualMoment& d = moment.dual;
    return {"training",
            std::string(moment.part),
            {{"part", static_cast<double>(moment.number)},
             {"parts", static_cast<double>(moment.parts)},
             {"iterations", static_cast<double>(d.iterations)},
             {"steps", static_cast<double>(d.steps)},
             {"objective", d.objective},
             {"violation", d.violation},
             {"gap", d.gap},
             {"support", static_cast<double>(d.support)},
             {"seconds", d.seconds}}};
}

/// Steps a machine may take beyond those it has taken, so that a refinement costs at most about as
/// much as the training it refines; a few for machines that were done at once.
std::uint64_t steps_to_refine(const Model& model) {
    constexpr std::uint64_t few = 2000;
    std::uint64_t most = 0;
    for (const Report& report : model.reports) most = std::max(most, report.iterations);
    return most + few;
}

/// A refined model says the tolerance it was asked for and the work of both trainings.
void add_work(Model& fine, const Model& first) {
    fine.trained.tolerance = first.trained.tolerance;
    for (std::size_t part = 0; part < fine.reports.size(); ++part) {
        fine.reports[part].iterations += first.reports[part].iterations;
        fine.reports[part].kernel_evaluations += first.reports[part].kernel_evaluations;
        fine.reports[part].seconds += first.reports[part].seconds;
    }
}

/// The machine taken on from where its tolerance let it stop, to `finest`: once the active set is
/// found, the free variables are solved for exactly. What does not get there in time, or is
/// stopped, stays as it was.
Model refined(Model model, SvmSettings settings, double finest, const Dataset& data,
              MatrixView<const double> targets) {
    const Report first = model.report();
    if (first.status != FitStatus::converged || first.kkt_violation <= finest) return model;
    settings.start = std::make_shared<Model>(model);
    settings.tolerance = finest;
    settings.iteration_limit = steps_to_refine(model);
    settings.probability = false;
    if (settings.time_limit > 0) {
        settings.time_limit = std::max(1e-9, settings.time_limit - first.seconds);
    }
    Model fine = Svm(std::move(settings)).fit(data, targets);
    if (fine.report().status != FitStatus::converged) return model;
    fine.sigmoids = model.sigmoids;
    add_work(fine, model);
    return fine;
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
    return [settings, finest, &data, targets](const Tell& report) {
        SvmSettings own = settings;
        own.progress = [&report](const FitMoment& moment) { return report(event_of(moment)); };
        Model model = Svm(own).fit(data, targets);
        return finest > 0 ? refined(std::move(model), std::move(own), finest, data, targets)
                          : model;
    };
}

/// The machines that take FitSettings; `targets` only where they have a fit for several outputs.
template <class Maker, class MachineSettings>
Fit plain_fit(Maker make, MachineSettings settings, const Dataset& data,
              MatrixView<const double> targets = {}) {
    return [=, &data](const Tell& report) {
        MachineSettings own = settings;
        own.common.progress = [&report](const Moment& moment) {
            return report({std::string(moment.task),
                           std::string(moment.detail),
                           {{"fraction", moment.fraction}}});
        };
        const auto machine = make(std::move(own));
        if constexpr (requires { machine.fit(data, targets); }) {
            if (targets.columns > 0) return machine.fit(data, targets);
        }
        return machine.fit(data);
    };
}

/// Regularised risks, met and refined as support vector machines are. They begin anew: few rows
/// are learnt in a moment.
Fit risk_fit(const RiskSettings& settings, double finest, const Dataset& data) {
    return [settings, finest, &data](const Tell& report) {
        const auto learn = [&](const RiskSettings& own) {
            return plain_fit(risk_minimiser, own, data)(report);
        };
        Model model = learn(settings);
        const Report first = model.report();
        const bool sharp = finest <= 0 || first.relative_gap <= finest;
        if (first.status != FitStatus::converged || !first.is_bracketed() || sharp) return model;
        RiskSettings own = settings;
        own.tolerance = finest;
        if (own.common.time_limit > 0) {
            own.common.time_limit = std::max(1e-9, own.common.time_limit - first.seconds);
        }
        Model fine = learn(own);
        if (fine.report().status != FitStatus::converged) return model;
        add_work(fine, model);
        return fine;
    };
}

PerceptronSettings perceptron_settings(const Settings& s, const FitSettings& common) {
    PerceptronSettings p{.common = common};
    p.passes = s.count("passes", p.passes);
    p.order = s.flag("shuffle", false) ? PassOrder::shuffled : PassOrder::given;
    const std::string variant = s.text("variant", "plain");
    if (variant != "plain" && variant != "averaged" && variant != "voted") {
        throw InvalidInput("variant = '" + variant + "' must be plain, averaged or voted");
    }
    p.variant = variant == "averaged" ? PerceptronVariant::averaged
                : variant == "voted"  ? PerceptronVariant::voted
                                      : PerceptronVariant::plain;
    p.budget = s.count("budget", 0);
    p.bias = s.flag("bias", true);
    return p;
}

AdatronSettings adatron_settings(const Settings& s, const FitSettings& common) {
    AdatronSettings a{.common = common};
    a.rate = s.number("rate", a.rate);
    a.C = s.number("C", a.C);
    a.bias = s.flag("bias", a.bias);
    a.multi_class = multi_class_of(s);
    a.tolerance = s.number("tolerance", a.tolerance);
    a.passes = s.count("passes", a.passes);
    return a;
}

GaussianProcessSettings process_settings(const Settings& s, const FitSettings& common) {
    GaussianProcessSettings g{.common = common};
    g.noise = s.number("noise", g.noise);
    g.optimise = s.flag("optimise", g.optimise);
    g.restarts = s.count("restarts", g.restarts);
    g.fixed = s.get("fixed", g.fixed);
    g.iteration_limit = s.count("iteration_limit", g.iteration_limit);
    return g;
}

RiskSettings risk_settings(Loss loss, const Settings& s, const FitSettings& common) {
    RiskSettings r{.loss = loss, .common = common};
    r.lambda = s.number("lambda", r.lambda);
    r.bias = s.flag("bias", r.bias);
    r.delta = s.number("delta", r.delta);
    r.quantile = s.number("quantile", r.quantile);
    r.tolerance = s.number("tolerance", r.tolerance);
    r.iteration_limit = s.count("iteration_limit", r.iteration_limit);
    return r;
}

IcaSettings ica_settings(const Settings& s, const FitSettings& common) {
    IcaSettings i{.common = common};
    i.components = s.count("components", i.components);
    i.kappa = s.number("kappa", i.kappa);
    i.sweeps = s.count("sweeps", i.sweeps);
    i.tolerance = s.number("tolerance", i.tolerance);
    const std::string contrast = s.text("contrast", "correlation");
    if (contrast != "correlation" && contrast != "variance") {
        throw InvalidInput("contrast = '" + contrast + "' must be correlation or variance");
    }
    i.contrast = contrast == "variance" ? IcaContrast::variance : IcaContrast::correlation;
    return i;
}

Fit machine_fit(Task task, const Settings& s, const Kernel& kernel, const Dataset& data,
                MatrixView<const double> targets, StepTable& steps) {
    if (is_svm(task)) {
        return svm_fit(svm_settings(task, s, kernel), s.number("finest", 0), data, targets,
                       s.flag("trace", false) ? &steps : nullptr);
    }
    const FitSettings common = common_of(s, kernel);
    const auto fit_of = [&](Loss loss) {
        return risk_fit(risk_settings(loss, s, common), s.number("finest", 0), data);
    };
    switch (task) {
        case Task::class_means:
            return plain_fit(class_means,
                             ClassMeansSettings{.common = common, .bias = s.flag("bias", true)},
                             data);
        case Task::parzen:
            return plain_fit(parzen, ParzenSettings{.common = common, .nu = s.number("nu", 0.5)},
                             data);
        case Task::perceptron: return plain_fit(perceptron, perceptron_settings(s, common), data);
        case Task::adatron: return plain_fit(adatron, adatron_settings(s, common), data);
        case Task::ridge: {
            RidgeSettings r{.common = common};
            r.lambda = s.number("lambda", r.lambda);
            r.path = s.get("path", std::vector<double>{});
            r.bias = s.flag("bias", r.bias);
            return plain_fit(ridge, r, data, targets);
        }
        case Task::gp: return plain_fit(gaussian_process, process_settings(s, common), data);
        case Task::kpca: {
            KernelPcaSettings k{.common = common};
            k.components = s.count("components", k.components);
            k.center = s.flag("center", k.center);
            k.tolerance = s.number("tolerance", k.tolerance);
            k.passes = s.count("passes", k.passes);
            return plain_fit(kernel_pca, k, data);
        }
        case Task::kha: return plain_fit(hebbian_pca, hebbian_settings(s, common), data);
        case Task::ica: return plain_fit(kernel_ica, ica_settings(s, common), data);
        case Task::kmeans: {
            KMeansSettings k{.common = common};
            k.clusters = s.count("clusters", k.clusters);
            k.starts = s.count("starts", k.starts);
            k.passes = s.count("passes", k.passes);
            return plain_fit(kmeans, k, data);
        }
        case Task::vq: {
            VectorQuantiserSettings v{.common = common};
            v.radius = s.number("radius", v.radius);
            v.prune = s.flag("prune", v.prune);
            return plain_fit(vector_quantiser, v, data);
        }
        case Task::logistic: return fit_of(Loss::logistic);
        case Task::squared_hinge: return fit_of(Loss::squared_hinge);
        case Task::huber: return fit_of(Loss::huber);
        case Task::quantile: return fit_of(Loss::quantile);
        default: break;
    }
    throw InvalidInput("the task " + task_name(task) +
                       " learns from two sets of rows: fit_cca and fit_dependency take them");
}

/// Learns. `y` are numbers, or positions of classes, which have the names `classes` or are the
/// numbers `class_values`; `targets` several outputs instead. `taken` becomes the table of steps,
/// where the setting trace asks for one.
Model fit(const std::string& task_text, const Kernel& kernel, nb::dict settings, const Rows& x,
          std::optional<Numbers> y, std::optional<Table> targets, std::optional<Numbers> weights,
          const std::vector<std::string>& names, nb::object callback, bool keep,
          const std::vector<std::string>& classes, const std::vector<double>& class_values,
          std::optional<nb::dict> taken) {
    Dataset data;
    data.x = x;
    if (y) data.y.values = copy_of(*y);
    if (weights) data.weights = copy_of(*weights);
    data.feature_names = names;
    MatrixView<const double> outputs;
    if (targets) outputs = {targets->data(), targets->shape(0), targets->shape(1)};
    const Task task = task_named(task_text);
    const Settings told(std::move(settings));
    StepTable steps;
    const Fit work = machine_fit(task, told, kernel, data, outputs, steps);
    told.check("the task " + task_name(task));
    std::optional<Model> model;
    const std::function<void(const Tell&)> job = [&](const Tell& report) {
        Model found = work(report);
        // The model outlives the caller's arrays.
        found.expansion.points = found.expansion.points.owned();
        found.expansion.reference = found.expansion.reference.owned();
        model = std::move(found);
    };
    run_beside(job, std::move(callback), keep);
    if (taken) taken->update(steps.columns());
    if (classes.size() + class_values.size() == model->classes()) {
        name_classes(*model, classes, class_values);
    }
    return std::move(*model);
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

}  // namespace

void bind_machines(nb::module_& m) {
    m.def("fit", &fit, nb::arg("task"), nb::arg("kernel"), nb::arg("settings"), nb::arg("x"),
          nb::arg("y").none(), nb::arg("targets").none(), nb::arg("weights").none(),
          nb::arg("names"), nb::arg("callback").none(), nb::arg("keep"),
          nb::arg("classes") = std::vector<std::string>(),
          nb::arg("class_values") = std::vector<double>(), nb::arg("taken") = nb::none());
    m.def("target_trouble", &trouble_of);
}

}  // namespace mercer::python
