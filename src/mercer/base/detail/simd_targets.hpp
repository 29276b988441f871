// Functions compiled once for each vector level by Highway's foreach_target, and the choice among
// them at run time. For .cpp files that include <hwy/highway.h>:
//
//     MERCER_SIMD_EXPORT(run);                // after HWY_AFTER_NAMESPACE, within #if HWY_ONCE
//     MERCER_SIMD(run)(arguments);
//
// Highway's own HWY_DYNAMIC_DISPATCH needs its shared library, which measures the resolution of a
// timer whenever it is loaded: 4 ms at the start of every program. With this choice of our own
// Highway is a matter of headers only.
#pragma once

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstddef>

namespace mercer {

/// Position of a level among the functions of a table, the best level first.
constexpr std::size_t simd_slot(long long target) {
    for (std::size_t slot = 0; slot < HWY_MAX_DYNAMIC_TARGETS; ++slot) {
        if (((HWY_CHOSEN_TARGET_SHIFT(target) >> (slot + 1)) & 1) != 0) return slot;
    }
    return HWY_MAX_DYNAMIC_TARGETS;  // plain code
}

/// That of the level in use.
std::size_t simd_slot_in_use();

}  // namespace mercer

#define MERCER_SIMD_EXPORT(name)                \
    static decltype(&HWY_STATIC_DISPATCH(name)) \
        const name##_table[] = {HWY_CHOOSE_TARGET_LIST(name), HWY_CHOOSE_FALLBACK(name)}
#define MERCER_SIMD(name) (*name##_table[::mercer::simd_slot_in_use()])
