/// Hand-made changes, judged on the real emulator.
#include "engine/workbench/change_verifier.h"
#include "tests/engine/workbench/workbench_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stop_token>
#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

const std::string scale = "__global__ void scale(const float* x, float* y, int n) {\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "    if (i < n) y[i] = 2.0f * x[i];\n"
                          "}\n";
const std::string launches = "void run(const float* x, float* y) {\n"
                             "    scale<<<4, 64>>>(x, y, 250);\n"
                             "}\n";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
}

class ChangeVerifierTest : public kernelskill::testing::WorkbenchFixture {
protected:
    Result<Verification> verify(const std::string& before, const std::string& after,
                                const VerifyOptions& options = {}, std::stop_token stop = {}) {
        const ProgramSource now = program(after);
        ProgramSource old = now;
        old.text = before;
        return workbench_->verifier().verify(old, now, options, std::move(stop), {});
    }
    Verification verified(const std::string& before, const std::string& after,
                          const VerifyOptions& options = {}) {
        auto done = verify(before, after, options);
        EXPECT_TRUE(done) << done.error().describe();
        return done ? std::move(*done) : Verification{};
    }
};

TEST_F(ChangeVerifierTest, NothingIsRunWhereNothingDiffers) {
    const Verification done = verified(scale + launches, "// new\n" + scale + launches);
    EXPECT_TRUE(done.kernels.empty());
    EXPECT_EQ(done.outcome(), ChangeOutcome::Right);
    EXPECT_EQ(summaryOf(done), "no kernel changed");
}

TEST_F(ChangeVerifierTest, ARightChangeIsRight) {
    const Verification done =
        verified(scale + launches, replaced(scale, "2.0f * x[i]", "x[i] + x[i]") + launches);
    ASSERT_EQ(done.kernels.size(), 1U);
    EXPECT_EQ(done.outcome(), ChangeOutcome::Right) << summaryOf(done);
    ASSERT_TRUE(done.kernels[0].verdict);
    EXPECT_EQ(done.kernels[0].verdict->status, VerdictStatus::Unmeasured);
    EXPECT_THAT(done.diff, HasSubstr("+    if (i < n) y[i] = x[i] + x[i];"));
    EXPECT_GT(done.seconds, 0);
}

TEST_F(ChangeVerifierTest, AWrongChangeIsWrongAndSaysWhy) {
    const Verification done =
        verified(scale + launches, replaced(scale, "i < n", "i <= n") + launches);
    ASSERT_EQ(done.kernels.size(), 1U);
    EXPECT_EQ(done.outcome(), ChangeOutcome::Wrong);
    ASSERT_TRUE(done.kernels[0].diagnosis);
    EXPECT_EQ(done.kernels[0].diagnosis->cause, "out-of-bounds");
    EXPECT_EQ(summaryOf(done), "1 kernel changed: 1 wrong (scale)");
}

TEST_F(ChangeVerifierTest, RoundingIsAllowedUnlessResultsHaveToBeExact) {
    const std::string sum = "__global__ void sum(const float* x, float* y) {\n"
                            "    y[threadIdx.x] = (x[threadIdx.x] + x[threadIdx.x + 64]) +\n"
                            "                     x[threadIdx.x + 128];\n"
                            "}\n"
                            "// kernelskill: launch sum<<<1, 64>>>(x=rand[192], y=zero[64])\n";
    const std::string other =
        replaced(replaced(sum, "(x[threadIdx.x] + x[threadIdx.x + 64])", "x[threadIdx.x]"),
                 "x[threadIdx.x + 128]", "(x[threadIdx.x + 64] + x[threadIdx.x + 128])");
    EXPECT_EQ(verified(sum, other).outcome(), ChangeOutcome::Right);
    EXPECT_EQ(verified(sum, other, {"", skills::Numerics::Exact}).outcome(), ChangeOutcome::Wrong);
}

TEST_F(ChangeVerifierTest, EachChangedKernelIsJudgedByItself) {
    const std::string second = "__global__ void fill(float* z) { z[threadIdx.x] = 1.0f; }\n"
                               "// kernelskill: launch fill<<<1, 32>>>(z=zero[32])\n";
    const std::string after = replaced(scale, "2.0f * x[i]", "x[i] + x[i]") + launches +
                              replaced(second, "= 1.0f", "= 2.0f");
    const Verification done = verified(scale + launches + second, after);
    ASSERT_EQ(done.kernels.size(), 2U);
    EXPECT_EQ(summaryOf(done), "2 kernels changed: 1 right, 1 wrong (fill)");
    const Verification one = verified(scale + launches + second, after, {"scale", {}});
    ASSERT_EQ(one.kernels.size(), 1U);
    EXPECT_EQ(one.outcome(), ChangeOutcome::Right);
}

TEST_F(ChangeVerifierTest, ARenamedKernelIsComparedWithItsOldSelf) {
    const std::string after =
        replaced(replaced(scale, "void scale", "void grow"), "i < n", "i <= n") +
        replaced(launches, "scale<<<", "grow<<<");
    const Verification done = verified(scale + launches, after);
    ASSERT_EQ(done.kernels.size(), 1U);
    EXPECT_EQ(done.kernels[0].change.kind, KernelChangeKind::Renamed);
    EXPECT_EQ(done.kernels[0].outcome, ChangeOutcome::Wrong);
}

TEST_F(ChangeVerifierTest, ANewKernelIsRunForHazards) {
    const std::string pin = "// kernelskill: launch put<<<1, 64>>>(z=zero[32])\n";
    const Verification wrong =
        verified(scale, scale + "__global__ void put(int* z) { z[threadIdx.x] = 1; }\n" + pin);
    ASSERT_EQ(wrong.kernels.size(), 1U);
    EXPECT_EQ(wrong.kernels[0].outcome, ChangeOutcome::Wrong) << wrong.kernels[0].note;
    EXPECT_FALSE(wrong.kernels[0].hazards.empty());
    const Verification right =
        verified(scale, scale + "__global__ void put(int* z) { z[threadIdx.x % 32] = 1; }\n" +
                            "// kernelskill: launch put<<<1, 32>>>(z=zero[32])\n");
    ASSERT_EQ(right.kernels.size(), 1U);
    EXPECT_EQ(right.kernels[0].outcome, ChangeOutcome::Right) << right.kernels[0].note;
    EXPECT_FALSE(right.kernels[0].verdict);
}

TEST_F(ChangeVerifierTest, TwoKernelsInThePlaceOfOneAreComparedWithIt) {
    const auto kernel = [](const std::string& name, const std::string& work) {
        return "__global__ void " + name + "(const float* x, float* y, float* z) {\n" +
               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + work + "}\n";
    };
    const auto host = [](const std::string& launches) {
        return "void run(const float* x, float* y, float* z) {\n" + launches + "}\n";
    };
    const std::string first = "    y[i] = 2.0f * x[i];\n";
    const std::string second = "    z[i] = y[i] + 1.0f;\n";
    const std::string both = kernel("both", first + second);
    const auto split = [&](const std::string& rest) {
        return both + kernel("one", first) + kernel("two", rest) +
               host("    one<<<4, 64>>>(x, y, z);\n    two<<<4, 64>>>(x, y, z);\n");
    };
    const std::string before = both + host("    both<<<4, 64>>>(x, y, z);\n");
    const Verification right = verified(before, split(second));
    EXPECT_EQ(right.outcome(), ChangeOutcome::Right) << summaryOf(right);
    const Verification wrong = verified(before, split("    z[i] = y[i] + 2.0f;\n"));
    EXPECT_EQ(wrong.outcome(), ChangeOutcome::Wrong) << summaryOf(wrong);
    EXPECT_THAT(summaryOf(wrong), HasSubstr("2 wrong (one, two)"));
}

TEST_F(ChangeVerifierTest, HostCodeThatAsksForOtherWorkIsNamed) {
    const Verification done =
        verified(scale + launches,
                 scale + replaced(launches, "}\n", "    scale<<<4, 64>>>(x, y, 250);\n}\n"));
    ASSERT_TRUE(done.host);
    EXPECT_NE(done.outcome(), ChangeOutcome::Right);
}

TEST_F(ChangeVerifierTest, HostCodeThatPassesOtherDataIsNamed) {
    const Verification done =
        verified(scale + launches, scale + replaced(launches, "(x, y, 250)", "(x, y + 1, 250)"));
    ASSERT_TRUE(done.host);
    EXPECT_EQ(done.host->outcome, ChangeOutcome::Wrong);
    EXPECT_THAT(done.host->detail, HasSubstr("scale("));
    EXPECT_EQ(done.outcome(), ChangeOutcome::Wrong);
}

TEST_F(ChangeVerifierTest, WhatDoesNotCompileIsWrong) {
    const Verification inKernel =
        verified(scale + launches, replaced(scale, "2.0f * x[i]", "2.0f * z[i]") + launches);
    ASSERT_EQ(inKernel.kernels.size(), 1U);
    EXPECT_EQ(inKernel.kernels[0].outcome, ChangeOutcome::Wrong);
    const Verification inHost =
        verified(scale + launches, scale + replaced(launches, "250", "count"));
    EXPECT_EQ(inHost.outcome(), ChangeOutcome::Wrong);
    ASSERT_TRUE(inHost.host);
    EXPECT_THAT(inHost.host->detail, HasSubstr("does not compile"));
    const Verification lost =
        verified(scale + launches,
                 replaced(scale, "__global__ void scale(", "__global__ void (") + launches);
    EXPECT_EQ(lost.outcome(), ChangeOutcome::Wrong);
}

TEST_F(ChangeVerifierTest, AHeadersOldTextCounts) {
    const auto header = folder_.path() / "amount.h";
    std::ofstream(header) << "constexpr float amount = 3.0f;\n";
    const std::string text =
        "#include \"" + header.string() + "\"\n" + replaced(scale, "2.0f", "amount") + launches;
    const ProgramSource now = program(text);
    ProgramSource old = now;
    old.unsaved[header.string()] = "constexpr float amount = 2.0f;\n";
    const auto done = workbench_->verifier().verify(old, now, {}, {}, {});
    ASSERT_TRUE(done) << done.error().describe();
    ASSERT_EQ(done->kernels.size(), 1U);
    EXPECT_TRUE(done->kernels[0].change.isUsedCodeChanged);
    EXPECT_EQ(done->outcome(), ChangeOutcome::Wrong);
}

TEST_F(ChangeVerifierTest, WhatCannotBeJudgedIsAnError) {
    const auto unknown = verify(scale + launches, scale + launches, {"nothing", {}});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().kind, ErrorKind::InvalidInput);
    EXPECT_THAT(unknown.error().remedy, HasSubstr("scale"));
    std::stop_source stop;
    stop.request_stop();
    const auto cancelled =
        verify(scale + launches, replaced(scale, "2.0f", "3.0f") + launches, {}, stop.get_token());
    ASSERT_FALSE(cancelled);
    EXPECT_EQ(cancelled.error().kind, ErrorKind::Cancelled);
    ProgramSource now = program(scale + launches);
    now.isTrusted = false;
    EXPECT_FALSE(workbench_->verifier().verify(now, now, {}, {}, {}));
}

} // namespace
} // namespace kernelskill::engine
