// dynamic_alignment: the probability that a pair hidden Markov model makes both texts [Watkins
// 1999]
#include "mercer/kernel/leaf/text/detail/alignment.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// The model makes pairs of letters, equal ones with probability `same`, and between two pairs, and
/// at both ends, letters in either text apart: none with probability 1 − open, else n with
/// open (1 − extend) extend^(n-1). Single letters are equally likely, 1/letters each; as the
/// normalised kernel has this factor for every letter above and below, a pair weighs its
/// probability times letters².
std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> texts) {
    const double same = node.parameter("same");
    const double letters = node.parameter("letters");
    const double open = node.parameter("open");
    const double extend = node.parameter("extend");
    return alignment_pairs(node, texts,
                           {.same = same * letters,
                            .other = (1 - same) * letters / (letters - 1),
                            .no_gap = 1 - open,
                            .gap = open * (1 - extend),
                            .longer = extend,
                            .whole = true});
}

Finding judge(const KernelNode& node, const Assumptions&) {
    if (node.parameter("same") >= 1 / node.parameter("letters")) {
        return Finding::positive(
            "letters of the two texts are independent given the states of the model, as "
            "same >= 1/letters (Watkins 1999)");
    }
    return Finding::unknown("equal letters are less likely in a pair than others");
}

ParameterForm probability(const char* name, double low, double high, double fallback) {
    ParameterForm form = any(name, {}, fallback);
    form.low = low;
    form.high = high;
    return form;
}

}  // namespace

const Leaf& dynamic_alignment_leaf() {
    static const Leaf leaf{
        .entry = {.name = "dynamic_alignment",
                  .aliases = {"pair_hmm"},
                  .formula = "P(x,z) / sqrt(P(x,x) P(z,z)), P of a pair hidden Markov model",
                  .about = "texts by the probability of being made together, pairs of letters "
                           "equal with probability `same`, gaps begun with `open` and continued "
                           "with `extend`",
                  .parameters = {probability("same", 0, 1, 0.9), whole("letters", {}, 2, 256, 4.0),
                                 probability("open", 0, 0.999, 0.1),
                                 probability("extend", 0, 0.999, 0.5), alphabet_form(),
                                 window_forms()[0], window_forms()[1]}},
        .objects = ObjectKind::text,
        .prepare = prepare,
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
