#include "engine/comparison/float64_reference.h"
#include "engine/inputs/name_guesses.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace kernelskill::engine {
namespace {

using ::testing::HasSubstr;

float guessedFloat(const std::string& name) {
    return static_cast<float>(guessFromName(name).floating);
}

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

TEST(DoubleArithmetic, FunctionsOfTheHostTooHaveADoubleForm) {
    EXPECT_EQ(doubled("__host__ __device__ float half2x(float x);"),
              "__host__ __device__ double half2x(double x);");
    EXPECT_EQ(doubled("__host__ __device__ float twice(float x);"),
              "__host__ __device__ double twice(double x);");
}

TEST(DoubleArithmetic, VectorViewsOfFloatsStayVectorViews) {
    EXPECT_EQ(doubled("reinterpret_cast<const float4*>(x)[i]"),
              "reinterpret_cast<const double4*>(x)[i]");
}

TEST(DoubleArithmetic, WhatLooksAtBitsIsRefusedByName) {
    EXPECT_THAT(doubled("int b = __float_as_int(x);"), HasSubstr("refused: __float_as_int"));
    EXPECT_THAT(doubled("int b = *reinterpret_cast<int*>(&x);"),
                HasSubstr("refused: a reinterpret_cast"));
    EXPECT_THAT(doubled("__half h; unsigned short b = __half_as_ushort(h);"),
                HasSubstr("refused: __half_as_ushort"));
    EXPECT_THAT(doubled("const __half* h; float4 v = *reinterpret_cast<const float4*>(h);"),
                HasSubstr("refused: a reinterpret_cast"));
    EXPECT_THAT(doubled("asm(\"add.f32\");"), HasSubstr("refused: asm"));
}

TEST(DoubleArithmetic, SixteenBitNumbersKeepTheirNames) {
    EXPECT_EQ(doubled("__half h = __float2half(2.0f * x);"), "__half h = __float2half(2.0 * x);");
    EXPECT_EQ(doubled("float2 f = __bfloat1622float2(p[i]);"),
              "double2 f = __bfloat1622float2(p[i]);");
    EXPECT_EQ(doubled("half* h; half2 v = *reinterpret_cast<half2*>(h);"),
              "half* h; half2 v = *reinterpret_cast<half2*>(h);");
}

TEST(DoubleArguments, SixteenBitNumbersKeepTheirValues) {
    const auto file = parsedProgram(
        "#include <cuda_bf16.h>\n__global__ void k(__half* x, const __nv_bfloat162* y, __half a) "
        "{ extern __shared__ float part[]; part[threadIdx.x] = a; x[threadIdx.x] = y[0].x; }\n"
        "void run(__half* x, __nv_bfloat162* y) { k<<<1, 32, 128>>>(x, y, __float2half(0.1f)); "
        "}\n");
    const auto launches = inferLaunches(file, file.kernels.at(0));
    ASSERT_TRUE(launches) << launches.error().describe();
    const LaunchSpec& narrow = launches->front();
    const auto wide = withDoubleArguments({file, file.kernels.at(0)}, narrow);
    ASSERT_TRUE(wide) << wide.error().describe();
    const auto& x = std::get<BufferSpec>(wide->arguments.at(0));
    EXPECT_EQ(x.element, analysis::ScalarKind::Double);
    EXPECT_EQ(x.elementBytes, 8u);
    EXPECT_EQ(x.valuesOf, analysis::ScalarKind::Half);
    const auto& y = std::get<BufferSpec>(wide->arguments.at(1));
    EXPECT_EQ(y.elementBytes, 16u);
    EXPECT_EQ(y.valuesOf, analysis::ScalarKind::BFloat16);
    const auto& before = std::get<ScalarSpec>(narrow.arguments.at(2)).bytes;
    const auto& after = std::get<ScalarSpec>(wide->arguments.at(2)).bytes;
    ASSERT_EQ(before.size(), 2u);
    ASSERT_EQ(after.size(), sizeof(double));
    _Float16 half = 0;
    double value = 0;
    std::memcpy(&half, before.data(), sizeof half);
    std::memcpy(&value, after.data(), sizeof value);
    EXPECT_EQ(value, static_cast<double>(half));
    EXPECT_EQ(wide->dynamicSharedBytes, 512u);
}

TEST(DoubleArguments, FloatBuffersAndScalarsKeepTheirValues) {
    const analysis::FileModel file;
    const analysis::KernelModel kernel;
    LaunchSpec launch;
    BufferSpec buffer;
    buffer.name = "x";
    launch.arguments.emplace_back(buffer);
    ScalarSpec scalar;
    scalar.name = "a";
    float value = 0.1f;
    scalar.floating = value;
    scalar.bytes.resize(sizeof value);
    std::memcpy(scalar.bytes.data(), &value, sizeof value);
    launch.arguments.emplace_back(scalar);
    auto result = withDoubleArguments({file, kernel}, launch);
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

/// The first argument of the kernel's launch, as the rewritten kernel takes it.
Result<std::vector<std::byte>> doubledArgument(const std::string& before,
                                               const std::string& launch) {
    const auto file = parsedProgram(before + launch);
    const auto launches = inferLaunches(file, file.kernels.at(0));
    if (!launches)
        return std::unexpected(launches.error());
    const auto result = withDoubleArguments({file, file.kernels.at(0)}, launches->front());
    if (!result)
        return std::unexpected(result.error());
    return std::get<ScalarSpec>(result->arguments.at(0)).bytes;
}

template <typename T>
T valueAt(const std::vector<std::byte>& bytes, std::size_t offset) {
    T value{};
    EXPECT_LE(offset + sizeof value, bytes.size());
    if (offset + sizeof value <= bytes.size())
        std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

TEST(DoubleArguments, FloatsInAClassKeepTheirValues) {
    const std::string kernel =
        "__global__ void k(Scale s, float* out) { out[threadIdx.x] = sizeof s; }\n";
    const std::string launch = "void run(Scale s, float* o) { k<<<1, 32>>>(s, o); }\n";
    const auto bytes = doubledArgument(
        "struct Scale { int n; float alpha; char c; float eps; };\n" + kernel, launch);
    ASSERT_TRUE(bytes) << bytes.error().describe();
    ASSERT_EQ(bytes->size(), 32u);
    EXPECT_GT(valueAt<int>(*bytes, 0), 0);
    EXPECT_EQ(valueAt<double>(*bytes, 8), static_cast<double>(guessedFloat("alpha")));
    EXPECT_EQ(valueAt<double>(*bytes, 24), static_cast<double>(guessedFloat("eps")));
}

TEST(DoubleArguments, AnObjectWithoutNumbersStays) {
    const auto bytes = doubledArgument(
        "struct Square { __device__ float operator()(float x) const { return x * x; } };\n"
        "template <typename Op> __global__ void k(Op op, float* out) { out[threadIdx.x] = "
        "op(out[threadIdx.x]); }\n",
        "void run(float* o) { k<Square><<<1, 32>>>(Square{}, o); }\n");
    EXPECT_TRUE(bytes) << bytes.error().describe();
}

TEST(DoubleArguments, LanesOfAVectorKeepTheirValues) {
    const auto bytes = doubledArgument(
        "__global__ void k(float3 s, float* out) { out[threadIdx.x] = s.x + s.z; }\n",
        "void run(float3 s, float* o) { k<<<1, 32>>>(s, o); }\n");
    ASSERT_TRUE(bytes) << bytes.error().describe();
    ASSERT_EQ(bytes->size(), 24u);
    EXPECT_EQ(valueAt<double>(*bytes, 16), static_cast<double>(guessedFloat("s")));
}

TEST(DoubleArguments, ClassesWhoseLayoutTheirTextDoesNotTellAreRefused) {
    const std::string kernel =
        "__global__ void k(Scale s, float* out) { out[threadIdx.x] = sizeof s; }\n";
    const std::string launch = "void run(Scale s, float* o) { k<<<1, 32>>>(s, o); }\n";
    for (const char* declared : {"struct Base { float a; };\nstruct Scale : Base { float by; };\n",
                                 "struct Scale { float by; float more[3]; };\n",
                                 "struct alignas(16) Scale { float by; };\n",
                                 "struct Scale { union { float by; int bits; }; };\n"})
        EXPECT_FALSE(doubledArgument(declared + kernel, launch)) << declared;
}

TEST(DoubleArguments, AnArgumentOfUnknownLayoutIsRefused) {
    const analysis::FileModel file;
    const analysis::KernelModel kernel;
    LaunchSpec launch;
    ScalarSpec structure;
    structure.name = "config";
    structure.bytes.resize(24);
    launch.arguments.emplace_back(structure);
    auto result = withDoubleArguments({file, kernel}, launch);
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().what, HasSubstr("config"));
}

TEST(FloatFunctions, StayInTheDoubleFormIfTheirOwnIsNotKnown) {
    const auto callsOne = [](const std::string& body) {
        ProgramSource program;
        program.text = "__device__ double half_of(double x) { return x / 2; }\n"
                       "__device__ double myf(double x) { return half_of(x); }\n"
                       "__global__ void k(double* y, int i) { " +
                       body + " }\n";
        program.model = std::make_shared<const analysis::FileModel>(parsedProgram(program.text));
        return callsFloatFunction(program);
    };
    for (const char* body : {"y[0] = __fmul_rd(y[0], 2);", "y[0] = normcdff(y[0]);",
                             "y[0] = __int2float_rn(i);", "i = __float2int_rn(y[0]);"})
        EXPECT_TRUE(callsOne(body)) << body;
    for (const char* body : {"if (i > sizeof(int)) y[0] = erf(myf(y[0]));", "y[0] = modf(y[0], y);",
                             "printf(\"%f\", y[0]);", "y[0] = floor(y[0]);"})
        EXPECT_FALSE(callsOne(body)) << body;
}

} // namespace
} // namespace kernelskill::engine
