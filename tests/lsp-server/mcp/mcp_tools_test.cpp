// The tools for coding agents: what they answer, what they refuse, and what they write.
#include "tests/git_repository.h"
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/mcp/mcp_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class McpTools : public McpFixture {};

TEST_F(McpTools, ReadingNeedsNoTrust) {
    const std::string tiled = workspace.write("t.cu", transpose);
    const json check = call("check", {{"file", tiled}});
    EXPECT_EQ(check.at("structuredContent").at("kernels").at(0).at("name"), "transpose");
    EXPECT_THAT(textOf(check), AllOf(HasSubstr("kernel transpose, line 2"),
                                     HasSubstr("bottleneck: bank-conflicts")));
    const json plan = call("plan", {{"file", tiled}, {"kernel", "transpose"}});
    EXPECT_EQ(plan.at("structuredContent").at("skills").at(0).at("id"), "shared-memory-padding");
    EXPECT_THAT(textOf(plan), HasSubstr("skill shared-memory-padding"));
    const json nest = call("nest", {{"file", tiled}, {"line", 4}});
    EXPECT_EQ(nest.at("structuredContent").at("kernel"), "transpose");
    EXPECT_THAT(textOf(nest), HasSubstr("tile["));
    const json memory = call("memory", {{"file", tiled}});
    EXPECT_TRUE(memory.at("structuredContent").at("entries").empty());
    EXPECT_FALSE(std::filesystem::exists(workspace.path(".kernelskill")));
}

TEST_F(McpTools, NothingRunsInAFolderThatIsNotTrusted) {
    for (const auto& [tool, arguments] : std::vector<std::pair<std::string, json>>{
             {"profile", {{"file", file}}},
             {"try_edit", {{"file", file}, {"text", scale}}},
             {"verify", {{"file", file}}},
             {"apply_skill", {{"file", file}, {"skill", "x"}}},
             {"optimize", {{"file", file}}}}) {
        const json result = call(tool, arguments);
        EXPECT_EQ(result.at("isError"), true) << tool;
        EXPECT_THAT(textOf(result), HasSubstr("kernelskill trust " + workspace.path())) << tool;
    }
    trust(); // Is seen at once.
    EXPECT_EQ(call("profile", {{"file", file}}).at("isError"), false);
}

TEST_F(McpTools, AProfileHasItsNumbers) {
    trust();
    json params = callOf("profile", {{"file", file}, {"kernel", "scale"}});
    params["_meta"]["progressToken"] = 7;
    const json result = client->call("tools/call", params, toolTime).at("result");
    const json& profile = result.at("structuredContent");
    EXPECT_EQ(profile.at("kernel"), "scale");
    EXPECT_EQ(profile.at("executor"), "emulator");
    EXPECT_FALSE(profile.at("metrics").empty());
    EXPECT_THAT(textOf(result), AllOf(HasSubstr("bottleneck: "), HasSubstr("(l1tex__")));
    double last = -1;
    while (const auto progress = client->waitFor(
               [](const json& message) {
                   return message.value("method", "") == "notifications/progress";
               },
               Milliseconds(200))) {
        EXPECT_EQ(progress->at("params").at("progressToken"), 7);
        EXPECT_GT(progress->at("params").at("progress").get<double>(), last);
        last = progress->at("params").at("progress").get<double>();
    }
    EXPECT_GE(last, 0) << "no progress was told";
}

TEST_F(McpTools, ARightEditIsRightAndWrittenNowhere) {
    trust();
    const json result =
        call("try_edit", {{"file", file}, {"text", replaced(scale, "2.0f * x[i]", "x[i] + x[i]")}});
    const json& found = result.at("structuredContent");
    EXPECT_EQ(found.at("outcome"), "right") << textOf(result);
    EXPECT_EQ(found.at("kernels").at(0).at("verdict").at("status"), "unmeasured");
    EXPECT_THAT(found.at("diff").get<std::string>(),
                HasSubstr("+    if (i < n) y[i] = x[i] + x[i];"));
    EXPECT_THAT(textOf(result),
                AllOf(HasSubstr("right: against a.cu as it is"), HasSubstr("pass ")));
    EXPECT_EQ(readBack(), scale);
}

TEST_F(McpTools, AWrongEditIsAnsweredWithCauseAndPlace) {
    trust();
    const json result = call("try_edit", {{"file", file},
                                          {"diff", "--- a/a.cu\n+++ b/a.cu\n@@ -99,1 +99,1 @@\n"
                                                   "-    if (i < n) y[i] = 2.0f * x[i];\n"
                                                   "+    if (i <= n) y[i] = 2.0f * x[i];\n"}});
    EXPECT_EQ(result.at("isError"), false) << "the tool did its work";
    const json& found = result.at("structuredContent");
    EXPECT_EQ(found.at("outcome"), "wrong");
    EXPECT_EQ(found.at("kernels").at(0).at("diagnosis").at("cause"), "out-of-bounds");
    EXPECT_THAT(textOf(result),
                AllOf(HasSubstr("wrong: against a.cu"), HasSubstr("FAIL "), HasSubstr("cause: "),
                      HasSubstr("line 3"), HasSubstr("must hold: "), HasSubstr("may help")));
    EXPECT_EQ(readBack(), scale);
}

TEST_F(McpTools, CodeThatDoesNotCompileSaysWhere) {
    trust();
    const json result =
        call("try_edit", {{"file", file}, {"text", replaced(scale, "2.0f * x[i]", "2.0f * z[i]")}});
    EXPECT_EQ(result.at("structuredContent").at("outcome"), "wrong");
    EXPECT_THAT(textOf(result), HasSubstr("undeclared identifier 'z'"));
}

TEST_F(McpTools, ADiffMayChangeHeadersThatTheFileReads) {
    workspace.write("amount.h", "constexpr float amount = 2.0f;\n");
    const std::string with =
        workspace.write("b.cu", "#include \"amount.h\"\n" + replaced(scale, "2.0f", "amount"));
    trust();
    const std::string change = "@@ -1 +1 @@\n-constexpr float amount = 2.0f;\n"
                               "+constexpr float amount = 3.0f;\n";
    const json result =
        call("try_edit", {{"file", with}, {"diff", "--- a/amount.h\n+++ b/amount.h\n" + change}});
    EXPECT_EQ(result.at("structuredContent").at("outcome"), "wrong") << textOf(result);
    const json other =
        call("try_edit", {{"file", with}, {"diff", "--- a/other.h\n+++ b/other.h\n" + change}});
    EXPECT_EQ(other.at("isError"), true);
    EXPECT_THAT(textOf(other), AllOf(HasSubstr("other.h"), HasSubstr("amount.h")));
}

TEST_F(McpTools, AnEditThatCannotBeReadIsAnError) {
    trust();
    for (const json& arguments :
         {json{{"file", file}}, json{{"file", file}, {"text", scale}, {"diff", "@@"}},
          json{{"file", file}, {"diff", "hello"}},
          json{{"file", file}, {"diff", "@@ -1 +1 @@\n-nothing\n+something\n"}}})
        EXPECT_EQ(call("try_edit", arguments).at("isError"), true) << arguments;
}

TEST_F(McpTools, VerifyComparesWithGit) {
    if (!kernelskill::testing::hasGit())
        GTEST_SKIP() << "git is not installed";
    trust();
    EXPECT_THAT(textOf(call("verify", {{"file", file}})), HasSubstr("in no git repository"));
    kernelskill::testing::GitRepository(workspace.path()).commit();
    workspace.write("a.cu", replaced(scale, "2.0f", "3.0f"));
    const json result = call("verify", {{"file", file}});
    EXPECT_EQ(result.at("structuredContent").at("outcome"), "wrong");
    EXPECT_THAT(textOf(result), HasSubstr("against HEAD ("));
    workspace.write("old.cu", scale);
    EXPECT_EQ(call("verify", {{"file", file}, {"against", "old.cu"}})
                  .at("structuredContent")
                  .at("outcome"),
              "wrong");
}

TEST_F(McpTools, ASkillIsAppliedAndWrittenOnlyWhereAsked) {
    const std::string tiled = workspace.write("t.cu", transpose);
    trust();
    json arguments{{"file", tiled}, {"skill", "shared-memory-padding"}};
    const json shown = call("apply_skill", arguments);
    EXPECT_EQ(shown.at("structuredContent").at("acceptable"), true) << textOf(shown);
    EXPECT_EQ(shown.at("structuredContent").at("written"), false);
    EXPECT_THAT(textOf(shown), AllOf(HasSubstr("+    __shared__ float tile[TILE][TILE + 1];"),
                                     HasSubstr("verdict: "), Not(HasSubstr("written"))));
    EXPECT_THAT(textOf(call("check", {{"file", tiled}})), HasSubstr("bank-conflicts"));
    arguments["write"] = true;
    EXPECT_EQ(call("apply_skill", arguments).at("structuredContent").at("written"), true);
    EXPECT_THAT(textOf(call("check", {{"file", tiled}})), Not(HasSubstr("bank-conflicts")));
    EXPECT_THAT(textOf(call("memory", {{"file", tiled}})), HasSubstr("shared-memory-padding"));
    const json none = call("apply_skill", {{"file", tiled}, {"skill", "no-such-skill"}});
    EXPECT_EQ(none.at("isError"), true);
}

TEST_F(McpTools, OptimizeFindsAnEditAndWritesItWhereAsked) {
    const std::string tiled = workspace.write("t.cu", transpose);
    trust();
    const json found = call("optimize", {{"file", tiled}, {"rounds", 1}, {"write", true}});
    EXPECT_EQ(found.at("structuredContent").at("kernel"), "transpose");
    EXPECT_EQ(found.at("structuredContent").at("written"), true) << textOf(found);
    EXPECT_THAT(textOf(found), HasSubstr("round 1: "));
}

} // namespace
} // namespace kernelskill::lsp::testing
