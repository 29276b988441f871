#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

/// Rows are cut here, by the problem's size alone.
constexpr std::size_t grain = 2048;

/// Turns the row K(pivot, ·) into the next row of G and takes its squares off the diagonal.
void eliminate(const std::vector<std::vector<double>>& earlier, std::size_t pivot, double root,
               std::vector<double>& row, std::vector<double>& rest) {
    parallel_ranges(row.size(), grain, [&](std::size_t first, std::size_t last) {
        for (const std::vector<double>& other : earlier) {
            const double at_pivot = other[pivot];
            for (std::size_t i = first; i < last; ++i) row[i] -= at_pivot * other[i];
        }
        for (std::size_t i = first; i < last; ++i) {
            row[i] /= root;
            rest[i] = std::max(0.0, rest[i] - row[i] * row[i]);
        }
    });
}

}  // namespace

Matrix<double> IncompleteCholesky::pivot_factor() const {
    Matrix<double> lower(rank(), rank());
    for (std::size_t i = 0; i < rank(); ++i) {
        for (std::size_t r = 0; r <= i; ++r) lower(i, r) = factor(r, pivots[i]);
    }
    return lower;
}

IncompleteCholesky incomplete_cholesky(const SymmetricOperator<double>& k,
                                       const IncompleteCholeskySettings& settings) {
    const std::size_t n = k.size();
    const std::size_t most = settings.rank == 0 ? n : std::min(settings.rank, n);
    std::vector<double> rest(n);
    k.diagonal(rest);
    for (double& value : rest) {
        if (!std::isfinite(value)) {
            throw InvalidInput("the kernel takes values that are not finite");
        }
        value = std::max(0.0, value);
    }
    IncompleteCholesky result;
    result.trace = std::accumulate(rest.begin(), rest.end(), 0.0);
    result.remaining = result.trace;
    std::vector<std::vector<double>> rows;
    while (rows.size() < most && result.remaining > settings.tolerance * result.trace) {
        const auto largest = std::ranges::max_element(rest);
        const auto pivot = static_cast<std::size_t>(largest - rest.begin());
        // Below this the row is a difference of equal numbers: rounding, not a direction.
        if (!(*largest > 1e-14 * result.trace / static_cast<double>(n))) break;
        const double fraction = static_cast<double>(rows.size()) / static_cast<double>(most);
        if (!keep_going(settings.progress, {"low-rank factor", fraction})) throw Cancelled();
        std::vector<double> row(n);
        k.rows({&pivot, 1}, MatrixView<double>(row.data(), 1, n));
        eliminate(rows, pivot, std::sqrt(*largest), row, rest);
        // Exactly zero where an earlier pivot stands, so that L_pp is triangular to the last bit.
        for (const std::size_t earlier : result.pivots) row[earlier] = 0;
        rest[pivot] = 0;
        result.pivots.push_back(pivot);
        rows.push_back(std::move(row));
        result.remaining = std::accumulate(rest.begin(), rest.end(), 0.0);
    }
    result.factor = Matrix<double>(rows.size(), n);
    for (std::size_t r = 0; r < rows.size(); ++r) {
        std::ranges::copy(rows[r], result.factor.row(r).begin());
        if (!std::ranges::all_of(rows[r], [](double v) { return std::isfinite(v); })) {
            throw InvalidInput("the kernel takes values that are not finite");
        }
    }
    return result;
}

void backward_solve(MatrixView<const double> factor, MatrixView<double> b) {
    const std::size_t n = factor.rows;
    parallel_for(b.rows, [&](std::size_t r) {
        const auto x = b.row(r);
        for (std::size_t i = n; i-- > 0;) {
            x[i] /= factor(i, i);
            for (std::size_t j = 0; j < i; ++j) x[j] -= factor(i, j) * x[i];
        }
    });
}

}  // namespace mercer
