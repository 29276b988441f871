#include "mercer/kernel/leaf/text/detail/matches.hpp"

#include <algorithm>

namespace mercer::leaves {

AlignedTexts::AlignedTexts(const KernelNode& node, std::span<const Object> texts, std::size_t shift)
    : breaks_(alphabet_of(node) == Alphabet::dna) {
    for (const Object& object : texts) {
        const auto text =
            leaves::letters(in_window(node, std::get<std::string_view>(object)), alphabet_of(node));
        starts_.push_back(bytes_.size());
        lengths_.push_back(text.size());
        longest_ = std::max(longest_, text.size());
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        bytes_.resize(bytes_.size() + shift + 64);
    }
}

double AlignedTexts::mean_length() const {
    double sum = 0;
    for (const std::size_t length : lengths_) sum += static_cast<double>(length);
    return lengths_.empty() ? 0 : sum / static_cast<double>(lengths_.size());
}

std::vector<std::uint8_t> AlignedTexts::unlike(std::size_t i) const {
    const std::size_t end = i + 1 < starts_.size() ? starts_[i + 1] : bytes_.size();
    std::vector<std::uint8_t> copy(letters(i), bytes_.data() + end);
    if (breaks_) std::ranges::replace(copy, no_letter, static_cast<std::uint8_t>(no_letter - 1));
    return copy;
}

}  // namespace mercer::leaves
