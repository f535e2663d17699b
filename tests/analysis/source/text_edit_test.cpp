#include "analysis/source/text_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace kernelskill::analysis {
namespace {

using testing::StartsWith;

TEST(UnifiedDiff, NamesAFileBelowTheCurrentFolderRelativeToIt) {
    const auto file = std::filesystem::current_path() / "kernels" / "saxpy.cu";
    EXPECT_THAT(unifiedDiff(file.string(), "a\n", "b\n"),
                StartsWith("--- a/kernels/saxpy.cu\n+++ b/kernels/saxpy.cu\n@@ -1,1 +1,1 @@\n"));
}

TEST(UnifiedDiff, NamesAFileElsewhereFromTheRoot) {
    EXPECT_THAT(unifiedDiff("/elsewhere/saxpy.cu", "a\n", "b\n"),
                StartsWith("--- a/elsewhere/saxpy.cu\n+++ b/elsewhere/saxpy.cu\n"));
}

TEST(UnifiedDiff, KeepsARelativeName) {
    EXPECT_THAT(unifiedDiff("./saxpy.cu", "a\n", "b\n"),
                StartsWith("--- a/saxpy.cu\n+++ b/saxpy.cu\n"));
}

} // namespace
} // namespace kernelskill::analysis
