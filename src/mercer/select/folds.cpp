
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer {
namespace {

void require_two_rows_a_class(const Classes& classes) {
    std::vector<std::size_t> count(classes.count(), 0);
    for (const std::int32_t c : classes.index) ++count[static_cast<std::size_t>(c)];
    for (std::size_t c = 0; c < count.size(); ++c) {
        if (count[c] > 1) continue;
        throw InvalidInput("the class " + quoted(classes.names[c]) +
                           " has a single row, which cannot be both learnt from and judged on; "
                           "leave the class out, or draw plain folds");
    }
}

/// Positions of the distinct keys in their natural order, one a row.
std::vector<std::size_t> numbered(const std::vector<std::string>& keys, std::size_t& count) {
    std::map<std::string, std::size_t, bool (*)(std::string_view, std::string_view)> number(
        natural_less);
    for (const std::string& key : keys) number.emplace(key, 0);
    count = 0;
    for (auto& entry : number) entry.second = count++;
    std::vector<std::size_t> result;
    result.reserve(keys.size());
    for (const std::string& key : keys) result.push_back(number.find(key)->second);
    return result;
}

/// The fold of each group: the largest first, each into the fold that has the fewest rows so far.
std::vector<std::size_t> draw_groups(const std::vector<std::size_t>& group, std::size_t groups,
                                     std::size_t folds, std::uint64_t seed) {
    if (folds < 2 || folds > groups) {
        throw InvalidInput(std::to_string(folds) + " folds cannot be made of " +
                           std::to_string(groups) + " groups: give 2 to " + std::to_string(groups));
    }
    std::vector<std::size_t> size(groups, 0);
    for (const std::size_t g : group) ++size[g];
    std::vector<std::size_t> order(groups);
    std::iota(order.begin(), order.end(), 0);
    Random(seed).shuffle(std::span(order));
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t g) { return size[g]; });
    std::vector<std::size_t> filled(folds, 0);
    std::vector<std::size_t> fold_of(groups);
    for (const std::size_t g : order) {
        const auto least = std::ranges::min_element(filled);
        fold_of[g] = static_cast<std::size_t>(least - filled.begin());
        *least += size[g];
    }
    std::vector<std::size_t> fold;
    fold.reserve(group.size());
    for (const std::size_t g : group) fold.push_back(fold_of[g]);
    return fold;
}

void add_splits(const std::vector<std::size_t>& fold, std::size_t folds,
                std::vector<Split>& splits) {
    for (std::size_t f = 0; f < folds; ++f) {
        Split split;
        for (std::size_t i = 0; i < fold.size(); ++i) {
            (fold[i] == f ? split.test : split.train).push_back(i);
        }
        splits.push_back(std::move(split));
    }
}

}  // namespace

std::vector<Split> make_folds(const FoldRule& rule, Task task, const Dataset& data) {
    const bool keyed = rule.kind == FoldKind::grouped || rule.kind == FoldKind::given;
    if (keyed && rule.keys.size() != data.size()) {
        throw InvalidInput("there are " + std::to_string(rule.keys.size()) +
                           " names of folds or groups for " + std::to_string(data.size()) +
                           " rows");
    }
    if (rule.repeats < 1) throw InvalidInput("folds must be drawn at least once, not 0 times");
    std::vector<Split> splits;
    std::size_t count = 0;
    const std::vector<std::size_t> key =
        keyed ? numbered(rule.keys, count) : std::vector<std::size_t>{};
    if (rule.kind == FoldKind::given) {
        if (count < 2) throw InvalidInput("all rows are in one fold: name at least two folds");
        if (rule.repeats > 1) throw InvalidInput("folds that are given cannot be drawn repeatedly");
        add_splits(key, count, splits);
        return splits;
    }
    const bool stratified =
        !data.y.empty() && (rule.kind == FoldKind::stratified ||
                            (rule.kind == FoldKind::automatic && is_classifier(task)));
    const Classes classes = stratified ? classes_of(data.y) : Classes{};
    if (stratified) require_two_rows_a_class(classes);
    for (std::size_t r = 0; r < rule.repeats; ++r) {
        const auto fold = rule.kind == FoldKind::grouped
                              ? draw_groups(key, count, rule.folds, rule.seed + r)
                              : draw_folds(data.size(), rule.folds, rule.seed + r, classes.index);
        add_splits(fold, rule.folds, splits);
    }
    return splits;
}

std::vector<Split> thinned(const std::vector<Split>& folds, std::size_t rows, std::uint64_t seed,
                           const std::vector<std::int32_t>& classes) {
    std::vector<Split> result = folds;
    for (std::size_t f = 0; f < folds.size(); ++f) {
        std::vector<std::size_t>& train = result[f].train;
        if (train.size() <= rows) continue;
        Random(seed, f + 1).shuffle(std::span(train));
        const auto kind = [&](std::size_t i) { return classes.empty() ? 0 : classes[i]; };
        // Row number j of a class of m rows stands at (j + ½)/m: a prefix of the order by that
        // place holds nearly the same share of every class, whatever its length.
        std::map<std::int32_t, std::size_t> count;
        for (const std::size_t i : train) ++count[kind(i)];
        std::map<std::int32_t, std::size_t> seen;
        std::vector<std::pair<double, std::size_t>> placed;
        for (const std::size_t i : train) {
            const auto j = static_cast<double>(seen[kind(i)]++);
            placed.emplace_back((j + 0.5) / static_cast<double>(count[kind(i)]), i);
        }
        std::ranges::stable_sort(placed, {}, [](const auto& p) { return p.first; });
        train.clear();
        for (std::size_t k = 0; k < rows; ++k) train.push_back(placed[k].second);
        std::ranges::sort(train);
    }
    return result;
}

}  // namespace mercer
