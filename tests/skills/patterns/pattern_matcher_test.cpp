#include "tests/skills/patterns/pattern_check.h"

namespace kernelskill::skills {
namespace {

const PatternCheck halve{{expression("x", "float")}, "$x / 2.0f", "$x * 0.5f"};

TEST(PatternMatcher, ReplacesAnExpressionWhereverItStands) {
    EXPECT_EQ(halve.inBody("  a[0] = b[0] / 2.0f;\n"), "  a[0] = b[0] * 0.5f;\n");
    EXPECT_EQ(halve.inBody("  float y = sqrtf(s/2.0f);\n  a[0] = y;\n"),
              "  float y = sqrtf(s * 0.5f);\n  a[0] = y;\n");
}

TEST(PatternMatcher, SeesTheTreeAndNotOnlyTheText) {
    // The operand is b[0]: `s + b[0]` is no expression here.
    EXPECT_EQ(halve.inBody("  a[0] = s + b[0] / 2.0f;\n"), "  a[0] = s + b[0] * 0.5f;\n");
    // Here it is s / b[0].
    EXPECT_EQ(halve.inBody("  a[0] = s / b[0] / 2.0f;\n"), "  a[0] = s / b[0] * 0.5f;\n");
    // And here there is none: 2.0f belongs to the product.
    const PatternCheck sum{{expression("x")}, "$x + 2.0f", "$x + 3.0f"};
    EXPECT_EQ(sum.inBody("  a[0] = s + 2.0f * b[0];\n"), "no-match");
}

TEST(PatternMatcher, KeepsBracketsAndPutsThemOnlyWhereTheyAreNeeded) {
    EXPECT_EQ(halve.inBody("  a[0] = (s + b[0]) / 2.0f;\n"), "  a[0] = (s + b[0]) * 0.5f;\n");
    const PatternCheck square{{expression("x")}, "powf($x, 2.0f)", "$x * $x"};
    EXPECT_EQ(square.inBody("  a[0] = s - powf(s + 1.0f, 2.0f);\n"),
              "  a[0] = s - (s + 1.0f) * (s + 1.0f);\n");
    EXPECT_EQ(square.inBody("  a[0] = s / powf(s * 2.0f, 2.0f);\n"),
              "  a[0] = s / (s * 2.0f * (s * 2.0f));\n");
    EXPECT_EQ(square.inBody("  a[0] = -powf(s, 2.0f) - (int)powf(s, 2.0f);\n"),
              "  a[0] = -(s * s) - (int)(s * s);\n");
    EXPECT_EQ(square.inBody("  a[0] = (powf(s, 2.0f));\n"), "  a[0] = (s * s);\n");
    EXPECT_EQ(square.inBody("  a[0] = powf(-s, 2.0f);\n"), "  a[0] = -s * -s;\n");
    EXPECT_EQ(square.inBody("  a[0] = powf(n > 0 ? s : 1.0f, 2.0f);\n"),
              "  a[0] = (n > 0 ? s : 1.0f) * (n > 0 ? s : 1.0f);\n");
    const PatternCheck add{{expression("x"), expression("y")}, "$x = $x + $y", "$x += $y"};
    EXPECT_EQ(add.inBody("  if (n > 0) s = s + b[0];\n  else s = s + 1.0f;\n  a[0] = s;\n"),
              "  if (n > 0) s += b[0];\n  else s += 1.0f;\n  a[0] = s;\n");
    const PatternCheck flip{
        {expression("c"), expression("x"), expression("y")}, "pick($c, $x, $y)", "$c ? $x : $y"};
    const std::string pick = "__device__ float pick(bool c, float x, float y);\n"
                             "__global__ void k(float* a, int n) {\n";
    EXPECT_EQ(flip.applied(pick + "  a[0] = pick(n > 0 ? true : false, 1.0f, 2.0f);\n}\n"),
              pick + "  a[0] = (n > 0 ? true : false) ? 1.0f : 2.0f;\n}\n");
    const PatternCheck sum{
        {expression("x"), expression("y")}, "fmaxf($x, $y)", "$x > $y ? $x : $y"};
    EXPECT_EQ(sum.inBody("  a[0] = fmaxf(s, b[0] + 1.0f) * 2.0f;\n"),
              "  a[0] = (s > b[0] + 1.0f ? s : b[0] + 1.0f) * 2.0f;\n");
}

TEST(PatternMatcher, AsksForTheTypeThatIsDeclared) {
    EXPECT_EQ(halve.inBody("  double d = s;\n  a[0] = d / 2.0f;\n"), "no-match");
    EXPECT_EQ(halve.inBody("  const float c = s;\n  a[0] = c / 2.0f;\n"),
              "  const float c = s;\n  a[0] = c * 0.5f;\n");
}

TEST(PatternMatcher, RepeatsOnlyWhatDoesNothingButYieldAValue) {
    const PatternCheck square{{expression("x")}, "powf($x, 2.0f)", "$x * $x"};
    EXPECT_EQ(square.inBody("  a[0] = powf(sqrtf(s), 2.0f);\n"), "  a[0] = sqrtf(s) * sqrtf(s);\n");
    EXPECT_EQ(square.inBody("  a[0] = powf(s++, 2.0f);\n"), "no-match");
    EXPECT_EQ(square.inBody("  a[0] = powf(atomicAdd(a, 1.0f), 2.0f);\n"), "no-match");
}

TEST(PatternMatcher, WantsTheSameCodeForTheSameName) {
    const PatternCheck twice{{expression("x")}, "$x + $x", "2.0f * $x"};
    EXPECT_EQ(twice.inBody("  a[0] = b[n]+b[ n ];\n"), "  a[0] = 2.0f * b[n];\n");
    EXPECT_EQ(twice.inBody("  a[0] = b[n] + b[0];\n"), "no-match");
}

TEST(PatternMatcher, LeavesCodeOfMacrosAndCommentsAlone) {
    EXPECT_EQ(halve.applied("#define HALF(v) ((v) / 2.0f)\n"
                            "__global__ void k(float* a) { a[0] = HALF(a[0]); }\n"),
              "no-match");
    EXPECT_EQ(halve.inBody("  a[0] = s /* of both */ / 2.0f;\n"), "no-match");
}

TEST(PatternMatcher, TakesTheMatchAtTheCursorOrAllOfTheKernel) {
    const std::string two = "__global__ void k(float* a) {\n"
                            "  a[0] = a[0] / 2.0f;\n"
                            "  a[1] = $0a[1] / 2.0f;\n"
                            "}\n";
    EXPECT_EQ(halve.applied(two), "__global__ void k(float* a) {\n"
                                  "  a[0] = a[0] / 2.0f;\n"
                                  "  a[1] = a[1] * 0.5f;\n"
                                  "}\n");
    std::string whole = two;
    whole.erase(whole.find("$0"), 2);
    EXPECT_EQ(halve.applied(whole), "__global__ void k(float* a) {\n"
                                    "  a[0] = a[0] * 0.5f;\n"
                                    "  a[1] = a[1] * 0.5f;\n"
                                    "}\n");
    EXPECT_EQ(halve.applied("__global__ void k(float* a) {\n"
                            "  a[0] = a[0] / 2.0f;\n"
                            "  $0a[1] = 0.0f;\n"
                            "}\n"),
              "no-match");
}

const PatternCheck unroll{{ofKind("T", MetavariableKind::Type),
                           ofKind("i", MetavariableKind::Identifier), expression("n"),
                           ofKind("body", MetavariableKind::Statements)},
                          "for ($T $i = 0; $i < $n; ++$i) {\n    $body\n}\n",
                          "#pragma unroll 4\nfor ($T $i = 0; $i < $n; ++$i) {\n    $body\n}\n"};

TEST(PatternMatcher, ReplacesStatementsInTheFilesIndentation) {
    EXPECT_EQ(unroll.inBody("  if (n > 0) {\n"
                            "    for (unsigned int j = 0; j < n * 2; ++j) {\n"
                            "      a[j] = s; // all of them\n"
                            "\n"
                            "      a[j] += b[j];\n"
                            "    }\n"
                            "  }\n"),
              "  if (n > 0) {\n"
              "    #pragma unroll 4\n"
              "    for (unsigned int j = 0; j < n * 2; ++j) {\n"
              "      a[j] = s; // all of them\n"
              "\n"
              "      a[j] += b[j];\n"
              "    }\n"
              "  }\n");
}

TEST(PatternMatcher, TakesNoPartOfAStatement) {
    const PatternCheck store{{expression("x")}, "a[0] = $x;", "a[0] = $x;\na[1] = 0.0f;"};
    EXPECT_EQ(store.inBody("  if (n > 0) a[0] = s;\n"), "no-match"); // It would need braces.
    EXPECT_EQ(store.inBody("  if (n > 0) {\n    a[0] = s;\n  }\n"),
              "  if (n > 0) {\n    a[0] = s;\n    a[1] = 0.0f;\n  }\n");
}

TEST(PatternMatcher, DeletesStatementsWithTheirLines) {
    const PatternCheck once{{}, "__syncthreads();\n__syncthreads();", "__syncthreads();"};
    EXPECT_EQ(once.inBody("  a[0] = s;\n  __syncthreads();\n  __syncthreads();\n  a[1] = s;\n"),
              "  a[0] = s;\n  __syncthreads();\n  a[1] = s;\n");
    const PatternCheck none{{}, "__threadfence();", ""};
    EXPECT_EQ(none.inBody("  a[0] = s;\n  __threadfence();\n  a[1] = s;\n"),
              "  a[0] = s;\n  a[1] = s;\n");
}

TEST(PatternMatcher, EndsOnPatternsThatCouldTakeForever) {
    PatternCheck many{{}, "", ""};
    std::string sum = "s";
    for (int i = 0; i < 12; ++i) {
        many.metavariables.push_back(expression("x" + std::to_string(i)));
        many.before += (i == 0 ? "$x" : " + $x") + std::to_string(i);
    }
    many.after = many.before + " + 0.0f";
    many.before += " + 1.0e7f";
    for (int i = 0; i < 200; ++i)
        sum += " + b[" + std::to_string(i) + "]";
    EXPECT_EQ(many.inBody("  a[0] = " + sum + " + 1.0e6f;\n  a[1] = 1.0e7f;\n"), "no-match");
}

} // namespace
} // namespace kernelskill::skills
