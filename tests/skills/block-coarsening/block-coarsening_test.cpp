#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <ostream>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "block-coarsening";

TEST(BlockCoarsening, KeepsAValueForEachPartAcrossABarrierInALoop) {
    checkApplicable(id, R"(
#define T 128
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
#define T 128
__global__ void scan(const float* in, float* out, int n, unsigned int blocks) {
    __shared__ float sums[4][T];
    // The position in the block.
    int t = threadIdx.x;
    #pragma unroll
    for (unsigned int part = 0; part < 4; ++part) {
        const unsigned int block = blockIdx.x * 4 + part;
        int i = block * T + t;
        sums[part][t] = i < n ? in[i] : 0.0f;
    }
    __syncthreads();
    for (int step = 1; step < T; step *= 2) {
        float before[4];
        #pragma unroll
        for (unsigned int part = 0; part < 4; ++part) {
            before[part] = t >= step ? sums[part][t - step] : 0.0f;
        }
        __syncthreads();
        #pragma unroll
        for (unsigned int part = 0; part < 4; ++part) {
            sums[part][t] += before[part]; // In place.
        }
        __syncthreads();
    }
    #pragma unroll
    for (unsigned int part = 0; part < 4; ++part) {
        const unsigned int block = blockIdx.x * 4 + part;
        if (block >= blocks)
            continue;
        int i = block * T + t;
        if (i >= n)
            continue;
        out[i] = sums[part][t];
    }
}
void run(const float* in, float* out, int n) {
    scan<<<((n + T - 1) / T + 3) / 4, T>>>(in, out, n, (n + T - 1) / T);
}
)");
}

TEST(BlockCoarsening, MovesDeclarationsAheadAndLeavesWhatIsTheSameForAllParts) {
    checkApplicable(id, R"(
__global__ void turn(const float* in, float* out, int width)
{
  __shared__ float tile[16][17];
  float kept, scale;
  int bx = blockIdx.x * 16;
  int tx = threadIdx.x; // Along a row.
  int ty = threadIdx.y;
  kept = in[(blockIdx.y * 16 + ty) * width + bx + tx];
  scale = width * 0.5f;
  tile[ty][tx] = kept;
  __syncthreads();
  out[(bx + ty) * width + blockIdx.y * 16 + tx] = tile[tx][ty] * scale - kept;
}
void run(const float* in, float* out, int width)
{
  dim3 blocks(width / 16, width / 16);
  turn<<<blocks, dim3(16, 16)>>>(in, out, width);
}
)",
                    R"(
__global__ void turn(const float* in, float* out, int width, unsigned int blocks)
{
  __shared__ float tile[4][16][17];
  float kept[4], scale;
  int tx = threadIdx.x; // Along a row.
  int ty = threadIdx.y;
  #pragma unroll
  for (unsigned int part = 0; part < 4; ++part) {
    const unsigned int block = blockIdx.x * 4 + part;
    if (block >= blocks)
      continue;
    int bx = block * 16;
    kept[part] = in[(blockIdx.y * 16 + ty) * width + bx + tx];
  }
  scale = width * 0.5f;
  #pragma unroll
  for (unsigned int part = 0; part < 4; ++part) {
    const unsigned int block = blockIdx.x * 4 + part;
    if (block >= blocks)
      continue;
    tile[part][ty][tx] = kept[part];
  }
  __syncthreads();
  #pragma unroll
  for (unsigned int part = 0; part < 4; ++part) {
    const unsigned int block = blockIdx.x * 4 + part;
    if (block >= blocks)
      continue;
    int bx = block * 16;
    out[(bx + ty) * width + blockIdx.y * 16 + tx] = tile[part][tx][ty] * scale - kept[part];
  }
}
void run(const float* in, float* out, int width)
{
  dim3 blocks(width / 16, width / 16);
  turn<<<dim3((blocks.x + 3) / 4, blocks.y, blocks.z), dim3(16, 16)>>>(in, out, width, blocks.x);
}
)");
}

TEST(BlockCoarsening, FollowsTheGridAlongYAndBranchesThatAreTheSameForAllParts) {
    checkApplicable(id, R"(
template <typename V>
__global__ void edges(V* rows, int width, bool isLast) {
    __shared__ V first;
    V* row = rows + blockIdx.y * width;
    if (threadIdx.x == 0)
        first = row[0];
    if (isLast) {
        __syncthreads();
        for (int i = threadIdx.x; i < width; i += blockDim.x) {
            if (row[i] < first)
                break;
            row[i] -= first + V(gridDim.y - 1 - blockIdx.y);
        }
    }
}
void run(float* rows, int width, int count) {
    edges<float><<<dim3(1, count), 256>>>(rows, width, true);
}
)",
                    R"(
template <typename V>
__global__ void edges(V* rows, int width, bool isLast, unsigned int blocks) {
    __shared__ V first[4];
    #pragma unroll
    for (unsigned int part = 0; part < 4; ++part) {
        const unsigned int block = blockIdx.y * 4 + part;
        if (block >= blocks)
            continue;
        V* row = rows + block * width;
        if (threadIdx.x == 0)
            first[part] = row[0];
    }
    if (isLast) {
        __syncthreads();
        #pragma unroll
        for (unsigned int part = 0; part < 4; ++part) {
            const unsigned int block = blockIdx.y * 4 + part;
            if (block >= blocks)
                continue;
            V* row = rows + block * width;
            for (int i = threadIdx.x; i < width; i += blockDim.x) {
                if (row[i] < first[part])
                    break;
                row[i] -= first[part] + V(blocks - 1 - block);
            }
        }
    }
}
void run(float* rows, int width, int count) {
    edges<float><<<dim3(1, (count + 3) / 4), 256>>>(rows, width, true, count);
}
)");
}

TEST(BlockCoarsening, KeepsGroupsForAllParts) {
    const std::string text = appliedText(id, R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* x) {
    __shared__ float s[64];
    cg::thread_block block = cg::this_thread_block();
    int i = blockIdx.x * 64 + threadIdx.x;
    s[threadIdx.x] = x[i];
    block.sync();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    float sum = s[63 - threadIdx.x];
    sum += tile.shfl_down(sum, 16);
    block.sync();
    x[i] = sum;
}
void run(float* x, int n) {
    k<<<n, 64, 0, nullptr>>>(x);
}
)");
    EXPECT_TRUE(text.contains("    cg::thread_block block = cg::this_thread_block();\n")) << text;
    EXPECT_TRUE(
        text.contains("    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);\n"))
        << text;
    EXPECT_TRUE(text.contains("sum[part] += tile.shfl_down(sum[part], 16);")) << text;
}

TEST(BlockCoarsening, FollowsBarriersWithoutSharedMemory) {
    const std::string text = appliedText(id, R"(
__global__ void chase(int* at, const int* next, int rounds) {
    for (int r = 0; r < rounds; ++r) {
        if (threadIdx.x == 0)
            at[blockIdx.x] = next[at[blockIdx.x]];
        __syncthreads();
    }
}
void run(int* at, const int* next, int rounds, int n) {
    chase<<<n, 32>>>(at, next, rounds);
}
)");
    EXPECT_TRUE(text.contains("at[block] = next[at[block]];")) << text;
    EXPECT_TRUE(text.contains("chase<<<(n + 3) / 4, 32>>>(at, next, rounds, n);")) << text;
}

TEST(BlockCoarsening, TakesTwoPartsWhereMoreLeaveTooFewBlocks) {
    const std::string text = appliedText(id, R"(
__global__ void flip(float* x) {
    __shared__ float s[256];
    s[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    x[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}
void run(float* x) {
    flip<<<2500, 256>>>(x);
}
)");
    EXPECT_TRUE(text.contains("s[2][256]")) << text;
    EXPECT_TRUE(text.contains("flip<<<(2500 + 1) / 2, 256>>>(x, 2500);")) << text;
}

/// The edit of a kernel with a barrier between `first` and a store.
std::string coarsened(const std::string& first) {
    return appliedText(id, R"(
__global__ void k(const float* x, const int* at, float* y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    int i = blockIdx.x * 64 + t;
    )" + first + R"(
    __syncthreads();
    y[i] = s[63 - t];
}
void run(const float* x, const int* at, float* y, int n) {
    k<<<(n + 63) / 64, 64>>>(x, at, y, n);
}
)");
}

std::size_t guardsIn(const std::string& text) {
    std::size_t count = 0;
    for (auto at = text.find(">= blocks"); at != std::string::npos;
         at = text.find(">= blocks", at + 1))
        ++count;
    return count;
}

TEST(BlockCoarsening, KeepsPartsBeyondTheLastBlockOutWhereTheyCouldDoHarm) {
    // Shared memory alone, and reads under a condition on the position, are harmless.
    EXPECT_EQ(guardsIn(coarsened("s[t] = i < n ? x[i] : 0.0f;")), 1U);
    EXPECT_EQ(guardsIn(coarsened("s[t] = 0;\n    if (i < n)\n        s[t] = x[i];")), 1U);
    EXPECT_EQ(guardsIn(coarsened("s[t] = blockIdx.x * 0.5f;")), 1U);
    // Reads that nothing bounds, or another number does, are not.
    EXPECT_EQ(guardsIn(coarsened("s[t] = x[i];")), 2U);
    EXPECT_EQ(guardsIn(coarsened("s[t] = t < n ? x[i] : 0.0f;")), 2U);
    // A counter of rounds that each part has for its own tells nothing of the part's position.
    EXPECT_EQ(guardsIn(coarsened("s[t] = 0;\n    int r;\n    for (r = 0; r < n; r += 64)\n"
                                 "        s[t] += r + t < n ? x[blockIdx.x * n + r] : 0.0f;\n"
                                 "    __syncthreads();\n    for (r = 0; r < 3; ++r)\n"
                                 "        s[t] += r;")),
              3U);
    // Nor are writes, addresses and rounds that data give.
    EXPECT_EQ(guardsIn(coarsened("s[t] = 0;\n    if (i < n)\n        y[i + n] = 1;")), 2U);
    EXPECT_EQ(guardsIn(coarsened("s[t] = 0;\n    if (i < n)\n        s[at[i]] = 1;")), 2U);
    EXPECT_EQ(
        guardsIn(coarsened("s[t] = 0;\n    int left = i < n ? at[i] : 0;\n    while (left > 0)\n"
                           "        s[t] += left--;")),
        2U);
    // What follows a run that is left out reads what it did not write.
    EXPECT_EQ(guardsIn(coarsened("s[t] = x[i];\n    __syncthreads();\n    s[t] += 1;")), 3U);
    EXPECT_EQ(guardsIn(coarsened("s[t] = i < n ? x[i] : 0.0f;\n    __syncthreads();\n"
                                 "    s[t] += 1;")),
              1U);
    EXPECT_EQ(guardsIn(coarsened("s[t] = 0;\n    for (int r = 0; r < 3; ++r) {\n"
                                 "        s[t] += r;\n        __syncthreads();\n"
                                 "        y[i] = s[63 - t];\n        __syncthreads();\n    }")),
              3U);
}

class BlockCoarseningGates : public testing::TestWithParam<GateCase> {};

TEST_P(BlockCoarseningGates, Refuse) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

/// A kernel with a barrier between `before` and `after`, its parameters and what launches it.
std::string around(const std::string& before, const std::string& after,
                   const std::string& launch = "(n + 63) / 64, 64", const std::string& ahead = "") {
    return ahead + "\n__global__ void k(float* x, int n) {\n" + before + "\n__syncthreads();\n" +
           after + "\n}\nvoid run(float* x, int n, dim3 g) {\n k<<<" + launch + ">>>(x, n);\n}\n";
}

const std::string load = "__shared__ float s[64];\n"
                         "int i = blockIdx.x * 64 + threadIdx.x;\n"
                         "s[threadIdx.x] = x[i];";
const std::string store = "x[i] = s[63 - threadIdx.x];";

INSTANTIATE_TEST_SUITE_P(
    All, BlockCoarseningGates,
    testing::Values(
        GateCase{"NoBarrier", "no-barrier",
                 "__global__ void k(float* x) { x[blockIdx.x] = 1; }\n"
                 "void run(float* x) { k<<<9000, 64>>>(x); }\n"},
        GateCase{"SameBlocks", "same-blocks",
                 around("__shared__ float s[64];\ns[threadIdx.x] = 0;",
                        "x[threadIdx.x] = s[63 - threadIdx.x];")},
        GateCase{"OnlyZ", "grid-axes",
                 around("__shared__ float s[64];\ns[threadIdx.x] = x[blockIdx.z];",
                        "x[blockIdx.z] = s[0];", "dim3(1, 1, n), 64")},
        GateCase{"FenceBetweenBlocks", "blocks-meet",
                 around(load, store + "\n__threadfence();\nx[0] = 1;")},
        GateCase{"WaitsForAnotherBlock", "blocks-meet",
                 around(load, "while (atomicAdd((int*)x, 0) != i) {}\n" + store)},
        GateCase{"SharedMemoryOfAFunction", "callee-shares",
                 around(load, store + "\nx[i] += other(i);", "(n + 63) / 64, 64",
                        "__device__ float other(int i) {\n__shared__ float t[64];\n"
                        "t[i & 63] = i;\nreturn t[0];\n}")},
        GateCase{"BarriersOfABlockOfItsOwn", "no-common-barrier",
                 "__global__ void k(float* x) {\n__shared__ float s[64];\n"
                 "for (int r = 0; r < blockIdx.x; ++r) {\ns[threadIdx.x] = x[r];\n"
                 "__syncthreads();\nx[r] = s[63 - threadIdx.x];\n__syncthreads();\n}\n}\n"
                 "void run(float* x, int n) { k<<<n, 64>>>(x); }\n"},
        GateCase{"DynamicSharedMemory", "dynamic-shared-memory",
                 around("extern __shared__ float s[];\nint i = blockIdx.x * 64 + threadIdx.x;\n"
                        "s[threadIdx.x] = x[i];",
                        store, "(n + 63) / 64, 64, 256")},
        GateCase{"SharedMemoryOfTheLaunch", "dynamic-shared-memory",
                 around(load, store, "(n + 63) / 64, 64, 4 * n")},
        GateCase{"MuchSharedMemory", "too-much-shared-memory",
                 around("__shared__ float s[8192];\nint i = blockIdx.x * 64 + threadIdx.x;\n"
                        "s[threadIdx.x] = x[i];",
                        store)},
        GateCase{"LeavesBeforeABarrier", "early-return",
                 around("__shared__ float s[64];\nint i = blockIdx.x * 64 + threadIdx.x;\n"
                        "if (i >= n)\nreturn;\ns[threadIdx.x] = x[i];",
                        store)},
        GateCase{"LeavesFromALoop", "early-return",
                 around(load, "for (int j = 0; j < n; ++j) {\nif (s[j & 63] < 0)\nreturn;\n" +
                                  store + "\n}")},
        GateCase{"LeavesASharedLoop", "leaves-loop",
                 "__global__ void k(float* x, int n) {\n__shared__ float s[64];\n"
                 "for (int r = 0; r < n; ++r) {\ns[threadIdx.x] = x[blockIdx.x * 64 + r];\n"
                 "__syncthreads();\nif (s[r] < 0)\nbreak;\nx[blockIdx.x] = s[0];\n"
                 "__syncthreads();\n}\n}\n"
                 "void run(float* x, int n) { k<<<n, 64>>>(x, n); }\n"},
        GateCase{"AParameterThatDiffers", "changed-parameter",
                 around("x += blockIdx.x * 64;\n__shared__ float s[64];\n"
                        "s[threadIdx.x] = x[threadIdx.x];",
                        "x[threadIdx.x] = s[63 - threadIdx.x];")},
        GateCase{"AnInitialValueInBrackets", "declaration-form",
                 around(load + "\nfloat own(x[i]);", store + "\nx[i] += own;")},
        GateCase{"SharedMemoryInAMacro", "from-macro",
                 "#define AT(i) s[i]\n" + around(load, "x[i] = AT(63 - threadIdx.x);")},
        GateCase{"SizeOfSharedMemory", "hidden-use", around(load, store + "\nx[0] = sizeof(s);")},
        GateCase{"TwoStatementsALine", "several-statements-a-line",
                 around(load + " __syncthreads();", store)},
        GateCase{"FewBlocks", "few-blocks", around(load, store, "100, 64")},
        GateCase{"NoBlocksAlongY", "launch-grid",
                 around("__shared__ float s[64];\ns[threadIdx.x] = x[blockIdx.y];",
                        "x[blockIdx.y] = s[0];", "n, 64")},
        GateCase{"AGridInAMacro", "uses-grid",
                 "#define BLOCKS gridDim.x\n" + around(load, store + "\nx[0] = BLOCKS;")},
        GateCase{"AGridWithAnEffect", "grid-has-effect", around(load, store, "n++, 64")},
        GateCase{"HasParts", "has-parts",
                 around("__shared__ float s[2][64];\n"
                        "for (int part = 0; part < 2; ++part) {\n"
                        "s[part][threadIdx.x] = x[(blockIdx.x * 2 + part) * 64 + threadIdx.x];\n}",
                        "for (int part = 0; part < 2; ++part)\n"
                        "x[(blockIdx.x * 2 + part) * 64 + threadIdx.x] = s[part][0];")}),
    [](const auto& tested) { return tested.param.name; });

} // namespace
} // namespace kernelskill::skills
