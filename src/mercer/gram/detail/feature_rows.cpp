#include "mercer/gram/detail/feature_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

constexpr std::size_t grain = 16;  // rows a task

[[noreturn]] void refuse_so_many() {
    throw InvalidInput("there are more than 4294967295 different features in these rows");
}

std::vector<Features> all_features(const FeatureSource& source, const Rows& rows) {
    Matrix<double> numbers;
    const std::vector<Object> objects = objects_of(rows, source.object, numbers);
    const KernelNode& node = source.leaf.node();
    std::vector<Features> result(objects.size());
    parallel_ranges(objects.size(), grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            node.leaf->features(node, objects[i], result[i]);
            gather_features(result[i]);
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

/// The columns of the features of all rows, one after another: `column(i, identity)`, in the order
/// of the rows.
template <class Column>
std::vector<std::uint32_t> columns_of(const std::vector<Features>& features, Column column) {
    std::size_t count = 0;
    for (const Features& row : features) count += row.size();
    std::vector<std::uint32_t> result;
    result.reserve(count);
    for (const Features& row : features) {
        for (const Feature& feature : row) result.push_back(column(feature.identity));
    }
    return result;
}

/// Sparse rows of the features, each row's in the order of its columns.
Rows encode(const std::vector<Features>& features, const std::vector<std::uint32_t>& columns,
            std::size_t width, const Rows& rows) {
    std::vector<std::size_t> starts(features.size() + 1, 0);
    for (std::size_t i = 0; i < features.size(); ++i)
        starts[i + 1] = starts[i] + features[i].size();
    std::vector<std::uint32_t> index(starts.back());
    std::vector<double> values(starts.back());
    parallel_ranges(features.size(), grain, [&](std::size_t first, std::size_t last) {
        std::vector<std::uint64_t> keys;  // column, and place in the row
        for (std::size_t i = first; i < last; ++i) {
            keys.resize(features[i].size());
            for (std::size_t k = 0; k < keys.size(); ++k) {
                keys[k] = (std::uint64_t{columns[starts[i] + k]} << 32U) | k;
            }
            std::ranges::sort(keys);
            for (std::size_t k = 0; k < keys.size(); ++k) {
                index[starts[i] + k] = static_cast<std::uint32_t>(keys[k] >> 32U);
                values[starts[i] + k] = features[i][keys[k] & 0xffffffffU].value;
            }
        }
    });
    std::vector<std::size_t> origins(rows.size());
    for (std::size_t i = 0; i < origins.size(); ++i) origins[i] = rows.origin(i);
    return Rows::sparse(std::move(starts), std::move(index), std::move(values), width)
        .with_origins(std::move(origins));
}

/// Where columns go when those that are there more than once come first.
std::vector<std::uint32_t> shared_first(const std::vector<std::uint32_t>& columns,
                                        std::size_t width) {
    std::vector<std::uint8_t> times(width, 0);
    for (const std::uint32_t column : columns) {
        if (times[column] < 2) ++times[column];
    }
    std::vector<std::uint32_t> order(width);
    std::uint32_t next = 0;
    for (const int wanted : {2, 1}) {
        for (std::size_t c = 0; c < width; ++c) {
            if (times[c] == wanted) order[c] = next++;
        }
    }
    return order;
}

}  // namespace

/// Where the feature's column stands, or could be written.
std::size_t FeatureColumns::place(std::uint64_t identity) const {
    std::size_t at = hash_number(identity) & (places_.size() - 1);
    while (places_[at] != 0 && identities_[places_[at] - 1] != identity) {
        at = (at + 1) & (places_.size() - 1);
    }
    return at;
}

std::size_t FeatureColumns::find(std::uint64_t identity) const {
    const std::uint32_t column = places_[place(identity)];
    return column == 0 ? size() : column - 1;
}

std::uint32_t FeatureColumns::add(std::uint64_t identity) {
    const std::size_t at = place(identity);
    if (places_[at] != 0) return places_[at] - 1;
    if (size() == std::numeric_limits<std::uint32_t>::max() - 1) refuse_so_many();
    identities_.push_back(identity);
    places_[at] = static_cast<std::uint32_t>(size());
    const auto column = static_cast<std::uint32_t>(size() - 1);
    if (2 * size() < places_.size()) return column;
    places_.assign(4 * places_.size(), 0);
    for (std::uint32_t c = 0; c < size(); ++c) places_[place(identities_[c])] = c + 1;
    return column;
}

void FeatureColumns::renumber(std::span<const std::uint32_t> order) {
    for (std::uint32_t& column : places_) column = column == 0 ? 0 : order[column - 1] + 1;
    std::vector<std::uint64_t> sorted(size());
    for (std::size_t c = 0; c < size(); ++c) sorted[order[c]] = identities_[c];
    identities_ = std::move(sorted);
}

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
    auto found = std::make_shared<FeatureColumns>();
    auto which = columns_of(features, [&](std::uint64_t identity) { return found->add(identity); });
    const std::vector<std::uint32_t> order = shared_first(which, found->size());
    for (std::uint32_t& column : which) column = order[column];
    found->renumber(order);
    columns = std::move(found);
    return encode(features, which, columns->size(), rows);
}

Rows other_features(const FeatureSource& source, const Rows& rows, const FeatureColumns& columns,
                    bool& strange) {
    const std::vector<Features> features = all_features(source, rows);
    FeatureColumns more;
    const auto which = columns_of(features, [&](std::uint64_t identity) {
        const std::size_t known = columns.find(identity);
        if (known < columns.size()) return static_cast<std::uint32_t>(known);
        const std::size_t own = columns.size() + more.add(identity);
        if (own > std::numeric_limits<std::uint32_t>::max()) refuse_so_many();
        return static_cast<std::uint32_t>(own);
    });
    strange = more.size() > 0;
    return encode(features, which, columns.size() + more.size(), rows);
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
