/// `Generate kernel from '<function>'`, offered and resolved over the wire.
#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

constexpr Milliseconds reviewTime{120000};

class GenerateKernel : public ::testing::Test {
protected:
    void start(const json& capabilities = editorCapabilities()) {
        client.initialize({{"capabilities", capabilities}, {"rootUri", workspace.uri()}});
    }

    json offer(const std::string& text, const std::string& needle) {
        client.open(uri, text);
        const json actions =
            client
                .call("textDocument/codeAction",
                      {{"textDocument", {{"uri", uri}}},
                       {"range", pointRange(placeOf(text, needle, 1))},
                       {"context", {{"diagnostics", json::array()}, {"only", {"refactor"}}}}})
                .at("result");
        const auto found = std::ranges::find_if(actions, [](const json& action) {
            return action.at("title").get<std::string>().starts_with("Generate kernel");
        });
        return found == actions.end() ? json() : *found;
    }

    LspClient client;
    TemporaryWorkspace workspace;
    std::string uri = workspace.uri("sample.cu");
    const std::string scale = "void scale(int n, float a, float* x) {\n"
                              "    for (int i = 0; i < n; i++)\n"
                              "        x[i] = a * x[i];\n"
                              "}\n"
                              "void scan(int n, float* x) {\n"
                              "    for (int i = 1; i < n; i++)\n"
                              "        x[i] += x[i - 1];\n"
                              "}\n";
};

TEST_F(GenerateKernel, IsOfferedWhereLoopsAreParallel) {
    start();
    const json action = offer(scale, "a * x[i]");
    ASSERT_FALSE(action.is_null());
    EXPECT_EQ(action.at("title"), "Generate kernel from 'scale'");
    EXPECT_EQ(action.at("kind"), "refactor.rewrite.generate-kernel");
    EXPECT_FALSE(action.contains("edit")) << "edits come by resolve";
}

TEST_F(GenerateKernel, IsNotOfferedWhereIterationsDependOnEachOther) {
    start();
    EXPECT_TRUE(offer(scale, "x[i - 1]").is_null());
}

TEST_F(GenerateKernel, ResolvesToAVerifiedVersionedEdit) {
    start();
    const json action = offer(scale, "a * x[i]");
    ASSERT_FALSE(action.is_null());
    const json resolved = client.call("codeAction/resolve", action, reviewTime);
    ASSERT_TRUE(resolved.contains("result")) << resolved;
    const json change = resolved.at("result").at("edit").at("documentChanges").at(0);
    EXPECT_EQ(change.at("textDocument"), (json{{"uri", uri}, {"version", 1}}));
    ASSERT_EQ(change.at("edits").size(), 1U);
    const json& edit = change.at("edits").at(0);
    EXPECT_EQ(edit.at("range").at("start"), (json{{"line", 3}, {"character", 1}}));
    EXPECT_EQ(edit.at("range").at("start"), edit.at("range").at("end"));
    const auto text = edit.at("newText").get<std::string>();
    EXPECT_THAT(text, HasSubstr("__global__ void scale_kernel(int n, float a, float* x) {"));
    EXPECT_THAT(text, HasSubstr("scale_kernel<<<grid, block>>>(n, a, d_x);"));
}

TEST_F(GenerateKernel, AStaleVersionIsRefused) {
    start();
    const json action = offer(scale, "a * x[i]");
    ASSERT_FALSE(action.is_null());
    client.change(uri, 2, json::array({{{"text", "// new first line\n" + scale}}}));
    EXPECT_EQ(client.call("codeAction/resolve", action).at("error").at("code"), -32801);
}

TEST_F(GenerateKernel, AClientWithoutResolveGetsACommandThatAppliesTheEdit) {
    json capabilities = editorCapabilities();
    capabilities["textDocument"]["codeAction"].erase("resolveSupport");
    start(capabilities);
    const json action = offer(scale, "a * x[i]");
    ASSERT_TRUE(action.contains("command")) << action;
    const json result = client.call("workspace/executeCommand",
                                    {{"command", action.at("command").at("command")},
                                     {"arguments", action.at("command").at("arguments")}},
                                    reviewTime);
    ASSERT_TRUE(result.contains("result")) << result;
    EXPECT_TRUE(result.at("result").at("applied").get<bool>());
    EXPECT_EQ(result.at("result").at("verdict").at("status"), "unmeasured");
}

TEST_F(GenerateKernel, NothingIsOfferedWhereKernelsMayNotRun) {
    client.initialize({{"capabilities", editorCapabilities()},
                       {"rootUri", workspace.uri()},
                       {"initializationOptions", {{"execution", {{"enabled", false}}}}}});
    EXPECT_TRUE(offer(scale, "a * x[i]").is_null());
}

} // namespace
} // namespace kernelskill::lsp::testing
