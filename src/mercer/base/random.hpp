// Random numbers of our own, because the standard library's distributions differ between
// implementations and a seed must give the same answer everywhere and for any number of threads.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// A stream of random numbers: xoshiro256++ (Blackman and Vigna, 2019) seeded by splitmix64.
/// Different streams of one seed are independent; give each parallel task its own.
class Random {
   public:
    explicit Random(std::uint64_t seed, std::uint64_t stream = 0) {
        std::uint64_t x = seed ^ mix(stream + golden_ratio);
        for (std::uint64_t& word : state_) word = mix(x += golden_ratio);
    }

    std::uint64_t bits() {
        const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return result;
    }

    /// Uniform in [0, 1).
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
    double uniform(double low, double high) { return low + (high - low) * uniform(); }

    /// Uniform in [0, count); count > 0. Rejection keeps it exactly uniform.
    std::size_t below(std::size_t count) {
        const std::uint64_t n = count;
        const std::uint64_t limit = (0 - n) % n;
        std::uint64_t value = bits();
        while (value < limit) value = bits();
        return value % n;
    }

    /// Standard normal, by Box and Muller's polar-free form.
    double normal() {
        const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
        return radius * std::cos(2.0 * std::numbers::pi * uniform());
    }

    template <class T>
    void shuffle(std::span<T> values) {
        for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

   private:
    static constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;

    static std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
        return x ^ (x >> 31);
    }

    std::array<std::uint64_t, 4> state_{};
};

}  // namespace mercer
