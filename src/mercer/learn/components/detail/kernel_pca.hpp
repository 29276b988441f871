// What both ways to kernel principal components share: from all rows, and in the span of some.
#pragma once

#include <cstddef>
#include <span>

#include "mercer/learn/components/kernel_pca.hpp"

namespace mercer {

/// Throws InvalidInput that names the setting.
void check_settings(const KernelPcaSettings& settings);
/// Its largest number made positive; returns the sign it was multiplied by.
double flip_to_positive(std::span<double> v);
[[noreturn]] void refuse_no_variance(std::size_t rows);

}  // namespace mercer
