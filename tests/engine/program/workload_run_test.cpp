#include "engine/program/command_words.h"
#include "engine/program/workload_run.h"
#include "tests/engine/program/program_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace kernelskill::engine::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WorkloadRun : public ::testing::Test {
protected:
    Workload workload(std::string_view command) const {
        Workload made;
        made.name = "test";
        made.command = commandWords(command);
        made.folder = folder.path();
        return made;
    }
    static Result<engine::WorkloadRun> run(const Workload& workload) {
        return runWorkload(workload, {}, {});
    }
    ProgramFolder folder;
};

TEST_F(WorkloadRun, BuildsRunsAndChecksInTheFolderWithTheVariables) {
    ::setenv("KERNELSKILL_TEST_KEPT", "kept", 1);
    auto it = workload("cat built; echo $LEVEL $KERNELSKILL_TEST_KEPT; pwd");
    it.build = commandWords("echo first > built");
    it.check = commandWords("grep -q '^7 kept$'");
    it.pattern = "^fir+st$";
    it.environment = {{"LEVEL", "7"}};
    std::vector<std::string> steps;
    std::string seen;
    const auto done = runWorkload(
        it,
        {.onStep = [&](std::string_view step, const auto&) { steps.emplace_back(step); },
         .onOutput = [&](int, std::string_view text) { seen += text; }},
        {});
    ASSERT_TRUE(done) << done.error().describe();
    EXPECT_FALSE(done->failure) << done->failure->describe();
    EXPECT_EQ(done->output, "first\n7 kept\n" + folder.path().string() + "\n");
    EXPECT_EQ(seen, done->output);
    EXPECT_THAT(steps, ElementsAre("build", "run", "check"));
    EXPECT_GT(done->run->seconds, 0);
    ::unsetenv("KERNELSKILL_TEST_KEPT");
}

TEST_F(WorkloadRun, PwdNamesTheFolder) {
    ::setenv("OLDPWD", "/usr", 1);
    std::filesystem::create_directories(folder.path() / "sub");
    auto it = workload("env");
    it.folder /= "sub";
    const auto done = run(it);
    ASSERT_TRUE(done && !done->failure);
    EXPECT_THAT("\n" + done->output, HasSubstr("\nPWD=" + it.folder.string() + "\n"));
    EXPECT_THAT(done->output, ::testing::Not(HasSubstr("OLDPWD")));
    ::unsetenv("OLDPWD");
    it.environment = {{"PWD", "/usr"}};
    EXPECT_THAT(run(it)->output, HasSubstr("PWD=/usr\n")) << "as the user says";
}

TEST_F(WorkloadRun, AFailedStepEndsTheRunAndIsNamed) {
    auto it = workload("exit 3");
    it.build = commandWords("exit 2");
    auto done = run(it);
    ASSERT_TRUE(done && done->failure);
    EXPECT_THAT(done->failure->what, HasSubstr("the build ended with status 2"));
    EXPECT_FALSE(done->run);
    it.build.clear();
    done = run(it);
    ASSERT_TRUE(done && done->failure);
    EXPECT_EQ(done->failure->what, "the run ended with status 3");
    EXPECT_EQ(done->run->status, 3);
    it.command = commandWords("kill -9 $$");
    EXPECT_THAT(run(it)->failure->what, HasSubstr("the run was ended by signal 9"));
    it.command = {"true"};
    it.check = {"false"};
    EXPECT_EQ(run(it)->failure->what, "the check ended with status 1");
}

TEST_F(WorkloadRun, ThePatternMayMatchEitherOutput) {
    auto it = workload("echo good; echo bad >&2");
    for (const char* pattern : {"^good$", "^ba"}) {
        it.pattern = pattern;
        EXPECT_FALSE(run(it)->failure);
    }
    it.pattern = "^ood";
    EXPECT_THAT(run(it)->failure->what, HasSubstr("no line of the output matches"));
    it.pattern = "(";
    EXPECT_EQ(run(it).error().kind, ErrorKind::InvalidInput);
}

TEST_F(WorkloadRun, WhatCannotBeStartedIsMissing) {
    const auto lost = run(workload("./absent"));
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().kind, ErrorKind::Missing);
    EXPECT_THAT(lost.error().describe(), HasSubstr("whether it is built"));
    EXPECT_THAT(run(workload("kernelskill-no-such-program")).error().describe(),
                HasSubstr("no such program is on the PATH"));
    auto it = workload("true");
    it.folder /= "absent";
    EXPECT_EQ(run(it).error().kind, ErrorKind::InvalidInput);
}

TEST_F(WorkloadRun, ItIsCancelledAndLimited) {
    std::stop_source source;
    const std::jthread stopper([&] {
        std::this_thread::sleep_for(100ms);
        source.request_stop();
    });
    const auto stopped = runWorkload(workload("sleep 100"), {}, source.get_token());
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::Cancelled);
    const auto late = runWorkload(workload("sleep 100"), {.time = 100ms}, {});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().kind, ErrorKind::Failed);
}

TEST_F(WorkloadRun, WhatIsBuiltCanBeRunWithoutABuild) {
    auto it = workload("true");
    it.build = {"false"};
    const auto done = runWorkload(it, {.builds = false}, {});
    ASSERT_TRUE(done);
    EXPECT_FALSE(done->failure);
    EXPECT_FALSE(done->build);
}

} // namespace
} // namespace kernelskill::engine::testing
