#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <spdlog/fmt/fmt.h>

#include <string>
#include <vector>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "warp-scan";

/// Steps of `s[i]` with these distances.
std::string steps(const std::vector<int>& distances) {
    std::string text;
    for (const int distance : distances)
        text += fmt::format("    before = s[i - {}]; __syncthreads();\n"
                            "    s[i] += before; __syncthreads();\n",
                            distance);
    return text;
}

/// A function that scans a block's values, and a kernel that calls it.
struct Program {
    std::string zeros = "    s[i] = 0;\n";
    std::string move = "    i += blockDim.x;\n";
    std::string scan = steps({1, 2, 4, 8, 16, 32, 64});
    std::string guard = {};
    std::string launch = "void run(int* x, int n) { place<<<n, 128>>>(x, n); }\n";

    [[nodiscard]] std::string text() const {
        return "__device__ int before(int value, int* s) {\n    int i = threadIdx.x;\n" + zeros +
               "    __syncthreads();\n" + move +
               "    int before;\n    s[i] = value; __syncthreads();\n" + scan +
               "    return s[i] - value;\n}\n"
               "__global__ void place(int* x, int n) {\n    __shared__ int s[2 * 128];\n" +
               guard +
               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "    x[i] = before(x[i], s);\n}\n" +
               launch;
    }
};

Subject atKernel(const std::string& text) {
    std::string marked = text;
    marked.insert(marked.find("place(int*"), "$0");
    return parseSubject(marked);
}

std::string gateOf(const Program& program) {
    const Subject subject = atKernel(program.text());
    const auto offer = skillNamed(id).prepare(subject.context());
    return offer ? "" : offer.error().gate;
}

TEST(UnrolledScan, BecomesShufflesInTheFunctionThatHasIt) {
    const Subject subject = atKernel(Program{}.text());
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->numerics, Numerics::Exact);
    EXPECT_EQ(offer->kernelName, "place");
    const auto edits = skillNamed(id).apply(subject.context(), *offer);
    ASSERT_TRUE(edits);
    const auto text = analysis::applyEdits(subject.file.source->text(), edits->begin()->second);
    ASSERT_TRUE(text);
    EXPECT_TRUE(text->contains(R"(
    int before;
    s[i] = value; __syncthreads();
    // Each warp scans its values in registers, then adds the sums of the warps before.
    __shared__ int warpSums[4];
    int sum = s[i];
    for (int offset = 1; offset < 32; offset *= 2) {
        before = __shfl_up_sync(0xffffffff, sum, offset);
        if (threadIdx.x % 32 >= offset)
            sum += before;
    }
    if (threadIdx.x % 32 == 31)
        warpSums[threadIdx.x / 32] = sum;
    __syncthreads();
    #pragma unroll
    for (unsigned warp = 0; warp < 3; ++warp)
        if (warp < threadIdx.x / 32)
            sum += warpSums[warp];
    s[i] = sum;
    __syncthreads();
    return s[i] - value;
)")) << *text;
    EXPECT_TRUE(parseSubject(*text).file.diagnostics.empty()) << *text;
}

TEST(UnrolledScan, FollowsATemplateArgumentToTheZeros) {
    const std::string text = R"(
template <class T, int threads>
__device__ T scan(const T value, volatile T* s) {
    int i = threadIdx.x;
    s[i] = 0.0f;
    i += threads;
    T t;
    s[i] = value;
    __syncthreads();
    t = s[i - 1]; __syncthreads();
    s[i] += t; __syncthreads();
    t = s[i - 2]; __syncthreads();
    s[i] += t; __syncthreads();
    t = s[i - 4]; __syncthreads();
    s[i] += t; __syncthreads();
    t = s[i - 8]; __syncthreads();
    s[i] += t; __syncthreads();
    t = s[i - 16]; __syncthreads();
    s[i] += t; __syncthreads();
    if (threads > 32) {
        t = s[i - 32]; __syncthreads();
        s[i] += t; __syncthreads();
    }
    if (threads > 64) {
        t = s[i - 64]; __syncthreads();
        s[i] += t; __syncthreads();
    }
    return s[i - 1];
}
template <class T, int block>
__global__ void $0sums(T* x) {
    __shared__ T s[2 * block];
    x[threadIdx.x] = scan<T, block>(x[threadIdx.x], s);
}
void run(float* x) { sums<float, )";
    const auto gateFor = [&](const std::string& argument, const std::string& block) {
        const Subject subject = parseSubject(text + argument + "><<<1, " + block + ">>>(x); }\n");
        const auto offer = skillNamed(id).prepare(subject.context());
        return offer ? "" : offer.error().gate;
    };
    EXPECT_EQ(gateFor("128", "128"), "");
    EXPECT_EQ(gateFor("128", "64"), "extent-not-block");
    EXPECT_EQ(gateFor("256", "256"), "short-scan");
    const std::string after = appliedText(id, text + "128><<<1, 128>>>(x); }\n");
    EXPECT_TRUE(after.contains("    T sum = s[i];\n")) << after;
    EXPECT_FALSE(after.contains("threads > 64")) << after;
    EXPECT_EQ(offeredNumerics(id, text + "128><<<1, 128>>>(x); }\n"), Numerics::Reassociates);
}

TEST(UnrolledScan, NeedsBlocksOfWholeWarpsThatTheStepsSpan) {
    const auto launched = [](const std::string& block) {
        return Program{.launch =
                           "void run(int* x, int n) { place<<<n, " + block + ">>>(x, n); }\n"};
    };
    EXPECT_EQ(gateOf(launched("64")), "");
    EXPECT_EQ(gateOf(launched("48")), "partial-warps");
    EXPECT_EQ(gateOf(launched("256")), "short-scan");
    EXPECT_EQ(gateOf(launched("dim3(32, 4)")), "two-dimensional");
}

TEST(UnrolledScan, IsTriedWhereTheFileDoesNotTellTheBlocks) {
    const Program program{.launch = ""};
    EXPECT_EQ(gateOf(program), "no-launch");
    const Subject subject = atKernel(program.text());
    EXPECT_EQ(skillNamed(id).alternatives(subject.context()).size(), 1u);
}

TEST(UnrolledScan, NeedsZerosInFrontOfTheElements) {
    const std::string none = "no-loop";
    EXPECT_EQ(gateOf({.zeros = ""}), none);
    EXPECT_EQ(gateOf({.zeros = "    s[i] = 1;\n"}), none);
    EXPECT_EQ(gateOf({.zeros = "    if (i > 3)\n        s[i] = 0;\n"}), none);
    EXPECT_EQ(gateOf({.zeros = "    s[i] = 0;\n    s[3] = value;\n"}), none);
    EXPECT_EQ(gateOf({.move = ""}), none);
    EXPECT_EQ(gateOf({.move = "    i += 2 * blockDim.x;\n"}), none);
    EXPECT_EQ(gateOf({.move = "    i += blockDim.x;\n    i -= 1;\n"}), none);
    EXPECT_EQ(gateOf({.move = "    i += 128;\n"}), "");
    EXPECT_EQ(gateOf({.move = "    i += 64;\n"}), "extent-not-block");
}

TEST(UnrolledScan, NeedsEachStepToDoubleTheDistance) {
    EXPECT_EQ(gateOf({.scan = steps({1, 2, 4})}), "short-scan");
    EXPECT_EQ(gateOf({.scan = steps({1, 2, 4, 16, 32, 64})}), "short-scan");
    EXPECT_EQ(gateOf({.scan = steps({2, 4, 8, 16, 32, 64})}), "no-loop");
    EXPECT_EQ(gateOf({.scan = "    before = s[i - 1];\n    s[i] += before; __syncthreads();\n" +
                              steps({2, 4, 8, 16, 32, 64})}),
              "no-loop");
}

TEST(UnrolledScan, NeedsEveryThread) {
    EXPECT_EQ(gateOf({.guard = "    if (threadIdx.x > n)\n        return;\n"}), "early-return");
}

} // namespace
} // namespace kernelskill::skills
