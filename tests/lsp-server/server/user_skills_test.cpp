// Skills of the user's, from the file to the edit.
#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

constexpr Milliseconds reviewTime{60000};

const std::string skill = "---\n"
                          "name: halve\n"
                          "description: Halves by a product. Use where divisions are slow.\n"
                          "title: Halve by a product\n"
                          "numerics: exact\n"
                          "metavariables:\n"
                          "  x: expression of float\n"
                          "---\n"
                          "A division takes longer.\n"
                          "```cuda before\n"
                          "$x / 2.0f\n"
                          "```\n"
                          "```cuda after\n"
                          "$x * 0.5f\n"
                          "```\n";

const std::string kernel = "// kernelskill: launch halve<<<16, 256>>>(a=rand[4096], n=4096)\n"
                           "__global__ void halve(float* a, int n) {\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    if (i < n)\n"
                           "        a[i] = (a[i] + 1.0f) / 2.0f;\n"
                           "}\n";

class UserSkills : public ::testing::Test {
protected:
    UserSkills() {
        // Not the configuration of the user who runs the test.
        ::setenv("XDG_CONFIG_HOME", workspace.path("config").c_str(), 1);
        client.emplace();
    }
    ~UserSkills() override { ::unsetenv("XDG_CONFIG_HOME"); }

    void start(bool isTrusted) {
        client->initialize({{"capabilities", editorCapabilities()},
                            {"rootUri", workspace.uri()},
                            {"initializationOptions", {{"trusted", isTrusted}}}});
        client->open(uri, kernel);
    }
    /// Null where it is not offered.
    [[nodiscard]] json action() {
        const json actions =
            client
                ->call("textDocument/codeAction",
                       {{"textDocument", {{"uri", uri}}},
                        {"range", pointRange(placeOf(kernel, "/ 2.0f"))},
                        {"context",
                         {{"diagnostics", json::array()}, {"only", {"refactor.rewrite.halve"}}}}})
                .at("result");
        return actions.empty() ? json() : actions.at(0);
    }

    TemporaryWorkspace workspace;
    std::string file = ".kernelskill/skills/halve/SKILL.md";
    std::string uri = workspace.uri("halve.cu");
    std::optional<LspClient> client;
};

TEST_F(UserSkills, AreCodeActionsWhoseEditsAreReviewed) {
    workspace.write(file, skill);
    start(true);
    const json offered = action();
    ASSERT_FALSE(offered.is_null());
    EXPECT_EQ(offered.at("title"), "Apply skill: Halve by a product");
    const json resolved = client->call("codeAction/resolve", offered, reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    const json& edits = resolved.at("result").at("edit").at("documentChanges").at(0).at("edits");
    ASSERT_EQ(edits.size(), 1u);
    EXPECT_EQ(edits.at(0).at("newText"), "(a[i] + 1.0f) * 0.5f");
    const json memory = client->call("kernelskill/memory", {{"textDocument", {{"uri", uri}}}});
    EXPECT_THAT(memory.dump(), HasSubstr("unmeasured"));
}

TEST_F(UserSkills, ThatAreWrongAreNotApplied) {
    std::string wrong = skill;
    wrong.replace(wrong.find("0.5f"), 4, "0.4f");
    workspace.write(file, wrong);
    start(true);
    const json resolved = client->call("codeAction/resolve", action(), reviewTime);
    ASSERT_TRUE(resolved.contains("error")) << resolved;
    EXPECT_THAT(resolved.at("error").at("message").get<std::string>(), HasSubstr("incorrect"));
}

TEST_F(UserSkills, OfAWorkspaceThatIsNotTrustedAreNotRead) {
    workspace.write(file, skill);
    start(false);
    EXPECT_TRUE(action().is_null());
}

TEST_F(UserSkills, OfTheUserAreThereInAnyWorkspace) {
    workspace.write("config/kernelskill/skills/halve/SKILL.md", skill);
    start(false);
    EXPECT_FALSE(action().is_null());
}

TEST_F(UserSkills, AreReadAgainWhenTheyChange) {
    std::string broken = skill;
    broken.replace(broken.find("$x * "), 5, "$y * ");
    workspace.write(file, broken);
    start(true);
    const std::string message = client->notification("window/showMessage").dump();
    EXPECT_THAT(message, HasSubstr("halve/SKILL.md:14"));
    EXPECT_THAT(message, HasSubstr("'$y' is not declared"));
    EXPECT_TRUE(action().is_null());
    workspace.write(file, skill);
    client->notify("workspace/didChangeWatchedFiles",
                   {{"changes", {{{"uri", workspace.uri(file)}, {"type", 2}}}}});
    EXPECT_FALSE(action().is_null());
}

TEST(SkillsCommand, MakesASkillThatIsListed) {
    const TemporaryWorkspace workspace;
    workspace.write(".kernelskill/here", "");
    const CommandResult made = runKernelskill({"skills", "new", "my-own"}, workspace.path());
    ASSERT_EQ(made.status, 0) << made.errors;
    EXPECT_THAT(made.output, HasSubstr(".kernelskill/skills/my-own/SKILL.md"));
    const CommandResult listed = runKernelskill({"skills", "list", "--json"}, workspace.path());
    const json list = json::parse(listed.output);
    const auto own = std::ranges::find(list, "my-own", [](const json& s) { return s.at("id"); });
    ASSERT_NE(own, list.end());
    EXPECT_EQ(own->at("origin"), "workspace");
    EXPECT_EQ(list.at(0).at("origin"), "built-in");
    EXPECT_EQ(runKernelskill({"skills", "new", "my-own"}, workspace.path()).status, 2);
    EXPECT_EQ(runKernelskill({"skills", "new", "../out"}, workspace.path()).status, 2);
    const CommandResult shown = runKernelskill({"skills", "show", "my-own"}, workspace.path());
    EXPECT_THAT(shown.output, HasSubstr("$x * $x"));
}

} // namespace
} // namespace kernelskill::lsp::testing
