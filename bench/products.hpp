// What several benchmarks measure with: the best of some runs, and how fast matrices of single
// precision are multiplied here at best.
#pragma once

#include <cblas.h>
#include <dnnl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "best_seconds.hpp"
#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/random.hpp"

namespace mercer::bench {

inline std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random.uniform());
    return values;
}

struct ProductSeconds {
    double onednn = 0;
    double openblas = 0;

    double best() const { return std::min(onednn, openblas); }
};

/// A (m × k) by B' (k × n): oneDNN's and OpenBLAS's sgemm with all their own threads.
inline ProductSeconds product_seconds(std::size_t m, std::size_t n, std::size_t k) {
    const auto a = random_values(m * k, 1);
    const auto b = random_values(n * k, 2);
    std::vector<float> c(m * n);
    const auto dim = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
    ProductSeconds seconds;
    seconds.onednn = best_seconds([&] {
        dnnl_sgemm('N', 'T', dim(m), dim(n), dim(k), 1.0F, a.data(), dim(k), b.data(), dim(k), 0.0F,
                   c.data(), dim(n));
    });
    const BlasThreads all_threads;
    const auto length = [](std::size_t value) { return static_cast<blasint>(value); };
    seconds.openblas = best_seconds([&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, length(m), length(n), length(k), 1.0F,
                    a.data(), length(k), b.data(), length(k), 0.0F, c.data(), length(n));
    });
    return seconds;
}

}  // namespace mercer::bench
