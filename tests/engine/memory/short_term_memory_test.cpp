#include "analysis/source/files.h"
#include "engine/memory/memory_entry.h"
#include "engine/memory/short_term_memory.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using kernelskill::testing::TemporaryFolder;
using ::testing::HasSubstr;

MemoryEntry entryOf(std::string skill, std::uint64_t hash = 0xfedcba9876543210u) {
    MemoryEntry entry;
    entry.kind = EntryKind::Verdict;
    entry.time = timestamp();
    entry.kernel = "ns::saxpy";
    entry.kernelHash = hash;
    entry.skill = std::move(skill);
    entry.option = 4;
    entry.editHash = "00ff";
    entry.status = "incorrect";
    entry.detail = "line one\nline \"two\"";
    return entry;
}

std::string textOf(const fs::path& path) {
    return analysis::readFile(path).value_or("");
}

void writeText(const fs::path& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
}

TEST(ShortTermMemory, MapsAFileToItsPlaceUnderTheWorkspace) {
    TemporaryFolder folder;
    fs::path root = fs::canonical(folder.path());
    EXPECT_EQ(ShortTermMemory(root, root / "src" / "a.cu").path(),
              root / ".kernelskill/memory/src/a.cu.jsonl");
    EXPECT_EQ(ShortTermMemory(root, root / "src" / ".." / "b.cu").path(),
              root / ".kernelskill/memory/b.cu.jsonl");
}

TEST(ShortTermMemory, AFileOutsideTheWorkspaceIsRememberedBesideItself) {
    TemporaryFolder folder;
    TemporaryFolder other;
    fs::path home = fs::canonical(other.path());
    EXPECT_EQ(ShortTermMemory(folder.path(), home / "a.cu").path(),
              home / ".kernelskill/memory/a.cu.jsonl");
    EXPECT_EQ(ShortTermMemory({}, home / "a.cu").path(), home / ".kernelskill/memory/a.cu.jsonl");
}

TEST(ShortTermMemory, IsIgnoredByGitFromItsFirstEntryOn) {
    TemporaryFolder folder;
    const ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    const fs::path ignored = folder.path() / ".kernelskill/.gitignore";
    EXPECT_FALSE(fs::exists(ignored));
    ASSERT_TRUE(memory.append(entryOf("one")));
    EXPECT_THAT(textOf(ignored), HasSubstr("\n/memory/\n"));
    writeText(ignored, "mine\n");
    ASSERT_TRUE(memory.append(entryOf("two")));
    EXPECT_EQ(textOf(ignored), "mine\n");
}

TEST(ShortTermMemory, AFolderWithTheWorkspacesNameAsPrefixIsNotInsideIt) {
    TemporaryFolder folder;
    fs::path root = fs::canonical(folder.path());
    EXPECT_EQ(ShortTermMemory(root / "work", root / "workbench" / "a.cu").path(),
              root / "workbench/.kernelskill/memory/a.cu.jsonl");
}

TEST(ShortTermMemory, ReadsBackWhatWasAppended) {
    TemporaryFolder folder;
    ShortTermMemory memory(folder.path(), folder.path() / "src" / "a.cu");
    MemoryEntry first = entryOf("loop-unrolling");
    first.kind = EntryKind::Plan;
    ASSERT_TRUE(memory.append(first));
    ASSERT_TRUE(memory.append(entryOf("restrict-and-const")));
    auto contents = memory.read();
    ASSERT_TRUE(contents);
    EXPECT_TRUE(contents->problems.empty());
    ASSERT_EQ(contents->entries.size(), 2u);
    EXPECT_EQ(contents->entries[0].kind, EntryKind::Plan);
    const MemoryEntry& second = contents->entries[1];
    EXPECT_EQ(second.skill, "restrict-and-const");
    EXPECT_EQ(second.kernelHash, 0xfedcba9876543210u);
    EXPECT_EQ(second.kernel, "ns::saxpy");
    EXPECT_EQ(second.option, 4);
    EXPECT_EQ(second.editHash, "00ff");
    EXPECT_EQ(second.status, "incorrect");
    EXPECT_EQ(second.detail, "line one\nline \"two\"");
    EXPECT_EQ(second.time.back(), 'Z');
}

TEST(ShortTermMemory, BytesThatAreNotUtf8DoNotStopAnAppend) {
    TemporaryFolder folder;
    ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    MemoryEntry entry = entryOf("x");
    entry.detail = "bad \xff\xfe bytes";
    ASSERT_TRUE(memory.append(entry));
    auto contents = memory.read();
    ASSERT_TRUE(contents);
    ASSERT_EQ(contents->entries.size(), 1u);
    EXPECT_THAT(contents->entries[0].detail, HasSubstr("bytes"));
}

TEST(ShortTermMemory, AFileThatWasNeverTriedHasNoEntries) {
    TemporaryFolder folder;
    auto contents = ShortTermMemory(folder.path(), folder.path() / "a.cu").read();
    ASSERT_TRUE(contents);
    EXPECT_TRUE(contents->entries.empty());
    EXPECT_FALSE(fs::exists(folder.path() / ".kernelskill"));
}

TEST(ShortTermMemory, ReadingSkipsALineCutShortAndNamesIt) {
    TemporaryFolder folder;
    ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    ASSERT_TRUE(memory.append(entryOf("one")));
    std::string whole = textOf(memory.path());
    writeText(memory.path(), whole + whole.substr(0, 30));
    auto contents = memory.read();
    ASSERT_TRUE(contents);
    EXPECT_EQ(contents->entries.size(), 1u);
    ASSERT_EQ(contents->problems.size(), 1u);
    EXPECT_EQ(contents->problems[0], "line 2 is cut short and was skipped");
}

TEST(ShortTermMemory, AForeignLineIsNamedAndTheRestIsRead) {
    TemporaryFolder folder;
    ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    ASSERT_TRUE(memory.append(entryOf("one")));
    std::string whole = textOf(memory.path());
    writeText(memory.path(), "hello\n[1]\n" + whole + "{\"kind\":\"plan\"}\n" + whole);
    auto contents = memory.read();
    ASSERT_TRUE(contents);
    EXPECT_EQ(contents->entries.size(), 2u);
    ASSERT_EQ(contents->problems.size(), 3u);
    EXPECT_THAT(contents->problems[0], HasSubstr("line 1 is not an entry"));
    EXPECT_THAT(contents->problems[1], HasSubstr("line 2 is not an entry"));
    EXPECT_THAT(contents->problems[2], HasSubstr("line 4 is not an entry"));
}

TEST(ShortTermMemory, AppendingKeepsAWholeEntryThatLacksItsLineEnd) {
    TemporaryFolder folder;
    ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    ASSERT_TRUE(memory.append(entryOf("one")));
    std::string whole = textOf(memory.path());
    whole.pop_back();
    writeText(memory.path(), whole);
    ASSERT_TRUE(memory.append(entryOf("two")));
    auto contents = memory.read();
    ASSERT_TRUE(contents);
    EXPECT_TRUE(contents->problems.empty());
    ASSERT_EQ(contents->entries.size(), 2u);
    EXPECT_EQ(contents->entries[0].skill, "one");
}

TEST(ShortTermMemory, AppendingAfterALongCutLineRepairsTheFile) {
    TemporaryFolder folder;
    ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    ASSERT_TRUE(memory.append(entryOf("one")));
    writeText(memory.path(), textOf(memory.path()) + "{\"kind\":\"" + std::string(10000, 'x'));
    ASSERT_TRUE(memory.append(entryOf("two")));
    auto contents = memory.read();
    ASSERT_TRUE(contents);
    EXPECT_TRUE(contents->problems.empty());
    EXPECT_EQ(contents->entries.size(), 2u);
}

TEST(ShortTermMemory, EntriesFollowAKernelToARenamedFile) {
    TemporaryFolder folder;
    ShortTermMemory before(folder.path(), folder.path() / "old" / "a.cu");
    ASSERT_TRUE(before.append(entryOf("mine", 7)));
    ASSERT_TRUE(before.append(entryOf("another kernel's", 8)));
    ShortTermMemory after(folder.path(), folder.path() / "b.cu");
    ASSERT_TRUE(after.append(entryOf("own", 9)));
    auto contents = after.readFollowing({7});
    ASSERT_TRUE(contents);
    ASSERT_EQ(contents->entries.size(), 2u);
    EXPECT_EQ(contents->entries[0].skill, "mine");
    EXPECT_EQ(contents->entries[1].skill, "own");
}

TEST(ShortTermMemory, AReadOnlyWorkspaceIsNamedInTheError) {
    TemporaryFolder folder;
    ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec |
                                       fs::perms::others_read | fs::perms::others_exec);
    // Root may write anywhere, so the attempt is made as nobody.
    pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && ::seteuid(65534) != 0)
            ::_exit(2);
        auto appended = memory.append(entryOf("x"));
        bool isAsExpected = !appended && appended.error().kind == ErrorKind::Failed &&
                            appended.error().where.find(".kernelskill") != std::string::npos &&
                            appended.error().remedy.find("writable") != std::string::npos;
        ::_exit(isAsExpected ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    fs::permissions(folder.path(), fs::perms::owner_all);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ShortTermMemory, ALinkOutOfTheWorkspaceIsNotFollowed) {
    TemporaryFolder folder;
    TemporaryFolder elsewhere;
    fs::create_directory_symlink(elsewhere.path(), folder.path() / ".kernelskill");
    ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    auto appended = memory.append(entryOf("x"));
    ASSERT_FALSE(appended);
    EXPECT_THAT(appended.error().what, HasSubstr("outside the workspace"));
    EXPECT_TRUE(fs::is_empty(elsewhere.path()));
}

TEST(ShortTermMemory, AFileInTheWayOfTheFolderIsAnError) {
    TemporaryFolder folder;
    writeText(folder.path() / ".kernelskill", "");
    auto appended = ShortTermMemory(folder.path(), folder.path() / "a.cu").append(entryOf("x"));
    ASSERT_FALSE(appended);
    EXPECT_EQ(appended.error().kind, ErrorKind::Failed);
}

TEST(LastFailure, IsTheLatestRejectionOfThatSkillOnThatCode) {
    std::vector<MemoryEntry> entries{entryOf("a", 1), entryOf("a", 1), entryOf("b", 1),
                                     entryOf("a", 2)};
    entries[1].status = "invalid";
    entries[1].detail = "latest";
    ASSERT_NE(lastFailure(entries, 1, "a", 4), nullptr);
    EXPECT_EQ(lastFailure(entries, 1, "a", 4)->detail, "latest");
    EXPECT_EQ(lastFailure(entries, 1, "a", 8), nullptr);
    EXPECT_EQ(lastFailure(entries, 3, "a", 4), nullptr);
    EXPECT_EQ(lastFailure(entries, 1, "c", 4), nullptr);
}

TEST(LastFailure, AnAcceptedVerdictIsNone) {
    std::vector<MemoryEntry> entries{entryOf("a", 1)};
    entries[0].status = "unmeasured";
    EXPECT_EQ(lastFailure(entries, 1, "a", 4), nullptr);
    entries[0].kind = EntryKind::Failure;
    EXPECT_NE(lastFailure(entries, 1, "a", 4), nullptr);
}

TEST(MemoryEntry, FieldsOfALaterVersionAreIgnored) {
    auto entry = parseEntry(R"({"v":9,"kind":"edit","kernelHash":"0a","skill":"s","new":[1,2]})");
    ASSERT_TRUE(entry);
    EXPECT_EQ(entry->kind, EntryKind::Edit);
    EXPECT_EQ(entry->kernelHash, 10u);
}

TEST(MemoryEntry, WhatASearchDecidedComesBackAndIsLeftOutWhereNobodyAsked) {
    MemoryEntry entry;
    entry.kind = EntryKind::Verdict;
    EXPECT_EQ(formatEntry(entry).find("kept"), std::string::npos);
    EXPECT_FALSE(parseEntry(formatEntry(entry))->isKept);
    entry.isKept = false;
    EXPECT_FALSE(parseEntry(formatEntry(entry))->diagnosis);
    entry.diagnosis = CandidateDiagnosis{"tail", "3 are wrong", {"y[97]", "n=100"}, "all", "round"};
    entry.resultHash = ~0ULL;
    entry.architecture = "sm_90";
    entry.speedup = 0.97;
    const auto read = parseEntry(formatEntry(entry));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->isKept, false);
    EXPECT_EQ(read->resultHash, ~0ULL);
    EXPECT_EQ(read->diagnosis, entry.diagnosis);
    EXPECT_EQ(read->architecture, "sm_90");
    EXPECT_EQ(read->speedup, 0.97);
}

} // namespace
} // namespace kernelskill::engine
