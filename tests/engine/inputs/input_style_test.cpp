#include "engine/inputs/argument_specs.h"
#include "engine/inputs/input_style.h"
#include "tests/engine/inputs/parsed_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

namespace kernelskill::engine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string clampText =
    "__device__ float twice(float x) { return 2.5f * x; }\n"
    "__global__ void k(const float* x, float* y, const int* table, float a, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = x[table[i]] > 0.75f ? twice(x[i]) : a;\n"
    "}\n"
    "int main() { float *x, *y; int* t; k<<<4, 64>>>(x, y, t, 2.0f, 256); }\n";

ValueDictionary dictionaryOf(const std::string& before, const std::string& after) {
    const auto original = parsedProgram(before);
    const auto candidate = parsedProgram(after);
    return valueDictionary({original, original.kernels.at(0)},
                           {candidate, candidate.kernels.at(0)});
}

TEST(ValueDictionary, HasTheConstantsOfBothTextsAndTheirNeighbours) {
    std::string edited = clampText;
    edited.replace(edited.find("> 0.75f"), 7, "> 0.25f");
    const auto dictionary = dictionaryOf(clampText, edited);
    for (const float value : {0.75f, 0.25f, 2.5f, std::nextafter(0.75f, 1.0f), -0.25f})
        EXPECT_THAT(dictionary.floating, Contains(static_cast<double>(value)));
    EXPECT_TRUE(std::ranges::is_sorted(dictionary.floating));
}

TEST(ValueDictionary, HasSizesAroundTheConstantsOfOneTextAlone) {
    const std::string before =
        "__global__ void k(int* x, int n) { if (threadIdx.x < n) x[7] = 3; }";
    const std::string after =
        "__global__ void k(int* x, int n) { if (threadIdx.x < n && n != 1000) x[7] = 3; }";
    EXPECT_THAT(dictionaryOf(before, after).edited, ElementsAre(999, 1000, 1001));
    EXPECT_THAT(dictionaryOf(after, before).edited, ElementsAre(999, 1000, 1001));
    EXPECT_THAT(dictionaryOf(after, after).edited, IsEmpty());
}

TEST(ValueDictionary, HasSizesAboveProductsOfConstants) {
    const std::string head = "#define BLOCK 512\n__global__ void k(float* x, int n) { int i = 0; ";
    const auto dictionary =
        dictionaryOf(head + "for (; i < n; i += BLOCK) x[i] = 1; }",
                     head + "for (; i < n - 3 * BLOCK; i += 4 * BLOCK) x[i] = 1; }");
    EXPECT_THAT(dictionary.edited, Contains(1537));
    EXPECT_THAT(largestEdited(dictionary, 2), ElementsAre(2049, 1537));
    EXPECT_THAT(largestEdited(dictionary, 1), ElementsAre(2049));
    EXPECT_THAT(largestEdited({}, 2), IsEmpty());
}

TEST(ValueDictionary, HasSizesThatVanishBesideTheConstantsThatAnEditAdds) {
    const auto with = [](const std::string& text) {
        std::string edited = clampText;
        edited.replace(edited.find("2.5f * x"), 8, text);
        return edited;
    };
    const auto vanishing = [&](const std::string& text) {
        return dictionaryOf(clampText, with(text)).vanishing;
    };
    EXPECT_THAT(vanishing("2.5f * x + 1e-3f"), ElementsAre(-34));
    EXPECT_THAT(vanishing("(2.5f * x + 1e-6f) - 1e-3f"), ElementsAre(-34, -44));
    EXPECT_THAT(vanishing("2.5f * x + 1.1e-3f - 1e-3f"), ElementsAre(-34));
    EXPECT_THAT(vanishing("2.5f * x * 8.0f + 1e-30f + 0.0f"), IsEmpty());
    const std::string small = with("2.5f * x + 1e-3f");
    EXPECT_THAT(dictionaryOf(small, small).vanishing, IsEmpty());
    const std::string twice = with("2.5f * x + 1e-3f - 1e-3f");
    EXPECT_THAT(dictionaryOf(small, twice).vanishing, ElementsAre(-34));
}

TEST(ValueDictionary, HasDoublesThatAreNoFloats) {
    std::string precise = clampText;
    precise.replace(precise.find("> 0.75f"), 7, "> 0.1");
    const auto dictionary = dictionaryOf(precise, precise);
    for (const double value : {0.1, std::nextafter(0.1, 1.0), -0.1, static_cast<double>(0.1f)})
        EXPECT_THAT(dictionary.floating, Contains(value));
}

TEST(InputStyle, ChangesWhatIsMadeUpAndLeavesIndicesAlone) {
    const LaunchSpec launch = bestLaunch(clampText);
    const LaunchSpec styled =
        withStyle(launch, InputStyle::Ties, dictionaryOf(clampText, clampText), {}, 1);
    EXPECT_EQ(bufferNamed(styled, "x")->fill, Fill::Chosen);
    EXPECT_EQ(*bufferNamed(styled, "table"), *bufferNamed(launch, "table"));
    EXPECT_EQ(bufferNamed(styled, "y")->fill, bufferNamed(launch, "y")->fill);
    EXPECT_EQ(scalarNamed(styled, "n")->integer, 256);
}

TEST(InputStyle, MakesIndicesCollide) {
    const LaunchSpec styled = withStyle(bestLaunch(clampText), InputStyle::Collisions,
                                        dictionaryOf(clampText, clampText), {}, 1);
    ASSERT_EQ(bufferNamed(styled, "table")->fill, Fill::Chosen);
    EXPECT_EQ(bufferNamed(styled, "table")->choice->values, (std::vector<double>{0, 1}));
    EXPECT_EQ(bufferNamed(styled, "table")->choice->share, 1);
}

TEST(InputStyle, GivesSymbolsEachConstantInTurn) {
    const std::string text = "__constant__ float weights[4];\n"
                             "__global__ void k(const float* x, float* y, int n) {\n"
                             "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    if (i < n) y[i] = weights[i % 4] > 0.75f ? x[i] : 0;\n}\n"
                             "int main() { float *x, *y, w[4];\n"
                             "    cudaMemcpyToSymbol(weights, w, sizeof w);\n"
                             "    k<<<4, 64>>>(x, y, 256); }\n";
    std::set<double> met;
    for (std::size_t turn = 0; turn < 12; ++turn) {
        const LaunchSpec styled = withStyle(bestLaunch(text), InputStyle::Constants,
                                            dictionaryOf(text, text), {.turn = turn}, 1);
        ASSERT_EQ(styled.symbols.size(), 1u);
        ASSERT_EQ(styled.symbols[0].fill, Fill::Chosen);
        const std::vector<double>& values = styled.symbols[0].choice->values;
        EXPECT_LE(values.size(), 4u) << "more than the symbol has elements";
        met.insert(values.begin(), values.end());
    }
    for (const double value : dictionaryOf(text, text).floating)
        EXPECT_THAT(met, Contains(value));
}

TEST(InputStyle, VariesFloatingScalars) {
    const LaunchSpec launch = bestLaunch(clampText);
    const ValueDictionary dictionary = dictionaryOf(clampText, clampText);
    bool isZeroOnce = false;
    bool isOtherOnce = false;
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        const auto styled = withStyle(launch, InputStyle::Constants, dictionary, {}, seed << 7);
        const ScalarSpec* a = scalarNamed(styled, "a");
        float passed = 0;
        std::memcpy(&passed, a->bytes.data(), sizeof passed);
        EXPECT_EQ(passed, static_cast<float>(*a->floating));
        isZeroOnce |= passed == 0;
        isOtherOnce |= passed != 0 && passed != 2;
    }
    EXPECT_TRUE(isZeroOnce);
    EXPECT_TRUE(isOtherOnce);
}

TEST(InputStyle, VariesScalarsOfTwoBytes) {
    using analysis::ScalarKind;
    for (const ScalarKind kind : {ScalarKind::Half, ScalarKind::BFloat16}) {
        LaunchSpec launch;
        launch.arguments = {ScalarSpec{"a", floatingBytes(kind, 1.5), std::nullopt, 1.5}};
        std::set<std::vector<std::byte>> met;
        for (std::uint64_t seed = 0; seed < 16; ++seed) {
            const auto styled = withStyle(launch, InputStyle::Constants, {}, {}, seed << 7);
            const ScalarSpec* a = scalarNamed(styled, "a");
            EXPECT_EQ(a->bytes, floatingBytes(kind, *a->floating));
            met.insert(a->bytes);
        }
        EXPECT_GT(met.size(), 4u);
        // These bytes are 2 in either type.
        launch.arguments = {ScalarSpec{"a", floatingBytes(kind, 2), std::nullopt, 2}};
        EXPECT_EQ(scalarNamed(withStyle(launch, InputStyle::Constants, {}, {}, 0), "a")->floating,
                  -2);
    }
}

TEST(InputStyle, AlwaysGivesAScalarAnotherValue) {
    const LaunchSpec launch = bestLaunch(clampText);
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        const auto styled = withStyle(launch, InputStyle::Constants, {}, {}, seed << 7);
        EXPECT_NE(*scalarNamed(styled, "a")->floating, 2.0);
    }
}

TEST(InputStyle, GivesTiesOtherValuesAndExtremesAnotherShareInTurn) {
    const LaunchSpec launch = bestLaunch(clampText);
    const auto choiceAt = [&](InputStyle style, std::size_t turn) {
        return *bufferNamed(withStyle(launch, style, {}, {.turn = turn}, 1), "x")->choice;
    };
    bool isTinyOnce = false;
    bool isHalfAtMostOnce = false;
    for (std::size_t turn = 0; turn < 4; ++turn) {
        const ValueChoice ties = choiceAt(InputStyle::Ties, turn);
        EXPECT_EQ(ties.share, 1);
        isTinyOnce |= std::ranges::max(ties.values) < 1e-3;
        isHalfAtMostOnce |= std::ranges::max(ties.values) == 0.5;
    }
    EXPECT_TRUE(isTinyOnce);
    EXPECT_TRUE(isHalfAtMostOnce);
    for (const InputStyle style : {InputStyle::Extremes, InputStyle::Large})
        EXPECT_GT(choiceAt(style, 0).share, 5 * choiceAt(style, 1).share);
}

TEST(InputStyle, GivesOnlyNegativeValuesOnceInAWhile) {
    const LaunchSpec launch = bestLaunch(clampText);
    bool isNegativeOnce = false;
    for (std::size_t turn = 0; turn < 4; ++turn) {
        const auto styled = withStyle(launch, InputStyle::Extremes, {}, {.turn = turn}, 1);
        const ValueChoice choice = *bufferNamed(styled, "x")->choice;
        isNegativeOnce |=
            choice.share == 1 &&
            std::ranges::none_of(choice.values, [](double value) { return value >= 0; });
    }
    EXPECT_TRUE(isNegativeOnce);
}

TEST(InputStyle, GivesSmallerValuesNearZeroInTurn) {
    const LaunchSpec launch = bestLaunch(clampText);
    int last = 0;
    for (std::size_t turn = 0; turn < 3; ++turn) {
        const auto styled = withStyle(launch, InputStyle::Tiny, {}, {.turn = turn}, 1);
        const ValueChoice choice = *bufferNamed(styled, "x")->choice;
        EXPECT_EQ(choice.share, 0);
        EXPECT_LT(choice.maxExponent, std::min(last, -10));
        last = choice.maxExponent;
    }
}

TEST(InputStyle, GivesValuesThatVanishBesideConstantsAfterTheUsualOnes) {
    ValueDictionary dictionary;
    dictionary.vanishing = {-34, -50};
    const auto largest = [&](std::size_t turn) {
        const auto styled =
            withStyle(bestLaunch(clampText), InputStyle::Tiny, dictionary, {.turn = turn}, 1);
        return bufferNamed(styled, "x")->choice->maxExponent;
    };
    EXPECT_EQ(largest(usualTinyTurns), -34);
    EXPECT_EQ(largest(usualTinyTurns + 1), -50);
    EXPECT_EQ(largest(usualTinyTurns + 2), largest(0));
}

TEST(InputStyle, MakesLongRowsOnceInAWhileUnlessAPinStatesTheOffsets) {
    BufferSpec offsets;
    offsets.name = "begin";
    offsets.element = analysis::ScalarKind::Int32;
    offsets.fill = Fill::Iota;
    LaunchSpec launch;
    launch.origin = LaunchOrigin::Evaluated;
    launch.arguments = {offsets};
    const auto lengthAt = [&](std::size_t turn) {
        const auto styled = withStyle(launch, InputStyle::Ties, {}, {.turn = turn}, 1);
        return bufferNamed(styled, "begin")->value + 1;
    };
    EXPECT_EQ(lengthAt(0), 1);
    EXPECT_GT(lengthAt(1), 32);
    launch.origin = LaunchOrigin::Pinned;
    EXPECT_EQ(lengthAt(1), 1);
}

TEST(InputStyle, OnlyExactEditsMeetInfinity) {
    const LaunchSpec launch = bestLaunch(clampText);
    const auto hasInfinity = [&](skills::Numerics numerics) {
        const auto styled = withStyle(launch, InputStyle::Extremes, {}, {.numerics = numerics}, 1);
        const auto& values = bufferNamed(styled, "x")->choice->values;
        return std::ranges::any_of(values, [](double value) { return std::isinf(value); });
    };
    EXPECT_TRUE(hasInfinity(skills::Numerics::Exact));
    EXPECT_FALSE(hasInfinity(skills::Numerics::Reassociates));
    EXPECT_FALSE(hasInfinity(skills::Numerics::ReducedPrecision));
}

TEST(InputStyle, GivesLanesOfAVectorOtherValues) {
    LaunchSpec launch;
    std::vector<std::byte> bytes;
    for (int lane = 0; lane < 3; ++lane)
        std::ranges::copy(floatingBytes(analysis::ScalarKind::Float, 1.25),
                          std::back_inserter(bytes));
    launch.arguments = {ScalarSpec{"low", bytes, std::nullopt, 1.25}};
    bool isDifferentOnce = false;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const auto styled = withStyle(launch, InputStyle::Constants, {}, {}, seed << 7);
        const auto& varied = scalarNamed(styled, "low")->bytes;
        isDifferentOnce |= !std::equal(varied.begin(), varied.begin() + 4, varied.begin() + 4);
    }
    EXPECT_TRUE(isDifferentOnce);
}

} // namespace
} // namespace kernelskill::engine
