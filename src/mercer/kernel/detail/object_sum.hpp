// Kernels by pairs (detail/object_leaf.hpp) whose sums over many objects are one function: a value
// of it costs about the same however many objects there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "mercer/kernel/detail/object_leaf.hpp"

namespace mercer {

struct KernelNode;

/// f(z) = Σ_r weights[r] k(x_r, z). It stands alone: the x_r are no longer needed.
class ObjectSum {
   public:
    ObjectSum() = default;
    ObjectSum(const ObjectSum&) = delete;
    ObjectSum& operator=(const ObjectSum&) = delete;
    virtual ~ObjectSum() = default;

    /// sums[c] += f(z_columns[c]), by all threads. `z` was made by the same leaf with the same
    /// parameters.
    virtual void add(const ObjectPairs& z, std::span<const std::uint32_t> columns,
                     std::span<double> sums) const = 0;
};

/// What a leaf that has such sums prepares.
class SummedPairs : public ObjectPairs {
   public:
    /// The sum over x_which with these weights, made ready to be taken at about so many objects.
    virtual std::unique_ptr<const ObjectSum> sum(std::span<const std::uint32_t> which,
                                                 std::span<const double> weights,
                                                 std::size_t columns) const = 0;
    /// Whether so many of these, at so many others, are summed faster that way than pair by pair.
    virtual bool sum_pays(std::size_t count, std::size_t columns) const = 0;
};

/// Whether a leaf that works by pairs has such sums.
bool has_sums(const KernelNode& leaf);

}  // namespace mercer
