#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "algorithm-cascading";

constexpr std::string_view tree = R"(    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
)";
constexpr std::string_view total = R"(    if (threadIdx.x == 0)
        atomicAdd(y, s[0]);
)";

/// A kernel that sums x into y with the array s of the block; `work` is its code.
std::string summing(const std::string& work, const std::string& grid = "(n + 255) / 256") {
    return "__global__ void k(const float* x, float* y, int n) {\n    __shared__ float s[256];\n" +
           work + "}\nvoid run(const float* x, float* y, int n) {\n    k<<<" + grid +
           ", 256>>>(x, y, n);\n}\n";
}

std::string summing(const std::string& element, std::string_view fold, std::string_view result,
                    const std::string& grid = "(n + 255) / 256") {
    return summing("    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + element +
                       std::string(fold) + std::string(result),
                   grid);
}

constexpr std::string_view element = "    s[threadIdx.x] = i < n ? x[i] : 0.0f;\n";

TEST(AlgorithmCascading, LetsAGuardedElementBecomeALoop) {
    checkApplicable(id, summing(R"(    const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
    float v = 0.0f;
    if (i < n) { // within
        float w = x[i];
        v = w * w;
    }
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(y, v);
)"),
                    summing(R"(    float v = 0.0f;
    for (unsigned int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) { // within
        float w = x[i];
        v += w * w;
    }
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(y, v);
)",
                            "((n + 255) / 256 + 7) / 8"));
}

TEST(AlgorithmCascading, KeepsADeclarationThatSharesItsLine) {
    checkApplicable(id,
                    summing("    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
                            "    float v = i >= n ? 0 : x[i];\n    s[t] = v;\n" +
                            std::string(tree) + std::string(total)),
                    summing("    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"
                            "    float v = 0;\n"
                            "    for (; i < n; i += blockDim.x * gridDim.x)\n"
                            "        v += x[i];\n    s[t] = v;\n" +
                                std::string(tree) + std::string(total),
                            "((n + 255) / 256 + 7) / 8"));
}

TEST(AlgorithmCascading, ReordersSumsOfFloats) {
    EXPECT_EQ(offeredNumerics(id, summing(std::string(element), tree, total)),
              Numerics::Reassociates);
}

TEST(AlgorithmCascading, OffersWhatKeepsEnoughBlocks) {
    const Subject subject = parseSubject(summing(std::string(element), tree, total, "2000"));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer);
    EXPECT_EQ(offer->option, 8);
    const auto others = skillNamed(id).alternatives(subject.context());
    ASSERT_EQ(others.size(), 1u);
    EXPECT_EQ(others.front().option, 4);
}

class AlgorithmCascadingIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(AlgorithmCascadingIsNotOffered, Here) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, AlgorithmCascadingIsNotOffered,
    testing::Values(
        GateCase{"SumOfEachBlock", "counts-blocks",
                 summing(std::string(element), tree,
                         "    if (threadIdx.x == 0)\n        y[blockIdx.x] = s[0];\n")},
        GateCase{"CountsBlocks", "counts-blocks",
                 summing(std::string(element), tree,
                         std::string(total) + "    if (threadIdx.x == 0)\n        atomicAdd(y + 1, "
                                              "1.0f);\n")},
        GateCase{"StoresOfAllBlocks", "counts-blocks",
                 summing(std::string(element), tree, std::string(total) + "    y[1] = 7;\n")},
        GateCase{"NoTotal", "no-total", summing(std::string(element), tree, "")},
        GateCase{"NoExchange", "no-exchange",
                 summing("    float v = i < n ? x[i] : 0.0f;\n", "", "    atomicAdd(y, v);\n")},
        GateCase{
            "LargestOfBlocks", "not-a-sum",
            summing(std::string(element),
                    "    __syncthreads();\n    for (int d = 128; d > 0; d >>= 1) {\n        if "
                    "(threadIdx.x < d)\n            s[threadIdx.x] = fmaxf(s[threadIdx.x], "
                    "s[threadIdx.x + d]);\n        __syncthreads();\n    }\n",
                    total)},
        GateCase{"SquareOfTheSum", "not-a-sum",
                 summing(std::string(element), tree,
                         "    if (threadIdx.x == 0)\n        atomicAdd(y, s[0] * s[0]);\n")},
        GateCase{"IfTheSumIsLarge", "not-a-sum",
                 summing(std::string(element), tree,
                         "    if (threadIdx.x == 0 && s[0] > 1)\n        atomicAdd(y, s[0]);\n")},
        GateCase{"SumAsIndex", "not-a-sum",
                 summing(std::string(element), tree,
                         "    if (threadIdx.x == 0)\n        atomicAdd(y + (int)s[0], s[0]);\n")},
        GateCase{"OtherAtomic", "not-a-sum",
                 summing(std::string(element), tree,
                         "    if (threadIdx.x == 0)\n        atomicExch(y, s[0]);\n")},
        GateCase{"TotalIsUsed", "not-a-sum",
                 summing(std::string(element), tree,
                         "    if (threadIdx.x == 0)\n        s[0] = atomicAdd(y, s[0]);\n")},
        GateCase{"OneBeyondTheEnd", "element-form",
                 summing("    s[threadIdx.x] = i < n ? x[i] : 1.0f;\n", tree, total)},
        GateCase{
            "IndexUsedTwice", "element-form",
            summing(std::string(element) + "    if (i == 0)\n        s[0] += 1;\n", tree, total)},
        GateCase{"OtherThreadsElement", "element-form",
                 summing("    s[255 - threadIdx.x] = i < n ? x[i] : 0.0f;\n", tree, total)},
        GateCase{
            "EffectOfTheElement", "element-effect",
            summing("    s[threadIdx.x] = i < n ? atomicAdd(y + 1, 1.0f) : 0.0f;\n", tree, total)},
        GateCase{"EarlyReturn", "early-return",
                 summing("    if (threadIdx.x == 99)\n        return;\n" + std::string(element),
                         tree, total)},
        GateCase{"ConstIndexOnASharedLine", "index-declaration",
                 summing("    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n" +
                         std::string(element) + std::string(tree) + std::string(total))},
        GateCase{
            "GoesOn", "already-cascaded",
            summing("    float v = 0;\n    for (int i = blockIdx.x * blockDim.x + threadIdx.x; "
                    "i < n; i += blockDim.x * gridDim.x)\n        v += x[i];\n    "
                    "s[threadIdx.x] = v;\n" +
                    std::string(tree) + std::string(total))},
        GateCase{"FewBlocks", "few-blocks", summing(std::string(element), tree, total, "500")},
        GateCase{"NoIndex", "no-thread-index",
                 summing("    s[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];\n" +
                         std::string(tree) + std::string(total))}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
