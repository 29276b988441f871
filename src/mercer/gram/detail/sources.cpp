#include "mercer/gram/detail/sources.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/detail/row_pairs.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

template <class T>
bool have_bytes(const PackedGroup<T>& x, const PackedGroup<T>& z) {
    return x.unit > 0 && x.unit == z.unit && !z.byte_right.empty();
}

template <class T>
SourceTile<T> byte_products(const PackedGroup<T>& x, const PackedGroup<T>& z, const Window<T>& w,
                            T* scratch, std::size_t stride) {
    static_assert(sizeof(float) == sizeof(std::int32_t));
    auto* integers = reinterpret_cast<std::int32_t*>(scratch);
    const std::size_t width = x.dense.columns;
    multiply_transposed(
        MatrixView<const std::uint8_t>(x.byte_left.data() + w.first_x * width, w.rows, width),
        MatrixView<const std::int8_t>(z.byte_right.data() + w.first_z * width, w.columns, width),
        MatrixView<std::int32_t>(integers, w.rows, w.columns, stride));
    SourceTile<T> tile;
    tile.stride = stride;
    tile.integers = integers;
    tile.x_shift = x.byte_shift.data() + w.first_x;
    tile.x_norm = x.byte_norm.data() + w.first_x;
    tile.z_norm = z.byte_norm.data() + w.first_z;
    tile.unit_squared = x.unit * x.unit;
    return tile;
}

template <class T>
SourceTile<T> products(const PackedGroup<T>& x, const PackedGroup<T>& z, const Window<T>& w,
                       T* scratch, std::size_t stride) {
    if constexpr (std::is_same_v<T, float>) {
        if (have_bytes(x, z)) return byte_products(x, z, w, scratch, stride);
    }
    const MatrixView<T> out(scratch, w.rows, w.columns, stride);
    if (x.sparse.starts != nullptr) {
        const bool same = &x == &z;
        sparse_products(x.sparse, w.first_x, z.sparse, w.first_z,
                        same ? x.shared : std::numeric_limits<std::size_t>::max(), out);
        for (std::size_t i = 0; same && i < w.rows; ++i) {
            const std::size_t j = w.first_x + i - w.first_z;  // huge where it is before z
            if (j < w.columns) out(i, j) = x.squared_norm[w.first_x + i];
        }
    } else {
        const auto left = x.dense.block(w.first_x, 0, w.rows, x.dense.columns);
        if (z.panels.columns == x.dense.columns) {
            panel_products(left, z.panels, w.first_z, out);
        } else {  // rows that are no bytes against a reference that is
            multiply_transposed(left, z.right.block(w.first_z, 0, w.columns, z.right.columns), out);
        }
    }
    return {.values = scratch, .stride = stride};
}

/// One column's part of a sum over columns; `anova` has its own recursion.
double term(const Source& source, double a, double b) {
    const double gap = a - b;
    switch (source.kind) {
        case SourceKind::squared: return gap * gap;
        case SourceKind::absolute: return std::abs(gap);
        case SourceKind::intersection: return std::min(a, b);
        case SourceKind::chi2: return a + b == 0 ? 0 : gap * gap / (a + b);
        case SourceKind::sine: {
            const double turns = gap / source.a;
            const double s = std::sin(std::numbers::pi * (turns - std::round(turns)));
            return s * s;
        }
        default: return std::exp(-source.a * gap * gap);
    }
}

/// Calls visit(x_k, z_k) for every column where one of two sparse rows is not zero; returns how
/// many.
template <class T, class Visit>
std::size_t merge(const SparseView<T>& x, std::size_t i, const SparseView<T>& z, std::size_t j,
                  Visit visit) {
    const auto xi = x.row_index(i);
    const auto zj = z.row_index(j);
    const auto xv = x.row_value(i);
    const auto zv = z.row_value(j);
    std::size_t a = 0;
    std::size_t b = 0;
    std::size_t count = 0;
    for (; a < xi.size() || b < zj.size(); ++count) {
        const bool take_x = b == zj.size() || (a < xi.size() && xi[a] <= zj[b]);
        const bool take_z = a == xi.size() || (b < zj.size() && zj[b] <= xi[a]);
        visit(take_x ? static_cast<double>(xv[a]) : 0.0, take_z ? static_cast<double>(zv[b]) : 0.0);
        a += take_x ? 1 : 0;
        b += take_z ? 1 : 0;
    }
    return count;
}

/// E_degree when `equal` further columns hold equal entries, each a factor (1 + t) of the
/// generating polynomial.
double anova_with_equal_columns(std::vector<double>& e, std::size_t equal) {
    const std::size_t degree = e.size() - 1;
    double result = 0;
    double binomial = 1;  // C(equal, m)
    for (std::size_t m = 0; m <= degree; ++m) {
        result += e[degree - m] * binomial;
        binomial *= m < equal ? static_cast<double>(equal - m) / static_cast<double>(m + 1) : 0;
    }
    return result;
}

/// Σ min(x_k, z_k): only where both rows have an entry.
template <class T>
double common_part(const SparseView<T>& x, std::size_t i, const SparseView<T>& z, std::size_t j) {
    const std::uint32_t* a = x.index + x.starts[i];
    const std::uint32_t* const a_end = x.index + x.starts[i + 1];
    const std::uint32_t* b = z.index + z.starts[j];
    const std::uint32_t* const b_end = z.index + z.starts[j + 1];
    const T* const xv = x.value + x.starts[i];
    const T* const zv = z.value + z.starts[j];
    const std::uint32_t* const a_first = a;
    const std::uint32_t* const b_first = b;
    double sum = 0;
    while (a != a_end && b != b_end) {
        const std::uint32_t p = *a;
        const std::uint32_t q = *b;
        if (p == q) sum += static_cast<double>(std::min(xv[a - a_first], zv[b - b_first]));
        a += p <= q ? 1 : 0;
        b += q <= p ? 1 : 0;
    }
    return sum;
}

template <class T>
double sparse_columnwise(const Source& source, const SparseView<T>& x, std::size_t i,
                         const SparseView<T>& z, std::size_t j) {
    if (source.kind == SourceKind::intersection) return common_part(x, i, z, j);
    if (source.kind != SourceKind::anova) {
        double sum = 0;  // every other term is 0 where both entries are
        merge(x, i, z, j, [&](double a, double b) { sum += term(source, a, b); });
        return sum;
    }
    std::vector<double> e(static_cast<std::size_t>(source.b) + 1, 0.0);
    e[0] = 1;
    const std::size_t seen = merge(x, i, z, j, [&](double a, double b) {
        const double g = term(source, a, b);
        for (std::size_t m = e.size() - 1; m > 0; --m) e[m] += g * e[m - 1];
    });
    return anova_with_equal_columns(e, x.columns - seen);
}

template <class T>
void columnwise(const Source& source, const PackedGroup<T>& x, const PackedGroup<T>& z,
                const Window<T>& w, MatrixView<T> out) {
    if (x.sparse.starts == nullptr) {
        const auto left = x.dense.block(w.first_x, 0, w.rows, x.dense.columns);
        if (source.kind == SourceKind::squared) {
            if (w.varying != nullptr) {
                panel_distances<T>(left, z.panels, w.first_z, *w.varying, out);
            } else {
                panel_distances(left, z.panels, w.first_z, out);
            }
        } else {
            columnwise_sums(source, left, z.panels, w.first_z, out);
        }
        return;
    }
    for (std::size_t i = 0; i < w.rows; ++i) {
        for (std::size_t j = 0; j < w.columns; ++j) {
            out(i, j) = static_cast<T>(
                sparse_columnwise(source, x.sparse, w.first_x + i, z.sparse, w.first_z + j));
        }
    }
}

template <class T>
std::vector<std::size_t> member_range(const Members<T>& members, std::size_t first,
                                      std::size_t count) {
    std::vector<std::size_t> positions(members.starts[first + count] - members.starts[first]);
    std::iota(positions.begin(), positions.end(), members.starts[first]);
    return positions;
}

template <class T>
void sum_over_members(const Gram<T>& gram, const Members<T>& x, const Members<T>& z, bool mean,
                      const Window<T>& w, MatrixView<T> out) {
    const auto x_members = member_range(x, w.first_x, w.rows);
    const auto z_members = member_range(z, w.first_z, w.columns);
    Matrix<T> pairs(x_members.size(), z_members.size());
    gram.block(gram.select(x.points, x_members, false), gram.select(z.points, z_members),
               pairs.view());
    for (std::size_t i = 0; i < w.rows; ++i) {
        for (std::size_t j = 0; j < w.columns; ++j) {
            double sum = 0;
            for (std::size_t a = x.starts[w.first_x + i]; a < x.starts[w.first_x + i + 1]; ++a) {
                const auto row = pairs.row(a - x.starts[w.first_x]);
                for (std::size_t b = z.starts[w.first_z + j]; b < z.starts[w.first_z + j + 1];
                     ++b) {
                    sum += static_cast<double>(row[b - z.starts[w.first_z]]);
                }
            }
            const auto size = [](const Members<T>& sets, std::size_t set) {
                return static_cast<double>(sets.starts[set + 1] - sets.starts[set]);
            };
            const double count = size(x, w.first_x + i) * size(z, w.first_z + j);
            out(i, j) = static_cast<T>(mean && count > 0 ? sum / count : sum);
        }
    }
}

template <class T>
void pair_objects(const PreparedObjects& x, const PreparedObjects& z, const Window<T>& w,
                  MatrixView<T> out) {
    const auto columns = std::span(z.positions).subspan(w.first_z, w.columns);
    std::vector<double> values(w.columns);
    for (std::size_t i = 0; i < w.rows; ++i) {
        x.objects->row(x.positions[w.first_x + i], *z.objects, columns, values);
        std::ranges::transform(values, out.row(i).begin(),
                               [](double v) { return static_cast<T>(v); });
    }
}

/// Columns behind those of the reference mean something only among rows prepared together.
template <class T>
void require_acquainted(const PackedGroup<T>& x, const PackedGroup<T>& z) {
    if (!x.strange || !z.strange || x.strange == z.strange) return;
    throw std::logic_error("two sets of points, both with features that the reference has not");
}

}  // namespace

PreparedObjects prepare_objects(const Source& source, const Rows& rows) {
    const KernelNode& leaf = source.kernel[0].node();
    Matrix<double> numbers;
    PreparedObjects prepared;
    if (leaf.leaf->prepare != nullptr) {
        prepared.objects = leaf.leaf->prepare(leaf, objects_of(rows, source.object, numbers));
    } else if (leaf.kind == KernelKind::precomputed) {
        prepared.objects = given_pairs(rows);
    } else {
        prepared.objects = row_pairs(source.kernel[0], rows);
    }
    prepared.positions.resize(rows.size());
    std::iota(prepared.positions.begin(), prepared.positions.end(), std::uint32_t{0});
    return prepared;
}

SetShape set_shape(const Source& source) {
    return {static_cast<std::size_t>(source.a), source.b != 0, source.split, source.object};
}

namespace {

Rows text_members(const Rows& rows, const SetShape& shape, std::vector<std::size_t>& starts) {
    const ObjectColumn* column = rows.object(shape.object);
    if (column == nullptr) {
        throw InvalidInput("there is no column " + quoted(shape.object) +
                           " of texts in these rows, which the kernel reads");
    }
    Texts parts;
    starts.assign(1, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const std::string_view part : split_text(column->text(i), shape.split)) {
            parts.push_back(part);
        }
        starts.push_back(parts.size());
    }
    return Rows().with_objects({ObjectColumn::texts(shape.object, std::move(parts))});
}

}  // namespace

Rows set_members(const Rows& rows, const SetShape& shape, std::vector<std::size_t>& starts) {
    if (shape.split != SetSplit::none) return text_members(rows, shape, starts);
    const std::size_t width = shape.width;
    const bool counted = shape.counted;
    const std::size_t lead = counted ? 1 : 0;
    if (width == 0 || rows.columns() < lead || (rows.columns() - lead) % width != 0) {
        throw InvalidInput("sets of vectors of width " + std::to_string(width) +
                           " need rows of a multiple of that" + (counted ? " and 1 more" : "") +
                           ", not of " + std::to_string(rows.columns()) + " columns");
    }
    const std::size_t most = (rows.columns() - lead) / width;
    std::vector<double> row(rows.columns());
    std::vector<double> values;
    starts.assign(1, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        std::size_t count = most;
        if (counted) {
            if (!(row[0] >= 0 && row[0] <= static_cast<double>(most) &&
                  row[0] == std::floor(row[0]))) {
                throw InvalidInput("row " + std::to_string(rows.origin(i) + 1) + " says it has " +
                                   std::to_string(row[0]) + " vectors; it has room for 0 to " +
                                   std::to_string(most));
            }
            count = static_cast<std::size_t>(row[0]);
        }
        const auto begin = row.begin() + static_cast<std::ptrdiff_t>(lead);
        values.insert(values.end(), begin, begin + static_cast<std::ptrdiff_t>(count * width));
        starts.push_back(values.size() / width);
    }
    return Rows::dense(std::move(values), width);
}

template <class T>
SourceTile<T> fill_source(const Source& source, std::size_t source_index,
                          const std::shared_ptr<const Gram<T>>& set_gram, const Window<T>& window,
                          T* scratch, std::size_t stride) {
    const PackedGroup<T>& x = window.x.packed()[source.group];
    const PackedGroup<T>& z = window.z.packed()[source.group];
    const MatrixView<T> out(scratch, window.rows, window.columns, stride);
    require_acquainted(x, z);
    switch (source.kind) {
        case SourceKind::dot: return products(x, z, window, scratch, stride);
        case SourceKind::pairs:
            pair_objects(window.x.objects[source_index], window.z.objects[source_index], window,
                         out);
            break;
        case SourceKind::sets:
            sum_over_members(*set_gram, window.x.members[source_index],
                             window.z.members[source_index], source.mean, window, out);
            break;
        default: columnwise(source, x, z, window, out); break;
    }
    return {.values = scratch, .stride = stride, .distances = source.kind == SourceKind::squared};
}

template <class T>
double self_source(const Source& source, std::size_t source_index,
                   const std::shared_ptr<const Gram<T>>& set_gram,
                   const typename Points<T>::Data& x, std::size_t i) {
    const PackedGroup<T>& group = x.groups[source.group];
    switch (source.kind) {
        case SourceKind::dot: return static_cast<double>(group.squared_norm[i]);
        case SourceKind::squared:
        case SourceKind::absolute:
        case SourceKind::chi2:
        case SourceKind::sine: return 0;
        case SourceKind::anova: {
            std::vector<double> e(static_cast<std::size_t>(source.b) + 1, 0.0);
            e[0] = 1;
            const bool sparse = group.sparse.starts != nullptr;
            return anova_with_equal_columns(e, sparse ? group.sparse.columns : group.dense.columns);
        }
        case SourceKind::intersection: {
            double sum = 0;
            const auto entries =
                group.sparse.starts != nullptr ? group.sparse.row_value(i) : group.dense.row(i);
            for (const T entry : entries) sum += static_cast<double>(entry);
            return sum;
        }
        case SourceKind::pairs: {
            const PreparedObjects& own = x.objects[source_index];
            return own.objects->self(own.positions[i]);
        }
        default: {
            T value{};
            const Window<T> window{x, x, i, 1, i, 1};
            fill_source(source, source_index, set_gram, window, &value, 1);
            return static_cast<double>(value);
        }
    }
}

template SourceTile<float> fill_source(const Source&, std::size_t,
                                       const std::shared_ptr<const Gram<float>>&,
                                       const Window<float>&, float*, std::size_t);
template SourceTile<double> fill_source(const Source&, std::size_t,
                                        const std::shared_ptr<const Gram<double>>&,
                                        const Window<double>&, double*, std::size_t);
template double self_source(const Source&, std::size_t, const std::shared_ptr<const Gram<float>>&,
                            const Points<float>::Data&, std::size_t);
template double self_source(const Source&, std::size_t, const std::shared_ptr<const Gram<double>>&,
                            const Points<double>::Data&, std::size_t);

}  // namespace mercer
