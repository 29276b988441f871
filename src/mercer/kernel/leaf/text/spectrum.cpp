// spectrum: the k-mers that two texts share [Leslie, Eskin and Noble 2002]
#include "mercer/base/error.hpp"
#include "mercer/kernel/leaf/detail/letters.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// Calls visit(letters) for every k-mer.
template <class Visit>
void each_kmer(std::span<const std::uint8_t> text, std::size_t k, bool breaks, Visit visit) {
    std::size_t whole = 0;  // letters in a row that belong to the alphabet
    for (std::size_t end = 1; end <= text.size(); ++end) {
        whole = breaks && text[end - 1] == no_letter ? 0 : whole + 1;
        if (whole < k) continue;
        visit(std::string_view(reinterpret_cast<const char*>(text.data() + (end - k)), k));
    }
}
template <class Visit>
void each_kmer(const KernelNode& node, const Object& object, Visit visit) {
    const auto k = static_cast<std::size_t>(node.parameter("k"));
    const Alphabet alphabet = alphabet_of(node);
    const auto text = letters(in_window(node, std::get<std::string_view>(object)), alphabet);
    const bool breaks = alphabet == Alphabet::dna;
    each_kmer(text, k, breaks, visit);
    if (node.parameter("strand") == 1) each_kmer(reverse_complement(text), k, breaks, visit);
}

void features(const KernelNode& node, const Object& object, Features& out) {
    each_kmer(node, object, [&](std::string_view kmer) { out.push_back({hash_bytes(kmer), 1}); });
}

void name_features(const KernelNode& node, const Object& object, FeatureNames& out) {
    const bool dna = alphabet_of(node) == Alphabet::dna;
    each_kmer(node, object, [&](std::string_view kmer) {
        std::string name(kmer);
        for (char& c : name) {
            if (dna) c = "ACGT"[static_cast<unsigned char>(c)];
        }
        out.try_emplace(hash_bytes(kmer), std::move(name));
    });
}

void check(const KernelNode& node) {
    if (node.parameter("strand") == 1 && alphabet_of(node) != Alphabet::dna) {
        throw InvalidInput("strand=both of spectrum needs alphabet=dna");
    }
}

}  // namespace

const Leaf& spectrum_leaf() {
    static const Leaf leaf{
        .entry = {.name = "spectrum",
                  .aliases = {"kmers"},
                  .formula = "sum over k-mers u of count_u(x) count_u(z)",
                  .about = "texts by the k letters in a row that they share",
                  .parameters = {whole("k", {"length"}, 1, 1000, 3.0), alphabet_form(),
                                 word("strand", {"one", "both"}), window_forms()[0],
                                 window_forms()[1]}},
        .objects = ObjectKind::text,
        .features = features,
        .counts = true,
        .name_features = name_features,
        .check = check,
    };
    return leaf;
}

}  // namespace mercer
