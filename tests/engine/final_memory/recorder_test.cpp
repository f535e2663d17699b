// The recorder of final buffers in a program, on a stand-in of driver and CUPTI
// (tests/engine/capture/fake_gpu).
#include "engine/final_memory/final_memory.h"
#include "engine/final_memory/memory_comparison.h"
#include "tests/engine/capture/fake_program.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class FinalMemoryRecorderTest : public ::testing::Test {
protected:
    FinalMemoryRecorderTest() { target_.folder = folder_.path().string(); }

    [[nodiscard]] std::string recorded(const std::string& words) const {
        return testing::outputOfFakeProgram(
            words, testing::withRecorder("libkernelskill-final-memory.so", finalMemoryVariable,
                                         formatFinalMemoryTarget(target_)));
    }
    /// Its buffers are x and y, 1000 floats from 1 on each; a launch adds 2 * x to y.
    [[nodiscard]] FinalMemory record(const std::string& words) const {
        EXPECT_EQ(recorded(words), testing::outputOfFakeProgram(words));
        auto memory = readFinalMemory(folder_.path());
        EXPECT_TRUE(memory) << memory.error().describe();
        return memory.value_or(FinalMemory());
    }
    /// The last number of the buffer.
    static float lastOf(const FinalMemory& memory, std::size_t at) {
        const FinalBuffer& buffer = memory.buffers.at(at);
        float value = -1;
        if (!buffer.offset)
            return value;
        std::ifstream file(memory.contents, std::ios::binary);
        file.seekg(static_cast<std::streamoff>(*buffer.offset + buffer.bytes - sizeof value));
        file.read(reinterpret_cast<char*>(&value), sizeof value);
        return value;
    }

    ::kernelskill::testing::TemporaryFolder folder_;
    FinalMemoryTarget target_;
};

TEST_F(FinalMemoryRecorderTest, WritesWhatIsThereAtTheEnd) {
    const auto memory = record("launch launch");
    ASSERT_THAT(memory.buffers, SizeIs(2));
    EXPECT_TRUE(memory.isComplete);
    EXPECT_EQ(lastOf(memory, 0), 1000);
    EXPECT_EQ(lastOf(memory, 1), 5000);
    EXPECT_EQ(memory.buffers[1].uses, (std::vector<BufferUse>{{"_Z5saxpyfPKfPfi", 2}}));
}

TEST_F(FinalMemoryRecorderTest, WritesABufferBeforeItIsFreed) {
    const auto memory = record("launch free allocate launch");
    ASSERT_THAT(memory.buffers, SizeIs(3));
    EXPECT_EQ(lastOf(memory, 0), 1000) << "freed";
    EXPECT_EQ(memory.buffers[2].number, 3u);
    EXPECT_THAT(memory.buffers[1].uses, SizeIs(1)) << "the same use is noted once";
}

TEST_F(FinalMemoryRecorderTest, WaitsForTheStreamInWhoseOrderABufferIsFreed) {
    const auto memory = record("own-stream free-in-order");
    EXPECT_EQ(lastOf(memory, 0), 1000);
    EXPECT_EQ(lastOf(memory, 1), 3000);
}

TEST_F(FinalMemoryRecorderTest, WritesBuffersBeforeTheirContextEnds) {
    const auto memory = record("launch end-context");
    ASSERT_THAT(memory.buffers, SizeIs(2));
    EXPECT_EQ(lastOf(memory, 1), 3000);
}

TEST_F(FinalMemoryRecorderTest, ABufferAboveTheLimitIsNamed) {
    target_.totalBytes = 5000;
    const auto memory = record("launch");
    ASSERT_THAT(memory.buffers, SizeIs(2));
    EXPECT_EQ(lastOf(memory, 0), 1000);
    EXPECT_EQ(memory.buffers[1].offset, std::nullopt);
    EXPECT_THAT(memory.buffers[1].why, HasSubstr("are recorded"));
}

TEST_F(FinalMemoryRecorderTest, NothingIsReadWhileAStreamIsCaptured) {
    const auto memory = record("launch capture free end-capture");
    EXPECT_EQ(memory.buffers[0].why, "a stream was being captured");
    EXPECT_EQ(lastOf(memory, 1), 3000);
}

TEST_F(FinalMemoryRecorderTest, AProgramThatEndsAtOnceIsNotFollowedToItsEnd) {
    const auto memory = record("launch free end-at-once");
    EXPECT_THAT(memory.buffers, SizeIs(1));
    EXPECT_FALSE(memory.isComplete);
}

TEST_F(FinalMemoryRecorderTest, AChildOfTheProgramWritesNothing) {
    EXPECT_THAT(record("launch fork").buffers, SizeIs(2));
}

TEST_F(FinalMemoryRecorderTest, ComparesRunsOfTheProgram) {
    auto first = record("launch");
    ::kernelskill::testing::TemporaryFolder other;
    target_.folder = other.path().string();
    ASSERT_EQ(recorded("launch"), testing::outputOfFakeProgram("launch"));
    auto compared = ComparedBuffers::of(std::move(first), *readFinalMemory(other.path()));
    ASSERT_TRUE(compared);
    EXPECT_EQ(compared->count(), 2u);
    ::kernelskill::testing::TemporaryFolder edited;
    target_.folder = edited.path().string();
    ASSERT_NE(recorded("launch launch"), "");
    const auto difference = compared->differenceTo(*readFinalMemory(edited.path()));
    ASSERT_TRUE(difference && *difference);
    EXPECT_EQ(**difference, "the buffer of 4000 bytes that 'saxpy' gets as parameter 3: 1000 of "
                            "1000 float32 differ, the first at 0: 5 instead of 3");
}

} // namespace
} // namespace kernelskill::engine
