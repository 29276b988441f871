// The rows of a sample as they lie on the ranks, and sums over all of them that do not depend on
// how.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "mercer/base/parallel.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/dist/detail/fixed_sum.hpp"

namespace mercer {

/// Rows i of this rank are numbered from 0, those of all ranks one rank after another. Leaves are
/// cut by where rows stood in the data given, before any were left out.
class RowLeaves {
   public:
    /// This rank was given `given` rows, of which those at `kept`, ascending, take part. Throws
    /// InvalidInput when the ranks do not have whole leaves of the data, or no rank has any row.
    RowLeaves(Communicator& ranks, std::size_t given, std::span<const std::size_t> kept);

    Communicator& ranks() const { return ranks_; }
    std::size_t own() const { return starts_.back(); }  ///< rows of this rank
    std::size_t before() const { return before_; }      ///< rows of the ranks before it
    std::size_t rows() const { return rows_; }          ///< of all ranks
    std::size_t given_before() const { return given_before_; }

    /// Σ term(i) over the rows of all ranks, on all threads.
    template <class Term>
    double sum(const Term& term) const {
        std::vector<double> leaves(starts_.size() - 1, 0.0);
        parallel_for(leaves.size(), [&](std::size_t k) {
            for (std::size_t i = starts_[k]; i < starts_[k + 1]; ++i) leaves[k] += term(i);
        });
        return total(leaves);
    }
    /// Of several numbers a row, an array, at once.
    template <std::size_t count, class Term>
    std::array<double, count> sums(const Term& term) const {
        return piece_sums<count>(1, [&](std::size_t i, std::size_t) { return term(i); });
    }
    /// The same of pieces of a leaf, `most` rows each: term(first, last) is the sum of theirs.
    template <std::size_t count, class Term>
    std::array<double, count> piece_sums(std::size_t most, const Term& term) const {
        std::vector<double> leaves(count * (starts_.size() - 1), 0.0);
        parallel_for(starts_.size() - 1, [&](std::size_t k) {
            for (std::size_t i = starts_[k]; i < starts_[k + 1]; i += most) {
                const std::array<double, count> own = term(i, std::min(i + most, starts_[k + 1]));
                for (std::size_t j = 0; j < count; ++j) leaves[count * k + j] += own[j];
            }
        });
        if (ranks_.size() > 1) leaves = ranks_.all_gather(std::span<const double>(leaves));
        std::array<double, count> all{};
        for (std::size_t k = 0; k < leaves.size(); ++k) all[k % count] += leaves[k];
        return all;
    }
    /// The same of vectors: add(first, last, zeros) adds up those of the rows from first to last.
    void sum(const std::function<void(std::size_t, std::size_t, std::span<double>)>& add,
             std::span<double> out) const;

    /// The largest of one number a rank.
    double largest(double own) const;
    /// Calls body(first, last) for the rows of one leaf after another.
    void each(const std::function<void(std::size_t, std::size_t)>& body) const;

    /// The rows that each rank has here, one rank after another.
    Rows joined(const Rows& own) const;
    /// The rows at these places among those of all ranks, ascending; `own` has this rank's.
    Rows gather(const Rows& own, std::span<const std::size_t> places) const;
    /// The numbers of the rows at these places, of which `own` has this rank's.
    std::vector<double> gather(std::span<const double> own,
                               std::span<const std::size_t> places) const;
    /// Where they stood in the data given, that of all ranks.
    std::vector<std::size_t> origins(std::span<const std::size_t> kept,
                                     std::span<const std::size_t> places) const;

   private:
    double total(std::span<const double> leaves) const;
    std::vector<std::size_t> own_places(std::span<const std::size_t> places) const;

    Communicator& ranks_;
    std::vector<std::size_t> starts_{0};  ///< of the rows of each leaf of this rank, and their end
    std::vector<std::size_t> bounds_{};   ///< leaves of each rank
    std::size_t before_ = 0;
    std::size_t rows_ = 0;
    std::size_t given_before_ = 0;
};

}  // namespace mercer
