// Who lies within R of whom. For learn/groups/quantiser.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mercer/data/rows.hpp"
#include "mercer/learn/groups/quantiser.hpp"

namespace mercer::quantising {

/// Ascending lists, one a row, each with the row itself.
struct Neighbourhoods {
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> members{};

    std::size_t size() const { return starts.size() - 1; }
    std::size_t count(std::size_t i) const { return starts[i + 1] - starts[i]; }
    std::span<const std::uint32_t> of(std::size_t i) const {
        return {members.data() + starts[i], count(i)};
    }
};

/// Squared distances of some rows from others, a block at a time, in double precision.
class Distances {
   public:
    Distances(const Rows& rows, const QuantiserSettings& settings);
    ~Distances();
    Distances(const Distances&) = delete;
    Distances& operator=(const Distances&) = delete;

    /// out(i, j) = D(x_a, x_b)² with a = first + i and b = to[j] (all rows when `to` is empty).
    void block(std::size_t first, std::span<const std::size_t> to, MatrixView<double> out) const;
    /// D(x_a, x_b)² where blocks leave a doubt: their value `found`, or for the Euclidean distance
    /// the sum of squared differences, which rounds no product of long rows.
    double exact(std::size_t a, std::size_t b, double found) const;
    /// Blocks are exact up to this.
    double rounding(std::size_t a, std::size_t b) const;

   private:
    struct State;
    std::unique_ptr<const State> state_;
};

/// Throws InvalidInput when the lists do not fit, Cancelled when stopped.
Neighbourhoods neighbourhoods(const Distances& distances, std::size_t rows,
                              const QuantiserSettings& settings);

}  // namespace mercer::quantising
