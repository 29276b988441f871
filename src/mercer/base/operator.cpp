#include "mercer/base/operator.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "mercer/base/parallel.hpp"

namespace mercer {

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

template class SymmetricOperator<float>;
template class SymmetricOperator<double>;

}  // namespace mercer
