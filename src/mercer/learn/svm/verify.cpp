// The certificate recomputed from a model and its data, by code that shares nothing with the solver
// but the formulas.

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/dist/detail/one_rank.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/locate.hpp"
#include "mercer/learn/detail/rank_values.hpp"
#include "mercer/learn/svm/detail/fit_plan.hpp"
#include "mercer/learn/svm/detail/hull_proof.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

/// The machine of one part in the terms of its problem.
Learned learned_of(const Model& model, const Part& part, std::size_t output,
                   const std::vector<double>& beta_of_row) {
    Learned learned;
    const bool sphere = model.task() == Task::svdd;
    const Report& claimed = model.reports()[output];
    learned.bias = sphere ? 0 : model.expansion().bias[output];
    learned.rho = model.task() == Task::one_class ? -model.expansion().bias[output] : claimed.rho;
    if (separates_origin(model.task(), part.problem)) learned.bias = learned.rho = 0;
    learned.epsilon = model.task() == Task::svr ? model.trained().epsilon : claimed.epsilon;
    learned.radius = claimed.radius;
    for (std::size_t i = 0; i < part.problem.size(); ++i) {
        const double beta = beta_of_row[part.rows[i]];
        learned.beta.push_back(sphere ? beta / 2 : beta);
    }
    return learned;
}

/// k(x, x) is what a sphere around nothing says.
std::vector<double> squared_lengths_of(const Expansion& expansion, const Rows& x,
                                       const Progress& progress, Communicator* ranks) {
    Expansion self = expansion;
    std::ranges::fill(self.coefficients.values(), 0.0);
    std::ranges::fill(self.bias, 0.0);
    self.self = 1;
    return values_by_ranks(Evaluator(self, true), x, progress, ranks).values();
}

}  // namespace

/// The settings a model says it was trained with, for labels that are positions of its classes.
SvmSettings trained_settings(const Model& model) {
    SvmSettings s;
    s.task = model.task();
    s.common.kernel = model.expansion().kernel;
    s.C = model.trained().C;
    s.nu = model.trained().nu;
    s.epsilon = model.trained().epsilon;
    s.bias = model.trained().bias;
    s.multi_class = model.multi_class();
    s.tolerance = model.trained().tolerance > 0 ? model.trained().tolerance : 1e-3;
    for (std::size_t c = 0; c < model.trained().class_weights.size(); ++c) {
        s.class_weights[std::to_string(c)] = model.trained().class_weights[c];
    }
    if (model.trained().tube_given) {
        throw InvalidInput(
            "the tube of this model was given as numbers, which the model file does not hold: it "
            "cannot be verified from model and data alone");
    }
    if (!model.trained().tube.empty()) s.tube = Formula::parse(model.trained().tube);
    return s;
}

std::string why_not_verifiable(const Model& model) {
    const auto& numbers = model.trained().numbers;
    const bool in_span = numbers.contains("centres");
    if (!in_span && !numbers.contains("weights")) return {};
    return std::string("this machine was learnt ") +
           (in_span ? "in the span of some rows, and its model has the coefficients of these rows "
                      "alone"
                    : "in passes over the rows, and its model has a weight for each column alone") +
           ": the dual variables that its certificate is about are not in it. Train again to have "
           "it once more";
}

RestoredFit restore_fit(const Model& model, const Dataset& data) {
    if (!is_svm(model.task())) {
        throw InvalidInput(
            "only support vector machines (svc, nu-svc, hard, svr, nu-svr, one-class, "
            "svdd) carry a certificate that can be recomputed; this is a model of the "
            "task " +
            task_name(model.task()));
    }
    require_one_machine(model, "this certificate");
    if (const std::string why = why_not_verifiable(model); !why.empty()) throw InvalidInput(why);
    Dataset given = data_for(model, data);
    number_labels(model, given);
    RestoredFit fit{.plan = plan_fit(trained_settings(model), given, {})};
    const FitPlan& plan = fit.plan;
    if (plan.parts.size() != model.expansion().outputs()) {
        throw InvalidInput("the model has " + std::to_string(model.expansion().outputs()) +
                           " outputs, but this data makes " + std::to_string(plan.parts.size()) +
                           ": the model was trained on other data");
    }
    fit.x = model.scaling().apply(plan.sample.data.x);
    // Rows of weight 0 are gone from the plan: places recorded in the model count all rows.
    const std::vector<std::size_t> located = locate_points(model, model.scaling().apply(given.x));
    std::vector<std::size_t> planned(given.size(), plan.sample.data.size());
    for (std::size_t i = 0; i < plan.sample.kept.size(); ++i) planned[plan.sample.kept[i]] = i;
    for (std::size_t output = 0; output < plan.parts.size(); ++output) {
        std::vector<double> beta(plan.sample.data.size(), 0.0);
        for (std::size_t p = 0; p < located.size(); ++p) {
            if (planned[located[p]] < beta.size()) {
                beta[planned[located[p]]] += model.expansion().coefficients(output, p);
            }
        }
        fit.learned.push_back(learned_of(model, plan.parts[output], output, beta));
    }
    return fit;
}

namespace {

std::vector<Report> reports_by_ranks(const Model& model, const Dataset& data,
                                     const Progress& progress, Communicator* ranks) {
    RestoredFit fit = restore_fit(model, data);
    Expansion double_expansion = model.expansion();
    double_expansion.points = double_expansion.points.to_double();
    const Rows x = fit.x.to_double();
    const Matrix<double> decisions =
        values_by_ranks(Evaluator(double_expansion, true), x, progress, ranks);
    const bool sphere = model.task() == Task::svdd;
    std::vector<double> diagonal;
    if (sphere) diagonal = squared_lengths_of(double_expansion, x, progress, ranks);
    const Subproblem& first = fit.plan.parts.front().problem;
    CurvatureTest curvature(model.expansion().kernel, fit.x, directions_of(first.task, first.bias));
    std::vector<Report> reports;
    for (std::size_t output = 0; output < fit.plan.parts.size(); ++output) {
        Part& part = fit.plan.parts[output];
        if (sphere) part.problem.diagonal = diagonal;
        std::vector<double> v;
        for (std::size_t i = 0; i < part.problem.size(); ++i) {
            const std::size_t row = part.rows[i];
            const double f = decisions(row, output) - model.expansion().bias[output];
            v.push_back(sphere ? (f + diagonal[i]) / 2 : f);
        }
        const Learned& learned = fit.learned[output];
        Report report = certify(part.problem, learned, v);
        report.name = model.reports()[output].name;
        report.status = model.reports()[output].status;
        if (separates_origin(model.task(), part.problem)) {
            report.bias = -1;
            report.rho = 1;
        }
        settle_bracket(report, curvature(part.rows, FitStatus::converged, progress),
                       reach_of(part.problem, learned));
        if (has_no_machine(report.status)) {
            const Rows own = part.rows.is_all() ? x : x.select(part.rows.some());
            prove_hulls(part.problem, model.expansion().kernel, own,
                        model.reports()[output].hull_weights)
                .tell(report);
        }
        reports.push_back(std::move(report));
    }
    return reports;
}

}  // namespace

std::vector<Report> recompute_reports(const Model& model, const Dataset& data,
                                      const Progress& progress) {
    Communicator& ranks = current_ranks();
    if (ranks.size() == 1 || held_rows() == HeldRows::own) {
        return reports_by_ranks(model, data, progress, nullptr);
    }
    const std::unique_ptr<Communicator> one = one_rank();
    const SpreadOver here(*one);
    return reports_by_ranks(model, data, progress, &ranks);
}

}  // namespace mercer
