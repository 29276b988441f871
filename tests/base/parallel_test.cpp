#include "mercer/base/parallel.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
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

TEST(Threads, AreReadFromTheFirstNumberOfAVariable) {
    EXPECT_EQ(threads_of_text("3"), 3U);
    EXPECT_EQ(threads_of_text("4,2"), 4U);
    EXPECT_EQ(threads_of_text(" 2 , 1"), 2U);
    for (const char* none :
         {"", "0", "-1", "two", "3x", "1.5", ",", "99999999999999999999", "5000"}) {
        EXPECT_EQ(threads_of_text(none), 0U) << none;
    }
    EXPECT_EQ(threads_of_text(nullptr), 0U);
}

/// A variable of the environment as it shall be for a while.
class Variable {
   public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        value == nullptr ? unsetenv(name) : setenv(name, value, 1);
    }
    ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

   private:
    const char* name_;
    std::optional<std::string> before_{};
};

/// Runs this program again with variables set: the default is asked for once in a process.
void expect_threads_with(const char* own, const char* openmp, std::size_t least, std::size_t most) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const Variable first("MERCER_NUM_THREADS", own);
    const Variable second("OMP_NUM_THREADS", openmp);
    EXPECT_EXIT(
        {
            set_threads(0);
            std::_Exit(threads() >= least && threads() <= most ? 0 : 1);
        },
        testing::ExitedWithCode(0), "")
        << (own ? own : "-") << ' ' << (openmp ? openmp : "-") << ' ' << least;
}

TEST(Threads, KeepToTheEnvironment) {
    if (std::getenv("MERCER_EMULATOR") != nullptr) {
        GTEST_SKIP() << "an emulator's program cannot start itself again";
    }
    expect_threads_with(nullptr, "1", 1, 1);
    expect_threads_with(nullptr, "1,8", 1, 1);
    expect_threads_with("7", "1", 7, 7);
    expect_threads_with("many", "1", 1, 1);
    // No more than there are processors.
    const std::size_t all = std::thread::hardware_concurrency();
    expect_threads_with(nullptr, "4000", 1, all);
    expect_threads_with(nullptr, "none", 1, all);
}

TEST(ThreadLimit, HoldsForItsOwnThreadWhileItLives) {
    set_threads(3);
    {
        const ThreadLimit two(2);
        EXPECT_EQ(threads(), 2U);
        {
            const ThreadLimit none(0);
            EXPECT_EQ(threads(), 2U);
            const ThreadLimit five(5);
            EXPECT_EQ(threads(), 5U);
        }
        EXPECT_EQ(threads(), 2U);
        std::size_t elsewhere = 0;
        std::thread([&] { elsewhere = threads(); }).join();
        EXPECT_EQ(elsewhere, 3U);
        parallel_for(4, [](std::size_t) { EXPECT_EQ(threads(), 1U); });
    }
    EXPECT_EQ(threads(), 3U);
    set_threads(0);
}

TEST(ThreadLimit, IsNeverExceeded) {
    {
        const ThreadLimit many(6);
        parallel_for(1000, [](std::size_t) {});
    }  // six are waiting now
    const ThreadLimit two(2);
    for (int round = 0; round < 50; ++round) {
        std::mutex mutex;
        std::set<std::thread::id> seen;
        parallel_for(64, [&](std::size_t) {
            std::this_thread::yield();
            const std::lock_guard lock(mutex);
            seen.insert(std::this_thread::get_id());
        });
        EXPECT_LE(seen.size(), 2U);
    }
}

/// What the tests below compute: a sum whose pieces are added in order.
double sum_of_pieces(std::size_t pieces) {
    std::vector<double> part(pieces);
    parallel_for(pieces, [&](std::size_t p) {
        for (int i = 1; i < 200; ++i) part[p] += 1.0 / (static_cast<double>(p) + i);
    });
    double sum = 0;
    for (const double value : part) sum += value;
    return sum;
}

TEST(ParallelFor, ServesSeveralThreadsEachWithItsOwnLimit) {
    const double want = sum_of_pieces(100);
    std::vector<std::thread> callers;
    std::atomic<int> wrong = 0;
    for (std::size_t c = 0; c < 8; ++c) {
        callers.emplace_back([&, c] {
            for (std::size_t round = 0; round < 200; ++round) {
                const std::size_t count = 1 + (c + round) % 5;
                const ThreadLimit limit(count);
                wrong += threads() != count;
                wrong += sum_of_pieces(100) != want;
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0);
}

#if defined(__SANITIZE_THREAD__)
constexpr bool threads_after_fork = false;  // more than that sanitizer can follow
#else
constexpr bool threads_after_fork = true;
#endif

TEST(ParallelFor, WorksInAChildAfterFork) {
    if (!threads_after_fork) GTEST_SKIP() << "no threads after fork under this sanitizer";
    set_threads(3);
    const double want = sum_of_pieces(100);
    // Again while others work, so that locks are held when the child begins.
    std::atomic<bool> stop = false;
    std::thread other([&] {
        while (!stop) sum_of_pieces(100);
    });
    bool all_well = true;
    for (int round = 0; round < 20 && all_well; ++round) {
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            alarm(20);
            bool right = sum_of_pieces(100) == want;
            for (const std::size_t count : {1UL, 4UL, 2UL}) {
                set_threads(count);
                right = right && sum_of_pieces(100) == want;
            }
            std::_Exit(right ? 0 : 1);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        all_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        EXPECT_TRUE(all_well) << status;
    }
    stop = true;
    other.join();
    EXPECT_EQ(sum_of_pieces(100), want);
    set_threads(0);
}

TEST(ParallelFor, RunsEveryTaskOnce) {
    for (const std::size_t count : {1UL, 2UL, 5UL}) {
        set_threads(count);
        for (const std::size_t tasks : {0UL, 1UL, 3UL, 1000UL}) {
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
