#include "engine/program/source_tree.h"
#include "tests/engine/program/program_folder.h"
#include "tests/git_repository.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
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
