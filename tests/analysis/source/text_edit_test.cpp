#include "analysis/source/text_edit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

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

TEST(ComposedEdits, DoWhatBothDo) {
    const std::string text = "while (p < end) { sum += *p; ++p; }";
    const std::vector<TextEdit> first = {
        {{0, 15}, "for (int i = 0; i < n; ++i)"}, {{25, 27}, "p[i]"}, {{28, 33}, ""}};
    const std::string between = "for (int i = 0; i < n; ++i) { sum += p[i]; }";
    ASSERT_EQ(applyEdits(text, first).value(), between);
    const std::vector<TextEdit> second = {{{13, 14}, "lane"}, {{23, 26}, "i += 32"}};
    const auto composed = composedEdits(text, first, second);
    ASSERT_TRUE(composed) << composed.error().describe();
    EXPECT_EQ(applyEdits(text, *composed).value(),
              "for (int i = lane; i < n; i += 32) { sum += p[i]; }");
    EXPECT_EQ(composed->size(), 3U) << "what only one of both changes stays an edit of its own";
}

TEST(ComposedEdits, DoWhatRandomEditsDo) {
    std::mt19937 random(7);
    const auto below = [&](std::size_t bound) {
        return static_cast<std::uint32_t>(random() % (bound + 1));
    };
    const auto editsOf = [&](const std::string& text) {
        std::vector<TextEdit> edits;
        for (std::uint32_t at = below(5); at <= text.size(); at += 1 + below(6)) {
            const std::uint32_t end = std::min(at + below(4), std::uint32_t(text.size()));
            edits.push_back({{at, end}, std::string(below(4), static_cast<char>('A' + below(25)))});
            at = end;
        }
        return edits;
    };
    for (int round = 0; round < 5000; ++round) {
        std::string text;
        for (std::uint32_t length = below(40); text.size() < length;)
            text += static_cast<char>('a' + below(25));
        const std::vector<TextEdit> first = editsOf(text);
        const auto between = applyEdits(text, first);
        ASSERT_TRUE(between);
        const std::vector<TextEdit> second = editsOf(*between);
        const auto composed = composedEdits(text, first, second);
        ASSERT_TRUE(composed) << composed.error().describe();
        ASSERT_EQ(applyEdits(text, *composed).value(), applyEdits(*between, second).value())
            << "round " << round << ": " << text << " -> " << *between;
    }
}

TEST(ComposedEdits, RefuseEditsThatOverlap) {
    const std::vector<TextEdit> overlapping = {{{0, 3}, "x"}, {{2, 4}, "y"}};
    EXPECT_FALSE(composedEdits("abcdef", overlapping, {}));
    EXPECT_FALSE(composedEdits("abcdef", {}, overlapping));
    EXPECT_FALSE(composedEdits("abc", {}, {{{2, 9}, ""}})) << "behind the end";
}

TEST(SpanBefore, FindsWhereAPlaceComesFrom) {
    const std::vector<TextEdit> edits = {{{4, 6}, "abcdef"}, {{10, 14}, ""}};
    EXPECT_EQ(spanBefore(edits, {0, 3}), (Span{0, 3})) << "in front of all";
    EXPECT_EQ(spanBefore(edits, {11, 13}), (Span{7, 9})) << "between both";
    EXPECT_EQ(spanBefore(edits, {5, 7}), (Span{4, 6})) << "in new text";
    EXPECT_EQ(spanBefore(edits, {2, 12}), (Span{2, 8})) << "around new text";
    EXPECT_EQ(spanBefore(edits, {16, 18}), (Span{16, 18})) << "behind all";
}

} // namespace
} // namespace kernelskill::analysis
