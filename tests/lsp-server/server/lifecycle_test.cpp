#include "tests/lsp-server/lsp_client.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace kernelskill::lsp::testing {
namespace {

json errorCode(const json& response) {
    return response.value("error", json()).value("code", json());
}

TEST(Lifecycle, RunsFromInitializeToExit) {
    LspClient client;
    const json result = client.initialize();
    EXPECT_EQ(result.at("serverInfo").at("name"), "kernelskill");
    const json& capabilities = result.at("capabilities");
    EXPECT_EQ(capabilities.at("positionEncoding"), "utf-16");
    EXPECT_EQ(capabilities.at("textDocumentSync").at("change"), 2);
    EXPECT_TRUE(capabilities.at("codeActionProvider").at("resolveProvider").get<bool>());
    const json response = client.call("shutdown", json::object());
    EXPECT_TRUE(response.contains("result"));
    client.notify("exit", json::object());
    EXPECT_EQ(client.waitForExit(), 0);
}

TEST(Lifecycle, ExitWithoutShutdownIsStatusOne) {
    LspClient client;
    client.initialize();
    client.notify("exit", json::object());
    EXPECT_EQ(client.waitForExit(), 1);
}

TEST(Lifecycle, EndOfInputEndsTheServer) {
    LspClient client;
    client.initialize();
    client.closeInput();
    EXPECT_EQ(client.waitForExit(), 1);
}

TEST(Lifecycle, RequestsBeforeInitializeAreRefused) {
    LspClient client;
    EXPECT_EQ(errorCode(client.call("textDocument/hover", json::object())), -32002);
    EXPECT_EQ(errorCode(client.call("shutdown", json::object())), -32002);
    client.notify("textDocument/didOpen", json::object());
    EXPECT_TRUE(client.initialize().contains("capabilities"));
}

TEST(Lifecycle, ASecondInitializeIsRefused) {
    LspClient client;
    client.initialize();
    EXPECT_EQ(errorCode(client.call("initialize", {{"capabilities", json::object()}})), -32600);
}

TEST(Lifecycle, RequestsAfterShutdownAreRefused) {
    LspClient client;
    client.initialize();
    client.call("shutdown", json::object());
    EXPECT_EQ(errorCode(client.call("textDocument/hover", json::object())), -32600);
    client.notify("exit", json::object());
    EXPECT_EQ(client.waitForExit(), 0);
}

TEST(Lifecycle, WorksForAClientWithoutCapabilities) {
    LspClient client;
    const json result = client.initialize({{"capabilities", json::object()}});
    EXPECT_EQ(result.at("capabilities").at("codeActionProvider"), true);
    client.open("file:///tmp/none.cu", "__global__ void k(int* p) { p[0] = 1; }\n");
    const json published = client.notification("textDocument/publishDiagnostics");
    EXPECT_FALSE(published.at("params").contains("version")) << "not announced by the client";
}

TEST(Lifecycle, NegotiatesTheFirstPositionEncodingItKnows) {
    LspClient client;
    json capabilities = editorCapabilities();
    capabilities["general"]["positionEncodings"] = {"latin-1", "utf-8", "utf-16"};
    EXPECT_EQ(client.initialize({{"capabilities", capabilities}})
                  .at("capabilities")
                  .at("positionEncoding"),
              "utf-8");
}

TEST(Lifecycle, UnknownMethodsAreAnsweredAndUnknownNotificationsIgnored) {
    LspClient client;
    client.initialize();
    client.notify("$/nonsense", json::object());
    client.notify("workspace/nonsense", json::object());
    EXPECT_EQ(errorCode(client.call("textDocument/completion", json::object())), -32601);
    EXPECT_EQ(errorCode(client.call("kernelskill/nonsense", json::object())), -32601);
    EXPECT_EQ(errorCode(client.call("$/nonsense", json::object())), -32601);
}

TEST(Lifecycle, ExitDoesNotWaitForALongParse) {
    LspClient client;
    client.initialize();
    std::string text;
    for (int i = 0; i < 30000; ++i)
        text += "__global__ void k" + std::to_string(i) + "(int* p) { p[threadIdx.x] += 1; }\n";
    client.open("file:///tmp/long-parse.cu", text);
    EXPECT_TRUE(client.call("shutdown", json::object()).contains("result"));
    client.notify("exit", json::object());
    EXPECT_EQ(client.waitForExit(Milliseconds(2500)), 0);
}

TEST(Lifecycle, EndsWhenTheEditorIsGone) {
    const pid_t editor = ::fork();
    if (editor == 0)
        ::_exit(0);
    int waited = 0;
    ::waitpid(editor, &waited, 0);
    LspClient client;
    client.initialize({{"capabilities", editorCapabilities()}, {"processId", editor}});
    EXPECT_EQ(client.waitForExit(), 1);
}

} // namespace
} // namespace kernelskill::lsp::testing
