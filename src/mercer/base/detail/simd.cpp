#include "mercer/base/detail/simd.hpp"

#include <atomic>

#include "mercer/base/detail/simd_targets.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

/// Whether the processor, and the system it runs under, have what Highway compiles a level for.
bool runs_here(long long target) {
#if defined(__x86_64__)
    switch (target) {
        case HWY_AVX3:
            return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
        case HWY_AVX2:  // and F16C, which no processor with these lacks
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                   __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
        case HWY_SSE4:
            return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") &&
                   __builtin_cpu_supports("pclmul");
        case HWY_SSSE3: return __builtin_cpu_supports("ssse3");
        default: break;
    }
#endif
    return target == HWY_STATIC_TARGET || target == HWY_SCALAR || target == HWY_EMU128;
}

std::vector<long long> levels_here() {
    std::vector<long long> levels;
    for (long long rest = HWY_TARGETS; rest != 0; rest &= rest - 1) {
        const long long target = rest & -rest;  // lower bits are better levels
        if (runs_here(target)) levels.push_back(target);
    }
    return levels;
}

std::atomic<std::size_t>& slot_in_use() {
    static std::atomic<std::size_t> slot{simd_slot(levels_here().front())};
    return slot;
}

}  // namespace

std::size_t simd_slot_in_use() {
    return slot_in_use().load(std::memory_order_relaxed);
}

std::vector<std::string> simd_levels() {
    std::vector<std::string> names;
    for (const long long target : levels_here()) names.emplace_back(hwy::TargetName(target));
    return names;
}

void use_simd_level(const std::string& level) {
    std::string known;
    for (const long long target : levels_here()) {
        const std::string name = hwy::TargetName(target);
        if (level.empty() || level == name) {
            slot_in_use() = simd_slot(target);
            return;
        }
        known += ' ' + name;
    }
    throw InvalidInput("no vector level " + quoted(level) + " here; there are:" + known);
}

}  // namespace mercer
