#include "mercer/gram/detail/feature_rows.hpp"

#include <algorithm>
#include <limits>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

constexpr std::size_t grain = 16;  // rows a task

std::vector<Features> all_features(const FeatureSource& source, const Rows& rows) {
    Matrix<double> numbers;
    const std::vector<Object> objects = objects_of(rows, source.object, numbers);
    const KernelNode& node = source.leaf.node();
    std::vector<Features> result(objects.size());
    parallel_ranges(objects.size(), grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            node.leaf->features(node, objects[i], result[i]);
            collect_features(result[i]);
            if (source.unary) spell_out(result[i]);
            for (const Feature& feature : result[i]) {
                if (std::isfinite(feature.value)) continue;
                throw InvalidInput("the kernel " + quoted(source.leaf.text()) +
                                   " has a feature of row " + std::to_string(rows.origin(i) + 1) +
                                   " that is not finite");
            }
        }
    });
    return result;
}

std::vector<std::uint64_t> identities(const std::vector<Features>& features) {
    std::size_t count = 0;
    for (const Features& row : features) count += row.size();
    std::vector<std::uint64_t> all;
    all.reserve(count);
    for (const Features& row : features) {
        for (const Feature& feature : row) all.push_back(feature.identity);
    }
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    return all;
}

/// Features whose identities are among `known`, then those among `more`, columns in that order.
Rows encode(const std::vector<Features>& features, const std::vector<std::uint64_t>& known,
            const std::vector<std::uint64_t>& more, const Rows& rows) {
    if (known.size() + more.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw InvalidInput("there are more than 4294967295 different features in these rows");
    }
    std::vector<std::size_t> starts(features.size() + 1, 0);
    for (std::size_t i = 0; i < features.size(); ++i)
        starts[i + 1] = starts[i] + features[i].size();
    std::vector<std::uint32_t> index(starts.back());
    std::vector<double> values(starts.back());
    const auto place = [](const std::vector<std::uint64_t>& list, std::uint64_t identity) {
        const auto found = std::ranges::lower_bound(list, identity);
        return found != list.end() && *found == identity
                   ? static_cast<std::size_t>(found - list.begin())
                   : list.size();
    };
    parallel_ranges(features.size(), grain, [&](std::size_t first, std::size_t last) {
        std::vector<std::pair<std::uint32_t, double>> late;
        for (std::size_t i = first; i < last; ++i) {
            std::size_t k = starts[i];
            late.clear();
            for (const Feature& feature : features[i]) {
                const std::size_t column = place(known, feature.identity);
                if (column < known.size()) {
                    index[k] = static_cast<std::uint32_t>(column);
                    values[k++] = feature.value;
                } else {
                    late.emplace_back(
                        static_cast<std::uint32_t>(known.size() + place(more, feature.identity)),
                        feature.value);
                }
            }
            for (const auto& [column, value] : late) {
                index[k] = column;
                values[k++] = value;
            }
        }
    });
    std::vector<std::size_t> origins(rows.size());
    for (std::size_t i = 0; i < origins.size(); ++i) origins[i] = rows.origin(i);
    return Rows::sparse(std::move(starts), std::move(index), std::move(values),
                        known.size() + more.size())
        .with_origins(std::move(origins));
}

}  // namespace

void spell_out(Features& features) {
    Features ones;
    for (const Feature& feature : features) {
        for (std::uint64_t k = 1; static_cast<double>(k) <= feature.value; ++k) {
            ones.push_back({hash_together(feature.identity, k), 1});
        }
    }
    features = std::move(ones);
    collect_features(features);
}

Rows reference_features(const FeatureSource& source, const Rows& rows,
                        std::shared_ptr<const FeatureColumns>& columns) {
    const std::vector<Features> features = all_features(source, rows);
    columns = std::make_shared<const FeatureColumns>(FeatureColumns{identities(features)});
    return encode(features, columns->known, {}, rows);
}

Rows other_features(const FeatureSource& source, const Rows& rows, const FeatureColumns& columns,
                    bool& strange) {
    const std::vector<Features> features = all_features(source, rows);
    std::vector<std::uint64_t> more;
    std::ranges::set_difference(identities(features), columns.known, std::back_inserter(more));
    strange = !more.empty();
    return encode(features, columns.known, more, rows);
}

std::vector<Object> objects_of(const Rows& rows, const std::string& object,
                               Matrix<double>& numbers) {
    std::vector<Object> result;
    result.reserve(rows.size());
    if (object.empty()) {
        numbers = Matrix<double>(rows.size(), rows.columns());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows.copy_row(i, numbers.row(i));
            result.emplace_back(std::span<const double>(numbers.row(i)));
        }
        return result;
    }
    const ObjectColumn* column = rows.object(object);
    if (column == nullptr) {
        throw InvalidInput("there is no column " + quoted(object) +
                           " of texts or graphs in these rows, which the kernel reads");
    }
    for (std::size_t i = 0; i < rows.size(); ++i) result.push_back(column->at(i));
    return result;
}

}  // namespace mercer
