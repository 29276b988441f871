// Rows made ready for one Gram engine: derived, packed and measured once, so that blocks are
// nothing but products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/detail/feature_rows.hpp"
#include "mercer/gram/detail/pairwise.hpp"
#include "mercer/gram/detail/plan.hpp"

namespace mercer {

/// How the rows of a group are packed. Decided on the reference rows, kept for all others.
struct GroupFormat {
    bool sparse = false;
    /// Subtracted from every row when only differences of rows are asked: it changes none of them
    /// and saves single precision from cancellation when the data lie far from the origin. Empty:
    /// none.
    std::vector<double> shift{};
    /// Every entry of the reference is a byte times this; 0 when that is not so.
    double unit = 0;
};

/// Rows derived for a group, before they are packed.
struct DerivedRows {
    Rows rows{};
    bool strange = false;  ///< they have features of their own, which the reference has not
};

template <class T>
struct PackedGroup {
    PackedGroup() = default;
    PackedGroup(PackedGroup&&) noexcept = default;  // the views follow; a copy's would not
    PackedGroup& operator=(PackedGroup&&) noexcept = default;

    Rows rows{};  ///< the derived rows themselves
    /// Not null when the rows have columns that mean something only among them: features that the
    /// reference has not.
    std::shared_ptr<const void> strange{};

    MatrixView<const T> dense{};  ///< empty when sparse
    MatrixView<const T> right{};  ///< dense, or dense × A for x'Az
    Panels<T> panels{};      ///< of `right`; without bytes, or where sums over columns want them
    SparseView<T> sparse{};  ///< empty when dense
    /// Columns of `sparse` from here on are in one row each: among these rows they count in x·x
    /// alone.
    std::size_t shared = std::numeric_limits<std::size_t>::max();
    std::vector<T> squared_norm{};  ///< x·x, or x'Ax, of the rows as packed; padded

    // Byte rows, where unit > 0: x = unit × byte_left, byte_right = byte_left − 128.
    double unit = 0;
    std::vector<std::uint8_t> byte_left{};
    std::vector<std::int8_t> byte_right{};
    std::vector<std::int32_t> byte_norm{};   ///< Σ byte², padded
    std::vector<std::int32_t> byte_shift{};  ///< 128 Σ byte

    // What `dense`, `right` and `sparse` look at, unless it is `rows`.
    std::vector<T> own_dense{};
    std::vector<T> own_right{};
    std::vector<std::size_t> own_starts{};
    std::vector<std::uint32_t> own_index{};
    std::vector<T> own_values{};
};

/// Applies a group's steps: the derived rows as plain rows. The columns of features must be known,
/// or are settled by these rows, when `columns` is null.
DerivedRows derive(const Group& group, const Rows& rows,
                   std::shared_ptr<const FeatureColumns>& columns);

/// Chooses the packing for a group from its reference rows (already derived).
template <class T>
GroupFormat choose_format(const Group& group, const Rows& derived);

template <class T>
PackedGroup<T> pack(const Group& group, const GroupFormat& format, DerivedRows derived);

/// The rows as they are, and their lengths: enough for w = Σ c_i x_i and its products.
template <class T>
PackedGroup<T> pack_plainly(DerivedRows derived);

/// What gathered rows will be used for.
struct Use {
    bool as_columns = true;  ///< they will stand on the right-hand side too
    bool among = false;      ///< they will meet only others gathered from the same rows
    bool plain = false;      ///< for no blocks
};

/// The packed rows at some positions. Rows of bytes among themselves need nothing but their bytes.
template <class T>
PackedGroup<T> gather(const Group& group, const PackedGroup<T>& from,
                      std::span<const std::size_t> positions, Use use);

}  // namespace mercer
