// top: by the slopes of the log odds of two classes, tangent vectors of posterior log odds [Tsuda
// and others 2002]
#include <algorithm>

#include "mercer/base/error.hpp"
#include "mercer/kernel/leaf/generative/detail/generative.hpp"

namespace mercer {

const Leaf& top_leaf();

namespace {

using namespace leaves;

/// v(x) = log p(x, first class) − log p(x, second class), then its slopes.
std::vector<double> tangent(const KernelNode& node, const Object& object) {
    std::vector<double> first;
    std::vector<double> second;
    const double odds = model_score(node, 0, object, first) - model_score(node, 1, object, second);
    std::vector<double> result{odds};
    result.insert(result.end(), first.begin(), first.end());
    for (const double v : second) result.push_back(-v);
    return result;
}

void features(const KernelNode& node, const Object& object, Features& out) {
    write_features(node, tangent(node, object), out);
}

KernelNode settle(const KernelNode& node, std::span<const Object> objects,
                  std::span<const std::int32_t> classes) {
    const std::int32_t most = classes.empty() ? 0 : *std::ranges::max_element(classes);
    if (most != 1) {
        throw InvalidInput("top is a kernel for two classes, and there are " +
                           std::to_string(most + 1) + "; use fisher, or one class against another");
    }
    return scaled(fit_models(node, objects, classes, 2), objects, tangent);
}

KernelNode read(Scanner& in) {
    return read_generative(in, top_leaf().entry, 2);
}

}  // namespace

const Leaf& top_leaf() {
    static const Leaf leaf = [] {
        Leaf made = generative_leaf(
            {.name = "top",
             .formula = "v(x) v(z) + V(x)' I^-1 V(z), v the log odds of two classes by a model "
                        "of each, V its slopes in their parameters",
             .about = "top(hmm(states=5)), top(gmm(components=4)): as fisher, with a model of "
                      "each of two classes; fitted by a classifier, which knows the labels",
             .parameters = generative_forms({word("information", {"identity", "diagonal"}, 1)})},
            features, read, settle);
        made.needs_classes = true;
        return made;
    }();
    return leaf;
}

}  // namespace mercer
