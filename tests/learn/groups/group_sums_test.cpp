// Sums of kernel values over groups: by the definition, each pair of rows computed once.
#include "mercer/learn/groups/detail/group_sums.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/gram/operators.hpp"

namespace mercer {
namespace {

struct Groups {
    std::vector<std::size_t> of{};
    std::vector<double> weights{};
};

Groups drawn(std::size_t rows, std::size_t count) {
    Random random(3, 0);
    Groups groups;
    for (std::size_t i = 0; i < rows; ++i) {
        groups.of.push_back(random.below(count));
        groups.weights.push_back(0.5 + random.uniform());
    }
    return groups;
}

TEST(GroupSums, AreThoseOfTheDefinitionAndCostHalfOfThePairs) {
    const Dataset data = embedded("digits");  // several strips of rows
    const std::size_t n = data.size();
    const auto gram = make_gram<double>(rbf({.gamma = 0.001}), data.x);
    Matrix<double> k(n, n);
    gram.matrix(k.view());
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{900}}) {
        const Groups groups = drawn(n, count);
        Matrix<double> expected(count + 1, n);  // the last group has no rows
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t i = 0; i < n; ++i) {
                expected(groups.of[j], i) += groups.weights[j] * k(j, i);
            }
        }
        Matrix<double> sums(count + 1, n);
        for (double& value : sums.values()) value = 17;  // what was there does not count
        const std::uint64_t computed = group_sums(
            gram, groups.of, groups.weights, [] {}, sums.view());
        for (std::size_t c = 0; c <= count; ++c) {
            for (std::size_t i = 0; i < n; ++i) {
                ASSERT_NEAR(sums(c, i), expected(c, i), 1e-11 * (1 + expected(c, i)));
            }
        }
        EXPECT_LT(gram.strip(), n / 2);
        EXPECT_LT(computed, n * (n + 2 * gram.strip()) / 2);
    }
}

TEST(GroupSums, HaveTheSameBitsForAnyNumberOfThreads) {
    const Dataset data = embedded("digits");
    const auto gram = make_gram<float>(rbf({.gamma = 0.001}), data.x);
    const Groups groups = drawn(data.size(), 5);
    const auto with = [&](std::size_t threads) {
        const ThreadLimit limit(threads);
        Matrix<double> sums(5, data.size());
        group_sums(
            gram, groups.of, groups.weights, [] {}, sums.view());
        return sums.values();
    };
    EXPECT_EQ(with(1), with(3));
}

TEST(GroupSums, AskBeforeEachStripAndEndWhenThatThrows) {
    const Dataset data = embedded("digits");
    const auto gram = make_gram<float>(rbf({.gamma = 0.001}), data.x);
    const Groups groups = drawn(data.size(), 5);
    Matrix<double> sums(5, data.size());
    int asked = 0;
    const auto twice = [&] {
        if (++asked == 2) throw Cancelled();
    };
    EXPECT_THROW(group_sums(gram, groups.of, groups.weights, twice, sums.view()), Cancelled);
    EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace mercer
