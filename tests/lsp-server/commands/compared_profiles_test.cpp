// Profiles beside each other, reports of Nsight Compute, and occupancy of other blocks, against the
// real executable.
#include "tests/lsp-server/features/sample_files.h"
#include "tests/lsp-server/lsp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace kernelskill::lsp::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ComparedProfiles : public ::testing::Test {
protected:
    ComparedProfiles() { workspace.write("transpose.cu", transpose); }
    [[nodiscard]] CommandResult profile(std::vector<std::string> more) const {
        more.insert(more.begin(), "profile");
        return runKernelskill(more, workspace.path());
    }
    static std::string padded() {
        std::string text = transpose;
        return text.replace(text.find("[TILE][TILE]"), 12, "[TILE][TILE + 1]");
    }
    TemporaryWorkspace workspace;
};

TEST_F(ComparedProfiles, ABaselineShowsWhatHasChanged) {
    const auto before = profile({"transpose.cu", "--json"});
    ASSERT_EQ(before.status, 0) << before.errors;
    workspace.write("before.json", before.output);
    const auto same = profile({"transpose.cu", "--baseline", "before.json"});
    EXPECT_EQ(same.status, 0);
    EXPECT_THAT(same.output, HasSubstr("No metric differs by one percent or more."));

    workspace.write("transpose.cu", padded());
    const auto better = profile({"transpose.cu", "--baseline", "before.json"});
    EXPECT_EQ(better.status, 0);
    EXPECT_THAT(better.output,
                AllOf(HasSubstr("before.json, on the "), HasSubstr("now, on the "),
                      HasSubstr("Shared memory: load wavefronts"), HasSubstr("32 times less"),
                      Not(HasSubstr("Global memory: load sectors"))));
    const json compared =
        json::parse(profile({"transpose.cu", "--baseline", "before.json", "--json"}).output)
            .at("comparisons")
            .at(0);
    EXPECT_EQ(compared.at("before").at("bottleneck"), "bank-conflicts");
    EXPECT_TRUE(compared.at("notes").empty());
    bool hasWavefronts = false;
    for (const json& metric : compared.at("changed"))
        if (metric.at("name") == "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum") {
            hasWavefronts = true;
            EXPECT_DOUBLE_EQ(metric.at("ratio").get<double>(), 1.0 / 32);
        }
    EXPECT_TRUE(hasWavefronts);
}

TEST_F(ComparedProfiles, ABaselineThatIsNoneIsSaid) {
    workspace.write("other.json", "{\"kernels\": [{\"kernel\": \"k\"}]}");
    const auto other = profile({"transpose.cu", "--baseline", "other.json"});
    EXPECT_EQ(other.status, 2);
    EXPECT_THAT(other.errors, HasSubstr("this is no profile in JSON"));
    workspace.write("deep.json",
                    "{\"metrics\": " + std::string(400'000, '[') + std::string(400'000, ']') + "}");
    const auto deep = profile({"transpose.cu", "--baseline", "deep.json"});
    EXPECT_EQ(deep.status, 2);
    EXPECT_THAT(deep.errors, HasSubstr("it is nested too deeply"));
    EXPECT_EQ(profile({"transpose.cu", "--baseline", "nowhere.json"}).status, 2);
    EXPECT_EQ(profile({"transpose.cu", "--against", "copy"}).status, 2) << "no --kernel";
}

TEST_F(ComparedProfiles, TwoKernelsStandSideBySide) {
    std::string other = padded();
    other = other.substr(other.find("__global__"));
    for (std::size_t at = 0; (at = other.find("transpose", at)) != std::string::npos; at += 6)
        other.replace(at, 9, "padded");
    other.replace(other.find("void launch("), 12, "void launchPadded(");
    workspace.write("transpose.cu", transpose + other);
    const auto both = profile({"transpose.cu", "--kernel", "transpose", "--against", "padded"});
    ASSERT_EQ(both.status, 0) << both.errors;
    EXPECT_THAT(both.output, AllOf(HasSubstr("transpose  now"), HasSubstr("padded  now"),
                                   HasSubstr("32 times less")));
}

/// With a program `ncu` on PATH that prints what is recorded in a file.
class ImportedProfiles : public ComparedProfiles {
protected:
    ImportedProfiles() {
        const std::string ncu = workspace.write(
            "tools/ncu",
            "#!/bin/sh\n"
            "[ \"$1 $3 $4 $5\" = '--import --page raw --csv' ] || exit 2\n"
            "grep -q 'a report' \"$2\" || { echo \"==ERROR== $2 is not a report\" >&2; exit 1; }\n"
            "cat \"$(dirname \"$0\")/table.csv\"\n");
        std::filesystem::permissions(ncu, std::filesystem::perms::owner_all);
        workspace.write(
            "tools/table.csv",
            "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"CC\","
            "\"gpu__time_duration.sum\","
            "\"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum\"\n"
            "\"\",\"\",\"\",\"\",\"\",\"ns\",\"\"\n"
            "\"0\",\"transpose(float *, const float *, int, int)\",\"(32, 32, 1)\",\"(4, 2, 1)\","
            "\"9.0\",\"4,128\",\"4,096\"\n");
        workspace.write("run.ncu-rep", "a report");
        ::setenv("PATH", (workspace.path("tools") + ":" + path_).c_str(), 1);
    }
    ~ImportedProfiles() override { ::setenv("PATH", path_.c_str(), 1); }

private:
    const std::string path_ = std::getenv("PATH");
};

TEST_F(ImportedProfiles, AReportIsShownWithItsLabels) {
    const auto shown = profile({"--import", "run.ncu-rep"});
    ASSERT_EQ(shown.status, 0) << shown.errors;
    EXPECT_THAT(shown.output,
                AllOf(HasSubstr("transpose(float *, const float *, int, int)  grid 4×2, block "
                                "32×32"),
                      HasSubstr("time under the profiler"), HasSubstr("4.13 µs"),
                      HasSubstr("load wavefronts"), HasSubstr("4,096")));
    const json imported = json::parse(profile({"--import", "run.ncu-rep", "--json"}).output);
    EXPECT_EQ(imported.at("kernels").at(0).at("metrics").at("gpu__time_duration.sum"), 4128);
    EXPECT_EQ(profile({"--import", "run.ncu-rep", "--kernel", "other"}).status, 1);
}

TEST_F(ImportedProfiles, AReportIsHeldAgainstTheFile) {
    const auto compared = profile({"transpose.cu", "--import", "run.ncu-rep"});
    ASSERT_EQ(compared.status, 0) << compared.errors;
    EXPECT_THAT(compared.output,
                AllOf(HasSubstr("on the Nsight Compute"), HasSubstr("they do not count alike"),
                      HasSubstr("Shared memory: load wavefronts")));
}

TEST_F(ImportedProfiles, WhatIsNoReportIsSaidInItsWords) {
    workspace.write("run.ncu-rep", "something else");
    const auto refused = profile({"--import", "run.ncu-rep"});
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.errors, HasSubstr("is not a report"));
    std::filesystem::remove(workspace.path("tools/ncu"));
    if (profile({"--import", "run.ncu-rep"}).status != 1) // Where Nsight Compute is installed.
        EXPECT_EQ(profile({"--import", "run.ncu-rep"}).status, 3);
}

TEST_F(ComparedProfiles, AReportHasTheOccupancyOfOtherBlocks) {
    if (!hasToolkit())
        GTEST_SKIP() << "registers are not known without the GPU's compiler";
    ASSERT_EQ(profile({"transpose.cu", "--report", "out.html"}).status, 0);
    std::ifstream page(workspace.path("out.html"), std::ios::binary);
    const std::string html{std::istreambuf_iterator<char>(page), {}};
    EXPECT_THAT(html, AllOf(HasSubstr("Occupancy, if the block were another"),
                            HasSubstr("1024 (now)"), HasSubstr("registers a thread")));
}

TEST_F(ComparedProfiles, OccupancyOfOtherBlocksIsPlotted) {
    const auto plotted = runKernelskill(
        {"occupancy", "transpose.cu", "--registers", "40", "--gpu", "H100"}, workspace.path());
    ASSERT_EQ(plotted.status, 0) << plotted.errors;
    EXPECT_THAT(plotted.output,
                AllOf(HasSubstr("1024 threads, 40 registers a thread, 4096 bytes of shared memory "
                                "a block: 50 % (32 warps in 1 block a multiprocessor), limited by "
                                "registers"),
                      HasSubstr("with other threads a block"),
                      HasSubstr("    512 |###############     |  75 %  3 blocks\n"),
                      HasSubstr("   1024 |##########          |  50 %  1 block  <- now\n"),
                      HasSubstr("with other registers a thread")));
    const json document = json::parse(runKernelskill({"occupancy", "transpose.cu", "--registers",
                                                      "40", "--block", "512", "--json"},
                                                     workspace.path())
                                          .output);
    EXPECT_EQ(document.at("percent"), 75);
    EXPECT_EQ(document.at("plots").size(), 3U);
    EXPECT_EQ(runKernelskill({"occupancy", "transpose.cu", "--registers", "999"}, workspace.path())
                  .status,
              2);
}

} // namespace
} // namespace kernelskill::lsp::testing
