#include "analysis/scan/conditional_text.h"

#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

std::string structureOf(std::string_view text) {
    std::string result;
    for (const auto& token : structuralTokens(lex(text)))
        result += std::string(token.text) + " ";
    return result;
}

TEST(ConditionalText, aDisabledBranchIsLeftOutAndItsAlternativeKept) {
    EXPECT_EQ(structureOf("#if 0\nint a = {;\n#else\nint b;\n#endif\n"), "int b ; ");
    EXPECT_EQ(structureOf("#if 0\n#if X\na\n#else\nb\n#endif\nc\n#endif\nd\n"), "d ");
}

TEST(ConditionalText, balancedBranchesAllCount) {
    EXPECT_EQ(structureOf("#ifdef A\nint a;\n#else\nint b;\n#endif\n"), "int a ; int b ; ");
}

TEST(ConditionalText, ofBranchesThatOpenTheSameBraceOneCounts) {
    EXPECT_EQ(structureOf("#ifdef A\nvoid f(int a) {\n#else\nvoid f(long a) {\n#endif\n}\n"),
              "void f ( int a ) { } ");
}

TEST(ConditionalText, aZeroBehindAMacroIsNoDisabledBranch) {
    EXPECT_EQ(structureOf("#if 0 || USE\nint a;\n#endif\n"), "int a ; ");
}

} // namespace
} // namespace kernelskill::analysis
