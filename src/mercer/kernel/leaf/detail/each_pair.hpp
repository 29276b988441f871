// Kernels by pairs that are worked out one pair after another.
#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/kernel/detail/object_leaf.hpp"

namespace mercer::leaves {

/// The rule knows
///     struct Item { std::uint64_t order; … };           what is kept of an object, a hash of it
///     all struct Scratch { … };                             room for the work on a pair double
///     operator()(const Item&, const Item&, Scratch&) const; double pair_work(const
///     std::vector<Item>&) const;
/// Of two objects that with the smaller hash stands first, so that k(x, z) and k(z, x) are the same
/// to the last bit whatever the order of the rule's sums.
template <class Rule>
class EachPair final : public ObjectPairs {
   public:
    using Item = typename Rule::Item;

    EachPair(Rule rule, std::vector<Item> items)
        : rule_(std::move(rule)), items_(std::move(items)) {}

    void row(std::size_t i, const ObjectPairs& z, std::span<const std::uint32_t> columns,
             std::span<double> out) const override {
        const auto& others = static_cast<const EachPair&>(z).items_;
        typename Rule::Scratch scratch;
        const Item& x = items_[i];
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const Item& other = others[columns[c]];
            const bool first = x.order <= other.order;
            out[c] = rule_(first ? x : other, first ? other : x, scratch);
            if (std::isfinite(out[c])) continue;
            throw InvalidInput(
                "a kernel on structures grows beyond all numbers for two of these "
                "objects; choose parameters that give large parts less weight");
        }
    }
    /// For a rule that has
    ///     double slope(const std::string& parameter, const Item&, const Item&, Scratch&) const;
    void slope_row(const std::string& parameter, std::size_t i, const ObjectPairs& z,
                   std::span<const std::uint32_t> columns, std::span<double> out) const override {
        if constexpr (requires(typename Rule::Scratch & s) {
                          rule_.slope(parameter, items_[i], items_[i], s);
                      }) {
            const auto& others = static_cast<const EachPair&>(z).items_;
            typename Rule::Scratch scratch;
            const Item& x = items_[i];
            for (std::size_t c = 0; c < columns.size(); ++c) {
                const Item& other = others[columns[c]];
                const bool first = x.order <= other.order;
                out[c] = rule_.slope(parameter, first ? x : other, first ? other : x, scratch);
            }
        } else {
            ObjectPairs::slope_row(parameter, i, z, columns, out);
        }
    }
    double pair_work() const override { return rule_.pair_work(items_); }

   private:
    Rule rule_;
    std::vector<Item> items_;
};

template <class Rule>
std::unique_ptr<const ObjectPairs> each_pair(Rule rule, std::span<const Object> objects) {
    std::vector<typename Rule::Item> items;
    items.reserve(objects.size());
    for (const Object& object : objects) items.push_back(rule.item(object));
    return std::make_unique<EachPair<Rule>>(std::move(rule), std::move(items));
}

/// The mean of f(item), 0 for none: what costs are estimated from.
template <class Item, class F>
double mean_of(const std::vector<Item>& items, F f) {
    double sum = 0;
    for (const Item& item : items) sum += static_cast<double>(f(item));
    return items.empty() ? 0 : sum / static_cast<double>(items.size());
}

}  // namespace mercer::leaves
