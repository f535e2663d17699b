#include "tests/skills/skill_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::skills {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view id = "reduced-unrolling";

/// A loop of 64 rounds under `pragma`, in a grid-stride loop.
std::string unrolled(const std::string& pragma,
                     const std::string& work = "sum += w[j] * v * w[j + 64];",
                     const std::string& head = "int j = 0; j < 64; ++j") {
    return "__global__ void k(const float* __restrict__ w, float* __restrict__ x, int n) {\n"
           "    float kept[64];\n"
           "    for (int i = threadIdx.x; i < n; i += blockDim.x) {\n"
           "        const float v = x[i];\n"
           "        float sum = 0.0f;\n"
           "        " +
           pragma + "\n        for (" + head + ")\n            " + work +
           "\n        x[i] = sum;\n    }\n    x[n] = kept[0];\n}\n";
}

/// 64 registers and 64 more in local memory.
const CompiledKernel spilling = compiledAs(64, 256, 0, 256);

TEST(ReducedUnrolling, WritesAFactorWhereThereWasNone) {
    checkApplicable(id, unrolled("#pragma unroll"), unrolled("#pragma unroll 16"), spilling);
}

TEST(ReducedUnrolling, LowersAFactorAndKeepsTheComment) {
    checkApplicable(id, unrolled("#  pragma unroll  32 // measured"),
                    unrolled("#  pragma unroll 8 // measured"), spilling);
    checkApplicable(id, unrolled("#pragma unroll (32)"), unrolled("#pragma unroll 8"), spilling);
    checkApplicable(id, unrolled("#pragma unroll 99"), unrolled("#pragma unroll 16"), spilling);
}

TEST(ReducedUnrolling, LeavesOneRoundWhereMuchIsSpilled) {
    checkApplicable(id, unrolled("#pragma unroll"), unrolled("#pragma unroll 1"),
                    compiledAs(32, 256, 0, 8000));
}

/// Two loops, the second with more code.
std::string twoLoops(const std::string& mark = "") {
    return "__global__ void k(const float* __restrict__ w, float* x, int n) {\n"
           "    float sum = 0.0f;\n"
           "    #pragma unroll 4\n    for (int j = 0; j < n; ++j)\n        sum +=" +
           mark +
           " w[j];\n"
           "    #pragma unroll 8\n    for (int j = 0; j < n; ++j)\n        sum += w[j] * x[j];\n"
           "    x[0] = sum;\n}\n";
}

TEST(ReducedUnrolling, TakesTheLoopThatMakesMostCode) {
    const std::string text = appliedText(id, twoLoops(), spilling);
    EXPECT_TRUE(text.contains("#pragma unroll 4\n")) << text;
    EXPECT_TRUE(text.contains("#pragma unroll 2\n")) << text;
}

TEST(ReducedUnrolling, TakesTheLoopAtTheCursor) {
    const std::string text = appliedText(id, twoLoops("$0"), spilling);
    EXPECT_TRUE(text.contains("#pragma unroll 1\n")) << text;
    EXPECT_TRUE(text.contains("#pragma unroll 8\n")) << text;
}

TEST(ReducedUnrolling, LetsRoundsOfAnInnerLoopChooseElements) {
    // `kept` keeps its constant indices: the loop over r is unrolled as before.
    const std::string work = "for (int r = 0; r < 4; ++r)\n                kept[r] += w[j] * v;";
    checkApplicable(id, unrolled("#pragma unroll", work), unrolled("#pragma unroll 16", work),
                    spilling);
}

TEST(ReducedUnrolling, HasOtherFactorsForASearch) {
    Subject subject = parseSubject(unrolled("#pragma unroll 16"));
    subject.compiled = spilling;
    const auto offer = skillNamed(id).prepare(subject.context());
    ASSERT_TRUE(offer) << offer.error().reason;
    EXPECT_EQ(offer->option, 4);
    EXPECT_EQ(offer->numerics, Numerics::Exact);
    std::vector<int> factors;
    for (const Offer& other : skillNamed(id).alternatives(subject.context()))
        factors.push_back(other.option);
    EXPECT_THAT(factors, ElementsAre(8, 2, 1));
}

class ReducedUnrollingIsNotOffered : public testing::TestWithParam<GateCase> {};

TEST_P(ReducedUnrollingIsNotOffered, WhenAGateDoesNotHold) {
    checkNotApplicable(id, GetParam().source, GetParam().gate, GetParam().compiled);
}

INSTANTIATE_TEST_SUITE_P(
    Gates, ReducedUnrollingIsNotOffered,
    testing::Values(
        GateCase{"NobodyAsked", "needs-compiled-facts", unrolled("#pragma unroll")},
        GateCase{"NoSpills", "no-spills", unrolled("#pragma unroll"), compiledAs(64, 256)},
        GateCase{"NoPragma", "no-unrolled-loop", unrolled(""), spilling},
        GateCase{"FewRounds", "few-rounds", unrolled("#pragma unroll 2"), spilling},
        GateCase{"UnknownRounds", "unknown-rounds",
                 unrolled("#pragma unroll", "sum += w[j];", "int j = 0; j < n; ++j"), spilling},
        GateCase{"NamedFactor", "factor-not-literal",
                 "#define FACTOR 16\n" + unrolled("#pragma unroll FACTOR"), spilling},
        GateCase{"IndexesRegisters", "indexes-registers",
                 unrolled("#pragma unroll", "kept[j] += w[j] * v;"), spilling},
        GateCase{"IndexesAMember", "indexes-registers",
                 "struct Fragment {\n    float x[64];\n};\n" +
                     unrolled("#pragma unroll", "{ Fragment f; f.x[j] = w[j]; sum += f.x[j]; }"),
                 spilling},
        GateCase{"IndexesAVector", "indexes-registers",
                 unrolled("#pragma unroll",
                          "{ float4 f = {v, v, v, v}; sum += w[j] * reinterpret_cast<float*>(&f)[j "
                          "& 3]; }"),
                 spilling},
        GateCase{"IndexesRegistersByACopy", "indexes-registers",
                 unrolled("#pragma unroll", "{ const int r = j / 2; kept[r] += w[j] * v; }"),
                 spilling}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace kernelskill::skills
