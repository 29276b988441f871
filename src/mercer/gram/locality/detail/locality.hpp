// Kernels that are nothing far away. With γ = 32 two rows that differ in a category of 0 and 1 have
// k = exp(−64): sums over kernel values cannot tell such a pair from one with k = 0. Where rows
// stand in an order in which near ones are neighbours, whole blocks are like that, and boxes around
// runs of rows tell which, without a pair being looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mercer/base/operator.hpp"
#include "mercer/gram/detail/plan.hpp"
#include "mercer/gram/detail/points.hpp"

namespace mercer {

/// Where a kernel ends.
struct Reach {
    double squared = 0;  ///< pairs with ‖x−z‖² of this and more have |k| below `nothing`, and
                         ///< computed values too, whatever is rounded
    double nothing = 0;
};

/// Of kernels that are a function of one distance which falls off to this share of k(x, x); nothing
/// for all others.
std::optional<Reach> reach_of(const Plan& plan, double share);

/// The least boxes that hold runs of rows: [starts[i], starts[i+1]).
template <class T>
struct Boxes {
    std::size_t columns = 0;
    std::vector<std::size_t> starts{};
    std::vector<T> low{};  ///< box by box
    std::vector<T> high{};

    std::size_t size() const { return starts.empty() ? 0 : starts.size() - 1; }
    bool empty() const { return starts.empty(); }
};

/// Around `run` of these rows each, in this order. Empty where they are not dense.
template <class T>
Boxes<T> even_boxes(const PackedGroup<T>& rows, std::size_t run,
                    const Columns& which = Columns::all());
/// Around `run` rows each at most: a row that is out of reach of those before it begins another.
template <class T>
Boxes<T> tight_boxes(const PackedGroup<T>& rows, std::size_t run, double squared_reach);

/// Whether some point of one box may be nearer to one of the other than the reach.
template <class T>
bool may_meet(const Boxes<T>& a, std::size_t i, const Boxes<T>& b, std::size_t j,
              double squared_reach);

/// Boxes around points as rows of a block, and as columns of one: around panels, and around strips
/// of so many panels each.
template <class T>
struct BoxedPoints {
    Boxes<T> blocks{};
    Boxes<T> panels{};
    Boxes<T> strips{};
    std::size_t strip_panels = 1;
};

/// Pairs that may be within reach: rows [first_row, first_row + rows), columns [first_column,
/// first_column + columns).
struct NearTile {
    std::size_t first_row = 0;
    std::size_t rows = 0;
    std::size_t first_column = 0;
    std::size_t columns = 0;
    /// The columns of the data that are not the same number in all of them: those of a category
    /// that all belong to add nothing to any distance.
    std::vector<std::uint32_t> varying{};
};

/// Tiles of at most `tile_rows` rows that hold all pairs within reach of rows of x and the columns
/// of one strip of z, rows ascending.
template <class T>
std::vector<NearTile> near_tiles(const BoxedPoints<T>& x, const BoxedPoints<T>& z,
                                 std::size_t strip, double squared_reach, std::size_t tile_rows);

/// The share of pairs of boxes that may meet, from a few hundred of them against all.
template <class T>
double meeting_share(const Boxes<T>& boxes, double squared_reach);

/// Whether so many pairs of these rows, drawn at random, are within reach that neither boxes nor an
/// order can help; and where rows are not dense.
template <class T>
bool most_are_near(const PackedGroup<T>& rows, double squared_reach, const Columns& which);

/// An order of these rows in which near ones stand together, as positions in `which`: cut in two at
/// the mean of a column, of categories first and then of the one that varies most, and each part
/// again, down to runs of `run` rows. Empty where rows are not dense.
template <class T>
std::vector<std::size_t> near_order(const PackedGroup<T>& rows, std::size_t run,
                                    double squared_reach, const Columns& which);

}  // namespace mercer
