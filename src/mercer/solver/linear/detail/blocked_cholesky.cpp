#include <algorithm>
#include <vector>

#include "mercer/base/detail/blas.hpp"
#include "mercer/base/detail/lapack.hpp"
#include "mercer/base/detail/slices.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/linear/detail/blocked_cholesky.hpp"

namespace mercer {
namespace {

int length(std::size_t value) {
    return static_cast<int>(value);
}

/// Small enough for many tasks, large enough for products near their best rate; by size alone.
std::size_t block_size(std::size_t n) {
    return n < 4096 ? 128 : 256;
}

/// A cut into square blocks.
class Blocks {
   public:
    explicit Blocks(MatrixView<double> a)
        : a_(a), size_(block_size(a.rows)), count_((a.rows + size_ - 1) / size_) {
        products_fit_processor();  // prepares the library, and leaves it on the calling thread
    }

    std::size_t count() const { return count_; }
    /// Operations of one product of two blocks.
    double operations() const {
        const auto side = static_cast<double>(size_);
        return 2 * side * side * side;
    }
    std::size_t first(std::size_t b) const { return b * size_; }
    std::size_t extent(std::size_t b) const { return std::min(size_, a_.rows - b * size_); }
    MatrixView<double> at(std::size_t i, std::size_t j) const {
        return a_.block(first(i), first(j), extent(i), extent(j));
    }
    /// Block row i, block columns [from, to).
    MatrixView<double> strip(std::size_t i, std::size_t from, std::size_t to) const {
        const std::size_t end = std::min(to * size_, a_.rows);
        const std::size_t begin = std::min(first(from), end);
        return a_.block(first(i), begin, extent(i), end - begin);
    }

   private:
    MatrixView<double> a_;
    std::size_t size_;
    std::size_t count_;
};

/// c = alpha op(a) op(b) + beta c
void product(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, double alpha, MatrixView<const double> a,
             MatrixView<const double> b, double beta, MatrixView<double> c) {
    const std::size_t inner = ta == CblasNoTrans ? a.columns : a.rows;
    if (inner == 0) {
        for (std::size_t i = 0; beta == 0 && i < c.rows; ++i) std::ranges::fill(c.row(i), 0.0);
        return;
    }
    MERCER_BLAS(cblas_dgemm)
    (CblasRowMajor, ta, tb, length(c.rows), length(c.columns), length(inner), alpha, a.data,
     length(a.stride), b.data, length(b.stride), beta, c.data, length(c.stride));
}

/// Tile number `task` of a lower triangle of blocks, row by row.
std::pair<std::size_t, std::size_t> lower(std::size_t task) {
    std::size_t i = 0;
    while ((i + 1) * (i + 2) / 2 <= task) ++i;
    return {i, task - i * (i + 1) / 2};
}

/// L_ii⁻¹ with zeros above its diagonal.
Matrix<double> inverse_of_block(MatrixView<const double> l) {
    Matrix<double> e(l.rows, l.rows);
    for (std::size_t i = 0; i < l.rows; ++i) {
        std::copy_n(l.row(i).begin(), i + 1, e.row(i).begin());
    }
    lapack::dtrtri('U', 'N', length(l.rows), e.values().data(), length(l.rows));
    return e;
}

}  // namespace

bool blocked_cholesky(MatrixView<double> a, const Progress& progress) {
    const Blocks blocks(a);
    for (std::size_t k = 0; k < blocks.count(); ++k) {
        const double left = 1 - static_cast<double>(k) / static_cast<double>(blocks.count());
        const Moment moment{"factorising", 1 - left * left * left};
        const MatrixView<double> d = blocks.at(k, k);
        // Row-major and lower is column-major and upper for LAPACK.
        if (lapack::dpotrf('U', length(d.rows), d.data, length(d.stride)) != 0) {
            return false;
        }
        const std::size_t below = blocks.count() - k - 1;
        const double work = blocks.operations();
        parallel_slices(below, work, progress, moment, [&](std::size_t r) {  // L_ik = A_ik L_kk'⁻¹
            const MatrixView<double> b = blocks.at(k + 1 + r, k);
            MERCER_BLAS(cblas_dtrsm)
            (CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, length(b.rows),
             length(b.columns), 1.0, d.data, length(d.stride), b.data, length(b.stride));
        });
        const std::size_t pairs = below * (below + 1) / 2;
        parallel_slices(
            pairs, work, progress, moment, [&](std::size_t task) {  // A_ij −= L_ik L_jk'
                const auto [r, s] = lower(task);
                const std::size_t i = k + 1 + r;
                const std::size_t j = k + 1 + s;
                if (i != j) {
                    product(CblasNoTrans, CblasTrans, -1, blocks.at(i, k), blocks.at(j, k), 1,
                            blocks.at(i, j));
                    return;
                }
                // Only the lower half of a block on the diagonal is ours to write.
                const MatrixView<double> l = blocks.at(i, k);
                const MatrixView<double> c = blocks.at(i, i);
                MERCER_BLAS(cblas_dsyrk)
                (CblasRowMajor, CblasLower, CblasNoTrans, length(c.rows), length(l.columns), -1,
                 l.data, length(l.stride), 1, c.data, length(c.stride));
            });
    }
    return true;
}

void blocked_inverse(MatrixView<double> a, const Progress& progress) {
    const Blocks blocks(a);
    const std::size_t count = blocks.count();
    std::vector<Matrix<double>> e(count);  // L_ii⁻¹
    parallel_for(count, [&](std::size_t i) { e[i] = inverse_of_block(blocks.at(i, i)); });
    // T = L'⁻¹ above the diagonal, from T L' = I: T_ji = −(Σ_{j≤k<i} T_jk L_ik') L_ii'⁻¹.
    const auto work = [&](std::size_t products) {
        return blocks.operations() * static_cast<double>(products + 2);
    };
    const auto set_entry = [&](std::size_t j, std::size_t i) {
        Matrix<double> sum(blocks.extent(j), blocks.extent(i));
        product(CblasTrans, CblasTrans, 1, e[j].view(), blocks.at(i, j), 0, sum.view());
        product(CblasNoTrans, CblasTrans, 1, blocks.strip(j, j + 1, i), blocks.strip(i, j + 1, i),
                1, sum.view());
        product(CblasNoTrans, CblasTrans, -1, sum.view(), e[i].view(), 0, blocks.at(j, i));
    };
    constexpr std::size_t soon_done = 2048;
    if (a.rows <= soon_done) {  // rows of T do not wait for each other
        parallel_for(count, [&](std::size_t j) {
            for (std::size_t i = j + 1; i < count; ++i) set_entry(j, i);
        });
    } else {  // column by column, with a question in between
        for (std::size_t i = 1; i < count; ++i) {
            const double done = static_cast<double>(i) / static_cast<double>(2 * count);
            parallel_slices(i, work(i / 2), progress, {"inverting", done},
                            [&](std::size_t j) { set_entry(j, i); });
        }
    }
    // A⁻¹ = T T': block (i, j) with i ≥ j is Σ_{k≥i} T_ik T_jk'.
    const std::size_t pairs = count * (count + 1) / 2;
    parallel_slices(pairs, work(count / 3), progress, {"inverting", 0.5}, [&](std::size_t task) {
        const auto [i, j] = lower(task);
        const MatrixView<double> c = blocks.at(i, j);
        if (i == j) {
            product(CblasTrans, CblasNoTrans, 1, e[i].view(), e[i].view(), 0, c);
        } else {
            product(CblasTrans, CblasTrans, 1, e[i].view(), blocks.at(j, i), 0, c);
        }
        product(CblasNoTrans, CblasTrans, 1, blocks.strip(i, i + 1, count),
                blocks.strip(j, i + 1, count), 1, c);
    });
}

}  // namespace mercer
