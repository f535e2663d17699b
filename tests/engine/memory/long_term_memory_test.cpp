#include "engine/memory/long_term_memory.h"
#include "engine/memory/outcome_file.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <thread>

namespace kernelskill::engine {
namespace {

using kernelskill::testing::TemporaryFolder;
using ::testing::HasSubstr;

Outcome outcome(std::string skill, std::uint64_t hash, VerdictStatus status,
                std::optional<double> speedup = std::nullopt) {
    return Outcome{std::move(skill),
                   "uncoalesced-access",
                   speedup ? "sm_90" : emulatedArchitecture,
                   hash,
                   status,
                   speedup};
}

TEST(LongTermMemory, CountsKernelsAndAcceptedEditsPerSkill) {
    TemporaryFolder folder;
    auto memory = LongTermMemory::open(folder.path() / "data" / "outcomes.sqlite");
    ASSERT_TRUE(memory) << memory.error().describe();
    ASSERT_TRUE(memory->record(outcome("a", 1, VerdictStatus::Faster, 2.0)));
    ASSERT_TRUE(memory->record(outcome("a", 2, VerdictStatus::Slower, 0.5)));
    ASSERT_TRUE(memory->record(outcome("a", 3, VerdictStatus::Incorrect)));
    ASSERT_TRUE(memory->record(outcome("b", 1, VerdictStatus::Unmeasured)));
    auto records = memory->records("uncoalesced-access", "sm_90");
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 2u);
    EXPECT_EQ((*records)[0].skill, "a");
    EXPECT_EQ((*records)[0].kernels, 3);
    EXPECT_EQ((*records)[0].failed, 1);
    EXPECT_EQ((*records)[0].measured, 2);
    EXPECT_EQ((*records)[0].faster, 1);
    EXPECT_DOUBLE_EQ((*records)[0].worth, 1);
    ASSERT_TRUE((*records)[0].meanSpeedup);
    EXPECT_NEAR(*(*records)[0].meanSpeedup, 1.0, 1e-12);
    EXPECT_EQ((*records)[1].kernels, 1);
    EXPECT_EQ((*records)[1].judged(), 0) << "it was not measured";
    EXPECT_FALSE((*records)[1].meanSpeedup);
}

TEST(LongTermMemory, OnlyTheLastOutcomeOnAKernelCounts) {
    TemporaryFolder folder;
    auto memory = LongTermMemory::open(folder.path() / "outcomes.sqlite");
    ASSERT_TRUE(memory);
    ASSERT_TRUE(memory->record(outcome("a", 1, VerdictStatus::Invalid)));
    ASSERT_TRUE(memory->record(outcome("a", 1, VerdictStatus::Unmeasured)));
    auto records = memory->records("uncoalesced-access", "");
    ASSERT_TRUE(records);
    ASSERT_EQ(records->size(), 1u);
    EXPECT_EQ((*records)[0].kernels, 1);
    EXPECT_EQ((*records)[0].failed, 0) << "the failure was overcome";
}

TEST(LongTermMemory, AnOutcomeWithoutATimeHidesNoneThatHasOne) {
    TemporaryFolder folder;
    auto memory = LongTermMemory::open(folder.path() / "outcomes.sqlite");
    ASSERT_TRUE(memory);
    ASSERT_TRUE(memory->record(outcome("a", 1, VerdictStatus::Faster, 1.5)));
    ASSERT_TRUE(memory->record(outcome("a", 1, VerdictStatus::Unmeasured)));
    EXPECT_EQ(memory->records("uncoalesced-access", "sm_90")->at(0).faster, 1);
    Outcome failed = outcome("a", 1, VerdictStatus::Incorrect);
    failed.failure = "no new hazard, n=1023";
    ASSERT_TRUE(memory->record(failed));
    const SkillRecord record = memory->records("uncoalesced-access", "sm_90")->at(0);
    EXPECT_EQ(record.faster, 0) << "a later failure counts";
    EXPECT_EQ(record.failed, 1);
    EXPECT_EQ(record.lastFailure, "no new hazard, n=1023");
}

TEST(LongTermMemory, TakesNoTimeThatNobodyMeasured) {
    TemporaryFolder folder;
    auto memory = LongTermMemory::open(folder.path() / "outcomes.sqlite");
    ASSERT_TRUE(memory);
    for (Outcome wrong :
         {outcome("a", 1, VerdictStatus::Unmeasured, 2.0),
          outcome("a", 1, VerdictStatus::Incorrect, 2.0), outcome("a", 1, VerdictStatus::Faster),
          outcome("a", 1, VerdictStatus::Faster, -1.0),
          outcome("a", 1, VerdictStatus::Slower, std::nan(""))}) {
        const auto recorded = memory->record(wrong);
        ASSERT_FALSE(recorded);
        EXPECT_EQ(recorded.error().kind, ErrorKind::InvalidInput);
    }
    Outcome emulated = outcome("a", 1, VerdictStatus::Faster, 2.0);
    emulated.architecture = emulatedArchitecture;
    EXPECT_FALSE(memory->record(emulated)) << "the emulator has no clock";
    EXPECT_TRUE(memory->outcomes()->empty());
}

TEST(LongTermMemory, AVerdictBecomesTheOutcomeThatItIs) {
    Verdict verdict;
    verdict.status = VerdictStatus::Faster;
    verdict.speedup = 1.5;
    EXPECT_EQ(outcomeOf(verdict, "a", "compute", 7, "sm_90").architecture, "sm_90");
    EXPECT_EQ(outcomeOf(verdict, "a", "compute", 7, "sm_90").speedup, 1.5);
    verdict.status = VerdictStatus::Unmeasured;
    verdict.speedup = std::nullopt;
    EXPECT_EQ(outcomeOf(verdict, "a", "compute", 7, "sm_90").architecture, emulatedArchitecture);
    verdict.status = VerdictStatus::Invalid;
    verdict.checks = {{"parses", true, ""}, {"compiles", false, "no such name"}};
    EXPECT_EQ(outcomeOf(verdict, "a", "compute", 7, "sm_90").failure, "compiles");
}

TEST(LongTermMemory, ReadsWhatTheFirstVersionWrote) {
    TemporaryFolder folder;
    const auto file = folder.path() / "outcomes.sqlite";
    sqlite3* old = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &old), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(old,
                           "CREATE TABLE outcome (id INTEGER PRIMARY KEY, time TEXT NOT NULL "
                           "DEFAULT 'then', skill TEXT NOT NULL, bottleneck TEXT NOT NULL, "
                           "architecture TEXT NOT NULL, kernel_hash TEXT NOT NULL, status TEXT NOT "
                           "NULL, log_speedup REAL);"
                           "INSERT INTO outcome (skill, bottleneck, architecture, kernel_hash, "
                           "status, log_speedup) VALUES ('a', 'uncoalesced-access', 'sm_90', "
                           "'000000000000002a', 'faster', 0.6931471805599453);"
                           "PRAGMA application_id = 1263750221; PRAGMA user_version = 1;",
                           nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(old);
    auto memory = LongTermMemory::open(file);
    ASSERT_TRUE(memory) << memory.error().describe();
    const auto outcomes = memory->outcomes();
    ASSERT_TRUE(outcomes);
    ASSERT_EQ(outcomes->size(), 1u);
    EXPECT_EQ(outcomes->at(0).kernelHash, 42u);
    EXPECT_NEAR(*outcomes->at(0).speedup, 2, 1e-12);
    EXPECT_TRUE(memory->record(outcome("b", 1, VerdictStatus::Invalid)));
    EXPECT_TRUE(memory->keepTimes("a key", "[1]"));
    EXPECT_TRUE(LongTermMemory::open(file)) << "it is brought up to date once";
}

TEST(LongTermMemory, KeepsTimesOfParts) {
    TemporaryFolder folder;
    const auto file = folder.path() / "outcomes.sqlite";
    {
        auto memory = LongTermMemory::open(file);
        ASSERT_TRUE(memory);
        EXPECT_EQ(memory->times("a key").value(), std::nullopt);
        EXPECT_TRUE(memory->keepTimes("a key", "[1]"));
        EXPECT_TRUE(memory->keepTimes("a key", "[2]"));
        EXPECT_TRUE(memory->keepTimes("another", "[3]"));
    }
    const auto memory = LongTermMemory::open(file);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->times("a key").value(), "[2]");
    EXPECT_EQ(memory->times("another").value(), "[3]");
}

TEST(LongTermMemory, ReadsWhatTheSecondVersionWrote) {
    TemporaryFolder folder;
    const auto file = folder.path() / "outcomes.sqlite";
    {
        auto memory = LongTermMemory::open(file);
        ASSERT_TRUE(memory);
        ASSERT_TRUE(memory->record(outcome("a", 1, VerdictStatus::Faster, 2.0)));
    }
    sqlite3* old = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &old), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(old, "DROP TABLE part_times; PRAGMA user_version = 2;", nullptr, nullptr,
                           nullptr),
              SQLITE_OK);
    sqlite3_close(old);
    auto memory = LongTermMemory::open(file);
    ASSERT_TRUE(memory) << memory.error().describe();
    EXPECT_EQ(memory->outcomes().value().size(), 1u);
    EXPECT_TRUE(memory->keepTimes("a key", "[1]"));
    EXPECT_EQ(memory->times("a key").value(), "[1]");
}

TEST(LongTermMemory, MergesWhatOthersExportedOnce) {
    TemporaryFolder folder;
    auto theirs = LongTermMemory::open(folder.path() / "theirs.sqlite");
    auto ours = LongTermMemory::open(folder.path() / "ours.sqlite");
    ASSERT_TRUE(theirs && ours);
    ASSERT_TRUE(theirs->record(outcome("a", 1, VerdictStatus::Faster, 2.0)));
    Outcome failed = outcome("b", 2, VerdictStatus::Invalid);
    failed.failure = "compiles";
    ASSERT_TRUE(theirs->record(failed));
    const auto exported = theirs->outcomes();
    ASSERT_TRUE(exported);
    auto read = parseOutcomes(formatOutcomes(*exported));
    ASSERT_TRUE(read) << read.error().describe();
    EXPECT_EQ(ours->merge(*read).value_or(0), 2u);
    EXPECT_EQ(ours->merge(*read).value_or(9), 0u) << "they are there already";
    EXPECT_EQ(ours->records("uncoalesced-access", "sm_90")->size(), 2u);
    const auto again = ours->outcomes();
    ASSERT_EQ(again->size(), 2u);
    EXPECT_EQ(again->at(1).failure, "compiles");
    EXPECT_NEAR(*again->at(0).speedup, 2, 1e-12);
    EXPECT_EQ(again->at(0).time, exported->at(0).time);
}

TEST(LongTermMemory, MergesAllOrNothing) {
    TemporaryFolder folder;
    auto memory = LongTermMemory::open(folder.path() / "outcomes.sqlite");
    ASSERT_TRUE(memory);
    const Outcome good = outcome("a", 1, VerdictStatus::Faster, 2.0);
    EXPECT_FALSE(memory->merge({good, outcome("a", 2, VerdictStatus::Faster)}));
    EXPECT_TRUE(memory->outcomes()->empty());
}

TEST(OutcomeFile, RefusesWhatIsNoneAndNamesTheOutcome) {
    for (const char* text : {"", "[]", "{}", R"({"format":"kernelskill-outcomes","version":2})",
                             R"({"format":"kernelskill-outcomes","version":1})",
                             R"({"format":"other","version":1,"outcomes":[]})"}) {
        const auto read = parseOutcomes(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().kind, ErrorKind::InvalidInput);
    }
    const std::string good = formatOutcomes({outcome("a", 1, VerdictStatus::Unmeasured)});
    EXPECT_FALSE(parseOutcomes(good)) << "without a time it cannot be told from another";
    Outcome timed = outcome("a", 1, VerdictStatus::Unmeasured);
    timed.time = "2025-01-01T00:00:00.000Z";
    std::string text = formatOutcomes({timed, timed});
    ASSERT_TRUE(parseOutcomes(text));
    text.replace(text.rfind("unmeasured"), 10, "guesswork!");
    EXPECT_THAT(parseOutcomes(text).error().what, HasSubstr("outcome 2"));
}

TEST(LongTermMemory, KeepsBottlenecksAndArchitecturesApart) {
    TemporaryFolder folder;
    auto memory = LongTermMemory::open(folder.path() / "outcomes.sqlite");
    ASSERT_TRUE(memory);
    ASSERT_TRUE(memory->record(outcome("a", 1, VerdictStatus::Faster, 2.0)));
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
    ASSERT_TRUE(mine->record(outcome("a", 1, VerdictStatus::Faster, 2.0)));
    EXPECT_EQ(mine->records("uncoalesced-access", "")->size(), 1u);
    ASSERT_TRUE(other->record(outcome("b", 2, VerdictStatus::Faster, 2.0)));
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    EXPECT_EQ(mine->records("uncoalesced-access", "")->size(), 2u);
}

TEST(LongTermMemory, OutlivesTheProcessThatWroteIt) {
    TemporaryFolder folder;
    auto file = folder.path() / "outcomes.sqlite";
    {
        auto memory = LongTermMemory::open(file);
        ASSERT_TRUE(memory);
        ASSERT_TRUE(memory->record(outcome("a", ~0ull, VerdictStatus::Faster, 3.0)));
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
