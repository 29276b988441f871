// Texts that are compared position by position.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mercer/kernel/leaf/detail/letters.hpp"

namespace mercer::leaves {

/// Texts one after another, each with room behind it, so that 64 letters can be read anywhere.
class AlignedTexts {
   public:
    /// `shift` letters more than that may be read behind the end.
    AlignedTexts(const KernelNode& node, std::span<const Object> texts, std::size_t shift);

    std::size_t size() const { return lengths_.size(); }
    std::size_t length(std::size_t i) const { return lengths_[i]; }
    const std::uint8_t* letters(std::size_t i) const { return bytes_.data() + starts_[i]; }
    std::size_t longest() const { return longest_; }
    double mean_length() const;
    /// Some letters are none (`no_letter`), and equal to nothing.
    bool breaks() const { return breaks_; }
    /// Text i with the room behind it, to be compared with others: what belongs to no alphabet is
    /// written as something else than there, so that it is equal to nothing.
    std::vector<std::uint8_t> unlike(std::size_t i) const;

   private:
    std::vector<std::uint8_t> bytes_{};
    std::vector<std::size_t> starts_{};
    std::vector<std::size_t> lengths_{};
    std::size_t longest_ = 0;
    bool breaks_ = false;
};

}  // namespace mercer::leaves
