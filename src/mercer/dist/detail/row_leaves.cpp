#include "mercer/dist/detail/row_leaves.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

/// The rows of all ranks, one rank after another.
template <class T>
Rows join(Communicator& ranks, const Rows& own) {
    const std::size_t d = own.columns();
    if (!own.is_sparse()) {
        const MatrixView<const T> view = own.dense_view<T>();
        std::vector<T> values;
        values.reserve(view.rows * d);
        for (std::size_t i = 0; i < view.rows; ++i) {
            values.insert(values.end(), view.row(i).begin(), view.row(i).end());
        }
        return Rows::dense(ranks.all_gather(std::span<const T>(values)), d);
    }
    const SparseView<T> view = own.sparse_view<T>();
    std::vector<std::size_t> lengths;
    std::vector<std::uint32_t> index;
    std::vector<T> values;
    for (std::size_t i = 0; i < view.rows; ++i) {
        lengths.push_back(view.row_index(i).size());
        index.insert(index.end(), view.row_index(i).begin(), view.row_index(i).end());
        values.insert(values.end(), view.row_value(i).begin(), view.row_value(i).end());
    }
    const auto all = ranks.all_gather(std::span<const std::size_t>(lengths));
    std::vector<std::size_t> starts(all.size() + 1, 0);
    std::partial_sum(all.begin(), all.end(), starts.begin() + 1);
    return Rows::sparse(std::move(starts), ranks.all_gather(std::span<const std::uint32_t>(index)),
                        ranks.all_gather(std::span<const T>(values)), d);
}

}  // namespace

RowLeaves::RowLeaves(Communicator& ranks, std::size_t given, std::span<const std::size_t> kept)
    : ranks_(ranks) {
    const std::size_t own[]{given, kept.size()};
    const std::vector<std::size_t> all = ranks.all_gather(std::span<const std::size_t>(own));
    std::size_t total = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r) total += all[2 * r];
    const std::size_t leaf = leaf_rows(total);
    std::size_t begin = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        if (begin % leaf != 0 && begin < total) {
            throw InvalidInput("the rows of rank " + std::to_string(r) + " begin at row " +
                               std::to_string(begin) + " of " + std::to_string(total) +
                               ", and must begin at a multiple of " + std::to_string(leaf) +
                               " (`own_rows` says which rows a rank is to have)");
        }
        bounds_.push_back((begin + leaf - 1) / leaf);
        if (r < ranks.rank()) before_ += all[2 * r + 1];
        if (r == ranks.rank()) given_before_ = begin;
        rows_ += all[2 * r + 1];
        begin += all[2 * r];
    }
    bounds_.push_back((total + leaf - 1) / leaf);
    if (rows_ == 0) {
        throw InvalidInput(total == 0 ? "there are no rows to train on"
                                      : "every row has weight 0: there is nothing to train on");
    }
    std::size_t end = 0;
    for (std::size_t k = bounds_[ranks.rank()]; k < bounds_[ranks.rank() + 1]; ++k) {
        const std::size_t last = (k + 1) * leaf - given_before_;
        while (end < kept.size() && kept[end] < last) ++end;
        starts_.push_back(end);
    }
}

double RowLeaves::total(std::span<const double> leaves) const {
    const std::vector<double> all = ranks_.size() == 1
                                        ? std::vector<double>(leaves.begin(), leaves.end())
                                        : ranks_.all_gather(leaves);
    return std::accumulate(all.begin(), all.end(), 0.0);
}

void RowLeaves::sum(const std::function<void(std::size_t, std::size_t, std::span<double>)>& add,
                    std::span<double> out) const {
    const std::size_t first = bounds_[ranks_.rank()];
    const FixedSum all(ranks_, bounds_);
    all(
        [&](std::size_t leaf, std::span<double> zeros) {
            add(starts_[leaf - first], starts_[leaf - first + 1], zeros);
        },
        out);
}

double RowLeaves::largest(double own) const {
    const std::vector<double> all = ranks_.all_gather(std::span<const double>(&own, 1));
    return *std::ranges::max_element(all);
}

void RowLeaves::each(const std::function<void(std::size_t, std::size_t)>& body) const {
    for (std::size_t k = 0; k + 1 < starts_.size(); ++k) body(starts_[k], starts_[k + 1]);
}

std::vector<std::size_t> RowLeaves::own_places(std::span<const std::size_t> places) const {
    std::vector<std::size_t> own_ones;
    for (const std::size_t place : places) {
        if (place >= before_ && place < before_ + own()) own_ones.push_back(place - before_);
    }
    return own_ones;
}

Rows RowLeaves::joined(const Rows& own_rows) const {
    if (ranks_.size() == 1) return own_rows;
    return own_rows.is_double() ? join<double>(ranks_, own_rows) : join<float>(ranks_, own_rows);
}

Rows RowLeaves::gather(const Rows& own_rows, std::span<const std::size_t> places) const {
    if (ranks_.size() == 1) {
        return places.size() == own_rows.size() ? own_rows : own_rows.select(places);
    }
    return joined(own_rows.select(own_places(places)));
}

std::vector<double> RowLeaves::gather(std::span<const double> own,
                                      std::span<const std::size_t> places) const {
    std::vector<double> some;
    for (const std::size_t place : own_places(places)) some.push_back(own[place]);
    return ranks_.all_gather(std::span<const double>(some));
}

std::vector<std::size_t> RowLeaves::origins(std::span<const std::size_t> kept,
                                            std::span<const std::size_t> places) const {
    std::vector<std::size_t> own_ones = own_places(places);
    for (std::size_t& place : own_ones) place = given_before_ + kept[place];
    return ranks_.all_gather(std::span<const std::size_t>(own_ones));
}

}  // namespace mercer
