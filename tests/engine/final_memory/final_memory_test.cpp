#include "engine/final_memory/final_memory.h"
#include "tests/engine/final_memory/recorded_buffers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(FinalMemoryTest, TargetsAreReadAsTheyAreWritten) {
    const FinalMemoryTarget target{"/tmp/a b", "/usr/lib/libcupti.so", 123};
    const auto read = parseFinalMemoryTarget(formatFinalMemoryTarget(target));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->folder, target.folder);
    EXPECT_EQ(read->cupti, target.cupti);
    EXPECT_EQ(read->totalBytes, target.totalBytes);
    EXPECT_FALSE(parseFinalMemoryTarget("{}"));
    EXPECT_FALSE(parseFinalMemoryTarget("no JSON"));
}

TEST(FinalMemoryTest, BuffersAreReadAsTheyAreWritten) {
    testing::RecordedBuffers recorded;
    recorded.add(std::vector<float>{1, 2, 3}, "_Z5scalePf");
    recorded.addUnrecorded(1u << 30, "at most 1024 MiB are recorded");
    const auto memory = recorded.read();
    ASSERT_THAT(memory.buffers, SizeIs(2));
    EXPECT_TRUE(memory.isComplete);
    EXPECT_EQ(memory.buffers[0].number, 1u);
    EXPECT_EQ(memory.buffers[0].bytes, 12u);
    EXPECT_EQ(memory.buffers[0].offset, 0u);
    EXPECT_EQ(memory.buffers[0].uses, (std::vector<BufferUse>{{"_Z5scalePf", 0}}));
    EXPECT_EQ(memory.buffers[1].offset, std::nullopt);
    EXPECT_EQ(memory.buffers[1].why, "at most 1024 MiB are recorded");
}

TEST(FinalMemoryTest, BuffersAreInTheOrderOfTheirAllocation) {
    const testing::RecordedBuffers recorded;
    FinalBuffer first;
    first.number = 1;
    FinalBuffer second;
    second.number = 2;
    recorded.writeText(bufferListFile(recorded.folder(), 1),
                       bufferListHead() + lineOf(second) + lineOf(first) + bufferListEnd());
    const auto memory = readFinalMemory(recorded.folder());
    ASSERT_TRUE(memory) << memory.error().describe();
    EXPECT_EQ(memory->buffers[0].number, 1u);
}

TEST(FinalMemoryTest, AProgramThatWasKilledLeavesWholeLines) {
    testing::RecordedBuffers recorded;
    recorded.add(std::vector<int>{1});
    recorded.leaveOutEnd();
    recorded.write();
    std::ofstream(bufferListFile(recorded.folder(), 1), std::ios::app) << "{\"number\": 2, \"by";
    const auto memory = readFinalMemory(recorded.folder());
    ASSERT_TRUE(memory) << memory.error().describe();
    EXPECT_THAT(memory->buffers, SizeIs(1));
    EXPECT_FALSE(memory->isComplete);
}

TEST(FinalMemoryTest, SaysWhyThereIsNone) {
    testing::RecordedBuffers recorded;
    const auto none = readFinalMemory(recorded.folder());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().kind, ErrorKind::Missing);

    recorded.add(std::vector<int>{1});
    recorded.write();
    recorded.writeText(bufferListFile(recorded.folder(), 2), bufferListHead() + bufferListEnd());
    EXPECT_TRUE(readFinalMemory(recorded.folder())) << "the second process has no buffer";
    recorded.writeText(bufferListFile(recorded.folder(), 2),
                       bufferListHead() + lineOf(FinalBuffer()) + bufferListEnd());
    const auto several = readFinalMemory(recorded.folder());
    ASSERT_FALSE(several);
    EXPECT_EQ(several.error().kind, ErrorKind::Unsupported);
    EXPECT_THAT(several.error().what, HasSubstr("several of its processes"));
}

TEST(FinalMemoryTest, OtherFilesAreRefused) {
    const testing::RecordedBuffers recorded;
    FinalBuffer outside;
    outside.number = 1;
    outside.bytes = 16;
    outside.offset = 1;
    for (const std::string& text :
         {std::string(), std::string("{}\n"), std::string("no JSON\n"),
          std::string("{\"kind\":\"kernelskill-final-memory\",\"version\":99}\n"),
          bufferListHead() + "[]\n", bufferListHead() + lineOf(outside)}) {
        recorded.writeText(bufferListFile(recorded.folder(), 1), text);
        recorded.writeText(bufferContentsFile(recorded.folder(), 1), "16 bytes of them");
        const auto read = readFinalMemory(recorded.folder());
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().kind, ErrorKind::InvalidInput) << text;
    }
}

} // namespace
} // namespace kernelskill::engine
