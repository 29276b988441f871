#include "mercer/select/cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

/// How many of a group's rows go to the test part.
std::size_t share(std::size_t rows, double test) {
    const auto wanted = static_cast<std::size_t>(std::lround(test * static_cast<double>(rows)));
    return rows < 2 ? std::min(wanted, rows) : std::clamp<std::size_t>(wanted, 1, rows - 1);
}

}  // namespace

Split split_rows(std::size_t rows, double test, std::uint64_t seed,
                 std::span<const std::int32_t> classes) {
    if (!(test > 0 && test < 1)) {
        throw InvalidInput("the fraction set aside is " + format_number(test) +
                           "; it must be greater than 0 and less than 1");
    }
    if (rows < 2) {
        throw InvalidInput(std::to_string(rows) + " rows cannot be split: at least 2 are needed");
    }
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), 0);
    Random(seed).shuffle(std::span(order));
    const auto kind = [&](std::size_t i) { return classes.empty() ? 0 : classes[i]; };
    std::ranges::stable_sort(order, {}, kind);
    Split split;
    for (std::size_t first = 0; first < rows;) {
        std::size_t last = first;
        while (last < rows && kind(order[last]) == kind(order[first])) ++last;
        const std::size_t aside = share(last - first, test);
        for (std::size_t i = first; i < last; ++i) {
            (i - first < aside ? split.test : split.train).push_back(order[i]);
        }
        first = last;
    }
    // Only where every class has a single row can a part be left without one.
    if (split.train.empty() || split.test.empty()) {
        throw InvalidInput("every class has a single row: there is nothing to set aside");
    }
    std::ranges::sort(split.train);
    std::ranges::sort(split.test);
    return split;
}

}  // namespace mercer
