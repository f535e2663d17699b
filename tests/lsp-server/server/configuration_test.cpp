#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

const std::string usesFlag = "__global__ void k(int* p) { p[0] = FROM_FLAGS; }\n";

json capabilitiesWithConfiguration() {
    json capabilities = editorCapabilities();
    capabilities["workspace"]["configuration"] = true;
    return capabilities;
}

TEST(Configuration, IsPulledAfterInitialized) {
    const TemporaryWorkspace workspace;
    LspClient client;
    client.configuration = {{"parse", {{"fallbackFlags", {"-DFROM_FLAGS=1"}}}}};
    client.initialize({{"capabilities", capabilitiesWithConfiguration()}});
    // The answer to the pull goes out while the client waits for anything.
    (void)client.waitFor(
        [](const json& m) { return m.value("method", "") == "workspace/configuration"; });
    const std::string uri = workspace.uri("a.cu");
    client.open(uri, usesFlag);
    EXPECT_EQ(client.diagnostics(uri, 1), json::array());
}

TEST(Configuration, InitializationOptionsAreTheSection) {
    const TemporaryWorkspace workspace;
    LspClient client;
    client.initialize(
        {{"capabilities", editorCapabilities()},
         {"initializationOptions", {{"parse", {{"fallbackFlags", {"-DFROM_FLAGS=1"}}}}}}});
    const std::string uri = workspace.uri("a.cu");
    client.open(uri, usesFlag);
    EXPECT_EQ(client.diagnostics(uri, 1), json::array());
}

TEST(Configuration, AChangeParsesOpenDocumentsAgain) {
    const TemporaryWorkspace workspace;
    LspClient client;
    client.initialize();
    const std::string uri = workspace.uri("a.cu");
    client.open(uri, usesFlag);
    EXPECT_EQ(client.diagnostics(uri, 1).size(), 1u);
    client.notify(
        "workspace/didChangeConfiguration",
        {{"settings", {{"kernelskill", {{"parse", {{"fallbackFlags", {"-DFROM_FLAGS=1"}}}}}}}}});
    EXPECT_EQ(client.diagnostics(uri, 1), json::array());
}

TEST(Configuration, AnUnknownGpuIsToldToTheUser) {
    LspClient client;
    client.initialize({{"capabilities", editorCapabilities()},
                       {"initializationOptions", {{"estimates", {{"gpu", "abacus"}}}}}});
    const json message = client.notification("window/showMessage");
    EXPECT_THAT(message.dump(), HasSubstr("abacus"));
}

TEST(Configuration, MistakesAreToldToTheUser) {
    LspClient client;
    client.initialize({{"capabilities", editorCapabilities()},
                       {"initializationOptions", {{"codeLens", {{"enabled", "yes"}}}}}});
    const json message = client.notification("window/showMessage");
    EXPECT_THAT(message.dump(), HasSubstr("kernelskill.codeLens.enabled must be of type boolean"));
}

TEST(Configuration, FeaturesCanBeTurnedOff) {
    const TemporaryWorkspace workspace;
    LspClient client;
    client.initialize(
        {{"capabilities", editorCapabilities()},
         {"initializationOptions",
          {{"codeLens", {{"enabled", false}}}, {"inlayHints", {{"enabled", false}}}}}});
    const std::string uri = workspace.uri("a.cu");
    client.open(uri, usesFlag);
    EXPECT_EQ(client.call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}}).at("result"),
              json::array());
}

TEST(Workspaces, EachFolderHasItsOwnFlags) {
    const TemporaryWorkspace first;
    const TemporaryWorkspace second;
    first.write("compile_flags.txt", "-DFROM_FLAGS=1\n");
    LspClient client;
    client.initialize({{"capabilities", editorCapabilities()},
                       {"workspaceFolders",
                        {{{"uri", first.uri()}, {"name", "first"}},
                         {{"uri", second.uri()}, {"name", "second"}}}}});
    client.open(first.uri("a.cu"), usesFlag);
    client.open(second.uri("a.cu"), usesFlag);
    EXPECT_EQ(client.diagnostics(first.uri("a.cu"), 1), json::array());
    EXPECT_EQ(client.diagnostics(second.uri("a.cu"), 1).size(), 1u);
}

TEST(Workspaces, FoldersCanComeAndGo) {
    const TemporaryWorkspace folder;
    LspClient client;
    client.initialize();
    client.open(folder.uri("a.cu"), usesFlag);
    EXPECT_EQ(client.diagnostics(folder.uri("a.cu"), 1).size(), 1u);
    folder.write("compile_flags.txt", "-DFROM_FLAGS=1\n");
    client.notify(
        "workspace/didChangeWorkspaceFolders",
        {{"event",
          {{"added", {{{"uri", folder.uri()}, {"name", "late"}}}}, {"removed", json::array()}}}});
    EXPECT_EQ(client.diagnostics(folder.uri("a.cu"), 1), json::array());
}

TEST(Workspaces, AChangedCompileCommandIsReadAgain) {
    const TemporaryWorkspace folder;
    LspClient client;
    client.initialize({{"capabilities", editorCapabilities()}, {"rootUri", folder.uri()}});
    client.open(folder.uri("a.cu"), usesFlag);
    EXPECT_EQ(client.diagnostics(folder.uri("a.cu"), 1).size(), 1u);
    folder.write("compile_flags.txt", "-DFROM_FLAGS=1\n");
    client.notify("workspace/didChangeWatchedFiles",
                  {{"changes", {{{"uri", folder.uri("compile_flags.txt")}, {"type", 1}}}}});
    EXPECT_EQ(client.diagnostics(folder.uri("a.cu"), 1), json::array());
}

TEST(Workspaces, ABrokenCompilationDatabaseIsReportedAndParsingGoesOn) {
    const TemporaryWorkspace folder;
    folder.write("compile_commands.json", "[{\"directory\": ");
    LspClient client;
    client.initialize({{"capabilities", editorCapabilities()}, {"rootUri", folder.uri()}});
    client.open(folder.uri("a.cu"), "__global__ void k(int* p) { p[0] = 1; }\n");
    const json diagnostics = client.diagnostics(folder.uri("a.cu"), 1);
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_THAT(diagnostics.dump(), HasSubstr("compile_commands.json"));
    EXPECT_EQ(diagnostics.at(0).at("severity"), 2);
}

} // namespace
} // namespace kernelskill::lsp::testing
