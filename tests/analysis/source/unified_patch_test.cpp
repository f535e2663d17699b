#include "analysis/source/text_edit.h"
#include "analysis/source/unified_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::analysis {
namespace {

using ::testing::HasSubstr;

const std::string text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

Result<std::string> applied(const std::string& before, const std::string& diff) {
    const auto patches = parsePatch(diff);
    if (!patches)
        return std::unexpected(patches.error());
    return applyPatch(before, patches->front());
}

TEST(UnifiedPatch, TakesBackWhatUnifiedDiffWrites) {
    const std::string texts[] = {"",
                                 "one\n",
                                 text,
                                 "zero\n" + text,
                                 text + "nine\n",
                                 "one\ntwo\n3\nfour\nfive\nsix\n7\neight\n",
                                 "one\n\n\ntwo\n",
                                 "a\na\nb\na\na\n",
                                 "a\na\na\nb\na\n"};
    for (const std::string& before : texts) {
        for (const std::string& after : texts) {
            if (before == after)
                continue;
            const auto result = applied(before, unifiedDiff("src/a.cu", before, after));
            ASSERT_TRUE(result) << result.error().describe() << "\n" << before << "->\n" << after;
            EXPECT_EQ(*result, after) << "from\n" << before;
        }
    }
}

TEST(UnifiedPatch, NamesOfFilesAreKept) {
    const auto patches =
        parsePatch("diff --git a/x.cu b/x.cu\nindex 1..2 100644\n--- a/x.cu\n"
                   "+++ b/x.cu\n@@ -1 +1 @@\n-one\n+1\ndiff --git a/y.h b/y.h\n"
                   "--- a/y.h\t2026-01-01\n+++ b/y.h\t2026-01-01\n@@ -1 +1 @@\n-a\n+b\n");
    ASSERT_TRUE(patches) << patches.error().describe();
    ASSERT_EQ(patches->size(), 2U);
    EXPECT_EQ(patches->at(0).path, "x.cu");
    EXPECT_EQ(patches->at(1).path, "y.h");
    EXPECT_EQ(parsePatch("@@ -1 +1 @@\n-a\n+b\n")->front().path, "");
}

TEST(UnifiedPatch, WrongLineNumbersAndCountsDoNotMatter) {
    EXPECT_EQ(*applied(text, "@@ -1,9 +1,2 @@\n five\n-six\n+6\n seven\n"),
              "one\ntwo\nthree\nfour\nfive\n6\nseven\neight\n");
    EXPECT_EQ(*applied(text, "@@\n-two\n+2\n@@\n-seven\n+7\n\n"),
              "one\n2\nthree\nfour\nfive\nsix\n7\neight\n");
    EXPECT_EQ(*applied("x\na\nx\na\nx\na\n", "@@ -4 +4 @@\n-a\n+b\n"), "x\na\nx\nb\nx\na\n");
}

TEST(UnifiedPatch, LineNumbersMayBeAsLargeAsTheyLike) {
    const auto patches = parsePatch("@@ -1669803504339080533 +1 @@\n-a\n+b\n"
                                    "@@ -9256768106941557417 +2 @@\n-c\n+d\n");
    ASSERT_TRUE(patches);
    EXPECT_EQ(applyPatch("a\nc\n", patches->front()), "b\nd\n");
}

TEST(UnifiedPatch, LineEndsStay) {
    EXPECT_EQ(*applied("one\r\ntwo\r\n", "@@ -2 +2 @@\n-two\n+2\n"), "one\r\n2\r\n");
    EXPECT_EQ(*applied("one\ntwo", "@@ -1 +1 @@\n-one\n+1\n"), "1\ntwo");
}

TEST(UnifiedPatch, WhatDoesNotFitIsNamed) {
    EXPECT_THAT(applied(text, "@@ -1 +1 @@\n-eleven\n+11\n").error().what,
                HasSubstr("the file has no line 'eleven'"));
    EXPECT_THAT(applied(text, "@@ -1 +1 @@\n-two\n-one\n").error().what,
                HasSubstr("do not follow each other"));
    EXPECT_THAT(parsePatch("hello\n").error().what, HasSubstr("no hunk"));
    EXPECT_THAT(parsePatch("").error().what, HasSubstr("no hunk"));
    EXPECT_THAT(parsePatch("@@ -1 +1 @@\n-one\n1\n").error().what, HasSubstr("line 3"));
}

} // namespace
} // namespace kernelskill::analysis
