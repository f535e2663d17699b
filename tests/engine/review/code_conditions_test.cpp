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
    /// The outcomes of the conditions in a run of the program's pinned launch.
    [[nodiscard]] Outcomes outcomesOf(ProgramSource source) const {
        for (const CodeCondition& condition : codeConditions(source))
            source.watched.push_back(
                {"", condition.span, condition.switched, condition.isInConstexpr});
        const KernelRef kernel{source, source.model->kernels.at(0)};
        const auto launches = inferLaunches(kernel.file(), kernel.kernel);
        EXPECT_TRUE(launches);
        auto image = executor_->build(kernel, launches->front(), {});
        EXPECT_TRUE(image) << image.error().describe();
        if (!image)
            return {};
        Job job;
        job.launch = launches->front();
        const auto result = executor_->run(**image, job, {});
        EXPECT_TRUE(result) << result.error().describe();
        return result ? result->profile.conditions : Outcomes{};
    }

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

TEST_F(CodeConditionsTest, FindsWhatStandsBehindABranchThatLeaves) {
    EXPECT_THAT(spelled(program(R"(
__global__ void k(float* y, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    for (int j = 0; j < i; ++j) {
        if (j == 3) { y[i] = 0; continue; }
        y[i] = 1;
    }
    if (i > 5) { y[i] = 6; } else return;
    if (i > 7) { if (i > 8) return; else return; }
    y[i] = 2;
    if (i > 9) return;
}
)")),
                ElementsAre("i >= n ? return; : "
                            "\n    for (int j = 0; j < i; ++j) {\n"
                            "        if (j == 3) { y[i] = 0; continue; }\n"
                            "        y[i] = 1;\n    }\n"
                            "    if (i > 5) { y[i] = 6; } else return;\n"
                            "    if (i > 7) { if (i > 8) return; else return; }\n"
                            "    y[i] = 2;\n    if (i > 9) return;",
                            "j < i ? {\n        if (j == 3) { y[i] = 0; continue; }\n"
                            "        y[i] = 1;\n    }",
                            "j == 3 ? { y[i] = 0; continue; } : \n        y[i] = 1;",
                            "i > 5 ? { y[i] = 6; } : return;",
                            "i > 7 ? { if (i > 8) return; else return; } : "
                            "\n    y[i] = 2;\n    if (i > 9) return;",
                            "i > 8 ? return; : return;", "i > 9 ? return;"));
}

TEST_F(CodeConditionsTest, FindsLabelsWithTheirCode) {
    EXPECT_THAT(spelled(program(R"(
#define LAST 9
enum class Op { Add, Take };
__global__ void k(const int* op, float* y, Op mode) {
    int i = threadIdx.x;
    switch (op[i] & 7) {
    case 1:
    case 2: y[i] = 1; break;
    case LAST ... 12: { y[i] = 2; }
    default: y[i] = 3;
    }
    switch (mode) {
    case Op::Add: y[i] += 1;
    case Op::Take: break;
    }
}
)")),
                ElementsAre("1 ?  y[i] = 1; break;\n    ", "2 ?  y[i] = 1; break;\n    ",
                            "LAST ... 12 ?  { y[i] = 2; }\n    ", "default ?  y[i] = 3;\n    }",
                            "Op::Add ?  y[i] += 1;\n    ", "Op::Take ?  break;\n    }"));
}

TEST_F(CodeConditionsTest, FindsEndsOfLoopsAndConditionsThatAreMacros) {
    EXPECT_THAT(spelled(program(R"(
#define POSITIVE(v) ((v) > 0)
__device__ constexpr float most(float a) { return a > 9 ? 9 : a; }
__global__ void k(const float* x, float* y) {
    int i = threadIdx.x;
    do { ++i; } while (x[i] > 5);
    while (POSITIVE(x[i])) ++i;
    y[i] = most(x[i]);
}
)")),
                ElementsAre("x[i] > 5", "POSITIVE(x[i]) ? ++i;", "a > 9 ? 9 : a"));
}

TEST_F(CodeConditionsTest, LeavesOutWhatTheCompilerKnowsAndMacros) {
    EXPECT_THAT(spelled(program(R"(
#define POSITIVE(v) ((v) > 0)
template <int W> __global__ void k(const float* x, float* y) {
    constexpr int lanes = W > 2 ? 4 : 1;
    __shared__ float tile[W > 2 ? 4 : 1];
    if constexpr (W == 1) y[0] = 1;
    if (W == 2) y[0] = 2;
    y[0] = POSITIVE(x[0]) ? lanes : 0;
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
    constexpr ConditionOutcomes both{true, true, true, true};
    constexpr ConditionOutcomes onlyTrue{true, true, true, false};
    constexpr ConditionOutcomes onlyFalse{true, true, false, true};
    constexpr ConditionOutcomes never{true, true, false, false};
    EXPECT_THAT(outcomesOf(source), ElementsAre(both, both, onlyTrue, onlyTrue, never, onlyFalse));
}

TEST_F(CodeConditionsTest, TellsWhichLabelsWereChosen) {
    constexpr ConditionOutcomes sometimes{true, true, true, true};
    constexpr ConditionOutcomes never{true, true, false, true};
    const ProgramSource source = program(R"(
#define LAST 9
__device__ constexpr int folded(int v) { switch (v) { case 0: return 3; case 60: return 4; } return v; }
__global__ void k(int* y) {
    int i = threadIdx.x;
    switch (i) {
    case 0:
    case 1: y[i] = 1;
    case LAST ... 12: y[i] = 2; break;
    case 64: y[i] = 3; break;
    default: y[i] = folded(i + 1);
    }
}
// kernelskill: launch k<<<1, 64>>>(y=zero[64])
)");
    EXPECT_THAT(outcomesOf(source),
                ElementsAre(sometimes, sometimes, sometimes, never, sometimes, never, sometimes));
}

} // namespace
} // namespace kernelskill::engine
