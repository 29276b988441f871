// Inverse document frequency: features that stand in few texts weigh more [Spärck Jones 1972].
//
//     idf(u) = 1 + ln((1 + N) / (1 + n_u)),   N texts of training, u in n_u of them
//
// What was learnt of the texts, N and n_u, is part of the kernel and of its text. A feature is told
// there by seven letters and digits, its hash; those in a single text are left out, which is half
// of all words or more: they, and all that was never seen, count as standing in one.
//
//     words(idf=[120, 1, 2, "a0dYw1Qx93kLMa", 3, "00b3Zz1"])
//
// 120 texts; all features stand in one, but for two that stand in two and one that stands in three.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "mercer/kernel/detail/leaf.hpp"

namespace mercer::leaves {

/// In how many texts each feature stands, by its identity.
using DocumentCounts = std::unordered_map<std::uint64_t, std::uint32_t>;

/// What to keep of `texts` texts. Of more features than fit into a kernel's text those in the
/// fewest texts are left out, and count like the most frequent among them.
std::shared_ptr<const Learnt> learn_frequencies(const DocumentCounts& counts, std::size_t texts);
/// Multiplies each feature by its idf.
void weigh_features(const Learnt& learnt, Features& features);

std::shared_ptr<const Learnt> read_frequencies(Scanner& in);
std::string frequencies_text(const Learnt& learnt);

}  // namespace mercer::leaves
