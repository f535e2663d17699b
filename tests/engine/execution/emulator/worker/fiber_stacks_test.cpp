#include "engine/execution/emulator/worker/fiber_stacks.h"

#include <gtest/gtest.h>

namespace kernelskill::engine::emulator {
namespace {

TEST(FiberStacks, SeeAccessesThatReachIntoClosedBytes) {
    auto stacks = FiberStacks::make(2);
    ASSERT_TRUE(stacks);
    const std::uint64_t array = stacks->top(stacks->take()) - 4096;
    EXPECT_FALSE(stacks->isClosed(array, 4));
    stacks->close(array - 64, 64);
    stacks->close(array + 20, 64);
    for (const std::uint64_t inside : {array, array + 16})
        EXPECT_FALSE(stacks->isClosed(inside, 4)) << inside - array;
    for (const std::uint64_t beyond : {array - 4, array - 2, array + 18, array + 20, array + 80})
        EXPECT_TRUE(stacks->isClosed(beyond, 4)) << beyond - array;
    EXPECT_FALSE(stacks->isClosed(array + 84, 4));
    stacks->open(array - 64, 64);
    EXPECT_FALSE(stacks->isClosed(array - 4, 4));
    EXPECT_TRUE(stacks->isClosed(array + 20, 4));
}

TEST(FiberStacks, GiveANewFiberAStackWithoutClosedBytes) {
    auto stacks = FiberStacks::make(2);
    ASSERT_TRUE(stacks);
    const std::uint32_t first = stacks->take();
    const std::uint64_t place = stacks->top(first) - 512;
    const std::uint64_t other = stacks->top(stacks->take()) - 512;
    stacks->close(place, 64);
    stacks->close(other, 64);
    stacks->giveBack(first);
    EXPECT_TRUE(stacks->isClosed(place, 1)) << "until another fiber has it";
    EXPECT_EQ(stacks->take(), first);
    EXPECT_FALSE(stacks->isClosed(place, 1));
    EXPECT_TRUE(stacks->isClosed(other, 1));
}

TEST(FiberStacks, IgnoreBytesOfOtherMemory) {
    auto stacks = FiberStacks::make(1);
    ASSERT_TRUE(stacks);
    std::uint64_t elsewhere = 0;
    const auto address = reinterpret_cast<std::uint64_t>(&elsewhere);
    stacks->close(address, sizeof elsewhere);
    EXPECT_FALSE(stacks->isClosed(address, sizeof elsewhere));
    stacks->close(stacks->top(stacks->take()) - 512, 64);
    EXPECT_FALSE(stacks->isClosed(address, sizeof elsewhere));
}

} // namespace
} // namespace kernelskill::engine::emulator
