// What can be asked of a fitted kernel PCA.
#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/compress/reduce.hpp"

namespace mercer {

void Components::check(const ModelParts& model, const std::string& place) const {
    const std::size_t outputs = model.expansion.outputs();
    const auto is = [](const Matrix<double>& array, std::size_t rows, std::size_t columns) {
        return array.rows() == rows && array.columns() == columns;
    };
    if (!is(eigenvalues, outputs, 3) || !is(moments, 1, 3) ||
        (centre && !is(*centre, 1, model.expansion.size()))) {
        throw InvalidInput(place +
                           ": the arrays eigenvalues, centre and moments of a kernel PCA must "
                           "have a row of 3 for each component, a number for each point, and 3 "
                           "numbers");
    }
    bool good = moments(0, 0) > 0;
    for (std::size_t j = 0; j < outputs; ++j) good = good && eigenvalues(j, 0) > 0;
    if (!good) {
        throw InvalidInput(place +
                           ": the eigenvalues and the sum of weights of a kernel PCA must "
                           "be above 0");
    }
}

std::shared_ptr<const Extra> Components::reduced(const std::shared_ptr<const Extra>& own,
                                                 const Model& model,
                                                 const Expansion& smaller) const {
    if (!centre || centre->columns() != model.expansion().size()) return own;
    Expansion mean = model.expansion();
    mean.coefficients = *centre;
    mean.bias = {0};
    const auto result = std::make_shared<Components>(*this);
    result->centre = nearest_coefficients(mean, smaller.points);
    return result;
}

std::optional<std::vector<double>> Components::answers(const Model& model, const Rows& x,
                                                       const Progress& progress) const {
    return PrincipalComponents(model).reconstruction_errors(x, 0, progress);
}

PrincipalComponents::PrincipalComponents(const Model& model) : model_(model) {
    const Components* found = model.extras().find<Components>();
    if (model.task() != Task::kpca || !found) {
        throw InvalidInput("kernel PCA: this is a model of the task " + task_name(model.task()) +
                           (found ? "" : " without components") + ", expected kpca");
    }
    for (std::size_t j = 0; j < found->eigenvalues.rows(); ++j) {
        eigenvalues_.push_back(found->eigenvalues(j, 0));
    }
    if (found->centre) centre_ = found->centre->values();
    weight_ = found->moments(0, 0);
    total_variance_ = found->moments(0, 1);
    centre_square_ = found->moments(0, 2);
}

std::vector<double> PrincipalComponents::variances() const {
    std::vector<double> result = eigenvalues_;
    for (double& value : result) value /= weight_;
    return result;
}

std::size_t PrincipalComponents::used(std::size_t components) const {
    return components == 0 ? size() : std::min(components, size());
}

Rows PrincipalComponents::scaled(const Rows& x) const {
    return model_.scaling().apply(rows_for(model_, x));
}

Matrix<double> PrincipalComponents::project(const Rows& x, const Progress& progress) const {
    return model_.decision(x, progress);
}

void PrincipalComponents::whiten(MatrixView<double> projections) const {
    const std::vector<double> variance = variances();
    for (std::size_t i = 0; i < projections.rows; ++i) {
        for (std::size_t j = 0; j < std::min(projections.columns, size()); ++j) {
            projections(i, j) /= std::sqrt(variance[j]);
        }
    }
}

std::vector<double> PrincipalComponents::reconstruction_errors(const Rows& x,
                                                               std::size_t components,
                                                               const Progress& progress) const {
    // What is left may be a small difference of large numbers.
    const Matrix<double> projections = Evaluator(model_.expansion(), true)(scaled(x), progress);
    return reconstruction_errors(x, projections.view(), components, progress);
}

std::vector<double> PrincipalComponents::reconstruction_errors(const Rows& x,
                                                               MatrixView<const double> projections,
                                                               std::size_t components,
                                                               const Progress& progress) const {
    // ‖Φ(x) − Φ̄‖² = k(x, x) − 2 <Φ̄, Φ(x)> + ‖Φ̄‖², less the squares of the projections.
    Expansion e = model_.expansion();
    e.coefficients = Matrix<double>(1, e.size());
    for (std::size_t i = 0; i < centre_.size(); ++i) e.coefficients(0, i) = -2 * centre_[i];
    e.bias = {centre_square_};
    e.self = 1;
    std::vector<double> result = Evaluator(e, true)(scaled(x), progress).values();
    const std::size_t count = std::min(used(components), projections.columns);
    for (std::size_t i = 0; i < result.size(); ++i) {
        for (const double p : projections.row(i).first(count)) result[i] -= p * p;
        result[i] = std::max(0.0, result[i]);
    }
    return result;
}

Matrix<double> PrincipalComponents::expand(MatrixView<const double> projections,
                                           std::size_t components) const {
    const std::size_t count = std::min(used(components), projections.columns);
    const Matrix<double>& alpha = model_.expansion().coefficients;
    Matrix<double> result(projections.rows, alpha.columns());
    parallel_ranges(alpha.columns(), 1024, [&](std::size_t first, std::size_t last) {
        const auto out = result.view().block(0, first, result.rows(), last - first);
        multiply(projections.block(0, 0, projections.rows, count),
                 alpha.view().block(0, first, count, last - first), out);
        if (centre_.empty()) return;
        for (std::size_t i = 0; i < out.rows; ++i) {
            for (std::size_t c = 0; c < out.columns; ++c) out(i, c) += centre_[first + c];
        }
    });
    return result;
}

FeatureVector PrincipalComponents::image(std::span<const double> projections,
                                         std::size_t components) const {
    Matrix<double> all = expand({projections.data(), 1, projections.size()}, components);
    return {model_.expansion().kernel, model_.expansion().points, std::move(all.values())};
}

}  // namespace mercer
