#include "engine/proposal/kernel_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

TEST(KernelBlockTest, TakesTheOneBlockAndWhatStandsAroundIt) {
    const auto block = kernelBlock("I did\r\nthis.\r\n```cuda\r\n\r\n  int a;\r\n\tint b;\r\n\r\n"
                                   "```\r\nVerdict: \x1b[32mfaster\xe2\x80\xae!\r\n");
    ASSERT_TRUE(block) << block.error().describe();
    EXPECT_EQ(block->code, "  int a;\n\tint b;");
    EXPECT_EQ(block->claim, "I did this. Verdict: [32mfaster !");
}

TEST(KernelBlockTest, RefusesNoneSeveralAndOneWithoutAnEnd) {
    EXPECT_THAT(kernelBlock("").error().what, HasSubstr("no fenced block"));
    EXPECT_THAT(kernelBlock("just words").error().what, HasSubstr("no fenced block"));
    EXPECT_THAT(kernelBlock("```\nint a;\n").error().what, HasSubstr("does not end"));
    EXPECT_THAT(kernelBlock("```\na\n```\n```\nb\n```\n").error().what, HasSubstr("more than one"));
}

TEST(KernelBlockTest, CutsALongClaim) {
    const auto block = kernelBlock(std::string(100'000, 'x') + "\n```\nint a;\n```\n");
    ASSERT_TRUE(block);
    EXPECT_LE(block->claim.size(), 600u);
}

} // namespace
} // namespace kernelskill::engine
