#include "skills/stream-overlap/launch_load.h"
#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view id = "stream-overlap";

/// Kernels of long loops, and a host function with `host` as its body.
std::string program(const std::string& host, const std::string& head = "") {
    return "#include <cstdio>\n" + head +
           "__global__ void relax(float* x, int rounds) {\n"
           "    for (int k = 0; k < rounds; ++k)\n        x[threadIdx.x] *= 0.5f;\n}\n"
           "__global__ void sum(const float* x, float* out, int rounds) {\n"
           "    for (int k = 0; k < rounds; ++k)\n        out[threadIdx.x] += x[k];\n}\n"
           "__device__ float total[32];\n"
           "__global__ void keep(const float* x, int rounds) {\n"
           "    for (int k = 0; k < rounds; ++k)\n        total[threadIdx.x] += x[k];\n}\n"
           "__global__ void say(const float* x, int rounds) {\n"
           "    for (int k = 0; k < rounds; ++k)\n        printf(\"%f\", x[k]);\n}\n"
           "void run(float* __restrict__ a, float* __restrict__ b, const float* __restrict__ c, "
           "float* p, "
           "float* q, int rounds, int n, cudaStream_t stream, cudaStream_t other) {\n" +
           host + "}\n";
}

const std::string first = "    relax<<<4, 128>>>(a, rounds);\n";
const std::string second = "    relax<<<4, 128>>>(b, rounds);\n";

TEST(StreamOverlap, KeepsTheStreamAndSharedBytesOfLaunches) {
    const std::string text =
        appliedText(id, program("    relax<<<4, 128, 0, stream>>>(a, rounds);\n"
                                "    sum<<<4, 128, 64, stream>>>(c, b, rounds); // second\n"));
    EXPECT_THAT(text, HasSubstr("    cudaEventRecord(forked, stream);\n"
                                "    cudaStreamWaitEvent(beside, forked, 0);\n"
                                "    relax<<<4, 128, 0, stream>>>(a, rounds);\n"
                                "    sum<<<4, 128, 64, beside>>>(c, b, rounds); // second\n"
                                "    cudaEventRecord(joined, beside);\n"
                                "    cudaStreamWaitEvent(stream, joined, 0);\n"));
}

TEST(StreamOverlap, MakesStreamsOutsideOfLoops) {
    const std::string text = appliedText(
        id,
        program("    for (int step = 0; step < n; ++step) {\n        if (n > step) {\n        " +
                first + "        " + second + "        }\n    }\n"));
    EXPECT_THAT(text, HasSubstr("    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);\n"
                                "    for (int step = 0; step < n; ++step) {\n"
                                "        if (n > step) {\n"
                                "            cudaEventRecord(forked, 0);\n"));
    EXPECT_THAT(text, HasSubstr("            cudaStreamWaitEvent(0, joined, 0);\n"
                                "        }\n"
                                "    }\n"
                                "    cudaEventDestroy(forked);\n"));
}

TEST(StreamOverlap, GivesEachFurtherLaunchAStream) {
    const std::string text = appliedText(
        id,
        program("    float *e, *f;\n    cudaMalloc(&e, 512);\n    cudaMalloc((void**)&f, 512);\n" +
                first + second +
                "    relax<<<4, 128>>>(e, rounds);\n"
                "    sum<<<4, 128>>>(c + n, f, rounds);\n"
                "    relax<<<4, 128>>>(p, rounds);\n"));
    EXPECT_THAT(text, AllOf(HasSubstr("relax<<<4, 128, 0, beside1>>>(b, rounds);"),
                            HasSubstr("relax<<<4, 128, 0, beside2>>>(e, rounds);"),
                            HasSubstr("sum<<<4, 128, 0, beside3>>>(c + n, f, rounds);"),
                            HasSubstr("    relax<<<4, 128>>>(p, rounds);")));
    EXPECT_THAT(text, HasSubstr("    cudaEventRecord(joined, beside3);\n"
                                "    cudaStreamWaitEvent(0, joined, 0);\n"));
}

TEST(StreamOverlap, TakesOnlyNeighboursThatShareNothing) {
    // The second launch needs the first one's result; the third does not need the second's.
    const std::string text =
        appliedText(id, program("    relax<<<4, 128>>>(a, rounds);\n" + first + second));
    EXPECT_THAT(text, AllOf(HasSubstr("    relax<<<4, 128>>>(a, rounds);\n    // 2 launches"),
                            HasSubstr("relax<<<4, 128, 0, beside>>>(b, rounds);")));
}

TEST(StreamOverlap, ChecksErrorsAsTheFileDoes) {
    const std::string text = appliedText(
        id, program("    relax<<<4, 128>>>(a, rounds);\n    CHECK(cudaGetLastError());\n" + second +
                        "    CHECK(cudaGetLastError());\n",
                    "#define CHECK(call)                                  \\\n"
                    "    do {                                             \\\n"
                    "        if ((call) != cudaSuccess)                   \\\n"
                    "            printf(\"failed\\n\");                     \\\n"
                    "    } while (0)\n"));
    EXPECT_THAT(text, HasSubstr("    CHECK(cudaEventRecord(forked, 0));\n"));
    // The launch keeps its own check.
    EXPECT_THAT(text, HasSubstr("beside>>>(b, rounds);\n    CHECK(cudaGetLastError());\n"
                                "    CHECK(cudaEventRecord(joined, beside));"));
}

TEST(StreamOverlap, LetsChecksStandBetweenAndBehindLaunches) {
    const std::string head =
        "inline void must(cudaError_t status) { if (status) printf(\"!\"); }\n"
        "inline void told(cudaError_t status, const char* what, int line) {}\n";
    const std::string check = "    must(cudaGetLastError());\n";
    const std::string last = "    told(cudaPeekAtLastError(), \"relax\", __LINE__);\n";
    const std::string text = appliedText(id, program(first + check + second + last, head));
    EXPECT_THAT(text, HasSubstr("beside>>>(b, rounds);\n" + last + "    must(cudaEventRecord("));
    checkNotApplicable(id, program(first + "    must(cudaStreamSynchronize(0));\n" + second, head),
                       "no-neighbour");
    checkNotApplicable(id, program(first + "    rounds = cudaGetLastError();\n" + second, head),
                       "no-neighbour");
}

TEST(StreamOverlap, NamesNothingTwice) {
    const std::string text =
        appliedText(id, program("    int beside = 0, joined = n;\n" + first + second));
    EXPECT_THAT(text, AllOf(HasSubstr("cudaStream_t beside2;"), HasSubstr("cudaEvent_t joined2;")));
    EXPECT_THAT(text, Not(HasSubstr("cudaStream_t beside;")));
}

TEST(StreamOverlap, ComputesTheGainFromSizesAndTimes) {
    // Two that are alike take half of the time, if there is room for both.
    EXPECT_DOUBLE_EQ(overlapGain({{8, 0.1, 1000}, {8, 0.1, 1000}}), 2);
    EXPECT_DOUBLE_EQ(overlapGain({{8, 0.1, {}}, {8, 0.1, 5000}}), 2);
    // The longest is what is left; three that fill the GPU together have to share it.
    EXPECT_DOUBLE_EQ(overlapGain({{8, 0.1, 9000}, {8, 0.1, 3000}}), 12.0 / 9);
    EXPECT_DOUBLE_EQ(overlapGain({{99, 0.5, 1000}, {99, 0.5, 1000}, {99, 0.5, 1000}}), 2);
}

TEST(StreamOverlap, IsAboutEitherKernel) {
    checkTarget(id, program(first + "    sum<<<4, 128>>>(c, b, rounds);\n"), "relax");
    checkTarget(id,
                program(first + "    sum<<<4, 128>>>(c, b, rounds);\n")
                    .replace(program("").find("void sum"), 0, "$0"),
                "sum");
}

class StreamOverlapIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(StreamOverlapIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, StreamOverlapIsNotOffered,
    testing::Values(
        GateCase{"NoLaunch", "no-launch", program("")},
        GateCase{"Alone", "no-neighbour", program(first)},
        GateCase{"WaitBetween", "no-neighbour",
                 program(first + "    cudaDeviceSynchronize();\n" + second)},
        GateCase{"CopyBetween", "no-neighbour",
                 program(first + "    cudaMemcpy(p, q, 4, cudaMemcpyDeviceToHost);\n" + second)},
        GateCase{"OtherStream", "no-neighbour",
                 program(first + "    relax<<<4, 128, 0, stream>>>(b, rounds);\n")},
        GateCase{"TwoStreams", "no-neighbour",
                 program("    relax<<<4, 128, 0, stream>>>(a, rounds);\n"
                         "    relax<<<4, 128, 0, other>>>(b, rounds);\n")},
        GateCase{"ArgumentThatActs", "no-neighbour",
                 program(first + "    relax<<<4, 128>>>(b, rounds++);\n")},
        GateCase{"SameBuffer", "shares-memory",
                 program(first + "    relax<<<4, 128>>>(a, rounds);\n")},
        GateCase{"PartsOfABuffer", "shares-memory",
                 program(first + "    relax<<<4, 128>>>(a + n, rounds);\n")},
        GateCase{"ReadsTheResult", "shares-memory",
                 program(first + "    sum<<<4, 128>>>(a, b, rounds);\n")},
        GateCase{"PlainParameters", "may-alias",
                 program("    relax<<<4, 128>>>(p, rounds);\n    relax<<<4, 128>>>(q, rounds);\n")},
        GateCase{"OnePlainParameter", "may-alias",
                 program(first + "    relax<<<4, 128>>>(p, rounds);\n")},
        GateCase{"AnotherName", "may-alias",
                 program("    float* e = a;\n" + first + "    relax<<<4, 128>>>(e, rounds);\n")},
        GateCase{"ChosenPointer", "may-alias",
                 program(first + "    relax<<<4, 128>>>(n > 0 ? a : b, rounds);\n")},
        GateCase{
            "AllocatedOrNot", "may-alias",
            program("    float* e;\n    cudaMalloc(&e, 512);\n    if (n > 0)\n        e = a;\n" +
                    first + "    relax<<<4, 128>>>(e, rounds);\n")},
        GateCase{"DeviceVariable", "unknown-memory",
                 program(first + "    keep<<<4, 128>>>(b, rounds);\n")},
        GateCase{"Intrinsics", "too-short",
                 program("    pack<<<4, 128>>>(a);\n    pack<<<4, 128>>>(b);\n",
                         "__global__ void pack(float* x) { x[threadIdx.x] = "
                         "__uint_as_float(__brev(threadIdx.x)); }\n")},
        GateCase{"Prints", "unknown-memory", program(first + "    say<<<4, 128>>>(b, rounds);\n")},
        GateCase{"UnknownGrid", "size-unknown",
                 program(first + "    relax<<<(n + 127) / 128, 128>>>(b, rounds);\n")},
        GateCase{"FullGpu", "fills-the-gpu",
                 program(first + "    relax<<<100000, 128>>>(b, rounds);\n")},
        GateCase{"HalfAGpu", "fills-the-gpu",
                 program(first + "    relax<<<1100, 128>>>(b, rounds);\n")},
        GateCase{"Short", "too-short", program(first + "    relax<<<4, 128>>>(b, 20);\n")},
        GateCase{"ShortForEachThread", "too-short",
                 program("    rows<<<4, 128>>>(c, a, 768);\n    rows<<<4, 128>>>(c, b, 768);\n",
                         "__global__ void rows(const float* x, float* out, int n) {\n"
                         "    float total = 0;\n"
                         "    for (int k = threadIdx.x; k < n; k += blockDim.x)\n"
                         "        total += x[k];\n"
                         "    for (int s = 64; s > 0; s /= 2)\n        total += x[s];\n"
                         "    out[threadIdx.x] = total;\n}\n")},
        GateCase{"OneIsLong", "one-takes-longest",
                 program("    relax<<<4, 128>>>(a, 100000);\n    relax<<<4, 128>>>(b, 1000);\n")},
        GateCase{"HasStreams", "has-streams",
                 program("    cudaStreamCreate(&stream);\n" + first + second)},
        GateCase{"ReturnsFromALoop", "leaves-the-loop",
                 program("    for (int i = 0; i < n; ++i) {\n    " + first + "    " + second +
                         "        if (i > 5)\n            return;\n    }\n")},
        GateCase{"SharedLine", "shares-line",
                 program("    relax<<<4, 128>>>(a, rounds); relax<<<4, 128>>>(b, rounds);\n")},
        GateCase{"NumberedStream", "stream-not-plain",
                 program("    relax<<<4, 128, 0, cudaStreamPerThread>>>(a, rounds);\n"
                         "    relax<<<4, 128, 0, cudaStreamPerThread>>>(b, rounds);\n")},
        GateCase{"Macro", "launch-from-macro",
                 program("    RELAX;\n" + second, "#define RELAX relax<<<4, 128>>>(a, rounds)\n")}),
    [](const auto& info) { return info.param.name; });

TEST(StreamOverlap, AsksTheCompilerHowManyBlocksFit) {
    const std::string source = program("    relax<<<600, 128>>>(a, rounds);\n"
                                       "    relax<<<600, 128>>>(b, rounds);\n");
    EXPECT_THAT(appliedText(id, source), HasSubstr("beside"));
    // 255 registers a thread: two blocks of 128 threads on a multiprocessor.
    checkNotApplicable(id, source, "fills-the-gpu", compiledAs(255, 128));
}

} // namespace
} // namespace kernelskill::skills
