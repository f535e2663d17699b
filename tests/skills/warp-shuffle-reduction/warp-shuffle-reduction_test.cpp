#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "warp-shuffle-reduction";

/// A block reduction of `type` with the tree `tree`, launched with blocks of `block`.
std::string reducing(const std::string& tree, const std::string& type = "float",
                     const std::string& block = "256",
                     const std::string& tail = "    if (tid == 0) out[blockIdx.x] = a[0];\n") {
    return "__global__ void k(const " + type + "* in, " + type +
           "* out, int n) {\n    __shared__ " + type +
           " a[256];\n    int tid = threadIdx.x;\n    a[tid] = in[blockIdx.x * blockDim.x + tid];\n"
           "    __syncthreads();\n" +
           tree + tail + "}\nvoid run(" + type + "* i, " + type + "* o, int n) { k<<<n, " + block +
           ">>>(i, o, n); }\n";
}

struct Form {
    std::string name;
    std::string tree;
    std::string fold; ///< The text that the shuffle loop must hold.
    std::string type = "float";
};

class WarpShuffleReductionFits : public testing::TestWithParam<Form> {};

TEST_P(WarpShuffleReductionFits, TheTreesThatPeopleWrite) {
    const std::string text = appliedText(id, reducing(GetParam().tree, GetParam().type));
    EXPECT_TRUE(text.contains(GetParam().fold)) << text;
    EXPECT_FALSE(text.contains("tid + s")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

const std::string sumFold = "sum += __shfl_down_sync(0xffffffff, sum, offset);";

INSTANTIATE_TEST_SUITE_P(
    Trees, WarpShuffleReductionFits,
    testing::Values(
        Form{"Halving",
             "    for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n        if (tid < s) a[tid] += "
             "a[tid + s];\n        __syncthreads();\n    }\n",
             sumFold},
        Form{"HalvingByDivision",
             "    for (int s = blockDim.x >> 1; s >= 1; s /= 2) {\n        if (tid < s) { a[tid] = "
             "a[tid] + a[tid + s]; }\n        __syncthreads();\n    }\n",
             sumFold},
        Form{"ConstantStart",
             "    for (int s = 128; s; s /= 2) {\n        if (s > tid) a[tid] = a[s + tid] + "
             "a[tid];\n        __syncthreads();\n    }\n",
             sumFold},
        Form{"While",
             "    int s = blockDim.x / 2;\n    while (s != 0) {\n        if (tid < s)\n            "
             "a[tid] += a[tid + s];\n        __syncthreads();\n        s /= 2;\n    }\n",
             sumFold},
        Form{"DoublingModulo",
             "    for (unsigned s = 1; s < blockDim.x; s *= 2) {\n        if (tid % (2 * s) == 0) "
             "a[tid] += a[tid + s];\n        __syncthreads();\n    }\n",
             sumFold},
        Form{"DoublingIndex",
             "    for (unsigned s = 1; s < blockDim.x; s *= 2) {\n        int index = 2 * s * "
             "tid;\n        if (index < blockDim.x) a[index] += a[index + s];\n        "
             "__syncthreads();\n    }\n",
             sumFold},
        Form{"BarrierFirst",
             "    for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n        __syncthreads();\n       "
             " if (tid < s) a[tid] += a[tid + s];\n    }\n    __syncthreads();\n",
             sumFold},
        Form{"Maximum",
             "    for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n        if (tid < s) a[tid] = "
             "fmaxf(a[tid], a[tid + s]);\n        __syncthreads();\n    }\n",
             "largest = fmaxf(largest, __shfl_down_sync(0xffffffff, largest, offset));"},
        Form{"MinimumByComparison",
             "    for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n        if (tid < s) { if (a[tid "
             "+ s] < a[tid]) a[tid] = a[tid + s]; }\n        __syncthreads();\n    }\n",
             "if (other < smallest)"},
        Form{"ProductOfDoubles",
             "    for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n        if (tid < s) a[tid] *= "
             "a[tid + s];\n        __syncthreads();\n    }\n",
             "tid < blockDim.x / 32 ? a[tid] : 1.0;", "double"},
        Form{"SumOfInts",
             "    for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n        if (tid < s) a[tid] += "
             "a[tid + s];\n        __syncthreads();\n    }\n",
             "tid < blockDim.x / 32 ? a[tid] : 0;", "int"}),
    [](const auto& info) { return info.param.name; });

const std::string plainTree = "    for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n        if (tid "
                              "< s) a[tid] += a[tid + s];\n        __syncthreads();\n    }\n";

TEST(WarpShuffleReduction, RemovesTheStrideOfAWhileLoopAndKeepsItsComments) {
    const std::string text = appliedText(
        id, reducing("    int s = blockDim.x / 2;\n    while (s > 0) {\n        // fold the upper "
                     "half\n        if (tid < s)\n            a[tid] += a[tid + s];\n        "
                     "__syncthreads();\n        s = s / 2;\n    }\n"));
    EXPECT_FALSE(text.contains("int s =")) << text;
    EXPECT_TRUE(text.contains("    // fold the upper half\n")) << text;
}

TEST(WarpShuffleReduction, FoldsTwoArraysTogether) {
    const std::string source = R"(
__global__ void k(const float* in, float* out) {
    __shared__ float a[128], b[128];
    int t = threadIdx.x;
    a[t] = in[t];
    b[t] = in[t] * in[t];
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) {
            a[t] += a[t + s];
            b[t] = fmaxf(b[t], b[t + s]);
        }
        __syncthreads();
    }
    out[t] = in[t] - a[0] / b[0];
}
void run(float* i, float* o) { k<<<1, 128>>>(i, o); }
)";
    const std::string text = appliedText(id, source);
    EXPECT_TRUE(text.contains("    float sum = in[t];\n    float largest = in[t] * in[t];\n"
                              "    // Each warp"))
        << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

TEST(WarpShuffleReduction, TakesTheBlockSizeFromATemplateArgument) {
    const std::string source = R"(
template <typename T, int BLOCK>
__global__ void k(const T* in, T* out) {
    __shared__ T a[BLOCK];
    a[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) a[threadIdx.x] += a[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = a[0];
}
void run(float* i, float* o) { k<float, 128><<<1, 128>>>(i, o); }
)";
    const std::string text = appliedText(id, source);
    EXPECT_TRUE(text.contains("decltype(sum)(0)")) << text;
}

/// `sum` is a local of the kernel below, which is stored last.
const std::string registerFold = "sum += __shfl_down_sync(0xffffffff, sum, offset);";

/// A mean over rows whose kernel is told the size of its blocks. `host` launches it.
std::string toldItsBlock(const std::string& host) {
    return R"(
__global__ void mean(float* out, const float* in, int width, int block_size) {
    extern __shared__ float shared[];
    int tid = threadIdx.x;
    float sum = 0.0f;
    for (int i = tid; i < width; i += block_size)
        sum += in[blockIdx.x * width + i];
    shared[tid] = sum;
    __syncthreads();
    for (int stride = block_size / 2; stride >= 1; stride /= 2) {
        __syncthreads();
        if (tid < stride) {
            shared[tid] += shared[tid + stride];
        }
    }
    if (tid == 0)
        out[blockIdx.x] = shared[0] / width;
}
)" + host;
}

TEST(WarpShuffleReduction, TakesTheBlockSizeFromAnArgument) {
    const std::string text = appliedText(
        id, toldItsBlock("void run(float* o, const float* i, int n, int w) {\n"
                         "    const int block_size = 128;\n"
                         "    mean<<<n, block_size, block_size * 4>>>(o, i, w, block_size);\n}\n"));
    EXPECT_TRUE(text.contains(registerFold)) << text;
    EXPECT_TRUE(text.contains("i += block_size")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

TEST(WarpShuffleReduction, NamesTheLaunchWhoseBlockIsNotKnown) {
    const Refusal refusal = refusedBy(
        id,
        toldItsBlock("void run(float* o, const float* i, int n, int w, const int block_size) {\n"
                     "    mean<<<n, block_size, block_size * 4>>>(o, i, w, block_size);\n}\n"));
    EXPECT_EQ(refusal.gate, "unknown-block");
    EXPECT_EQ(refusal.reason,
              "the block of the launch on line 20 is block_size, which is not a constant there");
}

TEST(WarpShuffleReduction, NamesTheArgumentThatIsNotKnown) {
    const Refusal refusal = refusedBy(
        id, toldItsBlock("void run(float* o, const float* i, int n, int w, int threads) {\n"
                         "    mean<<<n, 128, 512>>>(o, i, w, threads);\n}\n"));
    EXPECT_EQ(refusal.gate, "unknown-extent");
    EXPECT_EQ(refusal.reason, "the loop spans block_size threads, for which the launch on line 20 "
                              "passes threads, whose value is not known");
}

TEST(WarpShuffleReduction, NamesBothSizesWhereTheTreeIsNotTheBlock) {
    const Refusal refusal =
        refusedBy(id, toldItsBlock("void run(float* o, const float* i, int n, int w) {\n"
                                   "    mean<<<n, 256, 1024>>>(o, i, w, 128);\n}\n"));
    EXPECT_EQ(refusal.gate, "extent-not-block");
    EXPECT_EQ(refusal.reason, "the loop spans 128 threads where the launch on line 20 has blocks "
                              "of 256");
}

TEST(WarpShuffleReduction, TakesTheBlockSizeFromBlockDimUnderAnyName) {
    std::string source = toldItsBlock("void run(float* o, const float* i, int n, int w) {\n"
                                      "    mean<<<n, 64, 256>>>(o, i, w);\n}\n");
    source.replace(source.find(", int block_size"), 16, "");
    source.insert(source.find("    float sum"), "    int block_size = blockDim.x;\n");
    source.insert(source.find("    for (int stride"), "    const int half = block_size / 2;\n");
    source.replace(source.find("= block_size / 2; stride"), 16, "= half");
    EXPECT_TRUE(appliedText(id, source).contains("auto sum2 = shared[tid];")) << source;
}

TEST(WarpShuffleReduction, AChangedBlockSizeIsNoBlockSize) {
    std::string source = toldItsBlock("void run(float* o, const float* i, int n, int w) {\n"
                                      "    mean<<<n, 128, 512>>>(o, i, w, 128);\n}\n");
    source.insert(source.find("    float sum"), "    block_size = width;\n");
    checkNotApplicable(id, source, "not-a-tree");
}

/// The same with the size of the blocks as a template argument.
std::string templatedBlock(const std::string& host) {
    std::string source = toldItsBlock(host);
    source.replace(source.find(", int block_size"), 16, "");
    return "template <int block_size>" + source;
}

TEST(WarpShuffleReduction, TakesTheBlockSizeFromANamedTemplateArgument) {
    for (const std::string declaration :
         {"constexpr int threads = 256;\n", "#define threads 256\n"}) {
        const std::string text = appliedText(
            id, templatedBlock(declaration + "void run(float* o, const float* i, int n, int w) {\n"
                                             "    mean<threads><<<n, threads, threads * 4>>>(o, i, "
                                             "w);\n}\n"));
        EXPECT_TRUE(text.contains(registerFold)) << text;
        EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
    }
}

TEST(WarpShuffleReduction, AMacroThatIsDefinedTwiceIsNotKnown) {
    const Refusal refusal =
        refusedBy(id, templatedBlock("#define threads 256\n"
                                     "void run(float* o, const float* i, int n, int w) {\n"
                                     "    mean<threads><<<n, 256, 1024>>>(o, i, w);\n}\n"
                                     "#undef threads\n#define threads 128\n"));
    EXPECT_EQ(refusal.gate, "unknown-extent");
}

TEST(WarpShuffleReduction, NamesTheLaunchOfATemplateWhoseBlockIsNotKnown) {
    const Refusal refusal = refusedBy(
        id, templatedBlock("void run(float* o, const float* i, int n, int w, int threads) {\n"
                           "    mean<128><<<n, threads, 512>>>(o, i, w);\n}\n"));
    EXPECT_EQ(refusal.gate, "unknown-block");
    EXPECT_TRUE(refusal.reason.contains("line 20 is threads")) << refusal.reason;
}

TEST(WarpShuffleReduction, NamesBothSizesWhereTheTemplateArgumentIsNotTheBlock) {
    const Refusal refusal =
        refusedBy(id, templatedBlock("void run(float* o, const float* i, int n, int w) {\n"
                                     "    mean<128><<<n, 256, 1024>>>(o, i, w);\n}\n"));
    EXPECT_EQ(refusal.gate, "extent-not-block");
}

TEST(WarpShuffleReduction, SaysWhatIsWrongWithTheLoopThatHasTheBarrier) {
    std::string source = toldItsBlock("void run(float* o, const float* i, int n, int w) {\n"
                                      "    mean<<<n, 128, 512>>>(o, i, w, 128);\n}\n");
    source.replace(source.find("block_size / 2; stride"), 14, "(block_size + 1) / 2");
    source.insert(source.find("    if (tid == 0)"),
                  "    for (int i = 0; i < 2; ++i)\n        out[i] = 0;\n");
    const Refusal refusal = refusedBy(id, source);
    EXPECT_EQ(refusal.gate, "not-a-tree");
    EXPECT_TRUE(refusal.reason.contains("line 10")) << refusal.reason;
}

TEST(WarpShuffleReduction, IsAboutTheLoop) {
    checkTarget(id, reducing(plainTree), plainTree.substr(4, plainTree.size() - 5));
}

TEST(WarpShuffleReduction, SaysWhatItDoesToResults) {
    EXPECT_EQ(offeredNumerics(id, reducing(plainTree)), Numerics::Reassociates);
    EXPECT_EQ(offeredNumerics(id, reducing(plainTree, "int")), Numerics::Exact);
}

class WarpShuffleReductionIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(WarpShuffleReductionIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

std::string treeWithGuard(const std::string& guarded) {
    return "    for (int s = blockDim.x / 2; s > 0; s >>= 1) {\n        " + guarded +
           "\n        __syncthreads();\n    }\n";
}

INSTANTIATE_TEST_SUITE_P(
    Gates, WarpShuffleReductionIsNotOffered,
    testing::Values(
        GateCase{"BlockOf96", "partial-warps", reducing(plainTree, "float", "96")},
        GateCase{"BlockOf16", "partial-warps", reducing(plainTree, "float", "16")},
        GateCase{"UnknownBlock", "unknown-block", reducing(plainTree, "float", "n")},
        GateCase{"TwoDimensionalBlock", "two-dimensional",
                 reducing(plainTree, "float", "dim3(32, 8)")},
        GateCase{"NoLaunch", "no-launch",
                 reducing(plainTree).substr(0, reducing(plainTree).find("void run"))},
        GateCase{
            "StopsAtAWarp", "partial-tree",
            reducing("    for (int s = blockDim.x / 2; s > 32; s >>= 1) {\n        if (tid < s) "
                     "a[tid] += a[tid + s];\n        __syncthreads();\n    }\n")},
        GateCase{"OtherStart", "extent-not-block",
                 reducing("    for (int s = 64; s > 0; s >>= 1) {\n        if (tid < s) a[tid] += "
                          "a[tid + s];\n        __syncthreads();\n    }\n")},
        GateCase{"ResultInTheLastElement", "result-last",
                 reducing("    for (int i = 2; i <= 256; i = 2 * i) {\n        if ((tid + 1) % i "
                          "== 0) a[tid] += a[tid - i / 2];\n        __syncthreads();\n    }\n",
                          "float", "256", "    if (tid == 255) out[blockIdx.x] = a[tid];\n")},
        GateCase{"GuardWithBounds", "guarded-tree",
                 reducing(treeWithGuard("if (tid < s && tid + s < n) a[tid] += a[tid + s];"))},
        GateCase{"NotAFold", "not-a-fold",
                 reducing(treeWithGuard("if (tid < s) a[tid] = a[tid] - a[tid + s];"))},
        GateCase{"Scan", "not-a-fold",
                 reducing(treeWithGuard("if (tid < s) a[tid + s] += a[tid];"))},
        GateCase{"OtherNeighbour", "not-a-fold",
                 reducing(treeWithGuard("if (tid < s) a[tid] += a[tid + s + 1];"))},
        GateCase{"TwoSteps", "not-a-fold",
                 reducing(treeWithGuard("if (tid < s) { a[tid] += a[tid + s]; out[s] = 1; }"))},
        GateCase{"NoBarrier", "not-a-tree",
                 reducing("    for (int s = blockDim.x / 2; s > 0; s >>= 1)\n        if (tid < s) "
                          "a[tid] += a[tid + s];\n")},
        GateCase{"PartsReadLater", "array-read-after",
                 reducing(plainTree, "float", "256", "    out[tid] = a[tid];\n")},
        GateCase{"SecondPartReadLater", "array-read-after",
                 reducing(plainTree, "float", "256", "    if (tid == 0) out[0] = a[0] + a[1];\n")},
        GateCase{"PassedOn", "array-escapes",
                 "__device__ float first(float* p) { return p[0]; }\n" +
                     reducing(plainTree, "float", "256", "    out[0] = first(a);\n")},
        GateCase{"EarlyReturn", "early-return",
                 reducing("    if (tid >= n) return;\n" + plainTree)},
        GateCase{"Halfs", "no-shuffle", reducing(plainTree, "short")},
        GateCase{"TreeInGlobalMemory", "not-a-fold", R"(
__global__ void k(float* a) {
    int tid = threadIdx.x;
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) a[tid] += a[tid + s];
        __syncthreads();
    }
}
void run(float* a) { k<<<1, 256>>>(a); }
)"},
        GateCase{"RowOfTwoDimensions", "not-a-fold", R"(
__global__ void k(float* out) {
    __shared__ float a[8][32];
    int tid = threadIdx.x;
    a[threadIdx.y][tid] = 1;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) a[threadIdx.y][tid] += a[threadIdx.y][tid + s];
        __syncthreads();
    }
    out[0] = a[0][0];
}
void run(float* o) { k<<<1, dim3(32, 8)>>>(o); }
)"},
        GateCase{"NoLoop", "no-loop", "__global__ void k(float* x) { x[threadIdx.x] = 0; }\n"}),
    [](const auto& info) { return info.param.name; });

TEST(WarpShuffleReduction, KeepsALocalThatIsStoredInItsRegister) {
    checkApplicable(id, R"(
__global__ void rowSums(const float* in, float* out, int width) {
    __shared__ float partial[64];
    float total = 0;
    for (int i = threadIdx.x; i < width; i += 64)
        total += in[blockIdx.x * width + i];
    partial[threadIdx.x] = total;
    for (int s = 32; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s)
            partial[threadIdx.x] += partial[threadIdx.x + s];
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = partial[0];
}
void run(const float* in, float* out, int n, int width) {
    rowSums<<<n, 64>>>(in, out, width);
}
)",
                    R"(
__global__ void rowSums(const float* in, float* out, int width) {
    __shared__ float partial[64];
    float total = 0;
    for (int i = threadIdx.x; i < width; i += 64)
        total += in[blockIdx.x * width + i];
    // Each warp folds its values in registers, then the first warp folds the warps' results.
    for (int offset = 16; offset > 0; offset /= 2)
        total += __shfl_down_sync(0xffffffff, total, offset);
    if (threadIdx.x % 32 == 0)
        partial[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x < 32) {
        total = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
        for (int offset = 16; offset > 0; offset /= 2)
            total += __shfl_down_sync(0xffffffff, total, offset);
        if (threadIdx.x == 0)
            partial[0] = total;
    }
    __syncthreads();
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = partial[0];
}
void run(const float* in, float* out, int n, int width) {
    rowSums<<<n, 64>>>(in, out, width);
}
)");
}

/// The edit of a tree behind `before`, which stores, and a barrier.
std::string storedBy(const std::string& before, const std::string& behind = "") {
    std::string source =
        reducing(plainTree, "float", "256", behind + "    if (tid == 0) out[blockIdx.x] = a[0];\n");
    const std::string store = "    a[tid] = in[blockIdx.x * blockDim.x + tid];\n";
    source.replace(source.find(store), store.size(), before);
    return appliedText(id, source);
}

TEST(WarpShuffleReduction, ReadsTheElementsWhereTheirStoresHaveToStay) {
    const auto isKept = [](const std::string& text) { return text.contains("auto sum = a[tid];"); };
    EXPECT_FALSE(isKept(storedBy("    a[tid] = in[tid] * 2.0;\n")));
    EXPECT_TRUE(isKept(storedBy("    a[tid] = in[tid];\n    a[tid] = a[tid] * a[tid];\n")))
        << "the value is one of the array";
    EXPECT_TRUE(isKept(storedBy("    a[tid] = in[tid];\n    out[tid] = a[tid];\n"
                                "    a[tid] = in[tid] + 1;\n")))
        << "another warp may still read the element that a result would be written to";
    EXPECT_FALSE(isKept(storedBy("    a[tid] = in[tid];\n    __syncthreads();\n"
                                 "    out[tid] = a[255 - tid];\n    __syncthreads();\n"
                                 "    a[tid] = in[tid] + 1;\n")));
    EXPECT_TRUE(isKept(storedBy("    if (n > 0) a[tid] = in[tid];\n")));
    EXPECT_TRUE(isKept(storedBy("    a[tid] = in[tid];\n    n += 1;\n")));
}

TEST(WarpShuffleReduction, LeavesALocalThatIsAskedForLater) {
    const std::string text =
        storedBy("    float own = in[tid];\n    a[tid] = own;\n", "    out[tid] = own;\n");
    EXPECT_TRUE(text.contains("    float sum = own;\n")) << text;
    EXPECT_TRUE(storedBy("    const float own = in[tid];\n    a[tid] = own;\n")
                    .contains("    float sum = own;\n"));
    EXPECT_TRUE(storedBy("    double own = in[tid];\n    a[tid] = own;\n")
                    .contains("    float sum = own;\n"));
}

TEST(WarpShuffleReduction, AllowsTheArrayToBeWrittenAgain) {
    const std::string twice = "    float top = a[0];\n    __syncthreads();\n    a[tid] = in[tid] - "
                              "top;\n    __syncthreads();\n" +
                              plainTree + "    if (tid == 0) out[0] = a[0];\n";
    const std::string text = appliedText(id, reducing(plainTree, "float", "256", twice));
    EXPECT_TRUE(text.contains(sumFold)) << text;
}

} // namespace
} // namespace kernelskill::skills
