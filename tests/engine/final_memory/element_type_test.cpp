#include "engine/final_memory/element_type.h"

#include <gtest/gtest.h>

namespace kernelskill::engine {
namespace {

TEST(ElementTypeTest, IsWhatThePointerPointsTo) {
    EXPECT_EQ(elementOf("float*"), ElementType::Float32);
    EXPECT_EQ(elementOf("float4 const*"), ElementType::Float32);
    EXPECT_EQ(elementOf("double volatile*"), ElementType::Float64);
    EXPECT_EQ(elementOf("__half2*"), ElementType::Float16);
    EXPECT_EQ(elementOf("__nv_bfloat16 const*"), ElementType::BFloat16);
    EXPECT_EQ(elementOf("unsigned int*"), ElementType::Exact);
    EXPECT_EQ(elementOf("uchar4*"), ElementType::Exact);
    EXPECT_EQ(elementOf("bool*"), ElementType::Exact);
}

TEST(ElementTypeTest, OtherThingsAreUnknown) {
    EXPECT_EQ(elementOf("float**"), ElementType::Unknown);
    EXPECT_EQ(elementOf("Particle*"), ElementType::Unknown);
    EXPECT_EQ(elementOf("void*"), ElementType::Unknown);
    EXPECT_EQ(elementOf("float"), ElementType::Unknown) << "no pointer";
    EXPECT_EQ(elementOf(""), ElementType::Unknown);
}

TEST(ElementTypeTest, UsesHaveToAgree) {
    const BufferUse input{"_Z5saxpyfPKfPfi", 1};
    EXPECT_EQ(elementOf({input}), ElementType::Float32);
    EXPECT_EQ(elementOf({input, {"plain", 0}}), ElementType::Float32) << "a C name tells no types";
    EXPECT_EQ(elementOf({input, {"_Z5countPi", 0}}), ElementType::Unknown);
    EXPECT_EQ(elementOf({{"_Z5saxpyfPKfPfi", 7}}), ElementType::Unknown);
    EXPECT_EQ(elementOf(std::vector<BufferUse>()), ElementType::Unknown);
}

} // namespace
} // namespace kernelskill::engine
