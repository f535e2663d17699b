/// The main job through the engine's front, on the real emulator and with the real skills.
#include "engine/findings/pending_compiler_facts.h"
#include "engine/workbench/workbench.h"
#include "tests/engine/workbench/workbench_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <stop_token>
#include <thread>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::sourceFile;

class WorkbenchTest : public kernelskill::testing::WorkbenchFixture {};

TEST(PendingCompilerFacts, ComeBesideTheProfileThatDidNotWait) {
    ProfileCache profiles;
    const ProfileKey key{7, 7, {}};
    const auto profile = std::make_shared<const Profile>();
    std::promise<PendingCompilerFacts::Facts> compiler;
    {
        PendingCompilerFacts late;
        late.add(key, profile, compiler.get_future(), {});
        profiles.insert(key, {profile, nullptr});
        late.settle(profiles);
        EXPECT_EQ(profiles.find(key).facts, nullptr) << "the compiler is still at work";
        const auto facts = std::make_shared<const Result<StaticFacts>>();
        compiler.set_value(facts);
        late.settle(profiles);
        EXPECT_EQ(profiles.find(key).facts, facts);
    }
    std::stop_source compiling;
    {
        PendingCompilerFacts late;
        late.add(key, profile,
                 std::async(std::launch::async,
                            [token = compiling.get_token()] {
                                while (!token.stop_requested())
                                    std::this_thread::yield();
                                return PendingCompilerFacts::Facts{};
                            }),
                 compiling);
    }
    EXPECT_TRUE(compiling.stop_requested());
}

TEST_F(WorkbenchTest, AProfileIsKeptWhenTheKernelMovesAndItsLinesMoveAlong) {
    std::string text = sourceFile("examples/transpose.cu");
    ProgramSource before = program(text);
    const auto& kernel = before.model->kernels.at(0);
    EXPECT_FALSE(workbench_->knowledge().cachedReport({before, kernel}));
    auto report = workbench_->profiler().profile({before, kernel}, {}, {});
    ASSERT_TRUE(report) << report.error().describe();
    EXPECT_EQ(report->bottleneck->kind, BottleneckKind::BankConflicts);
    ASSERT_FALSE(report->bottleneck->evidence.empty());
    auto line = report->bottleneck->evidence[0].line;
    ASSERT_TRUE(line);

    ProgramSource after = program("// moved\n\n" + text);
    auto moved = workbench_->knowledge().cachedReport({after, after.model->kernels.at(0)});
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->bottleneck->evidence.at(0).line, *line + 2);
    ProgramSource changed = program(text.replace(text.find("TILE 32"), 7, "TILE 16"));
    EXPECT_FALSE(workbench_->knowledge().cachedReport({changed, changed.model->kernels.at(0)}));
}

TEST_F(WorkbenchTest, AGuessThatTakesTooLongGivesWayToASmallerOne) {
    ProgramSource source = program("__global__ void pool(const float* in, float* out, int size) {\n"
                                   "    float sum = 0;\n"
                                   "    for (int l = 0; l < size; ++l)\n"
                                   "        for (int m = 0; m < size; ++m)\n"
                                   "            sum += in[l * size + m];\n"
                                   "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                   "    if (i < size)\n"
                                   "        out[i] = sum;\n"
                                   "}\n");
    auto report = workbench_->profiler().profile({source, source.model->kernels.at(0)}, {}, {});
    ASSERT_TRUE(report) << report.error().describe();
    EXPECT_EQ(report->profile->launch.origin, LaunchOrigin::Guessed);
}

TEST_F(WorkbenchTest, KnowsOfAKernelThatFailsThatNoRunCanCheckItsEdits) {
    const auto obstacleAfterAProfile = [&](const std::string& statement) {
        const ProgramSource source =
            program("__global__ void k(volatile int* flag, float* out, int n) {\n    " + statement +
                    "\n    out[threadIdx.x] = n;\n}\n"
                    "void run(int* f, float* o) { k<<<1, 32>>>(f, o, 1024); }\n");
        const KernelRef kernel{source, source.model->kernels.at(0)};
        EXPECT_FALSE(workbench_->knowledge().checkObstacle(kernel)) << statement;
        std::ignore = workbench_->profiler().profile(kernel, {}, {});
        return workbench_->knowledge().checkObstacle(kernel);
    };
    const auto fails = obstacleAfterAProfile("n = ((int*)nullptr)[threadIdx.x];");
    ASSERT_TRUE(fails);
    EXPECT_THAT(fails->what, ::testing::HasSubstr("null pointer"));
    EXPECT_FALSE(obstacleAfterAProfile("n = 3;"));
    EXPECT_FALSE(obstacleAfterAProfile("while (flag[0] < 300) n ^= 1;"))
        << "a smaller launch, or other data, may end";
}

TEST_F(WorkbenchTest, AGuessedNumberOfRoundsIsSmallerOnlyWhereTheKernelTakesTooLong) {
    const auto profiled = [&](const std::string& statement) {
        const ProgramSource source = program(
            "__global__ void k(float* out, const float* in, int xmax) {\n"
            "    float x = in[threadIdx.x];\n"
            "    for (int s = 0; s < xmax + 1; ++s)\n"
            "        for (int j = 0; j < 1 << 14; ++j)\n            " +
            statement +
            "\n    out[threadIdx.x] = x;\n}\n"
            "void run(float* o, const float* i, int xmax) { k<<<1, 256>>>(o, i, xmax); }\n");
        return workbench_->profiler().profile({source, source.model->kernels.at(0)}, {}, {});
    };
    const auto slow = profiled("x = 0.5f * x + in[(threadIdx.x + j) & 255];");
    ASSERT_TRUE(slow) << slow.error().describe();
    EXPECT_THAT(slow->profile->launch.notes,
                ::testing::Contains(::testing::HasSubstr("takes too long here")));
    // It fails in a round that fewer rounds do not reach.
    const auto broken = profiled("if (s == 100) x = ((float*)nullptr)[j];");
    ASSERT_FALSE(broken);
    EXPECT_THAT(broken.error().describe(), ::testing::HasSubstr("null pointer"));
}

TEST_F(WorkbenchTest, AReviewStandsAgainstOtherEditsOnlyIfTheOriginalFails) {
    const auto obstacleAfterUnrolling = [&](const std::string& start) {
        const ProgramSource source =
            program("__device__ float endless(const volatile float* x) {\n"
                    "    while (x[0] < 300) {}\n"
                    "    return 0;\n"
                    "}\n"
                    "__global__ void k(const float* x, float* y, int n) {\n"
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                    "    if (i >= n) return;\n"
                    "    float sum = " +
                    start +
                    ";\n    for (int j = 0; j < 64; ++j)\n"
                    "        sum += x[j * n + i] * x[j * n + i];\n"
                    "    y[i] = sqrtf(-1 - sum);\n}\n"
                    "void run(float* x, float* y) { k<<<16, 256>>>(x, y, 4096); }\n");
        const KernelRef kernel{source, source.model->kernels.at(0)};
        const ShortTermMemory memory(folder_.path(), folder_.path() / "k.cu");
        const Plan plan = workbench_->advisor().plan(kernel, kernel.kernel.span, memory);
        const auto unrolling =
            std::ranges::find(plan.ranked, "loop-unrolling",
                              [](const RankedSkill& ranked) { return ranked.offer.skillId; });
        if (unrolling == plan.ranked.end())
            return std::string("not offered");
        const auto edit = workbench_->advisor().apply(kernel, unrolling->offer, memory, {}, {});
        EXPECT_TRUE(edit && !edit->verdict.isAboutEdit);
        const auto obstacle = workbench_->knowledge().checkObstacle(kernel);
        return obstacle ? obstacle->what : std::string("none");
    };
    EXPECT_EQ(obstacleAfterUnrolling("0"), "none") << "all results are NaN, which the control says";
    for (const char* start : {"((float*)nullptr)[i]", "endless(x)"})
        EXPECT_THAT(obstacleAfterUnrolling(start), ::testing::StartsWith("the original runs: "))
            << start;
}

TEST_F(WorkbenchTest, TheBestSkillIsAppliedReviewedAndRemembered) {
    ProgramSource source = program(sourceFile("examples/transpose.cu"));
    const auto& kernel = source.model->kernels.at(0);
    ShortTermMemory memory(folder_.path(), folder_.path() / "transpose.cu");
    Plan plan = workbench_->advisor().plan({source, kernel}, kernel.span, memory);
    ASSERT_FALSE(plan.ranked.empty());
    EXPECT_EQ(plan.ranked[0].offer.skillId, "shared-memory-padding");
    auto edit = workbench_->advisor().apply({source, kernel}, plan.ranked[0].offer, memory, {}, {});
    ASSERT_TRUE(edit) << edit.error().describe();
    EXPECT_EQ(edit->verdict.status, VerdictStatus::Unmeasured) << edit->verdict.summary;
    EXPECT_TRUE(edit->acceptable());
    EXPECT_NE(edit->diff.find("+"), std::string::npos);
    auto contents = memory.read();
    ASSERT_TRUE(contents);
    ASSERT_EQ(contents->entries.size(), 3u);
    EXPECT_EQ(contents->entries[0].kind, EntryKind::Plan);
    EXPECT_EQ(contents->entries[1].kind, EntryKind::Edit);
    EXPECT_EQ(contents->entries[2].status, "unmeasured");
}

TEST_F(WorkbenchTest, AFailureIsRememberedAtTheNextPlanAndUnderAnotherFilesName) {
    ProgramSource source = program(sourceFile("examples/transpose.cu"));
    const auto& kernel = source.model->kernels.at(0);
    ShortTermMemory memory(folder_.path(), folder_.path() / "transpose.cu");
    const auto failedBefore = [&](const ShortTermMemory& asked) {
        const Plan plan = workbench_->advisor().plan({source, kernel}, kernel.span, asked);
        const auto padding = std::ranges::find_if(plan.ranked, [](const RankedSkill& ranked) {
            return ranked.offer.skillId == "shared-memory-padding";
        });
        return padding != plan.ranked.end() && padding->failedBefore;
    };
    EXPECT_FALSE(failedBefore(memory));
    MemoryEntry entry;
    entry.kind = EntryKind::Verdict;
    entry.time = timestamp();
    entry.kernelHash = kernel.normalisedHash;
    entry.skill = "shared-memory-padding";
    entry.option =
        workbench_->advisor().plan({source, kernel}, kernel.span, memory).ranked.at(0).offer.option;
    entry.status = "incorrect";
    ASSERT_TRUE(memory.append(entry));
    EXPECT_TRUE(failedBefore(memory));
    EXPECT_TRUE(failedBefore(ShortTermMemory(folder_.path(), folder_.path() / "renamed.cu")));
}

} // namespace
} // namespace kernelskill::engine
