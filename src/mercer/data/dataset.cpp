#include "mercer/data/dataset.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <type_traits>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/memory.hpp"

namespace mercer {
namespace {

/// The different labels in the order of `less`, and for each row where its label stands there.
template <class Key, class Less>
std::vector<Key> number_classes(const std::vector<Key>& keys, std::vector<std::int32_t>& index,
                                Less less) {
    std::vector<Key> classes = keys;
    std::sort(classes.begin(), classes.end(), less);
    const auto same = [&](const Key& a, const Key& b) { return !less(a, b) && !less(b, a); };
    classes.erase(std::unique(classes.begin(), classes.end(), same), classes.end());
    index.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto found = std::lower_bound(classes.begin(), classes.end(), keys[i], less);
        index[i] = static_cast<std::int32_t>(found - classes.begin());
    }
    return classes;
}

/// Position in `names`, checked because a Labels may have been put together by hand.
std::size_t name_position(const Labels& labels, std::size_t i) {
    const double value = labels.values.at(i);
    if (!(value >= 0) || value >= static_cast<double>(labels.names.size()) ||
        value != std::floor(value)) {
        throw InvalidInput("label " + format_number(value) + " of row " + std::to_string(i) +
                           " is not a position among " + std::to_string(labels.names.size()) +
                           " class names");
    }
    return static_cast<std::size_t>(value);
}

Classes text_classes(const Labels& labels) {
    // natural_less may call different spellings equal ("01" and "1"); a class is its spelling.
    const auto less = [&](std::size_t a, std::size_t b) {
        const std::string& left = labels.names[a];
        const std::string& right = labels.names[b];
        if (natural_less(left, right)) return true;
        return !natural_less(right, left) && left < right;
    };
    std::vector<std::size_t> positions(labels.size());
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = name_position(labels, i);
    Classes classes;
    for (const std::size_t position : number_classes(positions, classes.index, less)) {
        classes.names.push_back(labels.names[position]);
    }
    return classes;
}

template <class T>
void add_dense(MatrixView<const T> view, ColumnMoments& moments) {
    // At most 64 partial sums, cut by the number of rows alone, added in order.
    const std::size_t d = view.columns;
    const std::size_t grain = std::max<std::size_t>(1024, (view.rows + 63) / 64);
    const std::size_t tasks = (view.rows + grain - 1) / grain;
    std::vector<double> partial(tasks * d * 2, 0.0);
    parallel_for(tasks, [&](std::size_t task) {
        double* sum = partial.data() + task * d * 2;
        double* square = sum + d;
        for (std::size_t i = task * grain; i < std::min(view.rows, (task + 1) * grain); ++i) {
            const T* row = view.data + i * view.stride;
            for (std::size_t j = 0; j < d; ++j) {
                const auto value = static_cast<double>(row[j]);
                sum[j] += value;
                square[j] += value * value;
            }
        }
    });
    for (std::size_t task = 0; task < tasks; ++task) {
        const double* sum = partial.data() + task * d * 2;
        for (std::size_t j = 0; j < d; ++j) {
            moments.sum[j] += sum[j];
            moments.sum_of_squares[j] += sum[d + j];
        }
    }
}

/// One thread: the partial sums of many tasks would cost more than the few entries when there are
/// many columns.
template <class T>
void add_sparse(SparseView<T> view, ColumnMoments& moments) {
    for (std::size_t k = 0; k < view.nonzeros(); ++k) {
        const auto value = static_cast<double>(view.value[k]);
        moments.sum[view.index[k]] += value;
        moments.sum_of_squares[view.index[k]] += value * value;
    }
}

}  // namespace

std::string Labels::text(std::size_t i) const {
    return are_text() ? names[name_position(*this, i)] : format_number(values.at(i));
}

Labels Labels::select(std::span<const std::size_t> positions) const {
    Labels result;
    result.names = names;
    if (empty()) return result;
    result.values.reserve(positions.size());
    for (const std::size_t position : positions) {
        if (position >= values.size()) {
            throw InvalidInput("label " + std::to_string(position) + " is not there: positions " +
                               "count from 0 and must be below " + std::to_string(values.size()));
        }
        result.values.push_back(values[position]);
    }
    return result;
}

Classes classes_of(const Labels& labels) {
    if (labels.are_text()) return text_classes(labels);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (std::isfinite(labels.values[i])) continue;
        throw InvalidInput("label of row " + std::to_string(i) + " is not a finite number");
    }
    Classes classes;
    classes.values = number_classes(labels.values, classes.index, std::less<>());
    for (const double value : classes.values) classes.names.push_back(format_number(value));
    return classes;
}

Dataset Dataset::select(std::span<const std::size_t> positions) const {
    Dataset result;
    result.x = x.select(positions);
    result.y = y.select(positions);
    if (!weights.empty()) {
        check();
        result.weights.reserve(positions.size());
        for (const std::size_t position : positions) result.weights.push_back(weights[position]);
    }
    result.feature_names = feature_names;
    result.roles = roles;
    result.table = table;
    return result;
}

void Dataset::check() const {
    const auto same_length = [](std::size_t found, std::size_t expected, const char* what,
                                const char* unit) {
        if (found == 0 || found == expected) return;
        throw InvalidInput(std::to_string(found) + " " + what + " for " + std::to_string(expected) +
                           " " + unit);
    };
    same_length(y.size(), size(), "labels", "rows");
    same_length(weights.size(), size(), "weights", "rows");
    same_length(feature_names.size(), columns(), "feature names", "columns");
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (std::isfinite(weights[i]) && weights[i] >= 0) continue;
        throw InvalidInput("weight " + format_number(weights[i]) + " of row " + std::to_string(i) +
                           ": weights must be finite and not negative");
    }
}

KnownColumns columns_of(const Dataset& data) {
    return {.features = data.columns(),
            .names = data.feature_names,
            .roles = data.roles,
            .objects = data.x.object_names(),
            .text_labels = data.y.are_text()};
}

ColumnMoments column_moments(const Rows& rows) {
    check_columns(rows, 32, "means of");
    ColumnMoments moments;
    moments.rows = rows.size();
    moments.sum.assign(rows.columns(), 0.0);
    moments.sum_of_squares.assign(rows.columns(), 0.0);
    if (rows.is_sparse()) {
        rows.is_double() ? add_sparse(rows.sparse_view<double>(), moments)
                         : add_sparse(rows.sparse_view<float>(), moments);
    } else {
        rows.is_double() ? add_dense(rows.dense_view<double>(), moments)
                         : add_dense(rows.dense_view<float>(), moments);
    }
    return moments;
}

}  // namespace mercer
