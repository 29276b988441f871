// How fast this machine multiplies matrices of single precision at best: A (m × k) by B' (k × n),
// the products that predicting m rows with n support vectors of k columns is made of.
//
//     product_rate M N K THREADS
//
// Prints the best of several runs of oneDNN's and OpenBLAS's sgemm.
#include <cblas.h>
#include <dnnl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"

namespace {

using namespace mercer;

template <class Work>
double best_seconds(Work&& work) {
    double best = 1e300;
    for (int run = 0; run < 5; ++run) {
        const auto start = std::chrono::steady_clock::now();
        work();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        best = std::min(best, taken.count());
    }
    return best;
}

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random.uniform());
    return values;
}

/// Rows of C at a time: the whole of a large product would measure the memory, not the multiplier.
constexpr std::size_t most_rows = 1024;

int run(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: product_rate M N K THREADS\n");
        return 2;
    }
    const auto size = [&](int i) { return static_cast<std::size_t>(std::atoll(argv[i])); };
    const std::size_t m = std::min(size(1), most_rows);
    const std::size_t n = size(2);
    const std::size_t k = size(3);
    if (m * n * k == 0 || n > 10'000'000 || k > 1'000'000) {
        std::fprintf(stderr, "product_rate: sizes must be positive and moderate\n");
        return 2;
    }
    set_threads(size(4));
    const auto a = random_values(m * k, 1);
    const auto b = random_values(n * k, 2);
    std::vector<float> c(m * n);
    const auto dim = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
    const double onednn = best_seconds([&] {
        dnnl_sgemm('N', 'T', dim(m), dim(n), dim(k), 1.0F, a.data(), dim(k), b.data(), dim(k), 0.0F,
                   c.data(), dim(n));
    });
    const BlasThreads all_threads;
    const auto length = [](std::size_t value) { return static_cast<blasint>(value); };
    const double openblas = best_seconds([&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, length(m), length(n), length(k), 1.0F,
                    a.data(), length(k), b.data(), length(k), 0.0F, c.data(), length(n));
    });
    const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n * k);
    std::printf("{\"gflops\": %.4g, \"onednn\": %.4g, \"openblas\": %.4g}\n",
                flops / std::min(onednn, openblas) * 1e-9, flops / onednn * 1e-9,
                flops / openblas * 1e-9);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "product_rate: %s\n", error.what());
        return 1;
    }
}
