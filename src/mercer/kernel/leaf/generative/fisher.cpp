// fisher: by the slopes of a model's log-likelihood [Jaakkola and Haussler 1999]
#include "mercer/kernel/leaf/generative/detail/generative.hpp"

namespace mercer {

const Leaf& fisher_leaf();

namespace {

using namespace leaves;

std::vector<double> slopes_of(const KernelNode& node, const Object& object) {
    std::vector<double> slopes;
    model_score(node, 0, object, slopes);
    return slopes;
}

void features(const KernelNode& node, const Object& object, Features& out) {
    write_features(node, slopes_of(node, object), out);
}

KernelNode settle(const KernelNode& node, std::span<const Object> objects,
                  std::span<const std::int32_t>) {
    return scaled(fit_models(node, objects, {}, 1), objects, slopes_of);
}

KernelNode read(Scanner& in) {
    return read_generative(in, fisher_leaf().entry, 1);
}

}  // namespace

const Leaf& fisher_leaf() {
    static const Leaf leaf = generative_leaf(
        {.name = "fisher",
         .formula = "U(x)' I^-1 U(z), U the slopes of log p in the parameters of a model",
         .about = "fisher(gmm(components=8)), fisher(hmm(states=5)): rows or texts by how "
                  "a model fitted to the data would have to change for them; I the "
                  "diagonal of the information found in the data, or the identity",
         .parameters = generative_forms({word("information", {"identity", "diagonal"}, 1)})},
        features, read, settle);
    return leaf;
}

}  // namespace mercer
