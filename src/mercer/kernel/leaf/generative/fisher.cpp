// fisher: by the slopes of a model's log-likelihood [Jaakkola and Haussler 1999]
#include "mercer/kernel/leaf/detail/generative.hpp"

namespace mercer {

const Leaf& fisher_leaf();

namespace {

using namespace leaves;

void features(const KernelNode& node, const Object& object, Features& out) {
    std::vector<double> slopes;
    model_score(node, 0, object, slopes);
    write_features(node, slopes, out);
}

KernelNode settle(const KernelNode& node, std::span<const Object> objects,
                  std::span<const std::int32_t>) {
    KernelNode fitted = fit_models(node, objects, {}, 1);
    if (fitted.parameter("information") == 0) return fitted;
    Scores scores(objects.size());
    for (std::size_t i = 0; i < objects.size(); ++i) model_score(fitted, 0, objects[i], scores[i]);
    add_scale(fitted, scores);
    return fitted;
}

KernelNode read(Scanner& in) {
    return read_generative(in, fisher_leaf().entry, 1);
}

}  // namespace

const Leaf& fisher_leaf() {
    static const Leaf leaf{
        .entry = {.name = "fisher",
                  .formula = "U(x)' I^-1 U(z), U the slopes of log p in the parameters of a model",
                  .about = "fisher(gmm(components=8)), fisher(hmm(states=5)): rows or texts by how "
                           "a model fitted to the data would have to change for them; I the "
                           "diagonal of the information found in the data, or the identity",
                  .parameters =
                      generative_forms({word("information", {"identity", "diagonal"}, 1)})},
        .features = features,
        .objects_by_parameter = generative_objects,
        .read = read,
        .arguments = generative_arguments,
        .waits = is_unfitted,
        .settle = settle,
    };
    return leaf;
}

}  // namespace mercer
