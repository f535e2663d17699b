/// launch-tuning on blocks of more than one axis, and on blocks that definitions state.
#include "skills/launch-tuning/block_shapes.h"
#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view id = "launch-tuning";

/// The titles' sizes of what a search may try.
std::vector<std::string> triedBy(const std::string& source) {
    const Subject subject = parseSubject(source);
    std::vector<std::string> sizes;
    for (const Offer& offer : skillNamed(id).alternatives(subject.context())) {
        const std::string_view before = "with blocks of ";
        const std::size_t begin = offer.title.find(before) + before.size();
        sizes.push_back(offer.title.substr(begin, offer.title.find(" threads") - begin));
    }
    return sizes;
}

/// `source` with blocks of that size, a text as in a title.
std::string withBlocks(const std::string& source, const std::string& size) {
    const Subject subject = parseSubject(source);
    const Skill& skill = skillNamed(id);
    for (const Offer& offer : skill.alternatives(subject.context())) {
        if (!offer.title.ends_with(fmt::format(" blocks of {} threads", size)))
            continue;
        const auto edits = skill.apply(subject.context(), offer);
        if (!edits)
            return edits.error().describe();
        return analysis::applyEdits(subject.file.source->text(), edits->begin()->second)
            .value_or("edits overlap");
    }
    return "not offered";
}

const std::string plane = R"(__global__ void blur(const float* in, float* out, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    out[y * w + x] = 0.5f * in[y * w + x];
}
)";

TEST(BlockShapes, FollowByTheFormulaOfTheGrid) {
    const std::string source = plane + R"(void run(const float* in, float* out, int w, int h) {
    dim3 block(32, 8);
    dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
    blur<<<grid, block>>>(in, out, w, h);
}
)";
    EXPECT_THAT(triedBy(source), ElementsAre("64 x 4", "128 x 2", "16 x 16", "256", "32 x 4"));
    const std::string text = withBlocks(source, "64 x 4");
    EXPECT_THAT(text,
                HasSubstr("    dim3 block(64, 4);\n    dim3 grid((w + block.x - 1) / "
                          "block.x, (h + block.y - 1) / block.y);\n    blur<<<grid, block>>>"));
    EXPECT_THAT(withBlocks(source, "256"), HasSubstr("dim3 block(256, 1);"));
}

TEST(BlockShapes, FollowByNumbersInTheGrid) {
    const std::string source = plane + R"(void run(const float* in, float* out, int w, int h) {
    dim3 threads(16, 16), blocks((w + 15) / 16, (h - 1) / 16 + 1);
    blur<<<blocks, threads>>>(in, out, w, h);
}
)";
    EXPECT_THAT(withBlocks(source, "32 x 8"),
                HasSubstr("dim3 threads(32, 8), blocks((w + 31) / 32, (h - 1) / 8 + 1);"));
}

TEST(BlockShapes, FollowByNamesOfNumbers) {
    const std::string source = "#define BX 32\n#define BY 8\n" + plane +
                               R"(void run(const float* in, float* out, int w, int h) {
    dim3 block(BX, BY, 1);
    dim3 grid((unsigned)ceil((float)w / (float)BX), (unsigned)ceil((float)h / (float)BY), 1);
    blur<<<grid, block>>>(in, out, w, h);
}
)";
    EXPECT_THAT(withBlocks(source, "64 x 4"),
                HasSubstr("    dim3 block(64, 4, 1);\n    dim3 grid((unsigned)ceil((float)w / "
                          "(float)64), (unsigned)ceil((float)h / (float)4), 1);"));
}

TEST(BlockShapes, FollowByLocals) {
    const std::string source = plane + R"(void run(const float* in, float* out, int w, int h) {
    const int tx = 32, ty = 4;
    const int columns = (w + tx - 1) / tx;
    blur<<<dim3(columns, (h + ty - 1) / ty), dim3(tx, ty)>>>(in, out, w, h);
}
)";
    EXPECT_THAT(withBlocks(source, "64 x 2"), HasSubstr("const int tx = 64, ty = 2;"));
}

TEST(BlockShapes, FollowForSeveralLaunches) {
    const std::string source = plane + R"(void run(const float* in, float* out, int w, int h) {
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    blur<<<grid, block>>>(in, out, w, h);
    blur<<<grid, block>>>(out, out, w, h);
}
)";
    EXPECT_THAT(withBlocks(source, "64 x 4"),
                HasSubstr("dim3 block(64, 4), grid((w + 63) / 64, (h + 3) / 4);"));
}

TEST(BlockShapes, AreWrittenInTheLaunchWhereSomethingElseDependsOnTheDefinition) {
    const std::string source = plane + R"(__global__ void other(float* out);
void run(const float* in, float* out, int w, int h) {
    dim3 block(32, 8);
    dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
    blur<<<grid, block>>>(in, out, w, h);
    other<<<grid, block>>>(out);
}
)";
    EXPECT_THAT(withBlocks(source, "64 x 4"),
                HasSubstr("    dim3 block(32, 8);\n    dim3 grid((w + block.x - 1) / block.x, (h + "
                          "block.y - 1) / block.y);\n    blur<<<dim3((grid.x + 1) / 2, grid.y * 2, "
                          "grid.z), dim3(64, 4)>>>(in, out, w, h);\n    other<<<grid, block>>>"));
}

TEST(BlockShapes, AreWrittenInTheLaunchWhereTheGridIsNotMadeForTheLimits) {
    const std::string source = plane + R"(void run(const float* in, float* out, int w, int h) {
    const int half = w / 2;
    dim3 block(32, 8), grid((half + 31) / 32, (h + 7) / 8);
    blur<<<grid, block>>>(in, out, w, h);
}
)";
    EXPECT_THAT(withBlocks(source, "16 x 16"),
                HasSubstr("blur<<<dim3(grid.x * 2, (grid.y + 1) / 2, grid.z), dim3(16, 16)>>>"));
}

TEST(BlockShapes, KeepTheNumberOfThreadsWhereNoLimitIsKnown) {
    const std::string source = R"(__global__ void k(const float* x, float* y, int w) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = threadIdx.y + blockIdx.y * blockDim.y;
    y[row * w + column] = x[row * w + column];
}
void run(const float* x, float* y, int w, int h) {
    dim3 block(32, 8), grid(w / 32, h / 8);
    k<<<grid, block>>>(x, y, w);
}
)";
    EXPECT_THAT(triedBy(source), ElementsAre("32 x 4", "16 x 8", "32 x 2", "8 x 8"));
    EXPECT_THAT(withBlocks(source, "32 x 4"),
                HasSubstr("k<<<dim3(grid.x, grid.y * 2, grid.z), dim3(32, 4)>>>"));
}

TEST(BlockShapes, OfThreeAxes) {
    const std::string source = R"(__global__ void k(const float* a, float* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int l = blockIdx.z * blockDim.z + threadIdx.z;
    if (i < n && j < n && l < n)
        b[(l * n + j) * n + i] = 2 * a[(l * n + j) * n + i];
}
void run(const float* a, float* b, int n) {
    const dim3 threads(8, 8, 8);
    const dim3 blocks((n + threads.x - 1) / threads.x, (n + threads.y - 1) / threads.y,
                      (n + threads.z - 1) / threads.z);
    k<<<blocks, threads>>>(a, b, n);
}
)";
    EXPECT_THAT(triedBy(source), Contains("32 x 4 x 4"));
    EXPECT_THAT(withBlocks(source, "32 x 4 x 4"), HasSubstr("const dim3 threads(32, 4, 4);"));
}

TEST(BlockShapes, KeepAnAxisOnWhichTheKernelCounts) {
    const std::string source = R"(__global__ void k(const float* x, float* y, int w) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < w)
        y[(blockIdx.y * 4 + threadIdx.y) * w + column] = x[column];
}
void run(const float* x, float* y, int w, int h) {
    k<<<dim3((w + 31) / 32, h / 4), dim3(32, 4)>>>(x, y, w);
}
)";
    EXPECT_THAT(triedBy(source), ElementsAre("64 x 4", "16 x 4", "128 x 4", "8 x 4", "256 x 4"));
    EXPECT_THAT(withBlocks(source, "64 x 4"),
                HasSubstr("k<<<dim3((w + 63) / 64, h / 4), dim3(64, 4)>>>(x, y, w);"));
}

TEST(BlockShapes, ARowOfThreadsOnAPlaneMayBecomeARectangle) {
    const std::string source = plane + R"(void run(const float* in, float* out, int w, int h) {
    dim3 block(256, 1);
    dim3 grid((w + block.x - 1) / block.x, (h + block.y - 1) / block.y);
    blur<<<grid, block>>>(in, out, w, h);
}
)";
    EXPECT_THAT(withBlocks(source, "32 x 8"), HasSubstr("dim3 block(32, 8);"));
}

TEST(BlockShapes, ARowStatedByAVariableIsChangedThere) {
    const std::string kernel = "__global__ void k(const float* x, float* y, int n) {\n    int i = "
                               "blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        "
                               "y[i] = x[i];\n}\n";
    EXPECT_THAT(appliedText(id, kernel + "void run(const float* x, float* y, int n) {\n    int "
                                         "threads = 32;\n    int blocks = (n + threads - 1) / "
                                         "threads;\n    k<<<blocks, threads>>>(x, y, n);\n}\n"),
                HasSubstr("int threads = 128;\n    int blocks = (n + threads - 1) / threads;\n    "
                          "k<<<blocks, threads>>>"));
    EXPECT_THAT(appliedText(id, "#define THREADS 32\n" + kernel +
                                    "void run(const float* x, float* y, int n) {\n    k<<<(n + "
                                    "THREADS - 1) / THREADS, THREADS>>>(x, y, n);\n}\n"),
                HasSubstr("k<<<(n + 128 - 1) / 128, 128>>>(x, y, n);"));
}

TEST(BlockShapes, AreRefusedWhereTheGridLacksAnAxisThatNeedsBlocks) {
    const std::string source = plane + R"(void run(const float* in, float* out, int w, int h) {
    blur<<<(w + 31) / 32, dim3(32, 8)>>>(in, out, w, h);
}
)";
    EXPECT_THAT(withBlocks(source, "32 x 4"), HasSubstr("does not name its blocks along an axis"));
}

TEST(BlockShapes, LaunchBoundsAreKept) {
    std::string source = plane + R"(void run(const float* in, float* out, int w, int h) {
    blur<<<dim3((w + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(in, out, w, h);
}
)";
    source.replace(source.find("void blur"), 4, "void __launch_bounds__(128)");
    EXPECT_THAT(triedBy(source), Not(Contains("32 x 8")));
    EXPECT_THAT(triedBy(source), Contains("32 x 4"));
}

class BlockShapesAreNotTried : public testing::TestWithParam<GateCase> {};

TEST_P(BlockShapesAreNotTried, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
    EXPECT_THAT(triedBy(GetParam().source), IsEmpty());
}

std::string planeWith(const std::string& work, const std::string& launch) {
    return "__global__ void k(const float* in, float* out, int w, int h) {\n    int x = blockIdx.x "
           "* blockDim.x + threadIdx.x;\n    int y = blockIdx.y * blockDim.y + threadIdx.y;\n    "
           "if "
           "(x < w && y < h)\n        " +
           work + "\n}\nvoid run(const float* in, float* out, int w, int h) {\n    " + launch +
           "\n}\n";
}

const std::string usual = "k<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(in, out, w, h);";

TEST(BlockShapes, AreNoOffersWithoutAMeasurement) {
    checkNotApplicable(id, planeWith("out[y * w + x] = in[x];", usual), "several-axes");
}

INSTANTIATE_TEST_SUITE_P(
    Gates, BlockShapesAreNotTried,
    testing::Values(
        GateCase{"Position", "compound-guard",
                 planeWith("out[y * w + x] = in[threadIdx.x * 8 + threadIdx.y];", usual)},
        GateCase{"SharedMemory", "compound-guard",
                 planeWith("{ __shared__ float t[8][32]; t[y % 8][x % 32] = in[x]; out[x] = "
                           "t[y % 8][x % 32]; }",
                           usual)},
        GateCase{"Warp", "compound-guard",
                 planeWith("out[y * w + x] = __shfl_xor_sync(~0u, in[x], 1);", usual)},
        GateCase{"UnknownBlock", "unknown-block",
                 planeWith("out[y * w + x] = in[x];", "k<<<w, dim3(w, h)>>>(in, out, w, h);")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
