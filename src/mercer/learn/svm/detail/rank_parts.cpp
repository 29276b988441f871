#include "mercer/learn/svm/detail/rank_parts.hpp"

#include "mercer/dist/detail/share_out.hpp"
#include "mercer/learn/detail/message.hpp"

namespace mercer {
namespace {

/// Fewer parts than this for each rank are not shared out: some ranks would wait for long.
constexpr std::size_t parts_each = 2;

template <class Archive>
void pass(Archive& archive, PartResult& result) {
    auto& [learned, support, report, reach, sigmoid, in_double] = result;
    auto& [beta, bias, rho, epsilon, radius] = learned;
    archive(beta, bias, rho, epsilon, radius, support, reach, sigmoid, in_double);
    pass(archive, report);
}

std::vector<std::size_t> shared_parts(const std::vector<Part>& parts, std::size_t ranks) {
    std::vector<double> costs;
    for (const Part& part : parts) {
        const auto rows = static_cast<double>(part.problem.size());
        costs.push_back(rows * rows);
    }
    return share_out(costs, ranks);
}

}  // namespace

RankParts::RankParts(Communicator* ranks, const std::vector<Part>& parts)
    : ranks_(ranks && ranks->size() > 1 ? ranks : nullptr) {
    if (!ranks_) return;
    // Parts of all rows have a store in common, and each finds in it what the last has left there.
    if (!parts.front().rows.is_all() && parts.size() >= parts_each * ranks_->size()) {
        rank_of_ = shared_parts(parts, ranks_->size());
    } else {
        partners_.emplace(*ranks_);
    }
}

void RankParts::exchange(std::span<PartResult> results) const {
    if (rank_of_.empty()) return;
    MessageWriter own;
    for (std::size_t part = 0; part < results.size(); ++part) {
        if (has(part)) pass(own, results[part]);
    }
    exchange_messages(*ranks_, own, [&](std::span<MessageReader> readers) {
        for (std::size_t part = 0; part < results.size(); ++part) {
            pass(readers[rank_of_[part]], results[part]);
        }
    });
}

Wish RankParts::agreed(Wish own) const {
    if (!partners_) return own;
    for (const Wish& wish : ranks_->all_gather(std::span<const Wish>(&own, 1))) {
        own.stop = own.stop || wish.stop;
        own.late = own.late || wish.late;
    }
    return own;
}

}  // namespace mercer
