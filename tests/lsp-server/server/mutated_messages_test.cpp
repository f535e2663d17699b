#include "lsp-server/transport/framing.h"
#include "tests/lsp-server/lsp_client.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace kernelskill::lsp::testing {
namespace {

const std::string uri = "file:///tmp/kernelskill-mutated.cu";

/// A plausible session after initialize, as separate messages.
std::vector<std::string> session() {
    const json document{{"uri", uri}};
    const json position{{"line", 1}, {"character", 4}};
    const json range{{"start", position}, {"end", position}};
    const json place{{"textDocument", document}, {"position", position}};
    std::vector<json> messages{
        {{"method", "textDocument/didOpen"},
         {"params",
          {{"textDocument",
            {{"uri", uri},
             {"languageId", "cuda"},
             {"version", 1},
             {"text", "__global__ void k(int* p) {\n    p[threadIdx.x] = 1;\n}\n"}}}}}},
        {{"method", "textDocument/didChange"},
         {"params",
          {{"textDocument", {{"uri", uri}, {"version", 2}}},
           {"contentChanges", json::array({{{"range", range}, {"text", "//"}}})}}}},
        {{"id", 1}, {"method", "textDocument/hover"}, {"params", place}},
        {{"id", 2}, {"method", "textDocument/codeLens"}, {"params", {{"textDocument", document}}}},
        {{"id", 3},
         {"method", "textDocument/codeAction"},
         {"params",
          {{"textDocument", document},
           {"range", range},
           {"context", {{"diagnostics", json::array()}, {"only", {"quickfix"}}}}}}},
        {{"id", 4},
         {"method", "textDocument/inlayHint"},
         {"params", {{"textDocument", document}, {"range", range}}}},
        {{"method", "$/cancelRequest"}, {"params", {{"id", 3}}}},
        {{"id", 5},
         {"method", "workspace/executeCommand"},
         {"params",
          {{"command", "kernelskill.showMemory"}, {"arguments", json::array({document})}}}},
        {{"method", "workspace/didChangeConfiguration"},
         {"params", {{"settings", {{"kernelskill", {{"codeLens", {{"enabled", true}}}}}}}}}},
        {{"method", "textDocument/didSave"}, {"params", {{"textDocument", document}}}},
        {{"method", "textDocument/didClose"}, {"params", {{"textDocument", document}}}},
    };
    std::vector<std::string> frames;
    for (json& message : messages) {
        message["jsonrpc"] = "2.0";
        frames.push_back(encodeFrame(message.dump()));
    }
    return frames;
}

std::string mutate(std::string frame, std::mt19937& random) {
    const auto at = [&] { return random() % frame.size(); };
    switch (random() % 6) {
    case 0: // A byte becomes another.
        frame[at()] = static_cast<char>(random());
        break;
    case 1: // A piece is lost.
        frame.erase(at(), random() % 20);
        break;
    case 2: // A piece comes twice.
        frame.insert(at(), frame.substr(at(), random() % 40));
        break;
    case 3: // The body changes and the frame stays right.
    {
        std::string body = frame.substr(frame.find("\r\n\r\n") + 4);
        body[random() % body.size()] = "{}[]\",:0-9e\\n"[random() % 13];
        frame = encodeFrame(body);
        break;
    }
    case 4: // Cut short.
        frame.resize(at());
        break;
    default:
        break;
    }
    return frame.empty() ? "x" : frame;
}

class MutatedMessages : public ::testing::TestWithParam<unsigned> {};

TEST_P(MutatedMessages, LeaveTheServerAliveOrCleanlyEnded) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(4);
    const std::vector<std::string> valid = session();
    std::mt19937 random(GetParam());
    LspClient client;
    client.initialize();
    int sent = 0;
    while (Clock::now() < end && client.isRunning()) {
        for (const std::string& frame : valid)
            client.sendBytes(mutate(frame, random));
        ++sent;
        // Takes the answers out of the pipe.
        (void)client.waitFor([](const json&) { return false; }, Milliseconds(1));
    }
    EXPECT_GT(sent, 3);
    if (client.isRunning()) {
        // Whatever half message is pending: this ends it, and the decoder finds the way back.
        client.sendBytes("\r\n\r\n");
        client.sendBytes(std::string(4096, ' ') + "\r\n\r\n");
        bool answered = false;
        for (int attempt = 0; attempt < 20 && !answered && client.isRunning(); ++attempt)
            answered =
                !client.call("kernelskill/unknown", json::object(), Milliseconds(500)).is_null();
        EXPECT_TRUE(answered) << "the server runs but does not answer";
    } else {
        EXPECT_LE(client.waitForExit().value_or(-1), 1) << "it crashed";
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, MutatedMessages, ::testing::Values(1u, 2u, 3u, 4u));

} // namespace
} // namespace kernelskill::lsp::testing
