/// Edits that change no result are proved, and what a proof takes for granted is said.
#include "engine/process/stop_clock.h"
#include "tests/engine/proof/proof_subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

std::string proofText(const std::string& before, const std::string& after) {
    return describe(proofOf(before, after));
}

constexpr const char* always = "proved for all inputs and sizes";

const std::string scale = R"(
__global__ void scale(float* out, const float* in, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * factor + in[i];
}
)";

TEST(Proof, TakesQualifiersForAPromise) {
    const std::string after = replaced(replaced(scale, "float* out", "float* __restrict__ out"),
                                       "const float* in", "const float* __restrict__ in");
    EXPECT_EQ(proofText(scale, after), std::string(always) +
                                           ", if the memory of out, in is not written through "
                                           "another pointer");
    EXPECT_EQ(proofText(scale, replaced(scale, "void scale", "void __launch_bounds__(256) scale")),
              std::string(always) + ", if blocks have at most 256 threads");
}

TEST(Proof, FollowsValuesThroughVariables) {
    EXPECT_EQ(proofText(scale, replaced(scale, "out[i] = in[i] * factor + in[i];",
                                        "{ const float x = in[i]; out[i] = x + factor * x; }")),
              always);
    EXPECT_EQ(proofText(scale, replaced(scale, "    if (i < n)\n", "    if (i >= n) return;\n")),
              always);
    EXPECT_EQ(proofText(scale, replaced(scale, "int i = blockIdx.x * blockDim.x + threadIdx.x;",
                                        "const int where = threadIdx.x + blockDim.x * blockIdx.x; "
                                        "int i = where;")),
              always);
    EXPECT_EQ(proofText(scale, replaced(scale, "out[i] = in[i] * factor + in[i];",
                                        "out[i] = __ldg(&in[i]) * factor + in[i];")),
              "unproved: write of float may differ on line 5");
}

TEST(Proof, TellsTheEffectThatMayDiffer) {
    EXPECT_THAT(proofText(scale, replaced(scale, "(i < n)", "(i <= n)")), HasSubstr("line 5"));
    EXPECT_THAT(proofText(scale, replaced(scale, "in[i] * factor + in[i]", "in[i] * factor")),
                HasSubstr("unproved: write of float may differ on line 5"));
    EXPECT_THAT(proofText(scale, replaced(scale, "out[i] = in[i]", "out[n - 1 - i] = in[i]")),
                HasSubstr("unproved"));
}

TEST(Proof, DoesNotMoveAReadOverAWrite) {
    const std::string twice = R"(
__global__ void twice(float* out, float* in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float a = in[i];
        out[i] = a;
        float b = in[i + 1];
        out[i + 1] = b;
    }
}
)";
    EXPECT_THAT(
        proofText(twice, replaced(replaced(twice, "        float b = in[i + 1];\n", ""),
                                  "float a = in[i];", "float a = in[i]; float b = in[i + 1];")),
        HasSubstr("unproved"));
}

TEST(Proof, MakesNoReadThatTheOriginalMayNotMake) {
    const std::string before = R"(
__global__ void pick(float* out, const float* in, int n) {
    int i = threadIdx.x;
    float x = 0.0f;
    if (i < n)
        x = in[i];
    out[i] = x;
}
)";
    EXPECT_EQ(
        proofText(before,
                  replaced(before, "    float x = 0.0f;\n    if (i < n)\n        x = in[i];\n",
                           "    const float x = i < n ? in[i] : 0.0f;\n")),
        always);
    EXPECT_THAT(
        proofText(before,
                  replaced(before, "    float x = 0.0f;\n    if (i < n)\n        x = in[i];\n",
                           "    float x = in[i]; if (i >= n) x = 0.0f;\n")),
        HasSubstr("a read that the original may not make on line 4"));
}

const std::string rows = R"(
__global__ void rows(const float* in, float* out, int columns) {
    int row = blockIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < columns; ++k) {
        if (in[k] < 0.0f)
            break;
        sum += in[row * columns + k];
    }
    out[row] = sum;
}
)";

TEST(Proof, MatchesLoops) {
    EXPECT_EQ(proofText(rows, replaced(rows, "for (int k = 0; k < columns; ++k) {",
                                       "const int first = row * columns; int k = -1; "
                                       "for (k = 0; k < columns; k += 1) {")),
              always);
    EXPECT_EQ(proofText(rows, replaced(replaced(rows, "    for (int k = 0",
                                                "    const int first = row * columns;\n"
                                                "    for (int k = 0"),
                                       "in[row * columns + k]", "in[first + k]")),
              always);
    EXPECT_THAT(proofText(rows, replaced(rows, "k < columns", "k < columns - 1")),
                HasSubstr("unproved"));
    EXPECT_THAT(proofText(rows, replaced(rows, "int k = 0", "int k = 1")), HasSubstr("unproved"));
    EXPECT_THAT(proofText(rows, replaced(rows, "            break;\n", "            continue;\n")),
                HasSubstr("unproved"));
}

TEST(Proof, LeavesValuesAloneAfterABreak) {
    // What comes behind the break is not done by a thread that has left the loop.
    const std::string before = R"(
__global__ void find(const float* in, float* out) {
    float x = 1.0f;
    for (int k = 0; k < 2; ++k) {
        if (in[k] < 0.0f)
            break;
        x = 2.0f;
    }
    out[threadIdx.x] = x;
}
)";
    EXPECT_THAT(proofText(before, replaced(before, "            break;\n", "            ;\n")),
                HasSubstr("unproved"));
}

TEST(Proof, UnrollsLoopsOfFewRounds) {
    const std::string before = R"(
__global__ void small(const float* in, float* out) {
    float sum[2] = {};
    for (int k = 0; k < 4; ++k)
        sum[k % 2] += in[k];
    out[threadIdx.x] = sum[0] + sum[1];
}
)";
    EXPECT_EQ(proofText(before, replaced(before,
                                         "    for (int k = 0; k < 4; ++k)\n"
                                         "        sum[k % 2] += in[k];\n",
                                         "    sum[0] += in[0]; sum[1] += in[1];\n"
                                         "    sum[0] += in[2]; sum[1] += in[3];\n")),
              always);
}

const std::string dot = R"(
__global__ void dot(const float* x, const float* y, float* out, int columns) {
    int row = blockIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < columns; ++k)
        sum += x[row * columns + k] * y[k];
    out[row] = sum;
}
)";
const std::string splitDot = replaced(dot, "    for (int k = 0; k < columns; ++k)\n",
                                      R"(    float sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
    int k = 0;
    for (; k < columns - 3; k += 4) {
        sum += x[row * columns + k] * y[k];
        sum1 += x[row * columns + k + 1] * y[k + 1];
        sum2 += x[row * columns + k + 2] * y[k + 2];
        sum3 += x[row * columns + k + 3] * y[k + 3];
    }
    for (; k < columns; ++k)
)");
const std::string gathered =
    replaced(splitDot, "    out[row] = sum;",
             "    sum = (sum + sum1) + (sum2 + sum3);\n    out[row] = sum;");

TEST(Proof, SplitsSumsAsRealNumbers) {
    const auto proofOfSum = [](const std::string& after) {
        return describe(proofOf(dot, after, skills::Numerics::Reassociates));
    };
    EXPECT_EQ(proofOfSum(gathered), std::string(always) +
                                        ", as real numbers, if columns - 1024 does not "
                                        "overflow");
    // The order of a sum changes its rounding.
    EXPECT_THAT(describe(proofOf(dot, gathered)), HasSubstr("unproved"));
    for (const auto& [right, wrong] : std::vector<std::pair<std::string, std::string>>{
             {"(sum2 + sum3)", "sum2"},
             {"columns - 3", "columns"},
             {"columns - 3", "columns - 2"},
             {"k += 4", "k += 3"},
             {"columns - 3; k += 4", "columns - 4; k += 5"},
             {"columns + k + 1] * y[k + 1]", "columns + k + 1] * y[k + 2]"},
             {"sum3 = 0.0f", "sum3 = 1.0f"},
             {"k < columns; ++k", "k < columns - 1; ++k"},
             {"sum2 += x", "sum2 -= x"},
             {"(sum + sum1)", "(sum + sum1 * 2.0f)"}})
        EXPECT_THAT(proofOfSum(replaced(gathered, right, wrong)), HasSubstr("unproved")) << wrong;
    EXPECT_THAT(proofOfSum(splitDot), HasSubstr("unproved"));
}

TEST(Proof, NeedsTheSurroundingsToBeTheSame) {
    const std::string before = "#define SIZE 4\n__device__ float half(float x) { return x / 2; }\n"
                               "__global__ void f(float* x) { x[threadIdx.x] = half(SIZE); }\n"
                               "__global__ void g(float* x) { x[threadIdx.x] = 1; }\n";
    EXPECT_THAT(proofText(before, replaced(before, "SIZE 4", "SIZE 5")),
                HasSubstr("line 1 outside of the kernel"));
    EXPECT_THAT(proofText(before, replaced(before, "x / 2", "x / 3")),
                HasSubstr("line 2 outside of the kernel"));
    EXPECT_THAT(proofText(before, replaced(before, "= 1;", "= 2;")),
                HasSubstr("line 4 outside of the kernel"));
}

TEST(Proof, CountsAGridThatCovers) {
    EXPECT_EQ(proofText(scale, replaced(replaced(scale,
                                                 "    int i = blockIdx.x * blockDim.x + "
                                                 "threadIdx.x;\n",
                                                 ""),
                                        "    if (i < n)\n",
                                        "    for (long long i = blockIdx.x * blockDim.x + "
                                        "threadIdx.x; i < n; "
                                        "i += (long long)blockDim.x * gridDim.x)\n")),
              std::string(always) + ", if the grid has a thread for each round of the loop "
                                    "`i < n` and there are fewer than 2^31 threads");
}

TEST(Proof, FindsInTheLaunchesThatTheGridCovers) {
    const std::string before = scale + R"(
void launch(float* out, const float* in, int n) {
    scale<<<(n + 255) / 256, 256>>>(out, in, 2.0f, n);
}
)";
    const auto loops = [](const std::string& text) {
        return replaced(replaced(text, "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n", ""),
                        "    if (i < n)\n",
                        "    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; "
                        "i += (long long)blockDim.x * gridDim.x)\n");
    };
    EXPECT_EQ(proofText(before, loops(before)),
              std::string(always) + ", if there are fewer than 2^31 threads");
    const std::string half = replaced(before, "(n + 255) / 256, 256", "(n + 511) / 512, 256");
    EXPECT_THAT(proofText(half, loops(half)), HasSubstr("if the grid has a thread for each round"));
    // A step that leaves elements out.
    EXPECT_THAT(proofText(before, replaced(loops(before), "(long long)blockDim.x * gridDim.x",
                                           "(long long)blockDim.x")),
                HasSubstr("unproved"));
}

TEST(Proof, WidensProductsThatDoNotOverflow) {
    const std::string before = R"(
__global__ void first(const float* in, float* out, int n, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i * columns];
}
)";
    EXPECT_EQ(proofText(before, replaced(before, "i * columns", "(long long)i * columns")), always);
    // An unsigned product may wrap around.
    const std::string unsignedBefore =
        replaced(replaced(before, "int n, int columns", "int n, unsigned columns"), "i * columns",
                 "(unsigned)i * columns");
    EXPECT_THAT(
        proofText(unsignedBefore, replaced(unsignedBefore, "(unsigned)i", "(unsigned long long)i")),
        HasSubstr("unproved"));
}

TEST(Proof, MovesReadsOfWhatNothingWrites) {
    const std::string before = R"(
__global__ void late(const float* __restrict__ in, float* __restrict__ out) {
    const float x = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = x;
}
)";
    const std::string after = replaced(
        replaced(before, "    const float x = in[threadIdx.x];\n", ""), "    out[threadIdx.x] = x;",
        "    const float x = in[threadIdx.x];\n"
        "    out[threadIdx.x] = x;");
    EXPECT_EQ(proofText(before, after), always);
    const auto plain = [](const std::string& text) {
        return replaced(text, "const float* __restrict__ in", "const float* in");
    };
    EXPECT_THAT(proofText(plain(before), plain(after)), HasSubstr("unproved"));
}

TEST(Proof, GivesNoArrayLessRoom) {
    const std::string before = R"(
__global__ void turn(float* x) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    x[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
)";
    EXPECT_EQ(proofText(before, replaced(before, "[32][32]", "[32][33]")),
              std::string(always) + ", if each subscript of tile stays in its dimension");
    EXPECT_THAT(proofText(before, replaced(before, "[32][32]", "[32][31]")), HasSubstr("unproved"));
    EXPECT_THAT(proofText(before, replaced(before, "[32][32]", "[16][32]")),
                HasSubstr("tile may have less room than before"));
}

TEST(Proof, KeepsTheNumberOfAThreadInItsBits) {
    const std::string wide = R"(
__global__ void fill(float* x, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 1.0f;
}
)";
    EXPECT_THAT(proofText(wide, replaced(wide, "size_t i = blockIdx.x * (size_t)blockDim.x",
                                         "int i = blockIdx.x * blockDim.x")),
                HasSubstr("unproved"));
    const std::string product = R"(
__global__ void fill(float* x, int row, int columns) {
    long long at = (long long)row * columns;
    x[at] = 1.0f;
}
)";
    EXPECT_THAT(
        proofText(product, replaced(product, "long long at = (long long)row", "int at = row")),
        HasSubstr("unproved: arithmetic that may overflow"));
}

TEST(Proof, WalksNoPaddedArrayByPointer) {
    const std::string before = R"(
__global__ void walk(float* x) {
    __shared__ float tile[4][32];
    tile[threadIdx.y][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    const float* all = &tile[0][0];
    x[threadIdx.x] = all[threadIdx.x + 64];
}
)";
    EXPECT_THAT(proofText(before, replaced(before, "[4][32]", "[4][33]")), HasSubstr("unproved"));
}

const std::string launched = scale + R"(
void launch(float* out, const float* in, int n) {
    scale<<<(n + 255) / 256, 256>>>(out, in, 2.0f, n);
}
)";

TEST(Proof, FollowsAThreadsNumberThroughAnotherBlock) {
    EXPECT_EQ(
        proofText(launched, replaced(launched, "(n + 255) / 256, 256", "(n + 127) / 128, 128")),
        std::string(always) + ", if there are fewer than 2^31 threads");
    EXPECT_EQ(
        proofText(launched, replaced(launched, "(n + 255) / 256, 256", "(n + 255) / 256 * 2, 128")),
        always);
    EXPECT_THAT(
        proofText(launched, replaced(launched, "(n + 255) / 256, 256", "(n + 126) / 128, 128")),
        HasSubstr("may leave out some of n"));
    EXPECT_THAT(
        proofText(launched, replaced(launched, "(n + 255) / 256, 256", "(n + 255) / 256, 128")),
        HasSubstr("may leave out some of n"));
    EXPECT_THAT(proofText(launched, replaced(launched, "2.0f, n)", "2.0f, n - 1)")),
                HasSubstr("outside of the kernel"));
}

TEST(Proof, FollowsRowsThroughAnotherBlock) {
    const std::string before = R"(
__global__ void first(float* out, const float* in, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        out[row] = in[row * columns];
}
void launch(float* out, const float* in, int rows, int columns) {
    first<<<(rows + 255) / 256, 256>>>(out, in, rows, columns);
}
)";
    EXPECT_THAT(
        proofText(before, replaced(before, "(rows + 255) / 256, 256", "(rows + 31) / 32, 32")),
        HasSubstr(always));
    EXPECT_THAT(
        proofText(before, replaced(before, "(rows + 255) / 256, 256", "(rows + 31) / 64, 32")),
        HasSubstr("unproved"));
    // A place in the block is no part of the thread's number.
    const std::string inBlock = replaced(before, "row * columns", "row * columns + threadIdx.x");
    EXPECT_THAT(
        proofText(inBlock, replaced(inBlock, "(rows + 255) / 256, 256", "(rows + 31) / 32, 32")),
        HasSubstr("unproved"));
}

TEST(Proof, ComparesTheGridWithProductsOfArguments) {
    const std::string before = R"(
__global__ void fill(float* out, const float* in, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns)
        out[i] = in[i % columns];
}
void launch(float* out, const float* in) {
    fill<<<(16 * 400 + 255) / 256, 256>>>(out, in, 16, 400);
}
)";
    const auto proofOfGrid = [&](const std::string& grid) {
        return proofText(before, replaced(before, "(16 * 400 + 255) / 256, 256", grid));
    };
    EXPECT_THAT(proofOfGrid("(16 * 400 + 31) / 32, 32"), HasSubstr(always));
    EXPECT_THAT(proofOfGrid("200, 32"), HasSubstr(always));
    EXPECT_THAT(proofOfGrid("199, 32"), HasSubstr("may leave out some of the elements"));
    EXPECT_THAT(proofOfGrid("(16 * 400) / 64, 32"), HasSubstr("may leave out"));
}

/// Nothing tells where in `a` the rounds write, so that each reads through all writes before it.
const std::string unknownPlaces = R"(
__global__ void mix(int* out, const int* in, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int a[16];
    for (int r = 0; r < 16; ++r)
        a[r] = in[i + r];
    for (int s = 0; s < 48; ++s) {
        int from = (i * s + n) & 15;
        int to = (from * m + (n >> s)) & 15;
        if (a[from] * m < a[to] * n)
            a[to] = (a[from] ^ (a[to] >> 3)) + s * i * m;
        else
            a[from] = a[to] / (m * m + 1) + a[(i / (s + 1)) & 15] * n;
    }
    if (i < n)
        out[i] = a[5];
})";

TEST(Proof, EndsSoonWhenItIsStopped) {
    EditedProgram program(unknownPlaces);
    const ProgramSource original = program.original();
    const ProgramSource candidate =
        program.with(replaced(unknownPlaces, "out[i] = a[5];",
                              "out[i] = a[5] + 0 * a[4] + ((a[3] * m) % 7 - (m * a[3]) % 7);"));
    using Clock = std::chrono::steady_clock;
    for (const int milliseconds : {0, 100, 700}) { // It takes more than ten seconds.
        std::stop_source stop;
        const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
        const std::jthread clock = stopAt(end, stop);
        const Proof proof =
            proofOf(original, candidate, {}, skills::Numerics::Exact, stop.get_token());
        EXPECT_LT(Clock::now() - end, std::chrono::milliseconds(1500)) << milliseconds;
        EXPECT_EQ(describe(proof), std::string("unproved: ") + stoppedProof) << milliseconds;
    }
}

} // namespace
} // namespace kernelskill::engine
