// The recorder in a program, on a stand-in of driver and CUPTI (fake_gpu/).
#include "engine/capture/capture_store.h"
#include "engine/capture/recording.h"
#include "tests/paths.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/wait.h>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Outcome {
    int status = -1;
    std::string output; ///< Standard error with it.
};

class RecorderTest : public ::testing::Test {
protected:
    RecorderTest() {
        recording_.folder = temporary_.path().string();
        recording_.program = "./program";
        recording_.waitMilliseconds = 300;
    }

    [[nodiscard]] Outcome run(const std::string& words, bool isRecorded = true) const {
        std::string command = "LD_LIBRARY_PATH='" + std::string(paths::fakeGpuFolder) + "' ";
        if (isRecorded)
            command += "CUDA_INJECTION64_PATH='" + std::string(paths::captureLibrary) + "' " +
                       std::string(recordingVariable) + "='" + formatRecording(recording_) + "' ";
        command += "'" + std::string(paths::fakeCaptureProgram) + "' " + words + " 2>&1";
        Outcome outcome;
        std::FILE* pipe = popen(command.c_str(), "r");
        std::array<char, 4096> part{};
        while (pipe != nullptr && std::fgets(part.data(), part.size(), pipe) != nullptr)
            outcome.output += part.data();
        outcome.status = pipe == nullptr ? -1 : WEXITSTATUS(pclose(pipe));
        return outcome;
    }
    /// Recorded, and as it runs by itself.
    [[nodiscard]] std::vector<StoredLaunch> record(const std::string& words) const {
        const auto alone = run(words, false);
        const auto recorded = run(words);
        EXPECT_EQ(recorded.output, alone.output);
        EXPECT_EQ(recorded.status, alone.status);
        const auto captures = readCaptures(temporary_.path());
        EXPECT_THAT(captures.problems, IsEmpty());
        return captures.launches;
    }
    [[nodiscard]] std::size_t attached() const {
        std::size_t count = 0;
        for (const auto& entry : fs::directory_iterator(temporary_.path()))
            count += entry.path().filename().string().starts_with(attachedPrefix) ? 1 : 0;
        return count;
    }

    static std::vector<float> floats(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        std::vector<float> values(text.size() / sizeof(float));
        std::memcpy(values.data(), text.data(), values.size() * sizeof(float));
        return values;
    }
    static const CapturedBuffer& x(const StoredLaunch& stored) {
        return *stored.launch.parameters.at(1).buffer;
    }
    static const CapturedBuffer& y(const StoredLaunch& stored) {
        return *stored.launch.parameters.at(2).buffer;
    }

    testing::TemporaryFolder temporary_;
    Recording recording_;
};

TEST_F(RecorderTest, WritesDownTheFirstLaunchAndWhatItDid) {
    const auto launches = record("launch launch");
    EXPECT_EQ(attached(), 1u);
    ASSERT_THAT(launches, SizeIs(1));
    const CapturedLaunch& launch = launches.front().launch;
    EXPECT_EQ(launch.symbol, "_Z5saxpyfPKfPfi");
    EXPECT_EQ(launch.ordinal, 1u);
    EXPECT_EQ(launch.program, "./program");
    EXPECT_EQ(launch.device, "Fake GPU");
    EXPECT_THAT(launch.grid, ElementsAre(4, 1, 1));
    EXPECT_THAT(launch.block, ElementsAre(256, 1, 1));
    EXPECT_EQ(launch.sharedBytes, 64u);
    ASSERT_THAT(launch.parameters, SizeIs(4));
    EXPECT_EQ(launch.parameters[3].offset, 24u);
    int n = 0;
    std::memcpy(&n, launch.parameters[3].value.data(), sizeof n);
    EXPECT_EQ(n, 1000);
    EXPECT_FALSE(launch.parameters[0].buffer);
    EXPECT_EQ(x(launches[0]).bytes, 4000u);
    EXPECT_EQ(x(launches[0]).before, x(launches[0]).after) << "equal data is kept once";
    const auto before = floats(y(launches[0]).before);
    const auto after = floats(y(launches[0]).after);
    ASSERT_THAT(after, SizeIs(1000));
    for (std::size_t i = 0; i < after.size(); ++i) {
        ASSERT_EQ(before[i], static_cast<float>(i + 1));
        ASSERT_EQ(after[i], 3.0f * static_cast<float>(i + 1));
    }
}

TEST_F(RecorderTest, WritesDownAsManyLaunchesAsWanted) {
    recording_.launches = 3;
    const auto launches = record("launch own-stream packed extended empty");
    ASSERT_THAT(launches, SizeIs(4));
    EXPECT_EQ(launches[3].launch.symbol, "empty");
    EXPECT_THAT(launches[3].launch.parameters, IsEmpty());
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(launches[i].launch.ordinal, i + 1);
        EXPECT_EQ(floats(y(launches[i]).after)[9], static_cast<float>(10 * (2 * i + 3)));
    }
    EXPECT_EQ(y(launches[0]).after, y(launches[1]).before);
}

TEST_F(RecorderTest, UnderstandsEveryWayToLaunch) {
    for (const char* way : {"launch", "packed", "extended", "other"}) {
        const auto launches = record(way);
        ASSERT_THAT(launches, SizeIs(1)) << way;
        EXPECT_EQ(launches[0].launch.parameters.at(0).value.at(3), std::byte{0x40}) << way;
        EXPECT_EQ(floats(y(launches[0]).after)[1], 6.0f) << way;
        fs::remove_all(temporary_.path());
        fs::create_directories(temporary_.path());
    }
}

TEST_F(RecorderTest, ReadsFromAPointerToTheEndOfItsAllocation) {
    const auto launches = record("inside launch");
    ASSERT_THAT(launches, SizeIs(1));
    EXPECT_EQ(y(launches[0]).bytes, 3600u);
    EXPECT_EQ(floats(y(launches[0]).before).front(), 101.0f);
}

TEST_F(RecorderTest, RecordsTheKernelsThatWereNamedAlone) {
    recording_.kernels = {"axp"};
    EXPECT_THAT(record("empty launch"), SizeIs(1));
    EXPECT_EQ(readCaptures(temporary_.path()).launches.front().launch.symbol, "_Z5saxpyfPKfPfi");
}

TEST_F(RecorderTest, LeavesOutABufferThatIsTooLarge) {
    recording_.bufferBytes = 3999;
    const auto launches = record("launch");
    ASSERT_THAT(launches, SizeIs(1));
    EXPECT_THAT(x(launches[0]).before, IsEmpty());
    EXPECT_THAT(x(launches[0]).missing, HasSubstr("3999 bytes"));
    EXPECT_EQ(x(launches[0]).bytes, 4000u);
}

TEST_F(RecorderTest, KeepsNoMoreThanTheLimitInAll) {
    recording_.totalBytes = 8000;
    recording_.launches = 2;
    const auto launches = record("launch launch");
    ASSERT_THAT(launches, SizeIs(2));
    EXPECT_FALSE(y(launches[0]).after.empty());
    EXPECT_FALSE(y(launches[1]).before.empty()) << "it is there already";
    EXPECT_TRUE(y(launches[1]).after.empty());
    std::uintmax_t bytes = 0;
    for (const auto& file : fs::directory_iterator(temporary_.path() / dataFolder))
        bytes += file.file_size();
    EXPECT_EQ(bytes, 8000u);
}

TEST_F(RecorderTest, DoesNotWaitForEverForWorkThatDoesNotEnd) {
    const auto launches = record("blocked own-stream launch");
    ASSERT_THAT(launches, SizeIs(1));
    EXPECT_THAT(y(launches[0]).before, IsEmpty());
    EXPECT_THAT(y(launches[0]).missing, HasSubstr("did not end in time"));
}

TEST_F(RecorderTest, LeavesStreamsAloneThatAreCaptured) {
    const auto launches = record("capture own-stream launch end-capture");
    ASSERT_THAT(launches, SizeIs(1)) << "the one beside the capture";
    EXPECT_EQ(floats(y(launches[0]).after)[0], 3.0f);
}

TEST_F(RecorderTest, CountsOnlyLaunchesThatTheDriverTakes) {
    const auto launches = record("too-many-threads launch");
    ASSERT_THAT(launches, SizeIs(1));
    EXPECT_EQ(launches[0].launch.ordinal, 1u);
    EXPECT_THAT(launches[0].launch.block, ElementsAre(256, 1, 1));
}

TEST_F(RecorderTest, KeepsLaunchesOfThreadsApart) {
    recording_.launches = 5;
    const auto launches = record("threads");
    ASSERT_THAT(launches, SizeIs(5));
    std::vector<float> before;
    for (const StoredLaunch& launch : launches) {
        before.push_back(floats(y(launch).before)[0]);
        EXPECT_EQ(floats(y(launch).after)[0], before.back() + 2);
    }
    EXPECT_THAT(before, ElementsAre(1, 3, 5, 7, 9));
}

TEST_F(RecorderTest, LetsProgramsForkAndFail) {
    const auto launches = record("fork launch fail");
    ASSERT_THAT(launches, SizeIs(1));
    EXPECT_EQ(run("fail").status, 7);
}

TEST_F(RecorderTest, StopsWithOneLineWhenItCannotWrite) {
    recording_.folder = (temporary_.path() / "gone").string();
    const auto alone = run("launch launch", false);
    const auto recorded = run("launch launch");
    EXPECT_EQ(recorded.status, alone.status);
    EXPECT_THAT(recorded.output, ::testing::EndsWith(alone.output));
    EXPECT_THAT(recorded.output, ::testing::StartsWith("kernelskill: capturing stops here: cannot "
                                                       "write to " +
                                                       recording_.folder));
    EXPECT_EQ(std::ranges::count(recorded.output, '\n'),
              std::ranges::count(alone.output, '\n') + 1);
}

TEST_F(RecorderTest, RecordsALaunchInOneOfTheProcessesThatShareTheFolder) {
    EXPECT_THAT(record("launch"), SizeIs(1));
    EXPECT_EQ(run("launch").status, 0);
    EXPECT_EQ(attached(), 2u);
    EXPECT_THAT(readCaptures(temporary_.path()).launches, SizeIs(1));
}

TEST(Recording, ComesBackAsItWasWritten) {
    Recording recording{"/f", "./a \"b\"", "/c.so", {"k", "l"}, 2, 3, 4, 5};
    const auto read = parseRecording(formatRecording(recording));
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_EQ(formatRecording(*read), formatRecording(recording));
    EXPECT_FALSE(parseRecording("{}"));
    EXPECT_FALSE(parseRecording(""));
}

} // namespace
} // namespace kernelskill::engine
