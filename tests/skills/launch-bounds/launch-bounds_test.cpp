#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view id = "launch-bounds";

/// A kernel with this head, launched as the host code says.
std::string launched(const std::string& host, const std::string& head = "__global__ void k") {
    return head +
           "(float* x) {\n    x[blockIdx.x * blockDim.x + threadIdx.x] *= 2.0f;\n}\nvoid "
           "run(float* "
           "x, int m) {\n" +
           host + "}\n";
}

const std::string once = "    k<<<m, 256>>>(x);\n";
/// 72 registers and 256 threads: 3 blocks on sm_90; 64 registers: 4.
const CompiledKernel crowded = compiledAs(72, 256);

TEST(LaunchBounds, BoundsTheBlockThatIsLaunched) {
    checkApplicable(id, launched(once),
                    launched(once, "__global__ void __launch_bounds__(256, 4) k"), crowded);
}

TEST(LaunchBounds, BoundsTheLargestOfSeveralBlocks) {
    const std::string host = "    k<<<m, 128>>>(x);\n    dim3 block(16, 16);\n    k<<<m, "
                             "block>>>(x);\n";
    EXPECT_TRUE(appliedText(id, launched(host), compiledAs(72, 128))
                    .contains("void __launch_bounds__(256, 4) k(float* x)"));
}

TEST(LaunchBounds, TakesATemplateAndABlockFromAMacro) {
    const std::string text =
        appliedText(id,
                    "#define THREADS 256\ntemplate <typename T>\nstatic __global__ void\nk(T* x) "
                    "{ x[threadIdx.x] *= 2; }\nvoid run(float* x, int m) { k<float><<<m, "
                    "THREADS>>>(x); }\n",
                    crowded);
    EXPECT_TRUE(text.contains("void\n__launch_bounds__(256, 4) k(T* x)")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty());
}

TEST(LaunchBounds, KeepsParametersInLineBelowEachOther) {
    const std::string body = " {\n    x[threadIdx.x] *= y[threadIdx.x];\n}\n"
                             "void run(float* x, float* y) { k<<<1, 256>>>(x, y); }\n";
    checkApplicable(id,
                    "__global__ void k(float* x,\n"
                    "                  const float* y)" +
                        body,
                    "__global__ void __launch_bounds__(256, 4) k(float* x,\n"
                    "                                            const float* y)" +
                        body,
                    crowded);
}

TEST(LaunchBounds, BreaksALineThatWouldBeWiderThanTheFile) {
    const std::string body = " {\n    x[threadIdx.x] *= y[threadIdx.x];\n}\n"
                             "void run(float* x, float* y) { scale<<<1, 256>>>(x, y, 1); }\n";
    checkApplicable(id,
                    "__global__ void scale(float* __restrict__ x, const float* __restrict__ y,\n"
                    "                      int times)" +
                        body,
                    "__global__ void __launch_bounds__(256, 4)\n"
                    "    scale(float* __restrict__ x, const float* __restrict__ y,\n"
                    "          int times)" +
                        body,
                    crowded);
}

TEST(LaunchBounds, SaysWhatItFollowsFrom) {
    Subject subject = parseSubject(launched(once));
    subject.compiled = crowded;
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->why, "72 registers a thread leave room for 3 blocks of 256 threads on sm_90, "
                          "38 % of its warps; with 64 there is room for 4, 50 %");
    EXPECT_EQ(offer->option, 4);
    ASSERT_TRUE(offer->gain);
    EXPECT_DOUBLE_EQ(offer->gain->factor, 4.0 / 3);
    EXPECT_EQ(offer->numerics, Numerics::Exact);
    EXPECT_TRUE(skillNamed(id).alternatives(subject.context()).empty()); // 48 of 72 are too few
}

TEST(LaunchBounds, HasFurtherBlocksForASearch) {
    Subject subject = parseSubject(launched("    k<<<m, 64>>>(x);\n"));
    subject.compiled = compiledAs(72, 64);
    std::vector<int> blocks;
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->option, 16);
    for (const Offer& other : skillNamed(id).alternatives(subject.context()))
        blocks.push_back(other.option);
    EXPECT_THAT(blocks, ElementsAre(18));
}

TEST(LaunchBounds, MakesRoomForABlockThatCannotBeLaunched) {
    const std::string host = "    k<<<m, 1024>>>(x);\n";
    // Spills are better than no launch.
    const CompiledKernel unlaunchable = compiledAs(72, 1024, 0, 8);
    checkApplicable(id, launched(host), launched(host, "__global__ void __launch_bounds__(1024) k"),
                    unlaunchable);
    Subject subject = parseSubject(launched(host));
    subject.compiled = unlaunchable;
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->why, "72 registers for each of 1024 threads are more than a multiprocessor of "
                          "sm_90 has, and the launch fails; with 64 there is room for a block");
    EXPECT_FALSE(offer->gain) << "of a kernel that did not run";
    EXPECT_TRUE(skillNamed(id).alternatives(subject.context()).empty());
}

class LaunchBoundsIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(LaunchBoundsIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate, GetParam().compiled);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, LaunchBoundsIsNotOffered,
    testing::Values(
        GateCase{"NobodyAsked", "needs-compiled-facts", launched(once)},
        GateCase{"HasOne", "has-bounds", launched(once, "__global__ void __launch_bounds__(256) k"),
                 crowded},
        GateCase{"HasOneInAMacro", "unusual-head",
                 "#define BOUND __launch_bounds__(256, 1)\n" +
                     launched(once, "__global__ void BOUND k"),
                 crowded},
        GateCase{"UnusualHead", "unusual-head",
                 "#define KERNEL __global__ void\n" + launched(once, "KERNEL k"), crowded},
        GateCase{"NoLaunch", "no-launch", launched(""), crowded},
        GateCase{"UnknownBlock", "unknown-block", launched(once + "    k<<<1, m>>>(x);\n"),
                 crowded},
        GateCase{"FunctionPointer", "kernel-named-elsewhere",
                 launched(once) + "void (*pointer)(float*) = k;\n", crowded},
        GateCase{"FromMacro", "launch-from-macro",
                 "#define LAUNCH(n) k<<<n, 256>>>(x)\n" + launched("    LAUNCH(m);\n"), crowded},
        GateCase{"Spills", "spills-already", launched(once), compiledAs(72, 256, 0, 64)},
        GateCase{"EnoughWarps", "enough-warps", launched(once), compiledAs(40, 256)},
        GateCase{"SharedMemory", "registers-do-not-limit", launched(once),
                 compiledAs(72, 256, 60'000)},
        GateCase{"TooFar", "would-spill", launched(once), compiledAs(64, 256)}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
