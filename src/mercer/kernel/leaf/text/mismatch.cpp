// mismatch: k-mers that two texts share up to m letters [Leslie et al. 2004]
#include <array>

#include "mercer/base/error.hpp"
#include "mercer/kernel/leaf/text/detail/hamming.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// Letters of the alphabet: as given, or all that there are.
double alphabet_size(const KernelNode& node) {
    const double given = node.parameter("letters");
    if (given > 0) return given;
    return alphabet_of(node) == Alphabet::dna ? 4 : 256;
}

/// Words at distance at most m from both of two words that differ in d letters. Where these differ,
/// `first` letters are as in one of them, `second` as in the other and the rest as in neither;
/// where they agree, `other` letters differ from both (Kuksa, Huang and Pavlovic 2008).
double shared_neighbours(double k, double m, double letters, double d) {
    double sum = 0;
    for (double first = 0; first <= d; ++first) {
        for (double second = 0; first + second <= d; ++second) {
            const double neither = d - first - second;
            for (double other = 0; other <= k - d; ++other) {
                if (d - first + other > m || d - second + other > m) continue;
                sum += choose(d, first) * choose(d - first, second) *
                       std::pow(letters - 2, neither) * choose(k - d, other) *
                       std::pow(letters - 1, other);
            }
        }
    }
    return sum;
}

void check_letters(const KernelNode& node, std::span<const Object> texts) {
    std::array<bool, 256> met{};
    const Alphabet alphabet = alphabet_of(node);
    for (const Object& object : texts) {
        const auto text = in_window(node, std::get<std::string_view>(object));
        for (const std::uint8_t letter : letters(text, alphabet)) met[letter] = true;
    }
    if (alphabet == Alphabet::dna) met[no_letter] = false;
    std::size_t count = 0;
    for (const bool m : met) count += m ? 1 : 0;
    const auto most = static_cast<std::size_t>(alphabet_size(node));
    if (count <= most) return;
    throw InvalidInput("the texts have " + std::to_string(count) +
                       " different letters, more than letters=" + std::to_string(most) +
                       " of mismatch; give the size of their alphabet");
}

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> texts) {
    check_letters(node, texts);
    const double k = node.parameter("k");
    const double m = node.parameter("m");
    std::vector<double> weights;
    for (double d = 0; d <= std::min(k, 2 * m); ++d) {
        weights.push_back(shared_neighbours(k, m, alphabet_size(node), d));
    }
    return hamming_pairs(node, texts, static_cast<std::size_t>(k), weights);
}

void check(const KernelNode& node) {
    if (node.parameter("m") < node.parameter("k")) return;
    throw InvalidInput(
        "m of mismatch must be less than k: with m = k every word is like every "
        "other");
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "counts of the words that each k-mer is near to, for texts of at most `letters` different "
        "letters (Leslie et al. 2004)");
}

}  // namespace

const Leaf& mismatch_leaf() {
    static const Leaf leaf{
        .entry = {.name = "mismatch",
                  .formula = "sum over words u of near_u(x) near_u(z), near_u the k-mers that "
                             "differ from u in at most m letters",
                  .about = "texts by the k letters in a row that they share up to m; letters: "
                           "those of the alphabet (4 of dna, else 256)",
                  .parameters = {whole("k", {"length"}, 1, longest_word, 5.0),
                                 whole("m", {}, 0, 20, 1.0), whole("letters", {}, 0, 256, 0.0),
                                 alphabet_form(), window_forms()[0], window_forms()[1]}},
        .objects = ObjectKind::text,
        .prepare = prepare,
        .check = check,
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
