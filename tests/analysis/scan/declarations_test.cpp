#include "analysis/scan/conditional_text.h"
#include "analysis/scan/declarations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::analysis {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

std::vector<Declaration> scan(std::string_view text) {
    const auto tokens = lex(text);
    MacroTable macros;
    macros.addDefinitionsOf(tokens);
    return scanDeclarations(structuralTokens(tokens), macros).declarations;
}

struct Case {
    std::string_view text;
    DeclarationKind kind;
    std::string_view name;
};

class OneDeclaration : public ::testing::TestWithParam<Case> {};

TEST_P(OneDeclaration, isClassifiedAndNamed) {
    const auto declarations = scan(GetParam().text);
    ASSERT_EQ(declarations.size(), 1u) << GetParam().text;
    EXPECT_EQ(declarations[0].kind, GetParam().kind) << GetParam().text;
    EXPECT_THAT(declarations[0].names, Contains(std::string(GetParam().name))) << GetParam().text;
    EXPECT_EQ(declarations[0].span.size(), GetParam().text.size()) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Declarations, OneDeclaration,
    ::testing::Values(
        Case{"__global__ void k(float* x) { x[0] = 1; }", DeclarationKind::Function, "k"},
        Case{"__global__ void __launch_bounds__(256, 2) k(float* x) { }", DeclarationKind::Function,
             "k"},
        Case{"template <typename T, int N = (4 > 2)> __global__ void k(T* x) { }",
             DeclarationKind::Function, "k"},
        Case{"template <> __device__ float f<float>(float x) { return x; }",
             DeclarationKind::Function, "f"},
        Case{"static __device__ __forceinline__\nfloat f(float x)\n{ return x; }",
             DeclarationKind::Function, "f"},
        Case{"struct Point make(int a) { return {a}; }", DeclarationKind::Function, "make"},
        Case{"__device__ auto f(int a) -> int { return a; }", DeclarationKind::Function, "f"},
        Case{"inline float4 operator+(float4 a, float4 b) { return a; }", DeclarationKind::Function,
             "operator"},
        Case{"[[nodiscard]] __device__ int f();", DeclarationKind::Function, "f"},
        Case{"struct __align__(16) Vec { float x[4]; };", DeclarationKind::Type, "Vec"},
        Case{"struct alignas(16) Vec : Base<(1 > 0)> { float x; } v;", DeclarationKind::Type,
             "Vec"},
        Case{"template <typename T> class Grid final : public Base { T x; };",
             DeclarationKind::Type, "Grid"},
        Case{"struct Forward;", DeclarationKind::Type, "Forward"},
        Case{"enum class Op : int { Add = 1, Mul };", DeclarationKind::Enum, "Mul"},
        Case{"typedef struct { int a; } Pair;", DeclarationKind::Alias, "Pair"},
        Case{"typedef float (*Callback)(float);", DeclarationKind::Alias, "Callback"},
        Case{"using Real = float;", DeclarationKind::Alias, "Real"},
        Case{"using namespace cooperative_groups;", DeclarationKind::UsingNamespace,
             "cooperative_groups"},
        Case{"using std::min;", DeclarationKind::Using, "min"},
        Case{"namespace cg = cooperative_groups;", DeclarationKind::NamespaceAlias, "cg"},
        Case{"__constant__ float taps[5] = {1, 2}, bias;", DeclarationKind::Variable, "bias"},
        Case{"const int a = 1, b = f(2);", DeclarationKind::Variable, "b"},
        Case{"__device__ float (*table[2])(float) = {f, g};", DeclarationKind::Variable, "table"},
        Case{"auto square = [] __device__ (int x) { return x; };", DeclarationKind::Variable,
             "square"}));

TEST(Declarations, namespacesAndLinkageBlocksAreSeenThrough) {
    const auto declarations =
        scan("namespace a::b { namespace { int x; } extern \"C\" { void f() {} } }\nint y;");
    ASSERT_EQ(declarations.size(), 3u);
    EXPECT_EQ(declarations[0].scope, "a::b");
    EXPECT_EQ(declarations[1].scope, "a::b");
    EXPECT_EQ(declarations[2].scope, "");
}

TEST(Declarations, aMacroThatMakesAFunctionEndsByItself) {
    const auto declarations =
        scan("#define OP(n) __device__ int n() { return 1; }\nOP(one)\nOP(two)\nint main() {}");
    ASSERT_EQ(declarations.size(), 3u);
    EXPECT_EQ(declarations[0].kind, DeclarationKind::MacroCall);
    EXPECT_THAT(declarations[1].names, ElementsAre("OP", "two"));
    EXPECT_EQ(declarations[2].names.front(), "main");
}

TEST(Declarations, aConditionInATemplateHeadBelongsToIt) {
    const auto declarations =
        scan("template <typename T, enable_if<is<T, int>{} || is<T, long>{}>* = "
             "nullptr>\n__device__ void sub(T* x) {}\nint after;");
    ASSERT_EQ(declarations.size(), 2u);
    EXPECT_TRUE(declarations[0].isTemplate);
    EXPECT_TRUE(declarations[0].isDevice);
    EXPECT_EQ(declarations[0].names.front(), "sub");
}

TEST(Declarations, aTableBetweenTwoMacrosIsOneDeclaration) {
    const auto declarations = scan("#define BEGIN(t, n, s) static const __device__ t n[s] = {\n"
                                   "#define END() };\n"
                                   "BEGIN(int, squares, 3) 0, 1, 4 END()\nint after;");
    ASSERT_EQ(declarations.size(), 2u);
    EXPECT_EQ(declarations[0].kind, DeclarationKind::MacroCall);
    EXPECT_THAT(declarations[0].names, ::testing::Contains("squares"));
    EXPECT_EQ(declarations[1].names.front(), "after");
}

TEST(Declarations, attributesBehindMacrosAreSeen) {
    const auto declarations = scan("#define HD __host__ __device__\nHD int f() { return 1; }");
    ASSERT_EQ(declarations.size(), 1u);
    EXPECT_TRUE(declarations[0].isDevice);
}

TEST(Declarations, membersAreReadWithTheirConstructors) {
    const auto declarations =
        scan("struct S { S(int a) : x{a}, y(a) { } __device__ int get() const { return x; }\n"
             "private: int x, y; ~S() { } };");
    ASSERT_EQ(declarations.size(), 1u);
    ASSERT_EQ(declarations[0].members.size(), 4u);
    EXPECT_FALSE(declarations[0].members[0].isDevice);
    EXPECT_TRUE(declarations[0].members[1].isDevice);
    EXPECT_EQ(declarations[0].members[2].kind, DeclarationKind::Variable);
}

TEST(Declarations, aMemberDefinedOutsideKnowsItsClass) {
    const auto declarations =
        scan("template <typename T> __device__ T Box<T>::get() const { return x; }");
    ASSERT_EQ(declarations.size(), 1u);
    EXPECT_EQ(declarations[0].owner, "Box");
}

TEST(Declarations, unbalancedTextStillEnds) {
    EXPECT_FALSE(scan("void f() { if (x { }").empty());
    EXPECT_NO_FATAL_FAILURE(scan("} } ) template < > operator"));
    EXPECT_NO_FATAL_FAILURE(scan("namespace"));
    EXPECT_NO_FATAL_FAILURE(scan("struct operator"));
}

} // namespace
} // namespace kernelskill::analysis
