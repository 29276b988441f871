#include "mercer/learn/groups/detail/group_sums.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

/// Rows of a tile: with the columns of a strip they stay in the second-level cache.
constexpr std::size_t tile_height = 64;

/// Neighbouring rows of one group.
struct GroupRun {
    std::size_t group;
    std::size_t begin;  ///< from the first row looked at
    std::size_t size;
};

/// Rows in the order of their groups, so that sums over a group are sums over neighbours.
template <class T>
struct GroupedRows {
    const Gram<T>& gram;
    std::vector<std::size_t> order;
    std::vector<std::size_t> group;
    std::vector<double> weight;
    Points<T> points;

    GroupedRows(const Gram<T>& engine, std::span<const std::size_t> group_of,
                std::span<const double> weights)
        : gram(engine), order(group_of.size()) {
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return group_of[i]; });
        for (const std::size_t i : order) {
            group.push_back(group_of[i]);
            weight.push_back(weights[i]);
        }
        points = gram.select_among(gram.reference(), order);
    }

    std::size_t size() const { return order.size(); }

    std::vector<GroupRun> runs(std::size_t first, std::size_t count) const {
        std::vector<GroupRun> found;
        for (std::size_t i = 0; i < count; ++i) {
            if (found.empty() || found.back().group != group[first + i]) {
                found.push_back({group[first + i], i, 0});
            }
            ++found.back().size;
        }
        return found;
    }
};

/// What the rows of one strip get from those of another, a line for each group of the latter.
struct StripSums {
    std::vector<GroupRun> runs{};
    Matrix<double> lines{};
};

/// The square of two strips of rows: columns get their sums at once, and the rows' come back.
template <class T>
StripSums add_square(const GroupedRows<T>& rows, std::size_t first, std::size_t height,
                     std::size_t from, std::size_t width, MatrixView<double> sums) {
    StripSums back;
    // The square on the diagonal has each pair twice already.
    if (from != first) back.runs = rows.runs(from, width);
    back.lines = Matrix<double>(back.runs.size(), height);
    const auto values = std::make_unique_for_overwrite<T[]>(tile_height * width);
    const std::span<const double> weight(rows.weight);
    for (std::size_t i = 0; i < height; i += tile_height) {
        const std::size_t count = std::min(tile_height, height - i);
        rows.gram.window(rows.points, first + i, rows.points, from, {values.get(), count, width});
        std::vector<const T*> tile(count);
        for (std::size_t r = 0; r < count; ++r) tile[r] = values.get() + r * width;
        for (const GroupRun& run : rows.runs(first + i, count)) {
            add_weighted_rows<T>(std::span(tile).subspan(run.begin, run.size),
                                 weight.subspan(first + i + run.begin, run.size),
                                 sums.row(run.group).subspan(from, width));
        }
        for (std::size_t b = 0; b < back.runs.size(); ++b) {
            const GroupRun& run = back.runs[b];
            std::vector<const T*> part(tile);
            for (const T*& row : part) row += run.begin;
            row_products<T>(part, weight.subspan(from + run.begin, run.size),
                            back.lines.row(b).subspan(i, count));
        }
    }
    return back;
}

}  // namespace

template <class T>
std::uint64_t group_sums(const Gram<T>& gram, std::span<const std::size_t> group,
                         std::span<const double> weights, const std::function<void()>& ask,
                         MatrixView<double> sums) {
    const GroupedRows<T> rows(gram, group, weights);
    const std::size_t n = rows.size();
    const std::size_t side = gram.strip();
    for (std::size_t c = 0; c < sums.rows; ++c) std::ranges::fill(sums.row(c), 0.0);
    std::uint64_t computed = 0;
    for (std::size_t first = 0; first < n; first += side) {
        ask();
        const std::size_t height = std::min(side, n - first);
        std::vector<StripSums> back((n - first + side - 1) / side);
        parallel_for(back.size(), [&](std::size_t task) {
            const std::size_t from = first + task * side;
            back[task] = add_square(rows, first, height, from, std::min(side, n - from), sums);
        });
        for (const StripSums& strip : back) {  // in this order, whoever computed them
            for (std::size_t b = 0; b < strip.runs.size(); ++b) {
                double* const sum = sums.row(strip.runs[b].group).data() + first;
                const std::span<const double> line = strip.lines.row(b);
                for (std::size_t i = 0; i < height; ++i) sum[i] += line[i];
            }
        }
        computed += std::uint64_t{height} * (n - first);
    }
    std::vector<double> sorted(n);
    for (std::size_t c = 0; c < sums.rows; ++c) {
        std::ranges::copy(sums.row(c), sorted.begin());
        for (std::size_t j = 0; j < n; ++j) sums(c, rows.order[j]) = sorted[j];
    }
    return computed;
}

template std::uint64_t group_sums(const Gram<float>&, std::span<const std::size_t>,
                                  std::span<const double>, const std::function<void()>&,
                                  MatrixView<double>);
template std::uint64_t group_sums(const Gram<double>&, std::span<const std::size_t>,
                                  std::span<const double>, const std::function<void()>&,
                                  MatrixView<double>);

}  // namespace mercer
