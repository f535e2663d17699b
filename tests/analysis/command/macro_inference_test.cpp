#include "analysis/command/macro_inference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string user = "void run(float* x) { k<<<4, BLOCK>>>(x); }\n";

TEST(NeededMacros, AreThoseUnderWhichHeadersDefineWhatIsUsed) {
    EXPECT_THAT(neededMacros(user, {"#ifdef GPU\n#define BLOCK 512\n#endif\n"}),
                ElementsAre("GPU"));
    EXPECT_THAT(neededMacros(user, {"#ifndef NET_H\n#define NET_H\n#if defined(GPU)\n"
                                    "#define BLOCK 512\n#define OTHER 1\n#endif\n#endif\n"}),
                ElementsAre("GPU"));
    EXPECT_THAT(neededMacros("#ifndef SIZE\n#define SIZE BLOCK\n#endif\nint n = BLOCK * WIDE;\n",
                             {"#ifdef GPU\n#define BLOCK 512\n#endif\n",
                              "#if defined LARGE\n#define WIDE 4\n#endif\n"}),
                ElementsAre("GPU", "LARGE"));
}

TEST(NeededMacros, AreNoneWhereTheTextCompilesWithoutThem) {
    // Defined otherwise as well, or under one of several macros.
    for (const char* header :
         {"#ifdef GPU\n#define BLOCK 512\n#else\n#define BLOCK 1\n#endif\n", "#define BLOCK 256\n",
          "#ifndef BLOCK\n#define BLOCK 256\n#endif\n",
          "#ifdef A\n#define BLOCK 1\n#endif\n#ifdef B\n#define BLOCK 2\n#endif\n",
          "#if defined(A) && defined(B)\n#define BLOCK 1\n#endif\n",
          "#ifdef A\n#ifdef B\n#define BLOCK 1\n#endif\n#endif\n",
          "#if LEVEL > 2\n#define BLOCK 1\n#endif\n",
          // The macro is the compiler's or another platform's, or the header defines it itself.
          "#ifdef __CUDACC__\n#define BLOCK 1\n#endif\n",
          "#ifdef _WIN32\n#define BLOCK 1\n#endif\n", "#ifdef WIN32\n#define BLOCK 1\n#endif\n",
          "#define GPU\n#ifdef GPU\n#define BLOCK 1\n#endif\n", ""})
        EXPECT_THAT(neededMacros(user, {header}), IsEmpty()) << header;
    const std::string header = "#ifdef GPU\n#define BLOCK 512\n#endif\n";
    for (const char* text :
         {"#ifdef GPU\nint n = BLOCK;\n#endif\n", "const int BLOCK = 4;\nint n = BLOCK;\n",
          "#define BLOCK 4\nint n = BLOCK;\n", "#undef GPU\nint n = BLOCK;\n", "int n = 4;\n"})
        EXPECT_THAT(neededMacros(text, {header}), IsEmpty()) << text;
}

} // namespace
} // namespace kernelskill::analysis
