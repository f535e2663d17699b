#include "skills/cuda-graph-replay/replay_plan.h"
#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view id = "cuda-graph-replay";

/// Two kernels and a host function with `host` as its body.
std::string program(const std::string& host, const std::string& head = "") {
    return "#include <cstdio>\n#include <utility>\n" + head +
           "__global__ void shift(float* x, float by, int n) {\n    int i = blockIdx.x * "
           "blockDim.x "
           "+ threadIdx.x;\n    if (i < n)\n        x[i] += by;\n}\n"
           "__global__ void scale(float* x, float by, int n) {\n    int i = blockIdx.x * "
           "blockDim.x "
           "+ threadIdx.x;\n    if (i < n)\n        x[i] *= by;\n}\n"
           "void run(float* a, float* b, int n, int rounds, cudaStream_t stream) {\n    dim3 "
           "block(256), grid((n + 255) / 256);\n" +
           host + "}\n";
}

/// A hundred rounds of `body`.
std::string hundred(const std::string& body, const std::string& after = "",
                    const std::string& head = "") {
    return program("    for (int i = 0; i < 100; ++i) {\n" + body + "    }\n" + after, head);
}

const std::string one = "        shift<<<grid, block>>>(a, 1.0f, n);\n";

TEST(CudaGraphReplay, KeepsTheLoopsStreamAndItsOtherLaunches) {
    const std::string text = appliedText(
        id, hundred("        shift<<<grid, block, 0, stream>>>(a, 1.0f, n);\n"
                    "        scale<<<grid, block, 0, stream>>>(a, 0.5f, n); // both\n"));
    EXPECT_THAT(text, HasSubstr("scale<<<grid, block, 0, capturing>>>(a, 0.5f, n); // both\n"));
    EXPECT_THAT(text, HasSubstr("cudaGraphLaunch(replay, stream);\n"));
    EXPECT_THAT(text, HasSubstr("    cudaStreamSynchronize(stream);\n"));
}

TEST(CudaGraphReplay, LaunchesWhatIsLeftOver) {
    const std::string text = appliedText(
        id, program("    const int steps = 101;\n    for (int i = 0; i < steps; ++i)\n        "
                    "shift<<<grid, block>>>(a, 1.0f, n);\n"));
    EXPECT_THAT(text, HasSubstr("    for (int i = 0; i < steps / 5; ++i)\n"
                                "        cudaGraphLaunch(replay, 0);\n"
                                "    for (int i = steps / 5 * 5; i < steps; ++i)\n"
                                "        shift<<<grid, block>>>(a, 1.0f, n);\n"));
}

TEST(CudaGraphReplay, TakesAnExchangeByHand) {
    const std::string text = appliedText(
        id,
        hundred("        shift<<<grid, block>>>(a, 1.0f, n);\n        float* held = a;\n        a "
                "= b;\n        b = held;\n"));
    // An even number of rounds, after which both are back.
    EXPECT_THAT(text, HasSubstr("    for (int i = 0; i < 10; ++i) {\n"));
}

TEST(CudaGraphReplay, ChecksErrorsAsTheFileDoes) {
    const std::string text =
        appliedText(id, hundred("        shift<<<grid, block>>>(a, 1.0f, n);\n"
                                "        CHECK(cudaGetLastError());\n",
                                "    CHECK(cudaDeviceSynchronize());\n    printf(\"done\\n\");\n",
                                "#define CHECK(call)                                  \\\n"
                                "    do {                                             \\\n"
                                "        if ((call) != cudaSuccess)                   \\\n"
                                "            printf(\"failed\\n\");                     \\\n"
                                "    } while (0)\n"));
    EXPECT_THAT(text, HasSubstr("    CHECK(cudaGraphLaunch(replay, 0));\n"));
    EXPECT_THAT(text, HasSubstr("    CHECK(cudaDeviceSynchronize());\n"
                                "    CHECK(cudaGraphExecDestroy(replay));\n"));
    EXPECT_THAT(text, Not(HasSubstr("cudaStreamSynchronize")));
}

TEST(CudaGraphReplay, CountsCalls) {
    const auto cost = cheapestReplay(1000, 1, 2);
    ASSERT_TRUE(cost);
    EXPECT_EQ(cost->stepsInGraph, 20);
    EXPECT_EQ(cost->callsBefore, 1000);
    EXPECT_EQ(cost->callsAfter, 90); // 20 captured, 20 prepared, 50 replays
    // Three buffers in a ring are back after three rounds.
    EXPECT_EQ(cheapestReplay(300, 1, 3)->stepsInGraph % 3, 0);
    EXPECT_FALSE(cheapestReplay(10, 1, 1));
    EXPECT_FALSE(cheapestReplay(1000, 1, 1001));
}

TEST(CudaGraphReplay, IsAboutTheKernel) {
    checkTarget(id, hundred(one), "shift");
}

class CudaGraphReplayIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(CudaGraphReplayIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, CudaGraphReplayIsNotOffered,
    testing::Values(
        GateCase{"NoLaunch", "no-launch", program("")},
        GateCase{"Once", "not-in-a-loop", program("    shift<<<grid, block>>>(a, 1.0f, n);\n")},
        GateCase{"UnknownRounds", "rounds-unknown",
                 program("    for (int i = 0; i < rounds; ++i)\n" + one)},
        GateCase{"FewRounds", "too-few-launches",
                 program("    for (int i = 0; i < 12; ++i)\n" + one)},
        GateCase{"ArgumentOfTheRound", "step-used",
                 hundred("        shift<<<grid, block>>>(a, i, n);\n")},
        GateCase{"LoadedArgument", "argument-not-plain",
                 hundred("        shift<<<grid, block>>>(a, *b, n);\n")},
        GateCase{"GlobalArgument", "argument-not-plain",
                 hundred("        shift<<<grid, block>>>(a, step, n);\n", "", "float step;\n")},
        GateCase{"Synchronises", "host-work-in-loop",
                 hundred(one + "        cudaDeviceSynchronize();\n")},
        GateCase{"CopiesBack", "host-work-in-loop",
                 hundred(one + "        cudaMemcpy(b, a, n * sizeof(float), "
                               "cudaMemcpyDeviceToHost);\n")},
        GateCase{"CountsOn", "host-work-in-loop", hundred(one + "        n -= 1;\n")},
        GateCase{"HalfAnExchange", "host-work-in-loop",
                 hundred(one + "        float* held = a;\n        a = b;\n        b = a;\n")},
        GateCase{"SwapsNumbers", "host-work-in-loop",
                 hundred(one + "        std::swap(n, rounds);\n")},
        GateCase{"TwoStreams", "several-streams",
                 hundred(one + "        scale<<<grid, block, 0, stream>>>(a, 0.5f, n);\n")},
        GateCase{"LongKernel", "kernels-too-long",
                 hundred("        shift<<<1 << 20, 256>>>(a, 1.0f, n);\n")},
        GateCase{
            "Graph", "already-a-graph",
            hundred(one, "    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n")},
        GateCase{
            "Macro", "launch-from-macro",
            hundred("        SHIFT;\n", "", "#define SHIFT shift<<<grid, block>>>(a, 1.0f, n)\n")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
