#include "mercer/theory/detail/margin_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/svm/detail/fit_plan.hpp"

namespace mercer {
namespace {

constexpr double tight = 1e-10;

/// The settings a model was trained with, as far as its problems depend on them, for labels that
/// are positions of its classes.
bool same_names(std::vector<std::string> a, std::vector<std::string> b) {
    std::ranges::sort(a);
    std::ranges::sort(b);
    return a == b;
}

void check_model(const Model& model) {
    if (model.task() != Task::svc && model.task() != Task::nu_svc &&
        model.task() != Task::hard_margin) {
        throw InvalidInput(
            "bounds by margin and support vectors are for svc, nu-svc and hard; "
            "this is a model of the task " +
            task_name(model.task()));
    }
    require_one_machine(model, "a bound by margin and support vectors");
    if (model.reports().size() != model.expansion().outputs()) {
        throw InvalidInput(
            "the model does not say what it was trained with (files of LIBSVM do not)");
    }
}

/// A copy of some rows and columns, which is asked for faster than they are.
SharedOperator<double> stored_part(const SymmetricOperator<double>& k,
                                   const std::vector<std::size_t>& rows) {
    Matrix<double> own(rows.size(), rows.size());
    k.tile(rows, rows, own.view());
    return matrix_operator(std::as_const(own).view());
}

/// The optimum of the model's own problem is where the model says it is.
void check_same(const MarginProblem& p, const Report& claimed) {
    const double room = 0.01 * std::abs(p.dual) + std::max(0.0, claimed.gap);
    const bool near = !std::isfinite(claimed.gap) || std::abs(p.dual - claimed.dual) <= room;
    if (near && p.size() == claimed.rows) return;
    throw InvalidInput(
        "the machine of this data is not that of the model: it was trained on other "
        "data");
}

/// Rows of both classes.
void check_classes(const Subproblem& problem) {
    for (const double sign : {1.0, -1.0}) {
        if (std::ranges::count(problem.target, sign) > 0) continue;
        throw InvalidInput("a margin needs rows of two classes");
    }
}

}  // namespace

std::size_t MarginProblem::support_vectors() const {
    return static_cast<std::size_t>(std::ranges::count_if(alpha, [](double a) { return a > 0; }));
}

std::size_t MarginProblem::errors() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < size(); ++i) count += is_error(i) ? 1 : 0;
    return count;
}

bool MarginProblem::separated() const {
    for (std::size_t i = 0; i < size(); ++i) {
        if (target(i) * value[i] < 1 - 1e-6) return false;
    }
    return true;
}

MarginProblem solve_margin(SharedOperator<double> k, Subproblem problem) {
    if (problem.task != Task::svc && problem.task != Task::hard_margin) {
        throw InvalidInput("a margin is that of svc or hard, not of " + task_name(problem.task));
    }
    check_classes(problem);
    DualSolution solution = solve_dual(*k, make_dual(problem), {.tolerance = tight});
    if (solution.status == DualStatus::unbounded) {
        throw InvalidInput(
            "the rows cannot be separated by this kernel: a hard margin does not "
            "exist; use svc with a finite C");
    }
    const Learned learned = interpret(problem, solution);
    const Report report = certify(problem, learned, solution.row_gradient);
    MarginProblem p{.problem = std::move(problem), .k = std::move(k)};
    p.alpha = std::move(solution.alpha);
    p.bias = learned.bias;
    for (const double v : solution.row_gradient) p.value.push_back(v + learned.bias);
    p.squared_norm = report.squared_norm;
    p.dual = report.dual;
    p.gap = report.gap;
    return p;
}

std::vector<MarginProblem> margin_problems(const Model& model, const Dataset& data,
                                           std::size_t memory_bytes, const Progress& progress) {
    check_model(model);
    if (model.trained().numbers.contains("centres")) {
        throw InvalidInput(
            "the machine was learnt in the span of some rows, and these bounds are about machines "
            "of "
            "all rows");
    }
    Dataset given = data_for(model, data);
    if (!given.y.empty() && !same_names(classes_of(given.y).names, model.class_names())) {
        throw InvalidInput(
            "the classes of this data are not those of the model: it was trained "
            "on other data");
    }
    number_labels(model, given);
    FitPlan plan = plan_fit(trained_settings(model), given, {});
    const std::size_t n = plan.sample.data.size();
    // The whole matrix, and that of one part.
    if (n > std::size_t{1} << 20 || 2 * n * n * sizeof(double) > memory_bytes) {
        throw InvalidInput("the kernel matrix of " + std::to_string(n) +
                           " rows does not fit the memory allowed; raise it or take fewer rows");
    }
    const Rows x = model.scaling().apply(plan.sample.data.x).to_double();
    const auto gram =
        make_gram<double>(model.expansion().kernel, x, plan.sample.data.feature_names, progress);
    const SharedOperator<double> k = make_operator(
        gram, {.reuse = Reuse::whole, .memory_bytes = memory_bytes, .progress = progress});
    const Directions directions = directions_of(model.task(), model.trained().bias);
    CurvatureTest curvature(gram.kernel(), x, directions);
    std::vector<MarginProblem> result;
    for (std::size_t output = 0; output < plan.parts.size(); ++output) {
        Part& part = plan.parts[output];
        require_convex(curvature(part.rows), gram.kernel(), directions, "margins bound errors");
        if (model.task() == Task::nu_svc) {
            const double rho = model.reports()[output].rho;
            if (!(rho > 0)) {
                throw InvalidInput("the machine has no margin (rho = 0): take a smaller nu");
            }
            part.problem.task = Task::svc;
            for (double& bound : part.problem.bound) bound /= rho;
        }
        MarginProblem p = solve_margin(part.rows.is_all() ? k : stored_part(*k, part.rows.some()),
                                       std::move(part.problem));
        check_same(p, model.reports()[output]);
        p.name = model.reports()[output].name;
        for (std::size_t i = 0; i < p.size(); ++i) p.rows.push_back(plan.sample.kept[part.rows[i]]);
        result.push_back(std::move(p));
        const double done =
            static_cast<double>(output + 1) / static_cast<double>(plan.parts.size());
        if (!keep_going(progress, {.task = "margins", .fraction = done})) throw Cancelled();
    }
    return result;
}

double smallest_radius(const SymmetricOperator<double>& k) {
    Subproblem sphere{.task = Task::svdd};
    sphere.bound.assign(k.size(), std::numeric_limits<double>::infinity());
    sphere.diagonal.resize(k.size());
    k.diagonal(sphere.diagonal);
    DualSolution solution = solve_dual(k, make_dual(sphere), {.tolerance = tight});
    const Learned learned = interpret(sphere, solution);
    // The primal value is the squared distance of the farthest point from the centre found.
    return std::sqrt(std::max(0.0, certify(sphere, learned, solution.row_gradient).primal));
}

double origin_radius(const SymmetricOperator<double>& k) {
    std::vector<double> diagonal(k.size());
    k.diagonal(diagonal);
    return std::sqrt(std::max(0.0, *std::ranges::max_element(diagonal)));
}

}  // namespace mercer
