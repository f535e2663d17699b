// Asynchronous copies into shared memory: there when they were waited for, and not before.
#include "tests/engine/execution/emulator/executor_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class AsyncCopies : public ExecutorFixture {
protected:
    ProgramSource program(const std::string& text) {
        return parse(source("examples/async_copies.cu"), "#include <cuda_pipeline.h>\n" + text);
    }

    static const Hazard* race(const Profile& profile) {
        const auto found = std::ranges::find(profile.hazards, HazardKind::Race, &Hazard::kind);
        return found == profile.hazards.end() ? nullptr : &*found;
    }

    /// Copies tile after tile into two buffers, of which `loop` uses one.
    static std::string pipeline(const std::string& loop) {
        return R"(
__global__ void k(const float* in, float* out, int tiles) {
    __shared__ float tile[2][64];
    int t = threadIdx.x;
    int stage = 0;
    __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(float));
    __pipeline_commit();
    float sum = 0;
    for (int k = 0; k < tiles; ++k) {
        int n = k + 1;
        if (n < tiles)
            __pipeline_memcpy_async(&tile[stage ^ 1][t], &in[n * 64 + t], sizeof(float));
        __pipeline_commit();
)" + loop + R"(
        stage ^= 1;
    }
    out[t] = sum;
}
// kernelskill: launch k<<<1, 64>>>(in=iota[256], out=zero[64], tiles=4)
)";
    }
    static constexpr auto wait = "        __pipeline_wait_prior(1);\n";
    static constexpr auto barrier = "        __syncthreads();\n";
    static constexpr auto use = "        sum += tile[stage][t ^ 33];\n";
};

TEST_F(AsyncCopies, ArriveWhereTheyAreWaitedFor) {
    const ProgramSource sound = program(pipeline(std::string(wait) + barrier + use + barrier));
    const auto result = runFirstKernel(sound);
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_EQ(race(result->profile), nullptr) << race(result->profile)->message;
    EXPECT_THAT(result->profile.hazards, IsEmpty());
    const auto sums = valuesOf<float>(*result, "out");
    ASSERT_EQ(sums.size(), 64u);
    for (int t = 0; t < 64; ++t)
        EXPECT_EQ(sums[t], 4.0f * static_cast<float>(t ^ 33) + 64 * (0 + 1 + 2 + 3)) << t;
}

TEST_F(AsyncCopies, AreARaceForWhoReadsWithoutAWait) {
    const ProgramSource unawaited = program(pipeline(std::string(barrier) + use + barrier));
    const auto result = runFirstKernel(unawaited);
    ASSERT_TRUE(result) << result.error().describe();
    const Hazard* hazard = race(result->profile);
    ASSERT_NE(hazard, nullptr);
    EXPECT_TRUE(hazard->certain);
    EXPECT_EQ(hazard->line, lineOf(unawaited, "sum += tile"));
    EXPECT_EQ(hazard->otherLine, lineOf(unawaited, "__pipeline_memcpy_async(&tile[0]"));
    EXPECT_THAT(hazard->message, HasSubstr("is under way"));
    EXPECT_THAT(hazard->message, HasSubstr("shared 'tile'"));
}

TEST_F(AsyncCopies, AreARaceForWhoWaitsForTooFewOfThem) {
    const ProgramSource late = program(
        pipeline(std::string("        __pipeline_wait_prior(2);\n") + barrier + use + barrier));
    const auto result = runFirstKernel(late);
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_NE(race(result->profile), nullptr);
}

TEST_F(AsyncCopies, AreOneThreadsOwnUntilABarrier) {
    const ProgramSource alone = program(pipeline(std::string(wait) + use + barrier));
    const auto result = runFirstKernel(alone);
    ASSERT_TRUE(result) << result.error().describe();
    const Hazard* hazard = race(result->profile);
    ASSERT_NE(hazard, nullptr);
    EXPECT_EQ(hazard->line, lineOf(alone, "sum += tile"));
}

TEST_F(AsyncCopies, MayNotOverwriteATileThatOthersStillUse) {
    const ProgramSource early = program(pipeline(std::string(wait) + barrier + use));
    const auto result = runFirstKernel(early);
    ASSERT_TRUE(result) << result.error().describe();
    ASSERT_NE(race(result->profile), nullptr);
}

TEST_F(AsyncCopies, ClearWhatTheyDoNotRead) {
    const ProgramSource guarded = program(R"(
__global__ void k(const int4* in, int4* out, int n) {
    __shared__ int4 tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 16, t < n ? 0 : t == n ? 8 : 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[t] = tile[t];
}
// kernelskill: launch k<<<1, 64>>>(in=3[21], out=zero[64], n=20)
)");
    const auto result = runFirstKernel(guarded);
    ASSERT_TRUE(result) << result.error().describe();
    EXPECT_THAT(result->profile.hazards, IsEmpty());
    const auto words = valuesOf<int>(*result, "out");
    ASSERT_EQ(words.size(), 256u);
    for (int i = 0; i < 256; ++i)
        EXPECT_EQ(words[i], i < 20 * 4 + 2 ? 3 : 0) << i;
}

TEST_F(AsyncCopies, EndOnlyInSharedMemory) {
    const ProgramSource global = program(R"(
__global__ void k(const float* in, float* out) {
    __pipeline_memcpy_async(&out[threadIdx.x], &in[threadIdx.x], 4);
}
// kernelskill: launch k<<<1, 32>>>(in=iota[32], out=zero[32])
)");
    const auto result = runFirstKernel(global);
    ASSERT_FALSE(result && result->profile.hazards.empty());
}

} // namespace
} // namespace kernelskill::engine
