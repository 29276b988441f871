#include "cli/machines.hpp"

#include <fmt/format.h>

#include "cli/output.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/components/hebbian.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/groups/quantiser.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/online/perceptron.hpp"
#include "mercer/learn/risk/class_means.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/svm_machine.hpp"

namespace mercer::cli {
namespace {

FitSettings common_of(const TrainOptions& o, const Progress& progress) {
    return {.kernel = Kernel::parse(o.kernel),
            .scaling = ScalingRule::parse(o.scale),
            .target_scale = target_scale_named(o.target_scale),
            .seed = o.seed,
            .time_limit = o.time_limit,
            .memory_bytes = o.memory << 20,
            .double_precision = o.double_precision,
            .progress = progress};
}

PerceptronSettings perceptron_of(const TrainOptions& o, FitSettings common) {
    PerceptronSettings s{.common = std::move(common)};
    if (o.passes > 0) s.passes = o.passes;
    s.order = o.order == "shuffled" ? PassOrder::shuffled : PassOrder::given;
    s.variant = o.variant == "averaged" ? PerceptronVariant::averaged
                : o.variant == "voted"  ? PerceptronVariant::voted
                                        : PerceptronVariant::plain;
    s.budget = o.budget;
    s.bias = !o.no_bias;
    return s;
}

AdatronSettings adatron_of(const TrainOptions& o, FitSettings common) {
    AdatronSettings s{.common = std::move(common)};
    s.rate = o.rate;
    s.C = o.cost;
    s.bias = !o.no_bias;
    s.multi_class = o.multi_class == "ovr" ? MultiClass::one_vs_rest : MultiClass::one_vs_one;
    s.tolerance = o.tolerance;
    if (o.passes > 0) s.passes = o.passes;
    return s;
}

KMeansSettings kmeans_of(const TrainOptions& o, FitSettings common) {
    KMeansSettings s{.common = std::move(common), .clusters = o.clusters, .starts = o.starts};
    if (o.passes > 0) s.passes = o.passes;
    return s;
}

KernelPcaSettings kernel_pca_of(const TrainOptions& o, FitSettings common) {
    KernelPcaSettings s{
        .common = std::move(common), .components = o.components, .center = !o.no_center};
    if (given(o, "--tol")) s.tolerance = o.tolerance;
    if (o.passes > 0) s.passes = o.passes;
    return s;
}

HebbianSettings hebbian_of(const TrainOptions& o, FitSettings common) {
    HebbianSettings s{.common = std::move(common), .components = o.components};
    s.dictionary = o.dictionary;
    s.window = 4 * s.dictionary;
    s.center = !o.no_center;
    s.batch = o.batch;
    if (given(o, "--rate")) s.rate = o.rate;
    if (given(o, "--tol")) s.tolerance = o.tolerance;
    if (o.passes > 0) s.passes = o.passes;
    return s;
}

RidgeSettings ridge_of(const TrainOptions& o, FitSettings common) {
    return {.common = std::move(common),
            .lambda = o.lambda,
            .path = o.lambda_path,
            .bias = !o.no_bias,
            .leave_one_out = o.leave_one_out};
}

GaussianProcessSettings process_of(const TrainOptions& o, FitSettings common) {
    GaussianProcessSettings s{.common = std::move(common),
                              .noise = o.noise,
                              .optimise = o.optimise,
                              .fixed = o.fixed,
                              .restarts = o.restarts};
    if (o.iteration_limit > 0) s.iteration_limit = o.iteration_limit;
    return s;
}

RiskSettings risk_of(const TrainOptions& o, Loss loss, FitSettings common) {
    RiskSettings s{.loss = loss, .common = std::move(common)};
    s.lambda = o.lambda;
    s.bias = !o.no_bias;
    s.delta = o.huber;
    s.quantile = o.quantile;
    if (o.gap > 0) s.tolerance = o.gap;
    return s;
}

}  // namespace

Machine machine_of(const TrainOptions& o, const SvmSettings& svm, const Listener& listener) {
    const Task task = task_named(o.task);
    if (is_svm(task)) {
        SvmSettings own = svm;
        own.progress = listener.svm;
        return svm_machine(std::move(own));
    }
    FitSettings common = common_of(o, listener.other);
    switch (task) {
        case Task::class_means:
            return class_means({.common = std::move(common), .bias = !o.no_bias});
        case Task::parzen: return parzen({.common = std::move(common), .nu = o.nu});
        case Task::perceptron: return perceptron(perceptron_of(o, std::move(common)));
        case Task::adatron: return adatron(adatron_of(o, std::move(common)));
        case Task::kmeans: return kmeans(kmeans_of(o, std::move(common)));
        case Task::vq: return vector_quantiser({.common = std::move(common), .radius = o.radius});
        case Task::kpca: return kernel_pca(kernel_pca_of(o, std::move(common)));
        case Task::kha: return hebbian_pca(hebbian_of(o, std::move(common)));
        case Task::ridge: return ridge(ridge_of(o, std::move(common)));
        case Task::gp: return gaussian_process(process_of(o, std::move(common)));
        case Task::logistic: return risk_minimiser(risk_of(o, Loss::logistic, std::move(common)));
        case Task::squared_hinge:
            return risk_minimiser(risk_of(o, Loss::squared_hinge, std::move(common)));
        case Task::huber: return risk_minimiser(risk_of(o, Loss::huber, std::move(common)));
        case Task::quantile: return risk_minimiser(risk_of(o, Loss::quantile, std::move(common)));
        default: break;
    }
    throw InvalidInput(fmt::format(
        "--task {} has a command of its own: cca, ica or depend; see 'mercer --help'", o.task));
}

std::string curve_text(const TrainOptions& o, const Dataset& data, const Progress& progress) {
    std::string text = "method,steps,seconds,objective,violation\n";
    for (const CurvePoint& p : convergence_curves(adatron_of(o, common_of(o, progress)), data)) {
        text += fmt::format("{},{},{},{},{}\n", p.method, p.steps, result_text(p.seconds),
                            result_text(p.objective), result_text(p.violation));
    }
    return text;
}

}  // namespace mercer::cli
