#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

/// The end of kernels that search a row by the lanes of a warp, and their launch.
const std::string bestOfLanes = R"(    for (int d = 16; d > 0; d /= 2) {
        const float other = __shfl_xor_sync(0xffffffff, best, d);
        const int otherPlace = __shfl_xor_sync(0xffffffff, place, d);
        if (other > best || (other == best && otherPlace < place)) {
            best = other;
            place = otherPlace;
        }
    }
    if (lane == 0)
        y[blockIdx.x] = place;
}
void run(const float* x, int* y, int n) { k<<<9, 32>>>(x, y, n); }
)";

constexpr std::string_view id = "vectorized-access";

/// A kernel with a block for each row of n elements of x and y; `s` is shared by the block, `work`
/// is the kernel's code.
std::string blockARow(const std::string& work, const std::string& parameters = "",
                      const std::string& arguments = "") {
    return "__global__ void k(const float* x, float* y, const int* m, int n" + parameters +
           ") {\n    __shared__ float s[256];\n    int tid = threadIdx.x;\n    int row = "
           "blockIdx.x;\n" +
           work +
           "}\nvoid run(int* m, int n) {\n    float *x, *y;\n    cudaMalloc(&x, 64 * n * 4);\n    "
           "cudaMalloc(&y, 64 * n * 4);\n    k<<<64, 256>>>(x, y, m, n" +
           arguments + ");\n}\n";
}

/// A loop of the block over the row with `round` in it.
std::string loopOf(const std::string& round) {
    return "    for (int j = tid; j < n; j += blockDim.x) {\n" + round + "    }\n";
}

/// A sum of the block's row, folded into s[tid].
std::string sumOf(const std::string& round, const std::string& after = "    s[tid] = sum;\n") {
    return "    float sum = 0.0f;\n" + loopOf(round) + after;
}

/// The skill replaces `loop`, which stands once in `before`, by `groups` and leaves the rest.
void checkLoopBecomes(const std::string& before, const std::string& loop,
                      const std::string& groups) {
    std::string after = before;
    const std::size_t at = after.find(loop);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(after.find(loop, at + 1), std::string::npos);
    checkApplicable(id, before, after.replace(at, loop.size(), groups));
}

TEST(SharedWalks, TakesTheProductsOfARowInVectors) {
    checkLoopBecomes(
        readSource("skills/row-per-warp/after.cu"),
        R"(    for (int column = lane; column < columns; column += 32)
        sum += a[row * columns + column] * x[column];
)",
        R"(    // Groups of 4 elements first, one access of up to 16 bytes each, where the addresses allow it.
    const bool aligned =
        (reinterpret_cast<size_t>(a + row * columns) | reinterpret_cast<size_t>(x)) % 16 == 0;
    const int groups = aligned ? columns / 4 : 0;
    for (int group = lane; group < groups; group += 32) {
        const float4 a4 = reinterpret_cast<const float4*>(a + row * columns)[group];
        const float4 x4 = reinterpret_cast<const float4*>(x)[group];
        sum += a4.x * x4.x;
        sum += a4.y * x4.y;
        sum += a4.z * x4.z;
        sum += a4.w * x4.w;
    }
    for (int column = 4 * groups + lane; column < columns; column += 32)
        sum += a[row * columns + column] * x[column];
)");
}

TEST(SharedWalks, TakesARowThatATableNamesWhereTheThreadHasARound) {
    const std::string loop = loopOf("        y[row * n + j] = x[m[row] * n + j];\n");
    checkLoopBecomes(
        blockARow(loop), loop,
        R"(    // Groups of 4 elements first, one access of up to 16 bytes each, where the addresses allow it.
    const bool aligned =
        tid < n &&
        (reinterpret_cast<size_t>(x + m[row] * n) |
        reinterpret_cast<size_t>(y + row * n)) % 16 == 0;
    const int groups = aligned ? n / 4 : 0;
    for (int group = tid; group < groups; group += blockDim.x) {
        const float4 x4 = reinterpret_cast<const float4*>(x + m[row] * n)[group];
        float4 y4;
        y4.x = x4.x;
        y4.y = x4.y;
        y4.z = x4.z;
        y4.w = x4.w;
        reinterpret_cast<float4*>(y + row * n)[group] = y4;
    }
    for (int j = 4 * groups + tid; j < n; j += blockDim.x) {
        y[row * n + j] = x[m[row] * n + j];
    }
)");
}

TEST(SharedWalks, SharesOneGuardAmongTheLoopsOfARow) {
    checkApplicable(id, blockARow(R"(    float sum = 0.0f;
    for (int j = tid; j < n; j += blockDim.x)
        sum += x[row * n + j]; // all of it
    s[tid] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (tid < d)
            s[tid] += s[tid + d];
        __syncthreads();
    }
    float mean = s[0] / n;
    for (int j = tid; j < n; j += blockDim.x)
        y[row * n + j] = x[row * n + j] - mean;
)"),
                    blockARow(R"(    float sum = 0.0f;
    // Groups of 4 elements first, one access of up to 16 bytes each, where the addresses allow it.
    const bool aligned =
        (reinterpret_cast<size_t>(x + row * n) | reinterpret_cast<size_t>(y + row * n)) % 16 == 0;
    const int groups = aligned ? n / 4 : 0;
    for (int group = tid; group < groups; group += blockDim.x) {
        const float4 x4 = reinterpret_cast<const float4*>(x + row * n)[group];
        sum += x4.x;
        sum += x4.y;
        sum += x4.z;
        sum += x4.w;
    }
    for (int j = 4 * groups + tid; j < n; j += blockDim.x)
        sum += x[row * n + j]; // all of it
    s[tid] = sum;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (tid < d)
            s[tid] += s[tid + d];
        __syncthreads();
    }
    float mean = s[0] / n;
    for (int group = tid; group < groups; group += blockDim.x) {
        const float4 x4 = reinterpret_cast<const float4*>(x + row * n)[group];
        float4 y4;
        y4.x = x4.x - mean;
        y4.y = x4.y - mean;
        y4.z = x4.z - mean;
        y4.w = x4.w - mean;
        reinterpret_cast<float4*>(y + row * n)[group] = y4;
    }
    for (int j = 4 * groups + tid; j < n; j += blockDim.x)
        y[row * n + j] = x[row * n + j] - mean;
)"));
}

TEST(SharedWalks, BeginsASearchByChoicesAtElementZero) {
    const std::string text = appliedText(id, R"(
__global__ void k(const float* x, int* y, int n) {
    const int lane = threadIdx.x % 32;
    const float* r = x + blockIdx.x * n;
    float best = r[0];
    int place = 0;
    for (int j = 1 + lane; j < n; j += 32) {
        const float v = r[j];
        place = v > best ? j : place;
        best = v > best ? v : best;
    }
)" + bestOfLanes);
    EXPECT_TRUE(text.contains("            const float v = r4.y;\n"
                              "            place = v > best ? (4 * group + 1) : place;\n"
                              "            best = v > best ? v : best;\n"))
        << text;
    EXPECT_TRUE(text.contains("for (int j = 4 * groups + lane; j < n; j += 32) {")) << text;
}

TEST(SharedWalks, BeginsASearchOfTheLargestAtElementZero) {
    const std::string before = R"(
__global__ void k(const float* x, int* y, int n) {
    const int lane = threadIdx.x % 32;
    const float* r = x + blockIdx.x * n;
    float best = r[0];
    int place = 0;
    for (int j = 1 + lane; j < n; j += 32) {
        if (r[j] > best) {
            best = r[j];
            place = j;
        }
    }
)" + bestOfLanes;
    checkLoopBecomes(
        before, R"(    for (int j = 1 + lane; j < n; j += 32) {
        if (r[j] > best) {
            best = r[j];
            place = j;
        }
    }
)",
        R"(    // Groups of 4 elements first, one access of up to 16 bytes each, where the addresses allow it.
    const bool aligned = reinterpret_cast<size_t>(r) % 16 == 0;
    const int groups = aligned ? n / 4 : 0;
    for (int group = lane; group < groups; group += 32) {
        const float4 r4 = reinterpret_cast<const float4*>(r)[group];
        if (r4.x > best) {
            best = r4.x;
            place = 4 * group;
        }
        if (r4.y > best) {
            best = r4.y;
            place = 4 * group + 1;
        }
        if (r4.z > best) {
            best = r4.z;
            place = 4 * group + 2;
        }
        if (r4.w > best) {
            best = r4.w;
            place = 4 * group + 3;
        }
    }
    for (int j = 4 * groups + lane; j < n; j += 32) {
        if (r[j] > best) {
            best = r[j];
            place = j;
        }
    }
)");
}

TEST(SharedWalks, MovesTheIndexOfALoopThatDoesNotDeclareIt) {
    checkApplicable(id, R"(
__global__ void k(const double* x, double* y, int n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    while (i < n) {
        sum += x[i] * x[i];
        i += blockDim.x * gridDim.x;
    }
    atomicAdd(y, sum);
}
)",
                    R"(
__global__ void k(const double* x, double* y, int n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = 0;
    // Groups of 2 elements first, one access of up to 16 bytes each, where the addresses allow it.
    const bool aligned = reinterpret_cast<size_t>(x) % 16 == 0;
    const unsigned int groups = aligned ? n / 2 : 0;
    for (unsigned int group = i; group < groups; group += blockDim.x * gridDim.x) {
        const double2 x2 = reinterpret_cast<const double2*>(x)[group];
        sum += x2.x * x2.x;
        sum += x2.y * x2.y;
    }
    i += 2 * groups;
    while (i < n) {
        sum += x[i] * x[i];
        i += blockDim.x * gridDim.x;
    }
    atomicAdd(y, sum);
}
)");
}

TEST(SharedWalks, CountsGroupsFromTheFirstIndexOfTheBlock) {
    checkApplicable(id, R"(
__global__ void k(const int* x, int* y, int n, int part) {
    int end = min(n, (blockIdx.x + 1) * part);
    int sum = 0;
    for (int i = blockIdx.x * part + threadIdx.x; i < end; i += blockDim.x)
        sum += x[i];
    atomicAdd(y, sum);
}
)",
                    R"(
__global__ void k(const int* x, int* y, int n, int part) {
    int end = min(n, (blockIdx.x + 1) * part);
    int sum = 0;
    // Groups of 4 elements first, one access of up to 16 bytes each, where the addresses allow it.
    const bool aligned = reinterpret_cast<size_t>(x + blockIdx.x * part) % 16 == 0;
    const int groups = aligned && blockIdx.x * part < end ? (end - (blockIdx.x * part)) / 4 : 0;
    for (int group = threadIdx.x; group < groups; group += blockDim.x) {
        const int4 x4 = reinterpret_cast<const int4*>(x + blockIdx.x * part)[group];
        sum += x4.x;
        sum += x4.y;
        sum += x4.z;
        sum += x4.w;
    }
    for (int i = 4 * groups + blockIdx.x * part + threadIdx.x; i < end; i += blockDim.x)
        sum += x[i];
    atomicAdd(y, sum);
}
)");
}

TEST(SharedWalks, LetsLanesWaitWhereTheyMeetInMemory) {
    const std::string text = appliedText(id, R"(
__global__ void k(float* x, float* y, int n) {
    const int lane = threadIdx.x % 32;
    float* r = x + blockIdx.x * n;
    for (int j = lane; j < n; j += 32)
        r[j] = 2 * r[j];
    for (int j = n - 1 - lane; j >= 0; j -= 32)
        y[blockIdx.x * n + j] = r[j];
}
void run(int n) {
    float *x, *y;
    cudaMalloc(&x, 9 * n * 4);
    cudaMalloc(&y, 9 * n * 4);
    k<<<9, 32>>>(x, y, n);
}
)");
    EXPECT_TRUE(text.contains("        r[j] = 2 * r[j];\n    __syncwarp();\n    for")) << text;
}

TEST(SharedWalks, IsExactUnlessItAddsFloats) {
    EXPECT_EQ(offeredNumerics(id, blockARow(sumOf("        sum += x[row * n + j];\n"))),
              Numerics::Reassociates);
    EXPECT_EQ(offeredNumerics(id, blockARow(sumOf("        sum = fmaxf(sum, x[row * n + j]);\n"))),
              Numerics::Exact);
    EXPECT_EQ(offeredNumerics(id, blockARow("    float a = x[row];\n" +
                                            loopOf("        y[row * n + j] = a;\n"))),
              Numerics::Exact);
}

class SharedWalksAreNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(SharedWalksAreNotOffered, Here) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, SharedWalksAreNotOffered,
    testing::Values(
        GateCase{"Break", "early-exit",
                 blockARow(sumOf("        if (m[j]) break;\n        sum += x[j];\n"))},
        GateCase{"Continue", "early-exit",
                 blockARow(sumOf("        if (m[j]) continue;\n        sum += x[j];\n"))},
        GateCase{"Neighbours", "no-unit-stride-access", blockARow(sumOf("        sum += 1.0f;\n"))},
        GateCase{"Strided", "strided-access",
                 blockARow(sumOf("        sum += x[row * n + j] * x[2 * j];\n"))},
        GateCase{"Scattered", "strided-access",
                 blockARow(loopOf("        y[m[j]] = x[row * n + j];\n"))},
        GateCase{"TableOfTheStoredType", "strided-access",
                 blockARow(loopOf("        y[row * n + j] = x[(int)x[row] * n + j];\n"))},
        GateCase{"TableReadPerRound", "strided-access",
                 blockARow(loopOf("        y[row * n + j] = x[m[j] * n + j];\n"))},
        GateCase{"TableWhereTheLoopBeginsElsewhere", "first-element",
                 blockARow("    for (int j = n + tid; j < 2 * n; j += blockDim.x)\n"
                           "        y[row * n + j] = x[m[row] * n + j];\n")},
        GateCase{"ConditionalStore", "conditional-store",
                 blockARow(loopOf("        if (x[row * n + j] > 0)\n            y[row * n + j] = "
                                  "1;\n"))},
        GateCase{"ReadUnderACondition", "no-unit-stride-access",
                 blockARow(sumOf("        if (m[row] > 0)\n            sum += x[row * n + "
                                 "j];\n"))},
        GateCase{"Recurrence", "carries-over",
                 blockARow(sumOf("        sum = x[row * n + j] - sum;\n"))},
        GateCase{"RunningMean", "carries-over",
                 blockARow("    float sum = 0, m2 = 0;\n    int count = 0;\n" +
                           loopOf("        ++count;\n"
                                  "        const float delta = x[row * n + j] - sum;\n"
                                  "        sum += delta / count;\n"
                                  "        m2 += delta * (x[row * n + j] - sum);\n") +
                           "    y[row] = sum + m2;\n")},
        GateCase{"StoresWhatItReadsElsewhere", "columns-overlap",
                 blockARow(loopOf("        y[row * n + j] = y[row * n + j + 1];\n"))},
        GateCase{"MayAlias", "may-alias",
                 "__global__ void k(const float* x, float* y, int n) {\n    float a = x[n];\n    "
                 "for (int j = threadIdx.x; j < n; j += blockDim.x)\n        y[blockIdx.x * n + j] "
                 "= a * x[j];\n}\nvoid run(float* x, int n) { k<<<64, 256>>>(x, x + 1, n); }\n"},
        GateCase{"ReadByOtherThreads", "meets-elsewhere",
                 blockARow(loopOf("        y[row * n + j] = x[row * n + j];\n") +
                           "    if (tid < n)\n        s[tid] = y[row * n + tid];\n")},
        GateCase{"ThreadsOwnFactor", "depends-on-thread",
                 blockARow("    float a = x[tid];\n" +
                           loopOf("        y[row * n + j] = a * x[row * n + j];\n"))},
        GateCase{
            "BlocksOwnSum", "kept-by-block",
            "__global__ void k(const float* x, float* y, int n) {\n    float sum = 0;\n    for "
            "(int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
            "blockDim.x)\n        sum += x[i];\n    for (int d = 16; d > 0; d /= 2)\n        "
            "sum += __shfl_down_sync(0xffffffff, sum, d);\n    if (threadIdx.x == 0)\n        "
            "y[blockIdx.x] = sum;\n}\nvoid run(float* x, float* y, int n) { k<<<64, 32>>>(x, y, "
            "n); }\n"},
        GateCase{
            "FirstOfEquals", "order-of-equals",
            blockARow("    float best = -1e30f;\n    int place = 0;\n    __shared__ int "
                      "places[256];\n" +
                      loopOf("        if (x[row * n + j] > best) {\n            best = x[row * n "
                             "+ j];\n            place = j;\n        }\n") +
                      "    s[tid] = best;\n    places[tid] = place;\n    __syncthreads();\n    "
                      "for (int d = 128; d > 0; d /= 2) {\n        if (tid < d && s[tid + d] > "
                      "s[tid]) {\n            s[tid] = s[tid + d];\n            places[tid] = "
                      "places[tid + d];\n        }\n        __syncthreads();\n    }\n    if (tid "
                      "== 0)\n        y[row] = places[0];\n")},
        GateCase{"ThreadsOwnSum", "kept-by-thread",
                 blockARow(sumOf("        sum += x[row * n + j];\n", "    y[tid] = sum;\n"))},
        GateCase{"SomeThreads", "divergent-branch",
                 blockARow("    if (tid < 64) {\n" +
                           sumOf("        sum += x[row * n + j];\n", "    s[tid] = sum;\n") +
                           "    }\n")},
        GateCase{"SomeThreadsReturn", "divergent-branch",
                 blockARow("    if (m[tid])\n        return;\n" +
                           sumOf("        sum += x[row * n + j];\n"))},
        GateCase{"Atomic", "atomic",
                 blockARow(loopOf("        atomicAdd(&y[0], x[row * n + j]);\n"))},
        GateCase{"FirstElement", "first-element",
                 blockARow("    float sum = 0.0f;\n    for (int j = 1 + tid; j < n; j += "
                           "blockDim.x)\n        sum += x[row * n + j];\n    s[tid] = sum;\n")},
        GateCase{"OtherFirstValue", "first-element",
                 blockARow("    float sum = x[row];\n    for (int j = 1 + tid; j < n; j += "
                           "blockDim.x)\n        sum = fmaxf(sum, x[row * n + j]);\n    s[tid] = "
                           "sum;\n")},
        GateCase{"ShortRow", "short-rows",
                 blockARow("    for (int j = tid; j < 256; j += blockDim.x)\n        y[row * 256 + "
                           "j] = x[j] + x[row];\n")},
        GateCase{"Unknown", "call-in-loop",
                 "__device__ float f(float* p);\n" +
                     blockARow(sumOf("        sum += f(&y[row * n + j]);\n"))},
        GateCase{
            "PartialWarps", "partial-warps",
            "__global__ void k(const float* x, float* y, int n) {\n    const int lane = "
            "threadIdx.x % 32;\n    float sum = 0;\n    for (int j = lane; j < n; j += 32)\n   "
            "     sum += x[j];\n    atomicAdd(y, sum);\n}\nvoid run(float* x, float* y, int "
            "n) { k<<<1, 48>>>(x, y, n); }\n"},
        GateCase{"Vectors", "already-vectorized",
                 blockARow("    float4 v = reinterpret_cast<const float4*>(x)[tid];\n" +
                           sumOf("        sum += x[row * n + j] + v.x;\n"))},
        GateCase{"ElementsOfSeveralRounds", "meets-elsewhere",
                 blockARow("    for (int r = 0; r < 9; ++r) {\n"
                           "        for (int j = tid; j < n; j += blockDim.x) {\n"
                           "            y[row * n + j] += x[r * n + j];\n        }\n    }\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
