#include "tests/lsp-server/features/sample_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::HasSubstr;

class Diagnostics : public ::testing::Test {
protected:
    void SetUp() override { client.initialize(); }

    /// The diagnostics of the first publication that `wanted` accepts.
    json published(const std::function<bool(const json&)>& wanted) {
        const auto message = client.waitFor([&](const json& candidate) {
            return candidate.value("method", "") == "textDocument/publishDiagnostics" &&
                   wanted(candidate.at("params").at("diagnostics"));
        });
        return message ? message->at("params").at("diagnostics") : json::array();
    }

    static bool holds(const json& diagnostics, const std::string& code) {
        return std::ranges::any_of(
            diagnostics, [&](const json& entry) { return entry.value("code", "") == code; });
    }

    LspClient client;
    TemporaryWorkspace workspace;
};

TEST_F(Diagnostics, ProvableWasteIsInformation) {
    client.open(workspace.uri("t.cu"), transpose);
    const json all = published([](const json& list) { return holds(list, "bank-conflicts"); });
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all.at(0).at("severity"), 3);
    EXPECT_EQ(all.at(0).at("source"), "kernelskill");
    EXPECT_EQ(all.at(0).at("range").at("start"),
              placeOf(transpose, "tile[threadIdx.x][threadIdx.y]"));
}

TEST_F(Diagnostics, AnErrorInAHeaderIsShownAtItsInclude) {
    workspace.write("broken.cuh", "int broken = undeclared;\n");
    client.open(workspace.uri("a.cu"), "// first\n#include \"broken.cuh\"\n");
    const json all = client.diagnostics(workspace.uri("a.cu"), 1);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all.at(0).at("range").at("start").at("line"), 1);
    EXPECT_THAT(all.at(0).at("message").get<std::string>(),
                HasSubstr("in included file: use of undeclared identifier"));
    EXPECT_EQ(all.at(0).at("relatedInformation").at(0).at("location").at("uri"),
              workspace.uri("broken.cuh"));
}

TEST_F(Diagnostics, AParseThatTakesLongSaysSoUntilItIsDone) {
    std::string text = "constexpr long spin(int from) {\n"
                       "    long sum = 0;\n"
                       "    for (int i = 0; i < 250000; ++i)\n"
                       "        sum += i ^ from;\n"
                       "    return sum;\n"
                       "}\n"
                       "template <int N> constexpr long spun = spin(N);\n"
                       "constexpr long all = 0";
    for (int i = 0; i < 22; ++i)
        text += " + spun<" + std::to_string(i) + ">";
    const std::string uri = workspace.uri("slow.cu");
    client.open(uri, text + ";\n");
    const json meanwhile = published([](const json& list) { return holds(list, "still-parsing"); });
    ASSERT_EQ(meanwhile.size(), 1u);
    EXPECT_EQ(meanwhile.at(0).at("severity"), 3);
    const auto done = client.waitFor(
        [&](const json& candidate) {
            return candidate.value("method", "") == "textDocument/publishDiagnostics" &&
                   !holds(candidate.at("params").at("diagnostics"), "still-parsing");
        },
        Milliseconds(120000));
    EXPECT_TRUE(done);
}

TEST_F(Diagnostics, AProfileShowsHazards) {
    const std::string uri = workspace.uri("race.cu");
    client.open(uri, "__global__ void race(int* out) {\n"
                     "    __shared__ int tile[64];\n"
                     "    tile[threadIdx.x] = threadIdx.x;\n"
                     "    out[threadIdx.x] = tile[63 - threadIdx.x];\n"
                     "}\n"
                     "void launch(int* out) { race<<<1, 64>>>(out); }\n");
    const json report =
        client.call("kernelskill/profile", {{"textDocument", {{"uri", uri}}}, {"kernel", "race"}},
                    Milliseconds(60000));
    ASSERT_TRUE(report.contains("result")) << report;
    EXPECT_FALSE(report.at("result").at("hazards").empty());
    const json all = published([](const json& list) { return holds(list, "race"); });
    EXPECT_TRUE(holds(all, "race"));
}

TEST_F(Diagnostics, AnOutOfBoundsKernelIsReported) {
    const std::string uri = workspace.uri("bounds.cu");
    client.open(uri, "// kernelskill: launch past<<<1, 32>>>(p=zero[16])\n"
                     "__global__ void past(int* p) { p[threadIdx.x + 64] = 1; }\n");
    const json report =
        client.call("kernelskill/profile", {{"textDocument", {{"uri", uri}}}, {"kernel", "past"}},
                    Milliseconds(60000));
    EXPECT_THAT(report.dump(), HasSubstr("out-of-bounds"));
    const json all = published([](const json& list) { return holds(list, "out-of-bounds"); });
    ASSERT_TRUE(holds(all, "out-of-bounds"));
    EXPECT_EQ(all.at(0).at("severity"), 1);
    EXPECT_EQ(all.at(0).at("range").at("start").at("line"), 1);
}

TEST_F(Diagnostics, ALaunchWithTooManyRegistersIsAWarningOnceTheyAreKnown) {
    if (!hasToolkit())
        GTEST_SKIP() << "no CUDA toolkit here";
    const std::string uri = workspace.uri("wide.cu");
    client.open(uri, "__global__ void wide(const float* x, float* y) {\n"
                     "    float sums[80] = {};\n"
                     "    for (int i = 0; i < 4; ++i)\n"
                     "#pragma unroll\n"
                     "        for (int j = 0; j < 80; ++j)\n"
                     "            sums[j] += x[i] * x[i + j];\n"
                     "    float all = 0;\n"
                     "#pragma unroll\n"
                     "    for (int j = 0; j < 80; ++j)\n"
                     "        all += sums[j] * sums[j * 7 % 80] * x[j];\n"
                     "    y[threadIdx.x] = all;\n"
                     "}\n"
                     "void launch(const float* x, float* y) { wide<<<1, 1024>>>(x, y); }\n");
    // The first answer does not wait for the compiler.
    for (int asked = 0; asked < 100; ++asked) {
        const json report = client.call("kernelskill/profile",
                                        {{"textDocument", {{"uri", uri}}}, {"kernel", "wide"}},
                                        Milliseconds(60000));
        ASSERT_TRUE(report.contains("result")) << report;
        if (!report.at("result").at("static").is_null())
            break;
        std::this_thread::sleep_for(Milliseconds(200));
    }
    const json all = published([](const json& list) { return holds(list, "launch-registers"); });
    ASSERT_EQ(all.size(), 1u) << all;
    EXPECT_EQ(all.at(0).at("severity"), 2);
    EXPECT_EQ(all.at(0).at("range").at("start").at("line"), 12);
    EXPECT_THAT(all.at(0).at("message").get<std::string>(),
                HasSubstr("__launch_bounds__(1024) keeps the compiler to that"));
}

TEST_F(Diagnostics, AnEndlessKernelEndsWithAnErrorThatSaysSo) {
    const std::string uri = workspace.uri("endless.cu");
    client.open(uri, "__global__ void endless(volatile int* p) { for (;;) p[0] = p[0] + 1; }\n"
                     "void launch(int* p) { endless<<<1, 32>>>(p); }\n");
    const json report =
        client.call("kernelskill/profile",
                    {{"textDocument", {{"uri", uri}}}, {"kernel", "endless"}}, Milliseconds(60000));
    ASSERT_TRUE(report.contains("error")) << report;
    EXPECT_THAT(report.at("error").at("message").get<std::string>(),
                HasSubstr("a loop did not end"));
    const json hover =
        client.call("textDocument/hover", {{"textDocument", {{"uri", uri}}},
                                           {"position", {{"line", 0}, {"character", 17}}}});
    EXPECT_THAT(hover.dump(), HasSubstr("endless"));
}

TEST_F(Diagnostics, AnEndlessKernelCanBeCancelled) {
    const std::string uri = workspace.uri("endless.cu");
    client.open(uri, "__global__ void endless(volatile int* p) { for (;;) p[0] = p[0] + 1; }\n"
                     "void launch(int* p) { endless<<<1, 32>>>(p); }\n");
    const int id = client.sendRequest("kernelskill/profile",
                                      {{"textDocument", {{"uri", uri}}}, {"kernel", "endless"}});
    (void)client.waitFor([](const json& m) { return m.value("method", "") == "$/progress"; },
                         Milliseconds(5000));
    client.notify("$/cancelRequest", {{"id", id}});
    EXPECT_EQ(client.response(id).at("error").at("code"), -32800);
    const json hover =
        client.call("textDocument/hover", {{"textDocument", {{"uri", uri}}},
                                           {"position", {{"line", 0}, {"character", 17}}}});
    EXPECT_THAT(hover.dump(), HasSubstr("endless"));
}

TEST_F(Diagnostics, CanBeTurnedOff) {
    client.notify("workspace/didChangeConfiguration",
                  {{"settings", {{"kernelskill", {{"diagnostics", {{"enabled", false}}}}}}}});
    client.open(workspace.uri("a.cu"), "__global__ void k() { undeclared(); }\n");
    client.call("textDocument/codeLens", {{"textDocument", {{"uri", workspace.uri("a.cu")}}}});
    EXPECT_TRUE(
        client.notification("textDocument/publishDiagnostics", Milliseconds(300)).is_null());
}

} // namespace
} // namespace kernelskill::lsp::testing
