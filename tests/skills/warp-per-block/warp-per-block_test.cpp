#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "warp-per-block";

TEST(WarpPerBlock, KeepsAValueForEachThreadThatALaneStandsFor) {
    checkApplicable(id, R"(
#define T 64
__global__ void scan(const float* in, float* out, int n) {
    __shared__ float sums[T];
    // The position in the block.
    int t = threadIdx.x;
    int i = blockIdx.x * T + t;
    sums[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < T; step *= 2) {
        const float before = t >= step ? sums[t - step] : 0.0f;
        __syncthreads();
        sums[t] += before; // In place.
        __syncthreads();
    }
    if (i >= n)
        return;
    out[i] = sums[t];
}
void run(const float* in, float* out, int n) {
    scan<<<(n + T - 1) / T, T>>>(in, out, n);
}
)",
                    R"(
#define T 64
__global__ void scan(const float* in, float* out, int n, unsigned int blocks) {
    // Each warp does the work of a block of 64 threads, 32 at a time.
    const unsigned int warp = threadIdx.x / 32;
    const unsigned int block = blockIdx.x * 2 + warp;
    if (block >= blocks)
        return;
    __shared__ float sums[2][T];
    // The position in the block.
    #pragma unroll
    for (unsigned int part = 0; part < 2; ++part) {
        const unsigned int thread = threadIdx.x % 32 + part * 32;
        int t = thread;
        int i = block * T + t;
        sums[warp][t] = i < n ? in[i] : 0.0f;
    }
    __syncwarp();
    #pragma unroll
    for (int step = 1; step < T; step *= 2) {
        float before[2];
        #pragma unroll
        for (unsigned int part = 0; part < 2; ++part) {
            const unsigned int thread = threadIdx.x % 32 + part * 32;
            int t = thread;
            before[part] = t >= step ? sums[warp][t - step] : 0.0f;
        }
        __syncwarp();
        #pragma unroll
        for (unsigned int part = 0; part < 2; ++part) {
            const unsigned int thread = threadIdx.x % 32 + part * 32;
            int t = thread;
            sums[warp][t] += before[part]; // In place.
        }
        __syncwarp();
    }
    #pragma unroll
    for (unsigned int part = 0; part < 2; ++part) {
        const unsigned int thread = threadIdx.x % 32 + part * 32;
        int t = thread;
        int i = block * T + t;
        if (i >= n)
            continue;
        out[i] = sums[warp][t];
    }
}
void run(const float* in, float* out, int n) {
    scan<<<((n + T - 1) / T + 1) / 2, T>>>(in, out, n, (n + T - 1) / T);
}
)");
}

TEST(WarpPerBlock, GivesTilesOfTwoAxesToWarps) {
    checkApplicable(id, R"(
__global__ void turn(const float* in, float* out, int width) {
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x;
    tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 16 + threadIdx.y) * width + x];
    __syncthreads();
    out[x * width + blockIdx.y] = tile[threadIdx.x][threadIdx.y];
}
void run(const float* in, float* out, int width, int height) {
    dim3 block(16, 16);
    turn<<<dim3(width / 16, height / 16), block>>>(in, out, width);
}
)",
                    R"(
__global__ void turn(const float* in, float* out, int width, unsigned int blocks) {
    // Each warp does the work of a block of 256 threads, 32 at a time.
    const unsigned int rank = threadIdx.y * 16 + threadIdx.x;
    const unsigned int warp = rank / 32;
    const unsigned int block = blockIdx.x * 8 + warp;
    if (block >= blocks)
        return;
    __shared__ float tile[8][16][17];
    #pragma unroll
    for (unsigned int part = 0; part < 8; ++part) {
        const unsigned int thread = rank % 32 + part * 32;
        const unsigned int threadX = thread % 16;
        const unsigned int threadY = thread / 16;
        int x = block * 16 + threadX;
        tile[warp][threadY][threadX] = in[(blockIdx.y * 16 + threadY) * width + x];
    }
    __syncwarp();
    #pragma unroll
    for (unsigned int part = 0; part < 8; ++part) {
        const unsigned int thread = rank % 32 + part * 32;
        const unsigned int threadX = thread % 16;
        const unsigned int threadY = thread / 16;
        int x = block * 16 + threadX;
        out[x * width + blockIdx.y] = tile[warp][threadX][threadY];
    }
}
void run(const float* in, float* out, int width, int height) {
    dim3 block(16, 16);
    turn<<<dim3((width / 16 + 7) / 8, height / 16), block>>>(in, out, width, width / 16);
}
)");
}

TEST(WarpPerBlock, GivesBlocksOfThreeAxesAlongYToWarps) {
    const std::string text = appliedText(id, R"(
__global__ void layers(float* x) {
    __shared__ float s[2][4][8];
    s[threadIdx.z][threadIdx.y][threadIdx.x] = x[blockIdx.y * 64 + threadIdx.z * 32 +
                                                 threadIdx.y * 8 + threadIdx.x];
    __syncthreads();
    x[blockIdx.y * 64 + threadIdx.z] = s[1 - threadIdx.z][0][0];
}
void run(float* x, int n) {
    layers<<<dim3(1, n), dim3(8, 4, 2)>>>(x);
}
)");
    EXPECT_TRUE(text.contains("    const unsigned int rank = threadIdx.z * 32 + threadIdx.y * 8 + "
                              "threadIdx.x;\n"))
        << text;
    EXPECT_TRUE(text.contains("    const unsigned int block = blockIdx.y * 2 + warp;\n")) << text;
    EXPECT_TRUE(text.contains("        const unsigned int threadX = thread % 8;\n"
                              "        const unsigned int threadY = thread / 8 % 4;\n"
                              "        const unsigned int threadZ = thread / 32;\n"))
        << text;
    EXPECT_TRUE(text.contains("layers<<<dim3(1, (n + 1) / 2), dim3(8, 4, 2)>>>(x, n);")) << text;
}

TEST(WarpPerBlock, LeavesShufflesAndWhatIsTheSameForAllThreads) {
    const std::string text = appliedText(id, R"(
__global__ void sums(const float* in, float* out, int n) {
    __shared__ float partial[4];
    const float scale = in[blockIdx.x];
    float sum = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = sum;
    __syncthreads();
    const float total = partial[0] + partial[1] + partial[2] + partial[3];
    if (threadIdx.x == 0)
        out[blockIdx.x] = total * scale;
}
void run(const float* in, float* out, int n) {
    sums<<<n, 128>>>(in, out, n);
}
)");
    EXPECT_TRUE(text.contains("    const float scale = in[block];\n")) << text;
    EXPECT_TRUE(text.contains("            sum += __shfl_down_sync(0xffffffff, sum, offset);\n"))
        << text;
    EXPECT_TRUE(text.contains("        if (thread % 32 == 0)\n"
                              "            partial[warp][thread / 32] = sum;\n"))
        << text;
    EXPECT_TRUE(text.contains("    const float total = partial[warp][0] + partial[warp][1] + "
                              "partial[warp][2] + partial[warp][3];\n"))
        << text;
}

TEST(WarpPerBlock, UnrollsALoopRightBehindARun) {
    const std::string text = appliedText(id, R"(
__global__ void sums(float* x) {
    __shared__ float s[128];
    s[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
    for (int d = 64; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
    }
    if (threadIdx.x == 0)
        x[blockIdx.x] = s[0];
}
void run(float* x, int n) {
    sums<<<n, 128>>>(x);
}
)");
    EXPECT_TRUE(text.contains("        s[warp][thread] = x[block * 128 + thread];\n    }\n"
                              "    #pragma unroll\n    for (int d = 64; d > 0; d /= 2) {\n"))
        << text;
}

TEST(WarpPerBlock, LeavesLoopsOfUnknownLengthToTheCompiler) {
    const std::string text = appliedText(id, R"(
__global__ void rows(float* x, int rounds) {
    __shared__ float s[64];
    for (int r = 0; r < rounds; ++r) {
        s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
        __syncthreads();
        x[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x] + gridDim.x;
        __syncthreads();
    }
}
void run(float* x, int rounds, int n) {
    rows<<<n, 64>>>(x, rounds);
}
)");
    EXPECT_TRUE(text.contains("__shared__ float s[2][64];\n    for (int r = 0;")) << text;
    EXPECT_TRUE(text.contains("s[warp][63 - thread] + blocks;")) << text;
}

TEST(WarpPerBlock, LeavesALoopWithoutAStepInItsHead) {
    const std::string text = appliedText(id, R"(
__global__ void sums(float* x) {
    __shared__ float s[128];
    s[threadIdx.x] = x[blockIdx.x * 128 + threadIdx.x];
    __syncthreads();
    for (int d = 64; d > 0;) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
        d /= 2;
    }
    if (threadIdx.x == 0)
        x[blockIdx.x] = s[0];
}
void run(float* x, int n) {
    sums<<<n, 128>>>(x);
}
)");
    EXPECT_TRUE(text.contains("    __syncwarp();\n    for (int d = 64; d > 0;) {\n")) << text;
}

class WarpPerBlockGates : public testing::TestWithParam<GateCase> {};

TEST_P(WarpPerBlockGates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

/// A kernel with a barrier between `before` and `after`, and what launches it.
std::string around(const std::string& before, const std::string& after,
                   const std::string& launch = "(n + 63) / 64, 64", const std::string& ahead = "") {
    return ahead + "\n__global__ void k(float* x, int n) {\n" + before + "\n__syncthreads();\n" +
           after + "\n}\nvoid run(float* x, int n, int t) {\n k<<<" + launch + ">>>(x, n);\n}\n";
}

const std::string load = "__shared__ float s[64];\n"
                         "int i = blockIdx.x * 64 + threadIdx.x;\n"
                         "s[threadIdx.x] = x[i];";
const std::string store = "x[i] = s[63 - threadIdx.x];";

INSTANTIATE_TEST_SUITE_P(
    All, WarpPerBlockGates,
    testing::Values(
        GateCase{"NoBarrier", "no-barrier",
                 "__global__ void k(float* x) { x[blockIdx.x] = 1; }\n"
                 "void run(float* x) { k<<<9000, 64>>>(x); }\n"},
        GateCase{"UnknownBlock", "unknown-block", around(load, store, "n, t")},
        GateCase{"TwoBlockSizes", "several-blocks",
                 around(load, store) + "void again(float* x) { k<<<9000, 128>>>(x, 1); }\n"},
        GateCase{"PartOfAWarp", "partial-warps", around(load, store, "n, 48")},
        GateCase{"OneWarp", "one-warp", around(load, store, "n, 32")},
        GateCase{"ManyWarps", "many-warps", around(load, store, "n, 1024")},
        GateCase{"ThreeWarps", "many-warps", around(load, store, "n, 96")},
        GateCase{"SameBlocks", "same-blocks",
                 around("__shared__ float s[64];\ns[threadIdx.x] = 0;",
                        "x[threadIdx.x] = s[63 - threadIdx.x];")},
        GateCase{"Groups", "thread-groups",
                 around(load, "auto group = cooperative_groups::this_thread_block();\n" + store,
                        "n, 64", "#include <cooperative_groups.h>")},
        GateCase{"CollectivesOfALibrary", "thread-groups",
                 around("__shared__ typename cub::BlockReduce<float, 64>::TempStorage s;\n"
                        "int i = blockIdx.x * 64 + threadIdx.x;",
                        "x[i] = cub::BlockReduce<float, 64>(s).Sum(x[i]);", "n, 64",
                        "#include <cub/cub.cuh>")},
        GateCase{"ABarrierThatCounts", "barrier-form",
                 around(load, "x[i] = __syncthreads_count(s[63 - threadIdx.x] > 0);")},
        GateCase{"ABarrierInAMacro", "barrier-form",
                 "#define MEET __syncthreads();\n" + around(load, "MEET\n" + store)},
        GateCase{"ABarrierOfSomeThreads", "no-common-barrier",
                 around(load, "if (threadIdx.x < 32) {\n__syncthreads();\n}\n" + store)},
        GateCase{"RoundsOfTheThread", "no-common-barrier",
                 around(load, "for (int r = threadIdx.x; r < n; r += 64) {\n__syncthreads();\n" +
                                  store + "\n}")},
        GateCase{"ACalleeThatAsks", "callee-uses-thread-position",
                 around(load, "x[i] = at(s);", "n, 64",
                        "__device__ float at(const float* s) { return s[63 - threadIdx.x]; }")},
        GateCase{"ThreadInAMacro", "from-macro",
                 "#define LANE threadIdx.x\n" + around(load, store + "\nx[i] += LANE;")},
        GateCase{"SizeOfThePosition", "hidden-thread-position",
                 around(load, store + "\nx[i] = sizeof(threadIdx.x);")},
        GateCase{"MuchSharedMemory", "too-much-shared-memory",
                 around("__shared__ float s[8192];\nint i = blockIdx.x * 64 + threadIdx.x;\n"
                        "s[threadIdx.x] = x[i];",
                        store)},
        GateCase{"LeavesBeforeABarrier", "early-return",
                 around("__shared__ float s[64];\nint i = blockIdx.x * 64 + threadIdx.x;\n"
                        "if (i >= n)\nreturn;\ns[threadIdx.x] = x[i];",
                        store)},
        GateCase{"LeavesASharedLoop", "leaves-loop",
                 around(load, "for (int r = 0; r < n; ++r) {\nif (s[threadIdx.x] < r)\nbreak;\n"
                              "__syncthreads();\n}\n" +
                                  store)},
        GateCase{"FewBlocks", "few-blocks", around(load, store, "100, 64")}),
    [](const auto& tested) { return tested.param.name; });

} // namespace
} // namespace kernelskill::skills
