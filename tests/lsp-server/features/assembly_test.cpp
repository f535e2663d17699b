// kernelskill/assembly over the wire and `kernelskill assembly`. What compiles skips where there is
// no CUDA toolkit.
#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Milliseconds compileTime{120'000};
constexpr int invalidParams = -32602;
constexpr int requestCancelled = -32800;
constexpr std::uint32_t storeLine = 7;

class Assembly : public ::testing::Test {
protected:
    json question(json more = json::object()) const {
        json params{
            {"textDocument", {{"uri", uri}}}, {"language", "ptx"}, {"architecture", "sm_80"}};
        params.update(more);
        return params;
    }

    json ask(const json& more = json::object()) {
        return client.call("kernelskill/assembly", question(more), compileTime);
    }

    void open(const std::string& text = transpose) {
        workspace.write("sample.cu", text);
        client.initialize({{"capabilities", editorCapabilities()}, {"rootUri", workspace.uri()}});
        client.open(uri, text);
    }

    /// Lines of the main file that hold instructions of a class.
    static std::vector<std::uint32_t> linesWith(const json& version, const std::string& kind) {
        std::vector<std::uint32_t> lines;
        for (const json& line : version.at("lines")) {
            const json& file = version.at("files").at(line.at("file").get<std::size_t>());
            if (line.at("counts").contains(kind) && file.at("path") == version.at("file"))
                lines.push_back(line.at("line"));
        }
        return lines;
    }

    TemporaryWorkspace workspace;
    const std::string uri = workspace.uri("sample.cu");
    LspClient client;
};

class CompiledAssembly : public Assembly {
protected:
    void SetUp() override {
        if (!hasToolkit())
            GTEST_SKIP() << "no CUDA toolkit here";
    }
};

TEST_F(CompiledAssembly, IsShownLineByLine) {
    open();
    const json response = ask();
    ASSERT_TRUE(response.contains("result")) << response;
    const json& result = response.at("result");
    EXPECT_EQ(result.at("version"), 1);
    EXPECT_TRUE(result.at("difference").is_null());
    ASSERT_EQ(result.at("versions").size(), 1U);
    const json& version = result.at("versions").at(0);
    EXPECT_EQ(version.at("kernel"), "transpose");
    EXPECT_EQ(version.at("language"), "ptx");
    EXPECT_EQ(version.at("architecture"), "sm_80");
    EXPECT_EQ(version.at("facts").at("shared_bytes"), 4096);
    EXPECT_GT(version.at("facts").at("registers"), 4);
    EXPECT_EQ(version.at("facts").at("occupancy").at("percent"), 100);
    EXPECT_EQ(version.at("counts").at("global-store"), 1);
    EXPECT_EQ(linesWith(version, "global-store"), std::vector{storeLine});
    std::size_t listed = 0;
    for (const json& line : version.at("lines")) {
        for (const json& index : line.at("instructions")) {
            const json& shown = version.at("instructions").at(index.get<std::size_t>()).at("shown");
            EXPECT_EQ(shown.at("line"), line.at("line"));
            ++listed;
        }
    }
    EXPECT_LE(listed, version.at("total"));
    EXPECT_GT(listed, 10U);
}

TEST_F(CompiledAssembly, HoldsTheEditorsTextAgainstTheSavedFile) {
    open();
    std::string changed = transpose;
    changed.replace(changed.find("[TILE][TILE]"), 12, "[TILE][TILE + 1]");
    client.change(uri, 2, json::array({{{"text", changed}}}));
    const json response = ask({{"against", {{"saved", true}}}});
    ASSERT_TRUE(response.contains("result")) << response;
    const json& result = response.at("result");
    EXPECT_EQ(result.at("version"), 2);
    ASSERT_EQ(result.at("versions").size(), 2U);
    EXPECT_EQ(result.at("versions").at(0).at("label"), "saved");
    EXPECT_EQ(result.at("versions").at(0).at("facts").at("shared_bytes"), 4096);
    EXPECT_EQ(result.at("versions").at(1).at("facts").at("shared_bytes"), 4224);
    std::size_t changes = 0;
    for (const json& row : result.at("difference").at("rows"))
        changes += row.at("change") == "same" ? 0 : 1;
    EXPECT_GT(changes, 0U);
}

TEST_F(CompiledAssembly, ShowsWhatASkillWouldChange) {
    open();
    const json response = ask({{"against", {{"skill", "shared-memory-padding"}}}});
    ASSERT_TRUE(response.contains("result")) << response;
    const json& versions = response.at("result").at("versions");
    ASSERT_EQ(versions.size(), 2U);
    EXPECT_EQ(versions.at(1).at("label"), "with shared-memory-padding");
    EXPECT_GT(versions.at(1).at("facts").at("shared_bytes"), 4096);
    const json unfit = ask({{"against", {{"skill", "warp-shuffle-reduction"}}}});
    EXPECT_THAT(unfit.at("error").at("message").get<std::string>(), HasSubstr("does not fit"));
}

TEST_F(CompiledAssembly, IsCancelled) {
    open();
    const int id = client.sendRequest("kernelskill/assembly", question());
    client.notify("$/cancelRequest", {{"id", id}});
    // Sent right behind a document that is not parsed yet, the request cannot have been answered.
    EXPECT_EQ(client.response(id, compileTime).at("error").at("code"), requestCancelled);
    EXPECT_TRUE(ask().contains("result")) << "the server goes on";
}

TEST_F(CompiledAssembly, SaysWhatDoesNotCompile) {
    open("__global__ void k(float* x) {\n    x[0] = undeclared;\n}\n");
    const json response = ask();
    ASSERT_TRUE(response.contains("error")) << response;
}

TEST_F(Assembly, RefusesWhatItCannotAnswer) {
    open();
    EXPECT_EQ(ask({{"language", "x86"}}).at("error").at("code"), invalidParams);
    EXPECT_TRUE(ask({{"against", json::object()}}).contains("error"));
    EXPECT_TRUE(ask({{"against", {{"skill", "no-such-skill"}}}}).contains("error"));
    EXPECT_TRUE(ask({{"gpu", "no such GPU"}, {"architecture", ""}}).contains("error"));
    EXPECT_TRUE(ask({{"kernel", "absent"}}).contains("error"));
    EXPECT_TRUE(ask({{"architecture", "avx512"}}).contains("error"));
    const json stale = client.call("kernelskill/assembly",
                                   {{"textDocument", {{"uri", workspace.uri("closed.cu")}}}});
    EXPECT_THAT(stale.at("error").at("message").get<std::string>(), HasSubstr("not open"));
    client.notify("textDocument/didClose", {{"textDocument", {{"uri", uri}}}});
    EXPECT_THAT(ask().at("error").at("message").get<std::string>(), HasSubstr("not open"));
}

TEST_F(Assembly, NeedsLeaveToStartACompiler) {
    workspace.write("sample.cu", transpose);
    client.configuration = {{"execution", {{"enabled", false}}}};
    client.initialize({{"capabilities", editorCapabilities()},
                       {"rootUri", workspace.uri()},
                       {"initializationOptions", {{"execution", {{"enabled", false}}}}}});
    client.open(uri, transpose);
    EXPECT_THAT(ask().at("error").at("message").get<std::string>(),
                HasSubstr("kernelskill.execution.enabled"));
}

TEST(AssemblyWithoutToolkit, IsMissingWithARemedy) {
    TemporaryWorkspace workspace;
    const std::string uri = workspace.uri("sample.cu");
    LspClient client({"--no-toolkit"});
    client.initialize();
    client.open(uri, transpose);
    const json response =
        client.call("kernelskill/assembly", {{"textDocument", {{"uri", uri}}}}, compileTime);
    EXPECT_THAT(response.at("error").at("message").get<std::string>(),
                AllOf(HasSubstr("no CUDA toolkit"), HasSubstr("install")));

    const std::string file = workspace.write("sample.cu", transpose);
    const CommandResult result = runKernelskill({"assembly", file, "--no-toolkit", "--json"});
    EXPECT_EQ(result.status, 3);
    EXPECT_EQ(json::parse(result.output).at("error").at("kind"), "missing");
}

class AssemblyCommand : public ::testing::Test {
protected:
    void SetUp() override {
        if (!hasToolkit())
            GTEST_SKIP() << "no CUDA toolkit here";
    }
    TemporaryWorkspace workspace;
};

TEST_F(AssemblyCommand, PrintsSourceLinesAboveTheirInstructions) {
    const std::string file = workspace.write("t.cu", transpose);
    const CommandResult result = runKernelskill({"assembly", file, "--ptx", "--arch", "sm_80"});
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, AllOf(HasSubstr("transpose  PTX for sm_80"), HasSubstr("registers"),
                                     HasSubstr("no spills"), Not(HasSubstr("\033["))));
    const auto line = result.output.find("    8 |     out[(blockIdx.x * TILE");
    const auto store = result.output.find("st.global.f32");
    ASSERT_NE(line, std::string::npos) << result.output;
    ASSERT_NE(store, std::string::npos) << result.output;
    EXPECT_LT(line, store);
}

TEST_F(AssemblyCommand, HoldsAFileAgainstAnother) {
    std::string padded = transpose;
    padded.replace(padded.find("[TILE][TILE]"), 12, "[TILE][TILE + 1]");
    const std::string before = workspace.write("before.cu", transpose);
    const std::string after = workspace.write("after.cu", padded);
    const CommandResult result =
        runKernelskill({"assembly", after, "--against", before, "--ptx", "--arch", "sm_80"});
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output,
                AllOf(HasSubstr("before  " + before), HasSubstr("after   " + after),
                      HasSubstr("bytes of shared memory        4096      4224      +128"),
                      HasSubstr("the same")));
    const CommandResult asJson =
        runKernelskill({"assembly", after, "--skill", "shared-memory-padding", "--ptx", "--json"});
    EXPECT_EQ(asJson.status, 1) << "it is padded already";
}

TEST_F(AssemblyCommand, RefusesWrongUsage) {
    const std::string file = workspace.write("t.cu", transpose);
    EXPECT_EQ(runKernelskill({"assembly", file, "--ptx", "--sass"}).status, 2);
    EXPECT_EQ(runKernelskill({"assembly", file, "--arch", "avx512"}).status, 2);
    EXPECT_EQ(runKernelskill({"assembly", file, "--against", workspace.path("none.cu")}).status, 2);
    EXPECT_EQ(runKernelskill({"assembly", file, "--skill", "no-such-skill"}).status, 2);
    EXPECT_EQ(runKernelskill({"assembly", file, "--kernel", "absent"}).status, 2);
}

} // namespace
} // namespace kernelskill::lsp::testing
