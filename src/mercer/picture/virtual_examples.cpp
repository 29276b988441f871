#include "mercer/picture/transform.hpp"

#include <algorithm>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/learn/cells/cells.hpp"

namespace mercer {

Dataset with_virtual_examples(const Dataset& data, std::span<const NamedTransform> ways,
                              const Progress& progress) {
    data.check();
    require_numbers_only(data.x, "virtual examples");
    // All rows at once: putting one way after another would copy the first ones again and again.
    const std::size_t columns = data.columns(), rows = data.size();
    std::vector<float> single;
    std::vector<double> full;
    const bool in_double = data.x.is_double();
    const auto append = [&](const Rows& part) {
        const Rows dense = part.is_sparse() ? part.to_dense() : part;
        const std::size_t count = dense.size() * columns;
        if (in_double) {
            const double* from = dense.dense_view<double>().data;
            full.insert(full.end(), from, from + count);
        } else {
            const float* from = dense.dense_view<float>().data;
            single.insert(single.end(), from, from + count);
        }
    };
    (in_double ? full.reserve(rows * columns * (1 + ways.size()))
               : single.reserve(rows * columns * (1 + ways.size())));
    append(data.x);
    for (const NamedTransform& way : ways) append(transformed(data.x, way.transform, progress));
    Dataset result;
    result.x =
        in_double ? Rows::dense(std::move(full), columns) : Rows::dense(std::move(single), columns);
    result.feature_names = data.feature_names;
    result.roles = data.roles;
    result.y.names = data.y.names;
    for (std::size_t copy = 0; copy <= ways.size(); ++copy) {
        result.y.values.insert(result.y.values.end(), data.y.values.begin(), data.y.values.end());
        result.weights.insert(result.weights.end(), data.weights.begin(), data.weights.end());
    }
    return result;
}

Dataset support_rows(const Model& model, const Dataset& data) {
    require_one_machine(model, "the set of support vectors");
    std::vector<std::size_t> rows = model.origins();
    if (rows.size() != model.expansion().size()) {
        throw InvalidInput(
            "the model does not know which rows its vectors were; train it from the data");
    }
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (rows.empty()) throw InvalidInput("the model has no vectors to make examples of");
    if (rows.back() >= data.size() || data.columns() != model.columns()) {
        throw InvalidInput("the model uses row " + std::to_string(rows.back() + 1) + " of " +
                           std::to_string(model.columns()) + " columns; the data has " +
                           std::to_string(data.size()) + " rows of " +
                           std::to_string(data.columns()) + ": it is not what it was trained on");
    }
    return data.select(rows);
}

VirtualFit fit_virtual(const Machine& machine, const Dataset& data,
                       std::span<const NamedTransform> ways, const Progress& progress) {
    VirtualFit result;
    result.plain = machine.fit(data);
    if (result.plain.report().status == FitStatus::cancelled) return result;
    const Dataset support = support_rows(result.plain, data);
    result.support = support.size();
    const Dataset examples = with_virtual_examples(support, ways, progress);
    result.examples = examples.size();
    ModelParts parts = machine.fit(examples).parts();
    parts.origins.clear();  // they count rows that nobody else has
    result.model = Model(std::move(parts));
    return result;
}

}  // namespace mercer
