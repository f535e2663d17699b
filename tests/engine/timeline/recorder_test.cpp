// The recorder in a program, as the driver loads it, with a CUPTI that needs no GPU.
#include "engine/timeline/activity_file.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/wait.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

class Recorder : public ::testing::Test {
protected:
    struct Run {
        int status = -1;
        std::string output;
    };
    /// Records the program, with `environment` like "NAME=value" before it.
    [[nodiscard]] Run run(const std::string& environment, const std::string& words) const {
        const auto output = folder_.path() / "output";
        const std::string line = "CUDA_INJECTION64_PATH='" + std::string(paths::timelineRecorder) +
                                 "' "
                                 "KERNELSKILL_CUPTI='" +
                                 std::string(paths::fakeCupti) + "' " + environment + " '" +
                                 std::string(paths::fakeTimelineProgram) + "' " + words + " > '" +
                                 output.string() + "' 2>&1";
        const int status = std::system(line.c_str()); // NOLINT: a test's own words
        std::ifstream stream(output);
        return {WEXITSTATUS(status), std::string(std::istreambuf_iterator<char>(stream), {})};
    }
    [[nodiscard]] std::string toFile() const {
        return std::string(activityFileVariable) + "='" + path_.string() + "'";
    }

    kernelskill::testing::TemporaryFolder folder_;
    std::filesystem::path path_ = folder_.path() / "activities";
};

TEST_F(Recorder, WritesWhatTheGpuDid) {
    const auto ran = run(toFile() + " FAKE_CUPTI_DROPS=1", "hello 3");
    EXPECT_EQ(ran.status, 3) << ran.output;
    EXPECT_EQ(ran.output, "hello\n");
    const auto file = readActivities(path_);
    ASSERT_TRUE(file) << file.error().describe();
    EXPECT_EQ(file->problem, "");
    EXPECT_EQ(file->dropped, 3u);
    ASSERT_EQ(file->activities.size(), 4u);
    const auto& copy = file->activities[0];
    EXPECT_EQ(copy.kind, ActivityKind::Copy);
    EXPECT_EQ(copy.name, "HtoD");
    EXPECT_EQ(copy.bytes, 4096u);
    EXPECT_EQ(file->activities[1].kind, ActivityKind::Set);
    const auto& kernel = file->activities[2];
    EXPECT_EQ(kernel.kind, ActivityKind::Kernel);
    EXPECT_EQ(kernel.name, "_Z5scalePf");
    EXPECT_EQ(kernel.begin, 5000u);
    EXPECT_EQ(kernel.end, 9000u);
    EXPECT_EQ(kernel.stream, 7u);
    EXPECT_EQ(kernel.grid, (std::array<std::uint32_t, 3>{128, 1, 1}));
    EXPECT_EQ(kernel.block, (std::array<std::uint32_t, 3>{256, 1, 1}));
    EXPECT_EQ(kernel.registers, 40u);
    EXPECT_EQ(kernel.sharedBytes, 1536u);
}

TEST_F(Recorder, SaysWhyItCannotRecordAndLetsTheProgramRun) {
    auto ran = run(toFile() + " FAKE_CUPTI_REFUSES=1", "hello 5");
    EXPECT_EQ(ran.status, 5);
    EXPECT_EQ(ran.output, "hello\n");
    auto file = readActivities(path_);
    ASSERT_TRUE(file);
    EXPECT_THAT(file->problem, HasSubstr("not today"));

    std::filesystem::remove(path_);
    ran = run(toFile() + " KERNELSKILL_CUPTI=/dev/null LD_LIBRARY_PATH=/nowhere", "hello 6");
    EXPECT_EQ(ran.status, 6);
    file = readActivities(path_);
    ASSERT_TRUE(file);
    // A machine with CUDA's libraries in the loader's own places has one all the same.
    if (!file->problem.empty()) {
        EXPECT_THAT(file->problem, HasSubstr("CUPTI"));
    }
}

TEST_F(Recorder, DoesNothingWithoutAPlaceToWrite) {
    EXPECT_EQ(run("", "hello 4").status, 4);
    EXPECT_EQ(run(std::string(activityFileVariable) + "=/nowhere/at/all", "hello 4").status, 4);
}

} // namespace
} // namespace kernelskill::engine
