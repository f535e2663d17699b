#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "vectorized-math";

TEST(VectorizedMath, PacksBfloatsThroughAGridStrideLoop) {
    checkApplicable(id, R"(#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat16* x, __nv_bfloat16* y, __nv_bfloat16 a, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const __nv_bfloat16 v = __hmax(x[i], a); // not below
        y[i] += -v * (a + a);
    }
}
)",
                    R"(#include <cuda_bf16.h>
__global__ void k(const __nv_bfloat16* x, __nv_bfloat16* y, __nv_bfloat16 a, int n) {
    // Groups of 2 elements first, one access of up to 4 bytes each, where the pointers allow it.
    const bool aligned = (reinterpret_cast<size_t>(x) | reinterpret_cast<size_t>(y)) % 4 == 0;
    const int groups = aligned ? n / 2 : 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < groups; i += blockDim.x * gridDim.x) {
        const __nv_bfloat162 x2 = reinterpret_cast<const __nv_bfloat162*>(x)[i];
        __nv_bfloat162 y2 = reinterpret_cast<const __nv_bfloat162*>(y)[i];
        const __nv_bfloat162 v = __hmax2(x2, __bfloat162bfloat162(a));
        y2 += -v * (__bfloat162bfloat162(a + a));
        reinterpret_cast<__nv_bfloat162*>(y)[i] = y2;
    }
    for (int i = 2 * groups + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        const __nv_bfloat16 v = __hmax(x[i], a); // not below
        y[i] += -v * (a + a);
    }
}
)");
}

/// `work` on each element of x, y and z, which may be launched with any grid.
std::string elementwise(const std::string& work, const std::string& type = "half") {
    return "#include <cuda_fp16.h>\nusing Value = __half;\n#define TWICE(v) ((v) + "
           "(v))\n__global__ void k(const " +
           type + "* x, " + type + "* y, const int* m, " + type +
           " a, int n) {\n    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += "
           "blockDim.x * gridDim.x) {\n        " +
           work + "\n    }\n}\n";
}

struct Form {
    std::string name;
    std::string work;
    std::string packed;
};

class VectorizedMathPacks : public testing::TestWithParam<Form> {};

TEST_P(VectorizedMathPacks, WhatPeopleWrite) {
    const std::string text = appliedText(id, elementwise(GetParam().work));
    EXPECT_TRUE(text.contains("        " + GetParam().packed + "\n")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Forms, VectorizedMathPacks,
    testing::Values(Form{"Operators", "y[i] = a * x[i] + y[i];", "y2 = __half2half2(a) * x2 + y2;"},
                    Form{"Intrinsics", "y[i] = __hadd(__hmul_rn(a, x[i]), __hneg(y[i]));",
                         "y2 = __hadd2(__hmul2_rn(__half2half2(a), x2), __hneg2(y2));"},
                    Form{"Literal", "y[i] = x[i] * __float2half(0.5f);",
                         "y2 = x2 * __half2half2(__float2half(0.5f));"},
                    Form{"Negation", "y[i] = -(x[i] - y[i]);", "y2 = -(x2 - y2);"},
                    Form{"Updates", "y[i] *= __hfma_sat(x[i], a, x[i]);",
                         "y2 *= __hfma2_sat(x2, __half2half2(a), x2);"},
                    Form{"Locals", "half u = x[i], v = u * u; v -= u; y[i] = v;",
                         "half2 u = x2, v = u * u;\n        v -= u;\n        y2 = v;"},
                    Form{"Deduced", "auto u = x[i] + a; y[i] = u;",
                         "auto u = x2 + __half2half2(a);\n        y2 = u;"},
                    Form{"Alias", "const Value u = x[i] * a; y[i] = u;",
                         "const __half2 u = x2 * __half2half2(a);\n        y2 = u;"},
                    Form{"ReadOnly", "y[i] = __ldg(&x[i]) + a;", "y2 = x2 + __half2half2(a);"}),
    [](const auto& info) { return info.param.name; });

TEST(VectorizedMath, ComputesItsGainFromTheInstructions) {
    const auto gainOf = [](const std::string& work) {
        const Subject subject = parseSubject(elementwise(work));
        const auto offer = skillNamed(id).prepare(subject.context());
        EXPECT_TRUE(offer) << offer.error().reason;
        return offer && offer->gain ? offer->gain->factor : 0.0;
    };
    EXPECT_DOUBLE_EQ(gainOf("y[i] = x[i] + a;"), 2.0 * 9 / 11); // an addition, two accesses
    EXPECT_GT(gainOf("y[i] = x[i] * x[i] * x[i] + a;"), gainOf("y[i] = x[i] + a;"));
}

TEST(VectorizedMath, IsExact) {
    EXPECT_EQ(offeredNumerics(id, elementwise("y[i] = x[i] + a;")), Numerics::Exact);
}

class VectorizedMathIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(VectorizedMathIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, VectorizedMathIsNotOffered,
    testing::Values(
        GateCase{"Floats", "not-16-bit", elementwise("y[i] = x[i] + a;", "float")},
        GateCase{"Copy", "nothing-computed", elementwise("y[i] = x[i];")},
        GateCase{"ThroughFloat", "not-packed",
                 elementwise("y[i] = __float2half(__half2float(x[i]) * 0.3f);")},
        GateCase{"FloatLocal", "not-packed",
                 elementwise("float f = x[i]; y[i] = __float2half(f * f);")},
        GateCase{"Quotient", "not-packed", elementwise("y[i] = x[i] / a;")},
        GateCase{"Exponential", "not-packed", elementwise("y[i] = hexp(x[i]);")},
        GateCase{"Comparison", "not-packed", elementwise("y[i] = x[i] > a ? x[i] : a;")},
        GateCase{"Condition", "not-packed",
                 elementwise("half v = x[i];\n        if (n > 3)\n            v += a;\n        "
                             "y[i] = v;")},
        GateCase{"Index", "not-packed", elementwise("y[i] = x[i] * __int2half_rn(i);")},
        GateCase{"Macro", "not-packed", elementwise("half v = x[i]; y[i] = TWICE(v);")},
        GateCase{"Table", "scalar-access", elementwise("y[i] = x[i] * __int2half_rn(m[0]);")},
        GateCase{"Neighbour", "scalar-access", elementwise("half v = x[i + 1]; y[i] = v + a;")},
        GateCase{"Pairs", "already-vectorized",
                 "#include <cuda_fp16.h>\n__global__ void k(half2* x, int n) {\n    int i = "
                 "blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        x[i] = x[i] + "
                 "x[i];\n}\n"},
        GateCase{"NoLaunch", "no-launch",
                 "#include <cuda_fp16.h>\n__global__ void k(half* x, int n) {\n    int i = "
                 "blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n)\n        x[i] = x[i] + "
                 "x[i];\n}\n"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
