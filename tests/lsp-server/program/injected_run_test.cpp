// Runs with a recorder in the program, on the stand-in of driver and CUPTI
// (tests/engine/capture/fake_gpu), where a launch takes 10 ns a thread.
#include "engine/final_memory/final_memory.h"
#include "lsp-server/program/injected_run.h"
#include "lsp-server/program/program_profiling.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace kernelskill::lsp {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class InjectedRunTest : public ::testing::Test {
protected:
    InjectedRunTest() {
        fs::create_directories(toolkit_.path() / "include");
        fs::create_directories(toolkit_.path() / "lib64");
        std::ofstream(toolkit_.path() / "include/cuda_runtime.h").flush();
        fs::create_symlink(fs::path(paths::fakeGpuFolder) / "libcupti.so.13",
                           toolkit_.path() / "lib64/libcupti.so");
        options_.cudaPath = toolkit_.path().string();
    }
    [[nodiscard]] ProgramStart startOf(std::vector<std::string> words) const {
        engine::Workload workload;
        workload.command = {paths::fakeCaptureProgram};
        workload.command.insert(workload.command.end(), words.begin(), words.end());
        workload.folder = toolkit_.path();
        workload.environment = {{"LD_LIBRARY_PATH", paths::fakeGpuFolder}};
        return inBackground(workload, {});
    }

    ::kernelskill::testing::TemporaryFolder toolkit_;
    Options options_;
};

TEST_F(InjectedRunTest, MeasuresKernelsOneByOne) {
    ProgramProfileReport report;
    const auto left = findDurations(report, options_, startOf({"launch", "launch", "empty"}));
    ASSERT_TRUE(left) << left.error().describe();
    EXPECT_EQ(*left, "");
    EXPECT_THAT(report.alone, ElementsAre(Pair("_Z5saxpyfPKfPfi", 10.24), Pair("empty", 0.32)));
}

TEST_F(InjectedRunTest, SaysWhyLaunchesWereNotMeasured) {
    ProgramProfileReport report;
    const auto left = findDurations(report, options_, startOf({"launch", "threads"}));
    ASSERT_TRUE(left) << left.error().describe();
    EXPECT_THAT(*left, HasSubstr("several of its threads"));

    const auto none = findDurations(report, options_, startOf({}));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::Missing);
}

TEST_F(InjectedRunTest, RecordsBuffers) {
    const ::kernelskill::testing::TemporaryFolder folder;
    const auto variables = bufferRecording(folder.path(), options_);
    ASSERT_TRUE(variables) << variables.error().describe();
    ASSERT_TRUE(startOf({"launch"})(*variables));
    const auto memory = engine::readFinalMemory(folder.path());
    ASSERT_TRUE(memory) << memory.error().describe();
    EXPECT_EQ(memory->buffers.size(), 2u);
}

} // namespace
} // namespace kernelskill::lsp
