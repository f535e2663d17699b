// kernelskill verify, against commits and files.
#include "tests/git_repository.h"
#include "tests/lsp-server/lsp_client.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string scale =
    "__global__ void scale(const float* x, float* y, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = 2.0f * x[i];\n"
    "}\n"
    "__global__ void fill(float* z) { z[threadIdx.x] = 1.0f; }\n"
    "// kernelskill: launch scale<<<4, 64>>>(x=rand[250], y=zero[250], n=250)\n"
    "// kernelskill: launch fill<<<1, 32>>>(z=zero[32])\n";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    return text.replace(text.find(what), what.size(), by);
}

class VerifyCommand : public ::testing::Test {
protected:
    void SetUp() override {
        if (!kernelskill::testing::hasGit())
            GTEST_SKIP() << "git is not installed";
    }
    void commit() { kernelskill::testing::GitRepository(workspace.path()).commit(); }
    json runJson(std::vector<std::string> arguments, int status) {
        arguments.insert(arguments.begin(), "verify");
        arguments.emplace_back("--json");
        const CommandResult result = runKernelskill(arguments, workspace.path());
        EXPECT_EQ(result.status, status) << result.errors << result.output;
        return json::parse(result.output, nullptr, false);
    }

    TemporaryWorkspace workspace;
};

TEST_F(VerifyCommand, AFileAsItWasCommittedIsRight) {
    const std::string file = workspace.write("a.cu", scale);
    commit();
    workspace.write("a.cu", "// a comment\n" + scale);
    const json done = runJson({file}, 0);
    EXPECT_EQ(done.at("outcome"), "right");
    EXPECT_EQ(done.at("summary"), "no kernel changed");
    EXPECT_EQ(done.at("unchanged"), json({"scale", "fill"}));
    EXPECT_EQ(done.at("commit").get<std::string>().size(), 40U);
}

TEST_F(VerifyCommand, ChangedKernelsGetTheirVerdicts) {
    const std::string file = workspace.write("a.cu", scale);
    commit();
    workspace.write("a.cu",
                    replaced(replaced(scale, "2.0f * x[i]", "x[i] + x[i]"), "= 1.0f", "= 2.0f"));
    const json done = runJson({file}, 1);
    EXPECT_EQ(done.at("outcome"), "wrong");
    const json& right = done.at("kernels").at(0);
    EXPECT_EQ(right.at("name"), "scale");
    EXPECT_EQ(right.at("line"), 0);
    EXPECT_EQ(right.at("change"), "changed");
    EXPECT_EQ(right.at("differs"), json({"text"}));
    EXPECT_EQ(right.at("outcome"), "right");
    EXPECT_EQ(right.at("verdict").at("status"), "unmeasured");
    const json& wrong = done.at("kernels").at(1);
    EXPECT_EQ(wrong.at("verdict").at("status"), "incorrect");
    EXPECT_FALSE(wrong.at("diagnosis").is_null());
    EXPECT_EQ(runJson({file, "--kernel", "scale"}, 0).at("kernels").size(), 1U);
}

TEST_F(VerifyCommand, TheTerminalSaysVerdictReasonAndTime) {
    const std::string file = workspace.write("a.cu", scale);
    commit();
    workspace.write("a.cu", replaced(scale, "i < n", "i <= n"));
    const CommandResult result = runKernelskill({"verify", file}, workspace.path());
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("against HEAD ("), HasSubstr("1 kernel changed: 1 wrong (scale)"),
                      HasSubstr("scale, line 1: its text changed"), HasSubstr("wrong: "),
                      HasSubstr("cause       out-of-bounds"), HasSubstr("must hold"),
                      HasSubstr(" s)"), HasSubstr("as before: fill")));
    EXPECT_THAT(result.output, Not(HasSubstr("@@")));
}

TEST_F(VerifyCommand, AFileCanBeTheOtherVersion) {
    const std::string before = workspace.write("simple.cu", scale);
    const std::string file = workspace.write("a.cu", replaced(scale, "2.0f * x[i]", "x[i] + x[i]"));
    const json done = runJson({file, "--against", before}, 0);
    EXPECT_EQ(done.at("kernels").size(), 1U);
    EXPECT_TRUE(done.at("commit").is_null());
}

TEST_F(VerifyCommand, HeadersAreComparedAsTheCommitHasThem) {
    workspace.write("amount.h", "constexpr float amount = 2.0f;\n");
    const std::string file =
        workspace.write("a.cu", "#include \"amount.h\"\n" + replaced(scale, "2.0f", "amount"));
    commit();
    workspace.write("amount.h", "constexpr float amount = 3.0f;\n");
    const json done = runJson({file}, 1);
    ASSERT_EQ(done.at("kernels").size(), 1U);
    EXPECT_EQ(done.at("kernels").at(0).at("differs"), json({"used-code"}));
    EXPECT_THAT(done.at("diff").get<std::string>(), HasSubstr("+constexpr float amount = 3.0f;"));
}

TEST_F(VerifyCommand, WhatIsMissingIsNamed) {
    const std::string file = workspace.write("a.cu", scale);
    EXPECT_THAT(runJson({file}, 2).at("error").at("what").get<std::string>(),
                HasSubstr("in no git repository"));
    commit();
    EXPECT_THAT(runJson({file, "--against", "nope"}, 2).at("error").at("what").get<std::string>(),
                HasSubstr("no revision 'nope'"));
    EXPECT_THAT(runJson({file, "--kernel", "nope"}, 2).at("error").at("remedy").get<std::string>(),
                HasSubstr("it has scale, fill"));
    const std::string other = workspace.write("b.cu", scale);
    EXPECT_THAT(runJson({other}, 2).at("error").at("what").get<std::string>(),
                HasSubstr("'HEAD' does not have the file"));
    EXPECT_EQ(runKernelskill({"verify", file, "--against", ""}).status, 2);
}

TEST_F(VerifyCommand, TriesWhatIsRightInAProgram) {
    if (std::string_view(paths::captureLibrary).empty())
        GTEST_SKIP() << "The libraries for programs were not built";
    const std::string file = workspace.write("a.cu", scale);
    commit();
    workspace.write("a.cu", replaced(scale, "2.0f * x[i]", "x[i] + x[i]"));
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"/nowhere/program", "12"},
          {"-DN=3", "--", "/nowhere/program"}}) {
        std::vector<std::string> arguments{"verify", file, "--json", "--"};
        arguments.insert(arguments.end(), words.begin(), words.end());
        const CommandResult result = runKernelskill(arguments, workspace.path());
        EXPECT_EQ(result.status, 1) << result.errors;
        const json done = json::parse(result.output, nullptr, false);
        ASSERT_TRUE(done.is_object()) << result.errors;
        EXPECT_EQ(done.at("outcome"), "not-judged");
        const json& trial = done.at("kernels").at(0).at("inProgram");
        ASSERT_TRUE(trial.is_object()) << done.dump(1);
        EXPECT_THAT(trial.at("program"), HasSubstr("/nowhere/program"));
        EXPECT_THAT(trial.at("sentence"), HasSubstr("cannot be started"));
    }
    // A kernel that is wrong without the program is not tried in it.
    workspace.write("a.cu", replaced(scale, "2.0f * x[i]", "3.0f * x[i]"));
    const CommandResult wrong =
        runKernelskill({"verify", file, "--json", "--", "/nowhere/program"}, workspace.path());
    const json done = json::parse(wrong.output, nullptr, false);
    ASSERT_TRUE(done.is_object()) << wrong.errors;
    EXPECT_EQ(done.at("outcome"), "wrong");
    EXPECT_TRUE(done.at("kernels").at(0).at("inProgram").is_null());
}

} // namespace
} // namespace kernelskill::lsp::testing
