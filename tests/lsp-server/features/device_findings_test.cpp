/// Code that libclang accepts and the device's compiler does not, at the wire: shown, and fixed.
#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::StartsWith;

struct Finding {
    const char* name;
    const char* text;
    const char* code;
    int severity; ///< As the protocol numbers it: 1 is an error, 2 a warning.
    const char* place;
    const char* title;
};

std::ostream& operator<<(std::ostream& out, const Finding& one) {
    return out << one.name;
}

const std::vector<Finding> shownFindings{
    {"ShuffleWithoutMask",
     "__global__ void k(float* y) {\n    y[0] = __shfl_down(y[threadIdx.x], 16);\n}\n",
     "removed-warp-function", 1, "__shfl_down", "Fix compile error: use '__shfl_down_sync'"},
    {"SharedArrayOf80000Bytes",
     "__global__ void k(float* y) {\n    __shared__ float a[20000];\n"
     "    a[threadIdx.x] = y[threadIdx.x];\n    __syncthreads();\n"
     "    y[threadIdx.x] = a[threadIdx.x ^ 1];\n}\n"
     "void run(float* y) {\n    k<<<1, 256>>>(y);\n}\n",
     "static-shared-size", 1, "a[20000]", "Fix compile error: make 'a' dynamic"},
    {"Dim3OfAComma",
     "__global__ void k(float* y) { y[threadIdx.x] = 1; }\n"
     "void run(float* y) {\n    dim3 block = (16, 16);\n    k<<<1, block>>>(y);\n}\n",
     "dim3-comma", 2, "(16, 16)", "Fix: write 'block(16, 16)'"},
};

class DeviceFindings : public ::testing::TestWithParam<Finding> {
protected:
    /// The diagnostics of a version once one with `code` is among them, or is no more.
    json diagnosticsWith(int version, const std::string& code) {
        for (int published = 0; published < 3; ++published) {
            const json diagnostics = client.diagnostics(uri, version);
            if (diagnostics.is_null() || !found(diagnostics, code).is_null())
                return diagnostics;
        }
        return json();
    }
    static json found(const json& diagnostics, const std::string& code) {
        const auto one = std::ranges::find_if(diagnostics, [&](const json& diagnostic) {
            return diagnostic.value("code", "") == code;
        });
        return one == diagnostics.end() ? json() : *one;
    }
    json fixesAt(const json& range) {
        return client
            .call("textDocument/codeAction",
                  {{"textDocument", {{"uri", uri}}},
                   {"range", range},
                   {"context", {{"diagnostics", json::array()}, {"only", {"quickfix"}}}}})
            .at("result");
    }

    LspClient client;
    TemporaryWorkspace workspace;
    std::string uri = workspace.uri("sample.cu");
};

TEST_P(DeviceFindings, AreShownWithAFixThatEndsThem) {
    const Finding& tested = GetParam();
    client.initialize({{"capabilities", editorCapabilities()}, {"rootUri", workspace.uri()}});
    std::string text = tested.text;
    client.open(uri, text);
    const json diagnostics = diagnosticsWith(1, tested.code);
    ASSERT_TRUE(diagnostics.is_array());
    const json diagnostic = found(diagnostics, tested.code);
    ASSERT_FALSE(diagnostic.is_null()) << diagnostics;
    EXPECT_EQ(diagnostic.at("severity"), tested.severity);
    EXPECT_EQ(diagnostic.at("range").at("start"), placeOf(text, tested.place));

    const json fixes = fixesAt(diagnostic.at("range"));
    ASSERT_FALSE(fixes.empty());
    EXPECT_THAT(fixes.at(0).at("title").get<std::string>(), StartsWith(tested.title));
    const json resolved = client.call("codeAction/resolve", fixes.at(0)).at("result");
    auto edits =
        resolved.at("edit").at("documentChanges").at(0).at("edits").get<std::vector<json>>();
    // From the last to the first, so that places stay.
    std::ranges::sort(edits, [](const json& one, const json& other) {
        const auto key = [](const json& edit) {
            const json& start = edit.at("range").at("start");
            return std::pair(start.at("line").get<int>(), start.at("character").get<int>());
        };
        return key(other) < key(one);
    });
    json changes = json::array();
    for (const json& edit : edits)
        changes.push_back({{"range", edit.at("range")}, {"text", edit.at("newText")}});
    client.change(uri, 2, changes);
    EXPECT_EQ(fixesAt(diagnostic.at("range")), json::array()) << "nothing is left to fix";
}

INSTANTIATE_TEST_SUITE_P(, DeviceFindings, ::testing::ValuesIn(shownFindings),
                         [](const ::testing::TestParamInfo<Finding>& tested) {
                             return tested.param.name;
                         });

} // namespace
} // namespace kernelskill::lsp::testing
