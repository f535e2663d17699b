#include "engine/final_memory/element_type.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

TEST(ElementTypeTest, IsWhatThePointerPointsTo) {
    EXPECT_EQ(elementOf("float*"), MemoryElement::Float32);
    EXPECT_EQ(elementOf("float4 const*"), MemoryElement::Float32);
    EXPECT_EQ(elementOf("double volatile*"), MemoryElement::Float64);
    EXPECT_EQ(elementOf("__half2*"), MemoryElement::Float16);
    EXPECT_EQ(elementOf("__nv_bfloat16 const*"), MemoryElement::BFloat16);
    EXPECT_EQ(elementOf("unsigned int*"), MemoryElement::Bytes);
    EXPECT_EQ(elementOf("uchar4*"), MemoryElement::Bytes);
    EXPECT_EQ(elementOf("bool*"), MemoryElement::Bytes);
}

TEST(ElementTypeTest, OtherThingsAreUnknown) {
    EXPECT_EQ(elementOf("float**"), std::nullopt);
    EXPECT_EQ(elementOf("Particle*"), std::nullopt);
    EXPECT_EQ(elementOf("void*"), std::nullopt);
    EXPECT_EQ(elementOf("float"), std::nullopt) << "no pointer";
    EXPECT_EQ(elementOf(""), std::nullopt);
}

TEST(ElementTypeTest, UsesHaveToAgree) {
    const BufferUse input{"_Z5saxpyfPKfPfi", 1};
    EXPECT_EQ(elementOf({input}), MemoryElement::Float32);
    EXPECT_EQ(elementOf({input, {"plain", 0}}), MemoryElement::Float32)
        << "a C name tells no types";
    EXPECT_EQ(elementOf({input, {"_Z5countPi", 0}}), std::nullopt);
    EXPECT_EQ(elementOf({{"_Z5saxpyfPKfPfi", 7}}), std::nullopt);
    EXPECT_EQ(elementOf(std::vector<BufferUse>()), std::nullopt);
}

} // namespace
} // namespace kernelskill::engine
