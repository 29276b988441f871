// How fast this machine multiplies matrices of single precision at best: A (m × k) by B' (k × n),
// the products that predicting m rows with n support vectors of k columns is made of.
//
//     product_rate M N K THREADS
//
// Prints the best of several runs of oneDNN's and OpenBLAS's sgemm.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "../products.hpp"
#include "mercer/base/parallel.hpp"

namespace {

using namespace mercer;

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
    const bench::ProductSeconds seconds = bench::product_seconds(m, n, k);
    const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n * k);
    std::printf("{\"gflops\": %.4g, \"onednn\": %.4g, \"openblas\": %.4g}\n",
                flops / seconds.best() * 1e-9, flops / seconds.onednn * 1e-9,
                flops / seconds.openblas * 1e-9);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    return mercer::bench::exit_code_of("product_rate", run, argc, argv);
}
