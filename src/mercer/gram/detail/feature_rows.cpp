#include "mercer/gram/detail/feature_rows.hpp"

#include <algorithm>
#include <bit>
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

/// The different identities, ascending. Most are met again and again, and are found in a table
/// before anything is sorted.
std::vector<std::uint64_t> identities(const std::vector<Features>& features) {
    std::vector<std::uint64_t> all;
    std::vector<std::uint32_t> places(1024, 0);  // 1 + which of all; 0: none
    const auto find = [&](std::uint64_t identity) -> std::uint32_t& {
        std::size_t at = hash_number(identity) & (places.size() - 1);
        while (places[at] != 0 && all[places[at] - 1] != identity) {
            at = (at + 1) & (places.size() - 1);
        }
        return places[at];
    };
    for (const Features& row : features) {
        for (const Feature& feature : row) {
            std::uint32_t& place = find(feature.identity);
            if (place != 0) continue;
            if (all.size() == std::numeric_limits<std::uint32_t>::max() - 1) refuse_so_many();
            all.push_back(feature.identity);
            place = static_cast<std::uint32_t>(all.size());
            if (2 * all.size() < places.size()) continue;
            places.assign(4 * places.size(), 0);
            for (std::size_t k = 0; k < all.size(); ++k) {
                find(all[k]) = static_cast<std::uint32_t>(k + 1);
            }
        }
    }
    std::ranges::sort(all);
    return all;
}

/// Where identities stand in a list: in buckets by their highest bits, since most are hashes.
class Places {
   public:
    explicit Places(const std::vector<std::uint64_t>& list) : list_(list) {
        const auto wanted = static_cast<unsigned>(std::bit_width(list.size() | 1U));
        shift_ = 64 - std::min(wanted, 24U);
        starts_.assign((std::size_t{1} << (64 - shift_)) + 1, 0);
        for (const std::uint64_t identity : list) ++starts_[(identity >> shift_) + 1];
        for (std::size_t b = 1; b < starts_.size(); ++b) starts_[b] += starts_[b - 1];
    }

    /// The size of the list for one that is not there.
    std::size_t operator()(std::uint64_t identity) const {
        const std::size_t bucket = identity >> shift_;
        const auto first = list_.begin() + starts_[bucket];
        const auto last = list_.begin() + starts_[bucket + 1];
        const auto found = std::lower_bound(first, last, identity);
        return found != last && *found == identity ? static_cast<std::size_t>(found - list_.begin())
                                                   : list_.size();
    }

   private:
    const std::vector<std::uint64_t>& list_;
    unsigned shift_ = 63;
    std::vector<std::ptrdiff_t> starts_{};
};

/// Features whose identities are among `known`, then those among `more`, columns in that order.
Rows encode(const std::vector<Features>& features, const std::vector<std::uint64_t>& known,
            const std::vector<std::uint64_t>& more, const Rows& rows) {
    if (known.size() + more.size() > std::numeric_limits<std::uint32_t>::max()) refuse_so_many();
    std::vector<std::size_t> starts(features.size() + 1, 0);
    for (std::size_t i = 0; i < features.size(); ++i)
        starts[i + 1] = starts[i] + features[i].size();
    std::vector<std::uint32_t> index(starts.back());
    std::vector<double> values(starts.back());
    const Places known_place(known);
    const Places more_place(more);
    parallel_ranges(features.size(), grain, [&](std::size_t first, std::size_t last) {
        std::vector<std::pair<std::uint32_t, double>> late;
        for (std::size_t i = first; i < last; ++i) {
            std::size_t k = starts[i];
            late.clear();
            for (const Feature& feature : features[i]) {
                const std::size_t column = known_place(feature.identity);
                if (column < known.size()) {
                    index[k] = static_cast<std::uint32_t>(column);
                    values[k++] = feature.value;
                } else {
                    late.emplace_back(
                        static_cast<std::uint32_t>(known.size() + more_place(feature.identity)),
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
