#include "engine/inputs/launch_inference.h"
#include "engine/review/code_conditions.h"
#include "tests/engine/emulator_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::ElementsAre;

class CodeConditionsTest : public kernelskill::testing::EmulatorFixture {
protected:
    static std::vector<std::string> spelled(const ProgramSource& source) {
        std::vector<std::string> texts;
        for (const CodeCondition& condition : codeConditions(source)) {
            const auto of = [&](analysis::Span span) {
                return source.text.substr(span.begin, span.size());
            };
            std::string text = of(condition.span);
            if (condition.whenTrue)
                text += " ? " + of(*condition.whenTrue);
            if (condition.whenFalse)
                text += " : " + of(*condition.whenFalse);
            texts.push_back(std::move(text));
        }
        return texts;
    }
};

TEST_F(CodeConditionsTest, FindsBranchesLoopsChoicesAndOperands) {
    EXPECT_THAT(spelled(program(R"(
__global__ void k(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i < n && x[i] > 0) y[i] = 1;
    for (int j = 0; j < i; ++j) y[i] += j;
    y[i] = x[i] < 2 ? 3 : 4;
    if (i > 5) y[i] = 6; else y[i] = 7;
}
)")),
                ElementsAre("i < n", "i < n && x[i] > 0 ? y[i] = 1;", "x[i] > 0",
                            "j < i ? y[i] += j;", "x[i] < 2 ? 3 : 4",
                            "i > 5 ? y[i] = 6; : y[i] = 7;"));
}

TEST_F(CodeConditionsTest, LeavesOutWhatTheCompilerKnowsAndMacros) {
    EXPECT_THAT(spelled(program(R"(
#define POSITIVE(v) ((v) > 0)
template <int W> __global__ void k(const float* x, float* y) {
    constexpr int lanes = W > 2 ? 4 : 1;
    __shared__ float tile[W > 2 ? 4 : 1];
    if constexpr (W == 1) y[0] = 1;
    if (W == 2) y[0] = 2;
    if (POSITIVE(x[0])) y[0] = lanes;
    tile[0] = 0;
}
void run(const float* x, float* y) { k<1><<<1, 32>>>(x, y); }
)")),
                ElementsAre());
}

TEST_F(CodeConditionsTest, AreWatchedByRuns) {
    ProgramSource source = program(R"(
__device__ float clamped(float v) { return v > 1e30f ? 1e30f : v; }
__global__ void k(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (n > 5 ||
                  i > 7))
        y[i] = clamped(x[i]);
}
// kernelskill: launch k<<<1, 64>>>(x=rand[40], y=zero[40], n=40)
)");
    for (const CodeCondition& condition : codeConditions(source))
        source.watched.push_back(condition.span);
    ASSERT_EQ(source.watched.size(), 6u);
    const KernelRef kernel{source, source.model->kernels.at(0)};
    const auto launches = inferLaunches(kernel.file(), kernel.kernel);
    ASSERT_TRUE(launches);
    auto image = executor_->build(kernel, launches->front(), {});
    ASSERT_TRUE(image) << image.error().describe();
    Job job;
    job.launch = launches->front();
    const auto result = executor_->run(**image, job, {});
    ASSERT_TRUE(result) << result.error().describe();
    constexpr ConditionOutcomes both{true, true, true, true};
    constexpr ConditionOutcomes onlyTrue{true, true, true, false};
    constexpr ConditionOutcomes onlyFalse{true, true, false, true};
    constexpr ConditionOutcomes never{true, true, false, false};
    EXPECT_THAT(result->profile.conditions,
                ElementsAre(both, both, onlyTrue, onlyTrue, never, onlyFalse));
}

} // namespace
} // namespace kernelskill::engine
