#include "engine/memory/long_term_memory.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <thread>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::TemporaryFolder;
using ::testing::HasSubstr;

Outcome outcomeOf(std::string skill, std::uint64_t hash, VerdictStatus status,
                  std::optional<double> speedup = std::nullopt) {
    return Outcome{std::move(skill), "uncoalesced-access", "sm_90", hash, status, speedup};
}

TEST(LongTermMemory, CountsKernelsAndAcceptedEditsPerSkill) {
    TemporaryFolder folder;
    auto memory = LongTermMemory::open(folder.path() / "data" / "outcomes.sqlite");
    ASSERT_TRUE(memory) << memory.error().describe();
    ASSERT_TRUE(memory->record(outcomeOf("a", 1, VerdictStatus::Faster, 2.0)));
    ASSERT_TRUE(memory->record(outcomeOf("a", 2, VerdictStatus::Slower, 0.5)));
    ASSERT_TRUE(memory->record(outcomeOf("a", 3, VerdictStatus::Incorrect)));
    ASSERT_TRUE(memory->record(outcomeOf("b", 1, VerdictStatus::Unmeasured)));
    auto records = memory->records("uncoalesced-access", "sm_90");
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 2u);
    EXPECT_EQ((*records)[0].skill, "a");
    EXPECT_EQ((*records)[0].kernels, 3);
    EXPECT_EQ((*records)[0].accepted, 2);
    ASSERT_TRUE((*records)[0].meanSpeedup);
    EXPECT_NEAR(*(*records)[0].meanSpeedup, 1.0, 1e-12);
    EXPECT_EQ((*records)[1].accepted, 1);
    EXPECT_FALSE((*records)[1].meanSpeedup);
}

TEST(LongTermMemory, OnlyTheLastOutcomeOnAKernelCounts) {
    TemporaryFolder folder;
    auto memory = LongTermMemory::open(folder.path() / "outcomes.sqlite");
    ASSERT_TRUE(memory);
    ASSERT_TRUE(memory->record(outcomeOf("a", 1, VerdictStatus::Invalid)));
    ASSERT_TRUE(memory->record(outcomeOf("a", 1, VerdictStatus::Unmeasured)));
    auto records = memory->records("uncoalesced-access", "");
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 1u);
    EXPECT_EQ((*records)[0].kernels, 1);
    EXPECT_EQ((*records)[0].accepted, 1);
}

TEST(LongTermMemory, KeepsBottlenecksAndArchitecturesApart) {
    TemporaryFolder folder;
    auto memory = LongTermMemory::open(folder.path() / "outcomes.sqlite");
    ASSERT_TRUE(memory);
    ASSERT_TRUE(memory->record(outcomeOf("a", 1, VerdictStatus::Faster, 2.0)));
    EXPECT_TRUE(memory->records("divergence", "sm_90")->empty());
    EXPECT_TRUE(memory->records("uncoalesced-access", "sm_80")->empty());
    EXPECT_EQ(memory->records("uncoalesced-access", "")->size(), 1u);
}

TEST(LongTermMemory, SeesWhatIsRecordedHereOrThroughAnotherConnection) {
    TemporaryFolder folder;
    auto mine = LongTermMemory::open(folder.path() / "outcomes.sqlite");
    auto other = LongTermMemory::open(folder.path() / "outcomes.sqlite");
    ASSERT_TRUE(mine && other);
    EXPECT_TRUE(mine->records("uncoalesced-access", "")->empty());
    ASSERT_TRUE(mine->record(outcomeOf("a", 1, VerdictStatus::Faster, 2.0)));
    EXPECT_EQ(mine->records("uncoalesced-access", "")->size(), 1u);
    ASSERT_TRUE(other->record(outcomeOf("b", 2, VerdictStatus::Faster, 2.0)));
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    EXPECT_EQ(mine->records("uncoalesced-access", "")->size(), 2u);
}

TEST(LongTermMemory, OutlivesTheProcessThatWroteIt) {
    TemporaryFolder folder;
    auto file = folder.path() / "outcomes.sqlite";
    {
        auto memory = LongTermMemory::open(file);
        ASSERT_TRUE(memory);
        ASSERT_TRUE(memory->record(outcomeOf("a", ~0ull, VerdictStatus::Faster, 3.0)));
    }
    auto memory = LongTermMemory::open(file);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->records("uncoalesced-access", "sm_90")->size(), 1u);
}

TEST(LongTermMemory, LeavesAFileThatIsNotADatabaseAlone) {
    TemporaryFolder folder;
    auto file = folder.path() / "outcomes.sqlite";
    const std::string text(5000, 'x');
    std::ofstream(file) << text;
    auto memory = LongTermMemory::open(file);
    ASSERT_FALSE(memory);
    EXPECT_EQ(memory.error().kind, ErrorKind::InvalidInput);
    std::ifstream stream(file);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), text);
}

} // namespace
} // namespace kernelskill::engine
