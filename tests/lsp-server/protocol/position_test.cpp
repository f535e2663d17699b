#include "analysis/source/json.h"
#include "lsp-server/protocol/position.h"

#include <gtest/gtest.h>

namespace kernelskill::lsp {
namespace {

using analysis::SourceText;

// "aé€😀b": 1, 2, 3, 4 and 1 bytes; 1, 1, 1, 2 and 1 UTF-16 units.
const SourceText text("aé€😀b\nsecond\r\nthird");

TEST(Position, CountsUnitsOfTheNegotiatedEncoding) {
    const std::uint32_t b = 10;
    EXPECT_EQ(toPosition(text, b, PositionEncoding::Utf8), (Position{0, 10}));
    EXPECT_EQ(toPosition(text, b, PositionEncoding::Utf16), (Position{0, 5}));
    EXPECT_EQ(toPosition(text, b, PositionEncoding::Utf32), (Position{0, 4}));
    for (const auto encoding :
         {PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32})
        EXPECT_EQ(toOffset(text, toPosition(text, b, encoding), encoding), b);
}

TEST(Position, GoesBackAndForthAtEveryCharacter) {
    for (const std::uint32_t offset : {0u, 1u, 3u, 6u, 10u, 11u, 12u, 18u, 20u, 25u}) {
        for (const auto encoding :
             {PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32})
            EXPECT_EQ(toOffset(text, toPosition(text, offset, encoding), encoding), offset);
    }
}

TEST(Position, InsideASurrogatePairIsItsStart) {
    EXPECT_EQ(toOffset(text, {0, 4}, PositionEncoding::Utf16), 6u);
}

TEST(Position, PastTheEndClamps) {
    EXPECT_EQ(toOffset(text, {0, 1000}, PositionEncoding::Utf16), 11u);
    EXPECT_EQ(toOffset(text, {1, 1000}, PositionEncoding::Utf16), 18u) << "before the \\r\\n";
    EXPECT_EQ(toOffset(text, {1000, 0}, PositionEncoding::Utf16), text.size());
}

TEST(Position, BytesThatAreNotUtf8CountOne) {
    const SourceText broken("\xff\xc3(x");
    EXPECT_EQ(toPosition(broken, 3, PositionEncoding::Utf16), (Position{0, 3}));
    EXPECT_EQ(toOffset(broken, {0, 3}, PositionEncoding::Utf16), 3u);
}

TEST(Position, NumbersOfBrokenClientsClamp) {
    const auto position =
        nlohmann::json::parse(R"({"line": -1, "character": 99999999999})").get<Position>();
    EXPECT_EQ(position.line, 0u);
    EXPECT_EQ(toOffset(text, position, PositionEncoding::Utf16), 11u);
    EXPECT_THROW(nlohmann::json::parse(R"({"line": "1", "character": 0})").get<Position>(),
                 nlohmann::json::exception);
}

TEST(Position, AnInvertedRangeIsEmptyAtItsStart) {
    const analysis::Span span = toSpan(text, {{1, 3}, {0, 0}}, PositionEncoding::Utf16);
    EXPECT_TRUE(span.empty());
    EXPECT_EQ(span.begin, 15u);
}

} // namespace
} // namespace kernelskill::lsp
