#include "skills/shared-memory-padding/bank_simulation.h"
#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "shared-memory-padding";

std::vector<std::int64_t> strided(std::int64_t bytes, int lanes = 32) {
    std::vector<std::int64_t> addresses;
    for (int lane = 0; lane < lanes; ++lane)
        addresses.push_back(lane * bytes);
    return addresses;
}

TEST(BankSimulation, CountsWavefrontsAsTheHardwareDoes) {
    EXPECT_EQ(conflictDegree(strided(4), 4), 1);    // a row of floats
    EXPECT_EQ(conflictDegree(strided(0), 4), 1);    // all lanes read one word
    EXPECT_EQ(conflictDegree(strided(128), 4), 32); // a column of 32 x 32 floats
    EXPECT_EQ(conflictDegree(strided(132), 4), 1);  // the same with 33 columns
    EXPECT_EQ(conflictDegree(strided(8), 4), 2);    // every other word
    EXPECT_EQ(conflictDegree(strided(8), 8), 1);    // a row of doubles, as half warps
    EXPECT_EQ(conflictDegree(strided(256), 8), 16); // a column of doubles
    EXPECT_EQ(conflictDegree(strided(16), 16), 1);  // a row of float4, as quarter warps
    EXPECT_EQ(conflictDegree(strided(1), 1), 1);    // bytes share words
    EXPECT_EQ(conflictDegree(strided(64), 2), 16);  // a column of 32 x 32 halves
}

/// A kernel that stages a tile and reads it transposed, with `declaration` and a block of `block`.
std::string transposing(const std::string& declaration, const std::string& block = "dim3(32, 32)",
                        const std::string& extra = "") {
    return "__global__ void k(float* out, const float* in, int n) {\n    __shared__ " +
           declaration +
           ";\n    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * n + threadIdx.x];\n"
           "    __syncthreads();\n" +
           extra +
           "    out[threadIdx.y * n + threadIdx.x] = tile[threadIdx.x][threadIdx.y];\n}\n"
           "void run(float* o, float* i, int n) { k<<<1, " +
           block + ">>>(o, i, n); }\n";
}

TEST(SharedMemoryPadding, TakesOneElementForFourBytes) {
    checkApplicable(id, transposing("float tile[32][32]"), transposing("float tile[32][32 + 1]"));
}

TEST(SharedMemoryPadding, TakesOneElementForDoubles) {
    checkApplicable(id, transposing("double tile[32][32]"), transposing("double tile[32][32 + 1]"));
}

TEST(SharedMemoryPadding, BracketsAnExtentThatBindsLooser) {
    checkApplicable(id, transposing("float tile[32][1 << 5]"),
                    transposing("float tile[32][(1 << 5) + 1]"));
}

TEST(SharedMemoryPadding, KeepsCommentsInTheDeclaration) {
    checkApplicable(id, transposing("float tile[32][32 /* columns */]"),
                    transposing("float tile[32][32 + 1 /* columns */]"));
}

TEST(SharedMemoryPadding, PadsTheArrayAtTheCursor) {
    const std::string source = R"(
__global__ void k(float* out, const float* in) {
    __shared__ float a[32][32], b[32][32];
    a[threadIdx.y][threadIdx.x] = in[threadIdx.x];
    b[threadIdx.y][threadIdx.x] = in[threadIdx.y];
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x][threadIdx.y] + b[threadIdx.x]$0[threadIdx.y];
}
)";
    checkTarget(id, source, "b[32][32]");
}

TEST(SharedMemoryPadding, PadsTheInnermostOfThreeDimensions) {
    checkApplicable(id, R"(
__global__ void k(float* out, const float* in, int steps) {
    __shared__ float tile[2][32][32];
    for (int s = 0; s < steps; ++s) {
        tile[s % 2][threadIdx.y][threadIdx.x] = in[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] += tile[s % 2][threadIdx.x][threadIdx.y];
    }
}
void run(float* o, float* i) { k<<<1, dim3(32, 32)>>>(o, i, 4); }
)",
                    R"(
__global__ void k(float* out, const float* in, int steps) {
    __shared__ float tile[2][32][32 + 1];
    for (int s = 0; s < steps; ++s) {
        tile[s % 2][threadIdx.y][threadIdx.x] = in[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] += tile[s % 2][threadIdx.x][threadIdx.y];
    }
}
void run(float* o, float* i) { k<<<1, dim3(32, 32)>>>(o, i, 4); }
)");
}

TEST(SharedMemoryPadding, FollowsALoopVariableThroughAColumn) {
    checkTarget(id, R"(
__global__ void k(float* out, const float* in) {
    __shared__ float rows[64][64];
    for (int j = 0; j < 64; ++j)
        rows[threadIdx.x][j] = in[j * 64 + threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = rows[threadIdx.x][0];
}
void run(float* o, float* i) { k<<<1, 64>>>(o, i); }
)",
                "rows[64][64]");
}

TEST(SharedMemoryPadding, FollowsAPlaceThatIsSetInBranches) {
    const std::string text = appliedText(id, R"(
__global__ void k(float* out, const float* in) {
    __shared__ float tile[16][16];
    int at;
    if (threadIdx.x < 16) {
        at = threadIdx.x;
        for (int i = 0; i < 16; ++i) tile[i][at] = in[i * 16 + at];
    } else {
        at = threadIdx.x - 16;
    }
    __syncthreads();
    if (threadIdx.x >= 16) {
        at = threadIdx.x - 16;
        float sum = 0;
        for (int i = 0; i < 16; ++i) sum += tile[at][i];
        out[at] = sum;
    }
}
void run(float* o, float* i) { k<<<1, 32>>>(o, i); }
)");
    EXPECT_TRUE(text.contains("tile[16][16 + 1];")) << text;
}

class SharedMemoryPaddingIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(SharedMemoryPaddingIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, SharedMemoryPaddingIsNotOffered,
    testing::Values(
        GateCase{"AlreadyPadded", "no-bank-conflict", transposing("float tile[32][33]")},
        GateCase{"OddRows", "no-bank-conflict", transposing("float tile[32][35]")},
        GateCase{"RowsOnly", "no-bank-conflict", R"(
__global__ void k(float* out, const float* in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.y][threadIdx.x] * 2;
}
void run(float* o, float* i) { k<<<1, dim3(32, 32)>>>(o, i); }
)"},
        GateCase{"Broadcast", "no-bank-conflict", R"(
__global__ void k(float* out, const float* in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 32; ++j) out[threadIdx.x] += tile[threadIdx.y][j];
}
void run(float* o, float* i) { k<<<1, dim3(32, 32)>>>(o, i); }
)"},
        GateCase{"Decays", "used-as-pointer",
                 transposing("float tile[32][32]", "dim3(32, 32)",
                             "    float* p = tile[0]; p[1] = 0;\n")},
        GateCase{"AddressOfElement", "used-as-pointer",
                 transposing("float tile[32][32]", "dim3(32, 32)",
                             "    float* p = &tile[0][0]; p[1] = 0;\n")},
        GateCase{
            "VectorView", "used-as-pointer",
            transposing("float tile[32][32]", "dim3(32, 32)",
                        "    out[0] = reinterpret_cast<float4*>(&tile[threadIdx.y][0])[0].x;\n")},
        GateCase{"PassedOn", "used-as-pointer",
                 "__device__ float f(float t[32][32]) { return t[1][1]; }\n" +
                     transposing("float tile[32][32]", "dim3(32, 32)", "    out[0] = f(tile);\n")},
        GateCase{"SizeOf", "used-elsewhere",
                 transposing("float tile[32][32]", "dim3(32, 32)",
                             "    if (sizeof(tile) > 4000) out[0] = 1;\n")},
        GateCase{"LinearThroughFirstRow", "subscript-past-row", R"(
__global__ void k(float* out, const float* in) {
    __shared__ float tile[32][32];
    tile[0][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x % 32][threadIdx.x / 32];
}
void run(float* o, float* i) { k<<<1, 1024>>>(o, i); }
)"},
        GateCase{"OneDimensional", "one-dimensional", R"(
__global__ void k(float* out, const float* in) {
    __shared__ float tile[1024];
    tile[threadIdx.y * 32 + threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x * 32 + threadIdx.y];
}
void run(float* o, float* i) { k<<<1, dim3(32, 32)>>>(o, i); }
)"},
        GateCase{"Dynamic", "dynamic-shared-array", R"(
__global__ void k(float* out, const float* in) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x * 32 % 1024];
}
)"},
        GateCase{"DataDependent", "unknown-lanes", R"(
__global__ void k(float* out, const int* in) {
    __shared__ float tile[32][32];
    int r = in[threadIdx.x];
    tile[r][r] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[r][0];
}
)"},
        GateCase{"TooLarge", "exceeds-shared-memory", R"(
__global__ void k(float* out, const float* in) {
    __shared__ float tile[384][32];
    for (int j = 0; j < 32; ++j) tile[threadIdx.x][j] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][1];
}
void run(float* o, float* i) { k<<<1, 384>>>(o, i); }
)"},
        GateCase{"DependentExtent", "unknown-extent", R"(
template <int N> __global__ void k(float* out, const float* in) {
    __shared__ float tile[N][N];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void run(float* o, float* i) { k<32><<<1, dim3(32, 32)>>>(o, i); }
)"},
        GateCase{"NoSharedMemory", "no-shared-array",
                 "__global__ void k(float* x) { x[threadIdx.x] = 0; }\n"},
        GateCase{"DeclarationFromMacro", "from-macro",
                 "#define DECLARE_TILE float tile[32][32]\n" + transposing("DECLARE_TILE")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
