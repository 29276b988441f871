#include "mercer/base/progress.hpp"

#include <gtest/gtest.h>

namespace mercer {
namespace {

TEST(Run, CountsWhatAStepWillTakeToItsTime) {
    const mercer::Run run({}, 1000);
    EXPECT_TRUE(run.goes_on({.task = "training", .fraction = -1, .needs = 500}));
    EXPECT_FALSE(run.goes_on({.task = "training", .fraction = -1, .needs = 1000}));
    EXPECT_TRUE(run.out_of_time());
    EXPECT_FALSE(run.goes_on({"training", -1}));
    const mercer::Run endless;
    EXPECT_TRUE(endless.goes_on({.task = "training", .fraction = -1, .needs = 1e9}));
}

}  // namespace
}  // namespace mercer
