#include "mercer/kernel/leaf/detail/letters.hpp"

#include <algorithm>
#include <array>

namespace mercer::leaves {
namespace {

constexpr double last_position = 1e9;

constexpr std::array<std::uint8_t, 256> dna_codes = [] {
    std::array<std::uint8_t, 256> codes{};
    codes.fill(no_letter);
    constexpr std::string_view bases = "ACGT";
    for (std::size_t i = 0; i < bases.size(); ++i) {
        const auto large = static_cast<unsigned char>(bases[i]);
        codes[large] = codes[large + ('a' - 'A')] = static_cast<std::uint8_t>(i);
    }
    codes['U'] = codes['u'] = codes['T'];
    return codes;
}();

}  // namespace

ParameterForm alphabet_form() {
    return word("alphabet", {"bytes", "dna"});
}

std::vector<ParameterForm> window_forms() {
    return {whole("from", {}, 0, last_position, 0.0),
            whole("to", {}, 0, last_position, last_position)};
}

std::vector<std::uint8_t> letters(std::string_view text, Alphabet alphabet) {
    std::vector<std::uint8_t> result(text.size());
    std::ranges::transform(text, result.begin(), [&](char c) {
        const auto byte = static_cast<std::uint8_t>(c);
        return alphabet == Alphabet::dna ? dna_codes[byte] : byte;
    });
    return result;
}

std::vector<std::uint8_t> reverse_complement(std::span<const std::uint8_t> dna) {
    std::vector<std::uint8_t> other(dna.size());
    std::ranges::transform(dna, other.rbegin(), [](std::uint8_t letter) {
        return letter == no_letter ? no_letter : static_cast<std::uint8_t>(3 - letter);
    });
    return other;
}

Alphabet alphabet_of(const KernelNode& node) {
    return node.parameter("alphabet") == 1 ? Alphabet::dna : Alphabet::bytes;
}

std::string_view in_window(const KernelNode& node, std::string_view text) {
    const auto from = static_cast<std::size_t>(node.parameter("from"));
    const auto to = static_cast<std::size_t>(node.parameter("to"));
    if (from >= text.size() || from >= to) return {};
    return text.substr(from, to - from);
}

}  // namespace mercer::leaves
