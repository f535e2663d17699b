#include "engine/memory/memory_recall.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::TemporaryFolder;

MemoryEntry failureOn(std::uint64_t hash) {
    MemoryEntry entry;
    entry.kind = EntryKind::Verdict;
    entry.time = timestamp();
    entry.kernelHash = hash;
    entry.skill = "loop-unrolling";
    entry.status = "incorrect";
    return entry;
}

TEST(MemoryRecall, AnswersTheSameEntriesUntilSomethingIsAppended) {
    TemporaryFolder folder;
    const ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    MemoryRecall recall;
    EXPECT_TRUE(recall.entries(memory, {7})->empty());
    ASSERT_TRUE(memory.append(failureOn(7)));
    const auto first = recall.entries(memory, {7});
    ASSERT_EQ(first->size(), 1u);
    EXPECT_EQ(recall.entries(memory, {7}), first);
    ASSERT_TRUE(memory.append(failureOn(7)));
    EXPECT_EQ(recall.entries(memory, {7})->size(), 2u);
}

TEST(MemoryRecall, FollowsAKernelFromAnotherFile) {
    TemporaryFolder folder;
    ASSERT_TRUE(ShortTermMemory(folder.path(), folder.path() / "old.cu").append(failureOn(7)));
    const ShortTermMemory memory(folder.path(), folder.path() / "new.cu");
    MemoryRecall recall;
    EXPECT_TRUE(recall.entries(memory, {8})->empty());
    EXPECT_EQ(recall.entries(memory, {7})->size(), 1u);
}

} // namespace
} // namespace kernelskill::engine
