#include "engine/execution/buffer_fill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::ScalarKind;

template <typename T>
std::vector<T> filled(const BufferSpec& spec, std::size_t count, std::uint64_t offset = 0) {
    std::vector<T> values(count);
    fillBuffer(spec, bufferSeed(7, "x"), offset, std::as_writable_bytes(std::span(values)));
    return values;
}

BufferSpec of(ScalarKind kind, Fill fill = Fill::Random) {
    BufferSpec spec;
    spec.element = kind;
    spec.fill = fill;
    return spec;
}

TEST(Fill, RandomFloatsLieInTheirInterval) {
    double sum = 0;
    for (const float value : filled<float>(of(ScalarKind::Float), 10000)) {
        EXPECT_GE(value, -1.0f);
        EXPECT_LT(value, 1.0f);
        sum += value;
    }
    EXPECT_LT(std::abs(sum / 10000), 0.05);
}

TEST(Fill, DoublesHoldTheValuesOfFloats) {
    const auto floats = filled<float>(of(ScalarKind::Float), 100);
    const auto doubles = filled<double>(of(ScalarKind::Double), 100);
    for (std::size_t i = 0; i < 100; ++i)
        EXPECT_EQ(static_cast<double>(floats[i]), doubles[i]);
}

TEST(Fill, HalvesAreFloatsRounded) {
    const auto floats = filled<float>(of(ScalarKind::Float), 100);
    const auto halves = filled<_Float16>(of(ScalarKind::Half), 100);
    for (std::size_t i = 0; i < 100; ++i)
        EXPECT_EQ(static_cast<float>(halves[i]),
                  static_cast<float>(static_cast<_Float16>(floats[i])));
}

TEST(Fill, DoublesThatStandForShorterNumbersHoldTheirValues) {
    for (const Fill fill : {Fill::Random, Fill::Iota, Fill::Chosen}) {
        BufferSpec narrow = of(ScalarKind::Half, fill);
        narrow.choice.emplace();
        narrow.choice->values = {0.1, 1e-6};
        BufferSpec wide = narrow;
        wide.element = ScalarKind::Double;
        wide.elementBytes = 8;
        wide.valuesOf = ScalarKind::Half;
        wide.choice->isFloat = true;
        const auto halves = filled<_Float16>(narrow, 100);
        const auto doubles = filled<double>(wide, 100);
        for (std::size_t i = 0; i < 100; ++i)
            EXPECT_EQ(static_cast<double>(halves[i]), doubles[i]) << i;
        wide.valuesOf = ScalarKind::BFloat16;
        for (const double value : filled<double>(wide, 100)) {
            const float exact = static_cast<float>(value);
            std::uint32_t bits = 0;
            std::memcpy(&bits, &exact, sizeof bits);
            EXPECT_EQ(bits & 0xffffu, 0u) << value;
        }
    }
}

TEST(Fill, AnyPartHasTheValuesOfTheWhole) {
    const auto whole = filled<float>(of(ScalarKind::Float), 1000);
    const auto part = filled<float>(of(ScalarKind::Float), 100, 400 * sizeof(float));
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 400));
}

TEST(Fill, IntegersStayInTheirRange) {
    BufferSpec spec = of(ScalarKind::Int32);
    spec.integerRange = 10;
    for (const std::int32_t value : filled<std::int32_t>(spec, 1000)) {
        EXPECT_GE(value, 0);
        EXPECT_LT(value, 10);
    }
    for (const std::int8_t value : filled<std::int8_t>(of(ScalarKind::Char), 1000))
        EXPECT_GE(value, 0);
}

TEST(Fill, BuffersOfOneLaunchDiffer) {
    EXPECT_NE(bufferSeed(1, "x"), bufferSeed(1, "y"));
    EXPECT_NE(bufferSeed(1, "x"), bufferSeed(2, "x"));
}

TEST(Fill, PoisonIsNoNumber) {
    for (const float value : filled<float>(of(ScalarKind::Float, Fill::Poison), 10))
        EXPECT_TRUE(std::isnan(value));
    for (const _Float16 value : filled<_Float16>(of(ScalarKind::Half, Fill::Poison), 10))
        EXPECT_TRUE(std::isnan(static_cast<float>(value)));
    BufferSpec output = of(ScalarKind::Double);
    output.isInput = false;
    for (const double value : filled<double>(output, 10))
        EXPECT_TRUE(std::isnan(value));
}

TEST(Fill, HalfOfTheChosenValuesAreThoseGiven) {
    BufferSpec spec = of(ScalarKind::Float, Fill::Chosen);
    spec.choice = ValueChoice{.values = {0, 0.5, 1}};
    std::size_t given = 0;
    bool hasNegative = false;
    float largest = 0;
    for (const float value : filled<float>(spec, 10000)) {
        given += value == 0 || value == 0.5f || value == 1 ? 1 : 0;
        hasNegative |= value < 0;
        largest = std::max(largest, std::abs(value));
    }
    EXPECT_GT(given, 4500u);
    EXPECT_LT(given, 5500u);
    EXPECT_TRUE(hasNegative);
    EXPECT_GT(largest, 128);
    EXPECT_LT(largest, 256);
}

TEST(Fill, ChosenDoublesUseTheirWholeMantissaUnlessTheyStandForFloats) {
    BufferSpec spec = of(ScalarKind::Double, Fill::Chosen);
    spec.choice = ValueChoice{.values = {0.1}};
    const auto isFloat = [](double value) {
        return static_cast<double>(static_cast<float>(value)) == value;
    };
    const auto wide = filled<double>(spec, 100);
    EXPECT_TRUE(std::ranges::none_of(wide, isFloat));
    spec.choice->isFloat = true;
    const auto narrow = filled<double>(spec, 100);
    EXPECT_TRUE(std::ranges::all_of(narrow, isFloat));
    spec.element = ScalarKind::Float;
    const auto floats = filled<float>(spec, 100);
    EXPECT_TRUE(std::ranges::equal(narrow, floats));
}

TEST(Fill, ChosenIntegersKeepTheRangeThatIsStated) {
    BufferSpec spec = of(ScalarKind::Int32, Fill::Chosen);
    spec.choice = ValueChoice{.values = {-1, 3, 0.5, 1e30}, .share = 1};
    const auto any = filled<std::int32_t>(spec, 1000);
    EXPECT_TRUE(std::ranges::find(any, -1) != any.end());
    spec.integerRange = 10;
    for (const std::int32_t value : filled<std::int32_t>(spec, 1000)) {
        EXPECT_GE(value, 0);
        EXPECT_LT(value, 10);
    }
}

TEST(Fill, ConstantsAndIotaAreWhatTheySay) {
    BufferSpec spec = of(ScalarKind::Float, Fill::Constant);
    spec.value = 2.5;
    EXPECT_EQ(filled<float>(spec, 3), (std::vector<float>{2.5f, 2.5f, 2.5f}));
    EXPECT_EQ(filled<std::int64_t>(of(ScalarKind::Int64, Fill::Iota), 3, 16),
              (std::vector<std::int64_t>{2, 3, 4}));
    BufferSpec apart = of(ScalarKind::Int32, Fill::Iota);
    apart.value = 2;
    EXPECT_EQ(filled<std::int32_t>(apart, 3), (std::vector<std::int32_t>{0, 3, 6}));
}

TEST(Fill, FloatsInAClassFollowTheChoice) {
    struct Body {
        float weight;
        int cell;
        double energy;
    };
    const std::vector<KsField> fields{
        {0, 4, KsElementFloating}, {4, 4, KsElementInteger}, {8, 8, KsElementFloating}};
    BufferSpec spec = of(ScalarKind::Unknown, Fill::Chosen);
    spec.elementBytes = sizeof(Body);
    spec.choice.emplace();
    spec.choice->values = {-1000, -2000};
    spec.choice->share = 1;
    std::vector<Body> bodies(100);
    fillFields(fields, spec, 3, 0, std::as_writable_bytes(std::span(bodies)));
    for (const Body& body : bodies) {
        EXPECT_LE(body.weight, -1000);
        EXPECT_LE(body.energy, -1000);
        EXPECT_GE(body.cell, 0);
        EXPECT_LT(body.cell, 16);
    }
}

} // namespace
} // namespace kernelskill::engine
