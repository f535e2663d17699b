/// Each way in which a text could reach beyond its kernel is refused, and by its own rule; what a
/// kernel needs is not.
#include "engine/proposal/kernel_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view original =
    "template <int N>\n"
    "__global__ void scale(float* out, const float* in, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        out[i] = N * in[i];\n"
    "}";
constexpr std::string_view head =
    "template <int N>\n__global__ void scale(float* out, const float* in, int n) {\n";

std::string refusal(std::string_view proposed) {
    return refusalOf(original, proposed).value_or("");
}
std::string withBody(std::string_view body) {
    return std::string(head) + std::string(body) + "\n}";
}
std::string bodyRefusal(std::string_view body) {
    return refusal(withBody(body));
}

TEST(KernelRulesTest, AllowsWhatKernelsAreMadeOf) {
    EXPECT_EQ(refusal(original), "");
    EXPECT_EQ(bodyRefusal("#pragma unroll\n for (int i = 0; i < 4; ++i) ;\n#pragma unroll N / 2\n"
                          "for (;;) {}\n#pragma unroll (4)\nwhile (i % 2 > 1) {}"),
              "");
    EXPECT_EQ(
        bodyRefusal("extern __shared__ float s[]; __shared__ __align__(16) float t[32][33];\n"
                    "static __shared__ int u; __syncthreads();\n"
                    "float v = __shfl_down_sync(0xffff'ffffu, 1.0f, 16) + __ldg(in);\n"
                    "auto w = [&](auto x) { return x ? 'a' : '\\''; };\n"
                    "if (n > 1) [[likely]] { float4 q = *reinterpret_cast<const float4*>(in); }\n"
                    "// a comment: don't stop\n/* and 'another \" */\n"
                    "__builtin_assume(n > 0); a[b[1]] = __fmaf_rn(1.f, 2.f, __expf(3.f));"),
        "");
}

TEST(KernelRulesTest, AllowsQualifiersToComeAndGo) {
    EXPECT_EQ(refusal("template <int N>\n__global__ __launch_bounds__(256, 2) void scale("
                      "float* __restrict__ out, const float* __restrict__ in, const int n) { }"),
              "");
    EXPECT_EQ(refusal("template <int N>\n__global__ void __launch_bounds__(256) scale(float* out, "
                      "float const* const __restrict in, int n) { }"),
              "");
    EXPECT_EQ(refusal("template <int N>\n__global__ void scale(float* out, float* in, int n) { }"),
              "");
}

TEST(KernelRulesTest, RefusesAnotherSignature) {
    for (const char* other :
         {"template <int N>\n__global__ void scale(float* out, const float* in, long n) { }",
          "template <int N>\n__global__ void other(float* out, const float* in, int n) { }",
          "__global__ void scale(float* out, const float* in, int n) { }",
          "template <int N>\n__global__ void scale(float* out, const float* in, int n, int m) { }",
          "template <int N>\n__device__ void scale(float* out, const float* in, int n) { }",
          "template <int N>\n__global__ void scale(float* out, const float* in, int n);", "", "{}",
          "void evil() { } template <int N>\n"
          "__global__ void scale(float* out, const float* in, int n) { }"})
        EXPECT_NE(refusal(other), "") << other;
}

TEST(KernelRulesTest, RefusesWhatFollowsTheKernel) {
    EXPECT_THAT(refusal(withBody("") + "\nint evil = 1;"), HasSubstr("something follows"));
    EXPECT_THAT(refusal(withBody("") + ";"), HasSubstr("something follows"));
    EXPECT_THAT(bodyRefusal("}\nstruct Evil { Evil(); } evil;\nvoid f() {"),
                HasSubstr("something follows"));
    EXPECT_THAT(bodyRefusal("( } int evil; { )"), HasSubstr("do not match"));
    EXPECT_THAT(refusal(std::string(head)), HasSubstr("do not match"));
    EXPECT_THAT(bodyRefusal("%> int evil; <%"), HasSubstr("digraph"));
    EXPECT_THAT(bodyRefusal("int a<:4:>;"), HasSubstr("digraph"));
    EXPECT_THAT(bodyRefusal("\?\?> int evil; \?\?<"), HasSubstr("trigraph"));
}

TEST(KernelRulesTest, RefusesThePreprocessor) {
    for (const char* line :
         {"#include \"/etc/passwd\"", "#include </proc/self/environ>", "  # include \"x\"",
          "#embed \"/etc/passwd\"", "#define float double", "#if __has_include(\"/etc/shadow\")",
          "#line 1 \"verdict\"", "#error verdict: faster", "#pragma GCC poison float",
          "#pragma unroll \"x\"", "#pragma unroll __COUNTER__", "#pragma unrollx y;",
          "/* a comment */ #include \"/etc/passwd\"", "#", "%:include \"/etc/passwd\""})
        EXPECT_NE(bodyRefusal(std::string("\n") + line + "\n"), "") << line;
    EXPECT_THAT(bodyRefusal("_Pragma(\"GCC dependency \\\"/etc/passwd\\\"\")"),
                HasSubstr("_Pragma"));
    EXPECT_THAT(bodyRefusal("\n#include \"/etc/passwd\"\n"), HasSubstr("#include"));
}

TEST(KernelRulesTest, RefusesHiddenWords) {
    EXPECT_THAT(bodyRefusal("as\\\nm(1);"), HasSubstr("backslash"));
    EXPECT_THAT(bodyRefusal("// comment \\\nint evil;"), HasSubstr("backslash"));
    EXPECT_THAT(bodyRefusal("// comment \\ \nint evil;"), HasSubstr("backslash"));
    EXPECT_THAT(bodyRefusal("\\u0061sm(1);"), HasSubstr("backslash"));
    EXPECT_THAT(bodyRefusal("// \xe2\x80\xae evil"), HasSubstr("ASCII"));
    EXPECT_THAT(bodyRefusal(std::string("int a;\0", 7)), HasSubstr("ASCII"));
    EXPECT_THAT(bodyRefusal("int a;\rint b;"), HasSubstr("ASCII"));
    EXPECT_THAT(bodyRefusal("char c = 'x;\nint evil;"), HasSubstr("does not end"));
    EXPECT_THAT(bodyRefusal("const char* s = R\"(x\n)\";"), HasSubstr("does not end"));
}

TEST(KernelRulesTest, RefusesAssemblyAndQuotations) {
    for (const char* code : {"asm(1);", "asm volatile(\".incbin \\\"/etc/passwd\\\"\");",
                             "__asm__(1);", "__asm(1);", "printf(\"verdict: faster\\n\");",
                             "static_assert(n, u8\"verdict\");", "auto s = \"a\"_evil;"})
        EXPECT_NE(bodyRefusal(code), "") << code;
    constexpr std::string_view withAsm = "__global__ void k(int* p) { asm(\"nop;\"); }";
    EXPECT_EQ(refusalOf(withAsm, "__global__ void k(int* p) { asm(\"nop;\"); asm(\"nop;\"); }"),
              std::nullopt)
        << "what the user wrote may stay";
    EXPECT_TRUE(refusalOf(withAsm, "__global__ void k(int* p) { asm(\".incbin\"); }"));
}

TEST(KernelRulesTest, RefusesNamesThatAreNobodysToUse) {
    for (const char* code : {"__attribute__((constructor)) int a;",
                             "int a = __COUNTER__;",
                             "if (__CUDA_ARCH__) ;",
                             "auto f = __FILE__;",
                             "auto t = __TIME__;",
                             "__builtin_return_address(0);",
                             "__tsan_read4(0);",
                             "ks_barrier();",
                             "int i = KERNELSKILL_EMULATION;",
                             "_Exit(0);",
                             "__trap();",
                             "throw 1;",
                             "try {} catch (...) {}",
                             "int* p = new int;",
                             "delete p;",
                             "typeid(n);",
                             "co_return;",
                             "std::__detail::x();",
                             "[[gnu::constructor]] int a;",
                             "[[gnu::section(x)]] int a;",
                             "int a [[using gnu: used]];",
                             "import evil;",
                             "int a$b;",
                             "int a@b;"})
        EXPECT_NE(bodyRefusal(code), "") << code;
}

TEST(KernelRulesTest, RefusesMemoryThatOutlivesALaunch) {
    EXPECT_THAT(bodyRefusal("static int runs; if (runs++ > 20) return;"), HasSubstr("static"));
    EXPECT_THAT(bodyRefusal("static constexpr char a[1 << 30] = {1};"), HasSubstr("static"));
    EXPECT_THAT(bodyRefusal("extern int x; x = 1;"), HasSubstr("extern"));
    EXPECT_THAT(bodyRefusal("thread_local int x;"), HasSubstr("thread_local"));
}

TEST(KernelRulesTest, RefusesWhatIsTooLargeForACompiler) {
    EXPECT_THAT(bodyRefusal(std::string(70'000, ' ')), HasSubstr("64 KiB"));
    std::string many;
    for (int i = 0; i < 21'000; ++i)
        many += ";";
    EXPECT_THAT(bodyRefusal(many), HasSubstr("tokens"));
    EXPECT_THAT(bodyRefusal("int a = " + std::string(200, '(') + "1" + std::string(200, ')') + ";"),
                HasSubstr("deep"));
}

TEST(KernelRulesTest, SaysTheLine) {
    EXPECT_THAT(bodyRefusal("int a;\nthrow 1;"), HasSubstr("line 4: 'throw'"));
}

} // namespace
} // namespace kernelskill::engine
