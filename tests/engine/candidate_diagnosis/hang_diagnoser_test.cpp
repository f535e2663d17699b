#include "engine/candidate_diagnosis/hang_diagnoser.h"
#include "tests/engine/breakage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class HangDiagnoserTest : public ::testing::Test {
protected:
    /// The diagnosis of a run that was cut off on the line with `place`.
    std::string diagnosis(const std::string& text, const std::string& place) {
        const analysis::FileModel model = bench_.parsed(text);
        const auto at = static_cast<std::uint32_t>(text.find(place));
        const std::uint32_t line = model.source->lineColumn(at).line + 1;
        const Error error{ErrorKind::Failed, "cut off after 10 ms: thread (0,0,0)",
                          model.file + ":" + std::to_string(line), "remedy"};
        const Error explained = withHangDiagnosis(model, model.kernels.front(), error);
        EXPECT_THAT(explained.what, HasSubstr(error.what));
        EXPECT_EQ(explained.where, error.where);
        EXPECT_EQ(explained.remedy, error.remedy);
        return explained.what;
    }

    kernelskill::testing::RepairBench bench_;
};

TEST_F(HangDiagnoserTest, NamesWhatALoopForgetsToChange) {
    EXPECT_THAT(diagnosis("__global__ void k(int* out, int n) {\n"
                          "    int i = 0;\n"
                          "    while (i < n)\n"
                          "        out[threadIdx.x] += 1;\n"
                          "}\n",
                          "out[threadIdx.x]"),
                StartsWith("the loop on line 3 does not end: nothing in it changes "));
}

TEST_F(HangDiagnoserTest, SaysThatThereIsNoWayOut) {
    EXPECT_THAT(diagnosis("__global__ void k(int* out) {\n"
                          "    for (;;)\n"
                          "        out[0] += 1;\n"
                          "}\n",
                          "out[0]"),
                StartsWith("the loop on line 2 does not end: nothing ends it"));
}

TEST_F(HangDiagnoserTest, LooksThroughAnInnerLoopThatEnds) {
    EXPECT_THAT(diagnosis("__global__ void k(int* out, int n) {\n"
                          "    int i = 0;\n"
                          "    do {\n"
                          "        for (int j = 0; j < 4; ++j)\n"
                          "            out[j] += 1;\n"
                          "    } while (i < n);\n"
                          "}\n",
                          "out[j]"),
                StartsWith("the loop on line 3 does not end: nothing in it changes"));
}

TEST_F(HangDiagnoserTest, KnowsABreakAsAWayOut) {
    EXPECT_THAT(diagnosis("__global__ void k(const int* stop, int* out) {\n"
                          "    while (true) {\n"
                          "        out[0] += 1;\n"
                          "        if (stop[0] == 7)\n"
                          "            break;\n"
                          "    }\n"
                          "}\n",
                          "out[0]"),
                StartsWith("the loop on line 2 does not end: it waits for 'stop' to change, and "
                           "nothing else in the kernel writes it"));
}

TEST_F(HangDiagnoserTest, NamesWhoWouldWriteAFlag) {
    EXPECT_THAT(diagnosis("__global__ void k(volatile int* flag) {\n"
                          "    if (blockIdx.x == 0)\n"
                          "        while (flag[0] == 0) {\n"
                          "        }\n"
                          "    else\n"
                          "        flag[0] = 1;\n"
                          "}\n",
                          "while"),
                StartsWith("the loop on line 3 does not end: it waits for 'flag' to change; it is "
                           "written on line 6; "));
}

TEST_F(HangDiagnoserTest, SeesAFlagThatIsOnlySetBehindTheLoop) {
    EXPECT_THAT(diagnosis("__global__ void k(int* out) {\n"
                          "    __shared__ volatile int ready;\n"
                          "    if (threadIdx.x == 0)\n"
                          "        ready = 0;\n"
                          "    __syncthreads();\n"
                          "    while (ready == 0) {\n"
                          "    }\n"
                          "    ready = 1;\n"
                          "    out[threadIdx.x] = ready;\n"
                          "}\n",
                          "while"),
                HasSubstr("it waits for 'ready' to change; what writes it is on line 8, after the "
                          "loop, which no thread reaches"));
}

TEST_F(HangDiagnoserTest, SeesALockThatNobodyGivesBack) {
    const std::string what = diagnosis("__global__ void k(int* lock, int* out) {\n"
                                       "    while (atomicCAS(lock, 0, 1) != 0) {\n"
                                       "    }\n"
                                       "    out[0] += 1;\n"
                                       "}\n",
                                       "atomicCAS");
    EXPECT_THAT(what,
                HasSubstr("it waits for 'lock', which other threads hold, and nothing else in the "
                          "kernel releases it"));
}

TEST_F(HangDiagnoserTest, ClaimsNothingOfALoopThatMayEnd) {
    const std::string what = diagnosis("__global__ void k(int* out) {\n"
                                       "    int i = 1;\n"
                                       "    while (i != 0)\n"
                                       "        i = (i * 3) | 1;\n"
                                       "    out[0] = i;\n"
                                       "}\n",
                                       "i = (i");
    EXPECT_THAT(what, HasSubstr("'i != 0' never ends it"));
    EXPECT_THAT(what, Not(HasSubstr("nothing in it changes")));
}

TEST_F(HangDiagnoserTest, LeavesOtherErrorsAlone) {
    const std::string text = "__global__ void k(int* out) { for (;;) out[0] += 1; }\n";
    const analysis::FileModel model = bench_.parsed(text);
    const Error error{ErrorKind::Failed, "out of bounds", model.file + ":1", ""};
    EXPECT_EQ(withHangDiagnosis(model, model.kernels.front(), error).what, error.what);
}

} // namespace
} // namespace kernelskill::engine
