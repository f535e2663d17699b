/// Kill the process at any write: nothing earlier is lost.
#include "analysis/source/files.h"
#include "engine/memory/short_term_memory.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <random>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using kernelskill::testing::TemporaryFolder;

MemoryEntry numbered(int number) {
    MemoryEntry entry;
    entry.kind = EntryKind::Edit;
    entry.time = timestamp();
    entry.kernel = "kernel";
    entry.kernelHash = static_cast<std::uint64_t>(number);
    entry.skill = "skill";
    entry.option = number;
    entry.detail = std::string(static_cast<std::size_t>(number % 300), 'd');
    return entry;
}

std::string textOf(const fs::path& path) {
    return analysis::readFile(path).value_or("");
}

TEST(ShortTermMemoryCrash, AFileCutAtAnyByteKeepsEveryWholeEntryAndTakesNewOnes) {
    TemporaryFolder folder;
    ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    constexpr int count = 3;
    std::vector<std::size_t> ends;
    for (int number = 0; number < count; ++number) {
        ASSERT_TRUE(memory.append(numbered(number)));
        ends.push_back(fs::file_size(memory.path()));
    }
    const std::string whole = textOf(memory.path());
    for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
        std::ofstream(memory.path(), std::ios::binary | std::ios::trunc) << whole.substr(0, cut);
        // The line end is no part of the entry: one byte less is still whole.
        std::size_t complete = 0;
        while (complete < ends.size() && ends[complete] - 1 <= cut)
            ++complete;
        auto before = memory.read();
        ASSERT_TRUE(before);
        ASSERT_EQ(before->entries.size(), complete) << "cut at " << cut;

        ASSERT_TRUE(memory.append(numbered(100)));
        auto after = memory.read();
        ASSERT_TRUE(after);
        ASSERT_TRUE(after->problems.empty()) << "cut at " << cut << ": " << after->problems[0];
        ASSERT_EQ(after->entries.size(), complete + 1) << "cut at " << cut;
        for (std::size_t index = 0; index < complete; ++index)
            EXPECT_EQ(after->entries[index].option, static_cast<int>(index));
        EXPECT_EQ(after->entries.back().option, 100);
    }
}

TEST(ShortTermMemoryCrash, AKilledWriterLosesNoEntryItHasReported) {
    TemporaryFolder folder;
    ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    std::mt19937 random(20240607);
    std::uniform_int_distribution<int> entries(0, 2);
    std::uniform_int_distribution<int> delay(0, 4000);
    int reported = 0;
    constexpr int rounds = 60;
    for (int round = 0; round < rounds; ++round) {
        int channel[2];
        ASSERT_EQ(::pipe(channel), 0);
        pid_t child = ::fork();
        if (child == 0) {
            ::close(channel[0]);
            for (int number = reported;; ++number) {
                if (!memory.append(numbered(number)) ||
                    ::write(channel[1], &number, sizeof number) != sizeof number)
                    ::_exit(1);
            }
        }
        ::close(channel[1]);
        // A busy machine may not have started the writer yet: first some entries, then a while.
        int number = 0;
        for (int wanted = entries(random); wanted > 0; --wanted) {
            ASSERT_EQ(::read(channel[0], &number, sizeof number), ssize_t{sizeof number});
            reported = number + 1;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(delay(random)));
        ASSERT_EQ(::kill(child, SIGKILL), 0);
        int status = 0;
        ::waitpid(child, &status, 0);
        ASSERT_TRUE(WIFSIGNALED(status)) << "the writer failed by itself";
        while (::read(channel[0], &number, sizeof number) == sizeof number)
            reported = number + 1;
        ::close(channel[0]);

        auto contents = memory.read();
        ASSERT_TRUE(contents);
        ASSERT_GE(contents->entries.size(), static_cast<std::size_t>(reported));
        for (std::size_t index = 0; index < contents->entries.size(); ++index)
            ASSERT_EQ(contents->entries[index].option, static_cast<int>(index));
        // An entry may be whole on disk although its writer died before it could say so.
        reported = static_cast<int>(contents->entries.size());
    }
    EXPECT_GT(reported, rounds / 2) << "the writers hardly ran: the test shows nothing";
}

TEST(ShortTermMemoryCrash, TwoProcessesAppendWithoutMixingTheirLines) {
    TemporaryFolder folder;
    ShortTermMemory memory(folder.path(), folder.path() / "a.cu");
    constexpr int writers = 3;
    constexpr int each = 60;
    std::vector<pid_t> children;
    for (int writer = 0; writer < writers; ++writer) {
        pid_t child = ::fork();
        if (child == 0) {
            for (int number = 0; number < each; ++number) {
                if (!memory.append(numbered(writer * each + number)))
                    ::_exit(1);
            }
            ::_exit(0);
        }
        children.push_back(child);
    }
    for (pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    auto contents = memory.read();
    ASSERT_TRUE(contents);
    EXPECT_TRUE(contents->problems.empty());
    ASSERT_EQ(contents->entries.size(), static_cast<std::size_t>(writers * each));
    std::vector<int> next(writers);
    for (const MemoryEntry& entry : contents->entries) {
        int writer = entry.option / each;
        EXPECT_EQ(entry.option % each, next[static_cast<std::size_t>(writer)]++);
        EXPECT_EQ(entry.detail.size(), static_cast<std::size_t>(entry.option % 300));
    }
}

} // namespace
} // namespace kernelskill::engine
