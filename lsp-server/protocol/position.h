/// The protocol's places in a text, and their conversion from and to byte offsets.
#pragma once

#include "analysis/source/source_text.h"

#include <nlohmann/json_fwd.hpp>

#include <compare>
#include <cstdint>
#include <string_view>

namespace kernelskill::lsp {

/// The unit of `character`. UTF-16 unless the client offered something else.
enum class PositionEncoding : std::uint8_t { Utf8, Utf16, Utf32 };
[[nodiscard]] std::string_view spelling(PositionEncoding encoding); ///< "utf-8", ...

struct Position {
    std::uint32_t line = 0;
    std::uint32_t character = 0;
    auto operator<=>(const Position&) const = default;
};

struct Range {
    Position start;
    Position end;
    bool operator==(const Range&) const = default;
};

/// Offsets inside a character give the character's start. Bytes that are not UTF-8 count as one
/// unit each.
[[nodiscard]] Position toPosition(const analysis::SourceText& text, std::uint32_t offset,
                                  PositionEncoding encoding);
[[nodiscard]] Range toRange(const analysis::SourceText& text, analysis::Span span,
                            PositionEncoding encoding);
/// Never fails: a character past the line's end is the line's end, a line past the last the text's
/// end, and a position in the middle of a surrogate pair the pair's start.
[[nodiscard]] std::uint32_t toOffset(const analysis::SourceText& text, Position position,
                                     PositionEncoding encoding);
/// An inverted range is empty at its start.
[[nodiscard]] analysis::Span toSpan(const analysis::SourceText& text, const Range& range,
                                    PositionEncoding encoding);

void to_json(nlohmann::json& json, const Position& position);
void from_json(const nlohmann::json& json, Position& position);
void to_json(nlohmann::json& json, const Range& range);
void from_json(const nlohmann::json& json, Range& range);

} // namespace kernelskill::lsp
