#include "lsp-server/workspace/workspace_root.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace kernelskill::lsp::testing {
namespace {

namespace fs = std::filesystem;

class WorkspaceRoot : public ::testing::Test {
protected:
    WorkspaceRoot() {
        fs::create_directories(outer() / ".kernelskill/memory");
        fs::create_directories(outer() / "project/src");
    }

    [[nodiscard]] fs::path outer() const { return folder_.path(); }
    [[nodiscard]] fs::path file() const { return outer() / "project/src/a.cu"; }

private:
    kernelskill::testing::TemporaryFolder folder_;
};

TEST_F(WorkspaceRoot, IsTheNearestFolderWithAMark) {
    EXPECT_EQ(workspaceRootOf(file()), outer());
    fs::create_directories(outer() / "project/.git");
    EXPECT_EQ(workspaceRootOf(file()), outer() / "project");
}

TEST_F(WorkspaceRoot, IsNoFolderThatAnyUserMayWriteTo) {
    fs::permissions(outer(), fs::perms::all);
    EXPECT_EQ(workspaceRootOf(file()), file().parent_path());
    fs::create_directories(outer() / "project/.kernelskill");
    EXPECT_EQ(workspaceRootOf(file()), outer() / "project");
}

// Else one file tried there would make all projects below one workspace.
TEST_F(WorkspaceRoot, IsTheHomeFolderOnlyForItsOwnFiles) {
    const char* const known = std::getenv("HOME");
    const std::string home = known == nullptr ? "" : known;
    ::setenv("HOME", outer().c_str(), 1);
    EXPECT_EQ(workspaceRootOf(file()), file().parent_path());
    EXPECT_EQ(workspaceRootOf(outer() / "a.cu"), outer());
    ::setenv("HOME", home.c_str(), 1);
}

} // namespace
} // namespace kernelskill::lsp::testing
