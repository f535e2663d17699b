#include "lsp-server/report/markdown_text.h"

#include <gtest/gtest.h>

namespace kernelskill::lsp {
namespace {

TEST(MarkdownText, QuotesAnIndexExpressionAsOne) {
    EXPECT_EQ(markdownText("'tile' is indexed by 32*threadIdx.x + threadIdx.y: neighbouring lanes "
                           "are 32 elements apart."),
              "'tile' is indexed by `32*threadIdx.x + threadIdx.y`: neighbouring lanes are 32 "
              "elements apart.");
    EXPECT_EQ(markdownText("(width*y + x) and 'a_b', then __ldg."),
              "(`width*y + x`) and '`a_b`', then `__ldg`.");
}

TEST(MarkdownText, LeavesProseAlone) {
    for (const char* prose : {"", "With rows of 33 elements it needs 1 - 2 of 3; 5 % of them.",
                              " two  spaces ", "wavefronts 256 -> 8"})
        EXPECT_EQ(markdownText(prose), prose);
}

TEST(MarkdownText, QuotesEachWordThatIsCode) {
    EXPECT_EQ(markdownText("tile[threadIdx.x][threadIdx.y] on line 16 needs 32 wavefronts"),
              "`tile[threadIdx.x][threadIdx.y]` on line 16 needs 32 wavefronts");
    EXPECT_EQ(markdownText("a * b"), "`a * b`");
    EXPECT_EQ(markdownText("is * a"), "`is * a`");
    EXPECT_EQ(markdownText("*"), "`*`");
}

TEST(MarkdownText, LeavesCodeThatIsQuoted) {
    EXPECT_EQ(markdownText("such as `// kernelskill: launch k<<<1, 32>>>()`, or a*b"),
              "such as `// kernelskill: launch k<<<1, 32>>>()`, or `a*b`");
    EXPECT_EQ(markdownText("open ` a*b"), "open ` a*b");
}

} // namespace
} // namespace kernelskill::lsp
