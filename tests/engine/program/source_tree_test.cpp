#include "engine/program/source_tree.h"
#include "tests/engine/program/program_folder.h"
#include "tests/git_repository.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ProgramFolder;

constexpr std::string_view elf{"\x7f"
                               "ELF\2\1\1\0rest",
                               12};

std::vector<std::string> names(const std::vector<TreeFile>& files) {
    std::vector<std::string> all;
    for (const TreeFile& file : files)
        all.push_back(file.path.string() + (file.isTracked ? " tracked" : ""));
    return all;
}

std::string text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

class SourceTreeTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (!kernelskill::testing::hasGit())
            GTEST_SKIP() << "no git";
    }
    [[nodiscard]] SourceTree tree() const {
        auto listed = listTree(folder_.path(), {});
        EXPECT_TRUE(listed) << listed.error().describe();
        EXPECT_EQ(listed->note, "");
        return *listed;
    }
    [[nodiscard]] fs::path target() const { return elsewhere_.path() / "copy"; }

    ProgramFolder folder_;
    ProgramFolder elsewhere_;
};

TEST_F(SourceTreeTest, FollowsIgnoreFilesWithoutARepository) {
    folder_.write(".gitignore", "*.log\n/data/\n");
    folder_.write("a.cu", "a");
    folder_.write("out.log", "x");
    folder_.write("data/big", "x");
    folder_.write("src/.gitignore", "!kept.log\n");
    folder_.write("src/kept.log", "x");
    folder_.write(".kernelskill/captures/data/0", "x");
    EXPECT_THAT(names(tree().files),
                ElementsAre(".gitignore", "a.cu", "src/.gitignore", "src/kept.log"));
}

TEST_F(SourceTreeTest, KeepsIgnoredFilesThatGitTracks) {
    folder_.write("input.txt", "1");
    const kernelskill::testing::GitRepository repository(folder_.path());
    repository.commit();
    folder_.write(".gitignore", "*.txt\n");
    folder_.write("other.txt", "2");
    folder_.write("new.cu", "3");
    EXPECT_THAT(names(tree().files), ElementsAre(".gitignore", "input.txt tracked", "new.cu"));
}

TEST_F(SourceTreeTest, ListsAFolderOfARepositoryAndRepositoriesInside) {
    const kernelskill::testing::GitRepository outer(folder_.path());
    folder_.write("sub/a.cu", "a");
    folder_.write("sub/inner/b.cu", "b");
    const kernelskill::testing::GitRepository inner(folder_.path() / "sub/inner");
    inner.commit();
    const auto listed = listTree(folder_.path() / "sub", {});
    ASSERT_TRUE(listed) << listed.error().describe();
    EXPECT_THAT(names(listed->files), ElementsAre("a.cu", "inner/b.cu tracked"));
}

TEST_F(SourceTreeTest, ListsAFolderThatARepositoryAroundItIgnores) {
    const kernelskill::testing::GitRepository outer(folder_.path());
    folder_.write(".gitignore", "scratch\n");
    folder_.write("scratch/a.cu", "a");
    const auto listed = listTree(folder_.path() / "scratch", {});
    ASSERT_TRUE(listed) << listed.error().describe();
    EXPECT_THAT(names(listed->files), ElementsAre("a.cu"));
}

/// Empties PATH until it is destroyed, so that no program is found.
class NoPrograms {
public:
    NoPrograms() {
        if (const char* path = std::getenv("PATH"))
            before_ = path;
        ::setenv("PATH", "/nowhere", 1);
    }
    NoPrograms(const NoPrograms&) = delete;
    NoPrograms& operator=(const NoPrograms&) = delete;
    ~NoPrograms() { ::setenv("PATH", before_.c_str(), 1); }

private:
    std::string before_;
};

TEST(SourceTree, WithoutGitAllFilesCount) {
    const ProgramFolder folder;
    folder.write(".gitignore", "*.log\n");
    folder.write("out.log", "x");
    folder.write("src/a.cu", "a");
    folder.write(".git/config", "");
    folder.write(".kernelskill/programs.json", "{}");
    fs::create_directory_symlink("src", folder.path() / "link");
    const NoPrograms none;
    const auto listed = listTree(folder.path(), {});
    ASSERT_TRUE(listed) << listed.error().describe();
    EXPECT_THAT(names(listed->files), ElementsAre(".gitignore", "link", "out.log", "src/a.cu"));
    EXPECT_THAT(listed->note, AllOf(HasSubstr("git was not found"), HasSubstr("ignored ones too")));
    std::stop_source stop;
    stop.request_stop();
    const auto stopped = listTree(folder.path(), stop.get_token());
    ASSERT_FALSE(stopped);
    EXPECT_EQ(stopped.error().kind, ErrorKind::Cancelled);
}

TEST(SourceTree, WithoutGitFoldersThatCannotBeReadAreLeftOut) {
    const ProgramFolder folder;
    folder.write("a.cu", "a");
    folder.write("kept/x", "x");
    folder.write("src/b.cu", "b");
    fs::permissions(folder.path(), fs::perms::owner_all | fs::perms::group_read |
                                       fs::perms::group_exec | fs::perms::others_read |
                                       fs::perms::others_exec);
    fs::permissions(folder.path() / "kept", fs::perms::none);
    // Root may read anything, so the tree is listed as nobody.
    const pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && ::seteuid(65534) != 0)
            ::_exit(2);
        const NoPrograms none;
        const auto listed = listTree(folder.path(), {});
        const bool isListed =
            listed && names(listed->files) == std::vector<std::string>{"a.cu", "src/b.cu"};
        ::_exit(isListed && !listTree(folder.path() / "kept", {}) ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    fs::permissions(folder.path() / "kept", fs::perms::owner_all);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(SourceTreeTest, LeavesOutWhatABuildMade) {
    const kernelskill::testing::GitRepository repository(folder_.path());
    folder_.write("lib/kept.a", "!<arch>\nx");
    repository.commit();
    folder_.write("program", elf);
    folder_.write("own.a", "!<arch>\nx");
    folder_.write("build/CMakeCache.txt", "");
    folder_.write("build/generated.h", "");
    folder_.write("a.cu", "a");
    const auto copied = copyTree(tree(), target(), {}, {});
    ASSERT_TRUE(copied) << copied.error().describe();
    EXPECT_THAT(copied->leftOut,
                ElementsAre("build/CMakeCache.txt", "build/generated.h", "own.a", "program"));
    EXPECT_EQ(copied->files, 2u);
    EXPECT_EQ(copied->bytes, 10u);
    EXPECT_TRUE(fs::exists(target() / "lib/kept.a"));
    EXPECT_FALSE(fs::exists(target() / "program"));
    EXPECT_FALSE(fs::exists(target() / "build"));
}

TEST_F(SourceTreeTest, LeavesOutLinksToBuildFolders) {
    elsewhere_.write("build/CMakeCache.txt", "");
    elsewhere_.write("data/points.txt", "1");
    folder_.write(".gitignore", "build/\n"); // It does not match a link.
    folder_.write("out/CMakeCache.txt", "");
    fs::create_directory_symlink(elsewhere_.path() / "build", folder_.path() / "build");
    fs::create_directory_symlink("out", folder_.path() / "latest");
    fs::create_directory_symlink(elsewhere_.path() / "data", folder_.path() / "data");
    const auto copied = copyTree(tree(), target(), {}, {});
    ASSERT_TRUE(copied) << copied.error().describe();
    EXPECT_THAT(copied->leftOut, ElementsAre("build", "latest", "out/CMakeCache.txt"));
    EXPECT_FALSE(fs::is_symlink(target() / "build"));
    EXPECT_FALSE(fs::is_symlink(target() / "latest"));
    EXPECT_EQ(fs::read_symlink(target() / "data"), elsewhere_.path() / "data");
}

TEST_F(SourceTreeTest, LinksLeadIntoTheCopyOrOutOfTheTree) {
    const fs::path root = folder_.path();
    const fs::path outside = elsewhere_.path();
    elsewhere_.write("shared.h", "s");
    folder_.write("deep/a.cu", "a");
    fs::create_symlink(fs::relative(outside / "shared.h", root / "deep"), root / "deep/shared.h");
    fs::create_symlink(fs::path("../..") / root.filename() / "deep/a.cu", root / "deep/again.cu");
    fs::create_symlink("../deep/a.cu", root / "deep/same.cu");
    fs::create_directory_symlink(root, outside / "alias");
    fs::create_symlink(outside / "alias/deep/a.cu", root / "aliased.cu");
    ASSERT_TRUE(copyTree(tree(), target(), {}, {}));
    EXPECT_EQ(text(target() / "deep/shared.h"), "s");
    EXPECT_EQ(fs::read_symlink(target() / "deep/shared.h"), outside / "shared.h");
    EXPECT_EQ(fs::read_symlink(target() / "deep/again.cu"), target() / "deep/a.cu");
    EXPECT_EQ(fs::read_symlink(target() / "deep/same.cu"), "../deep/a.cu");
    EXPECT_EQ(fs::read_symlink(target() / "aliased.cu"), target() / "deep/a.cu");
}

TEST_F(SourceTreeTest, ReadOnlyFilesCanBeWrittenInTheCopy) {
    folder_.write("a.cu", "a");
    fs::permissions(folder_.path() / "a.cu", fs::perms::owner_read | fs::perms::group_read);
    ASSERT_TRUE(copyTree(tree(), target(), {}, {}));
    EXPECT_EQ(fs::status(target() / "a.cu").permissions(),
              fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
    EXPECT_EQ(fs::last_write_time(target() / "a.cu"), fs::last_write_time(folder_.path() / "a.cu"));
}

TEST_F(SourceTreeTest, KeepsLinksTimesAndPermissions) {
    folder_.write("run.sh", "#!/bin/sh\n");
    fs::permissions(folder_.path() / "run.sh", fs::perms::owner_all);
    folder_.write("deep/a.cu", "a");
    fs::create_symlink("deep/a.cu", folder_.path() / "near.cu");
    fs::create_symlink(folder_.path() / "deep", folder_.path() / "absolute");
    fs::create_symlink("/usr/include", folder_.path() / "outside");
    fs::create_symlink("nowhere", folder_.path() / "dangling");
    ASSERT_TRUE(copyTree(tree(), target(), {}, {}));
    EXPECT_EQ(fs::read_symlink(target() / "near.cu"), "deep/a.cu");
    EXPECT_EQ(fs::read_symlink(target() / "absolute"), target() / "deep");
    EXPECT_EQ(fs::read_symlink(target() / "outside"), "/usr/include");
    EXPECT_EQ(fs::read_symlink(target() / "dangling"), "nowhere");
    EXPECT_EQ(fs::status(target() / "run.sh").permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::last_write_time(target() / "run.sh"),
              fs::last_write_time(folder_.path() / "run.sh"));
    EXPECT_EQ(text(target() / "absolute/a.cu"), "a");
    EXPECT_FALSE(fs::is_symlink(target() / "deep/a.cu"));
}

TEST_F(SourceTreeTest, RefusesWhatIsTooLargeBeforeItWrites) {
    folder_.write("a.cu", std::string(3 << 20, 'a'));
    folder_.write("b.cu", "b");
    const auto large = copyTree(tree(), target(), {.bytes = 2 << 20, .files = 10}, {});
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().kind, ErrorKind::InvalidInput);
    EXPECT_THAT(large.error().what, HasSubstr("2 files, 3 MiB; the limit is 10 files, 2 MiB"));
    EXPECT_THAT(large.error().remedy, HasSubstr("--copy-limit"));
    EXPECT_FALSE(copyTree(tree(), target(), {.bytes = 4 << 20, .files = 1}, {}));
    EXPECT_FALSE(fs::exists(target()));
}

TEST_F(SourceTreeTest, StopsAndNamesWhatCannotBeRead) {
    folder_.write("a.cu", "a");
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(listTree(folder_.path(), stop.get_token()).error().kind, ErrorKind::Cancelled);
    EXPECT_EQ(copyTree(tree(), target(), {}, stop.get_token()).error().kind, ErrorKind::Cancelled);
    EXPECT_FALSE(fs::exists(target()));
    EXPECT_THAT(listTree(folder_.path() / "nowhere", {}).error().describe(),
                HasSubstr("cannot be read"));
}

} // namespace
} // namespace kernelskill::engine
