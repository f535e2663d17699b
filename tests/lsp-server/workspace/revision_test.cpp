#include "lsp-server/workspace/revision.h"
#include "tests/git_repository.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace kernelskill::lsp {
namespace {

using ::testing::HasSubstr;

class RevisionTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (!kernelskill::testing::hasGit())
            GTEST_SKIP() << "git is not installed";
    }
    std::filesystem::path write(const std::string& name, const std::string& text) const {
        const auto path = folder_.path() / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }

    kernelskill::testing::TemporaryFolder folder_;
};

TEST_F(RevisionTest, TextsAreThoseOfTheCommit) {
    const kernelskill::testing::GitRepository repository(folder_.path());
    const auto file = write("src/a b.cu", "one\n");
    const auto header = write("include/h.cuh", "h one\n");
    repository.commit();
    write("src/a b.cu", "two");
    repository.commit();
    write("src/a b.cu", "three\n");
    const auto added = write("src/new.cuh", "new\n");
    const auto head = textsInRevision(file, {header, added, "/usr/include/stdio.h"}, "HEAD", {});
    ASSERT_TRUE(head) << head.error().describe();
    EXPECT_EQ(head->commit.size(), 40U);
    EXPECT_EQ(head->texts,
              (std::map<std::filesystem::path, std::string>{{file, "two"}, {header, "h one\n"}}));
    const auto first = textsInRevision(file, {}, "main~1", {});
    ASSERT_TRUE(first) << first.error().describe();
    EXPECT_EQ(first->texts.at(file), "one\n");
}

TEST_F(RevisionTest, FailuresAreSentences) {
    const auto file = write("a.cu", "one\n");
    const auto failure = [&](const std::string& revision) {
        const auto found = textsInRevision(file, {}, revision, {});
        EXPECT_FALSE(found);
        return found ? Error{} : found.error();
    };
    EXPECT_THAT(failure("HEAD").what, HasSubstr("in no git repository"));
    const kernelskill::testing::GitRepository repository(folder_.path());
    EXPECT_THAT(failure("HEAD").what, HasSubstr("no revision 'HEAD'"));
    write("b.cu", "");
    repository.run({"add", "b.cu"});
    repository.run({"commit", "--quiet", "--message", "b"});
    EXPECT_THAT(failure("HEAD").what, HasSubstr("does not have the file"));
    for (const char* odd : {"nope", "--help", "", "HEAD\nHEAD", "HEAD:b.cu", "HEAD^{tree}"})
        EXPECT_EQ(failure(odd).kind, ErrorKind::InvalidInput) << odd;
}

TEST_F(RevisionTest, NothingThatARepositoryConfiguresIsRun) {
    const kernelskill::testing::GitRepository repository(folder_.path());
    const auto file = write("a.cu", "one\n");
    repository.commit();
    const auto marker = folder_.path() / "marker";
    const std::string evil = "touch " + marker.string() + "; cat";
    repository.run({"config", "core.fsmonitor", evil});
    repository.run({"config", "filter.evil.smudge", evil});
    repository.run({"config", "filter.evil.clean", evil});
    repository.run({"config", "diff.evil.textconv", evil});
    write(".gitattributes", "*.cu filter=evil diff=evil\n");
    ASSERT_TRUE(textsInRevision(file, {}, "HEAD", {}));
    EXPECT_FALSE(std::filesystem::exists(marker));
}

TEST_F(RevisionTest, TheLogOfHeadMovesWithEachCommit) {
    EXPECT_TRUE(headLog(folder_.path() / "a.cu").empty());
    const kernelskill::testing::GitRepository repository(folder_.path());
    const auto file = write("src/a.cu", "one\n");
    repository.commit();
    const auto log = headLog(file);
    EXPECT_EQ(log, folder_.path() / ".git" / "logs" / "HEAD");
    EXPECT_TRUE(std::filesystem::exists(log));
    const kernelskill::testing::TemporaryFolder other;
    repository.run({"worktree", "add", "--quiet", (other.path() / "tree").string()});
    const auto linked = headLog(other.path() / "tree" / "src" / "a.cu");
    EXPECT_THAT(linked.string(), HasSubstr("/.git/worktrees/tree/logs/HEAD"));
    EXPECT_TRUE(std::filesystem::exists(linked));
}

} // namespace
} // namespace kernelskill::lsp
