#include "engine/static_facts/compiler_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using testing::ElementsAre;

constexpr auto log = R"(/a/k.cu(7): warning #177-D: variable "t" was declared but never referenced
  const float t = 1;
/a/k (old).cu(12): error: identifier "scaled" is undefined
      x[0] = scaled(1);
             ^

/a/k.cu(14): error: namespace "blas" has no member "axpy"
/a/k.cu(15): error: expected a ";" and more
)";

TEST(CompilerMessages, FindsTheFirstError) {
    const auto error = firstDeviceError(log);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->file, "/a/k (old).cu");
    EXPECT_EQ(error->line, 12U);
    EXPECT_EQ(error->text, "identifier \"scaled\" is undefined");

    const auto missing =
        firstDeviceError("/a/k.cu(1): catastrophic error: cannot open source file \"x.h\"\n");
    ASSERT_TRUE(missing);
    EXPECT_EQ(missing->text, "cannot open source file \"x.h\"");

    const auto assembler =
        firstDeviceError("ptxas error   : Entry function 'k' uses too much shared data\n");
    ASSERT_TRUE(assembler);
    EXPECT_EQ(assembler->text, "Entry function 'k' uses too much shared data");
    EXPECT_TRUE(assembler->file.empty());

    EXPECT_FALSE(firstDeviceError("ptxas info    : 0 bytes gmem\n"));
}

TEST(CompilerMessages, NamesWhatIsMissing) {
    EXPECT_THAT(undefinedDeviceNames(log), ElementsAre("axpy", "blas", "scaled"));
}

TEST(CompilerMessages, NamesTheFunctionOfAnotherFile) {
    EXPECT_EQ(unresolvedFunction("ptxas fatal   : Unresolved extern function '_Z5otherPf'\n"),
              "other(float*)");
    EXPECT_FALSE(unresolvedFunction(log));
}

TEST(CompilerMessages, TellTheKernelOfASymbol) {
    EXPECT_EQ(functionName("_ZN3lib42_GLOBAL__N__18bca178_4_n_cu_2d678063_279634tileIfLi64EEEvPT_"),
              "tile");
    EXPECT_EQ(functionName("_Z5scalePfi"), "scale");
    EXPECT_EQ(functionName("plain"), "plain");
}

} // namespace
} // namespace kernelskill::engine
