// kernelskill program, against the real executable.
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramCommand : public ::testing::Test {
protected:
    ProgramCommand() { ::setenv("XDG_STATE_HOME", state.path().c_str(), 1); }
    ~ProgramCommand() override { ::unsetenv("XDG_STATE_HOME"); }

    [[nodiscard]] CommandResult run(const std::vector<std::string>& arguments) const {
        std::vector<std::string> words{"program"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        return runKernelskill(words, workspace.path());
    }
    /// Two programs: the makefile's, and one of the settings.
    void writeTwo() const {
        workspace.write("Makefile", "run:\n\t@/bin/echo made\n");
        workspace.write(".kernelskill/programs.json",
                        R"({"own": {"command": "echo mine", "build": "echo built",
                                    "pattern": "^mine"}})");
    }
    TemporaryWorkspace workspace;
    TemporaryWorkspace state;
};

TEST_F(ProgramCommand, DetectListsAndRunsNothing) {
    const std::string marker = workspace.path("marker");
    workspace.write("Makefile",
                    "X := $(shell touch " + marker + ")\nrun:\n\ttouch " + marker + "\n");
    const auto found = run({"detect"});
    EXPECT_EQ(found.status, 0);
    EXPECT_THAT(found.output, AllOf(HasSubstr("touch " + marker), HasSubstr("Makefile:2")));
    EXPECT_FALSE(std::filesystem::exists(marker));
    const json document = json::parse(run({"detect", "--json"}).output, nullptr, false);
    EXPECT_EQ(document.at("programs").at(0).at("command"), json({"touch", marker}));
    EXPECT_EQ(document.at("picked"), "");
}

TEST_F(ProgramCommand, NothingFoundIsStatusOneAndNoProgramIsMissing) {
    workspace.write(".kernelskill/x", "");
    EXPECT_EQ(run({"detect"}).status, 1);
    const auto shown = run({"show"});
    EXPECT_EQ(shown.status, 3);
    EXPECT_THAT(shown.errors, AllOf(HasSubstr("no program is known here"), HasSubstr("remedy:")));
    EXPECT_EQ(run({}).status, 2);
    EXPECT_EQ(run({"run", "--name", ""}).status, 2);
}

TEST_F(ProgramCommand, OneOfSeveralIsPickedOnce) {
    writeTwo();
    const auto unsure = run({"run"});
    EXPECT_EQ(unsure.status, 2);
    EXPECT_THAT(unsure.errors, HasSubstr("kernelskill program pick NAME"));
    EXPECT_EQ(run({"pick", "nobody"}).status, 2);
    EXPECT_EQ(run({"pick", "own"}).status, 0);
    EXPECT_THAT(run({"show"}).output, AllOf(HasSubstr("echo mine"), HasSubstr("(picked)")));
    const auto ran = run({"run"});
    EXPECT_EQ(ran.status, 0) << ran.errors;
    EXPECT_EQ(ran.output, "built\nmine\n");
    EXPECT_THAT(ran.errors, AllOf(HasSubstr("run: echo mine"), HasSubstr("own passed: build ")));
    EXPECT_EQ(run({"run", "--name", "run"}).output, "made\n");
}

TEST_F(ProgramCommand, JsonHasTheStepsAndNothingElseOnStandardOutput) {
    writeTwo();
    const auto ran = run({"run", "--name", "own", "--json"});
    const json document = json::parse(ran.output, nullptr, false);
    EXPECT_EQ(document.at("passed"), true);
    EXPECT_EQ(document.at("build").at("status"), 0);
    EXPECT_GT(document.at("run").at("seconds"), 0);
    EXPECT_TRUE(document.at("check").is_null());
    EXPECT_THAT(ran.errors, HasSubstr("mine"));
    EXPECT_TRUE(json::parse(run({"run", "--name", "own", "--no-build", "--json"}).output)
                    .at("build")
                    .is_null());
}

TEST_F(ProgramCommand, AFailureIsStatusOneAndNamed) {
    workspace.write("Makefile", "run:\n\tfalse\n");
    const auto ran = run({"run", "--json"});
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(json::parse(ran.output).at("failure").at("what"), "the run ended with status 1");
}

TEST_F(ProgramCommand, ProgramsOfAnotherUserAreNotRun) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "only root can give a folder to another user";
    writeTwo();
    const uid_t another = 12345;
    ASSERT_EQ(::chown(workspace.path().c_str(), another, another), 0);
    const auto found = run({"detect"});
    EXPECT_THAT(found.output, AllOf(HasSubstr("/bin/echo made"), Not(HasSubstr("echo mine"))));
    EXPECT_THAT(found.errors, HasSubstr("belongs to another user"));
    const auto ran = run({"run", "--name", "run"});
    EXPECT_EQ(ran.status, 3);
    EXPECT_EQ(ran.output, "");
    EXPECT_THAT(ran.errors, HasSubstr("kernelskill trust " + workspace.path()));
    ASSERT_EQ(runKernelskill({"trust", workspace.path()}).status, 0);
    EXPECT_EQ(run({"run", "--name", "own"}).status, 0);
}

} // namespace
} // namespace kernelskill::lsp::testing
