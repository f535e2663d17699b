/// Kernels whose threads are ordered for all sizes, kernels whose threads meet, and those of which
/// neither is known.
#include "engine/proof/thread_order.h"
#include "tests/engine/proof/proof_subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// "no two threads race ...", "two threads of ... touch one byte ..." or "unknown: ...".
std::string orderIn(const std::string& text,
                    std::optional<std::array<Wide, 3>> block = std::nullopt) {
    const EditedProgram program(text);
    EXPECT_FALSE(hasErrors(program.original())) << text;
    IntegerSolver solver;
    const ThreadOrder order = orderOfThreads(
        {program.original(), program.original().model->kernels.front()}, solver, true, block);
    if (order)
        return order->sentence();
    return order.error().meeting ? order.error().meeting->sentence()
                                 : "unknown: " + order.error().reason;
}

constexpr const char* ordered = "no two threads race, for all sizes";

const std::string scale = R"(
__global__ void scale(float* out, const float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}
)";

TEST(ThreadOrder, KnowsThatEachThreadHasItsElement) {
    EXPECT_EQ(orderIn(scale), std::string(ordered) + ", if there are fewer than 2^31 threads and "
                                                     "in, out do not overlap");
    EXPECT_THAT(orderIn(replaced(scale, "out[i]", "out[i / 2]")),
                AllOf(StartsWith("two threads of one block"), HasSubstr("on line 5")));
    EXPECT_THAT(orderIn(replaced(scale, "out[i]", "out[i | 1]")),
                StartsWith("two threads of one block"));
    EXPECT_THAT(orderIn(replaced(scale, "out[i]", "out[threadIdx.x]")),
                StartsWith("two threads of two blocks"));
    EXPECT_THAT(orderIn(replaced(scale, "out[i]", "atomicAdd(out + i / 2, 1.0f); float unused")),
                StartsWith(ordered));
    // What memory decides may be anything.
    EXPECT_THAT(orderIn(replaced(scale, "out[i]", "out[(int)in[i]]")), StartsWith("unknown: "));
}

TEST(ThreadOrder, KnowsRowsOfAnyWidth) {
    const std::string rows = R"(
__global__ void rows(float* out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[y * width + x] = 1.0f * x;
}
)";
    EXPECT_THAT(orderIn(rows), StartsWith(ordered));
    EXPECT_THAT(orderIn(replaced(rows, "x < width && ", "")), StartsWith("two threads of "));
    EXPECT_THAT(orderIn(replaced(rows, "y * width + x", "x * width + y")),
                StartsWith("two threads of "));
}

TEST(ThreadOrder, KnowsLoopsOverTheGrid) {
    const std::string strides = R"(
__global__ void strides(float* out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = 2.0f * i;
}
)";
    EXPECT_THAT(orderIn(replaced(strides, "blockDim.x * gridDim.x", "blockDim.x")),
                StartsWith("two threads of "));
    const std::string inBlock = replaced(replaced(strides, "blockIdx.x * blockDim.x + ", ""),
                                         "blockDim.x * gridDim.x", "blockDim.x");
    EXPECT_THAT(orderIn(inBlock), StartsWith(ordered));
    EXPECT_THAT(orderIn(replaced(inBlock, "+= blockDim.x", "+= 32")),
                StartsWith("two threads of one block"));
}

const std::string reversed = R"(
__global__ void reversed(float* out, const float* in) {
    __shared__ float tile[256];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
)";

TEST(ThreadOrder, SeesWhatBarriersSeparate) {
    EXPECT_THAT(orderIn(reversed), StartsWith(ordered));
    EXPECT_THAT(orderIn(replaced(reversed, "    __syncthreads();\n", "")),
                AllOf(StartsWith("two threads of one block"), HasSubstr("lines 4 and 5")));
    EXPECT_THAT(orderIn(replaced(reversed, "__syncthreads", "__syncwarp")),
                StartsWith("unknown: threads of a block may meet on lines"));
    // Each thread reads its own element.
    EXPECT_THAT(orderIn(replaced(replaced(reversed, "    __syncthreads();\n", ""),
                                 "blockDim.x - 1 - threadIdx.x", "threadIdx.x")),
                StartsWith(ordered));
}

TEST(ThreadOrder, TakesABarrierForOneThatAllReach) {
    EXPECT_THAT(orderIn(replaced(reversed, "    __syncthreads();",
                                 "    if (threadIdx.x < 16)\n        __syncthreads();")),
                HasSubstr("unknown: a barrier that some threads may not reach"));
    const std::string sometimes =
        replaced(replaced(reversed, "const float* in", "const float* in, int waits"),
                 "    __syncthreads();", "    if (waits > 0)\n        __syncthreads();");
    EXPECT_THAT(orderIn(sometimes),
                AllOf(StartsWith("two threads of one block"), HasSubstr("waits = ")));
    // A block that does not wait does not read what others write.
    EXPECT_THAT(
        orderIn(replaced(sometimes, "out[threadIdx.x] =", "if (waits > 0) out[threadIdx.x] =")),
        StartsWith(ordered));
}

const std::string tiled = R"(
__global__ void tiled(float* out, const float* a, int rounds) {
    __shared__ float tile[32][33];
    float sum = 0.0f;
    for (int t = 0; t < rounds; ++t) {
        tile[threadIdx.y][threadIdx.x] = a[t * 1024 + threadIdx.y * 32 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 32; ++k)
            sum += tile[k][threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.y * 32 + threadIdx.x] = sum;
}
)";

TEST(ThreadOrder, FollowsBarriersFromRoundToRound) {
    EXPECT_THAT(orderIn(tiled, {{32, 32, 1}}), StartsWith(ordered));
    // The next round writes what this one still reads.
    EXPECT_THAT(orderIn(replaced(tiled,
                                 "            sum += tile[k][threadIdx.x];\n"
                                 "        __syncthreads();\n",
                                 "            sum += tile[k][threadIdx.x];\n"),
                        {{32, 32, 1}}),
                AllOf(StartsWith("two threads of one block"), HasSubstr("lines 6 and 9")));
    EXPECT_THAT(orderIn(replaced(tiled, "        __syncthreads();\n        for", "        for"),
                        {{32, 32, 1}}),
                AllOf(StartsWith("two threads of one block"), HasSubstr("lines 6 and 8")));
}

TEST(ThreadOrder, FollowsTwoBuffersThatTakeTurns) {
    const std::string turns = R"(
__global__ void turns(float* out, const float* in, int rounds) {
    __shared__ float tile[2][256];
    int now = 0;
    tile[0][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int t = 1; t < rounds; ++t) {
        tile[now ^ 1][threadIdx.x] = in[t * blockDim.x + threadIdx.x];
        out[t * blockDim.x + threadIdx.x] = tile[now][blockDim.x - 1 - threadIdx.x];
        __syncthreads();
        now ^= 1;
    }
}
)";
    EXPECT_THAT(orderIn(turns, {{256, 1, 1}}), StartsWith(ordered));
    EXPECT_THAT(orderIn(replaced(turns, "tile[now ^ 1]", "tile[now]"), {{256, 1, 1}}),
                AllOf(StartsWith("two threads of one block"), HasSubstr("lines 8 and 9")));
}

const std::string halves = R"(
__global__ void halves(float* out, const float* in) {
    __shared__ float sums[256];
    sums[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (threadIdx.x < width)
            sums[threadIdx.x] += sums[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = sums[0];
}
)";

TEST(ThreadOrder, FollowsAReductionThatHalves) {
    EXPECT_THAT(orderIn(halves), StartsWith(ordered));
    EXPECT_THAT(orderIn(replaced(halves, "threadIdx.x < width", "threadIdx.x <= width")),
                StartsWith("two threads of one block"));
    EXPECT_THAT(orderIn(replaced(halves, "threadIdx.x + width]", "threadIdx.x + 1]")),
                StartsWith("two threads of one block"));
    // Of any width: what a round carries is one number for all threads.
    EXPECT_THAT(orderIn(replaced(halves, "width = 128", "width = blockDim.x / 2")),
                StartsWith(ordered));
    EXPECT_THAT(orderIn(replaced(replaced(halves, "width = 128", "width = blockDim.x / 2"),
                                 "        __syncthreads();\n    }", "    }\n    __syncthreads();")),
                StartsWith("unknown: "));
}

TEST(ThreadOrder, KnowsWhichBitsTellThreadsApart) {
    const std::string pairs = R"(
__global__ void pairs(int* out, int n) {
    int i = threadIdx.x;
    if (i < n)
        out[i ^ 1] = i;
}
)";
    EXPECT_THAT(orderIn(pairs), StartsWith(ordered));
    EXPECT_THAT(orderIn(replaced(pairs, "i ^ 1", "i & 1")), StartsWith("two threads of one block"));
    EXPECT_THAT(orderIn(replaced(pairs, "i ^ 1", "i >> 1")),
                StartsWith("two threads of one block"));
    EXPECT_THAT(orderIn(replaced(pairs, "i ^ 1", "i << 1")), StartsWith(ordered));
}

TEST(ThreadOrder, KnowsASwizzledTile) {
    const std::string swizzled = R"(
__global__ void swizzled(float* out, const float* in) {
    __shared__ float tile[32 * 32];
    unsigned x = threadIdx.x, y = threadIdx.y;
    tile[y * 32 + (x ^ y)] = in[y * 32 + x];
    __syncthreads();
    out[y * 32 + x] = tile[x * 32 + (x ^ y)];
}
)";
    EXPECT_THAT(orderIn(swizzled, {{32, 32, 1}}), StartsWith(ordered));
    EXPECT_THAT(orderIn(replaced(swizzled, "tile[y * 32 + (x ^ y)]", "tile[y * 32 + (x | y)]"),
                        {{32, 32, 1}}),
                AllOf(StartsWith("two threads of one block"), HasSubstr("on line 5")));
}

TEST(ThreadOrder, CallsNothingAMeetingThatMemoryDecides) {
    const std::string lastBlock = R"(
__device__ unsigned arrived;
__global__ void lastBlock(float* sums, float* out) {
    __shared__ bool isLast;
    sums[blockIdx.x] = 1.0f * blockIdx.x;
    __threadfence();
    if (threadIdx.x == 0)
        isLast = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    __syncthreads();
    if (isLast && threadIdx.x == 0)
        out[0] = sums[0] + sums[gridDim.x - 1];
}
)";
    EXPECT_THAT(orderIn(lastBlock), StartsWith("unknown: "));
    const std::string bins = R"(
__global__ void bins(int* counts, const int* in) {
    atomicAdd(&counts[in[blockIdx.x * blockDim.x + threadIdx.x]], 1);
}
)";
    EXPECT_THAT(orderIn(bins), StartsWith(ordered));
    EXPECT_THAT(orderIn(replaced(bins,
                                 "atomicAdd(&counts[in[blockIdx.x * blockDim.x + "
                                 "threadIdx.x]], 1)",
                                 "counts[in[blockIdx.x * blockDim.x + threadIdx.x]] += 1")),
                StartsWith("unknown: "));
    EXPECT_THAT(orderIn(replaced(bins, "atomicAdd(", "atomicAdd_block(")),
                StartsWith("unknown: threads of two blocks may meet on line 3"));
}

TEST(ThreadOrder, SaysWhatItDoesNotFollow) {
    EXPECT_THAT(orderIn(R"(
__global__ void waits(volatile int* flag, int* out) {
    while (*flag == 0) {}
    out[threadIdx.x] = 1;
}
)"),
                StartsWith("unknown: "));
    EXPECT_THAT(orderIn(R"(
__device__ void put(float* at, float value) { *at = value; }
__global__ void puts(float* out) { put(out + threadIdx.x, 1.0f); }
)"),
                StartsWith("unknown: what threads do together on line 3"));
}

} // namespace
} // namespace kernelskill::engine
