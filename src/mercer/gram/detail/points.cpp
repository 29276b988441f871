#include "mercer/gram/detail/points.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/gram/detail/elementwise.hpp"

namespace mercer {
namespace {

/// Below this share of nonzeros products of sparse rows beat products of dense ones: measured,
/// 12 nonzeros in 300 columns (w8a) want the sparse path, 14 in 123 (a9a) do not.
constexpr double sparse_density = 0.07;

constexpr std::size_t grain = 1024;  // rows a task, when packing

double density(const Rows& rows) {
    const double cells = static_cast<double>(rows.size()) * static_cast<double>(rows.columns());
    return cells > 0 ? static_cast<double>(rows.nonzeros()) / cells : 1;
}

Rows apply_formulas(const std::vector<Formula>& formulas, const Rows& rows) {
    std::vector<double> values(rows.size() * formulas.size());
    parallel_ranges(rows.size(), grain, [&](std::size_t first, std::size_t last) {
        std::vector<double> row(rows.columns());
        for (std::size_t i = first; i < last; ++i) {
            rows.copy_row(i, row);
            for (std::size_t k = 0; k < formulas.size(); ++k) {
                const double value = formulas[k](row);
                if (!std::isfinite(value)) {
                    throw InvalidInput("the formula '" + formulas[k].text() +
                                       "' has no finite value at row " +
                                       std::to_string(rows.origin(i) + 1));
                }
                values[i * formulas.size() + k] = value;
            }
        }
    });
    return Rows::dense(std::move(values), formulas.size());
}

std::vector<double> column_means(const Rows& rows) {
    std::vector<double> mean(rows.columns(), 0.0);
    std::vector<double> row(rows.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += row[k];
    }
    for (double& value : mean) value /= static_cast<double>(std::max<std::size_t>(rows.size(), 1));
    return mean;
}

struct EntryRange {
    double smallest = 0;  ///< of the positive ones
    double largest = 0;
    bool negative = false;
};

template <class T>
EntryRange entry_range(MatrixView<const T> dense) {
    std::vector<EntryRange> parts((dense.rows + grain - 1) / grain);
    parallel_ranges(dense.rows, grain, [&](std::size_t first, std::size_t last) {
        EntryRange& part = parts[first / grain];
        for (std::size_t i = first; i < last; ++i) {
            for (const T entry : dense.row(i)) {
                const auto value = static_cast<double>(entry);
                if (value < 0) part.negative = true;
                if (value > 0 && (part.smallest == 0 || value < part.smallest)) {
                    part.smallest = value;
                }
                part.largest = std::max(part.largest, value);
            }
        }
    });
    EntryRange all;
    for (const EntryRange& part : parts) {
        all.negative = all.negative || part.negative;
        all.largest = std::max(all.largest, part.largest);
        if (part.smallest > 0 && (all.smallest == 0 || part.smallest < all.smallest)) {
            all.smallest = part.smallest;
        }
    }
    return all;
}

/// The unit for which every entry is a whole number of units from 0 to 255, or 0.
template <class T>
double byte_unit(MatrixView<const T> dense) {
    const EntryRange range = entry_range(dense);
    if (range.negative || range.smallest == 0) return 0;
    const auto fits = [&](double unit) {
        if (range.largest > 255.5 * unit) return false;
        std::atomic<bool> all{true};
        parallel_ranges(dense.rows, grain, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last && all; ++i) {
                for (const T entry : dense.row(i)) {
                    const auto value = static_cast<double>(entry);
                    const double whole = std::nearbyint(value / unit) * unit;
                    if (std::abs(value - whole) > 4e-7 * value) all = false;
                }
            }
        });
        return all.load();
    };
    for (const double unit : {1.0, 1.0 / 255, 1.0 / 256, 1.0 / 128, 1.0 / 16, range.smallest}) {
        if (fits(unit)) return unit;
    }
    return 0;
}

template <class T>
void measure_norms(PackedGroup<T>& packed) {
    const std::size_t n = packed.rows.size();
    packed.squared_norm.assign(n + padding, T{0});
    parallel_ranges(n, grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            double sum = 0;
            if (packed.dense.data != nullptr) {
                const T* x = packed.dense.row(i).data();
                const T* y = packed.right.row(i).data();
                for (std::size_t k = 0; k < packed.dense.columns; ++k) {
                    sum += static_cast<double>(x[k]) * static_cast<double>(y[k]);
                }
            } else if (packed.sparse.starts != nullptr) {
                for (const T v : packed.sparse.row_value(i)) {
                    sum += static_cast<double>(v) * static_cast<double>(v);
                }
            }
            packed.squared_norm[i] = static_cast<T>(sum);
            if (std::isfinite(packed.squared_norm[i])) continue;
            // Differences of infinities would pass for distances of 0 further on.
            throw InvalidInput("row " + std::to_string(packed.rows.origin(i) + 1) +
                               " is too long for " + (sizeof(T) == 4 ? "single" : "double") +
                               " precision, its squared length being infinite: scale the data" +
                               (sizeof(T) == 4 ? ", or compute in double precision" : ""));
        }
    });
}

template <class T>
bool pack_bytes(PackedGroup<T>& packed, double unit) {
    const std::size_t n = packed.dense.rows;
    const std::size_t width = packed.dense.columns;
    packed.byte_left.resize(n * width);
    std::atomic<bool> all{true};
    parallel_ranges(n, grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last && all; ++i) {
            const T* x = packed.dense.row(i).data();
            for (std::size_t k = 0; k < width; ++k) {
                const auto value = static_cast<double>(x[k]);
                const double whole = std::nearbyint(value / unit);
                const bool fits =
                    whole >= 0 && whole <= 255 && std::abs(value - whole * unit) <= 4e-7 * value;
                packed.byte_left[i * width + k] = static_cast<std::uint8_t>(fits ? whole : 0);
                if (!fits) all = false;
            }
        }
    });
    if (!all) {
        packed.byte_left.clear();
        return false;
    }
    packed.unit = unit;
    return true;
}

/// byte_right, byte_norm and byte_shift from byte_left.
template <class T>
void finish_bytes(PackedGroup<T>& packed, std::size_t n, std::size_t width) {
    packed.byte_right.resize(n * width);
    packed.byte_norm.assign(n + padding, 0);
    packed.byte_shift.assign(n, 0);
    parallel_ranges(n, grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            std::int32_t sum = 0;
            std::int32_t squares = 0;
            for (std::size_t k = i * width; k < (i + 1) * width; ++k) {
                const std::int32_t value = packed.byte_left[k];
                packed.byte_right[k] = static_cast<std::int8_t>(value - 128);
                sum += value;
                squares += value * value;
            }
            packed.byte_norm[i] = squares;
            packed.byte_shift[i] = 128 * sum;
        }
    });
}

template <class T>
void pack_dense(const GroupFormat& format, PackedGroup<T>& packed) {
    const Rows& rows = packed.rows;
    const std::size_t n = rows.size();
    const std::size_t width = rows.columns();
    const bool same_type = rows.is_double() == std::is_same_v<T, double>;
    if (!rows.is_sparse() && same_type && format.shift.empty()) {
        packed.dense = rows.dense_view<T>();
        return;
    }
    packed.own_dense.resize(n * width);
    parallel_ranges(n, grain, [&](std::size_t first, std::size_t last) {
        std::vector<double> row(width);
        for (std::size_t i = first; i < last; ++i) {
            rows.copy_row(i, row);
            T* out = packed.own_dense.data() + i * width;
            for (std::size_t k = 0; k < width; ++k) {
                out[k] = static_cast<T>(format.shift.empty() ? row[k] : row[k] - format.shift[k]);
            }
        }
    });
    packed.dense = {packed.own_dense.data(), n, width};
}

template <class T>
void pack_right(const Group& group, PackedGroup<T>& packed) {
    if (group.form.rows() == 0) {
        packed.right = packed.dense;
        return;
    }
    const std::size_t n = packed.dense.rows;
    const std::size_t width = group.width;
    packed.own_right.resize(n * width);
    parallel_ranges(n, grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            for (std::size_t k = 0; k < width; ++k) {
                double sum = 0;  // A is symmetric, so row k of A serves as its column
                for (std::size_t m = 0; m < width; ++m) {
                    sum += group.form(k, m) * static_cast<double>(packed.dense(i, m));
                }
                packed.own_right[i * width + k] = static_cast<T>(sum);
            }
        }
    });
    packed.right = {packed.own_right.data(), n, width};
}

template <class T>
void pack_panels(const Group& group, PackedGroup<T>& packed) {
    const bool products = (group.dots || group.distances) && packed.unit == 0;
    if (products || group.columnwise) packed.panels = Panels<T>(packed.right);
}

template <class T>
void pack_sparse(PackedGroup<T>& packed) {
    const bool same_type = packed.rows.is_double() == std::is_same_v<T, double>;
    Rows& rows = packed.rows;
    if (!rows.is_sparse()) rows = rows.to_sparse();
    if (!same_type) rows = std::is_same_v<T, double> ? rows.to_double() : rows.to_float();
    packed.sparse = rows.sparse_view<T>();
}

template <class T>
std::size_t shared_columns(const SparseView<T>& rows) {
    std::vector<bool> met(rows.columns, false);
    std::size_t shared = 0;
    for (std::size_t k = rows.starts[0]; k < rows.starts[rows.rows]; ++k) {
        const std::size_t column = rows.index[k];
        if (met[column]) shared = std::max(shared, column + 1);
        met[column] = true;
    }
    return shared;
}

template <class T>
void gather_sparse(const PackedGroup<T>& from, std::span<const std::size_t> positions,
                   PackedGroup<T>& to) {
    to.own_starts.assign(1, 0);
    for (const std::size_t i : positions) {
        const auto index = from.sparse.row_index(i);
        const auto value = from.sparse.row_value(i);
        to.own_index.insert(to.own_index.end(), index.begin(), index.end());
        to.own_values.insert(to.own_values.end(), value.begin(), value.end());
        to.own_starts.push_back(to.own_index.size());
    }
    to.sparse = {positions.size(), from.sparse.columns, to.own_starts.data(), to.own_index.data(),
                 to.own_values.data()};
}

template <class T>
void gather_rows(MatrixView<const T> from, std::span<const std::size_t> positions,
                 std::vector<T>& own, MatrixView<const T>& to) {
    own.resize(positions.size() * from.columns);
    for (std::size_t r = 0; r < positions.size(); ++r) {
        std::ranges::copy(from.row(positions[r]),
                          own.begin() + static_cast<std::ptrdiff_t>(r * from.columns));
    }
    to = {own.data(), positions.size(), from.columns};
}

/// Nothing but which rows they were, for messages: whoever reads rows themselves has prepared them.
Rows named_rows(const Rows& from, std::span<const std::size_t> positions) {
    std::vector<std::size_t> origins;
    for (const std::size_t i : positions) origins.push_back(from.origin(i));
    std::vector<std::size_t> starts(positions.size() + 1, 0);
    return Rows::sparse(std::move(starts), {}, std::vector<float>(), 0)
        .with_origins(std::move(origins));
}

template <class T>
void gather_bytes(const PackedGroup<T>& from, std::span<const std::size_t> positions,
                  bool as_columns, PackedGroup<T>& to) {
    const std::size_t width = from.dense.columns;
    to.unit = from.unit;
    to.byte_norm.assign(positions.size() + padding, 0);
    to.byte_shift.resize(positions.size());
    to.byte_left.reserve(positions.size() * width);
    if (as_columns) to.byte_right.reserve(positions.size() * width);
    for (std::size_t r = 0; r < positions.size(); ++r) {
        const auto begin = static_cast<std::ptrdiff_t>(positions[r] * width);
        const auto end = begin + static_cast<std::ptrdiff_t>(width);
        to.byte_left.insert(to.byte_left.end(), from.byte_left.begin() + begin,
                            from.byte_left.begin() + end);
        if (as_columns) {
            to.byte_right.insert(to.byte_right.end(), from.byte_right.begin() + begin,
                                 from.byte_right.begin() + end);
        }
        to.byte_norm[r] = from.byte_norm[positions[r]];
        to.byte_shift[r] = from.byte_shift[positions[r]];
    }
}

}  // namespace

DerivedRows derive(const Group& group, const Rows& rows,
                   std::shared_ptr<const FeatureColumns>& columns) {
    DerivedRows derived{rows};
    for (const Group::Step& step : group.steps) {
        Rows& now = derived.rows;
        if (!step.features.empty()) {
            const FeatureSource source{step.features[0], group.objects.front().name, step.unary};
            now = columns == nullptr ? reference_features(source, now, columns)
                                     : other_features(source, now, *columns, derived.strange);
        } else if (!step.formulas.empty()) {
            now = apply_formulas(step.formulas, now);
        } else {
            now = now.select_columns(step.columns);
        }
    }
    return derived;
}

template <class T>
GroupFormat choose_format(const Group& group, const Rows& derived) {
    GroupFormat format;
    const bool products = group.dots || group.distances;
    format.sparse = group.features || (derived.is_sparse() && group.width >= short_row &&
                                       group.form.rows() == 0 && density(derived) < sparse_density);
    if (format.sparse || group.form.rows() != 0) return format;
    if constexpr (std::is_same_v<T, float>) {
        // The sums of bytes must fit 32 bits: 4 × 255² × width < 2³¹.
        if (products && group.width >= short_row && group.width <= 8000 &&
            byte_products_pay(group.width)) {
            PackedGroup<float> packed;
            packed.rows = derived;
            pack_dense(format, packed);
            format.unit = byte_unit(packed.dense);
            if (format.unit > 0) return format;
        }
    }
    // Differences of single precision rows are as exact as the rows; everything else gains.
    const bool gains = group.distances || (std::is_same_v<T, float> && derived.is_double());
    if (gains && !group.placed && !group.raw) format.shift = column_means(derived);
    return format;
}

template <class T>
PackedGroup<T> pack(const Group& group, const GroupFormat& format, DerivedRows derived) {
    PackedGroup<T> packed;
    packed.rows = std::move(derived.rows);
    if (derived.strange) packed.strange = std::make_shared<const char>();
    if (format.sparse) {
        pack_sparse(packed);
        if (group.features) packed.shared = shared_columns(packed.sparse);
    } else if (group.dots || group.distances || group.columnwise) {
        pack_dense(format, packed);
        pack_right(group, packed);
        if (format.unit > 0 && pack_bytes(packed, format.unit)) {
            finish_bytes(packed, packed.dense.rows, packed.dense.columns);
        }
        pack_panels(group, packed);
    }
    if (group.dots || group.distances) measure_norms(packed);
    return packed;
}

template <class T>
PackedGroup<T> pack_plainly(DerivedRows derived) {
    PackedGroup<T> packed;
    packed.rows = std::move(derived.rows);
    if (derived.strange) packed.strange = std::make_shared<const char>();
    if (packed.rows.is_sparse()) {
        pack_sparse(packed);
    } else {
        pack_dense({}, packed);
        packed.right = packed.dense;
    }
    measure_norms(packed);
    return packed;
}

template <class T>
PackedGroup<T> gather(const Group& group, const PackedGroup<T>& from,
                      std::span<const std::size_t> positions, Use use) {
    PackedGroup<T> to;
    to.strange = from.strange;
    if (group.raw) to.rows = named_rows(from.rows, positions);
    if (from.sparse.starts != nullptr) {
        gather_sparse(from, positions, to);
    } else if (from.dense.columns > 0) {
        if (from.dense.data == nullptr || (use.among && from.unit > 0 && !group.columnwise)) {
            to.dense = {nullptr, positions.size(), from.dense.columns};
        } else {
            gather_rows(from.dense, positions, to.own_dense, to.dense);
        }
        to.right = to.dense;
        if (use.as_columns && group.form.rows() != 0) {
            gather_rows(from.right, positions, to.own_right, to.right);
        }
        if (from.unit > 0) gather_bytes(from, positions, use.as_columns, to);
        if (use.as_columns && !use.plain && to.dense.data != nullptr) pack_panels(group, to);
    }
    if (!from.squared_norm.empty()) {
        to.squared_norm.assign(positions.size() + padding, T{0});
        for (std::size_t r = 0; r < positions.size(); ++r) {
            to.squared_norm[r] = from.squared_norm[positions[r]];
        }
    }
    return to;
}

template GroupFormat choose_format<float>(const Group&, const Rows&);
template GroupFormat choose_format<double>(const Group&, const Rows&);
template PackedGroup<float> pack(const Group&, const GroupFormat&, DerivedRows);
template PackedGroup<double> pack(const Group&, const GroupFormat&, DerivedRows);
template PackedGroup<float> pack_plainly(DerivedRows);
template PackedGroup<double> pack_plainly(DerivedRows);
template PackedGroup<float> gather(const Group&, const PackedGroup<float>&,
                                   std::span<const std::size_t>, Use);
template PackedGroup<double> gather(const Group&, const PackedGroup<double>&,
                                    std::span<const std::size_t>, Use);

}  // namespace mercer
