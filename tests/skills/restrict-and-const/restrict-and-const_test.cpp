#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "restrict-and-const";

const std::string kernel = "__global__ void k(float* out, float* in, int n) {\n    if (threadIdx.x "
                           "< n) out[threadIdx.x] = in[threadIdx.x];\n}\n";
const std::string qualified =
    "__global__ void k(float* __restrict__ out, const float* __restrict__ in, int n) {\n    if "
    "(threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x];\n}\n";

TEST(RestrictAndConst, AClassOfNumbersAliasesNothing) {
    checkApplicable(
        "restrict-and-const",
        "enum Mode { Fast, Slow };\nstruct Size { int n; Mode mode; };\n"
        "struct Shape { Size sizes[2]; double scale; };\n"
        "__global__ void k(float* out, float* in, Shape shape) { out[0] = in[shape.sizes[0].n]; }\n"
        "void run(float* a, float* b, Shape s) { k<<<1, 1>>>(a, b, s); }\n",
        "enum Mode { Fast, Slow };\nstruct Size { int n; Mode mode; };\n"
        "struct Shape { Size sizes[2]; double scale; };\n"
        "__global__ void k(float* __restrict__ out, const float* __restrict__ in, Shape shape) { "
        "out[0] = in[shape.sizes[0].n]; }\n"
        "void run(float* a, float* b, Shape s) { k<<<1, 1>>>(a, b, s); }\n");
}

TEST(RestrictAndConst, KeepsPointersApartThatAreExchanged) {
    for (const char* exchange : {"float* t = a; a = b; b = t;", "t = a; a = b; b = t;"}) {
        const std::string host = "void run(float* x, float* y, float* t, int n) {\n"
                                 "    float *a = x, *b = y;\n"
                                 "    for (int i = 0; i < n; ++i) {\n"
                                 "        k<<<1, 32>>>(a, b, 1);\n        " +
                                 std::string(exchange) + "\n    }\n}\n";
        checkApplicable(id, kernel + host, qualified + host);
    }
}

TEST(RestrictAndConst, FollowsTheStyleOfTheStar) {
    checkApplicable(id,
                    "__global__ void k(float *out, float * in) { *out = in[1]; }\nvoid run(float* "
                    "a, float* b) { k<<<1, 1>>>(a, b); }\n",
                    "__global__ void k(float *__restrict__ out, const float * __restrict__ in) { "
                    "*out = in[1]; }\nvoid run(float* a, float* b) { k<<<1, 1>>>(a, b); }\n");
}

TEST(RestrictAndConst, KeepsTheSpellingThatTheKernelUses) {
    checkApplicable(id,
                    "__global__ void k(float* __restrict out, float* in) { *out = in[1]; }\nvoid "
                    "run(float* a, float* b) { k<<<1, 1>>>(a, b); }\n",
                    "__global__ void k(float* __restrict out, const float* __restrict in) { *out = "
                    "in[1]; }\nvoid run(float* a, float* b) { k<<<1, 1>>>(a, b); }\n");
}

TEST(RestrictAndConst, QualifiesUnnamedParametersOfADeclaration) {
    checkApplicable(id,
                    "__global__ void k(float*, float*, int);\n" + kernel +
                        "void run(float* a, float* b) { k<<<1, 32>>>(a, b, 1); }\n",
                    "__global__ void k(float* __restrict__, const float* __restrict__, int);\n" +
                        qualified + "void run(float* a, float* b) { k<<<1, 32>>>(a, b, 1); }\n");
}

TEST(RestrictAndConst, FitsATemplate) {
    checkApplicable(
        id,
        "template <typename T> __global__ void k(T* out, T* in) { *out = in[1]; }\nvoid run(float* "
        "a, float* b) { k<float><<<1, 1>>>(a, b); }\n",
        "template <typename T> __global__ void k(T* __restrict__ out, const T* __restrict__ in) { "
        "*out = in[1]; }\nvoid run(float* a, float* b) { k<float><<<1, 1>>>(a, b); }\n");
}

TEST(RestrictAndConst, LeavesOutConstWhereAFieldOfATemplateIsWritten) {
    const std::string head = "template <typename T, int N> struct Fixed { T item[N]; };\n"
                             "template <typename T, int N>\n__global__ void k(";
    const std::string rest = " in, int n) {\n    for (int j = 0; j < N; ++j) out[n].item[j] = "
                             "in[n].item[j];\n}\nvoid run(Fixed<int, 4>* a, Fixed<int, 4>* b) { "
                             "k<int, 4><<<1, 1>>>(a, b, 1); }\n";
    checkApplicable(id, head + "Fixed<T, N>* out, const Fixed<T, N>*" + rest,
                    head + "Fixed<T, N>* __restrict__ out, const Fixed<T, N>* __restrict__" + rest);
}

TEST(RestrictAndConst, LeavesOutConstWhereAUseNeedsAPlainPointer) {
    const std::string text =
        appliedText(id, "__global__ void k(float* out, float* in) { float* p = in + 1; *out = *p; "
                        "}\nvoid run(float* a, float* b) { k<<<1, 1>>>(a, b); }\n");
    EXPECT_TRUE(text.contains("k(float* __restrict__ out, float* __restrict__ in)")) << text;
}

TEST(RestrictAndConst, DoesNotMixUpMembersAndElements) {
    for (const char* host :
         {"struct B { float* a; float* b; };\nvoid run(B d) { k<<<1, 32>>>(d.a, d.b, 1); }\n",
          "void run(float** d) { k<<<1, 32>>>(d[0], d[1], 1); }\n"})
        EXPECT_TRUE(appliedText(id, kernel + host).starts_with(qualified)) << host;
}

TEST(RestrictAndConst, IsAboutTheParameters) {
    checkTarget(id, kernel + "void run(float* a, float* b) { k<<<1, 32>>>(a, b, 1); }\n",
                "float* out, float* in, int n");
}

struct Case {
    std::string name;
    std::string gate;
    std::string host;
    std::string code = kernel;
};

class RestrictAndConstIsNotOffered : public testing::TestWithParam<Case> {};

TEST_P(RestrictAndConstIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().code + GetParam().host, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, RestrictAndConstIsNotOffered,
    testing::Values(
        Case{"SameArgument", "aliasing-launch", "void run(float* a) { k<<<1, 32>>>(a, a, 1); }\n"},
        Case{"OneLaunchOfTwo", "aliasing-launch",
             "void run(float* a, float* b) { k<<<1, 32>>>(a, b, 1); k<<<1, 32>>>(b, b, 1); }\n"},
        Case{"PartsOfOneBuffer", "aliasing-launch",
             "void run(float* a, int n) { k<<<1, 32>>>(a, a + n, 1); }\n"},
        Case{"AddressOfElement", "aliasing-launch",
             "void run(float* a, int n) { k<<<1, 32>>>(a, &a[n], 1); }\n"},
        Case{"ThroughALocal", "aliasing-launch",
             "void run(float* a) { float* b = a; k<<<1, 32>>>(a, b, 1); }\n"},
        Case{"ThroughAnAssignment", "aliasing-launch",
             "void run(float* a, float* c) { float* b = c; b = a + 4; k<<<1, 32>>>(a, b, 1); }\n"},
        Case{"ThroughACast", "aliasing-launch",
             "void run(void* a) { k<<<1, 32>>>((float*)a, static_cast<float*>(a), 1); }\n"},
        Case{"ThroughAConditional", "aliasing-launch",
             "void run(float* a, float* b, bool f) { k<<<1, 32>>>(f ? a : b, a, 1); }\n"},
        Case{"ThroughAWrapper", "aliasing-launch",
             "void run(float* a, float* b) { k<<<1, 32>>>(a, b, 1); }\nvoid inPlace(float* p) { "
             "run(p, p); }\n"},
        Case{"ElementsByVariable", "aliasing-launch",
             "void run(float** d, int i, int j) { k<<<1, 32>>>(d[i], d[j], 1); }\n"},
        Case{"ExchangedWithAThird", "aliasing-launch",
             "void run(float* a, float* b, float* c) {\n    k<<<1, 32>>>(a, b, 1);\n"
             "    float* t = a; a = c; c = t;\n    k<<<1, 32>>>(a, c, 1);\n    b = c;\n}\n"},
        Case{"OnlyHalfExchanged", "aliasing-launch",
             "void run(float* a, float* b) {\n    float* t = a; a = b; b = t; a = t;\n"
             "    k<<<1, 32>>>(a, b, 1);\n}\n"},
        Case{"ExchangedButOfOne", "aliasing-launch",
             "void run(float* x) {\n    float *a = x, *b = x;\n    float* t = a; a = b; b = t;\n"
             "    k<<<1, 32>>>(a, b, 1);\n}\n"},
        Case{"SameMember", "aliasing-launch",
             "struct B { float* a; };\nvoid run(B d) { k<<<1, 32>>>(d.a, d.a, 1); }\n"},
        Case{"NoLaunch", "no-launch", ""},
        Case{"FunctionPointer", "kernel-named-elsewhere",
             "void run(float* a, float* b) { k<<<1, 32>>>(a, b, 1); }\nauto pointer = &k;\n"},
        Case{"NamedInAMacro", "kernel-named-elsewhere",
             "#define RUN(a, b) k<<<1, 32>>>(a, b, 1)\nvoid run(float* a, float* b) { k<<<1, "
             "32>>>(a, b, 1); }\n"},
        Case{"ExplicitInstantiation", "kernel-named-elsewhere",
             "void run(float* a, float* b) { k<float><<<1, 1>>>(a, b); }\ntemplate __global__ void "
             "k<float>(float*, float*);\n",
             "template <typename T> __global__ void k(T* out, T* in) { *out = in[1]; }\n"},
        Case{"Already", "already-qualified",
             "void run(float* a, float* b) { k<<<1, 32>>>(a, b, 1); }\n", qualified},
        Case{"NoPointers", "already-qualified", "void run() { k<<<1, 1>>>(1); }\n",
             "__global__ void k(int n) { (void)n; }\n"},
        Case{"OneWrittenPointer", "already-qualified", "void run(float* a) { k<<<1, 1>>>(a); }\n",
             "__global__ void k(float* a) { a[threadIdx.x] += 1; }\n"},
        Case{"PointerToPointer", "pointer-to-pointer",
             "void run(float* a, float** b) { k<<<1, 1>>>(a, b); }\n",
             "__global__ void k(float* a, float** b) { a[0] = b[0][0]; }\n"},
        Case{"ClassParameter", "class-parameter",
             "void run(float* a, float* c, View b) { k<<<1, 1>>>(a, c, b); }\n",
             "struct View { float* data; };\n__global__ void k(float* a, float* c, View b) { a[0] "
             "= b.data[0] + c[0]; }\n"},
        Case{"ClassInAClass", "class-parameter",
             "void run(float* a, float* c, Box b) { k<<<1, 1>>>(a, c, b); }\n",
             "struct View { float* data; };\nstruct Box { int n; View views[2]; };\n"
             "__global__ void k(float* a, float* c, Box b) { a[0] = c[b.n]; }\n"},
        Case{"ClassWithABase", "class-parameter",
             "void run(float* a, float* c, Box b) { k<<<1, 1>>>(a, c, b); }\n",
             "struct View { float* data; };\nstruct Box : View { int n; };\n"
             "__global__ void k(float* a, float* c, Box b) { a[0] = c[b.n]; }\n"},
        Case{"DeviceGlobal", "device-global",
             "void run(float* a, float* b) { k<<<1, 1>>>(a, b); }\n",
             "__device__ float* shared;\n__global__ void k(float* a, float* b) { a[0] = b[0] "
             "+ shared[0]; }\n"},
        Case{"OtherSpelling", "unmatched-declaration",
             "void run(float* a, float* b) { k<<<1, 32>>>(a, b, 1); }\n",
             "typedef float* Pointer;\n__global__ void k(Pointer out, float* in, int n);\n" +
                 kernel}),
    [](const auto& info) { return info.param.name; });

std::optional<SkillRole> roleFor(const std::string& body) {
    const Subject subject = parseSubject(
        "__global__ void k(float* out, const float* in, const int* keys, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
        body + "}\nvoid run(float* a, float* b, int* c) { k<<<9, 99>>>(a, b, c, 1); }\n");
    const auto offer = skillNamed(id).prepare(subject.context());
    EXPECT_TRUE(offer) << offer.error().reason;
    return offer ? offer->role : std::nullopt;
}

TEST(RestrictAndConst, AnswersWhereAStoreMakesTheCompilerLoadAgain) {
    EXPECT_EQ(roleFor("    out[2 * i] = in[0];\n    out[2 * i + 1] = in[0];\n"), SkillRole::Answer);
    EXPECT_EQ(roleFor("    for (int j = 0; j < n; ++j) out[j * n + i] = in[i];\n"),
              SkillRole::Answer);
}

TEST(RestrictAndConst, IsGoodPracticeElsewhere) {
    EXPECT_EQ(roleFor("    out[i] = in[i];\n"), std::nullopt);
    EXPECT_EQ(roleFor("    out[i] = in[0] + in[0];\n"), std::nullopt) << "no store in between";
    EXPECT_EQ(roleFor("    for (int j = 0; j < n; ++j) out[j * n + i] = in[j * n + i];\n"),
              std::nullopt)
        << "each round loads another element";
    EXPECT_EQ(roleFor("    for (int j = 0; j < n; ++j) out[j * n + i] = keys[i];\n"), std::nullopt)
        << "the language keeps int and float apart";
}

} // namespace
} // namespace kernelskill::skills
