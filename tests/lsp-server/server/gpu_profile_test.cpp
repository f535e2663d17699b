// Profiles of a GPU in the editor, with a runner that plays one. Skips where no CUDA toolkit is:
// its compiler is the real one.
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"
#include "tests/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kernelskill::lsp::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string twice = "__global__ void twice(const float* in, float* out, int n) {\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "    if (i < n)\n"
                          "        out[i] = 2.0f * in[i];\n"
                          "}\n"
                          "// kernelskill: launch twice<<<64, 256>>>(n=16384, in=rand[n], "
                          "out=zero[n])\n";

/// An installation of the server beside a runner that plays a GPU.
class GpuInEditor : public ::testing::Test {
protected:
    GpuInEditor() {
        const fs::path build = paths::buildFolder;
        const fs::path bin = installation.path("bin");
        fs::create_directories(bin);
        fs::create_directories(installation.path("share"));
        fs::copy_file(build / "bin/kernelskill", bin / "kernelskill");
        fs::create_directory_symlink(build / "share/kernelskill",
                                     installation.path("share/kernelskill"));
        // 4 sectors a load where the emulator counts 4; 8 a store where it counts 4.
        std::ofstream(bin / "kernelskill-runner")
            << "#!/bin/sh\n"
            << "export GPUS='NVIDIA H200 9.0' TIMES=72.1\n"
            << "export STALLS='3 long_scoreboard 75 1 wait 25'\n"
            << "export STALLS_FILE='" << installation.path("a.cu") << "'\n"
            << "export METRICS='gpu__time_duration.sum=75000 dram__bytes_read.sum=131072 "
               "dram__bytes_write.sum=65536 "
               "dram__throughput.avg.pct_of_peak_sustained_elapsed=83.5 "
               "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum=512 "
               "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum=2048 "
               "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum=512 "
               "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum=4096'\n"
            << "exec '" + std::string(paths::testRunner) + "' \"$@\"\n";
        fs::permissions(bin / "kernelskill-runner", fs::perms::owner_all);
        ::setenv("XDG_CACHE_HOME", installation.path("cache").c_str(), 1);
        client = start();
        client->open(uri, twice);
        const json answer = profile();
        isMissing = answer.contains("error") && answer.dump().contains("toolkit");
        measured = answer.value("result", json());
    }
    ~GpuInEditor() override { ::unsetenv("XDG_CACHE_HOME"); }

    void SetUp() override {
        if (isMissing)
            GTEST_SKIP() << "no CUDA toolkit";
        ASSERT_EQ(measured.value("executor", ""), "gpu") << measured;
    }

    std::unique_ptr<LspClient> start() {
        auto server = std::make_unique<LspClient>(std::vector<std::string>{},
                                                  installation.path("bin/kernelskill"));
        server->initialize(
            {{"capabilities", editorCapabilities()},
             {"initializationOptions", {{"trusted", true}, {"profile", {{"onSave", true}}}}}});
        return server;
    }
    json profile() {
        return client->call("kernelskill/profile",
                            {{"textDocument", {{"uri", uri}}}, {"kernel", "twice"}, {"on", "gpu"}},
                            Milliseconds(120000));
    }
    std::vector<std::string> lensTitles() {
        std::vector<std::string> titles;
        const json lenses =
            client->call("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}}).at("result");
        for (const json& lens : lenses)
            titles.push_back(client->call("codeLens/resolve", lens)
                                 .at("result")
                                 .at("command")
                                 .at("title")
                                 .get<std::string>());
        return titles;
    }
    std::string hover(const std::string& needle) {
        return client
            ->call("textDocument/hover",
                   {{"textDocument", {{"uri", uri}}}, {"position", placeOf(twice, needle, 1)}})
            .at("result")
            .at("contents")
            .at("value")
            .get<std::string>();
    }
    std::vector<std::string> hints() {
        const json range{{"start", {{"line", 0}, {"character", 0}}},
                         {"end", {{"line", 5}, {"character", 0}}}};
        std::vector<std::string> labels;
        const json all = client
                             ->call("textDocument/inlayHint",
                                    {{"textDocument", {{"uri", uri}}}, {"range", range}})
                             .at("result");
        for (const json& hint : all)
            labels.push_back(hint.at("label").get<std::string>());
        return labels;
    }

    TemporaryWorkspace installation;
    const std::string uri = installation.uri("a.cu");
    std::unique_ptr<LspClient> client;
    json measured;
    bool isMissing = false;
};

TEST_F(GpuInEditor, TheLensHasTimeAndPlaceUnderTheRoofline) {
    // 196608 bytes in 72.1 us of the runner's 4 TB/s.
    EXPECT_THAT(lensTitles(),
                AllOf(Contains(HasSubstr(" · 72.1 µs · 0 %")), Contains("Profile on GPU")));
}

TEST_F(GpuInEditor, TheHoverNamesWhatDecidesAsNsightComputeDoes) {
    const std::string text = hover("twice(");
    EXPECT_THAT(text, AllOf(HasSubstr("**72.1 µs"), HasSubstr("on NVIDIA H200"),
                            HasSubstr("smsp__pcsamp_warps_issue_stalled_long_scoreboard"),
                            HasSubstr("| 75 % |"), HasSubstr("83.5 %"),
                            HasSubstr("dram__throughput.avg.pct_of_peak_sustained_elapsed"),
                            HasSubstr("Measured on the gpu")));
}

TEST_F(GpuInEditor, HintsShowWhereWarpsSpendTheirTimeAndWhatDiffers) {
    const auto labels = hints();
    EXPECT_THAT(labels, Contains("75 % of warps' time"));
    EXPECT_THAT(labels, Contains("8.0 sectors/store measured, 4.0 counted"));
    EXPECT_THAT(labels, Not(Contains(HasSubstr("sectors/load"))));
}

TEST_F(GpuInEditor, AnotherProcessShowsItAtOnce) {
    client = start();
    client->open(uri, twice);
    EXPECT_THAT(lensTitles(), Contains(HasSubstr("72.1 µs")));
    EXPECT_THAT(hints(), Contains("75 % of warps' time"));
}

TEST_F(GpuInEditor, AnEditTakesItAway) {
    std::string text = twice;
    text.replace(text.find("2.0f"), 4, "3.0f");
    client->change(uri, 2, json::array({{{"text", text}}}));
    EXPECT_THAT(lensTitles(), Not(Contains(HasSubstr("µs"))));
    EXPECT_THAT(hover("twice("), Not(HasSubstr("µs")));
    EXPECT_THAT(hints(), Not(Contains(HasSubstr("warps' time"))));
}

TEST_F(GpuInEditor, LinesMoveWithTheKernel) {
    client->change(uri, 2, json::array({{{"text", "// one line more\n" + twice}}}));
    EXPECT_THAT(lensTitles(), Contains(HasSubstr("72.1 µs")));
    const json range{{"start", {{"line", 4}, {"character", 0}}},
                     {"end", {{"line", 5}, {"character", 0}}}};
    const json hints =
        client->call("textDocument/inlayHint", {{"textDocument", {{"uri", uri}}}, {"range", range}})
            .at("result");
    EXPECT_THAT(hints.dump(), HasSubstr("75 % of warps' time"));
}

TEST_F(GpuInEditor, SavingMeasuresWhatChanged) {
    std::string text = twice;
    text.replace(text.find("2.0f"), 4, "3.0f");
    client->change(uri, 2, json::array({{{"text", text}}}));
    EXPECT_THAT(lensTitles(), Not(Contains(HasSubstr("µs"))));
    const auto refreshes = [](const json& message) {
        return message.value("method", "") == "workspace/codeLens/refresh";
    };
    while (client->waitFor(refreshes, Milliseconds(10)))
        ;
    client->notify("textDocument/didSave", {{"textDocument", {{"uri", uri}}}});
    ASSERT_TRUE(client->waitFor(refreshes, Milliseconds(60000)));
    EXPECT_THAT(lensTitles(), Contains(HasSubstr("72.1 µs")));
}

TEST_F(GpuInEditor, AReportShowsTheMeasuredPoint) {
    const auto html =
        client->call("kernelskill/report", {{"textDocument", {{"uri", uri}}}, {"on", "gpu"}})
            .at("result")
            .at("html")
            .get<std::string>();
    EXPECT_THAT(html, AllOf(HasSubstr("<circle class=\"point\""), HasSubstr("L2 9 TB/s, measured"),
                            HasSubstr("Where warps spend their time"), HasSubstr("72.1 µs")));
}

} // namespace
} // namespace kernelskill::lsp::testing
