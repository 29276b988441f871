#include "mercer/kernel/detail/object_sum.hpp"

#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {

bool has_sums(const KernelNode& leaf) {
    if (leaf.leaf == nullptr || leaf.leaf->prepare == nullptr) return false;
    return dynamic_cast<const SummedPairs*>(leaf.leaf->prepare(leaf, {}).get()) != nullptr;
}

}  // namespace mercer
