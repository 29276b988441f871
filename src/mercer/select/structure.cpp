#include "mercer/select/structure.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"
#include "mercer/feature/maps.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/select/cross_validation.hpp"
#include "mercer/theory/detail/margin_problem.hpp"

namespace mercer {
namespace {

constexpr Words families{std::pair{StructureFamily::degree, "degree"},
                         std::pair{StructureFamily::margin, "margin"},
                         std::pair{StructureFamily::components, "components"}};

class ComponentMachine {
   public:
    ComponentMachine(SvmSettings settings, std::size_t components)
        : settings_(std::move(settings)), components_(components) {}
    Task task() const { return settings_.task; }

    Model fit(const Dataset& data) const {
        const Scaling scaling = Scaling::fit(settings_.common.scaling, data.x);
        const Rows x = scaling.apply(data.x);
        const FeatureMap map =
            eigen_map(settings_.common.kernel, x, components_, data.feature_names);
        const Matrix<double> features = map(x);
        Dataset mapped = data;
        mapped.x = Rows::dense(features.values(), features.columns());
        mapped.feature_names.clear();
        SvmSettings plain = settings_;
        plain.common.kernel = linear();
        plain.common.scaling = {};
        ModelParts model = Svm(plain).fit(mapped).parts();
        const Matrix<double> w = weight_vectors(model.expansion);
        Expansion whole = map.expansion();
        Matrix<double> coefficients(w.rows(), whole.size());
        for (std::size_t c = 0; c < w.rows(); ++c) {
            for (std::size_t j = 0; j < w.columns(); ++j) {
                for (std::size_t i = 0; i < whole.size(); ++i) {
                    coefficients(c, i) += w(c, j) * whole.coefficients(j, i);
                }
            }
        }
        whole.coefficients = std::move(coefficients);
        whole.bias = model.expansion.bias;
        model.expansion = std::move(whole);
        model.origins.clear();
        model.columns = data.columns();
        model.feature_names = data.feature_names;
        model.roles = data.roles;
        model.scaling = scaling;
        return Model(std::move(model));
    }

   private:
    SvmSettings settings_;
    std::size_t components_;
};

/// (n + d choose d), as a double.
double monomials(double columns, double degree) {
    double count = 1;
    for (double i = 1; i <= degree; ++i) count *= (columns + i) / i;
    return count;
}

void check(const StructureSettings& s, const Dataset& data) {
    require_range("delta", s.delta, s.delta > 0 && s.delta < 1, "greater than 0 and less than 1");
    if (s.svm.task != Task::svc) {
        throw InvalidInput("structural risk is minimised over svc, not " + task_name(s.svm.task));
    }
    if (s.values.empty()) throw InvalidInput("the family has no levels: give it some values");
    for (std::size_t i = 0; i < s.values.size(); ++i) {
        const double v = s.values[i];
        const bool whole = v >= 1 && v == std::floor(v) && v <= 1e6;
        require_range(family_name(s.family), v,
                      s.family == StructureFamily::margin
                          ? v > 0
                          : whole && (s.family != StructureFamily::degree || v <= 100),
                      s.family == StructureFamily::margin   ? "greater than 0"
                      : s.family == StructureFamily::degree ? "a whole number from 1 to 100"
                                                            : "a whole number from 1");
        if (i > 0 && !(v > s.values[i - 1])) {
            throw InvalidInput("the values of a nested family must ascend, and " +
                               format_number(v) + " follows " + format_number(s.values[i - 1]));
        }
    }
    if (data.y.empty()) throw InvalidInput("structural risk needs labels, and the data has none");
    const std::size_t classes = classes_of(data.y).count();
    if (classes != 2) {
        throw InvalidInput("structural risk is that of two classes, and there are " +
                           std::to_string(classes));
    }
}

SvmSettings settings_of(const StructureSettings& s, double value) {
    SvmSettings svm = s.svm;
    if (s.family == StructureFamily::degree) {
        svm.common.kernel =
            polynomial({.degree = static_cast<int>(value), .gamma = s.gamma, .coef0 = 1});
    }
    if (s.family == StructureFamily::margin) svm.C = value;
    return svm;
}

Machine machine_of(const StructureSettings& s, double value) {
    if (s.family == StructureFamily::components) {
        return component_machine(s.svm, static_cast<std::size_t>(value));
    }
    return svm(settings_of(s, value));
}

double dimension_of(const StructureSettings& s, const Model& model, const Dataset& data,
                    double value) {
    switch (s.family) {
        case StructureFamily::degree: return monomials(static_cast<double>(data.columns()), value);
        case StructureFamily::components: return half_space_dimension(value);
        case StructureFamily::margin: break;
    }
    const MarginProblem p = margin_problems(model, data, s.svm.common.memory_bytes).front();
    const double columns =
        is_linear(model.expansion().kernel) ? static_cast<double>(data.columns()) : 0;
    const double radius = p.problem.bias ? smallest_radius(*p.k) : origin_radius(*p.k);
    return margin_dimension(radius, std::sqrt(std::max(0.0, p.squared_norm)), p.problem.bias,
                            columns)
        .value;
}

}  // namespace

std::string family_name(StructureFamily family) {
    return std::string(families.word(family));
}

StructureFamily family_named(std::string_view name) {
    return families.value(name, "family");
}

Machine component_machine(const SvmSettings& settings, std::size_t components) {
    return Machine(ComponentMachine(settings, components));
}

StructureChoice minimise_structural_risk(const StructureSettings& s, const Dataset& data) {
    check(s, data);
    StructureChoice choice{.family = s.family};
    const auto levels = static_cast<double>(s.values.size());
    for (const double value : s.values) {
        StructureLevel level{.value = value};
        const Machine machine = machine_of(s, value);
        const Model model = machine.fit(data);
        level.status = describe(model.report().status);
        level.training_error = 1 - score(Task::svc, model.predict_labels(data.x), data.y).accuracy;
        level.dimension = dimension_of(s, model, data, value);
        const RiskSample sample{.empirical = level.training_error,
                                .rows = static_cast<double>(data.size()),
                                .delta = s.delta / levels};
        level.bound = vc_risk(sample, std::max(level.dimension, 1e-9));
        level.confidence_term = level.bound.value - level.training_error;
        level.cv_error = 1 - cross_validate(machine, data, s.folds, s.seed).score.accuracy;
        choice.levels.push_back(std::move(level));
        const double done = static_cast<double>(choice.levels.size()) / levels;
        if (!keep_going(s.progress, {.task = "levels", .fraction = done})) throw Cancelled();
    }
    for (std::size_t i = 1; i < choice.levels.size(); ++i) {
        if (choice.levels[i].bound.value < choice.levels[choice.by_bound].bound.value) {
            choice.by_bound = i;
        }
        if (choice.levels[i].cv_error < choice.levels[choice.by_cross_validation].cv_error) {
            choice.by_cross_validation = i;
        }
    }
    return choice;
}

}  // namespace mercer
