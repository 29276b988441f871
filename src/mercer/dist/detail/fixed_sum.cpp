#include "mercer/dist/detail/fixed_sum.hpp"

#include <algorithm>
#include <utility>

#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

void add_to(std::span<double> sum, std::span<const double> other) {
    parallel_ranges(sum.size(), std::size_t{1} << 16, [&](std::size_t first, std::size_t last) {
        for (std::size_t k = first; k < last; ++k) sum[k] += other[k];
    });
}

}  // namespace

/// The leaves from index · 2^level on, 2^level of them or as many as there are.
struct FixedSum::Node {
    std::size_t level = 0;
    std::size_t index = 0;
};

/// Makes one node of two, by join(), or one of the next level of one that has no other beside it,
/// as long as that can be done at the end of the list.
template <class Join>
void FixedSum::settle(std::vector<Node>& nodes, std::size_t leaves, const Join& join) {
    for (;;) {
        Node& last = nodes.back();
        if (last.index % 2 == 0) {
            const bool beside = (last.index + 1) << last.level < leaves;
            if (beside || last.index == 0) return;
        } else {
            if (nodes.size() < 2) return;
            const Node& before = nodes[nodes.size() - 2];
            if (before.level != last.level || before.index + 1 != last.index) return;
            join();
            nodes.pop_back();
        }
        nodes.back() = {nodes.back().level + 1, nodes.back().index / 2};
    }
}

FixedSum::FixedSum(Communicator& ranks, std::vector<std::size_t> bounds)
    : ranks_(ranks), bounds_(std::move(bounds)) {}

std::vector<FixedSum::Node> FixedSum::nodes_of(std::size_t rank) const {
    std::vector<Node> nodes;
    for (std::size_t leaf = bounds_[rank]; leaf < bounds_[rank + 1]; ++leaf) {
        nodes.push_back({0, leaf});
        settle(nodes, leaves(), [] {});
    }
    return nodes;
}

void FixedSum::operator()(const std::function<void(std::size_t, std::span<double>)>& add,
                          std::span<double> out) const {
    std::vector<Node> nodes;
    std::vector<std::vector<double>> sums, spare;
    for (std::size_t leaf = bounds_[ranks_.rank()]; leaf < bounds_[ranks_.rank() + 1]; ++leaf) {
        if (spare.empty()) {
            sums.emplace_back(out.size(), 0.0);
        } else {
            sums.push_back(std::move(spare.back()));
            spare.pop_back();
            std::ranges::fill(sums.back(), 0.0);
        }
        add(leaf, sums.back());
        nodes.push_back({0, leaf});
        settle(nodes, leaves(), [&] {
            add_to(sums[sums.size() - 2], sums.back());
            spare.push_back(std::move(sums.back()));
            sums.pop_back();
        });
    }
    spare = {};
    if (ranks_.size() == 1) {
        std::ranges::copy(sums.front(), out.begin());
    } else {
        finish(sums, out);
    }
}

/// Piece by piece, so that neither messages nor what is held of them are large.
void FixedSum::finish(const std::vector<std::vector<double>>& own, std::span<double> out) const {
    constexpr std::size_t piece = std::size_t{1} << 20;
    for (std::size_t begin = 0; begin < out.size(); begin += piece) {
        finish_piece(own, begin, out.subspan(begin, std::min(piece, out.size() - begin)));
    }
}

void FixedSum::finish_piece(const std::vector<std::vector<double>>& own, std::size_t begin,
                            std::span<double> out) const {
    const std::size_t count = ranks_.size();
    const auto slice = [&](std::size_t r) { return out.size() * r / count; };
    const std::size_t width = slice(ranks_.rank() + 1) - slice(ranks_.rank());
    std::vector<double> sent;
    std::vector<std::size_t> sent_counts, received_counts;
    std::size_t received_total = 0;
    for (std::size_t r = 0; r < count; ++r) {
        for (const std::vector<double>& sum : own) {
            const auto from = sum.begin() + static_cast<std::ptrdiff_t>(begin + slice(r));
            sent.insert(sent.end(), from,
                        from + static_cast<std::ptrdiff_t>(slice(r + 1) - slice(r)));
        }
        sent_counts.push_back(own.size() * (slice(r + 1) - slice(r)));
        received_counts.push_back(nodes_of(r).size() * width);
        received_total += received_counts.back();
    }
    std::vector<double> received(received_total);
    ranks_.all_to_all(sent, sent_counts, received, received_counts);
    finish_slice(received, width);
    const std::vector<double> sum =
        ranks_.all_gather(std::span<const double>(received).first(width));
    std::ranges::copy(sum, out.begin());
}

/// The nodes of all ranks, of which the first becomes the sum of all.
void FixedSum::finish_slice(std::span<double> received, std::size_t width) const {
    std::vector<Node> nodes;
    std::vector<std::span<double>> sums;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
        for (const Node& node : nodes_of(r)) {
            nodes.push_back(node);
            sums.push_back(received.first(width));
            received = received.subspan(width);
            settle(nodes, leaves(), [&] {
                add_to(sums[sums.size() - 2], sums.back());
                sums.pop_back();
            });
        }
    }
}

}  // namespace mercer
