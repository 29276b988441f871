#include "mercer/base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace mercer {
namespace {

TEST(Threads, KeepToTheLimitOfAContainer) {
    EXPECT_EQ(processors_of_limit("200000 100000"), 2U);
    EXPECT_EQ(processors_of_limit("250000 100000"), 3U);
    EXPECT_EQ(processors_of_limit("10000 100000"), 1U);
    for (const char* none : {"max 100000", "-1 100000", "", " ", "100000", "nan 1", "1 0"}) {
        EXPECT_EQ(processors_of_limit(none), 0U) << none;
    }
}

TEST(ParallelFor, RunsEveryTaskOnce) {
    for (const std::size_t count : {1, 2, 5}) {
        set_threads(count);
        for (const std::size_t tasks : {0, 1, 3, 1000}) {
            std::vector<std::atomic<int>> runs(tasks);
            parallel_for(tasks, [&](std::size_t task) { ++runs[task]; });
            for (const auto& run : runs) EXPECT_EQ(run, 1);
        }
    }
    set_threads(0);
}

TEST(ParallelFor, PassesTheExceptionOnAndStaysUsable) {
    set_threads(3);
    EXPECT_THROW(parallel_for(100,
                              [](std::size_t task) {
                                  if (task == 37) throw std::runtime_error("37");
                              }),
                 std::runtime_error);
    std::atomic<int> sum = 0;
    parallel_for(10, [&](std::size_t task) { sum += static_cast<int>(task); });
    EXPECT_EQ(sum, 45);
    set_threads(0);
}

TEST(ParallelFor, MayBeNested) {
    set_threads(4);
    std::atomic<int> count = 0;
    parallel_for(8, [&](std::size_t) { parallel_for(8, [&](std::size_t) { ++count; }); });
    EXPECT_EQ(count, 64);
    set_threads(0);
}

TEST(ParallelRanges, CoverWithoutOverlap) {
    std::vector<std::atomic<int>> seen(1003);
    parallel_ranges(1003, 100, [&](std::size_t first, std::size_t last) {
        EXPECT_LE(last - first, 100U);
        for (std::size_t i = first; i < last; ++i) ++seen[i];
    });
    for (const auto& count : seen) EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace mercer
