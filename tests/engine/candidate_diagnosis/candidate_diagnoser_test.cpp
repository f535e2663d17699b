/// Edits that break a kernel in one way each, reviewed on the real emulator: the cause that is
/// named has to be the way in which they were broken.
#include "engine/candidate_diagnosis/candidate_diagnoser.h"
#include "engine/review/edited_program.h"
#include "engine/review/reviewer.h"
#include "tests/engine/emulator_fixture.h"
#include "tests/test_seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::replaced;
using ::testing::Contains;
using ::testing::HasSubstr;

/// Rows are summed in shared memory; what a block leaves is one value.
const std::string rowSums = R"(#define THREADS 128
__global__ void rowSums(float* out, const float* in, int columns) {
    __shared__ float part[THREADS];
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += THREADS)
        sum += in[blockIdx.x * columns + c];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int left = THREADS / 2; left > 0; left /= 2) {
        if (threadIdx.x < left)
            part[threadIdx.x] += part[threadIdx.x + left];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}
void run(float* out, const float* in) { rowSums<<<16, THREADS>>>(out, in, 200); }
)";

const std::string add = R"(__global__ void add(float* out, const float* x, const float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] * y[i] * 1.1f + 1.0f;
}
void run(float* out, const float* x, const float* y) {
    int n = 1024;
    add<<<(n + 127) / 128, 128>>>(out, x, y, n);
}
)";

class CandidateDiagnoserTest : public kernelskill::testing::EmulatorFixture {
protected:
    [[nodiscard]] KernelVersion versionOf(const std::string& text) const {
        ProgramSource source = program(text);
        auto kernel = source.model->kernels.front().qualifiedName;
        return {std::move(source), std::move(kernel)};
    }
    /// The version with `text` and one place changed.
    [[nodiscard]] CandidateDiagnosis
    diagnose(const std::string& text, std::string_view from, std::string_view to,
             skills::Numerics numerics = skills::Numerics::Exact) const {
        const KernelVersion before = versionOf(text);
        const KernelVersion after = versionOf(replaced(text, from, to));
        const auto begin = static_cast<std::uint32_t>(text.find(from));
        const analysis::EditSet edits{
            {before.program.file,
             {{{begin, begin + static_cast<std::uint32_t>(from.size())}, std::string(to)}}}};
        const Reviewer reviewer(executor_.get(), bench_.toolchain);
        ReviewOptions options;
        options.seed = testSeed();
        const auto verdict = reviewer.review(before.ref(), edits, numerics, {}, {}, options);
        EXPECT_TRUE(verdict) << verdict.error().describe();
        if (!verdict)
            return {};
        const auto found = diagnoseCandidate({before, after, *verdict, numerics, Standing{}},
                                             bench_.toolchain, {});
        EXPECT_TRUE(found) << verdict->summary;
        return found.value_or(CandidateDiagnosis{});
    }
};

TEST_F(CandidateDiagnoserTest, ARemovedBarrierIsNamedAndPutBack) {
    const auto found = diagnose(rowSums, "        __syncthreads();\n    }", "    }");
    EXPECT_EQ(found.cause, "missing-barrier");
    EXPECT_THAT(found.invariant, HasSubstr("barrier"));
    EXPECT_THAT(found.repair, HasSubstr("insert '__syncthreads();'"));
    EXPECT_THAT(found.evidence, Contains(HasSubstr("race on line")));
}

TEST_F(CandidateDiagnoserTest, ASuspicionIsTheCauseWhereTheResultIsWrong) {
    const auto found = diagnose(replaced(rowSums, "#define THREADS 128", "#define THREADS 64"),
                                "        __syncthreads();\n    }", "    }");
    EXPECT_EQ(found.cause, "missing-barrier") << "lanes of one warp, which may run in lock-step";
    EXPECT_THAT(found.invariant, HasSubstr("__syncwarp()"));
    EXPECT_THAT(found.evidence, Contains(HasSubstr("out[0] is")));
}

TEST_F(CandidateDiagnoserTest, WhatWholeVectorsLeaveIsTheTail) {
    const auto found = diagnose(add, "if (i < n)", "if (i < n / 4 * 4)");
    EXPECT_EQ(found.cause, "tail");
    EXPECT_THAT(found.sentence, HasSubstr("'out' are not written"));
    EXPECT_THAT(found.invariant, HasSubstr("whatever the size"));
    EXPECT_THAT(found.evidence, Contains(HasSubstr("out[")));
    EXPECT_THAT(found.evidence, Contains(HasSubstr("it agreed on")));
}

TEST_F(CandidateDiagnoserTest, AnElementTooFarIsOutOfBounds) {
    const auto found = diagnose(add, "if (i < n)", "if (i <= n)");
    EXPECT_EQ(found.cause, "out-of-bounds");
    EXPECT_THAT(found.invariant, HasSubstr("stays within its buffer"));
    EXPECT_FALSE(found.repair.empty());
}

TEST_F(CandidateDiagnoserTest, AnotherValueIsNoTail) {
    const auto found = diagnose(add, "+ 1.0f", "+ 1.5f");
    EXPECT_EQ(found.cause, "wrong-value");
    EXPECT_THAT(found.sentence, HasSubstr("1024 of 1024 elements of 'out'"));
    EXPECT_THAT(found.evidence, Contains(HasSubstr("out[0] is")));
}

TEST_F(CandidateDiagnoserTest, AnotherOrderOfASumIsRoundingUnlessItWasPromised) {
    const auto found = diagnose(add, "x[i] * y[i] * 1.1f", "x[i] * (y[i] * 1.1f)");
    EXPECT_EQ(found.cause, "rounding");
    EXPECT_THAT(found.invariant, HasSubstr("keeps the order"));
}

TEST_F(CandidateDiagnoserTest, AMistakeOfSyntaxHasTheRepairersFix) {
    const auto found = diagnose(add, "+ 1.0f;", "+ 1.0f");
    EXPECT_EQ(found.cause, "missing-semicolon");
    EXPECT_THAT(found.repair, HasSubstr("';'"));
    EXPECT_THAT(found.evidence, Contains(HasSubstr("line ")));
}

TEST_F(CandidateDiagnoserTest, AnEditThatIsNotToBlameHasNoCause) {
    const KernelVersion text = versionOf(add);
    Verdict verdict;
    verdict.isAboutEdit = false;
    EXPECT_FALSE(diagnoseCandidate({text, text, verdict, {}, Standing{}}, bench_.toolchain, {}));
    verdict.isAboutEdit = true;
    EXPECT_FALSE(diagnoseCandidate({text, text, verdict, {}, Standing{}}, bench_.toolchain, {}))
        << "a remembered verdict shows nothing";
}

TEST_F(CandidateDiagnoserTest, AHazardThatAnotherToolFoundHasNoCauseHere) {
    const KernelVersion text = versionOf(add);
    Verdict verdict;
    verdict.status = VerdictStatus::Incorrect;
    verdict.failure = std::make_shared<const ReviewFailure>(ReviewFailure{
        .stage = ReviewStage::Hazards, .trial = TrialPlace{.label = "n=1024", .launch = {}}});
    EXPECT_FALSE(diagnoseCandidate({text, text, verdict, {}, Standing{}}, bench_.toolchain, {}));
}

} // namespace
} // namespace kernelskill::engine
