// The features of texts and graphs as sparse rows, so that everything the engine does with those it
// does with these.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mercer/data/rows.hpp"
#include "mercer/kernel/detail/object_leaf.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer {

/// Which column a feature has. Those that several of the reference rows have come first, then those
/// that one of them has. Any other gets a column behind them, of its own set of rows: it meets
/// nothing there but itself, and counts in x·x.
class FeatureColumns {
   public:
    std::size_t size() const { return identities_.size(); }
    /// The column of a feature; `size()` for one that has none.
    std::size_t find(std::uint64_t identity) const;
    /// The same, with a new column for one that has none.
    std::uint32_t add(std::uint64_t identity);
    /// Column c becomes order[c].
    void renumber(std::span<const std::uint32_t> order);

   private:
    std::size_t place(std::uint64_t identity) const;

    std::vector<std::uint64_t> identities_{};           ///< by column
    std::vector<std::uint32_t> places_ = {0, 0, 0, 0};  ///< 1 + column, by hash; 0: none
};

/// Counts, collected, as so many features of 1 each: n of a feature becomes its first, second, …
/// n-th occurrence, so that min(a, b) is a product.
void spell_out(Features& features);

/// Which features: those of a leaf on a column of objects, counts as so many ones if so wanted.
struct FeatureSource {
    const Kernel& leaf;
    const std::string& object;
    bool unary = false;
};

/// The rows of features of the reference, and their columns.
Rows reference_features(const FeatureSource& source, const Rows& rows,
                        std::shared_ptr<const FeatureColumns>& columns);
/// The same of other rows. `strange` becomes true when they have features that the reference has
/// not.
Rows other_features(const FeatureSource& source, const Rows& rows, const FeatureColumns& columns,
                    bool& strange);

/// The objects that a leaf reads: those of a column, or, without a name, the rows of numbers, which
/// then live in `numbers`.
std::vector<Object> objects_of(const Rows& rows, const std::string& object,
                               Matrix<double>& numbers);

}  // namespace mercer
