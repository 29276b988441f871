// Ranks that speak to each other, and what becomes of all when one of them is not well.
#include "mercer/dist/communicator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/dist/detail/fixed_sum.hpp"
#include "mercer/dist/detail/row_leaves.hpp"
#include "mercer/dist/detail/thread_ranks.hpp"

namespace mercer {
namespace {

TEST(Communicator, GathersWhatEachRankHasInTheirOrder) {
    run_ranks(4, [](Communicator& ranks) {
        const std::vector<int> own(ranks.rank(), static_cast<int>(ranks.rank()));
        std::vector<std::size_t> counts;
        EXPECT_EQ(ranks.all_gather(std::span<const int>(own), &counts),
                  (std::vector<int>{1, 2, 2, 3, 3, 3}));
        EXPECT_EQ(counts, (std::vector<std::size_t>{0, 1, 2, 3}));
        double value = static_cast<double>(ranks.rank()) + 5;
        ranks.broadcast(std::span(&value, 1));
        EXPECT_EQ(value, 5);
    });
}

TEST(Communicator, SendsToEachRankItsOwn) {
    run_ranks(3, [](Communicator& ranks) {
        const auto own = static_cast<double>(ranks.rank());
        const std::vector<double> sent{10 * own, 10 * own + 1, 10 * own + 2};
        const std::vector<std::size_t> ones(3, 1);
        std::vector<double> received(3);
        ranks.all_to_all(sent, ones, received, ones);
        EXPECT_EQ(received, (std::vector<double>{own, 10 + own, 20 + own}));
    });
}

TEST(Communicator, FailureOfOneEndsAllWithItsMessage) {
    std::atomic<int> heard = 0;
    const auto body = [&](Communicator& ranks) {
        ranks.barrier();
        if (ranks.rank() == 2) throw InvalidInput("line 7 is no number");
        try {
            ranks.barrier();
            ADD_FAILURE() << "rank 2 never came";
        } catch (const RankFailed& failed) {
            EXPECT_EQ(failed.rank(), 2U);
            EXPECT_EQ(failed.code(), 1);
            EXPECT_EQ(std::string(failed.what()), "line 7 is no number");
            ++heard;
            throw;
        }
    };
    EXPECT_THROW(run_ranks(4, body), InvalidInput);
    EXPECT_EQ(heard, 3);
}

TEST(Communicator, OfSeveralFailuresTheLowestRankSpeaks) {
    run_ranks(3, [](Communicator& ranks) {
        if (ranks.rank() == 0) {
            EXPECT_THROW(ranks.barrier(), RankFailed);
        } else {
            EXPECT_EQ(ranks.fail(7, "rank " + std::to_string(ranks.rank())), 1U);
        }
    });
}

TEST(Communicator, StopOfOneStopsAllAtTheSamePlace) {
    run_ranks(3, [](Communicator& ranks) {
        EXPECT_FALSE(ranks.stopped());
        if (ranks.rank() == 1) {
            ranks.stop();
        } else {
            EXPECT_THROW(ranks.barrier(), Cancelled);
        }
        EXPECT_TRUE(ranks.stopped());
        ranks.barrier();  // and go on after it
    });
}

TEST(Communicator, AloneThereIsNothingToWaitFor) {
    Communicator& alone = current_ranks();
    EXPECT_EQ(alone.size(), 1U);
    const std::vector<double> own{1, 2};
    EXPECT_EQ(alone.all_gather(std::span<const double>(own)), own);
    alone.barrier();
}

TEST(OwnRows, AreWholeLeavesThatCoverAll) {
    for (const std::size_t total : {1UL, 8192UL, 8193UL, 100'000UL, 3'000'001UL, 10'000'000UL}) {
        const std::size_t leaf = leaf_rows(total);
        EXPECT_LE((total + leaf - 1) / leaf, 128U);
        for (const std::size_t count : {1UL, 2UL, 3UL, 5UL, 8UL}) {
            std::vector<RowRange> ranges(count);
            run_ranks(count,
                      [&](Communicator& ranks) { ranges[ranks.rank()] = own_rows(ranks, total); });
            std::size_t next = 0;
            for (const RowRange& range : ranges) {
                EXPECT_EQ(range.first, next);
                EXPECT_TRUE(range.first % leaf == 0 || range.first == total);
                next = range.last;
            }
            EXPECT_EQ(next, total);
        }
    }
}

/// Numbers of many sizes, whose sum depends on the order.
double term(std::size_t leaf, std::size_t k) {
    const auto number = static_cast<double>(leaf * 37 + k);
    return std::sin(number) * std::pow(10.0, std::fmod(number, 7.0));
}

TEST(FixedSum, HasTheSameBitsForAnyNumberOfRanks) {
    constexpr std::size_t width = 37;
    for (const std::size_t leaves : {1UL, 2UL, 5UL, 13UL, 64UL, 77UL}) {
        std::vector<double> alone(width), plain(width, 0.0);
        const auto add = [](std::size_t leaf, std::span<double> zeros) {
            for (std::size_t k = 0; k < zeros.size(); ++k) zeros[k] += term(leaf, k);
        };
        FixedSum(current_ranks(), {0, leaves})(add, alone);
        bool ordered = true;
        for (std::size_t k = 0; k < width; ++k) {
            for (std::size_t leaf = 0; leaf < leaves; ++leaf) plain[k] += term(leaf, k);
            EXPECT_NEAR(alone[k], plain[k], 1e-6);
            ordered = ordered && alone[k] == plain[k];
        }
        EXPECT_EQ(ordered, leaves < 4) << "the order must matter for the test to mean something";
        for (const std::size_t count : {2UL, 3UL, 5UL, 8UL}) {
            std::vector<std::size_t> bounds;
            // Uneven shares, the first rank without any leaf.
            for (std::size_t r = 0; r <= count; ++r) {
                bounds.push_back(r == 0 ? 0 : (r - 1) * leaves / (count - 1));
            }
            run_ranks(count, [&](Communicator& ranks) {
                std::vector<double> sum(width, 1.0);
                FixedSum(ranks, bounds)(add, sum);
                EXPECT_EQ(sum, alone) << leaves << " leaves, " << count << " ranks";
            });
        }
    }
}

TEST(FixedSum, PassesOnWhatItsLeavesThrow) {
    const auto body = [](Communicator& ranks) {
        std::vector<double> sum(3);
        FixedSum(ranks, {0, 2, 4})(
            [](std::size_t leaf, std::span<double>) {
                if (leaf == 3) throw InvalidInput("no such row");
            },
            sum);
    };
    EXPECT_THROW(run_ranks(2, body), InvalidInput);
}

TEST(RowLeaves, SumsAndGathersRowsOfAllRanks) {
    constexpr std::size_t n = 20'000;  // three leaves
    std::vector<float> values(2 * n);
    std::iota(values.begin(), values.end(), 0.0F);
    const Rows all = Rows::dense(values, 2);
    const std::vector<std::size_t> places{0, 3, 8191, 8192, 12'000, 13'331};
    const auto term_of = [&](std::size_t row) { return std::sqrt(static_cast<double>(row)); };
    std::vector<double> sums;
    std::vector<Rows> gathered;
    std::vector<std::size_t> origins;
    for (const std::size_t count : {1UL, 2UL, 3UL, 5UL}) {
        run_ranks(count, [&](Communicator& ranks) {
            const RowRange own = own_rows(ranks, n);
            std::vector<std::size_t> kept, given;
            for (std::size_t i = own.first; i < own.last; ++i) {
                if (i % 3 == 1) continue;  // of weight 0
                kept.push_back(i - own.first);
                given.push_back(i);
            }
            const RowLeaves leaves(ranks, own.size(), kept);
            EXPECT_EQ(leaves.rows(), 13'333U);
            const double sum = leaves.sum([&](std::size_t i) { return term_of(given[i]); });
            const Rows some = leaves.gather(all.select(given), places);
            const std::vector<std::size_t> from = leaves.origins(kept, places);
            if (ranks.rank() > 0) return;
            sums.push_back(sum);
            gathered.push_back(some);
            origins = from;
            for (std::size_t p = 0; p < places.size(); ++p) {
                // Rows 0, 2, 3, 5, 6, … are kept.
                EXPECT_EQ(origins[p], places[p] / 2 * 3 + places[p] % 2 * 2);
                EXPECT_EQ(some.dense_view<float>()(p, 0), static_cast<float>(2 * origins[p]));
            }
        });
    }
    for (const double sum : sums) EXPECT_EQ(sum, sums.front());
}

TEST(RowLeaves, RefusesRanksThatBeginInsideALeaf) {
    const auto body = [](Communicator& ranks) {
        std::vector<std::size_t> kept(10'000);
        std::iota(kept.begin(), kept.end(), std::size_t{0});
        RowLeaves(ranks, kept.size(), kept);
    };
    EXPECT_THROW(run_ranks(2, body), InvalidInput);
}

}  // namespace
}  // namespace mercer
