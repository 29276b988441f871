// words: the words that two texts share, or runs of n words [Joachims 1998]
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/kernel/leaf/detail/letters.hpp"
#include "mercer/kernel/leaf/text/detail/document_counts.hpp"

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

/// Calls visit(word) for the words in their order.
template <class Visit>
void each_word(std::string_view text, bool fold, Visit visit) {
    std::string word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && in_word(text[i])) {
            word += fold ? lowercase(text[i]) : text[i];
        } else if (!word.empty()) {
            visit(word);
            word.clear();
        }
    }
}

/// Of a run of n words, from the hashes of the words.
std::uint64_t hash_run(std::span<const std::uint64_t> words) {
    std::uint64_t hash = hash_number(words.size());
    for (const std::uint64_t word : words) hash = hash_together(hash, word);
    return hash;
}

void count_runs(const KernelNode& node, const Object& object, Features& out) {
    const auto n = static_cast<std::size_t>(node.parameter("n"));
    const bool fold = node.parameter("lowercase") == 1;
    std::vector<std::uint64_t> words;
    each_word(std::get<std::string_view>(object), fold,
              [&](const std::string& word) { words.push_back(hash_bytes(word)); });
    for (std::size_t first = 0; first + n <= words.size(); ++first) {
        out.push_back({hash_run(std::span(words).subspan(first, n)), 1});
    }
    if (node.parameter("binary") == 0) return;
    collect_features(out);
    for (Feature& feature : out) feature.value = 1;
}

void features(const KernelNode& node, const Object& object, Features& out) {
    count_runs(node, object, out);
    if (node.learnt == nullptr) return;
    collect_features(out);  // counts are summed before they are weighed
    weigh_features(*node.learnt, out);
}

bool waits_for_texts(const KernelNode& node) {
    return node.learnt == nullptr && node.parameter("idf") == 1;
}

KernelNode settle_idf(const KernelNode& node, std::span<const Object> texts,
                      std::span<const std::int32_t>) {
    DocumentCounts counts;
    Features runs;
    for (const Object& text : texts) {
        runs.clear();
        count_runs(node, text, runs);
        collect_features(runs);
        for (const Feature& run : runs) ++counts[run.identity];
    }
    if (counts.empty()) {
        throw InvalidInput(
            "words(idf=true) has nothing to learn from: there is no run of so many words in these "
            "texts");
    }
    KernelNode settled = node;
    settled.learnt = learn_frequencies(counts, texts.size());
    return settled;
}

void name_features(const KernelNode& node, const Object& object, FeatureNames& out) {
    const auto n = static_cast<std::size_t>(node.parameter("n"));
    std::vector<std::uint64_t> hashes;
    std::vector<std::string> words;
    each_word(std::get<std::string_view>(object), node.parameter("lowercase") == 1,
              [&](const std::string& word) {
                  hashes.push_back(hash_bytes(word));
                  words.push_back(word);
              });
    for (std::size_t first = 0; first + n <= words.size(); ++first) {
        std::string name = words[first];
        for (std::size_t k = 1; k < n; ++k) name += ' ' + words[first + k];
        out.try_emplace(hash_run(std::span(hashes).subspan(first, n)), std::move(name));
    }
}

}  // namespace

const Leaf& words_leaf() {
    static const Leaf leaf{
        .entry = {.name = "words",
                  .aliases = {"bag_of_words"},
                  .formula = "sum over runs u of n words of count_u(x) count_u(z)",
                  .about = "texts by the words they share; binary=true: whether, not how often; "
                           "idf=true: counts times 1 + ln((1 + N) / (1 + N_u)), of N texts of "
                           "training N_u have u; runs never seen count as seen once",
                  .parameters = {whole("n", {}, 1, 100, 1.0), truth("lowercase", true),
                                 truth("binary"), truth("idf")}},
        .objects = ObjectKind::text,
        .features = features,
        .counts = true,
        .name_features = name_features,
        .waits = waits_for_texts,
        .settle = settle_idf,
        .learnt_parameter = "idf",
        .read_learnt = read_frequencies,
        .learnt_text = frequencies_text,
    };
    return leaf;
}

}  // namespace mercer
