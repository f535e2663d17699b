#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view id = "block-constant";

/// One element a thread.
std::string launched(const std::string& constants, const std::string& host,
                     const std::string& work = "y[i] = x[i];") {
    return constants +
           "__global__ void k(const float* x, float* y, int n) {\n    int i = blockIdx.x * "
           "blockDim.x + threadIdx.x;\n    if (i < n)\n        " +
           work + "\n}\nvoid run(const float* x, float* y, int m) {\n" + host + "}\n";
}

const std::string byMacro = "    k<<<(m + BLOCK - 1) / BLOCK, BLOCK>>>(x, y, m);\n";

TEST(BlockConstant, ChangesAMacro) {
    checkApplicable(id, launched("#define BLOCK 32 // threads\n", byMacro),
                    launched("#define BLOCK 128 // threads\n", byMacro));
}

TEST(BlockConstant, ChangesAConstantOfTheFile) {
    checkApplicable(id, launched("constexpr int BLOCK = 32;\n", byMacro),
                    launched("constexpr int BLOCK = 128;\n", byMacro));
}

TEST(BlockConstant, ChangesALocal) {
    const std::string rest = "    k<<<(m + threads - 1) / threads, threads>>>(x, y, m);\n";
    checkApplicable(id, launched("", "    int threads = 32;\n" + rest),
                    launched("", "    int threads = 128;\n" + rest));
}

TEST(BlockConstant, FindsTheMacroBehindALocalAndABlockOfItsOwn) {
    const std::string rest = "    const int threads = BLOCK;\n    dim3 block(threads);\n"
                             "    dim3 grid((m + threads - 1) / threads);\n"
                             "    k<<<grid, block>>>(x, y, m);\n";
    checkApplicable(id, launched("#define BLOCK 32\n", rest),
                    launched("#define BLOCK 128\n", rest));
}

std::vector<int> optionsOf(const Subject& subject) {
    std::vector<int> options;
    for (const Offer& offer : skillNamed(id).alternatives(subject.context()))
        options.push_back(offer.option);
    return options;
}

TEST(BlockConstant, HasTheNearestSizesForASearchWhereNothingSpeaksAgainstTheBlock) {
    const Subject subject = parseSubject(launched("#define BLOCK 256\n", byMacro));
    EXPECT_FALSE(skillNamed(id).prepare(subject.context()));
    EXPECT_THAT(optionsOf(subject), ElementsAre(128, 512, 64));
    const auto offer = skillNamed(id).alternatives(subject.context()).front();
    EXPECT_EQ(offer.title, "Launch k with BLOCK = 128");
    EXPECT_EQ(offer.numerics, Numerics::Exact);
    const auto edits = skillNamed(id).apply(subject.context(), offer);
    ASSERT_TRUE(edits);
    const auto text = analysis::applyEdits(subject.file.source->text(), edits->begin()->second);
    EXPECT_TRUE(text && text->starts_with("#define BLOCK 128\n"));
}

TEST(BlockConstant, TriesBothAxesOfATile) {
    const Subject subject =
        parseSubject("#define W 32\n#define H 8\n"
                     "__global__ void k(float* x, int n) {\n    __shared__ float tile[H][W];\n"
                     "    tile[threadIdx.y][threadIdx.x] = x[threadIdx.x];\n    __syncthreads();\n"
                     "    x[threadIdx.x] = tile[0][threadIdx.x];\n}\n"
                     "void run(float* x, int n) { k<<<n, dim3(W, H)>>>(x, n); }\n");
    EXPECT_THAT(optionsOf(subject), ElementsAre(16, 64, 8, 10004, 10016, 10002));
    EXPECT_EQ(skillNamed(id).alternatives(subject.context()).front().numerics,
              Numerics::Reassociates)
        << "its threads work together";
}

TEST(BlockConstant, KeepsWithinTheBoundsOfTheKernel) {
    std::string text = launched("#define BLOCK 256\n", byMacro);
    text.replace(text.find("__global__ void"), 15, "__global__ void __launch_bounds__(256)");
    EXPECT_THAT(optionsOf(parseSubject(text)), ElementsAre(128, 64, 32));
}

TEST(BlockConstant, TriesNoLargerBlocksForArraysThatKeepTheirSize) {
    const std::string turned = "s[threadIdx.x] = x[i]; __syncthreads();\n"
                               "    y[i] = s[blockDim.x - 1 - threadIdx.x];";
    const auto tried = [&](const std::string& array) {
        return optionsOf(parseSubject("#define BLOCK 256\n__global__ void k(const float* x, float* "
                                      "y) {\n    " +
                                      array +
                                      "\n    int i = blockIdx.x * blockDim.x + "
                                      "threadIdx.x;\n    " +
                                      turned +
                                      "\n}\nvoid run(const float* x, float* y) {\n"
                                      "    k<<<64, BLOCK, BLOCK * 4>>>(x, y);\n}\n"));
    };
    EXPECT_THAT(tried("__shared__ float s[256];"), ElementsAre(128, 64, 32));
    EXPECT_THAT(tried("__shared__ float s[BLOCK];"), ElementsAre(128, 512, 64));
    EXPECT_THAT(tried("extern __shared__ float s[];"), ElementsAre(128, 512, 64));
}

/// A block of 4 x 4 threads by a macro with two definitions, through a local that is set later.
const std::string bothAxes = "#ifdef WIDTH\n#define SIDE WIDTH\n#else\n#define SIDE 4\n#endif\n"
                             "__global__ void k(float* x, int n) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    int j = blockIdx.y * blockDim.y + threadIdx.y;\n"
                             "    if (i < n && j < n)\n        x[i * n + j] = 1;\n}\n"
                             "void run(float* x, int n) {\n    int side, blocks;\n"
                             "    side = SIDE;\n    blocks = (n + side - 1) / side;\n"
                             "    dim3 block(side, side);\n    dim3 grid(blocks, blocks);\n"
                             "    k<<<grid, block>>>(x, n);\n}\n";

TEST(BlockConstant, SetsBothAxesThroughOneLocal) {
    const Subject subject = parseSubject(bothAxes);
    EXPECT_THAT(optionsOf(subject), ElementsAre(8, 16, 32)) << "64 to 1024 threads";
    const auto offer = skillNamed(id).alternatives(subject.context()).at(1);
    const auto edits = skillNamed(id).apply(subject.context(), offer);
    ASSERT_TRUE(edits);
    const auto text = analysis::applyEdits(subject.file.source->text(), edits->begin()->second);
    EXPECT_TRUE(text && text->contains("    side = 16;\n")) << *text;
}

TEST(BlockConstant, FitsBehindAxesThatWereExchangedInBlocksBelowAWarp) {
    const Subject before = parseSubject(bothAxes);
    const auto exchanges = skillNamed("coalesced-access").alternatives(before.context());
    ASSERT_EQ(exchanges.size(), 1u);
    const auto edits = skillNamed("coalesced-access").apply(before.context(), exchanges[0]);
    ASSERT_TRUE(edits);
    const auto text = analysis::applyEdits(before.file.source->text(), edits->begin()->second);
    ASSERT_TRUE(text && text->contains("blockIdx.x * blockDim.y + threadIdx.y")) << *text;
    EXPECT_THAT(optionsOf(parseSubject(*text)), ElementsAre(8, 16, 32));
}

TEST(BlockConstant, LeavesALocalWhoseMacroTheKernelNames) {
    std::string text = bothAxes;
    text.replace(text.find("= 1;"), 4, "= SIDE;");
    EXPECT_THAT(optionsOf(parseSubject(text)), testing::IsEmpty());
}

class BlockConstantIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(BlockConstantIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, BlockConstantIsNotOffered,
    testing::Values(
        GateCase{"Fits", "block-fits", launched("#define BLOCK 256\n", byMacro)},
        GateCase{"ALiteral", "no-block-constant",
                 launched("", "    k<<<(m + 31) / 32, 32>>>(x, y, m);\n")},
        GateCase{"TwoDefinitions", "no-block-constant",
                 launched("#define BLOCK 64\n#undef BLOCK\n#define BLOCK 32\n", byMacro)},
        GateCase{"AnExpression", "no-block-constant",
                 launched("#define BLOCK (16 * 2)\n", byMacro)},
        GateCase{"TwoLaunches", "no-block-constant",
                 launched("#define BLOCK 32\n", byMacro + "    k<<<m, 64>>>(x, y, m);\n")},
        GateCase{"NoLaunch", "no-launch", launched("#define BLOCK 32\n", "")},
        GateCase{"UnknownBlock", "unknown-block", launched("", "    k<<<m, m>>>(x, y, m);\n")},
        GateCase{"AnotherKernelNamesIt", "shared-constant",
                 launched("#define BLOCK 32\n", byMacro) +
                     "__global__ void other(float* x) { x[BLOCK] = 1; }\n"},
        GateCase{"AnotherLaunchIsStatedByIt", "shared-constant",
                 launched("#define BLOCK 32\n", byMacro) +
                     "__global__ void other(float* x) { x[0] = 1; }\n"
                     "void more(float* x) { other<<<1, BLOCK>>>(x); }\n"},
        GateCase{"Barrier", "barrier",
                 launched("#define BLOCK 32\n", byMacro, "{ y[i] = x[i]; __syncthreads(); }")},
        GateCase{"TwoAxes", "several-axes",
                 launched("#define BLOCK 32\n", "    k<<<m, dim3(BLOCK, 2)>>>(x, y, m);\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
