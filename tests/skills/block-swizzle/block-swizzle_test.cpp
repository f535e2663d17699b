#include "skills/block-swizzle/swizzle_plan.h"
#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view id = "block-swizzle";

/// Products of all pairs of vectors, a block each; with the host code given.
std::string product(const std::string& host, const std::string& work = "c[row * n + column] = sum;",
                    const std::string& before = "",
                    const std::string& step =
                        "a[row * depth + k + threadIdx.x] * b[column * depth + k + threadIdx.x]") {
    return before +
           "__global__ void product(const float* a, const float* b, float* c, int n, int depth) {\n"
           "    int row = blockIdx.y;\n"
           "    int column = blockIdx.x;\n"
           "    float sum = 0;\n"
           "    for (int k = 0; k < depth; k += 256)\n        sum += " +
           step + ";\n    " + work +
           "\n}\n"
           "void run(const float* a, const float* b, float* c, int n, int depth) {\n" +
           host + "}\n";
}

const std::string launch = "    product<<<dim3(n, n), 256>>>(a, b, c, n, depth);\n";

TEST(BlockSwizzle, ReplacesEveryReadAndKeepsTheRest) {
    const std::string text =
        appliedText(id, product(launch, "if (blockIdx.z == 0)\n        c[row * n + column] = sum + "
                                        "blockIdx.x; // as before"));
    EXPECT_THAT(text, HasSubstr("int row = blockY;"));
    EXPECT_THAT(text, HasSubstr("int column = blockX;"));
    EXPECT_THAT(text, HasSubstr("if (blockIdx.z == 0)\n        c[row * n + column] = sum + blockX; "
                                "// as before"));
    EXPECT_THAT(text, HasSubstr(launch));
}

TEST(BlockSwizzle, FindsFreeNames) {
    const std::string text = appliedText(
        id, product(launch, "int blockX = 1;\n    c[row * n + column] = sum + blockX;"));
    EXPECT_THAT(text, HasSubstr("int column = blockX2;"));
}

TEST(BlockSwizzle, FollowsPointersThatAreMovedToTheBlock) {
    const std::string text = appliedText(id, R"(
__global__ void product(const float* a, const float* b, float* c, int n, int depth) {
    a += blockIdx.y * depth;
    b += blockIdx.x * depth;
    float sum = 0;
    for (int k = threadIdx.x; k < depth; k += 256)
        sum += a[k] * b[k];
    c[blockIdx.y * n + blockIdx.x] = sum;
}
void run(const float* a, const float* b, float* c, int n, int depth) {
    product<<<dim3(n, n), 256>>>(a, b, c, n, depth);
}
)");
    EXPECT_THAT(text, HasSubstr("a += blockY * depth;"));
    EXPECT_THAT(text, HasSubstr("b += blockX * depth;"));
}

TEST(BlockSwizzle, HasOtherGroupsForASearch) {
    const Subject subject = parseSubject(product(launch));
    const Skill& skill = skillNamed(id);
    const auto offer = skill.prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->option, 16);
    ASSERT_TRUE(offer->gain);
    EXPECT_GT(offer->gain->factor, 1.2);
    std::vector<int> groups;
    for (const Offer& other : skill.alternatives(subject.context()))
        groups.push_back(other.option);
    EXPECT_THAT(groups, ElementsAre(8, 4, 2));
    const auto edits = skill.apply(subject.context(), skill.alternatives(subject.context())[1]);
    ASSERT_TRUE(edits);
    const auto text = analysis::applyEdits(subject.file.source->text(), edits->begin()->second);
    EXPECT_TRUE(text && text->contains("min(4u, gridDim.y - groupRow)"));
}

TEST(BlockSwizzle, TakesNoMoreRowsThanTheGridHas) {
    const Subject subject =
        parseSubject(product("    product<<<dim3(4096, 5), 256>>>(a, b, c, 4096, depth);\n"));
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->option, 4);
}

TEST(BlockSwizzle, IsAboutTheKernel) {
    checkTarget(id, product(launch), "product");
}

TEST(SwizzlePlan, CountsWhatAWaveLoads) {
    const BlockTraffic traffic{2, 1, 0.5};
    // 100 blocks of a row: one band on the left, 100 on the right.
    EXPECT_DOUBLE_EQ(bytesRowByRow(traffic, {100, std::nullopt, std::nullopt}), 2 + 100 + 50);
    // 40 columns: three rows.
    EXPECT_DOUBLE_EQ(bytesRowByRow(traffic, {100, 40, 40}), 3 * 2 + 40 + 50);
    EXPECT_DOUBLE_EQ(bytesInGroups(traffic, {100, 40, 40}, 8), 8 * 2 + 13 + 50);
    // A grid of few columns needs several groups at once.
    EXPECT_DOUBLE_EQ(bytesInGroups(traffic, {100, 5, 40}, 8), 20 * 2 + 5 + 50);
}

TEST(SwizzlePlan, TakesAsLongAsMemoryOrTheChip) {
    const Wave wave{1000, std::nullopt, std::nullopt};
    const BlockTraffic little{0, 0, 0, 128};
    EXPECT_DOUBLE_EQ(minSeconds(little, wave, 4.48e9), 1e-3);
    // A multiprocessor passes 128 bytes a clock.
    const BlockTraffic much{0, 0, 0, 128 * 1.98e9};
    EXPECT_DOUBLE_EQ(minSeconds(much, wave, 4.48e9), 1000.0 / 132);
}

class BlockSwizzleIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(BlockSwizzleIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, BlockSwizzleIsNotOffered,
    testing::Values(
        GateCase{"OneAxis", "no-second-axis", readSource("skills/launch-tuning/before.cu")},
        GateCase{"Transpose", "no-contraction",
                 readSource("skills/shared-memory-padding/before.cu")},
        GateCase{
            "NothingSharedByColumns", "no-contraction",
            product(launch, "c[row * n + column] = sum;", "", "a[row * depth + k + threadIdx.x]")},
        GateCase{"LoadedIndex", "index-loaded",
                 product(launch, "c[row * n + column] = sum;", "__device__ int order[64];\n",
                         "a[order[k] * depth + row] * b[column * depth + k]")},
        GateCase{"OneWave", "one-wave",
                 product("    const int m = 512;\n    dim3 block(256), grid(m / 16, m / 16);\n    "
                         "product<<<grid, block>>>(a, b, c, m, depth);\n")},
        GateCase{"FitsTheCache", "fits-cache",
                 product("    const int m = 2048;\n    product<<<dim3(m, m), 256>>>(a, b, c, m, "
                         "256);\n")},
        GateCase{"FitsTheCacheAsATemplate", "fits-cache", R"(
template <int TILE>
__global__ void product(const float* a, const float* b, float* c, int n, int depth) {
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < depth / TILE; ++t)
        sum += a[row * depth + t * TILE + threadIdx.x] * b[(t * TILE + threadIdx.y) * n + column];
    c[row * n + column] = sum;
}
void run(const float* a, const float* b, float* c) {
    const int n = 2048;
    dim3 block(16, 16), grid(n / block.x, n / block.y);
    product<16><<<grid, block>>>(a, b, c, n, 256);
}
)"},
        GateCase{"ShortRows", "wave-shares-already",
                 product("    product<<<dim3(32, 4096), 256>>>(a, b, c, 32, depth);\n")},
        GateCase{"TilesInSharedMemory", "chip-decides",
                 readSource("skills/software-prefetch/before.cu")},
        GateCase{"Swizzled", "already-swizzled",
                 product(launch, "c[(blockIdx.y * gridDim.x + blockIdx.x) % n] = sum;")},
        GateCase{"Atomic", "blocks-meet", product(launch, "atomicAdd(&c[column], sum);")},
        GateCase{"Fence", "blocks-meet",
                 product(launch, "c[row * n + column] = sum;\n    __threadfence();")},
        GateCase{"Volatile", "blocks-meet",
                 "__global__ void k(volatile float* a, const float* b, int n) {\n    for (int i = "
                 "0; i < n; ++i)\n        a[blockIdx.y * n + i] = a[blockIdx.y] * b[blockIdx.x * n "
                 "+ i];\n}\n"},
        GateCase{"Callee", "callee-uses-block-position",
                 product(launch, "c[row * n + column] = sum + shift();",
                         "__device__ float shift() { return blockIdx.x; }\n")},
        GateCase{"Lambda", "block-position-as-a-whole",
                 product(launch, "auto shift = []() { return blockIdx.x; };\n    c[row * n + "
                                 "column] = sum + shift();")},
        GateCase{
            "Macro", "from-macro",
            product(launch, "c[row * n + column] = sum + BLOCK;", "#define BLOCK blockIdx.x\n")},
        GateCase{"Size", "hidden-block-position",
                 product(launch, "c[row * n + column] = sum + sizeof(blockIdx.x);")},
        GateCase{"Whole", "block-position-as-a-whole",
                 product(launch, "uint3 block = blockIdx;\n    c[row * n + column] = sum + "
                                 "block.x;")},
        GateCase{"Assembly", "inline-assembly",
                 product(launch, "asm(\"\");\n    c[row * n + column] = sum;")},
        GateCase{"NoLaunch", "no-launch", product("")},
        GateCase{"UnknownBlock", "unknown-block",
                 product("    product<<<dim3(n, n), n>>>(a, b, c, n, depth);\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
