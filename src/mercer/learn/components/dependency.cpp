#include "mercer/learn/components/dependency.hpp"

#include <algorithm>
#include <memory>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/risk/ridge.hpp"

namespace mercer {
namespace {

const Model& outputs_of(const Model& model) {
    const Model* outputs = companion_of(model);
    if (model.task() != Task::dependency || !outputs) {
        throw InvalidInput("a model of the task " + task_name(model.task()) +
                           " holds no dependency between inputs and outputs; train one of the task "
                           "dependency");
    }
    return *outputs;
}

/// Rows of x worked on at once, so that no matrix of all rows by all candidates is made.
constexpr std::size_t block_rows = 1024;

double square(std::span<const double> v) {
    double sum = 0;
    for (const double value : v) sum += value * value;
    return sum;
}

/// Outputs to choose from: their components, and ‖Φ'(y) − Φ̄'‖².
struct Candidates {
    Matrix<double> components{};
    std::vector<double> squared_length{};
};

Candidates candidates_of(const PrincipalComponents& outputs, const Rows& y,
                         const Progress& progress) {
    Candidates c{.components = outputs.project(y, progress)};
    c.squared_length = outputs.reconstruction_errors(y, c.components.view(), 0, progress);
    for (std::size_t j = 0; j < y.size(); ++j) c.squared_length[j] += square(c.components.row(j));
    return c;
}

/// ‖p − q‖² + r for each row p and each candidate.
Matrix<double> distances_between(const Matrix<double>& p, const Candidates& c) {
    const std::size_t count = c.squared_length.size();
    Matrix<double> result(p.rows(), count);
    parallel_ranges(p.rows(), 64, [&](std::size_t first, std::size_t last) {
        multiply_transposed(p.view().block(first, 0, last - first, p.columns()),
                            c.components.view(),
                            result.view().block(first, 0, last - first, count));
        for (std::size_t i = first; i < last; ++i) {
            const double length = square(p.row(i));
            for (std::size_t j = 0; j < count; ++j) {
                result(i, j) = std::max(0.0, length - 2 * result(i, j) + c.squared_length[j]);
            }
        }
    });
    return result;
}

}  // namespace

namespace {

Model learn(const DependencySettings& s, const Dataset& x, const Dataset& y) {
    if (x.size() != y.size()) {
        throw InvalidInput("there are " + std::to_string(x.size()) + " rows of inputs and " +
                           std::to_string(y.size()) + " of outputs; they must come in pairs");
    }
    Dataset outputs = y;
    outputs.y = {};
    outputs.weights = x.weights;
    FitSettings of_outputs = s.common;
    of_outputs.kernel = s.output_kernel;
    of_outputs.scaling = {};
    of_outputs.double_precision = true;
    auto components = std::make_shared<const Model>(
        kernel_pca({.common = of_outputs, .components = s.components}).fit(outputs));
    const Matrix<double> targets = components->decision(y.x, s.common.progress);
    ModelParts model = ridge({.common = s.common, .lambda = s.lambda, .path = s.path})
                           .fit(x, targets.view())
                           .parts();
    model.task = Task::dependency;
    model.trained.numbers["components"] = static_cast<double>(s.components);
    for (std::size_t j = 0; j < model.reports.size(); ++j) {
        model.reports[j].name = "component " + std::to_string(j + 1);
        model.reports[j].figures["output_explained"] = components->report().figures.at("explained");
    }
    model.extras.set(Companion(std::move(components)));
    return Model(std::move(model));
}

}  // namespace

Model DependencyEstimation::fit(const Dataset& x, const Dataset& y) const {
    const auto fit_some = [&](const FitSettings& common, const std::vector<std::size_t>* rows) {
        DependencySettings own = settings_;
        own.common = common;
        return rows ? learn(own, x.select(*rows), y.select(*rows)) : learn(own, x, y);
    };
    return patient_fit_of(Task::dependency, settings_.common, x, fit_some);
}

Dependency::Dependency(const Model& model) : model_(model), outputs_(outputs_of(model)) {
    if (model.expansion().outputs() != outputs_.size()) {
        throw InvalidInput("the model predicts " + std::to_string(model.expansion().outputs()) +
                           " components of outputs that have " + std::to_string(outputs_.size()));
    }
}

Matrix<double> Dependency::components(const Rows& x, const Progress& progress) const {
    return model_.decision(x, progress);
}

Matrix<double> Dependency::squared_distances(const Rows& x, const Rows& y,
                                             const Progress& progress) const {
    return distances_between(components(x, progress), candidates_of(outputs_, y, progress));
}

NearestOutputs Dependency::nearest(const Rows& x, const Rows& candidates,
                                   const Progress& progress) const {
    if (candidates.size() == 0) throw InvalidInput("there is no candidate to choose from");
    const Candidates known = candidates_of(outputs_, candidates, progress);
    NearestOutputs result;
    std::vector<std::size_t> part;
    for (std::size_t first = 0; first < x.size(); first += part.size()) {
        part.resize(std::min(block_rows, x.size() - first));
        for (std::size_t i = 0; i < part.size(); ++i) part[i] = first + i;
        const double done = static_cast<double>(first) / static_cast<double>(x.size());
        if (!keep_going(progress, {"choosing outputs", done})) throw Cancelled();
        const Matrix<double> d = distances_between(components(x.select(part)), known);
        for (std::size_t i = 0; i < d.rows(); ++i) {
            const auto row = d.row(i);
            const auto least = std::ranges::min_element(row);
            result.positions.push_back(static_cast<std::size_t>(least - row.begin()));
            result.squared_distance.push_back(*least);
        }
    }
    return result;
}

std::vector<Preimage> Dependency::preimages(const Rows& x, const PreimageSettings& settings) const {
    const Expansion& e = outputs_.model().expansion();
    const PreimageFinder finder(e.kernel, e.points, settings);
    const Rows starts = e.points.select(nearest(x, e.points, settings.progress).positions);
    const Matrix<double> p = components(x, settings.progress);
    return finder.find(outputs_.expand(p.view()).view(), starts);
}

MachineEntry dependency_entry() {
    return {.task = Task::dependency,
            .name = "dependency",
            .family = "components",
            .learns = Learns::functions,
            .about = "from one feature space to another",
            .command = "depend"};
}

}  // namespace mercer
