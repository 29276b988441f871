// gapped: words with gaps that two texts share [Ghandi et al. 2014]
#include "mercer/base/error.hpp"
#include "mercer/kernel/leaf/text/detail/hamming.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// Two words of g letters that agree in g − d of them agree on C(g − d, g − m) choices of g − m
/// places.
std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> texts) {
    const double g = node.parameter("g");
    const double m = node.parameter("m");
    std::vector<double> weights;
    for (double d = 0; d <= m; ++d) weights.push_back(choose(g - d, g - m));
    return hamming_pairs(node, texts, static_cast<std::size_t>(g), weights);
}

void check(const KernelNode& node) {
    if (node.parameter("m") < node.parameter("g")) return;
    throw InvalidInput("m of gapped must be less than g: some of the g letters are no gaps");
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "counts of words of g letters with m of them left open "
        "(Ghandi et al. 2014)");
}

}  // namespace

const Leaf& gapped_leaf() {
    static const Leaf leaf{
        .entry = {.name = "gapped",
                  .formula = "sum over words u of g letters, m of them open, of count_u(x) "
                             "count_u(z)",
                  .about = "texts by the words with gaps that they share",
                  .parameters = {whole("g", {}, 1, longest_word, 10.0), whole("m", {}, 0, 20, 4.0),
                                 alphabet_form(), window_forms()[0], window_forms()[1]}},
        .objects = ObjectKind::text,
        .prepare = prepare,
        .check = check,
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
