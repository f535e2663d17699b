#include "lsp-server/transport/framing.h"
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

const std::string kernel = "__global__ void scale(float* x, int n) {\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    if (i < n)\n"
                           "        x[i] = 2.0f * x[i];\n"
                           "}\n";

/// The server still does its work.
void expectAlive(LspClient& client) {
    ASSERT_TRUE(client.isRunning());
    const std::string uri = "file:///tmp/kernelskill-alive.cu";
    client.open(uri, kernel);
    EXPECT_EQ(client.diagnostics(uri, 1), json::array());
    const json hover =
        client.call("textDocument/hover", {{"textDocument", {{"uri", uri}}},
                                           {"position", {{"line", 0}, {"character", 17}}}});
    EXPECT_THAT(hover.dump(), HasSubstr("scale"));
}

class BadBytes : public ::testing::TestWithParam<std::string> {};

TEST_P(BadBytes, AreAnsweredAndForgotten) {
    LspClient client;
    client.initialize();
    client.sendBytes(GetParam());
    const auto answer = client.waitFor([](const json& message) {
        return message.contains("error") && message.at("id").is_null();
    });
    ASSERT_TRUE(answer) << "no error came back";
    expectAlive(client);
}

INSTANTIATE_TEST_SUITE_P(
    BadInput, BadBytes,
    ::testing::Values(encodeFrame("{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\""), encodeFrame(""),
                      encodeFrame("[[[[["), "Content-Length: -1\r\n\r\n{}",
                      "Content-Length: x\r\n\r\n{}", "Content-Length: 5\r\n\r\n{\"id\":1}",
                      "Content-Length: 99999999999\r\n\r\n", "garbage\r\n\r\n",
                      encodeFrame(std::string(200000, '['))));

TEST(BadInput, ALengthThatIsTooLongLosesOnlyItsOwnMessage) {
    LspClient client;
    client.initialize();
    const std::string hover =
        R"({"jsonrpc":"2.0","id":77,"method":"textDocument/hover","params":{}})";
    client.sendBytes("Content-Length: " + std::to_string(2 + encodeFrame(hover).size()) +
                     "\r\n\r\n{}" + encodeFrame(hover));
    EXPECT_TRUE(client.response(77).contains("error"));
    expectAlive(client);
}

TEST(BadInput, ParamsOfTheWrongShapeAreInvalid) {
    LspClient client;
    client.initialize();
    for (const char* method :
         {"textDocument/hover", "textDocument/codeAction", "textDocument/codeLens",
          "codeLens/resolve", "textDocument/inlayHint", "codeAction/resolve",
          "workspace/executeCommand", "kernelskill/profile", "kernelskill/memory"}) {
        for (const json& params : {json::object(), json::array(), json{{"textDocument", 7}},
                                   json{{"data", "x"}, {"command", 1}}}) {
            const json response = client.call(method, params);
            EXPECT_EQ(response.at("error").at("code"), -32602) << method << " " << response;
        }
    }
    for (const char* method :
         {"textDocument/didOpen", "textDocument/didChange", "textDocument/didClose",
          "textDocument/didSave", "workspace/didChangeConfiguration",
          "workspace/didChangeWorkspaceFolders", "workspace/didChangeWatchedFiles",
          "window/workDoneProgress/cancel", "$/cancelRequest", "$/setTrace"})
        client.notify(method, json{{"textDocument", 7}});
    expectAlive(client);
}

TEST(BadInput, AProfileIsMadeWhereTheSettingsAllowIt) {
    const auto profileOn = [](const std::string& where, const json& settings) {
        LspClient client;
        client.initialize({{"initializationOptions", settings}});
        const std::string uri = "file:///tmp/kernelskill-where.cu";
        return client
            .call("kernelskill/profile",
                  {{"textDocument", {{"uri", uri}}}, {"kernel", "scale"}, {"on", where}})
            .at("error");
    };
    EXPECT_EQ(profileOn("abacus", json::object()).at("code"), -32602);
    const json refused = profileOn("slurm", json::object());
    EXPECT_EQ(refused.at("code"), -32602);
    EXPECT_THAT(refused.dump(), HasSubstr("kernelskill.gpu.on"));
    EXPECT_THAT(profileOn("slurm", {{"trusted", true}, {"gpu", {{"on", "slurm"}}}}).dump(),
                HasSubstr("not open"))
        << "the place is one, the document is missing";
}

TEST(BadInput, DocumentsThatAreNotOpenAreAnError) {
    LspClient client;
    client.initialize();
    client.change("file:///nowhere.cu", 2, json::array({{{"text", "x"}}}));
    const json response =
        client.call("textDocument/hover", {{"textDocument", {{"uri", "file:///nowhere.cu"}}},
                                           {"position", {{"line", 0}, {"character", 0}}}});
    EXPECT_THAT(response.at("error").at("message").get<std::string>(), HasSubstr("not open"));
}

TEST(BadInput, PositionsPastTheEndAreAnswered) {
    LspClient client;
    client.initialize();
    const std::string uri = "file:///tmp/past.cu";
    client.open(uri, kernel);
    for (const json& position :
         {json{{"line", 9999}, {"character", 9999}}, json{{"line", 1}, {"character", 4000000000}},
          json{{"line", -1}, {"character", -1}}}) {
        EXPECT_TRUE(client
                        .call("textDocument/hover",
                              {{"textDocument", {{"uri", uri}}}, {"position", position}})
                        .contains("result"));
        EXPECT_TRUE(client
                        .call("textDocument/codeAction",
                              {{"textDocument", {{"uri", uri}}},
                               {"range", {{"start", position}, {"end", position}}},
                               {"context", {{"diagnostics", json::array()}}}})
                        .contains("result"));
    }
    expectAlive(client);
}

TEST(BadInput, APictureNamedCuIsSaidToBeNoText) {
    LspClient client;
    client.initialize();
    const std::string uri = "file:///tmp/picture.cu";
    client.open(uri, std::string("\xef\xbf\xbdPNG\r\n\x1a\n\0\0\0\rIHDR", 19));
    const json diagnostics = client.diagnostics(uri, 1);
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_THAT(diagnostics.at(0).at("message").get<std::string>(), HasSubstr("not text"));
    expectAlive(client);
}

TEST(BadInput, InvalidUtf8InADocumentDoesNoHarm) {
    LspClient client;
    client.initialize();
    const std::string uri = "file:///tmp/latin1.cu";
    std::string message =
        R"({"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":")" +
        uri + R"(","languageId":"cuda","version":1,"text":"// caf)" + "\xe9" +
        R"(\n__global__ void k(int* p) { p[0] = 1; }\n"}}})";
    client.sendBytes(encodeFrame(message));
    EXPECT_TRUE(client.diagnostics(uri, 1).is_array());
    expectAlive(client);
}

TEST(BadInput, RandomTextsAreParsedOrRefusedAndNeverFatal) {
    LspClient client;
    client.initialize();
    std::mt19937 random(11);
    const std::string tokens[] = {
        "__global__ ", "void ", "k",  "(",         ")",  "{",    "}",
        "<<<",         ">>>",   ";",  "[",         "]",  "int ", "#define A(x) x\n",
        "A(",          "\"",    "/*", "template<", "::", "\\\n", "0x"};
    for (int document = 0; document < 15; ++document) {
        std::string text;
        for (int i = 0; i < 200; ++i)
            text += tokens[random() % std::size(tokens)];
        const std::string uri = "file:///tmp/random" + std::to_string(document) + ".cu";
        client.open(uri, text);
        EXPECT_TRUE(client.diagnostics(uri, 1).is_array());
    }
    expectAlive(client);
}

TEST(BadInput, DeepNestingIsSurvived) {
    LspClient client;
    client.initialize();
    const std::string uri = "file:///tmp/deep.cu";
    client.open(uri, "__global__ void k(int* p) { p[0] = " + std::string(20000, '(') + "1" +
                         std::string(20000, ')') + "; }\n");
    EXPECT_TRUE(client.diagnostics(uri, 1).is_array());
    expectAlive(client);
}

TEST(BadInput, FiveMegabytesDoNotBlockOtherDocuments) {
    LspClient client;
    client.initialize();
    std::string text;
    for (int i = 0; text.size() < (5u << 20); ++i)
        text += "// line " + std::to_string(i) + " of a very long generated file\n";
    text += kernel;
    const std::string uri = "file:///tmp/long.cu";
    client.open(uri, text);
    expectAlive(client);
    EXPECT_EQ(client.diagnostics(uri, 1), json::array());
}

} // namespace
} // namespace kernelskill::lsp::testing
