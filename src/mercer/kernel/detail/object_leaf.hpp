// The two ways in which a leaf can be a kernel on texts, graphs or rows as a whole
// (detail/leaf.hpp):
//
//   explicit   it writes down the features of one object, φ(x), and k(x, z) = φ(x)·φ(z). The engine
//              turns features into sparse rows, and all that is fast there is fast here;
//   by pairs   it prepares objects once and then fills rows of pairs, by dynamic programming or bit
//              operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mercer/base/object.hpp"

namespace mercer {

/// One coordinate of φ(x). Which one is told by a hash of what the feature is (the k-mer, the word,
/// the labelled neighbourhood), never by its place in a sample: two samples agree without having
/// met. Of 64 bits, so that two of a million features share one with a chance of 3 in 10⁸.
struct Feature {
    std::uint64_t identity = 0;
    double value = 0;

    friend bool operator==(const Feature&, const Feature&) = default;
};
/// In any order; those of equal identity count as their sum.
using Features = std::vector<Feature>;

/// Sorted by identity, equal ones added up, zeros left out.
void collect_features(Features& features);
/// The same in any order, which is faster where they are counts.
void gather_features(Features& features);
/// φ(x)·φ(z) of features that were collected.
double product_of(const Features& x, const Features& z);

/// A hash that spreads well, of a number (splitmix64's finisher, Steele, Lea and Flood 2014) and of
/// bytes; the same in every program and on every machine.
constexpr std::uint64_t hash_number(std::uint64_t v) {
    v += 0x9e3779b97f4a7c15U;
    v = (v ^ (v >> 30U)) * 0xbf58476d1ce4e5b9U;
    v = (v ^ (v >> 27U)) * 0x94d049bb133111ebU;
    return v ^ (v >> 31U);
}
constexpr std::uint64_t hash_together(std::uint64_t a, std::uint64_t b) {
    return hash_number(a ^ (hash_number(b) + 0x632be59bd9b4e019U + (a << 6U) + (a >> 2U)));
}
std::uint64_t hash_bytes(std::string_view bytes);

/// What people call features: a k-mer, a word.
using FeatureNames = std::unordered_map<std::uint64_t, std::string>;

/// Objects made ready for a leaf that works by pairs. Immutable, asked from many threads.
class ObjectPairs {
   public:
    ObjectPairs() = default;
    ObjectPairs(const ObjectPairs&) = delete;
    ObjectPairs& operator=(const ObjectPairs&) = delete;
    virtual ~ObjectPairs() = default;

    /// out[c] = k(x_i, z_columns[c]). `z` was made by the same leaf with the same parameters, and
    /// may be this itself.
    virtual void row(std::size_t i, const ObjectPairs& z, std::span<const std::uint32_t> columns,
                     std::span<double> out) const = 0;
    /// k(x_i, x_i)
    virtual double self(std::size_t i) const {
        const auto column = static_cast<std::uint32_t>(i);
        double value = 0;
        row(i, *this, {&column, 1}, {&value, 1});
        return value;
    }
    /// out[c] = ∂k(x_i, z_columns[c])/∂θ of a canonical parameter that the leaf lists in
    /// `pair_slopes`.
    virtual void slope_row(const std::string& parameter, std::size_t i, const ObjectPairs& z,
                           std::span<const std::uint32_t> columns, std::span<double> out) const;
    /// About what one pair of these costs, in arithmetic operations.
    virtual double pair_work() const = 0;
};

}  // namespace mercer
