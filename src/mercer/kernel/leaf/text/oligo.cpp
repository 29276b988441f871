// oligo: k-mers that two texts share at nearby places [Meinicke, Tech, Morgenstern and Merkl 2004]
#include <algorithm>

#include "mercer/kernel/leaf/detail/each_pair.hpp"
#include "mercer/kernel/leaf/detail/letters.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// Places further apart than this many sigma have exp(−50) and less.
constexpr double reach = 14.2;

struct Places {
    struct Item {
        std::uint64_t order = 0;
        /// (what the k-mer is, where it begins), sorted
        std::vector<std::pair<std::uint64_t, double>> kmers{};
    };
    struct Scratch {};

    Item item(const Object& object) const;
    /// Sums f(p − q) over pairs of equal k-mers at p and q.
    template <class F>
    double over_pairs(const Item& x, const Item& z, F f) const {
        double sum = 0;
        auto begin = z.kmers.begin();
        for (const auto& [kmer, p] : x.kmers) {
            const std::pair first{kmer, p - reach * sigma};
            while (begin != z.kmers.end() && *begin < first) ++begin;
            for (auto q = begin; q != z.kmers.end() && q->first == kmer; ++q) {
                if (q->second > p + reach * sigma) break;
                sum += f(p - q->second);
            }
        }
        return sum;
    }
    double operator()(const Item& x, const Item& z, Scratch&) const {
        const double rate = 1 / (4 * sigma * sigma);
        return over_pairs(x, z, [&](double gap) { return std::exp(-rate * gap * gap); });
    }
    double slope(const std::string&, const Item& x, const Item& z, Scratch&) const {
        const double rate = 1 / (4 * sigma * sigma);
        return over_pairs(x, z, [&](double gap) {
            return std::exp(-rate * gap * gap) * gap * gap / (2 * sigma * sigma * sigma);
        });
    }
    double pair_work(const std::vector<Item>& items) const {
        return 20 * mean_of(items, [](const Item& i) { return i.kmers.size(); });
    }

    KernelNode node{};
    double sigma = 1;
};

Places::Item Places::item(const Object& object) const {
    const auto k = static_cast<std::size_t>(node.parameter("k"));
    const Alphabet alphabet = alphabet_of(node);
    const auto text = letters(in_window(node, std::get<std::string_view>(object)), alphabet);
    Item result;
    std::size_t whole = 0;  // letters in a row that belong to the alphabet
    for (std::size_t end = 1; end <= text.size(); ++end) {
        whole = alphabet == Alphabet::dna && text[end - 1] == no_letter ? 0 : whole + 1;
        if (whole < k) continue;
        const std::string_view kmer(reinterpret_cast<const char*>(text.data() + (end - k)), k);
        result.kmers.emplace_back(hash_bytes(kmer), static_cast<double>(end - k));
    }
    std::ranges::sort(result.kmers);
    result.order = hash_bytes({reinterpret_cast<const char*>(text.data()), text.size()});
    return result;
}

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> texts) {
    return each_pair(Places{node, node.parameter("sigma")}, texts);
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "an inner product of functions of the place, Gaussians at each k-mer (Meinicke et al. "
        "2004)");
}

}  // namespace

const Leaf& oligo_leaf() {
    // Made before: where memory runs out in the middle of the leaf, g++ 12 takes it down wrongly.
    std::vector<std::string> slopes{"sigma"};
    static const Leaf leaf{
        .entry = {.name = "oligo",
                  .formula = "sum over equal k-mers at places p of x and q of z of "
                             "exp(-(p-q)^2 / (4 sigma^2))",
                  .about = "texts by the k letters in a row that they share at nearby places: wd "
                           "for small sigma, spectrum for large",
                  .parameters = {whole("k", {"length"}, 1, 1000, 3.0), above_zero("sigma", {}, 1.0),
                                 alphabet_form(), window_forms()[0], window_forms()[1]}},
        .objects = ObjectKind::text,
        .prepare = prepare,
        .pair_slopes = std::move(slopes),
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
