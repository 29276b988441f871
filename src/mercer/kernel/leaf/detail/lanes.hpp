// Kernels by dynamic programming, several pairs at a time in the lanes of vectors.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/kernel/leaf/detail/letters.hpp"

namespace mercer::leaves {

/// Pairs that are worked out together.
inline constexpr std::size_t lanes = 8;

/// The longest text or series: the work grows with the product of two lengths.
inline constexpr std::size_t longest_object = 100000;

/// Vectors one after another (a text is vectors of one number each), and a hash of all of them.
struct LaneItem {
    std::vector<double> values{};
    std::size_t width = 1;
    std::size_t size = 0;
    std::uint64_t order = 0;
};
LaneItem lane_item(std::vector<double> values, std::size_t width);
/// The letters of a text; what belongs to no alphabet is equal to nothing, not even itself.
LaneItem lane_text(const KernelNode& node, const Object& object);

/// The shorter object is the outer one; of two as long as each other, that with the smaller hash.
/// So k(x, z) and k(z, x) are the same to the last bit, whatever the order of the sums.
struct LanePair {
    LanePair(const LaneItem& x, const LaneItem& z, std::size_t at);

    const LaneItem* outer;
    const LaneItem* inner;
    std::size_t place;
};

/// Up to eight pairs side by side: number c of vector i of lane l stands at
/// (i · width + c) · lanes + l. Lanes without a pair have length 0. Behind the end of an object
/// stand numbers that are no letters, −1 in outer and −2 in inner ones.
struct LaneBlock {
    explicit LaneBlock(std::span<const LanePair> pairs);

    std::size_t width = 1;
    std::size_t rows = 0;     ///< longest outer object
    std::size_t columns = 0;  ///< longest inner object
    std::vector<double> outer{};
    std::vector<double> inner{};
    std::array<double, lanes> outer_size{};
    std::array<double, lanes> inner_size{};
};

/// Calls work(block, values) for all pairs, those of like lengths together, and puts the values,
/// one a lane, where the pairs say.
template <class Work>
void in_lanes(std::vector<LanePair> pairs, std::span<double> out, Work work) {
    std::ranges::sort(pairs, {}, [](const LanePair& p) {
        return std::tuple(p.inner->size, p.outer->size, p.place);
    });
    for (std::size_t first = 0; first < pairs.size(); first += lanes) {
        const auto some = std::span(pairs).subspan(first, std::min(lanes, pairs.size() - first));
        std::array<double, lanes> values{};
        work(LaneBlock(some), values);
        for (std::size_t l = 0; l < some.size(); ++l) out[some[l].place] = values[l];
    }
}

std::vector<LanePair> lane_pairs(const LaneItem& x, const std::vector<LaneItem>& z,
                                 std::span<const std::uint32_t> columns);
/// The mean product of two of these lengths.
double mean_cells(const std::vector<LaneItem>& items);

/// k(x, z) = K(x, z) / √(K(x, x) K(z, z)) for a K of which the sweep finds log K. Such sums grow or
/// shrink exponentially with the lengths, which no number could hold; their ratios are in [0, 1].
///     void Sweep::operator()(const LaneBlock&, std::span<double, lanes> logs) const;
///     double Sweep::cell_work() const;
template <class Sweep>
class NormalisedLanes final : public ObjectPairs {
   public:
    NormalisedLanes(Sweep sweep, std::vector<LaneItem> items)
        : sweep_(std::move(sweep)), items_(std::move(items)), own_(items_.size()) {
        std::vector<LanePair> pairs;
        for (std::size_t i = 0; i < items_.size(); ++i) pairs.emplace_back(items_[i], items_[i], i);
        in_lanes(std::move(pairs), own_, sweep_);
    }

    void row(std::size_t i, const ObjectPairs& z, std::span<const std::uint32_t> columns,
             std::span<double> out) const override {
        const auto& other = static_cast<const NormalisedLanes&>(z);
        in_lanes(lane_pairs(items_[i], other.items_, columns), out, sweep_);
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const double norms = own_[i] / 2 + other.own_[columns[c]] / 2;
            // A sum of 0 has the logarithm −∞ and stays 0, also where a norm is 0.
            out[c] = std::isfinite(out[c]) && std::isfinite(norms) ? std::exp(out[c] - norms) : 0;
        }
    }
    /// For a sweep that knows the slope of log K in a parameter:
    ///     double Sweep::log_slope(const std::string&, const LaneItem& outer, const LaneItem&
    ///     inner) const;
    void slope_row(const std::string& parameter, std::size_t i, const ObjectPairs& z,
                   std::span<const std::uint32_t> columns, std::span<double> out) const override {
        if constexpr (requires { sweep_.log_slope(parameter, items_[i], items_[i]); }) {
            const auto& other = static_cast<const NormalisedLanes&>(z);
            row(i, z, columns, out);
            const auto own = [&](const LaneItem& item) {
                return sweep_.log_slope(parameter, item, item);
            };
            const double first = own(items_[i]);
            for (std::size_t c = 0; c < columns.size(); ++c) {
                if (out[c] == 0) continue;
                const LaneItem& second = other.items_[columns[c]];
                const LanePair pair(items_[i], second, 0);
                out[c] *= sweep_.log_slope(parameter, *pair.outer, *pair.inner) -
                          (first + own(second)) / 2;
            }
        } else {
            ObjectPairs::slope_row(parameter, i, z, columns, out);
        }
    }
    double pair_work() const override { return sweep_.cell_work() * mean_cells(items_); }

   private:
    Sweep sweep_;
    std::vector<LaneItem> items_;
    std::vector<double> own_;
};

}  // namespace mercer::leaves
