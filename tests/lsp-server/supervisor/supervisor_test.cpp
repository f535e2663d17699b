/// Crashes the server while it serves, and goes on.
#include "tests/lsp-server/lsp_client.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <string>
#include <thread>

namespace kernelskill::lsp::testing {
namespace {

const std::string uri = "file:///project/saxpy.cu";
const std::string kernel = "__global__ void saxpy(float a, const float* x, float* y, int n) {\n"
                           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    if (i < n) y[i] += a * x[i];\n}\n";

/// The child that serves; 0 if there is none.
pid_t serverOf(pid_t supervisor) {
    std::ifstream children("/proc/" + std::to_string(supervisor) + "/task/" +
                           std::to_string(supervisor) + "/children");
    pid_t child = 0;
    children >> child;
    return child;
}

/// Waits for a child other than `old`.
pid_t newServer(pid_t supervisor, pid_t old) {
    for (int i = 0; i < 500; ++i) {
        if (const pid_t child = serverOf(supervisor); child != 0 && child != old)
            return child;
        std::this_thread::sleep_for(Milliseconds(10));
    }
    return 0;
}

json replacing(int line, int from, int to, const std::string& text) {
    return json::array({{{"range",
                          {{"start", {{"line", line}, {"character", from}}},
                           {"end", {{"line", line}, {"character", to}}}}},
                         {"text", text}}});
}

TEST(Supervisor, GoesOnAfterACrash) {
    LspClient client;
    client.initialize();
    client.open(uri, kernel);
    ASSERT_FALSE(client.diagnostics(uri, 1).is_null());
    client.change(uri, 2, replacing(0, 16, 21, "scaled"));
    ASSERT_FALSE(client.diagnostics(uri, 2).is_null());
    const pid_t server = serverOf(client.pid());
    ASSERT_NE(server, 0);
    kill(server, SIGSEGV);
    const json told = client.notification("window/showMessage");
    EXPECT_NE(told.at("params").at("message").get<std::string>().find("signal 11"),
              std::string::npos)
        << told;
    ASSERT_NE(newServer(client.pid(), server), 0);
    // The new server has to know the name that only the first one was told.
    client.change(uri, 3, replacing(0, 22, 22, "Sum"));
    ASSERT_FALSE(client.diagnostics(uri, 3).is_null());
    const json hover =
        client.call("textDocument/hover", {{"textDocument", {{"uri", uri}}},
                                           {"position", {{"line", 0}, {"character", 18}}}});
    EXPECT_NE(hover.dump().find("scaledSum"), std::string::npos) << hover;
    EXPECT_TRUE(client.call("shutdown", json::object()).contains("result"));
    client.notify("exit", json::object());
    EXPECT_EQ(client.waitForExit(), 0);
}

TEST(Supervisor, AnswersARequestThatACrashCutOff) {
    LspClient client;
    client.initialize();
    client.open(uri, kernel);
    ASSERT_FALSE(client.diagnostics(uri, 1).is_null());
    const pid_t server = serverOf(client.pid());
    ASSERT_NE(server, 0);
    kill(server, SIGSTOP);
    const int id =
        client.sendRequest("textDocument/hover", {{"textDocument", {{"uri", uri}}},
                                                  {"position", {{"line", 0}, {"character", 18}}}});
    std::this_thread::sleep_for(Milliseconds(100));
    kill(server, SIGKILL);
    EXPECT_EQ(client.response(id).at("error").at("code"), -32801);
    // saxpy.cu was named by the request: it is opened again, asked about, and answered.
    ASSERT_FALSE(client.diagnostics(uri, 1).is_null());
    EXPECT_TRUE(client.isRunning());
}

TEST(Supervisor, GivesUpAfterManyCrashes) {
    LspClient client;
    client.initialize();
    pid_t server = serverOf(client.pid());
    for (int crash = 1; crash <= 5; ++crash) {
        kill(server, SIGKILL);
        server = newServer(client.pid(), server);
        ASSERT_NE(server, 0) << "after crash " << crash;
    }
    EXPECT_TRUE(client.isRunning());
    kill(server, SIGKILL);
    EXPECT_EQ(client.waitForExit(), 1);
}

TEST(Supervisor, TakesItsServerWithIt) {
    LspClient client;
    client.initialize();
    const pid_t server = serverOf(client.pid());
    ASSERT_NE(server, 0);
    kill(client.pid(), SIGKILL);
    EXPECT_EQ(client.waitForExit(), 128 + SIGKILL);
    for (int i = 0; i < 500 && kill(server, 0) == 0; ++i)
        std::this_thread::sleep_for(Milliseconds(10));
    EXPECT_NE(kill(server, 0), 0);
}

TEST(Supervisor, CanBeLeftOut) {
    LspClient client({"--single-process"});
    client.initialize();
    EXPECT_EQ(serverOf(client.pid()), 0);
    kill(client.pid(), SIGKILL);
    EXPECT_EQ(client.waitForExit(), 128 + SIGKILL);
}

} // namespace
} // namespace kernelskill::lsp::testing
