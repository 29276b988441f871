// local_alignment: all alignments of parts of two texts, by their scores [Saigo et al. 2004]
#include "mercer/kernel/leaf/text/detail/alignment.hpp"

namespace mercer {
namespace {

using namespace leaves;

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> texts) {
    const double beta = node.parameter("beta");
    return alignment_pairs(node, texts,
                           {.same = std::exp(beta * node.parameter("match")),
                            .other = std::exp(beta * node.parameter("mismatch")),
                            .no_gap = 1,
                            .gap = std::exp(-beta * node.parameter("open")),
                            .longer = std::exp(-beta * node.parameter("extend"))});
}

Finding judge(const KernelNode& node, const Assumptions&) {
    if (node.parameter("match") >= node.parameter("mismatch")) {
        return Finding::positive(
            "a convolution of exp(beta score), positive definite as match >= mismatch, and of "
            "weights of gaps in either text (Vert, Saigo and Akutsu 2004)");
    }
    return Finding::unknown("exp(beta score) is not positive definite for match < mismatch");
}

ParameterForm bounded(const char* name, double low, double high, double fallback) {
    ParameterForm form = any(name, {}, fallback);
    form.low = low;
    form.high = high;
    return form;
}

}  // namespace

const Leaf& local_alignment_leaf() {
    static const Leaf leaf{
        .entry = {.name = "local_alignment",
                  .aliases = {"la"},
                  .formula = "S(x,z) / sqrt(S(x,x) S(z,z)), S the sum over local alignments of "
                             "exp(beta score)",
                  .about = "texts by all alignments of their parts; a score is match or mismatch "
                           "for each pair, minus open + extend (n-1) for each gap of n letters",
                  .parameters = {bounded("beta", 0, 10, 0.5), bounded("match", -10, 10, 1),
                                 bounded("mismatch", -10, 10, -1), bounded("open", 0, 100, 2),
                                 bounded("extend", 0, 100, 1), alphabet_form(), window_forms()[0],
                                 window_forms()[1]}},
        .objects = ObjectKind::text,
        .prepare = prepare,
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
