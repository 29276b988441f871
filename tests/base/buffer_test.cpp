#include "mercer/base/detail/buffer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace mercer {
namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20;

TEST(LargeBuffer, CanBeWrittenToItsEnd) {
    const LargeBuffer buffer(megabyte + 1);
    buffer.as<char>()[megabyte] = 7;
    EXPECT_EQ(buffer.as<char>()[megabyte], 7);
    EXPECT_EQ(LargeBuffer(0).bytes(), 0U);
}

TEST(KeepBuffers, HandsOnWhatFitsAndOnlyThat) {
    const KeepBuffers keeper;
    auto first = std::make_unique<LargeBuffer>(4 * megabyte);
    const char* place = first->as<char>();
    first.reset();
    {
        const LargeBuffer small(megabyte);
        EXPECT_NE(small.as<char>(), place) << "far too large for it";
    }
    const LargeBuffer next(3 * megabyte);
    EXPECT_EQ(next.as<char>(), place);
    EXPECT_EQ(next.bytes(), 3 * megabyte);
    const LargeBuffer other(3 * megabyte);
    EXPECT_NE(other.as<char>(), place) << "in use";
}

TEST(KeepBuffers, KeepsOnlyWhileOneLives) {
    std::optional<KeepBuffers> outer(std::in_place);
    { const KeepBuffers inner; }
    const char* place = nullptr;
    {
        const LargeBuffer buffer(64 * megabyte);
        place = buffer.as<char>();
    }
    {
        const LargeBuffer again(64 * megabyte);
        EXPECT_EQ(again.as<char>(), place) << "the outer keeper is still there";
        again.as<char>()[0] = 1;
    }
    outer.reset();
    const LargeBuffer fresh(64 * megabyte);
    EXPECT_NE(fresh.as<char>()[0], 1) << "from the system, not from the shelf";
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(LargeBuffer, LeavesItsFirstMegabytesToTheNextAndTheRestToTheSystem) {
    { const KeepBuffers empties_the_shelf; }
    constexpr std::size_t bytes = 64 * megabyte;
    const char* place = nullptr;
    {
        const LargeBuffer buffer(bytes);
        place = buffer.as<char>();
        buffer.as<char>()[0] = buffer.as<char>()[15 * megabyte] = 1;
        buffer.as<char>()[17 * megabyte] = buffer.as<char>()[bytes - 1] = 1;
    }
    const LargeBuffer again(bytes);
    ASSERT_EQ(again.as<char>(), place);
    EXPECT_EQ(again.as<char>()[0], 1);
    EXPECT_EQ(again.as<char>()[15 * megabyte], 1);
    EXPECT_EQ(again.as<char>()[17 * megabyte], 0) << "given back, and fetched anew";
    EXPECT_EQ(again.as<char>()[bytes - 1], 0);
}
#endif

#if defined(__SANITIZE_ADDRESS__)
TEST(LargeBufferDeathTest, TheSanitizerSeesStepsBeyondTheEnd) {
    const KeepBuffers keeper;
    auto first = std::make_unique<LargeBuffer>(4 * megabyte);
    volatile char* const place = first->as<char>();
    EXPECT_DEATH(place[4 * megabyte] = 1, "heap-buffer-overflow");
    first.reset();
    EXPECT_DEATH(place[0] = 1, "use-after-poison") << "kept for the next one, but nobody's";
    const LargeBuffer next(3 * megabyte);
    ASSERT_EQ(next.as<char>(), place);
    place[3 * megabyte - 1] = 1;
    EXPECT_DEATH(place[3 * megabyte] = 1, "use-after-poison");
}
#endif

}  // namespace
}  // namespace mercer
