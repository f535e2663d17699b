#include "engine/process/child_process.h"
#include "engine/process/walls.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <pthread.h>
#include <string>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using kernelskill::testing::TemporaryFolder;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class WallsTest : public ::testing::Test {
protected:
    WallsTest() {
        std::ofstream(outside_.path() / "secret") << "hush\n";
        std::ofstream(given_.path() / "header") << "given\n";
    }

    [[nodiscard]] Walls walls() const {
        Walls walls;
        walls.readable = systemFolders();
        walls.readable.push_back(given_.path());
        walls.writable = {work_.path()};
        return walls;
    }
    [[nodiscard]] ChildOutcome run(const std::string& script, const Walls& around) const {
        ChildCommand command;
        command.program = "/bin/bash";
        command.arguments = {"-c", script};
        command.time = std::chrono::seconds(20);
        command.walls = around;
        command.temporaryFolder = work_.path();
        auto outcome = runChild(command, {});
        EXPECT_TRUE(outcome) << outcome.error().describe();
        return outcome.value_or(ChildOutcome{});
    }
    [[nodiscard]] ChildOutcome run(const std::string& script) const { return run(script, walls()); }

    TemporaryFolder outside_;
    TemporaryFolder given_;
    TemporaryFolder work_;
};

TEST_F(WallsTest, FilesAreReadOnlyWhereTheyMayBe) {
    if (wallsOnOffer().landlock == 0)
        GTEST_SKIP() << "this kernel has no Landlock";
    EXPECT_EQ(run("cat " + (given_.path() / "header").string()).output, "given\n");
    const auto secret = run("cat " + (outside_.path() / "secret").string());
    EXPECT_EQ(secret.output, "");
    EXPECT_THAT(secret.messages, HasSubstr("Permission denied"));
    EXPECT_THAT(run("ls " + outside_.path().string()).output, IsEmpty());
    fs::create_symlink(outside_.path() / "secret", work_.path() / "link");
    EXPECT_EQ(run("cat " + (work_.path() / "link").string()).output, "");
    EXPECT_EQ(run("head -c 1 /dev/zero | wc -c").output, "0\n");
    EXPECT_NE(run("cat /proc/self/environ").status, 0);
}

TEST_F(WallsTest, FilesAreWrittenInTheWorkFolderAlone) {
    if (wallsOnOffer().landlock == 0)
        GTEST_SKIP() << "this kernel has no Landlock";
    EXPECT_EQ(run("echo x > $TMPDIR/file && cat $TMPDIR/file").output, "x\n");
    EXPECT_NE(run("echo x > " + (outside_.path() / "file").string()).status, 0);
    EXPECT_NE(run("echo x >> " + (given_.path() / "header").string()).status, 0);
    EXPECT_NE(run("rm " + (outside_.path() / "secret").string()).status, 0);
    EXPECT_NE(run("ln " + (outside_.path() / "secret").string() + " $TMPDIR/s").status, 0);
    EXPECT_TRUE(fs::exists(outside_.path() / "secret"));
    EXPECT_FALSE(fs::exists(outside_.path() / "file"));
}

TEST_F(WallsTest, NothingOfTheWorkFolderIsRun) {
    if (wallsOnOffer().landlock == 0)
        GTEST_SKIP() << "this kernel has no Landlock";
    EXPECT_NE(run("cp /bin/true $TMPDIR/evil && $TMPDIR/evil").status, 0);
}

TEST_F(WallsTest, ThereIsNoNetwork) {
    if (!wallsOnOffer().seccomp)
        GTEST_SKIP() << "this kernel has no filters of system calls";
    EXPECT_THAT(run("echo > /dev/tcp/127.0.0.1/9").messages, HasSubstr("not permitted"));
    EXPECT_THAT(run("echo > /dev/udp/127.0.0.1/9").messages, HasSubstr("not permitted"));
    EXPECT_NE(run("mknod $TMPDIR/pipe p").status, 0);
}

TEST_F(WallsTest, LimitsHoldForAllThatIsStarted) {
    Walls limited = walls();
    limited.memoryBytes = 512u << 20;
    limited.fileBytes = 1u << 20;
    limited.cpuTime = std::chrono::seconds(3);
    EXPECT_EQ(run("bash -c 'ulimit -v; ulimit -t; ulimit -c'", limited).output, "524288\n3\n0\n");
    EXPECT_NE(run("bash -c 'head -c 4000000 /usr/bin/bash /usr/bin/bash /usr/bin/bash > $TMPDIR/f'",
                  limited)
                  .status,
              0);
    EXPECT_LE(fs::file_size(work_.path() / "f"), 1u << 20);
}

TEST_F(WallsTest, AProgramThatIsNotThereIsMissing) {
    ChildCommand command;
    command.program = "/nonexistent/compiler";
    command.walls = walls();
    const auto outcome = runChild(command, {});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().kind, ErrorKind::Missing);
}

TEST_F(WallsTest, InstallationsAreFoundButNeverAHome) {
    EXPECT_THAT(installationOf("/opt/tool/bin/g++"), Contains(fs::path("/opt/tool")));
    const std::string home = outside_.path().string();
    const char* before = std::getenv("HOME");
    const std::string kept = before == nullptr ? "" : before;
    ::setenv("HOME", home.c_str(), 1);
    const auto own = outside_.path() / "bin" / "g++";
    EXPECT_THAT(installationOf(own), Not(Contains(outside_.path())));
    EXPECT_THAT(installationOf(own), Contains(own));
    const auto named = [&](const char* name) { return outside_.path() / name; };
    EXPECT_THAT(withoutPrivate({named(".ssh"), named("project"), named(".local/include"),
                                outside_.path(), "/", outside_.path().parent_path()}),
                ::testing::ElementsAre(named("project"), named(".local/include")));
    ::setenv("HOME", kept.c_str(), 1);
}

TEST_F(WallsTest, NoLibraryIsAskedBeforeAProgramIsStarted) {
    static std::atomic<int> asked = 0;
    ASSERT_EQ(pthread_atfork([] { ++asked; }, nullptr, nullptr), 0);
    EXPECT_EQ(run("echo started").output, "started\n");
    EXPECT_EQ(asked, 0) << "two threads that start programs at once could wait for each other";
}

} // namespace
} // namespace kernelskill::engine
