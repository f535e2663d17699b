#include "engine/graph/reference/seeded_tensors.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Lt;
using testing::ProgramBuilder;
using testing::value;
using testing::valuesOf;

template <typename T = float>
std::vector<T> made(ProgramBuilder& builder, const std::string& name, std::uint64_t seed = 1) {
    for (const Input& input : builder.program().inputs) {
        if (input.value != name)
            continue;
        const auto tensor = seededTensor(builder.program(), input, seed);
        if (tensor)
            return valuesOf<T>(*tensor);
        ADD_FAILURE() << tensor.error().describe();
    }
    return {};
}

TEST(SeededTensors, FollowSeedAndName) {
    ProgramBuilder builder;
    builder.input("x", {1000}).input("y", {1000});
    const auto first = made(builder, "x");
    EXPECT_EQ(first, made(builder, "x"));
    EXPECT_NE(first, made(builder, "y"));
    EXPECT_NE(first, made(builder, "x", 2));
    EXPECT_THAT(first, Each(AllOf(Ge(-1), Lt(1))));
    EXPECT_LT(*std::ranges::min_element(first), -0.9f);
    EXPECT_GT(*std::ranges::max_element(first), 0.9f);
}

TEST(SeededTensors, ShrinkWeightsByTheirInputs) {
    ProgramBuilder builder;
    builder.parameter("w", {10, 25, 2, 2}).parameter("b", {1000});
    const auto weight = made(builder, "w");
    EXPECT_THAT(weight, Each(AllOf(Ge(-0.1f), Lt(0.1f))));
    EXPECT_GT(*std::ranges::max_element(weight), 0.09f);
    const auto bias = made(builder, "b");
    EXPECT_GT(*std::ranges::max_element(bias), 0.9f);
}

TEST(SeededTensors, AreWhatTheirReadersCanUse) {
    ProgramBuilder builder;
    builder.input("x", {4, 10})
        .input("target", {1000}, ElementType::Int64)
        .input("probability", {1000})
        .parameter("scale", {1000})
        .input("mask", {1000}, ElementType::Bool)
        .node("loss", "aten.cross_entropy_loss.default",
              {value("self", "x"), value("target", "target")})
        .node("log", "aten.log.default", {value("self", "probability")})
        .node("norm", "aten.layer_norm.default", {value("input", "log"), value("weight", "scale")});
    const auto target = made<std::int64_t>(builder, "target");
    EXPECT_THAT(target, Each(AllOf(Ge(0), Lt(10))));
    EXPECT_EQ(*std::ranges::max_element(target), 9);
    EXPECT_THAT(made(builder, "probability"), Each(AllOf(Ge(0), Lt(1))));
    EXPECT_THAT(made(builder, "scale"), Each(AllOf(Ge(0.5f), Lt(1.5f))));
    EXPECT_THAT(made<std::uint8_t>(builder, "mask"), Each(Lt(2)));
}

TEST(SeededTensors, ShrinkInEachElementType) {
    for (const auto element : {ElementType::Float16, ElementType::BFloat16, ElementType::Float64}) {
        ProgramBuilder builder;
        builder.held(Input::Kind::Parameter, "w",
                     {contiguousType(element, testing::Sizes{4, 100}), {}, nullptr});
        if (element == ElementType::Float64) {
            EXPECT_THAT(made<double>(builder, "w"), Each(AllOf(Ge(-0.1001), Lt(0.1001))));
        } else if (element == ElementType::Float16) {
            EXPECT_THAT(made<_Float16>(builder, "w"),
                        Each(::testing::ResultOf([](_Float16 half) { return float{half}; },
                                                 AllOf(Ge(-0.1001f), Lt(0.1001f)))));
        } else {
            EXPECT_THAT(made<std::uint16_t>(builder, "w"),
                        Each(::testing::ResultOf(
                            [](std::uint16_t bits) {
                                return std::bit_cast<float>(std::uint32_t{bits} << 16);
                            },
                            AllOf(Ge(-0.1001f), Lt(0.1001f)))));
        }
    }
}

TEST(SeededTensors, AreRefusedForWhatIsNoTensorOrHasNoEnd) {
    ProgramBuilder builder;
    const auto unknown = seededTensor(builder.program(), {Input::Kind::User, "x", {}, {}}, 1);
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().what, HasSubstr("x is no tensor"));
    builder.input("x", {1});
    builder.program().values["x"].sizes = {{std::int64_t{1} << 40, {}},
                                           {std::int64_t{1} << 40, {}}};
    EXPECT_FALSE(seededTensor(builder.program(), builder.program().inputs[0], 1));
}

} // namespace
} // namespace kernelskill::engine::graph
