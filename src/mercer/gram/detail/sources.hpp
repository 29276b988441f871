// Fills the tiles of pairwise numbers that a plan's program starts from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "mercer/gram/detail/elementwise.hpp"
#include "mercer/gram/detail/plan.hpp"
#include "mercer/gram/detail/points.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/gram/locality/detail/locality.hpp"
#include "mercer/kernel/detail/object_leaf.hpp"

namespace mercer {

/// The members of sets, as points of the engine for the kernel between members.
template <class T>
struct Members {
    std::vector<std::size_t> starts;  ///< set i has the members starts[i] … starts[i+1]-1
    Points<T> points;
};

/// Objects prepared for a leaf that works by pairs, and which of them these points are.
struct PreparedObjects {
    std::shared_ptr<const ObjectPairs> objects{};
    std::vector<std::uint32_t> positions{};
};

/// Everything prepared about some rows.
template <class T>
struct Points<T>::Data {
    /// What blocks are computed from: `groups`, or what is made of them at the first block.
    const std::vector<PackedGroup<T>>& packed() const {
        if (!pack_later) return groups;
        std::call_once(packing, [this] { packed_later = pack_later(); });
        return packed_later;
    }

    std::size_t size = 0;
    std::vector<PackedGroup<T>> groups{};
    std::vector<std::vector<T>> sides{};     ///< one a side of the plan, padded
    std::vector<Members<T>> members{};       ///< one a source; empty unless the source is of sets
    std::vector<PreparedObjects> objects{};  ///< one a source; empty unless the source is of pairs
    BoxedPoints<T> boxed{};  ///< of kernels that are nothing far away; blocks alone, of rows only

    /// Of kernels that do without blocks, the groups being plain rows; else empty.
    std::function<std::vector<PackedGroup<T>>()> pack_later{};
    mutable std::once_flag packing{};
    mutable std::vector<PackedGroup<T>> packed_later{};
};

/// A window of pairs: rows [first_x, first_x + rows) of x and [first_z, first_z + columns) of z.
template <class T>
struct Window {
    const typename Points<T>::Data& x;
    const typename Points<T>::Data& z;
    std::size_t first_x = 0;
    std::size_t rows = 0;
    std::size_t first_z = 0;  ///< a multiple of panel_width
    std::size_t columns = 0;
    /// Columns of the data that are not the same number in all these rows; null: not known.
    const std::vector<std::uint32_t>* varying = nullptr;
};

/// The objects that a source of pairs reads of derived rows.
PreparedObjects prepare_objects(const Source& source, const Rows& rows);

/// What rows that are sets are made of.
struct SetShape {
    std::size_t width = 0;  ///< vectors of so many numbers, or
    bool counted = false;
    SetSplit split = SetSplit::none;  ///< parts of the texts of a column
    std::string object{};
};
SetShape set_shape(const Source& source);
/// Splits rows that are sets into their members.
Rows set_members(const Rows& rows, const SetShape& shape, std::vector<std::size_t>& starts);

/// Computes the numbers of one source into `scratch` (window.rows × stride) and describes them.
template <class T>
SourceTile<T> fill_source(const Source& source, std::size_t source_index,
                          const std::shared_ptr<const Gram<T>>& set_gram, const Window<T>& window,
                          T* scratch, std::size_t stride);

/// The number of one source for a row paired with itself.
template <class T>
double self_source(const Source& source, std::size_t source_index,
                   const std::shared_ptr<const Gram<T>>& set_gram,
                   const typename Points<T>::Data& x, std::size_t i);

}  // namespace mercer
