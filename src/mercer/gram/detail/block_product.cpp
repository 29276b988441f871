#include "mercer/gram/detail/block_product.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

constexpr std::size_t band_bytes = std::size_t{64} << 20;  // kernel values held at a time

/// out(j, i) = Σ_c rows(i, c) v(j, c), a run of columns at a time so that only short sums are taken
/// in T.
template <class T>
void add_band(MatrixView<const T> rows, MatrixView<const T> v, MatrixView<double> out) {
    constexpr std::size_t run = 512;
    parallel_ranges(rows.rows, 64, [&](std::size_t first, std::size_t last) {
        const std::size_t count = last - first;
        Matrix<T> part(count, v.rows);
        Matrix<double> sum(count, v.rows);
        for (std::size_t c = 0; c < rows.columns; c += run) {
            const std::size_t width = std::min(run, rows.columns - c);
            multiply_transposed(rows.block(first, c, count, width), v.block(0, c, v.rows, width),
                                part.view());
            for (std::size_t k = 0; k < part.values().size(); ++k) {
                sum.values()[k] += static_cast<double>(part.values()[k]);
            }
        }
        for (std::size_t j = 0; j < v.rows; ++j) {
            for (std::size_t i = 0; i < count; ++i) out(j, first + i) = sum(i, j);
        }
    });
}

}  // namespace

template <class T>
GramProduct<T>::GramProduct(Gram<T> gram, std::size_t budget_bytes, const Progress& progress)
    : gram_(std::move(gram)) {
    const std::size_t n = gram_.size();
    if (n == 0 || n > budget_bytes / sizeof(T) / n) return;
    stored_ = std::make_shared<const StoredOperator<T>>(gram_, progress);
    evaluations_ = stored_->evaluations();
}

template <class T>
void GramProduct<T>::operator()(MatrixView<const double> v, MatrixView<double> out,
                                const Progress& progress) const {
    const std::size_t n = size();
    Matrix<T> vectors(v.rows, n);
    for (std::size_t j = 0; j < v.rows; ++j) {
        std::ranges::transform(v.row(j), vectors.row(j).begin(),
                               [](double value) { return static_cast<T>(value); });
    }
    const MatrixView<const T> own = vectors.view();
    if (stored_) {
        const MatrixView<const T> all = stored_->matrix();
        constexpr std::size_t stored_band = 2048;
        for (std::size_t first = 0; first < n; first += stored_band) {
            const double done = static_cast<double>(first) / static_cast<double>(n);
            if (!keep_going(progress, {"kernel products", done})) throw Cancelled();
            const std::size_t count = std::min(stored_band, n - first);
            add_band<T>(all.block(first, 0, count, n), own, out.block(0, first, out.rows, count));
        }
        return;
    }
    const std::size_t band =
        std::min(n, std::clamp<std::size_t>(band_bytes / sizeof(T) / n, 64, 4096));
    Matrix<T> values(band, n);
    std::vector<std::size_t> which(band);
    for (std::size_t first = 0; first < n; first += band) {
        const double done = static_cast<double>(first) / static_cast<double>(n);
        if (!keep_going(progress, {"kernel products", done})) throw Cancelled();
        const std::size_t count = std::min(band, n - first);
        which.resize(count);
        std::iota(which.begin(), which.end(), first);
        const MatrixView<T> rows = values.view().block(0, 0, count, n);
        gram_.block(gram_.select_among(gram_.reference(), which, false), gram_.reference(), rows);
        add_band<T>(rows, own, out.block(0, first, out.rows, count));
        evaluations_ += count * n;
    }
}

template class GramProduct<float>;
template class GramProduct<double>;

}  // namespace mercer
