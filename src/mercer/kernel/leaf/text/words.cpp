// words: the words that two texts share, or runs of n words [Joachims 1998]
#include <array>
#include <string>

#include "mercer/kernel/leaf/detail/letters.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// Letters and digits of ASCII make words, and all bytes of other characters in UTF-8.
bool in_word(char c) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (byte | 0x20U) >= 'a' && (byte | 0x20U) <= 'z';
    return byte >= 128 || letter || (byte >= '0' && byte <= '9');
}

char lowercase(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Hashes of the words in their order.
std::vector<std::uint64_t> word_hashes(std::string_view text, bool fold) {
    std::vector<std::uint64_t> result;
    std::string word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && in_word(text[i])) {
            word += fold ? lowercase(text[i]) : text[i];
        } else if (!word.empty()) {
            result.push_back(hash_bytes(word));
            word.clear();
        }
    }
    return result;
}

void features(const KernelNode& node, const Object& object, Features& out) {
    const auto n = static_cast<std::size_t>(node.parameter("n"));
    const bool fold = node.parameter("lowercase") == 1;
    const auto words = word_hashes(std::get<std::string_view>(object), fold);
    for (std::size_t first = 0; first + n <= words.size(); ++first) {
        std::uint64_t hash = hash_number(n);
        for (std::size_t k = 0; k < n; ++k) hash = hash_together(hash, words[first + k]);
        out.push_back({hash, 1});
    }
    if (node.parameter("binary") == 0) return;
    collect_features(out);
    for (Feature& feature : out) feature.value = 1;
}

}  // namespace

const Leaf& words_leaf() {
    static const Leaf leaf{
        .entry = {.name = "words",
                  .aliases = {"bag_of_words"},
                  .formula = "sum over runs u of n words of count_u(x) count_u(z)",
                  .about = "texts by the words they share; binary=true: whether, not how often",
                  .parameters = {whole("n", {}, 1, 100, 1.0), truth("lowercase", true),
                                 truth("binary")}},
        .objects = ObjectKind::text,
        .features = features,
    };
    return leaf;
}

}  // namespace mercer
