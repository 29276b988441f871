#include "mercer/learn/passes/detail/linear_products.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "mercer/base/parallel.hpp"
#include "mercer/data/detail/entries.hpp"

namespace mercer {
namespace {

constexpr std::size_t task_rows = 512;            ///< rows of a task
constexpr std::size_t most_weights = 4096;        ///< their squares are held
constexpr std::size_t few_for_passes = 4 * 8192;  ///< leaves enough for some ranks

/// Σ_k x_k w_k over a row, its entries in their order.
template <class T>
double row_product(const Rows& rows, std::size_t i, std::span<const double> w) {
    if (rows.is_sparse()) {
        double sum = 0;
        visit_entries<T>(rows, i, i + 1, [&](std::size_t k, double value) { sum += value * w[k]; });
        return sum;
    }
    const std::span<const T> row = rows.dense_view<T>().row(i);
    std::array<double, 4> sum{};
    std::size_t k = 0;
    for (; k + 4 <= row.size(); k += 4) {
        for (std::size_t j = 0; j < 4; ++j) sum[j] += static_cast<double>(row[k + j]) * w[k + j];
    }
    for (; k < row.size(); ++k) sum[0] += static_cast<double>(row[k]) * w[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Those of a row's entries that lie in columns [first, last).
template <class T>
std::pair<std::size_t, std::size_t> entries_between(const SparseView<T>& rows, std::size_t i,
                                                    std::size_t first, std::size_t last) {
    const auto index = rows.row_index(i);
    const auto from = std::ranges::lower_bound(index, first);
    const auto to = std::ranges::lower_bound(from, index.end(), last);
    return {static_cast<std::size_t>(from - index.begin()),
            static_cast<std::size_t>(to - index.begin())};
}

/// Cuts the columns into so many tasks of about the same work: what a row's a-th entry adds are a +
/// 1 products.
template <class T>
std::vector<std::size_t> share_columns(const SparseView<T>& rows, std::size_t m,
                                       std::span<const double> h, std::size_t tasks) {
    std::vector<std::size_t> bounds(tasks + 1, 0);
    bounds.back() = m;
    if (tasks == 1) return bounds;
    std::vector<double> work(m, 0.0);
    for (std::size_t i = 0; i < rows.rows; ++i) {
        if (h[i] == 0) continue;
        double own = 1;
        for (const auto k : rows.row_index(i)) work[k] += ++own;
    }
    const double all = std::accumulate(work.begin(), work.end(), 0.0);
    double before = 0;
    std::size_t next = 1;
    for (std::size_t k = 0; k < m && next < tasks; ++k) {
        before += work[k];
        while (next < tasks &&
               before * static_cast<double>(tasks) >= all * static_cast<double>(next)) {
            bounds[next++] = k + 1;
        }
    }
    return bounds;
}

/// What the entries of row i in columns [first, last) add.
template <class T>
void add_sparse_row(const SparseView<T>& rows, std::size_t m, std::size_t i, std::size_t first,
                    std::size_t last, double h, MatrixView<const double> right, double* totals) {
    const auto index = rows.row_index(i);
    const auto value = rows.row_value(i);
    const auto [from, to] = first == 0 && last == m ? std::pair(std::size_t{0}, index.size())
                                                    : entries_between(rows, i, first, last);
    for (std::size_t o = 0; o < right.rows; ++o) {
        double* const sums = totals + triangle(m) + o * m;
        const double by = right(o, i);
        for (std::size_t a = from; a < to; ++a)
            sums[index[a]] += by * static_cast<double>(value[a]);
    }
    if (h == 0) return;
    for (std::size_t a = from; a < to; ++a) {
        const double own = h * static_cast<double>(value[a]);
        double* const line = totals + triangle(index[a]);
        for (std::size_t b = 0; b <= a; ++b) line[index[b]] += own * static_cast<double>(value[b]);
    }
}

/// The same sums as `add_weighted_squares` has, of sparse rows. Each task has some columns, so that
/// every number is the sum of the same rows in their order however many tasks there are.
template <class T>
void add_sparse_squares(const SparseView<T>& rows, std::size_t m, std::span<const double> h,
                        MatrixView<const double> right, std::span<double> totals) {
    const std::vector<std::size_t> some = counting_rows(h, right);
    const std::size_t tasks = threads();
    const auto bounds = share_columns(rows, m, h, tasks);
    parallel_for(tasks, [&](std::size_t task) {
        for (const std::size_t i : some) {
            add_sparse_row(rows, m, i, bounds[task], bounds[task + 1], h[i], right, totals.data());
        }
    });
}

}  // namespace

bool learns_by_passes(const FitSettings& settings, const Dataset& data) {
    if (settings.kernel != linear() || data.table || !data.x.objects().empty()) return false;
    const std::size_t own[]{data.size(), data.columns()};
    const auto all = current_ranks().all_gather(std::span<const std::size_t>(own));
    std::size_t rows = 0, columns = 0;
    for (std::size_t r = 0; r < all.size(); r += 2) {
        rows += all[r];
        columns = std::max(columns, all[r + 1]);
    }
    if (held_rows() == HeldRows::all) rows = data.size();
    return rows > few_for_passes && columns > 0 && columns <= most_weights && rows > 2 * columns;
}

std::string LinearProducts::fingerprint() const {
    std::vector<double> sums(columns()), ones(rows());
    const auto at = leaves().before();
    for (std::size_t i = 0; i < rows(); ++i) ones[i] = static_cast<double>((at + i) % 1021 + 1);
    sum(ones, sums);
    return "linear " + fingerprint_of({sums.data(), 1, sums.size()});
}

void LinearProducts::multiply(std::span<const double> w, std::span<double> out) const {
    leaves().each([&](std::size_t begin, std::size_t end) {
        for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
            const Rows block = sample().block(first, count);
            parallel_ranges(count, task_rows, [&](std::size_t from, std::size_t to) {
                for (std::size_t i = from; i < to; ++i) {
                    out[first + i] = block.is_double() ? row_product<double>(block, i, w)
                                                       : row_product<float>(block, i, w);
                }
            });
        });
    });
}

void LinearProducts::sum(std::span<const double> c, std::span<double> w) const {
    leaves().sum(
        [&](std::size_t begin, std::size_t end, std::span<double> total) {
            for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
                const Rows block = sample().block(first, count);
                const std::size_t pieces = (count + task_rows - 1) / task_rows;
                Matrix<double> parts(pieces, columns());
                parallel_for(pieces, [&](std::size_t p) {
                    const std::span<double> part = parts.row(p);
                    for (std::size_t i = p * task_rows; i < std::min(count, (p + 1) * task_rows);
                         ++i) {
                        const auto add = [&, by = c[first + i]](std::size_t k, double value) {
                            part[k] += by * value;
                        };
                        block.is_double() ? visit_entries<double>(block, i, i + 1, add)
                                          : visit_entries<float>(block, i, i + 1, add);
                    }
                });
                for (std::size_t p = 0; p < pieces; ++p) {
                    const std::span<const double> part = parts.row(p);
                    for (std::size_t k = 0; k < total.size(); ++k) total[k] += part[k];
                }
            });
        },
        w);
}

template <class T>
void LinearProducts::weigh_block(const Rows& block, std::span<const double> h,
                                 MatrixView<const double> right, std::span<double> totals) const {
    const std::size_t m = columns();
    if (block.is_sparse()) {
        return add_sparse_squares(block.sparse_view<T>(), m, h, right, totals);
    }
    const std::vector<std::size_t> some = counting_rows(h, right);
    const MatrixView<const T> rows = block.dense_view<T>();
    Matrix<T> turned(m, some.size());
    parallel_ranges(some.size(), task_rows, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
            for (std::size_t k = 0; k < m; ++k) turned(k, i) = rows(some[i], k);
        }
    });
    add_weighted_squares(std::as_const(turned).view(), some, h, right, totals);
}

void LinearProducts::weigh(const Weights& weights, MatrixView<double> g,
                           MatrixView<double> sums) const {
    weigh_blocks(
        weights,
        [&](std::size_t first, std::span<const double> h, MatrixView<const double> right,
            std::span<double> totals) {
            const Rows block = sample().block(first, h.size());
            block.is_double() ? weigh_block<double>(block, h, right, totals)
                              : weigh_block<float>(block, h, right, totals);
        },
        g, sums);
}

void LinearProducts::write(ModelParts& model, Matrix<double> weights,
                           std::vector<double> bias) const {
    std::vector<std::size_t> starts(columns() + 1);
    std::iota(starts.begin(), starts.end(), std::size_t{0});
    std::vector<std::uint32_t> index(columns());
    std::iota(index.begin(), index.end(), std::uint32_t{0});
    model.origins.clear();
    model.expansion.kernel = linear();
    model.expansion.points = Rows::sparse(std::move(starts), std::move(index),
                                          std::vector<float>(columns(), 1.0F), columns());
    model.expansion.coefficients = std::move(weights);
    model.expansion.bias = std::move(bias);
    model.trained.numbers["weights"] = static_cast<double>(columns());
}

}  // namespace mercer
