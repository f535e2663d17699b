// Verification against git's HEAD, as an editor sees it: lens, command, notice, report, on save.
#include "tests/git_repository.h"
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
std::string right() {
    return replaced(scale, "2.0f * x[i]", "x[i] + x[i]");
}
std::string wrong() {
    return replaced(scale, "i < n", "i <= n");
}

class VerifyRequest : public ::testing::Test {
protected:
    void SetUp() override {
        if (!kernelskill::testing::hasGit())
            GTEST_SKIP() << "git is not installed";
        workspace.write("a.cu", scale);
        commit();
    }
    void commit() { kernelskill::testing::GitRepository(workspace.path()).commit(); }
    void start(const json& options = {{"trusted", true}}) {
        client.initialize(
            {{"capabilities", editorCapabilities()}, {"initializationOptions", options}});
    }
    void open(const std::string& text) {
        client.open(uri, text);
        (void)client.diagnostics(uri, 1);
    }
    /// The kernels over which the lens stands.
    std::vector<std::string> offered() {
        std::vector<std::string> kernels;
        for (const json& lens :
             client.call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}}).at("result"))
            if (lens.at("data").at("what") == "verify")
                kernels.push_back(lens.at("data").at("kernel"));
        return kernels;
    }
    /// Asks until git has answered in the background.
    std::vector<std::string> offeredAfterRefresh() {
        (void)offered();
        EXPECT_TRUE(refreshes());
        return offered();
    }
    bool refreshes(Milliseconds timeout = Milliseconds(20000)) {
        return client
            .waitFor(
                [](const json& message) {
                    return message.value("method", "") == "workspace/codeLens/refresh";
                },
                timeout)
            .has_value();
    }
    json verify(const json& more = json::object()) {
        json argument{{"uri", uri}};
        argument.update(more);
        return client.call("workspace/executeCommand",
                           {{"command", "kernelskill.verify"}, {"arguments", {argument}}},
                           Milliseconds(120000));
    }
    json notice(Milliseconds timeout = Milliseconds(60000)) {
        return client.notification("window/showMessage", timeout);
    }
    void save() { client.notify("textDocument/didSave", {{"textDocument", {{"uri", uri}}}}); }

    TemporaryWorkspace workspace;
    LspClient client;
    const std::string uri = workspace.uri("a.cu");
};

TEST_F(VerifyRequest, TheLensStandsOverKernelsThatDiffer) {
    start();
    open(scale);
    EXPECT_TRUE(offeredAfterRefresh().empty());
    client.change(uri, 2, json::array({{{"text", "// new\n" + right()}}}));
    EXPECT_EQ(offered(), std::vector<std::string>{"scale"});
    const json lenses =
        client.call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}}).at("result");
    for (const json& lens : lenses) {
        if (lens.at("data").at("what") != "verify")
            continue;
        const json command = client.call("codeLens/resolve", lens).at("result").at("command");
        EXPECT_EQ(command.at("title"), "Verify against HEAD");
        EXPECT_EQ(command.at("command"), "kernelskill.verify");
    }
}

TEST_F(VerifyRequest, TheLensFollowsCommits) {
    start();
    open(right());
    EXPECT_EQ(offeredAfterRefresh(), std::vector<std::string>{"scale"});
    workspace.write("a.cu", right());
    commit();
    EXPECT_TRUE(offeredAfterRefresh().empty());
}

TEST_F(VerifyRequest, WithoutTrustThereIsNoLensAndNothingRuns) {
    start({{"trusted", false}});
    open(right());
    EXPECT_TRUE(offered().empty());
    EXPECT_FALSE(refreshes(Milliseconds(500)));
    EXPECT_THAT(verify().at("error").at("message").get<std::string>(), HasSubstr("not trusted"));
}

TEST_F(VerifyRequest, ARightChangeIsAnsweredAndSaidOnce) {
    start();
    open(right());
    const json result = verify({{"kernel", "scale"}}).at("result");
    EXPECT_EQ(result.at("outcome"), "right");
    EXPECT_EQ(result.at("kernels").at(0).at("name"), "scale");
    const json said = notice();
    EXPECT_EQ(said.at("params").at("type"), 3);
    EXPECT_THAT(said.at("params").at("message").get<std::string>(),
                AllOf(HasSubstr("Verified against HEAD ("), HasSubstr("scale is right")));
}

TEST_F(VerifyRequest, AWrongChangeIsAWarningAndInTheReport) {
    start();
    open(wrong());
    EXPECT_EQ(verify().at("result").at("outcome"), "wrong");
    const json said = notice();
    EXPECT_EQ(said.at("params").at("type"), 2);
    EXPECT_THAT(said.at("params").at("message").get<std::string>(),
                AllOf(HasSubstr("scale is wrong"), HasSubstr("Cause: ")));
    const json page =
        client.call("kernelskill/report", {{"textDocument", {{"uri", uri}}}}, Milliseconds(120000));
    EXPECT_THAT(page.at("result").at("html").get<std::string>(),
                AllOf(HasSubstr("Compared with HEAD ("), HasSubstr("out-of-bounds")));
}

TEST_F(VerifyRequest, ErrorsAreSentences) {
    start();
    open(scale);
    EXPECT_THAT(verify({{"against", "nope"}}).at("error").at("message").get<std::string>(),
                HasSubstr("no revision 'nope'"));
    EXPECT_THAT(verify({{"kernel", "nope"}}).at("error").at("message").get<std::string>(),
                HasSubstr("no kernel 'nope'"));
}

TEST_F(VerifyRequest, ItCanBeCancelled) {
    start();
    open(right());
    const int id =
        client.sendRequest("workspace/executeCommand",
                           {{"command", "kernelskill.verify"}, {"arguments", {{{"uri", uri}}}}});
    client.notify("$/cancelRequest", {{"id", id}});
    EXPECT_EQ(client.response(id).at("error").at("code"), -32800);
}

TEST_F(VerifyRequest, OnSaveWhereTheUserOptedIn) {
    start({{"trusted", true}, {"verify", {{"onSave", true}}}});
    open(scale);
    client.change(uri, 2, json::array({{{"text", wrong()}}}));
    save();
    EXPECT_THAT(notice().at("params").at("message").get<std::string>(),
                HasSubstr("scale is wrong"));
    save(); // The same text again.
    EXPECT_TRUE(notice(Milliseconds(1500)).is_null());
}

TEST_F(VerifyRequest, NotOnSaveByDefault) {
    start();
    open(scale);
    client.change(uri, 2, json::array({{{"text", wrong()}}}));
    save();
    EXPECT_TRUE(notice(Milliseconds(1500)).is_null());
}

} // namespace
} // namespace kernelskill::lsp::testing
