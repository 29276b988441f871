#include "mercer/solver/linear/detail/block_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

using View = MatrixView<const double>;

/// Long sums and long rows are cut into runs of so many numbers, whatever the number of threads.
constexpr std::size_t run = 4096;

/// a b' for few rows of many numbers.
Matrix<double> inner_products(View a, View b) {
    const std::size_t runs = (a.columns + run - 1) / run;
    std::vector<Matrix<double>> parts(runs);
    parallel_for(runs, [&](std::size_t k) {
        const std::size_t count = std::min(run, a.columns - k * run);
        parts[k] = Matrix<double>(a.rows, b.rows);
        multiply_transposed(a.block(0, k * run, a.rows, count), b.block(0, k * run, b.rows, count),
                            parts[k].view());
    });
    Matrix<double> sum(a.rows, b.rows);
    for (const Matrix<double>& part : parts) {
        for (std::size_t i = 0; i < sum.values().size(); ++i) {
            sum.values()[i] += part.values()[i];
        }
    }
    return sum;
}

/// s v: each row of the result a combination of the rows of v.
Matrix<double> combine(View s, View v) {
    Matrix<double> result(s.rows, v.columns);
    parallel_ranges(v.columns, run, [&](std::size_t first, std::size_t last) {
        multiply(s, v.block(0, first, v.rows, last - first),
                 result.view().block(0, first, s.rows, last - first));
    });
    return result;
}

double length(std::span<const double> v) {
    double sum = 0;
    for (const double value : v) sum += value * value;
    return std::sqrt(sum);
}

/// Takes out of the rows of `block` what lies in the span of the orthonormal rows of `basis`.
void project_out(View basis, Matrix<double>& block) {
    if (basis.rows == 0 || block.rows() == 0) return;
    const Matrix<double> c = inner_products(block.view(), basis);
    const Matrix<double> inside = combine(c.view(), basis);
    for (std::size_t i = 0; i < block.values().size(); ++i) {
        block.values()[i] -= inside.values()[i];
    }
}

/// An orthonormal basis of the span of the rows, by the eigenvectors of their Gram matrix;
/// directions that the rows do not really have are dropped.
Matrix<double> orthonormal(Matrix<double> block) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < block.rows(); ++i) {
        const double norm = length(block.row(i));
        if (!(norm > 0)) continue;
        for (std::size_t j = 0; j < block.columns(); ++j) block(kept, j) = block(i, j) / norm;
        ++kept;
    }
    if (kept == 0) return Matrix<double>(0, block.columns());
    const View rows{block.values().data(), kept, block.columns()};
    const Spectrum s = symmetric_eigen(inner_products(rows, rows).view());
    const double least = 1e-12 * s.values.back();
    std::size_t first = 0;
    while (first < kept && s.values[first] <= least) ++first;
    Matrix<double> turn(kept - first, kept);
    for (std::size_t i = first; i < kept; ++i) {
        const double scale = 1 / std::sqrt(s.values[i]);
        for (std::size_t j = 0; j < kept; ++j) turn(i - first, j) = scale * s.vectors(i, j);
    }
    return combine(turn.view(), rows);
}

/// The next block of the basis out of the products of the last one; what rounding made of nothing
/// is dropped. Done twice: once is not enough for orthogonality to the last digit.
Matrix<double> next_block(View basis, const Matrix<double>& image, double scale) {
    Matrix<double> block = image;
    for (int round = 0; round < 2; ++round) {
        project_out(basis, block);
        if (round > 0) break;
        const double least = 1e-13 * scale;
        for (std::size_t i = 0; i < block.rows(); ++i) {
            if (length(block.row(i)) <= least) std::ranges::fill(block.row(i), 0.0);
        }
        block = orthonormal(std::move(block));
    }
    return orthonormal(std::move(block));
}

class BlockKrylov {
   public:
    BlockKrylov(std::size_t n, const BlockProduct& product, const TopEigenSettings& settings)
        : n_(n), product_(product), settings_(settings) {
        const std::size_t k = settings.count;
        const std::size_t wanted =
            settings.block > 0 ? settings.block : k + std::max<std::size_t>(8, k / 4);
        block_ = std::min(n, std::max(wanted, k));
        const std::size_t room = settings.basis > 0 ? settings.basis : k + 6 * block_;
        capacity_ = std::min(n, std::max(room, 2 * block_ + k));
        basis_ = Matrix<double>(capacity_, n);
        image_ = Matrix<double>(capacity_, n);
        gram_ = Matrix<double>(capacity_, capacity_);
    }

    TopEigen run_all() {
        Random random(settings_.seed);
        Matrix<double> block(block_, n_);
        for (double& value : block.values()) value = random.normal();
        // Of many wide rows each of these takes a while, and there is nothing to hand back yet.
        for (int round = 0; round < 2; ++round) {
            if (settings_.progress && !settings_.progress(0, worst_)) throw Cancelled();
            block = orthonormal(std::move(block));
        }
        for (;;) {
            try {
                extend(block);
            } catch (const Cancelled&) {  // the product is lost, what went before is not
                if (result_.products == 0) throw;
                result_.status = TopEigenStatus::stopped;
                break;
            }
            measure();
            result_.status = TopEigenStatus::converged;
            if (worst_ <= settings_.tolerance) break;
            const bool go_on = !settings_.progress || settings_.progress(result_.products, worst_);
            result_.status = TopEigenStatus::stopped;
            if (!go_on) break;
            result_.status = TopEigenStatus::product_limit;
            if (result_.products >= settings_.products) break;
            block = next_block(used(basis_), last_image_, largest_);
            result_.status = TopEigenStatus::converged;
            if (block.rows() > n_ - size_) shrink(block, n_ - size_);
            if (block.rows() == 0) break;  // the span is invariant: its eigenvalues are exact
            if (size_ + block.rows() > capacity_) restart(block.rows());
        }
        return finished();
    }

   private:
    View used(const Matrix<double>& m) const { return {m.values().data(), size_, n_}; }

    static void shrink(Matrix<double>& block, std::size_t rows) {
        Matrix<double> less(rows, block.columns());
        std::copy_n(block.values().begin(), less.values().size(), less.values().begin());
        block = std::move(less);
    }

    /// Puts the block and its products into the basis.
    void extend(const Matrix<double>& block) {
        last_image_ = Matrix<double>(block.rows(), n_);
        product_(block.view(), last_image_.view());
        ++result_.products;
        result_.vectors_multiplied += block.rows();
        for (std::size_t i = 0; i < block.rows(); ++i) {
            std::ranges::copy(block.row(i), basis_.row(size_ + i).begin());
            std::ranges::copy(last_image_.row(i), image_.row(size_ + i).begin());
        }
        const std::size_t old = size_;
        size_ += block.rows();
        const Matrix<double> part = inner_products(last_image_.view(), used(basis_));
        for (std::size_t i = 0; i < block.rows(); ++i) {
            for (std::size_t j = 0; j < size_; ++j)
                gram_(old + i, j) = gram_(j, old + i) = part(i, j);
        }
    }

    /// The Ritz values in descending order, and the residuals of the first `count`.
    void measure() {
        Matrix<double> h(size_, size_);
        for (std::size_t i = 0; i < size_; ++i) {
            for (std::size_t j = 0; j < size_; ++j) h(i, j) = (gram_(i, j) + gram_(j, i)) / 2;
        }
        ritz_ = symmetric_eigen(h.view());
        std::ranges::reverse(ritz_.values);
        for (std::size_t i = 0; i < size_ / 2; ++i) {
            std::ranges::swap_ranges(ritz_.vectors.row(i), ritz_.vectors.row(size_ - 1 - i));
        }
        largest_ = std::max(std::abs(ritz_.values.front()), std::abs(ritz_.values.back()));
        // ‖Mv − θv‖ from small matrices would lose half the digits: so from the vectors themselves.
        const std::size_t count = std::min(settings_.count, size_);
        const View turn = std::as_const(ritz_.vectors).view().block(0, 0, count, size_);
        vectors_ = combine(turn, used(basis_));
        const Matrix<double> images = combine(turn, used(image_));
        result_.residuals.assign(count, 0.0);
        worst_ = 0;
        for (std::size_t j = 0; j < count; ++j) {
            double sum = 0;
            for (std::size_t i = 0; i < n_; ++i) {
                const double r = images(j, i) - ritz_.values[j] * vectors_(j, i);
                sum += r * r;
            }
            result_.residuals[j] = std::sqrt(sum);
            worst_ = std::max(worst_, result_.residuals[j]);
        }
        if (largest_ > 0) worst_ /= largest_;
    }

    /// Keeps the best approximations alone. The next block is orthogonal to them as it was to the
    /// whole, and their products are known.
    void restart(std::size_t coming) {
        const std::size_t kept = std::min(capacity_ - coming, settings_.count + block_ / 2);
        const View turn =
            std::as_const(ritz_.vectors).view().block(0, 0, std::min(kept, size_), size_);
        const Matrix<double> v = combine(turn, used(basis_));
        const Matrix<double> w = combine(turn, used(image_));
        size_ = turn.rows;
        std::ranges::copy(v.values(), basis_.values().begin());
        std::ranges::copy(w.values(), image_.values().begin());
        const Matrix<double> h = inner_products(v.view(), w.view());
        for (std::size_t i = 0; i < size_; ++i) {
            for (std::size_t j = 0; j < size_; ++j) gram_(i, j) = h(i, j);
        }
    }

    TopEigen finished() {
        const auto count = static_cast<std::ptrdiff_t>(vectors_.rows());
        result_.values.assign(ritz_.values.begin(), ritz_.values.begin() + count);
        result_.vectors = std::move(vectors_);
        return std::move(result_);
    }

    std::size_t n_;
    const BlockProduct& product_;
    const TopEigenSettings& settings_;
    std::size_t block_ = 0;
    std::size_t capacity_ = 0;
    std::size_t size_ = 0;  ///< rows of the basis in use
    Matrix<double> basis_;  ///< orthonormal
    Matrix<double> image_;  ///< M times the basis
    Matrix<double> gram_;   ///< basis · image'
    Matrix<double> last_image_{};
    Spectrum ritz_{};
    Matrix<double> vectors_{};
    double largest_ = 0;
    double worst_ = std::numeric_limits<double>::infinity();
    TopEigen result_{};
};

}  // namespace

TopEigen top_eigen(std::size_t n, const BlockProduct& product, const TopEigenSettings& settings) {
    if (settings.count == 0 || settings.count > n) {
        throw InvalidInput("count = " + std::to_string(settings.count) +
                           " eigenvalues must be between 1 and " + std::to_string(n) +
                           ", the size of the matrix");
    }
    return BlockKrylov(n, product, settings).run_all();
}

TopEigen rayleigh_ritz(Matrix<double> vectors, Matrix<double> products) {
    Matrix<double> h = inner_products(vectors.view(), products.view());
    const std::size_t k = h.rows();
    for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = 0; j < i; ++j) h(i, j) = h(j, i) = (h(i, j) + h(j, i)) / 2;
    }
    const Spectrum s = symmetric_eigen(h.view());
    Matrix<double> turn(k, k);
    TopEigen result;
    for (std::size_t j = 0; j < k; ++j) {
        result.values.push_back(s.values[k - 1 - j]);
        std::ranges::copy(s.vectors.row(k - 1 - j), turn.row(j).begin());
    }
    result.vectors = combine(turn.view(), vectors.view());
    const Matrix<double> image = combine(turn.view(), products.view());
    for (std::size_t j = 0; j < k; ++j) {
        double sum = 0;
        for (std::size_t i = 0; i < image.columns(); ++i) {
            const double r = image(j, i) - result.values[j] * result.vectors(j, i);
            sum += r * r;
        }
        result.residuals.push_back(std::sqrt(sum));
    }
    return result;
}

}  // namespace mercer
