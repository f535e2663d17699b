#include "engine/execution/gpu/memory_demand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace kernelskill::engine::gpu {
namespace {

using ::testing::HasSubstr;

BufferSpec bufferOf(std::uint64_t elements, bool isOutput) {
    BufferSpec buffer;
    buffer.elements = elements;
    buffer.isOutput = isOutput;
    return buffer;
}

LaunchSpec launchFrom(LaunchOrigin origin) {
    LaunchSpec launch;
    launch.origin = origin;
    launch.kernel = "transpose";
    return launch;
}

TEST(MemoryDemand, CountsTheCopyOfWhatIsWritten) {
    EXPECT_EQ(memoryDemand(bufferOf(1000, false)), 4000U);
    EXPECT_EQ(memoryDemand(bufferOf(1000, true)), 8000U);
}

TEST(MemoryDemand, DoesNotOverflow) {
    constexpr auto max = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(memoryDemand(bufferOf(max / 4, true)), max);
}

TEST(MemoryDemand, OfAGuessIsAtMostHalfOfWhatIsFree) {
    constexpr std::uint64_t gibibyte = 1ull << 30;
    const LaunchSpec guess = launchFrom(LaunchOrigin::Guessed);
    EXPECT_TRUE(checkGuessedDemand(guess, 40 * gibibyte, 80 * gibibyte));
    const auto refused = checkGuessedDemand(guess, 3072 * gibibyte, 80 * gibibyte);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::InvalidInput);
    EXPECT_THAT(refused.error().what,
                HasSubstr("guessed launch of transpose asks for 3145728 MiB"));
    EXPECT_THAT(refused.error().what, HasSubstr("half of the 81920 MiB that are free"));
    EXPECT_THAT(refused.error().remedy, HasSubstr("kernelskill: launch transpose<<<"));
}

TEST(MemoryDemand, OfAStatedLaunchIsTheUsersOwn) {
    for (const auto origin :
         {LaunchOrigin::Pinned, LaunchOrigin::Captured, LaunchOrigin::Evaluated})
        EXPECT_TRUE(checkGuessedDemand(launchFrom(origin), 1ull << 50, 1ull << 30));
}

} // namespace
} // namespace kernelskill::engine::gpu
