#include "tests/skills/skill_check.h"

#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

constexpr std::string_view id = "vectorization-refinement";

TEST(VectorizationRefinement, WidensWhatStandsBesideNumbers) {
    checkApplicable(id, R"(
typedef int2 Interval;
__global__ void shift(Interval* span, const int* by, int2* length, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        span[i].x += by[i]; // the end stays
        length[i] = make_int2(span[i].y - span[i].x, i);
    }
}
)",
                    R"(
typedef int2 Interval;
__global__ void shift(Interval* span, const int* by, int2* length, int n) {
    // Groups of 2 elements first, one access of up to 16 bytes each, where the pointers allow it.
    const bool aligned = reinterpret_cast<size_t>(by) % 8 == 0 && (reinterpret_cast<size_t>(span) | reinterpret_cast<size_t>(length)) % 16 == 0;
    const int groups = aligned ? n / 2 : 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < groups; i += blockDim.x * gridDim.x) {
        const int4 span4 = reinterpret_cast<const int4*>(span)[i];
        int2 span0 = make_int2(span4.x, span4.y);
        int2 span1 = make_int2(span4.z, span4.w);
        const int2 by2 = reinterpret_cast<const int2*>(by)[i];
        int2 length0;
        int2 length1;
        span0.x += by2.x;
        length0 = make_int2(span0.y - span0.x, (2 * i));
        span1.x += by2.y;
        length1 = make_int2(span1.y - span1.x, (2 * i + 1));
        reinterpret_cast<int4*>(span)[i] = make_int4(span0.x, span0.y, span1.x, span1.y);
        reinterpret_cast<int4*>(length)[i] = make_int4(length0.x, length0.y, length1.x, length1.y);
    }
    for (int i = 2 * groups + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        span[i].x += by[i]; // the end stays
        length[i] = make_int2(span[i].y - span[i].x, i);
    }
}
)");
}

/// `work` on each element of x and y, which may be launched with any grid.
std::string elementwise(const std::string& work, const std::string& type = "float2",
                        const std::string& before = "") {
    return before + "__global__ void k(const " + type + "* x, " + type +
           "* y, const int* m, int n) {\n    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i "
           "< n; i += blockDim.x * gridDim.x) {\n        " +
           work + "\n    }\n}\n";
}

TEST(VectorizationRefinement, LoadsWhatIsStoredInPart) {
    const std::string text = appliedText(id, elementwise("y[i].y = x[i].x;"));
    EXPECT_TRUE(text.contains("float2 y0 = make_float2(y4.x, y4.y);")) << text;
    EXPECT_TRUE(text.contains("y1.y = x1.x;")) << text;
}

TEST(VectorizationRefinement, PassesElementsToFunctions) {
    const std::string text = appliedText(
        id,
        elementwise("y[i] = times(__ldg(&x[i]), x[i]);", "Complex",
                    "typedef float2 Complex;\n__device__ Complex times(Complex a, Complex b) {\n"
                    "    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);\n"
                    "}\n"));
    EXPECT_TRUE(text.contains("y0 = times(x0, x0);")) << text;
    EXPECT_TRUE(parseSubject(text).file.diagnostics.empty()) << text;
}

TEST(VectorizationRefinement, ComputesItsGainFromTheInstructions) {
    const auto gainOf = [](const std::string& work) {
        const Subject subject = parseSubject(elementwise(work));
        const auto offer = skillNamed(id).prepare(subject.context());
        EXPECT_TRUE(offer) << offer.error().reason;
        return offer && offer->gain ? offer->gain->factor : 0.0;
    };
    EXPECT_DOUBLE_EQ(gainOf("y[i] = x[i];"), 16.0 / 10); // two accesses, and nothing computed
    EXPECT_LT(gainOf("y[i] = make_float2(x[i].x * x[i].y, sinf(x[i].x) / 3.0f);"),
              gainOf("y[i] = x[i];"));
}

TEST(VectorizationRefinement, IsExactAndAboutTheLoop) {
    EXPECT_EQ(offeredNumerics(id, elementwise("y[i] = x[i];")), Numerics::Exact);
    checkTarget(id, elementwise("y[i] = x[i];"),
                "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * "
                "gridDim.x) {\n        y[i] = x[i];\n    }");
}

class VectorizationRefinementIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(VectorizationRefinementIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, VectorizationRefinementIsNotOffered,
    testing::Values(
        GateCase{"Numbers", "no-pairs", elementwise("y[i] = x[i];", "float")},
        GateCase{"SixteenBytes", "already-vectorized", elementwise("y[i] = x[i];", "double2")},
        GateCase{"Four", "already-vectorized", elementwise("y[i] = x[i];", "float4")},
        GateCase{"Halves", "already-vectorized",
                 elementwise("y[i] = x[i];", "half2", "#include <cuda_fp16.h>\n")},
        GateCase{"CastsItself", "already-vectorized",
                 elementwise("y[i] = reinterpret_cast<const float2*>(m)[i];")},
        GateCase{"Neighbour", "no-unit-stride-access", elementwise("y[i + 1] = x[i - 1];")},
        GateCase{"PartUnderCondition", "no-unit-stride-access",
                 elementwise("if (m[i])\n            y[i].x = 1;")},
        GateCase{"LoadAfterStore", "load-after-store",
                 elementwise("y[i].x = 1;\n        y[i].y = x[i].y;")},
        GateCase{"Loop", "loop-in-work",
                 elementwise("for (int j = 0; j < 3; ++j)\n            y[i].x += x[i].y;")},
        GateCase{"OneElement", "one-element-a-thread",
                 "__global__ void k(float2* x, int n) {\n    int i = blockIdx.x * blockDim.x + "
                 "threadIdx.x;\n    if (i < n)\n        x[i].x = 1;\n}\nvoid run(float2* x, int n) "
                 "{\n    k<<<(n + 63) / 64, 64>>>(x, n);\n}\n"}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
