/// Tests which proofs a review counts.
#include "engine/review/proof_step.h"
#include "tests/engine/emulator_fixture.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

/// Tries to prove edits of a kernel's result, an expression of the floats `v` and `w`.
class ProofStep : public kernelskill::testing::EmulatorFixture {
protected:
    [[nodiscard]] Verdict proofOf(const std::string& before, const std::string& after) const {
        const ProgramSource original = program(kernel(before));
        const ProgramSource candidate = program(kernel(after));
        TrialPlan plan;
        Verdict verdict;
        takeProof({original, original.model->kernels.at(0)},
                  {candidate, candidate.model->kernels.at(0)}, skills::Numerics::Reassociates, plan,
                  verdict, {});
        return verdict;
    }

    static std::string kernel(const std::string& result) {
        return "__global__ void k(const float* x, const float* z, float* y, int n) {\n"
               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
               "    if (i >= n) return;\n"
               "    float v = x[i], w = z[i];\n"
               "    y[i] = " +
               result +
               ";\n}\n"
               "void run(const float* x, const float* z, float* y, int n) {\n"
               "    k<<<(n + 127) / 128, 128>>>(x, z, y, n);\n}\n";
    }
};

TEST_F(ProofStep, TakesAnotherOrderOfTheSameSum) {
    const Verdict verdict = proofOf("(v + w) + 3.0f", "v + (w + 3.0f)");
    EXPECT_EQ(verdict.confidence, Confidence::Proved);
    EXPECT_NE(verdict.proof.find("as real numbers"), std::string::npos) << verdict.proof;
}

TEST_F(ProofStep, LeavesWhatSubtractsMore) {
    const Verdict verdict = proofOf("v + 3.0f", "((v + w) + 3.0f) - w");
    EXPECT_NE(verdict.confidence, Confidence::Proved) << verdict.proof;
    EXPECT_TRUE(verdict.checks.empty());
}

TEST_F(ProofStep, LeavesWhatBringsInAConstant) {
    const Verdict verdict = proofOf("(v + 2.0f) - 2.0f", "(v + 4096.0f) - 4096.0f");
    EXPECT_NE(verdict.confidence, Confidence::Proved) << verdict.proof;
    EXPECT_TRUE(verdict.checks.empty());
}

TEST_F(ProofStep, TakesADifferenceThatTheOriginalForms) {
    const Verdict verdict = proofOf("(v + 3.0f) - w", "(v - w) + 3.0f");
    EXPECT_EQ(verdict.confidence, Confidence::Proved);
}

} // namespace
} // namespace kernelskill::engine
