/// Fixes of hazards: what is offered, what is not, and that what is offered helps.
#include "engine/workbench/hazard_repair.h"
#include "tests/engine/workbench/workbench_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::sourceFile;
using ::testing::HasSubstr;
using ::testing::Not;

class HazardFixesTest : public kernelskill::testing::WorkbenchFixture {
protected:
    HazardFixes fixesOf(const ProgramSource& source, const std::string& kernel) {
        const auto* named = analysis::kernelNamed(*source.model, kernel);
        if (named == nullptr) {
            ADD_FAILURE() << "no kernel " << kernel;
            return std::make_shared<std::vector<HazardFix>>();
        }
        auto fixes = workbench_->hazardFixes().find({source, *named}, {}, {});
        EXPECT_TRUE(fixes) << fixes.error().describe();
        return fixes ? *fixes : std::make_shared<std::vector<HazardFix>>();
    }

    std::vector<Hazard> hazardsOf(const ProgramSource& source, const std::string& kernel) {
        const auto report = workbench_->profiler().profile(
            {source, *analysis::kernelNamed(*source.model, kernel)}, {}, {});
        EXPECT_TRUE(report) << report.error().describe();
        return report ? report->profile->hazards : std::vector<Hazard>{};
    }

    /// The text after the first fix of a kernel, which must help and do no harm.
    std::string fixedBy(const ProgramSource& source, const std::string& kernel) {
        const HazardFixes fixes = fixesOf(source, kernel);
        if (fixes->empty())
            return "";
        const auto before = hazardsOf(source, kernel);
        const std::string text = *analysis::applyEdits(source.text, fixes->front().edits);
        const ProgramSource fixed = program(text);
        EXPECT_EQ(fixed.model->diagnostics.size(), source.model->diagnostics.size()) << text;
        const auto after = hazardsOf(fixed, kernel);
        EXPECT_EQ(after.size(), fixes->front().hazardsAfter) << text;
        EXPECT_LT(after.size(), before.size()) << text;
        EXPECT_TRUE(std::ranges::all_of(fixes->front().checks, &Check::passed));
        return text;
    }
    std::string fixedText(const std::string& text, const std::string& kernel) {
        return fixedBy(program(text), kernel);
    }
};

struct Expected {
    const char* kernel;
    const char* title; ///< Empty: no fix is sure.
};
void PrintTo(const Expected& expected, std::ostream* stream) {
    *stream << expected.kernel;
}

class WrongKernels : public HazardFixesTest, public ::testing::WithParamInterface<Expected> {};

TEST_P(WrongKernels, AreFixedWhereItIsSureWhatWasMeant) {
    const ProgramSource source = program(sourceFile("tests/accuracy/hazards.cu"));
    const auto [kernel, title] = GetParam();
    const HazardFixes fixes = fixesOf(source, kernel);
    if (*title == '\0') {
        EXPECT_TRUE(fixes->empty()) << fixes->front().title;
        return;
    }
    ASSERT_FALSE(fixes->empty());
    EXPECT_THAT(fixes->front().title, HasSubstr(title));
    fixedBy(source, kernel);
    EXPECT_EQ(fixes->front().hazardsAfter, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Accuracy, WrongKernels,
    ::testing::Values(
        Expected{"reverseWithoutBarrier", "insert '__syncthreads();' before line"},
        Expected{"reduceWithoutInnerBarrier", "insert '__syncthreads();' at the end of the loop"},
        Expected{"tileReusedWithoutBarrier", "insert '__syncthreads();' at the end of the loop"},
        Expected{"everyThreadWritesLast", ""}, // Which thread was meant to win?
        Expected{"histogramWithoutAtomics", "use 'atomicAdd(&local["},
        Expected{"broadcastWithoutBarrier", "insert '__syncthreads();' before line"},
        Expected{"shiftInPlace", "read into 'value', then '__syncthreads();', then write"},
        Expected{"readPastEnd", "tighten 'i < n' to 'i + 1 < n'"},
        Expected{"writeWithoutGuard", ""}, // Nothing tells the kernel how long its output is.
        Expected{"guardOffByOne", "tighten 'i <= n' to 'i < n'"},
        Expected{"readBeforeBegin", "add 'i > 0' to the condition"},
        Expected{"sharedPastEnd", ""},    // A larger array, or another index?
        Expected{"misalignedFloat4", ""}, // Which four elements were meant?
        Expected{"barrierInBothBranches", "move '__syncthreads();' out of the branch"},
        Expected{"barrierForHalfOfAWarp", "move '__syncthreads();' out of the branch"},
        Expected{"sharedNeverWritten", ""}), // With what?
    [](const auto& given) { return std::string(given.param.kernel); });

struct Gallery {
    const char* file;
    const char* title;
};
void PrintTo(const Gallery& gallery, std::ostream* stream) {
    *stream << gallery.file;
}
class HazardGalleryFixes : public HazardFixesTest, public ::testing::WithParamInterface<Gallery> {};

TEST_P(HazardGalleryFixes, AreOfferedWhereSure) {
    const ProgramSource source =
        program(sourceFile("examples/hazards/" + std::string(GetParam().file) + ".cu"));
    const std::string kernel = source.model->kernels.front().name;
    const HazardFixes fixes = fixesOf(source, kernel);
    if (*GetParam().title == '\0') {
        EXPECT_TRUE(fixes->empty()) << fixes->front().title;
        return;
    }
    ASSERT_FALSE(fixes->empty());
    EXPECT_THAT(fixes->front().title, HasSubstr(GetParam().title));
    fixedBy(source, kernel);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, HazardGalleryFixes,
    ::testing::Values(Gallery{"race", "insert '__syncthreads();' before line 9"},
                      Gallery{"out-of-bounds", "tighten 'i < n' to 'i + 1 < n'"},
                      Gallery{"barrier-divergence", "move '__syncthreads();' out of the branch"},
                      Gallery{"misaligned", ""}, Gallery{"uninitialized-read", ""}),
    [](const auto& given) {
        std::string name = given.param.file;
        std::ranges::replace(name, '-', '_');
        return name;
    });

TEST_F(HazardFixesTest, ABarrierGoesOutOfABranchThatNotAllThreadsTake) {
    const std::string fixed = fixedText("__global__ void lastOfAll(const float* in, float* out) {\n"
                                        "    __shared__ float tile[64];\n"
                                        "    tile[threadIdx.x] = in[threadIdx.x];\n"
                                        "    if (threadIdx.x < 10) {\n"
                                        "        float v = tile[63 - threadIdx.x];\n"
                                        "        out[threadIdx.x] = v;\n"
                                        "    }\n"
                                        "}\n"
                                        "void launch(const float* in, float* out) {\n"
                                        "    lastOfAll<<<2, 64>>>(in, out);\n"
                                        "}\n",
                                        "lastOfAll");
    EXPECT_THAT(fixed, HasSubstr("in[threadIdx.x];\n    __syncthreads();\n    if ("));
}

TEST_F(HazardFixesTest, BracesAreAddedWhereALoopHasNone) {
    const std::string fixed =
        fixedText("__global__ void fold(float* data) {\n"
                  "    __shared__ float part[128];\n"
                  "    part[threadIdx.x] = data[threadIdx.x];\n"
                  "    __syncthreads();\n"
                  "    for (int s = 64; s > 0; s >>= 1)\n"
                  "        if (threadIdx.x < s)\n"
                  "            part[threadIdx.x] += part[threadIdx.x + s]; // fold\n"
                  "    if (threadIdx.x == 0)\n"
                  "        data[0] = part[0];\n"
                  "}\n"
                  "void launch(float* data) { fold<<<1, 128>>>(data); }\n",
                  "fold");
    EXPECT_THAT(fixed, HasSubstr("s >>= 1) {\n        if (threadIdx.x < s)\n"
                                 "            part[threadIdx.x] += part[threadIdx.x + s]; // fold\n"
                                 "        __syncthreads();\n    }\n"));
}

TEST_F(HazardFixesTest, LanesOfOneWarpGetAWarpBarrier) {
    const ProgramSource source =
        program("__global__ void mirror(const float* in, float* out) {\n"
                "    __shared__ float row[32];\n"
                "    row[threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];\n"
                "    out[blockIdx.x * 32 + threadIdx.x] = row[31 - threadIdx.x];\n"
                "}\n"
                "void launch(const float* in, float* out) { mirror<<<4, 32>>>(in, out); }\n");
    const std::string fixed = fixedBy(source, "mirror");
    EXPECT_THAT(fixed, HasSubstr("threadIdx.x];\n    __syncwarp();\n    out["));
    EXPECT_THAT(fixed, Not(HasSubstr("__syncthreads")));
}

TEST_F(HazardFixesTest, NoWarpBarrierGoesWhereOnlySomeLanesAre) {
    const ProgramSource source =
        program("__global__ void some(const float* in, float* out) {\n"
                "    __shared__ float row[32];\n"
                "    if (threadIdx.x % 2 == 0) {\n"
                "        row[threadIdx.x] = in[threadIdx.x];\n"
                "        out[threadIdx.x] = row[30 - threadIdx.x];\n"
                "    }\n"
                "}\n"
                "void launch(const float* in, float* out) { some<<<4, 32>>>(in, out); }\n");
    for (const HazardFix& fix : *fixesOf(source, "some"))
        EXPECT_THAT(fix.title, Not(HasSubstr("__syncwarp")));
}

TEST_F(HazardFixesTest, AScanReadsBeforeItWritesAlsoUnderACondition) {
    const std::string fixed =
        fixedText("__global__ void scan(int* data) {\n"
                  "    __shared__ int sums[128];\n"
                  "    sums[threadIdx.x] = data[threadIdx.x];\n"
                  "    __syncthreads();\n"
                  "    for (int step = 1; step < 128; step *= 2) {\n"
                  "        if (threadIdx.x >= step)\n"
                  "            sums[threadIdx.x] += sums[threadIdx.x - step];\n"
                  "        __syncthreads();\n"
                  "    }\n"
                  "    data[threadIdx.x] = sums[threadIdx.x];\n"
                  "}\n"
                  "void launch(int* data) { scan<<<1, 128>>>(data); }\n",
                  "scan");
    EXPECT_THAT(fixed, HasSubstr("        int value{};\n"
                                 "        if (threadIdx.x >= step)\n"
                                 "            value = sums[threadIdx.x - step];\n"
                                 "        __syncthreads();\n"
                                 "        if (threadIdx.x >= step)\n"
                                 "            sums[threadIdx.x] += value;\n"
                                 "        __syncthreads();\n"));
}

TEST_F(HazardFixesTest, ThreadsReturnEarlyWhereNobodyWaitsForThem) {
    const std::string fixed = fixedText(
        "__global__ void scale(const float* in, float* out, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    float v = in[i];\n"
        "    out[i] = 2 * v;\n"
        "}\n"
        "// kernelskill: launch scale<<<(n+127)/128, 128>>>(n=1000, in=rand[n], out=zero[n])\n",
        "scale");
    EXPECT_THAT(fixed, HasSubstr("threadIdx.x;\n    if (i >= n)\n        return;\n    float v"));
}

TEST_F(HazardFixesTest, StatementsAreWrappedWhereABarrierFollows) {
    const std::string fixed = fixedText(
        "__global__ void both(const float* in, float* out, int n) {\n"
        "    __shared__ float tile[128];\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    tile[threadIdx.x] = threadIdx.x;\n"
        "    __syncthreads();\n"
        "    out[i] = tile[127 - threadIdx.x];\n"
        "}\n"
        "// kernelskill: launch both<<<(n+127)/128, 128>>>(n=1000, in=rand[n], out=zero[n])\n",
        "both");
    EXPECT_THAT(fixed, HasSubstr("    if (i < n)\n        out[i] = tile[127 - threadIdx.x];\n"));
    EXPECT_THAT(fixed, Not(HasSubstr("return;")));
}

TEST_F(HazardFixesTest, RowsAndColumnsAreBothBounded) {
    const std::string fixed = fixedText(
        "__global__ void twice(const float* in, float* out, int width, int height) {\n"
        "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "    out[y * width + x] = 2 * in[y * width + x];\n"
        "}\n"
        "// kernelskill: launch twice<<<dim3((width+15)/16, (height+15)/16), dim3(16, 16)>>>"
        "(width=100, height=60, in=rand[width*height], out=zero[width*height])\n",
        "twice");
    EXPECT_THAT(fixed, HasSubstr("if (x < width && y < height)\n        out["));
}

TEST_F(HazardFixesTest, NoBoundIsGuessedOfTwoThatFit) {
    const ProgramSource source = program(
        "__global__ void copy(const float* in, float* out, int n, int m) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    out[i] = in[i];\n"
        "}\n"
        "void launch(const float* in, float* out, int n) {\n"
        "    copy<<<8, 128>>>(in, out, n, n);\n"
        "}\n"
        "// kernelskill: launch copy<<<8, 128>>>(n=1000, m=1000, in=rand[1000], out=zero[1000])\n");
    EXPECT_TRUE(fixesOf(source, "copy")->empty());
}

TEST_F(HazardFixesTest, SharedMemoryThatIsOnlyAddedToStartsAtZero) {
    const std::string fixed = fixedText("__global__ void count(const int* keys, int* bins) {\n"
                                        "    __shared__ int local[16];\n"
                                        "    atomicAdd(&local[keys[threadIdx.x] & 15], 1);\n"
                                        "    __syncthreads();\n"
                                        "    if (threadIdx.x < 16)\n"
                                        "        bins[threadIdx.x] = local[threadIdx.x];\n"
                                        "}\n"
                                        "void launch(const int* keys, int* bins) {\n"
                                        "    count<<<1, 128>>>(keys, bins);\n"
                                        "}\n",
                                        "count");
    EXPECT_THAT(fixed, HasSubstr("    for (int i = threadIdx.x; i < 16; i += blockDim.x)\n"
                                 "        local[i] = 0;\n    __syncthreads();\n"));
}

TEST_F(HazardFixesTest, AFixIsFoundAgainWhereTheKernelHasMoved) {
    const std::string text = sourceFile("examples/hazards/race.cu");
    const ProgramSource source = program(text);
    const HazardFixes fixes = fixesOf(source, "reverseBlocks");
    ASSERT_EQ(fixes->size(), 1u);
    const auto& kernel = *analysis::kernelNamed(*source.model, "reverseBlocks");
    EXPECT_TRUE(workbench_->hazardFixes().cached({source, kernel}));
    // The same fix by other means: a comment at the end moves nothing.
    const ProgramSource longer = program(text + "// more\n");
    const auto again = workbench_->hazardFixes().cached(
        {longer, *analysis::kernelNamed(*longer.model, "reverseBlocks")});
    ASSERT_TRUE(again);
    EXPECT_EQ(again->front().edits, fixes->front().edits);
    // The kernel text differs, so no fixes were searched yet.
    const ProgramSource other =
        program(kernelskill::testing::replaced(text, "// race:", "// race again:"));
    const auto moved = workbench_->hazardFixes().cached(
        {other, *analysis::kernelNamed(*other.model, "reverseBlocks")});
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->front().edits.front().span.begin, fixes->front().edits.front().span.begin + 6);
    EXPECT_THAT(fixes->front().title, HasSubstr("before line 9"));
    const ProgramSource lower = program("\n\n" + text);
    const auto below = workbench_->hazardFixes().cached(
        {lower, *analysis::kernelNamed(*lower.model, "reverseBlocks")});
    ASSERT_TRUE(below);
    EXPECT_THAT(below->front().title, HasSubstr("insert '__syncthreads();' before line 11"));
}

TEST_F(HazardFixesTest, ARepairOfTheWholeFileSaysWhatIsLeft) {
    const ProgramSource source = program(sourceFile("tests/accuracy/hazards.cu"));
    const auto repair = repairHazards(workbench_->hazardFixes(), source, {}, {});
    ASSERT_TRUE(repair) << repair.error().describe();
    EXPECT_EQ(repair->applied.size(), 11u);
    EXPECT_EQ(repair->left.size(), 6u); // They are in the five kernels without a sure fix.
    EXPECT_TRUE(repair->notRun.empty());
    const ProgramSource after = program(repair->text);
    EXPECT_EQ(after.model->diagnostics.size(), source.model->diagnostics.size());
    EXPECT_EQ(*analysis::applyEdits(source.text, repair->edits.at(source.file)), repair->text);
}

} // namespace
} // namespace kernelskill::engine
