#include "engine/execution/emulator/unit/guarded_arrays.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace kernelskill::engine {
namespace {

std::string guarded(const std::string& text) {
    return withGuardedArrays(text, {{1, "v"}, {2, "v"}});
}

TEST(GuardedArrays, AreObjectsWithRoomThatAReferenceStandsFor) {
    EXPECT_EQ(guarded("float v[4]; v[0] = 1;"),
              "ks::Owned<float  [4]> ksOwn_v; float  (&v)[4] = ksOwn_v.ksArray; v[0] = 1;");
    EXPECT_EQ(guarded("{ const T v[2][N], a = 1; }"), "{ ks::Owned<const T  [2][N]> ksOwn_v; const "
                                                      "T  (&v)[2][N] = ksOwn_v.ksArray, a = 1; }");
    EXPECT_EQ(guarded("std::pair<int, 3> v[4];"),
              "ks::Owned<std::pair<int, 3>  [4]> ksOwn_v; std::pair<int, 3>  (&v)[4] = "
              "ksOwn_v.ksArray;");
}

TEST(GuardedArrays, KeepTheirInitialisersAndLines) {
    EXPECT_EQ(guarded("int v[2] = {1, 2};"),
              "ks::Owned<int  [2]> ksOwn_v = {{}, {1, 2}}; int  (&v)[2] = ksOwn_v.ksArray;");
    EXPECT_EQ(guarded("int v[2]{};"),
              "ks::Owned<int  [2]> ksOwn_v = {{}, {}}; int  (&v)[2] = ksOwn_v.ksArray;");
    const std::string result = guarded("float\nv[2] = {1,\n2};\n");
    EXPECT_EQ(std::ranges::count(result, '\n'), 3);
    EXPECT_TRUE(result.starts_with("ks::Owned<float\n [2]>")) << result;
}

TEST(GuardedArrays, AreNotWhatDeclaresNoObjectOfTheStack) {
    for (const char* text :
         {"v[3] = 1;", "return v[0];", "static float v[4];", "__shared__ float v[4];",
          "constexpr int v[1] = {1};", "int a, v[4];", "alignas(16) float v[4];",
          "#define D float v[4];", "x = a * v[1];", "float v[] = {1};", "for (int v[2]; ;) {}",
          "void f(float v[4]);", "float w[4];", "\n\n\nfloat v[4];"})
        EXPECT_EQ(guarded(text), text);
}

} // namespace
} // namespace kernelskill::engine
