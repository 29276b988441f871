// marginalised: letters counted together with the hidden states that wrote them, of which only
// chances are known [Tsuda, Kin and Asai 2002]
#include "mercer/base/detail/scanner.hpp"
#include "mercer/kernel/leaf/generative/detail/generative.hpp"

namespace mercer {

const Leaf& marginalised_leaf();

namespace {

using namespace leaves;

void features(const KernelNode& node, const Object& object, Features& out) {
    const bool pairs = node.parameter("order") == 2;
    const Chain text = chain_of(node, object);
    const Expected found = expected_counts(markov_of(node, 0), text, pairs);
    const std::vector<double>& counts = pairs ? found.pairs : found.emission.values();
    // Shares in place of counts: texts of different lengths are to be compared.
    const double length = static_cast<double>(text.size()) - (pairs ? 1 : 0);
    for (std::size_t k = 0; k < counts.size(); ++k) {
        if (counts[k] > 0) out.push_back({hash_number(k + 1), counts[k] / length});
    }
}

KernelNode settle(const KernelNode& node, std::span<const Object> objects,
                  std::span<const std::int32_t>) {
    return fit_models(node, objects, {}, 1);
}

KernelNode read(Scanner& in) {
    const std::size_t where = in.position();
    KernelNode node = read_generative(in, marginalised_leaf().entry, 1);
    if (model_kind(node) != ModelKind::hmm) {
        in.fail_at(where, "marginalised needs a model with hidden states, hmm(states=5)");
    }
    return node;
}

}  // namespace

const Leaf& marginalised_leaf() {
    static const Leaf leaf = generative_leaf(
        {.name = "marginalised",
         .aliases = {"marginalized", "mck"},
         .formula = "sum over states i, letters u of share_iu(x) share_iu(z), expected by a "
                    "hidden Markov model",
         .about = "marginalised(hmm(states=5)): texts by their letters told apart by the "
                  "hidden state; order=2: by two of them in a row",
         .parameters = generative_forms({whole("order", {}, 1, 2, 1.0)})},
        features, read, settle);
    return leaf;
}

}  // namespace mercer
