#include "mercer/base/operator.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

/// Rows asked for at once: 16 MB of them, which mostly stay in cache until they are summed, but no
/// fewer than 64 (a matrix product needs that many to be fast) as long as those take under 256 MB.
std::size_t batch(std::size_t row_bytes) {
    const std::size_t by_cache = (std::size_t{16} << 20) / row_bytes;
    const std::size_t by_memory = (std::size_t{256} << 20) / row_bytes;
    return std::max<std::size_t>({1, by_cache, std::min<std::size_t>(64, by_memory)});
}

}  // namespace

template <class T>
void SymmetricOperator<T>::rows_to(std::span<const std::size_t> which, const Columns& columns,
                                   std::span<T* const> out) const {
    Matrix<T> block(which.size(), columns.size(size()));
    if (columns.is_all()) {
        rows(which, block.view());
    } else {
        tile(which, columns.some(), block.view());
    }
    for (std::size_t r = 0; r < which.size(); ++r) std::ranges::copy(block.row(r), out[r]);
}

template <class T>
void SymmetricOperator<T>::add_rows(std::span<const std::size_t> which,
                                    std::span<const double> weights, const Columns& columns,
                                    const Announcement&, std::span<double> sums) const {
    if (sums.empty()) return;
    const std::size_t fits = std::min(batch(sizeof(T) * sums.size()), which.size());
    Matrix<T> block(fits, sums.size());
    std::vector<const T*> pointers(fits);
    for (std::size_t r = 0; r < fits; ++r) pointers[r] = block.row(r).data();
    for (std::size_t first = 0; first < which.size(); first += fits) {
        const std::size_t count = std::min(fits, which.size() - first);
        const MatrixView<T> view = block.view().block(0, 0, count, sums.size());
        if (columns.is_all()) {
            rows(which.subspan(first, count), view);
        } else {
            tile(which.subspan(first, count), columns.some(), view);
        }
        add_weighted_rows_in_parallel<T>(std::span(pointers).first(count),
                                         weights.subspan(first, count), sums);
    }
}

template <class T>
void SymmetricOperator<T>::apply(std::span<const double> x, std::span<double> y) const {
    const std::size_t n = size();
    const std::size_t block = std::min<std::size_t>(n, 256);
    Matrix<T> buffer(block, n);
    std::vector<std::size_t> which(block);
    for (std::size_t first = 0; first < n; first += block) {
        const std::size_t count = std::min(block, n - first);
        std::iota(which.begin(), which.end(), first);
        rows(std::span(which).first(count), buffer.view().block(0, 0, count, n));
        parallel_ranges(count, 16, [&](std::size_t begin, std::size_t end) {
            for (std::size_t r = begin; r < end; ++r) {
                const std::span<const T> row = buffer.row(r);
                double sum = 0;
                for (std::size_t j = 0; j < n; ++j) sum += static_cast<double>(row[j]) * x[j];
                y[first + r] = sum;
            }
        });
    }
}

template <class T>
ExplicitRows<T> ExplicitRows<T>::dense(std::size_t size, std::size_t columns,
                                       std::vector<T> values) {
    const auto kept = std::make_shared<const std::vector<T>>(std::move(values));
    return {.size = size, .columns = columns, .values = *kept, .owner = kept};
}

template <class T>
ExplicitRows<T> ExplicitRows<T>::sparse(std::size_t columns, std::vector<std::size_t> starts,
                                        std::vector<std::uint32_t> index, std::vector<T> values) {
    struct Kept {
        std::vector<std::size_t> starts;
        std::vector<std::uint32_t> index;
        std::vector<T> values;
    };
    const auto kept =
        std::make_shared<const Kept>(Kept{std::move(starts), std::move(index), std::move(values)});
    return {.size = kept->starts.size() - 1,
            .columns = columns,
            .values = kept->values,
            .index = kept->index,
            .starts = kept->starts,
            .owner = kept};
}

template struct ExplicitRows<float>;
template struct ExplicitRows<double>;

template <class T>
std::optional<ExplicitRows<T>> SymmetricOperator<T>::explicit_rows(const Columns&) const {
    return std::nullopt;
}

template class SymmetricOperator<float>;
template class SymmetricOperator<double>;

}  // namespace mercer
