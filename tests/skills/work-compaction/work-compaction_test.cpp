#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "work-compaction";

/// A kernel of `body`, whose thread in the grid is `i`, launched with blocks of 128 threads.
std::string
kernel(const std::string& body, const std::string& block = "128",
       const std::string& number = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n") {
    return "__device__ int changed(int* p);\n"
           "__global__ void k(const int* marks, const int* ends, float* x, float* y, int n) {\n" +
           number + body +
           "}\nvoid run(int* m, int* e, float* x, float* y, int n, dim3 b) { k<<<n / 128, " +
           block + ">>>(m, e, x, y, n); }\n";
}

const std::string loop = "        for (int at = ends[i]; at < ends[i + 1]; ++at)\n"
                         "            y[i] += x[at]; // all\n";

std::string branch(const std::string& condition = "i < n && marks[i]",
                   const std::string& ahead = "", const std::string& work = loop) {
    return kernel(ahead + "    if (" + condition + ") {\n" + work + "    }\n");
}

TEST(WorkCompaction, PutsABranchOnAList) {
    checkApplicable(
        id, branch(),
        kernel(
            R"(    // Threads with work put their numbers on a list; the first threads of the block do it.
    __shared__ int waiting[128];
    __shared__ unsigned waitingCount;
    if (threadIdx.x == 0)
        waitingCount = 0;
    __syncthreads();
    if (i < n && marks[i])
        waiting[atomicAdd(&waitingCount, 1u)] = i;
    __syncthreads();
    if (threadIdx.x < waitingCount) {
        const int i = waiting[threadIdx.x];
)" + loop + "    }\n"));
}

TEST(WorkCompaction, TakesABranchWithoutBrackets) {
    const std::string text =
        appliedText(id, kernel("    if (marks[i] > 0)\n        for (int at = 0; at < n; ++at)\n"
                               "            y[i] += x[at]; // all\n"));
    EXPECT_TRUE(text.contains("    if (threadIdx.x < waitingCount) {\n"
                              "        const int i = waiting[threadIdx.x];\n"
                              "        for (int at = 0; at < n; ++at)\n"
                              "            y[i] += x[at]; // all\n    }\n}\n"))
        << text;
}

TEST(WorkCompaction, TakesEarlyReturns) {
    const std::string text = appliedText(
        id, kernel("    if (i >= n)\n        return;\n    if (marks[i] == 0 || x[i] < 0) {\n"
                   "        return;\n    }\n    float sum = 0;\n"
                   "    for (int at = ends[i]; at < ends[i + 1]; ++at)\n        sum += x[at];\n"
                   "    y[i] = sum;\n",
                   "128", "    unsigned i = threadIdx.x + 4 * blockDim.x * blockIdx.x;\n"));
    EXPECT_TRUE(text.contains(R"(
    __shared__ unsigned int waiting[128];
    __shared__ unsigned waitingCount;
    if (threadIdx.x == 0)
        waitingCount = 0;
    __syncthreads();
    if (i < n && !(marks[i] == 0) && !(x[i] < 0))
        waiting[atomicAdd(&waitingCount, 1u)] = i;
    __syncthreads();
    if (threadIdx.x >= waitingCount)
        return;
    i = waiting[threadIdx.x];
    float sum = 0;
)")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

TEST(WorkCompaction, HasAListForTheLargestBlockWhereOnlyItsAxesAreKnown) {
    const std::string text =
        appliedText(id, kernel("    if (marks[i]) {\n" + loop + "    }\n", "n / 8"));
    EXPECT_TRUE(text.contains("__shared__ int waiting[1024];")) << text;
}

TEST(WorkCompaction, KeepsWhatTheThreadsOfABlockHaveInCommon) {
    const std::string text = appliedText(id, branch("marks[i]", "    int begin = blockIdx.x * n;\n",
                                                    "        for (int at = begin; at < n; ++at)\n"
                                                    "            y[i] += x[at] + blockIdx.x;\n"));
    EXPECT_TRUE(text.contains("for (int at = begin; at < n; ++at)\n")) << text;
}

TEST(WorkCompaction, TakesAReturnAtTheEnd) {
    const std::string text =
        appliedText(id, kernel("    if (marks[i]) {\n" + loop + "    }\n    return;\n"));
    EXPECT_TRUE(text.contains("    }\n    return;\n}\n")) << text;
}

TEST(WorkCompaction, IsExactAndAboutTheBranch) {
    EXPECT_EQ(offeredNumerics(id, readSource("skills/work-compaction/before.cu")), Numerics::Exact);
    checkTarget(id, branch("marks[i]"), "if (marks[i]) {\n" + loop + "    }");
}

class WorkCompactionIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(WorkCompactionIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, WorkCompactionIsNotOffered,
    testing::Values(
        GateCase{"NoBranch", "no-rare-work", kernel("    y[i] = marks[i];\n")},
        GateCase{"WorkBehind", "no-rare-work",
                 kernel("    if (marks[i]) {\n" + loop + "    }\n    y[i] = 0;\n")},
        GateCase{"Else", "no-rare-work",
                 kernel("    if (marks[i]) {\n" + loop + "    } else\n        y[i] = 0;\n")},
        GateCase{"EarlierReturn", "no-rare-work",
                 branch("marks[i]", "    if (i >= n)\n        return;\n    y[i] = 0;\n")},
        GateCase{"Bounds", "not-data-dependent", branch("i < n")},
        GateCase{"NoLoop", "little-work", branch("marks[i]", "", "        y[i] = x[i];\n")},
        GateCase{"Effect", "condition-has-effect", branch("changed(0) + marks[i]")},
        GateCase{"ThreadInWork", "uses-thread-value",
                 branch("marks[i]", "", loop + "        y[i] += threadIdx.x;\n")},
        GateCase{
            "ValueOfThread", "uses-thread-value",
            branch("marks[i]", "    int mark = marks[i];\n", loop + "        y[i] += mark;\n")},
        GateCase{"SetByAThread", "uses-thread-value",
                 branch("marks[i]",
                        "    int from = 0;\n    if (threadIdx.x == 3)\n        from = 1;\n",
                        loop + "        y[i] += from;\n")},
        GateCase{"OuterVariable", "uses-thread-value",
                 branch("marks[i]", "    int found = 0;\n", loop + "        found = 1;\n")},
        GateCase{"ChangedParameter", "uses-thread-value",
                 branch("marks[i]", "    n -= i;\n", loop + "        y[i] += n;\n")},
        GateCase{"NoNumber", "thread-number",
                 kernel("    if (marks[i]) {\n" + loop + "    }\n", "128",
                        "    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;\n")},
        GateCase{"ConstNumber", "thread-number",
                 kernel("    if (!marks[i])\n        return;\n" + loop, "128",
                        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n")},
        GateCase{"Barrier", "barrier", branch("marks[i]", "    __syncthreads();\n")},
        GateCase{"Shared", "shared-memory", branch("marks[i]", "    __shared__ int s[4];\n")},
        GateCase{"Block", "unknown-block", kernel("    if (marks[i]) {\n" + loop + "    }\n", "b")},
        GateCase{"TwoAxes", "unknown-block",
                 kernel("    if (marks[i]) {\n" + loop + "    }\n", "dim3(32, 4)")}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
