#include "engine/comparison/float64_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

std::string doubled(std::string_view text) {
    auto result = withDoubleArithmetic(text);
    return result ? *result : "refused: " + result.error().what;
}

TEST(DoubleArithmetic, TypesLiteralsAndFunctionsBecomeDouble) {
    EXPECT_EQ(doubled("float y = 2.0f * x[i] + 1e-3F;"), "double y = 2.0 * x[i] + 1e-3;");
    EXPECT_EQ(doubled("float4 v = make_float4(a, b, c, d);"),
              "double4 v = make_double4(a, b, c, d);");
    EXPECT_EQ(doubled("y = expf(-x) + fmaxf(a, rsqrtf(b));"), "y = exp(-x) + fmax(a, rsqrt(b));");
    EXPECT_EQ(doubled("y = __expf(x);"), "y = exp(x);");
    EXPECT_EQ(doubled("n * sizeof(float)"), "n * sizeof(double)");
}

TEST(DoubleArithmetic, MacrosAreTextOfTheKernelToo) {
    EXPECT_EQ(doubled("#define SCALE 0.5f\nfloat x = SCALE;\n"),
              "#define SCALE 0.5\ndouble x = SCALE;\n");
    EXPECT_EQ(doubled("#include \"float.h\"\n"), "#include \"float.h\"\n");
}

TEST(DoubleArithmetic, LeavesIntegersNamesStringsAndCommentsAlone) {
    EXPECT_EQ(doubled("int f = 0xff; // 1.0f float"), "int f = 0xff; // 1.0f float");
    EXPECT_EQ(doubled("printf(\"float %f\", floating);"), "printf(\"float %f\", floating);");
}

TEST(DoubleArithmetic, VectorViewsOfFloatsStayVectorViews) {
    EXPECT_EQ(doubled("reinterpret_cast<const float4*>(x)[i]"),
              "reinterpret_cast<const double4*>(x)[i]");
}

TEST(DoubleArithmetic, WhatLooksAtBitsIsRefusedByName) {
    EXPECT_THAT(doubled("int b = __float_as_int(x);"), HasSubstr("refused: __float_as_int"));
    EXPECT_THAT(doubled("int b = *reinterpret_cast<int*>(&x);"),
                HasSubstr("refused: a reinterpret_cast"));
    EXPECT_THAT(doubled("__half h = __float2half(x);"), HasSubstr("refused: __half"));
    EXPECT_THAT(doubled("asm(\"add.f32\");"), HasSubstr("refused: asm"));
}

TEST(DoubleArguments, FloatBuffersAndScalarsKeepTheirValues) {
    LaunchSpec launch;
    BufferSpec buffer;
    buffer.name = "x";
    launch.arguments.emplace_back(buffer);
    ScalarSpec scalar;
    scalar.name = "a";
    float value = 0.1f;
    scalar.floating = value;
    scalar.bytes.resize(sizeof value);
    launch.arguments.emplace_back(scalar);
    auto result = withDoubleArguments({}, launch);
    ASSERT_TRUE(result);
    const auto& wide = std::get<BufferSpec>(result->arguments[0]);
    EXPECT_EQ(wide.element, analysis::ScalarKind::Double);
    EXPECT_EQ(wide.elementBytes, 8u);
    const auto& bytes = std::get<ScalarSpec>(result->arguments[1]).bytes;
    ASSERT_EQ(bytes.size(), sizeof(double));
    double stored = 0;
    std::memcpy(&stored, bytes.data(), sizeof stored);
    EXPECT_EQ(stored, static_cast<double>(value)) << "the float's value, not the decimal's";
}

TEST(DoubleArguments, AnArgumentOfUnknownLayoutIsRefused) {
    LaunchSpec launch;
    ScalarSpec structure;
    structure.name = "config";
    structure.bytes.resize(24);
    launch.arguments.emplace_back(structure);
    auto result = withDoubleArguments({}, launch);
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().what, HasSubstr("config"));
}

} // namespace
} // namespace kernelskill::engine
