#include "engine/unit/slice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The slice of `text` for kernel "k".
std::string sliced(const std::string& text, SliceRequest request = {}) {
    UserFile file{"/project/a.cu", text, {}};
    const ScannedProgram program({file}, {});
    request.kernelFile = "/project/a.cu";
    request.kernelOffset = static_cast<std::uint32_t>(text.find(" k("));
    request.kernelName = "k";
    const auto slices = sliceProgram(program, request);
    return blankedText(program.files()[0], slices[0]);
}

TEST(Slice, keepsPlacesAndDropsHostCode) {
    const std::string text = "#include <iostream>\r\n"
                             "__global__ void k(float* x) { x[0] = 1; }\r\n"
                             "int main() {\r\n\tk<<<1, 1>>>(nullptr);\r\n}\r\n";
    const auto result = sliced(text);
    ASSERT_EQ(result.size(), text.size());
    EXPECT_EQ(result.find("__global__"), text.find("__global__"));
    EXPECT_THAT(result, Not(HasSubstr("main")));
    EXPECT_THAT(result, Not(HasSubstr("<<<")));
    EXPECT_EQ(std::count(result.begin(), result.end(), '\n'),
              std::count(text.begin(), text.end(), '\n'));
}

TEST(Slice, keepsWhatIsNamedThroughMacrosTypesAndFunctions) {
    const auto result =
        sliced("const int unused = 1;\n"
               "const int used = 2;\n"
               "#define LIMIT (used + 1)\n"
               "struct Pair { float a, b; };\n"
               "typedef Pair Couple;\n"
               "__device__ float helper(Couple c) { return c.a; }\n"
               "__device__ float other() { return 0; }\n"
               "__global__ void k(float* x) { if (x[0] < LIMIT) x[0] = helper({1, 2}); }\n");
    EXPECT_THAT(result, HasSubstr("const int used"));
    EXPECT_THAT(result, HasSubstr("struct Pair"));
    EXPECT_THAT(result, HasSubstr("typedef Pair"));
    EXPECT_THAT(result, HasSubstr("helper(Couple"));
    EXPECT_THAT(result, Not(HasSubstr("unused")));
    EXPECT_THAT(result, Not(HasSubstr("other")));
}

TEST(Slice, aHostGlobalWithTheNameOfALocalIsDropped) {
    EXPECT_THAT(sliced("int* result;\nstd::vector<int> n;\n__global__ void k(int* o) { int result "
                       "= 1; int n = result; o[0] = n; }"),
                Not(HasSubstr("std::vector")));
}

TEST(Slice, hostMembersOfAKeptClassAreDropped) {
    const auto result = sliced("struct S {\n  int n;\n  S() { cudaMalloc(&p, 4); }\n"
                               "  __device__ int get() const { return n; }\n"
                               "  void launch() { k<<<1, 1>>>(*this); }\n};\n"
                               "__global__ void k(S s) { s.get(); }");
    EXPECT_THAT(result, HasSubstr("get() const"));
    EXPECT_THAT(result, Not(HasSubstr("cudaMalloc")));
    EXPECT_THAT(result, Not(HasSubstr("<<<")));
}

TEST(Slice, namespacesStayOpenAndClosed) {
    const auto result =
        sliced("namespace a {\nvoid host() {}\nnamespace {\n__global__ void k() {}\n}\n}\n");
    EXPECT_EQ(std::count(result.begin(), result.end(), '{'),
              std::count(result.begin(), result.end(), '}'));
    EXPECT_THAT(result, HasSubstr("namespace a {"));
    EXPECT_THAT(result, Not(HasSubstr("host")));
}

TEST(Slice, otherKernelsAndExplicitInstantiationsAreDropped) {
    const auto result = sliced("template <int N> __global__ void other(int* k) {}\ntemplate "
                               "__global__ void other<3>(int*);\n"
                               "__global__ void k(int* other) {}\n");
    EXPECT_THAT(result, Not(HasSubstr("template")));
}

TEST(Slice, aKernelThatAMacroMakesIsKeptWhole) {
    const std::string text =
        "#define K(name) __global__ void name(float* x) { x[0] = 1; }\nK( k)\nint main() {}\n";
    UserFile file{"/project/a.cu", text, {}};
    const ScannedProgram program({file}, {});
    SliceRequest request;
    request.kernelFile = "/project/a.cu";
    request.kernelOffset = static_cast<std::uint32_t>(text.find("K( k)"));
    request.kernelName = "k";
    const auto result = blankedText(program.files()[0], sliceProgram(program, request)[0]);
    EXPECT_THAT(result, HasSubstr("K( k)"));
    EXPECT_THAT(result, Not(HasSubstr("main")));
}

TEST(Slice, aFileBetweenTheBracketsOfADeclarationIsKeptWithIt) {
    const std::string text = "const float kept[] = {\n#include \"table.inc\"\n};\n"
                             "const float other[] = {\n#include \"table.inc\"\n};\n"
                             "const float unused[] = {\n#include \"unused.inc\"\n};\n"
                             "__device__ float scaled(float x) { return x; }\n"
                             "__global__ void k(float* x) {\n#include \"body.inc\"\n}\n";
    const auto include = [&](const std::string& name, std::size_t from) {
        const std::string line = "#include \"" + name + "\"";
        const auto begin = static_cast<std::uint32_t>(text.find(line, from));
        return IncludeLine{{begin, static_cast<std::uint32_t>(begin + line.size())},
                           "\"" + name + "\"",
                           "/project/" + name};
    };
    const ScannedProgram program(
        {{"/project/a.cu",
          text,
          {include("table.inc", 0), include("table.inc", text.find("other")),
           include("unused.inc", 0), include("body.inc", 0)}},
         {"/project/table.inc", "1.f,\nLAST\n", {}},
         {"/project/unused.inc", "3.f, 4.f\n", {}},
         {"/project/body.inc", "x[0] = scaled(kept[1]);\n", {}}},
        {});
    SliceRequest request;
    request.kernelFile = "/project/a.cu";
    request.kernelOffset = static_cast<std::uint32_t>(text.find(" k("));
    request.kernelName = "k";
    const auto slices = sliceProgram(program, request);
    const std::string result = blankedText(program.files()[0], slices[0]);
    EXPECT_THAT(result, HasSubstr("kept[] = {\n#include \"table.inc\""));
    EXPECT_EQ(result.find("table.inc", result.find("table.inc") + 1), std::string::npos);
    EXPECT_THAT(result, HasSubstr("scaled(float x)"));
    EXPECT_EQ(blankedText(program.files()[1], slices[1]), "1.f,\nLAST\n");
    EXPECT_EQ(blankedText(program.files()[2], slices[2]), "        \n");
    EXPECT_EQ(blankedText(program.files()[3], slices[3]), "x[0] = scaled(kept[1]);\n");
}

TEST(Slice, forcedNamesAreKeptWhateverTheyLookLike) {
    SliceRequest request;
    request.forced = {"hostHelper"};
    const auto result = sliced("int hostHelper() { return 1; }\n__global__ void k() { }", request);
    EXPECT_THAT(result, HasSubstr("hostHelper"));
}

TEST(Slice, bothBranchesOfAConditionalStay) {
    const auto result = sliced("__global__ void k(float* x)\n{\n#ifdef A\n  if (x) {\n#else\n  "
                               "while (x) {\n#endif\n  }\n}\nvoid host() {}\n");
    EXPECT_THAT(result, HasSubstr("if (x) {"));
    EXPECT_THAT(result, HasSubstr("while (x) {"));
    EXPECT_THAT(result, Not(HasSubstr("host")));
}

} // namespace
} // namespace kernelskill::engine
