// Where a machine stands that is being learnt in the span of some rows, kept in a file
// (KeepCheckpoint, dist/communicator.hpp), and taken up again with the same bits by any number of
// ranks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/dist/detail/row_leaves.hpp"

namespace mercer {

struct CheckpointState {
    std::vector<double> numbers{};  ///< the same on all ranks
    bool by_rows = false;           ///< there is also
    std::vector<double> rows{};     ///< one for each row of this rank
};

/// The file of one problem, of which a machine may have several (one a class). All of its functions
/// are for all ranks together; without a KeepCheckpoint they do nothing.
class Checkpoint {
   public:
    /// `fingerprint` tells this problem from others, whose states are refused. `leaves` must
    /// outlive it.
    Checkpoint(const RowLeaves& leaves, const std::string& fingerprint);

    /// What there is to go on with. Throws InvalidInput for a file that belongs to something else.
    std::optional<CheckpointState> load() const;
    /// Writes the file anew, unless it is too young.
    void save(const CheckpointState& state);

   private:
    void write(const CheckpointState& state) const;

    const RowLeaves& leaves_;
    std::string fingerprint_;
    std::string path_{};  ///< empty: nothing is kept
    Stopwatch since_{};
};

/// Text that differs where these numbers do.
std::string fingerprint_of(MatrixView<const double> values);

}  // namespace mercer
