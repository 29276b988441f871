// Texts as the kernels on them see them: letters of an alphabet, in a window.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer::leaves {

/// `alphabet=bytes` takes every byte for a letter. `alphabet=dna` knows A, C, G and T, large or
/// small, and U for T; whatever else stands there (N) belongs to no k-mer.
enum class Alphabet { bytes, dna };
ParameterForm alphabet_form();

/// `from=0, to=40`: letters from one position to before another, counted from 0.
std::vector<ParameterForm> window_forms();

/// A letter that is none.
inline constexpr std::uint8_t no_letter = 255;

/// The letters of a text: its bytes, or 0 … 3 and no_letter. Bytes of 255 do not occur in UTF-8.
std::vector<std::uint8_t> letters(std::string_view text, Alphabet alphabet);
/// The other strand, read in its own direction.
std::vector<std::uint8_t> reverse_complement(std::span<const std::uint8_t> dna);

Alphabet alphabet_of(const KernelNode& node);
/// The part of a text that the node's window shows.
std::string_view in_window(const KernelNode& node, std::string_view text);

}  // namespace mercer::leaves
