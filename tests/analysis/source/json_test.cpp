// Integers are read only from numbers that they can hold.
#include "analysis/source/json.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::analysis {
namespace {

using nlohmann::json;

template <typename T>
T read(const std::string& text) {
    return json::parse(text).get<T>();
}

TEST(Json, ReadsIntegersThatTheirTypeHolds) {
    EXPECT_EQ(read<std::uint32_t>("4294967295"), 4294967295u);
    EXPECT_EQ(read<int>("-2147483648"), -2147483647 - 1);
    EXPECT_EQ(read<std::uint64_t>("18446744073709551615"), 18446744073709551615u);
    EXPECT_EQ(read<std::int64_t>("-9223372036854775808"), INT64_MIN);
    EXPECT_EQ(read<std::uint8_t>("255"), 255);
    EXPECT_EQ(read<int>("3.0"), 3);
    EXPECT_EQ(read<int>("-0.0"), 0);
    EXPECT_EQ(read<std::int64_t>("-9.223372036854775808e18"), INT64_MIN);
}

TEST(Json, RefusesNumbersThatTheTypeDoesNotHold) {
    EXPECT_THROW(read<std::uint32_t>("-1"), json::out_of_range);
    EXPECT_THROW(read<std::uint32_t>("4294967296"), json::out_of_range);
    EXPECT_THROW(read<std::uint32_t>("-40960.0"), json::out_of_range);
    EXPECT_THROW(read<int>("2147483648"), json::out_of_range);
    EXPECT_THROW(read<int>("1e116"), json::out_of_range);
    EXPECT_THROW(read<int>("0.5"), json::out_of_range);
    EXPECT_THROW(read<std::uint64_t>("18446744073709551616"), json::out_of_range);
    EXPECT_THROW(read<std::int64_t>("9223372036854775808"), json::out_of_range);
    EXPECT_THROW(read<int>("true"), json::type_error);
    EXPECT_THROW(read<int>("\"3\""), json::type_error);
    json infinite = 1e300;
    infinite = infinite.get<double>() * 1e300;
    EXPECT_THROW((void)infinite.get<int>(), json::out_of_range);
}

TEST(Json, ReadsTheElementsOfArraysAndMembersThatStrictly) {
    EXPECT_THROW(read<std::vector<std::uint32_t>>("[1, 2, -3]"), json::out_of_range);
    EXPECT_THROW((read<std::array<int, 2>>("[1, 1e30]")), json::out_of_range);
    EXPECT_THROW((void)json::parse(R"({"line": 5000000000})").value("line", 0), json::out_of_range);
    EXPECT_EQ(json::parse("{}").value("line", 7), 7);
}

TEST(Json, WritesIntegersAsBefore) {
    const json written = {{"byte", std::uint8_t{3}}, {"long", INT64_MIN}, {"is", true}};
    EXPECT_EQ(written.dump(), R"({"byte":3,"is":true,"long":-9223372036854775808})");
}

} // namespace
} // namespace kernelskill::analysis
