#include "mercer/base/detail/per_thread.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace mercer {
namespace {

struct Counted {
    static inline std::atomic<int> alive{0};
    int value = 0;
    Counted() { ++alive; }
    ~Counted() { --alive; }
};

TEST(PerThread, EachThreadHasItsOwnAndItEndsWithIt) {
    per_thread<Counted>().value = 1;
    EXPECT_EQ(Counted::alive, 1);
    std::thread([] {
        EXPECT_EQ(per_thread<Counted>().value, 0);
        per_thread<Counted>().value = 2;
        EXPECT_EQ(per_thread<Counted>().value, 2);
        EXPECT_EQ(Counted::alive, 2);
    }).join();
    EXPECT_EQ(Counted::alive, 1);
    EXPECT_EQ(per_thread<Counted>().value, 1);
}

}  // namespace
}  // namespace mercer
