#include "mercer/theory/margin.hpp"

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/learn/cells/cells.hpp"

namespace mercer {

std::vector<SoftMargin> equivalent_settings(const Model& model) {
    if (model.task() != Task::svc && model.task() != Task::nu_svc) {
        throw InvalidInput("nu and C are settings of nu-svc and svc; this is a model of the task " +
                           task_name(model.task()));
    }
    require_one_machine(model, "the nu that belongs to C");
    if (model.reports().size() != model.expansion().outputs() ||
        (model.task() == Task::svc && !(model.trained().C > 0))) {
        throw InvalidInput(
            "the model does not say what it was trained with (files of LIBSVM do not)");
    }
    if (std::ranges::any_of(model.trained().class_weights, [](double w) { return w != 1; })) {
        throw InvalidInput("the classes of the model are weighted: there is no single C or nu");
    }
    std::vector<SoftMargin> result;
    for (std::size_t output = 0; output < model.reports().size(); ++output) {
        const Report& report = model.reports()[output];
        SoftMargin s{.name = report.name};
        if (model.task() == Task::nu_svc) {
            if (!(report.rho > 0)) {
                throw InvalidInput(
                    "the machine has no margin (rho = 0), and no C leads to it: take a smaller nu");
            }
            s.nu = model.trained().nu;
            s.rho = report.rho;
            s.C = 1 / report.rho;
        } else {
            double alphas = 0;
            for (const double b : model.expansion().coefficients.row(output)) alphas += std::abs(b);
            s.C = model.trained().C;
            s.rho = 1 / s.C;
            s.nu = alphas / (s.C * static_cast<double>(report.rows));
        }
        result.push_back(std::move(s));
    }
    return result;
}

}  // namespace mercer
