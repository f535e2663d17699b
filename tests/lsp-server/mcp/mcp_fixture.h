/// A workspace, and a server for coding agents beside it.
#pragma once

#include "tests/lsp-server/lsp_client.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

namespace kernelskill::lsp::testing {

constexpr Milliseconds toolTime{120000};

inline const std::string scale =
    "__global__ void scale(const float* x, float* y, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = 2.0f * x[i];\n"
    "}\n"
    "// kernelskill: launch scale<<<4, 64>>>(x=rand[250], y=zero[250], n=250)\n";

class McpFixture : public ::testing::Test {
protected:
    McpFixture() {
        ::setenv("XDG_STATE_HOME", state.path().c_str(), 1);
        client.emplace(std::vector<std::string>{}, "", Speaks::Mcp);
    }
    ~McpFixture() override { ::unsetenv("XDG_STATE_HOME"); }

    void trust() { ASSERT_EQ(runKernelskill({"trust", workspace.path()}).status, 0); }

    /// Params of revision 2026-07-28.
    static json modern(json params = json::object()) {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json::object();
        return params;
    }
    static json callOf(const std::string& tool, const json& arguments) {
        return modern({{"name", tool}, {"arguments", arguments}});
    }
    json call(const std::string& tool, const json& arguments) {
        return client->call("tools/call", callOf(tool, arguments), toolTime)
            .value("result", json::object());
    }
    static std::string textOf(const json& result) {
        return result.contains("content") ? result.at("content").at(0).at("text").get<std::string>()
                                          : result.dump();
    }
    static std::string replaced(std::string text, const std::string& what, const std::string& by) {
        return text.replace(text.find(what), what.size(), by);
    }
    [[nodiscard]] std::string readBack() const {
        std::ifstream stream(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    TemporaryWorkspace workspace;
    TemporaryWorkspace state;
    const std::string file = workspace.write("a.cu", scale);
    std::optional<LspClient> client;
};

} // namespace kernelskill::lsp::testing
