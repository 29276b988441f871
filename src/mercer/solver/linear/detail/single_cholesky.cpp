#include "mercer/solver/linear/detail/single_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "mercer/base/detail/blas.hpp"
#include "mercer/base/detail/dot.hpp"
#include "mercer/base/detail/lapack.hpp"
#include "mercer/base/detail/slices.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

constexpr std::size_t block = 256;

int length(std::size_t value) {
    return static_cast<int>(value);
}

/// The parts of a square matrix cut into blocks.
struct Blocks {
    MatrixView<float> a;

    std::size_t count() const { return (a.rows + block - 1) / block; }
    std::size_t extent(std::size_t b) const { return std::min(block, a.rows - b * block); }
    MatrixView<float> at(std::size_t i, std::size_t j) const {
        return a.block(i * block, j * block, extent(i), extent(j));
    }
    /// Block row i, all columns before the block on the diagonal.
    MatrixView<float> before(std::size_t i) const {
        return a.block(i * block, 0, extent(i), i * block);
    }
};

/// y += alpha A x, or A'x, on the calling thread.
void add_product(bool transposed, float alpha, MatrixView<const float> a, const float* x,
                 float* y) {
    if (a.rows == 0 || a.columns == 0) return;
    MERCER_BLAS(cblas_sgemv)
    (CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, length(a.rows), length(a.columns),
     alpha, a.data, length(a.stride), x, 1, 1.0F, y, 1);
}

void solve_triangle(bool transposed, MatrixView<const float> d, float* x) {
    MERCER_BLAS(cblas_strsv)
    (CblasRowMajor, CblasLower, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit,
     length(d.rows), d.data, length(d.stride), x, 1);
}

}  // namespace

bool single_cholesky(MatrixView<float> a, const Progress& progress) {
    const Blocks blocks{a};
    products_fit_processor();  // leaves BLAS on the calling thread
    constexpr double work = 2.0 * block * block * block;
    for (std::size_t k = 0; k < blocks.count(); ++k) {
        const double left = 1 - static_cast<double>(k) / static_cast<double>(blocks.count());
        const Moment moment{"factorising", 1 - left * left * left};
        const MatrixView<float> d = blocks.at(k, k);
        // Row-major and lower is column-major and upper for LAPACK.
        if (lapack::spotrf('U', length(d.rows), d.data, length(d.stride)) != 0) return false;
        const std::size_t below = blocks.count() - k - 1;
        parallel_slices(below, work, progress, moment, [&](std::size_t r) {  // L_ik = A_ik L_kk'⁻¹
            const MatrixView<float> b = blocks.at(k + 1 + r, k);
            MERCER_BLAS(cblas_strsm)
            (CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, length(b.rows),
             length(b.columns), 1.0F, d.data, length(d.stride), b.data, length(b.stride));
        });
        const std::size_t pairs = below * (below + 1) / 2;
        parallel_slices(
            pairs, work, progress, moment, [&](std::size_t task) {  // A_ij −= L_ik L_jk'
                std::size_t r = 0;
                while ((r + 1) * (r + 2) / 2 <= task) ++r;
                const std::size_t s = task - r * (r + 1) / 2;
                subtract_product_transposed(blocks.at(k + 1 + r, k), blocks.at(k + 1 + s, k),
                                            blocks.at(k + 1 + r, k + 1 + s));
            });
    }
    return true;
}

void single_cholesky_solve(MatrixView<float> factor, std::span<const double> r,
                           std::span<double> z) {
    const Blocks blocks{factor};
    const double size = std::sqrt(dot(r, r));
    std::vector<float> x(r.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(r[i] / size);
    constexpr std::size_t slice = 64;  // rows or columns a task
    for (std::size_t i = 0; i < blocks.count(); ++i) {
        const MatrixView<float> strip = blocks.before(i);
        parallel_ranges(strip.rows, slice, [&](std::size_t first, std::size_t last) {
            add_product(false, -1, strip.block(first, 0, last - first, strip.columns), x.data(),
                        x.data() + i * block + first);
        });
        solve_triangle(false, blocks.at(i, i), x.data() + i * block);
    }
    for (std::size_t i = blocks.count(); i-- > 0;) {
        solve_triangle(true, blocks.at(i, i), x.data() + i * block);
        const MatrixView<float> strip = blocks.before(i);
        parallel_ranges(strip.columns, 1024, [&](std::size_t first, std::size_t last) {
            add_product(true, -1, strip.block(0, first, strip.rows, last - first),
                        x.data() + i * block, x.data() + first);
        });
    }
    for (std::size_t i = 0; i < x.size(); ++i) z[i] = size * static_cast<double>(x[i]);
}

}  // namespace mercer
