// The dual problems of one machine, solved by several ranks, each of which has all rows. Many pairs
// of classes are shared out, each solved by one rank as one process would solve it. Else all ranks
// solve one problem after another, each with its columns of the kernel matrix (Partners). The
// machine has the same bits either way, and for any number of ranks.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "mercer/dist/detail/rank_partners.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/svm/detail/fit_plan.hpp"

namespace mercer {

/// What comes of one part.
struct PartResult {
    /// With β of the rows at `support` alone: most have none, and thousands of parts may each have
    /// all rows.
    Learned learned{};
    std::vector<std::size_t> support{};  ///< rows of the sample
    Report report{};
    double reach = 0;  ///< of its machines (`reach_of`)
    std::optional<Sigmoid> sigmoid{};
    bool in_double = false;  ///< single precision was not enough
};

/// What a rank wants of all.
struct Wish {
    bool stop = false;
    bool late = false;  ///< because the time is over
};

class RankParts {
   public:
    /// Null: one process does it all. The ranks must outlive it.
    RankParts(Communicator* ranks, const std::vector<Part>& parts);

    bool shares_columns() const { return partners_.has_value(); }
    const Partners* partners() const { return partners_ ? &*partners_ : nullptr; }
    /// Whether this rank is to solve this part, alone or together with all.
    bool has(std::size_t part) const {
        return rank_of_.empty() || rank_of_[part] == ranks_->rank();
    }
    /// Tells all what came of the parts that each has solved.
    void exchange(std::span<PartResult> results) const;
    /// What any of those who solve a part together wishes.
    Wish agreed(Wish own) const;

   private:
    Communicator* ranks_;
    std::optional<RankPartners> partners_{};
    std::vector<std::size_t> rank_of_{};  ///< of each part, where they are shared out
};

}  // namespace mercer
