#include "analysis/features/features.h"
#include "analysis/source/files.h"
#include "tests/analysis/support/analyze.h"
#include "tests/paths.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace kernelskill::analysis {
namespace {

using testing::analyze;

AccessFeatures featuresOf(const FileModel& model, std::string_view text) {
    const KernelModel& kernel = model.kernels.at(0);
    for (const AccessFeatures& access : extractFeatures(kernel).accesses) {
        const ExprId expression = kernel.accesses.at(access.access).expression;
        if (model.source->slice(kernel.body.expr(expression).span) == text)
            return access;
    }
    throw std::runtime_error("no features of " + std::string(text));
}

FileModel global(const std::string& access, const std::string& type = "float") {
    return analyze("__global__ void k(" + type + "* x, int n) { int t = threadIdx.x; " + access +
                   " = " + type + "(); }");
}

FileModel shared(const std::string& declaration, const std::string& access,
                 const std::string& block) {
    return analyze("__global__ void k(float* x) { __shared__ " + declaration + "; " + access +
                   " = 1; }\nvoid run(float* p) { k<<<1, " + block + ">>>(p); }");
}

TEST(WarpAccess, UnitStrideNeedsFourSectorsOfFloats) {
    const AccessFeatures access = featuresOf(global("x[t]"), "x[t]");
    EXPECT_EQ(access.laneStride, 1);
    EXPECT_EQ(access.sectorsPerRequest, 4);
    EXPECT_EQ(featuresOf(global("x[t]", "double"), "x[t]").sectorsPerRequest, 8);
    EXPECT_EQ(featuresOf(global("x[t]", "float4"), "x[t]").sectorsPerRequest, 16);
}

TEST(WarpAccess, AStrideByAnUnknownSizeNeedsASectorALane) {
    EXPECT_EQ(featuresOf(global("if (t < n) x[t * n]"), "x[t * n]").sectorsPerRequest, 32);
    EXPECT_EQ(featuresOf(global("for (int k = 0; k < 9; ++k) x[t * n + k]"), "x[t * n + k]")
                  .sectorsPerRequest,
              32);
    EXPECT_EQ(featuresOf(global("x[t * 2]"), "x[t * 2]").sectorsPerRequest, 8);
    EXPECT_EQ(featuresOf(global("x[n]"), "x[n]").laneStride, 0);
    EXPECT_EQ(featuresOf(global("x[n]"), "x[n]").sectorsPerRequest, 1);
}

TEST(WarpAccess, AParameterThatIsNoLengthMayBeAnyStride) {
    const AccessFeatures access =
        featuresOf(analyze("__global__ void k(int size, float* x, int offset, int step) {\n"
                           "    int i = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + "
                           "threadIdx.x;\n"
                           "    if (i < size && x[i * step] > 0) x[offset + i * step] = 1;\n}"),
                   "x[offset + i * step]");
    EXPECT_EQ(access.sectorsPerRequest, std::nullopt);
    EXPECT_TRUE(access.explanation.ends_with("how far apart neighbouring lanes are depends on "
                                             "step"))
        << access.explanation;
}

TEST(WarpAccess, TheStepOfAWindowIsNotTheLengthOfARow) {
    const std::string window =
        "__global__ void k(int n, float* x, int width, int columns, int rows, int step) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n"
        "    int column = i % columns;\n    int row = i / columns % rows;\n"
        "    for (int j = 0; j < 3; ++j)\n        ";
    const AccessFeatures access =
        featuresOf(analyze(window + "x[row * step * width + column * step + j] = 1;\n}"),
                   "x[row * step * width + column * step + j]");
    EXPECT_EQ(access.sectorsPerRequest, std::nullopt);
    EXPECT_TRUE(access.explanation.ends_with("how far apart neighbouring lanes are depends on "
                                             "step"))
        << access.explanation;
    EXPECT_EQ(featuresOf(analyze(window + "x[column * width + j] = 1;\n}"), "x[column * width + j]")
                  .sectorsPerRequest,
              32)
        << "a factor of one place alone is the length of a row";
    EXPECT_EQ(featuresOf(analyze(window + "x[row * 2 * width + column * 2 + j] = 1;\n}"),
                         "x[row * 2 * width + column * 2 + j]")
                  .sectorsPerRequest,
              8)
        << "the step is a number";
}

TEST(WarpAccess, AConstantDividedByAnUnknownWidthIsNotZero) {
    EXPECT_EQ(featuresOf(global("int items = 2048 / blockDim.x;\n"
                                "for (int k = 0; k < items; ++k) x[t * items + k]"),
                         "x[t * items + k]")
                  .sectorsPerRequest,
              std::nullopt);
    EXPECT_EQ(featuresOf(global("int row = t / n;\nx[row]"), "x[row]").sectorsPerRequest, 1);
}

TEST(WarpAccess, FieldsOfAStructShareTheirSectors) {
    const FileModel model =
        analyze("struct Point { float x, y, z; };\n"
                "__global__ void k(const Point* p, float* q) {\n    int t = threadIdx.x;\n"
                "    q[t] = p[t].x * p[t].y + p[t].x;\n}");
    const AccessFeatures field = featuresOf(model, "p[t].y");
    EXPECT_EQ(field.sectorsPerRequest, 12);
    EXPECT_EQ(field.fellows, 2U);
    EXPECT_EQ(featuresOf(model, "q[t]").fellows, 1U);
}

TEST(WarpAccess, LanesOfALoopOverThreadsAreFollowed) {
    const FileModel model = analyze("__global__ void k(float* x, int n) {\n"
                                    "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; "
                                    "i += blockDim.x * gridDim.x)\n"
                                    "    x[i] = 1;\n}");
    EXPECT_EQ(featuresOf(model, "x[i]").laneStride, 1);
    EXPECT_TRUE(extractFeatures(model.kernels[0]).hasGridStrideLoop);
    EXPECT_FALSE(extractFeatures(model.kernels[0]).oneElementPerThread);
}

/// Four elements a thread, `body` between the brackets of a kernel.
FileModel fours(const std::string& body) {
    return analyze("__global__ void k(const float* x, float* y, int n) {\n"
                   "    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);\n" +
                   body + "}\n");
}
const std::string wide = "        *reinterpret_cast<float4*>(y + i) =\n"
                         "            *reinterpret_cast<const float4*>(x + i);\n";
const std::string narrow = "        for (int k = i; k < n; ++k)\n            y[k] = x[k];\n";

TEST(WarpAccess, TheRestOfVectorisedCodeIsNotJudgedByItsStride) {
    for (const std::string& body :
         {"    if (i + 3 < n) {\n" + wide + "    } else {\n" + narrow + "    }\n",
          "    if (i + 3 >= n) {\n" + narrow + "    } else {\n" + wide + "    }\n",
          "    if (i + 3 < n) {\n" + wide + "        return;\n    }\n" + narrow}) {
        const FileModel model = fours(body);
        for (const char* access : {"y[k]", "x[k]"}) {
            const AccessFeatures rest = featuresOf(model, access);
            EXPECT_EQ(rest.laneStride, 4) << body;
            EXPECT_EQ(rest.sectorsPerRequest, std::nullopt) << body;
            EXPECT_NE(rest.explanation.find("the wider accesses"), std::string::npos)
                << rest.explanation;
        }
        EXPECT_EQ(featuresOf(model, "*reinterpret_cast<float4*>(y + i)").sectorsPerRequest, 16);
    }
}

TEST(WarpAccess, WhatTheVectorisingSkillWritesIsNoWaste) {
    const auto text =
        readFile(std::string(paths::sourceFolder) + "/skills/vectorized-access/after.cu");
    ASSERT_TRUE(text);
    const FileModel model = analyze(*text);
    const KernelModel& kernel = model.kernels.at(0);
    const Features features = extractFeatures(kernel);
    ASSERT_FALSE(features.accesses.empty());
    for (const AccessFeatures& access : features.accesses)
        EXPECT_LE(access.sectorsPerRequest.value_or(0), kernel.accesses.at(access.access).width)
            << access.explanation;
}

TEST(WarpAccess, AStrideBesideVectorisedCodeIsJudged) {
    // It runs as well as the wide access, not in its place; or there is no wide one of that array.
    for (const std::string& body :
         {"    if (i + 3 < n) {\n" + wide + "    }\n" + narrow,
          "    if (i + 3 < n)\n        y[0] = 1;\n    else {\n" + narrow + "    }\n"}) {
        const FileModel model = fours(body);
        EXPECT_EQ(featuresOf(model, "x[k]").sectorsPerRequest, 16) << body;
    }
}

TEST(WarpAccess, LaneArithmeticIsSimulated) {
    const FileModel model =
        analyze("__global__ void k(float* x) { int lane = threadIdx.x % 8; x[lane] = 1; }");
    EXPECT_EQ(featuresOf(model, "x[lane]").sectorsPerRequest, 1);
}

TEST(WarpAccess, AColumnOfATileConflictsAndPaddingHelps) {
    EXPECT_EQ(featuresOf(shared("float t[32][32]", "t[threadIdx.x][threadIdx.y]", "dim3(32, 32)"),
                         "t[threadIdx.x][threadIdx.y]")
                  .bankConflictDegree,
              32);
    EXPECT_EQ(featuresOf(shared("float t[32][33]", "t[threadIdx.x][threadIdx.y]", "dim3(32, 32)"),
                         "t[threadIdx.x][threadIdx.y]")
                  .bankConflictDegree,
              1);
}

TEST(WarpAccess, ANarrowBlockWrapsIntoTheNextRow) {
    // 16 x 16: two rows of 16 lanes; a row of 16 floats is 16 banks further on.
    EXPECT_EQ(featuresOf(shared("float t[16][16]", "t[threadIdx.y][threadIdx.x]", "dim3(16, 16)"),
                         "t[threadIdx.y][threadIdx.x]")
                  .bankConflictDegree,
              1);
    EXPECT_EQ(featuresOf(shared("float t[16][16]", "t[threadIdx.x][threadIdx.y]", "dim3(16, 16)"),
                         "t[threadIdx.x][threadIdx.y]")
                  .bankConflictDegree,
              8);
}

Features of(const std::string& text) {
    return extractFeatures(analyze(text).kernels.at(0));
}

TEST(KernelFeatures, ContractionsAreLoopsThatSumProductsOfLoads) {
    EXPECT_TRUE(
        of("__global__ void k(float* a, float* b, float* c, int n) { float s = 0;"
           "for (int i = 0; i < n; ++i) s += a[i] * b[i * n + threadIdx.x]; c[threadIdx.x] = s; }")
            .hasContraction);
    EXPECT_TRUE(
        of("__global__ void k(float* a, float* b, float* c, int n) { float s = 0;"
           "for (int i = 0; i < n; ++i) { float v = a[i]; s = fmaf(v, b[i], s); } c[0] = s; }")
            .hasContraction);
    EXPECT_FALSE(of("__global__ void k(float* a, float* c, int n) { float s = 0;"
                    "for (int i = 0; i < n; ++i) s += a[i] * 2.0f; c[threadIdx.x] = s; }")
                     .hasContraction);
}

TEST(KernelFeatures, TreeReductionsHalveBetweenBarriers) {
    const std::string head =
        "__global__ void k(float* x) { __shared__ float s[256]; s[threadIdx.x] = x[threadIdx.x];";
    EXPECT_TRUE(of(head + "for (int d = 128; d > 0; d >>= 1) { __syncthreads();"
                          "if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; } }")
                    .hasSharedTreeReduction);
    EXPECT_FALSE(of(head + "for (int d = 1; d < 128; d++) { __syncthreads();"
                           "if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d]; } }")
                     .hasSharedTreeReduction);
}

TEST(KernelFeatures, OneElementAThreadNeedsAGuardAndNoLoop) {
    const std::string index = "int i = blockIdx.x * blockDim.x + threadIdx.x;";
    EXPECT_TRUE(of("__global__ void k(float* x, int n) {" + index + "if (i < n) x[i] = 1; }")
                    .oneElementPerThread);
    EXPECT_FALSE(
        of("__global__ void k(float* x, int n) {" + index + "x[i] = 1; }").oneElementPerThread);
    EXPECT_FALSE(of("__global__ void k(float* x, int n) {" + index +
                    "if (i < n) for (int j = 0; j < 3; ++j) x[i] += j; }")
                     .oneElementPerThread);
}

TEST(KernelFeatures, ArithmeticIntensityCountsOperationsPerByte) {
    const Features saxpy = of("__global__ void k(float a, float* x, float* y) {"
                              "int i = threadIdx.x; y[i] = a * x[i] + y[i]; }");
    ASSERT_TRUE(saxpy.arithmeticIntensity);
    EXPECT_NEAR(*saxpy.arithmeticIntensity, 2.0 / 12.0, 1e-9);
    EXPECT_EQ(of("__global__ void k() {}").arithmeticIntensity, std::nullopt);
}

TEST(KernelFeatures, DescriptionHoldsTheWorstAccess) {
    const auto described =
        describeFeatures(of("__global__ void k(float* x, int n) {\n"
                            "    if (threadIdx.x < n) x[threadIdx.x * n] = 1;\n}"));
    EXPECT_EQ(described.at("worst_sectors_per_request"), FeatureValue(32.0));
    EXPECT_EQ(described.at("has_barriers"), FeatureValue(false));
    EXPECT_EQ(described.at("loop_depth"), FeatureValue(0U));
}

TEST(KernelFeatures, ValueIsSpelledAsInJson) {
    EXPECT_EQ(spelling(FeatureValue(true)), "true");
    EXPECT_EQ(spelling(FeatureValue(2U)), "2");
    EXPECT_EQ(spelling(FeatureValue(2.0 / 12.0)), "0.166667");
}

} // namespace
} // namespace kernelskill::analysis
