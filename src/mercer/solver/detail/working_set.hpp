// Which variables to work on next, and the tile of H they need.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mercer/solver/detail/state.hpp"
#include "mercer/solver/tiles/detail/tile.hpp"

namespace mercer {

/// Marks at most `count` active variables that are farthest on the wrong side, as many that can
/// grow as can fall, and always those of the steepest direction; none that is marked already.
/// Selection by nth_element: no sort over all variables.
template <class T>
void mark_most_violating(const DualState<T>& state, const Measure& measure, std::size_t count,
                         std::span<char> marks);

template <class T>
class WorkingSet {
   public:
    WorkingSet() = default;
    explicit WorkingSet(const CanonicalDual& form) { begin(form); }

    /// Goes on with another form, which must live as long. The tile stays where its variables have
    /// the rows and signs they had; that of another number of variables is given up.
    void begin(const CanonicalDual& form);
    /// The tile is given up; its memory serves the next.
    void forget();

    /// Chooses up to `size` variables: half of them kept from before, free ones first, the rest
    /// those that violate most; and packs their tile. A variable that stays keeps its place, so
    /// that only rows and columns of the newcomers are computed and written.
    void prepare(const DualState<T>& state, const Measure& measure, std::size_t size);

    Tile<T>& tile() { return tile_; }

   private:
    std::vector<std::size_t> choose(const DualState<T>& state, const Measure& measure,
                                    std::size_t size);
    bool place_in_gaps(const std::vector<std::size_t>& chosen);
    void lay_out(const std::vector<std::size_t>& chosen, std::size_t size);
    void fill_matrix(const SymmetricOperator<T>& k);
    void fill_vectors(const DualState<T>& state);

    const CanonicalDual* form_ = nullptr;
    std::vector<char> taken_{};  ///< marks, all 0 between calls
    Tile<T> tile_{};
    std::vector<std::size_t> fresh_{};  ///< places whose rows of H are still to be computed
    std::vector<T> rows_{};             ///< those rows
};

extern template class WorkingSet<float>;
extern template class WorkingSet<double>;

}  // namespace mercer
