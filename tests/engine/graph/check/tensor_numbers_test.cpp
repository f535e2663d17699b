#include "engine/graph/check/tensor_numbers.h"
#include "engine/graph/reference/contiguous_tensor.h"
#include "tests/engine/graph/program_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace kernelskill::engine::graph::testing {
namespace {

using analysis::ScalarKind;
using ::testing::ElementsAre;

TEST(NumbersIn, ReadEachElementType) {
    EXPECT_THAT(numbersIn(ScalarKind::Char, bytesOf<std::int8_t>({-3, 5})), ElementsAre(-3, 5));
    EXPECT_THAT(numbersIn(ScalarKind::UInt8, bytesOf<std::uint8_t>({253, 5})), ElementsAre(253, 5));
    EXPECT_THAT(numbersIn(ScalarKind::Bool, bytesOf<std::uint8_t>({0, 1})), ElementsAre(0, 1));
    EXPECT_THAT(numbersIn(ScalarKind::Int16, bytesOf<std::int16_t>({-300})), ElementsAre(-300));
    EXPECT_THAT(numbersIn(ScalarKind::Int64, bytesOf<std::int64_t>({-(1LL << 40)})),
                ElementsAre(-1099511627776.0));
    EXPECT_THAT(numbersIn(ScalarKind::Half, bytesOf<std::uint16_t>({0xc000})), ElementsAre(-2));
    EXPECT_THAT(numbersIn(ScalarKind::BFloat16, bytesOf<std::uint16_t>({0x3fc0})),
                ElementsAre(1.5));
    EXPECT_THAT(numbersIn(ScalarKind::Double, bytesOf<double>({0.1})), ElementsAre(0.1));
}

TEST(NumbersIn, LeaveOutAPartOfAnElement) {
    auto bytes = bytesOf<float>({1, 2});
    bytes.pop_back();
    EXPECT_THAT(numbersIn(ScalarKind::Float, bytes), ElementsAre(1));
}

TEST(NumbersIn, FollowStridesAndOffset) {
    // The transpose of the last two columns of a 2 x 3 matrix.
    TensorData tensor = floats({2, 3}, {0, 1, 2, 3, 4, 5});
    tensor.type = contiguousType(ElementType::Float32, std::vector<std::int64_t>{2, 2});
    tensor.type.strides[0].value = 1;
    tensor.type.strides[1].value = 3;
    tensor.type.offset.value = 1;
    EXPECT_THAT(numbersIn(tensor), ElementsAre(1, 4, 2, 5));
    EXPECT_EQ(contiguousBytes(tensor), bytesOf<float>({1, 4, 2, 5}));
}

TEST(NumbersIn, AreNoneOfATensorWithoutElements) {
    EXPECT_THAT(numbersIn(floats({3, 0}, {})), ElementsAre());
}

} // namespace
} // namespace kernelskill::engine::graph::testing
