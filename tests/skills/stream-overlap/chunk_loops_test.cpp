/// Loops of copies and launches over parts of some data, whose rounds are given to streams by
/// turns.
#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view id = "stream-overlap";

/// A function with pinned and device memory that works on it in a loop with `body`; the cursor is
/// at that kernel.
std::string program(const std::string& body,
                    const std::string& head = "for (int c = 0; c < 16; ++c)",
                    const std::string& kernel = "scale") {
    std::string text =
        "#include <algorithm>\n#include <cstdio>\n#include <cuda_runtime.h>\n"
        "#define CHECK(call)                        \\\n"
        "    do {                                   \\\n"
        "        if ((call) != cudaSuccess)         \\\n"
        "            printf(\"failed\\n\");           \\\n"
        "    } while (0)\n"
        "__global__ void scale(float* x, float by, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n)\n        x[i] *= by;\n}\n"
        "__global__ void scaleFrom(float* x, float by, int begin, int end) {\n"
        "    int i = begin + blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i >= end)\n        return;\n"
        "    x[i] *= by;\n}\n"
        "__global__ void spread(const float* x, float* out, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n)\n        out[i] = x[i] + x[i + 1];\n}\n"
        "__global__ void scatter(float* x, const int* to, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n)\n        x[to[i]] = i;\n}\n"
        "void run(float* pageable, float* given, cudaStream_t stream, cudaStream_t other, "
        "int n) {\n"
        "    constexpr int part = 1 << 20;\n"
        "    const int all = 16 * part;\n"
        "    float *host, *device, *result;\n    int* places;\n"
        "    cudaMallocHost(&host, all * sizeof(float));\n"
        "    cudaMalloc((void**)&device, all * sizeof(float));\n"
        "    cudaMalloc(&result, all * sizeof(float));\n"
        "    cudaMalloc(&places, all * sizeof(int));\n"
        "    " +
        head + " {\n" + body +
        "    }\n"
        "    cudaStreamSynchronize(stream);\n}\n";
    return text.insert(text.find("void " + kernel + "(") + 5, "$0");
}

const std::string in = "        cudaMemcpyAsync(device + c * part, host + c * part, part * "
                       "sizeof(float), cudaMemcpyHostToDevice, stream);\n";
const std::string work =
    "        scale<<<(part + 255) / 256, 256, 0, stream>>>(device + c * part, 2.0f, part);\n";
const std::string out = "        cudaMemcpyAsync(host + c * part, device + c * part, part * "
                        "sizeof(float), cudaMemcpyDeviceToHost, stream);\n";

std::string replaced(std::string text, const std::string& part, const std::string& by) {
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return text.replace(at, part.size(), by);
}

TEST(ChunkLoops, GiveTheirRoundsToStreamsByTurns) {
    const std::string text = appliedText(id, program(in + work + out));
    EXPECT_THAT(
        text,
        HasSubstr("    // 4 rounds at a time run side by side: none writes what another one "
                  "touches.\n"
                  "    cudaStream_t streams[4];\n"
                  "    for (int side = 0; side < 4; ++side)\n"
                  "        cudaStreamCreateWithFlags(&streams[side], cudaStreamNonBlocking);\n"
                  "    cudaEvent_t forked;\n"
                  "    cudaEventCreateWithFlags(&forked, cudaEventDisableTiming);\n"
                  "    cudaEvent_t joined;\n"
                  "    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);\n"
                  "    cudaEventRecord(forked, stream);\n"
                  "    for (int side = 0; side < 4; ++side)\n"
                  "        cudaStreamWaitEvent(streams[side], forked, 0);\n"
                  "    for (int c = 0; c < 16; ++c) {\n"));
    EXPECT_THAT(text, HasSubstr("cudaMemcpyHostToDevice, streams[c % 4]);\n"
                                "        scale<<<(part + 255) / 256, 256, 0, streams[c % 4]>>>("));
    EXPECT_THAT(text, HasSubstr("cudaMemcpyDeviceToHost, streams[c % 4]);\n"
                                "    }\n"
                                "    for (int side = 0; side < 4; ++side) {\n"
                                "        cudaEventRecord(joined, streams[side]);\n"
                                "        cudaStreamWaitEvent(stream, joined, 0);\n"
                                "    }\n"
                                "    cudaEventDestroy(forked);\n"
                                "    cudaEventDestroy(joined);\n"
                                "    for (int side = 0; side < 4; ++side)\n"
                                "        cudaStreamDestroy(streams[side]);\n"
                                "    cudaStreamSynchronize(stream);\n"));
}

TEST(ChunkLoops, FollowLocalsChecksAndTheDefaultStream) {
    const std::string text = appliedText(
        id, program("        const int at = c * part;\n"
                    "        float* slice = device + at;\n"
                    "        CHECK(cudaMemcpyAsync(slice, &host[at], part * sizeof(float), "
                    "cudaMemcpyHostToDevice));\n"
                    "        scale<<<(part + 255) / 256, 256>>>(slice, 2.0f, part);\n"
                    "        CHECK(cudaGetLastError());\n"
                    "        CHECK(cudaMemcpyAsync(&host[at], slice, part * sizeof(float), "
                    "cudaMemcpyDeviceToHost, 0));\n"));
    EXPECT_THAT(text, AllOf(HasSubstr("cudaMemcpyHostToDevice, streams[c % 4]));\n"),
                            HasSubstr("256, 0, streams[c % 4]>>>(slice"),
                            HasSubstr("cudaMemcpyDeviceToHost, streams[c % 4]));\n"),
                            HasSubstr("    CHECK(cudaEventRecord(forked, 0));\n"),
                            HasSubstr("        CHECK(cudaStreamDestroy(streams[side]));\n")));
}

TEST(ChunkLoops, MayCountByTheSizeOfAPartAndEndWithASmallerOne) {
    const std::string text = appliedText(
        id, program("        const int count = std::min(part, all - 1000 - at);\n"
                    "        cudaMemcpyAsync(device + at, host + at, count * sizeof(float), "
                    "cudaMemcpyHostToDevice, stream);\n"
                    "        scaleFrom<<<part / 256, 256, 0, stream>>>(device, 2.0f, at, "
                    "at + count);\n"
                    "        cudaMemcpyAsync(host + at, device + at, count * sizeof(float), "
                    "cudaMemcpyDeviceToHost, stream);\n",
                    "for (int at = 0; at < all - 1000; at += part)", "scaleFrom"));
    EXPECT_THAT(text, HasSubstr("256, 0, streams[at / part % 4]>>>(device"));
}

TEST(ChunkLoops, MayReadWhatIsTheSameInEachRound) {
    const std::string text = appliedText(
        id, program(in +
                        "        spread<<<part / 256, 256, 0, stream>>>(given, result + c * part, "
                        "part);\n" +
                        replaced(out, "device +", "result +"),
                    "for (int c = 0; c < 16; ++c)", "spread"));
    EXPECT_THAT(text, HasSubstr("256, 0, streams[c % 4]>>>(given"));
}

TEST(ChunkLoops, MakeStreamsOnceForLoopsInLoops) {
    const std::string text = appliedText(
        id, program("        for (int c = 0; c < 6; ++c) {\n" + in + work + out + "        }\n",
                    "for (int repeat = 0; repeat < n; ++repeat)"));
    EXPECT_THAT(text, HasSubstr("    cudaStream_t streams[4];\n"));
    EXPECT_THAT(text, HasSubstr("    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);\n"
                                "    for (int repeat = 0; repeat < n; ++repeat) {\n"
                                "        cudaEventRecord(forked, stream);\n"));
}

class ChunkLoopsAreLeftAlone : public testing::TestWithParam<GateCase> {};

TEST_P(ChunkLoopsAreLeftAlone, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, ChunkLoopsAreLeftAlone,
    testing::Values(
        GateCase{"PageableSource", "not-pinned",
                 program(replaced(in, "host +", "pageable +") + work + out)},
        GateCase{"PageableTarget", "not-pinned",
                 program(in + work + replaced(out, "host +", "pageable +"))},
        GateCase{"OneBufferForAllRounds", "rounds-overlap",
                 program(replaced(in, "device + c * part", "device") +
                         replaced(work, "device + c * part", "device") +
                         replaced(out, "device + c * part", "device"))},
        GateCase{"PartsThatOverlap", "rounds-overlap",
                 program(replaced(in, "part * sizeof", "(part + 1) * sizeof") + work + out)},
        GateCase{"KernelGoesFurther", "rounds-overlap",
                 program(in +
                         replaced(replaced(work, "part + 255", "part + 256"), "2.0f, part",
                                  "2.0f, part + 1") +
                         out)},
        GateCase{"ReadsTheNextPart", "rounds-overlap",
                 program(in +
                             "        spread<<<part / 256, 256, 0, stream>>>(device + c * part, "
                             "result + c * part, part);\n" +
                             out,
                         "for (int c = 0; c < 16; ++c)", "spread")},
        GateCase{"RoundsOfUnknownSize", "slice-unknown",
                 program(replaced(in, "part * sizeof", "n * sizeof") + work + out)},
        GateCase{"StoresAnywhere", "slice-unknown",
                 program(in + "        scatter<<<part / 256, 256, 0, stream>>>(device + c * part, "
                              "places, part);\n",
                         "for (int c = 0; c < 16; ++c)", "scatter")},
        GateCase{"PointersFromElsewhere", "may-alias",
                 program(in + "        spread<<<part / 256, 256, 0, stream>>>(given + c * part, "
                              "pageable + c * part, part);\n",
                         "for (int c = 0; c < 16; ++c)", "spread")},
        GateCase{"RoundsUnknown", "rounds-unknown",
                 program(in + work + out, "for (int c = 0; c < n; ++c)")},
        GateCase{"CountsDown", "rounds-unknown",
                 program(in + work + out, "for (int c = 15; c >= 0; --c)")},
        GateCase{"HostWork", "host-work-in-loop",
                 program(in + work + "        cudaStreamSynchronize(stream);\n" + out)},
        GateCase{"HostReads", "host-work-in-loop",
                 program(in + work + out + "        pageable[c] = host[c * part];\n")},
        GateCase{"CopyThatWaits", "host-work-in-loop",
                 program(in + work +
                         "        cudaMemcpy(host, device, 4, "
                         "cudaMemcpyDeviceToHost);\n")},
        GateCase{"OtherStream", "several-streams",
                 program(in + work + replaced(out, "stream", "other"))},
        GateCase{"NumberedStream", "stream-not-plain",
                 program(replaced(in, "stream", "cudaStreamPerThread") + work + out)},
        GateCase{"CopyOfAnyKind", "copy-direction",
                 program(replaced(in, "HostToDevice", "Default") + work + out)},
        GateCase{
            "HasStreams", "has-streams",
            program("        cudaStreamCreate(&stream);\n", "for (int i = 0; i < 1; ++i)")
                .replace(program("").rfind("    cudaStreamSynchronize") + 36, 0,
                         "    for (int c = 0; c < 16; ++c) {\n" + in + work + out + "    }\n")},
        GateCase{"Short", "too-short",
                 program("        cudaMemcpyAsync(device + c * 256, host + c * 256, 1024, "
                         "cudaMemcpyHostToDevice, stream);\n"
                         "        scale<<<1, 256, 0, stream>>>(device + c * 256, 2.0f, 256);\n"
                         "        cudaMemcpyAsync(host + c * 256, device + c * 256, 1024, "
                         "cudaMemcpyDeviceToHost, stream);\n")},
        GateCase{"CopiesOneWay", "one-takes-longest", program(in + work)}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
