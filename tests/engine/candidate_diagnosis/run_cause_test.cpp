/// Tests the causes that follow from executors' messages about a run's end. Tests of the emulator
/// and of the HangDiagnoser cover the emulator's own messages.
#include "engine/candidate_diagnosis/run_cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::string causeOf(std::string what, std::string remedy = "") {
    auto model = std::make_shared<analysis::FileModel>();
    model->kernels.emplace_back().qualifiedName = "k";
    const KernelVersion text{{"a.cu", "", {}, {}, model}, "k"};
    const auto found =
        runCause(text, {.stage = ReviewStage::Run,
                        .trial = TrialPlace{.label = "n=7", .launch = {}},
                        .error = Error{ErrorKind::Failed, what, "", std::move(remedy)}});
    EXPECT_THAT(found.evidence, Contains(HasSubstr(what)));
    EXPECT_THAT(found.evidence, Contains("seen at n=7"));
    EXPECT_FALSE(found.invariant.empty());
    return found.cause;
}

TEST(RunCause, IsReadFromTheEnd) {
    EXPECT_EQ(causeOf("deadlock in block (0,0,0): 16 threads wait"), "barrier-divergence");
    EXPECT_EQ(causeOf("cut off after 3000 ms: thread 0"), "does-not-end");
    EXPECT_EQ(causeOf("out of bounds: thread 3 reads 4 bytes"), "out-of-bounds");
    EXPECT_EQ(causeOf("cannot launch the kernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"),
              "launch-resources");
    EXPECT_EQ(causeOf("the GPU does not give a block 300000 bytes of dynamic shared memory"),
              "launch-resources");
    EXPECT_EQ(causeOf("thread 0 needs more than 64 KiB of local memory"), "local-memory");
    EXPECT_EQ(causeOf("assertion failed: n > 0"), "assertion");
    EXPECT_EQ(causeOf("thread 0 divided an integer by zero"), "crash");
}

} // namespace
} // namespace kernelskill::engine
