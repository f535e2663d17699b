/// Logs of compute-sanitizer, as it writes them, and a stand-in for it around a runner without a
/// GPU.
#include "engine/execution/gpu/compute_sanitizer.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kernelskill::engine::gpu {
namespace {

using kernelskill::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view outOfBounds =
    "========= COMPUTE-SANITIZER\n"
    "========= Invalid __global__ write of size 4 bytes\n"
    "=========     at scale(float *, int)+0xb0 in /tmp/x/unit.cu:12\n"
    "=========     by thread (31,0,0) in block (3,0,0)\n"
    "=========     Address 0x7f2dc9400200 is out of bounds\n"
    "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
    "=========         Host Frame: cuLaunchKernel [0x2c3f2f] in libcuda.so.1\n"
    "=========\n"
    "========= Invalid __global__ write of size 4 bytes\n"
    "=========     at scale(float *, int)+0xb0 in /tmp/x/unit.cu:12\n"
    "=========     by thread (30,0,0) in block (3,0,0)\n"
    "=========\n"
    "========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719) due to \"unspecified launch "
    "failure\" on CUDA API call to cuCtxSynchronize.\n"
    "=========     Saved host backtrace up to driver entry point at error\n"
    "=========\n"
    "========= ERROR SUMMARY: 3 errors\n";

constexpr std::string_view raceLog =
    "========= COMPUTE-SANITIZER\n"
    "========= Error: Race reported between Write access at sum(int *)+0x90 in a.cu:40\n"
    "=========     and Read access at sum(int *)+0xe0 in a.cu:46 [124 hazards]\n"
    "=========     and Write access at sum(int *)+0xf0 in a.cu:47 [4 hazards]\n"
    "=========\n"
    "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n";

TEST(SanitizerLog, NamesEachPlaceOnce) {
    EXPECT_THAT(readSanitizerLog("memcheck", outOfBounds),
                ElementsAre(SanitizerFinding{"memcheck", "Invalid __global__ write of size 4 bytes",
                                             "scale in unit.cu:12"}));
}

TEST(SanitizerLog, NamesBothSidesOfARace) {
    EXPECT_THAT(readSanitizerLog("racecheck", raceLog),
                ElementsAre(SanitizerFinding{
                    "racecheck", "Race between Write access and Read access and Write access",
                    "sum in a.cu:40 and sum in a.cu:46 and sum in a.cu:47"}));
}

TEST(SanitizerLog, TakesTheOlderOrderOfAPlace) {
    EXPECT_THAT(readSanitizerLog("synccheck",
                                 "========= Barrier error detected. Divergent thread(s) in warp\n"
                                 "=========     at 0x68 in /x/y.cu:7:wait(int*)\n"),
                ElementsAre(SanitizerFinding{
                    "synccheck", "Barrier error detected. Divergent thread(s) in warp", "y.cu:7"}));
}

TEST(SanitizerLog, HasNothingWithoutErrors) {
    EXPECT_THAT(readSanitizerLog("memcheck", "========= COMPUTE-SANITIZER\n"
                                             "========= ERROR SUMMARY: 0 errors\n"),
                IsEmpty());
    EXPECT_THAT(readSanitizerLog("memcheck", ""), IsEmpty());
    EXPECT_THAT(readSanitizerLog("memcheck", "=========\n=========     at \n========= at x"),
                IsEmpty());
}

TEST(SanitizerFindings, AreNewWhereTheOriginalHasFewer) {
    const SanitizerFinding read{"memcheck", "Invalid read", "k in a.cu:3"};
    const SanitizerFinding moved{"memcheck", "Invalid read", "k in a.cu:9"};
    const SanitizerFinding write{"memcheck", "Invalid write", "k in a.cu:4"};
    EXPECT_THAT(newFindings({read}, {moved}), IsEmpty());
    EXPECT_THAT(newFindings({read}, {moved, write}), ElementsAre(write));
    EXPECT_THAT(newFindings({read}, {read, moved}), ElementsAre(moved));
}

class SanitizerProcess : public ::testing::Test {
protected:
    /// A program that is called like compute-sanitizer, writes `log` for `tool` once its program
    /// has ended, and logs its own arguments.
    [[nodiscard]] std::filesystem::path standIn(const std::string& tool,
                                                std::string_view log) const {
        std::ofstream(folder_.path() / "findings") << log;
        const auto program = folder_.path() / "compute-sanitizer";
        std::ofstream(program) << "#!/bin/bash\n"
                                  "while [[ $1 == --* ]]; do\n"
                                  "    [[ $1 == --tool ]] && tool=$2\n"
                                  "    [[ $1 == --log-file ]] && log=$2\n"
                                  "    shift 2\n"
                                  "done\n"
                                  "echo \"$tool\" >>"
                               << (folder_.path() / "tools").string()
                               << "\n\"$@\"\n"
                                  "if [[ $tool == "
                               << tool << " ]]; then cat " << (folder_.path() / "findings").string()
                               << " >\"$log\"; else echo '========= ERROR SUMMARY: 0 errors' "
                                  ">\"$log\"; fi\n";
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        return program;
    }

    [[nodiscard]] static Result<std::vector<SanitizerFinding>>
    run(const std::filesystem::path& sanitizer, std::string order = "hello") {
        Subject subject;
        subject.symbol = std::move(order);
        return runSanitizer(sanitizer, {.executable = paths::testRunner}, subject, 1, {});
    }

    TemporaryFolder folder_;
};

TEST_F(SanitizerProcess, AsksEachTool) {
    const auto found = run(standIn("racecheck", raceLog));
    ASSERT_TRUE(found) << found.error().describe();
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->front().tool, "racecheck");
    std::ifstream tools(folder_.path() / "tools");
    const std::string all(std::istreambuf_iterator<char>(tools), {});
    EXPECT_EQ(all, "memcheck\nracecheck\nsynccheck\n");
}

TEST_F(SanitizerProcess, ReadsTheLogOfARunnerThatDied) {
    const auto found = run(standIn("memcheck", outOfBounds), "die");
    ASSERT_TRUE(found) << found.error().describe();
    EXPECT_EQ(found->size(), 1U);
}

TEST_F(SanitizerProcess, FailsWhereARunnerDiesOfNothingThatIsFound) {
    const auto found = run(standIn("memcheck", ""), "die");
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().describe(), HasSubstr("memcheck could not run the kernel"));
}

TEST_F(SanitizerProcess, IsMissingWithARemedy) {
    const auto found = run("compute-sanitizer");
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::Missing);
    EXPECT_FALSE(found.error().remedy.empty());
}

TEST_F(SanitizerProcess, IsNotUsedOnACluster) {
    const auto found = runSanitizer(
        standIn("memcheck", ""), {.executable = paths::testRunner, .slurm = SlurmJob{}}, {}, 1, {});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::Unsupported);
}

} // namespace
} // namespace kernelskill::engine::gpu
