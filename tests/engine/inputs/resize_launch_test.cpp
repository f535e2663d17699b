#include "engine/inputs/launch_sizes.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

constexpr std::string_view guarded = "__global__ void k(float* x, int n) { int i = blockIdx.x * "
                                     "blockDim.x + threadIdx.x; if (i < n) x[i] = 1; }\n"
                                     "int main() { const int n = 1 << 12; const int threads = 128; "
                                     "float* x; cudaMalloc(&x, n * sizeof(float));\n"
                                     "k<<<(n + threads - 1) / threads, threads>>>(x, n); }\n";

std::optional<LaunchSpec> resized(const std::string& text, double scale, bool odd) {
    const auto model = parsedProgram(text);
    const auto launches = inferLaunches(model, model.kernels.at(0));
    auto found = resizeLaunch(model, model.kernels.at(0), launches.value().front(), scale, odd);
    return found ? std::optional(std::move(found->launch)) : std::nullopt;
}

TEST(ResizeLaunch, gridScalarsAndBuffersFollowTheSize) {
    const auto launch = resized(std::string(guarded), 0.5, true);
    ASSERT_TRUE(launch);
    EXPECT_EQ(scalarNamed(*launch, "n")->integer, 2047);
    EXPECT_EQ(launch->grid.x, 16u);
    EXPECT_EQ(launch->block.x, 128u);
    EXPECT_EQ(bufferNamed(*launch, "x")->elements, 2047u);
}

TEST(ResizeLaunch, aPinnedSizeIsResizedToo) {
    const auto launch = resized(
        std::string(guarded) + "// kernelskill: launch k<<<(n+63)/64, 64>>>(n=1000, x=rand[n])\n",
        2, false);
    ASSERT_TRUE(launch);
    EXPECT_EQ(scalarNamed(*launch, "n")->integer, 2000);
    EXPECT_EQ(launch->grid.x, 32u);
    EXPECT_EQ(bufferNamed(*launch, "x")->elements, 2000u);
}

TEST(ResizeLaunch, aGridThatDropsTheRestGetsASizeWithoutOne) {
    std::string text(guarded);
    text.replace(text.find("(n + threads - 1) / threads"), 27, "n / threads");
    const auto launch = resized(text, 0.5, true);
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->grid.x, 15u) << "an odd number of blocks";
    EXPECT_EQ(scalarNamed(*launch, "n")->integer, 15 * 128);
    EXPECT_EQ(bufferNamed(*launch, "x")->elements, 15u * 128);
}

TEST(ResizeLaunch, aGridThatDropsTheRestOfAProductGetsFactorsWithoutOne) {
    std::string text(guarded);
    text.replace(text.find("n = 1 << 12"), 11, "width = 96, height = 64, n = width * height");
    text.replace(text.find("(n + threads - 1) / threads"), 27, "n / threads");
    const auto launch = resized(text, 0.6, true);
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->grid.x * 128, scalarNamed(*launch, "n")->integer);
    EXPECT_NE(launch->grid.x, 48u);
}

TEST(ResizeLaunch, aGridInLiteralsKeepsSizesThatItCovers) {
    std::string text(guarded);
    text.replace(text.find("n = 1 << 12"), 11, "n = 1000, blocks = 8");
    text.replace(text.find("(n + threads - 1) / threads"), 27, "blocks");
    const auto model = parsedProgram(text);
    const auto launches = inferLaunches(model, model.kernels.at(0));
    const LaunchSizes sizes(model, model.kernels.at(0), launches.value().front());
    EXPECT_TRUE(sizes.with({{"n", 999}}, true));
    EXPECT_FALSE(sizes.with({{"n", 1026}}, true));
}

TEST(ResizeLaunch, anEditedLaunchFollowsToTheSameExtents) {
    const auto before = parsedProgram(std::string(guarded));
    std::string text(guarded);
    text.replace(text.find("(n + threads - 1) / threads"), 27, "n / 4 / threads");
    const auto after = parsedProgram(text);
    const auto launchOf = [](const analysis::FileModel& model) {
        return inferLaunches(model, model.kernels.at(0)).value().front();
    };
    const auto resized = resizeLaunch(before, before.kernels.at(0), launchOf(before), 0.5, true);
    ASSERT_TRUE(resized);
    const auto followed = launchAt(after, after.kernels.at(0), launchOf(after), resized->extents);
    ASSERT_TRUE(followed);
    EXPECT_EQ(scalarNamed(*followed, "n")->integer, scalarNamed(resized->launch, "n")->integer);
    EXPECT_EQ(followed->grid.x, 3u);
}

TEST(ResizeLaunch, aKernelWithoutGuardKeepsWholeBlocks) {
    const std::string text =
        "__global__ void k(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }\n"
        "int main() { int n = 4096; k<<<n / 64, 64>>>(0); }\n";
    EXPECT_FALSE(resized(text, 1, true));
    const auto launch = resized(text, 0.5, false);
    ASSERT_TRUE(launch);
    EXPECT_EQ(launch->grid.x, 32u);
}

TEST(ResizeLaunch, aSizeThatIsCompiledIntoTheKernelStays) {
    EXPECT_FALSE(resized("#define N 4096\n__global__ void k(float* x) { int i = blockIdx.x * "
                         "blockDim.x + threadIdx.x; if (i < N) x[i] = 1; }\n"
                         "int main() { k<<<N / 64, 64>>>(0); }\n",
                         0.5, false));
}

} // namespace
} // namespace kernelskill::engine
