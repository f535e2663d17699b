#include "analysis/source/json.h"
#include "analysis/source/json_reading.h"

#include <gtest/gtest.h>

#include <string>

namespace kernelskill::analysis {
namespace {

using nlohmann::json;

TEST(JsonReading, GivesADiscardedValueForWhatCannotBeRead) {
    EXPECT_EQ(parseJson(R"({"a": [1]})"), json::parse(R"({"a": [1]})"));
    EXPECT_TRUE(parseJson("{").is_discarded());
    EXPECT_TRUE(parseJson("").is_discarded());
    const auto nested = [](std::size_t depth) {
        return parseJson(std::string(depth, '[') + std::string(depth, ']'));
    };
    EXPECT_TRUE(nested(100).is_array());
    EXPECT_TRUE(nested(1'000'000).is_discarded());
    EXPECT_FALSE(nested(1'000'000).is_array());
}

TEST(JsonReading, FindsIntegersWithoutThrowing) {
    const json object =
        json::parse(R"({"one": 1, "large": 4294967296, "negative": -1, "real": 1.0, "text": "1"})");
    EXPECT_EQ(integerIn<int>(object, "one"), 1);
    EXPECT_EQ(integerIn<int>(object, "large"), std::nullopt);
    EXPECT_EQ(integerIn<std::int64_t>(object, "large"), 4294967296);
    EXPECT_EQ(integerIn<std::uint64_t>(object, "negative"), std::nullopt);
    EXPECT_EQ(integerIn<int>(object.at("negative")), -1);
    for (const char* other : {"real", "text", "absent"})
        EXPECT_EQ(integerIn<int>(object, other), std::nullopt) << other;
    EXPECT_EQ(integerIn<int>(json(), "one"), std::nullopt) << "no object";
}

} // namespace
} // namespace kernelskill::analysis
