// The ranks of a run as those who hold a matrix together.
#pragma once

#include <cstddef>
#include <span>

#include "mercer/base/operator.hpp"
#include "mercer/dist/communicator.hpp"

namespace mercer {

/// The ranks must outlive it.
class RankPartners final : public Partners {
   public:
    explicit RankPartners(Communicator& ranks) : ranks_(ranks) {}
    std::size_t number() const override { return ranks_.rank(); }
    std::size_t count() const override { return ranks_.size(); }
    void gather(std::span<const std::byte> own, std::span<const std::size_t> sizes,
                std::span<std::byte> all) const override {
        ranks_.gather_to(own, sizes, all);
    }

   private:
    Communicator& ranks_;
};

}  // namespace mercer
