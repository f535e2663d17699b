#include "lsp-server/protocol/position.h"

#include "analysis/source/json.h"
#include "lsp-server/transport/utf8.h"

#include <algorithm>

namespace kernelskill::lsp {

namespace {

std::uint32_t unitsOf(std::size_t sequenceLength, PositionEncoding encoding) {
    if (encoding == PositionEncoding::Utf8)
        return static_cast<std::uint32_t>(std::max<std::size_t>(sequenceLength, 1));
    return encoding == PositionEncoding::Utf16 && sequenceLength == 4 ? 2 : 1;
}

/// Negative or huge numbers come from broken clients: they clamp like any place past the end.
std::uint32_t clampedNumber(const nlohmann::json& json) {
    if (!json.is_number())
        throw nlohmann::json::type_error::create(302, "a position must hold numbers", &json);
    if (json.is_number_unsigned())
        return static_cast<std::uint32_t>(
            std::min<std::uint64_t>(json.get<std::uint64_t>(), 0x7fffffff));
    return 0;
}

} // namespace

std::string_view spelling(PositionEncoding encoding) {
    switch (encoding) {
    case PositionEncoding::Utf8:
        return "utf-8";
    case PositionEncoding::Utf32:
        return "utf-32";
    case PositionEncoding::Utf16:
        break;
    }
    return "utf-16";
}

Position toPosition(const analysis::SourceText& text, std::uint32_t offset,
                    PositionEncoding encoding) {
    const auto [line, column] = text.lineColumn(offset);
    const analysis::Span span = text.lineSpan(line);
    std::string_view rest = text.slice(span).substr(0, column);
    const std::string_view whole = text.slice(span);
    Position position{line, 0};
    std::size_t at = 0;
    while (at < rest.size()) {
        const std::size_t length = utf8SequenceLength(whole.substr(at));
        if (at + length > rest.size())
            break;
        position.character += unitsOf(length, encoding);
        at += std::max<std::size_t>(length, 1);
    }
    return position;
}

Range toRange(const analysis::SourceText& text, analysis::Span span, PositionEncoding encoding) {
    return {toPosition(text, span.begin, encoding), toPosition(text, span.end, encoding)};
}

std::uint32_t toOffset(const analysis::SourceText& text, Position position,
                       PositionEncoding encoding) {
    if (position.line >= text.lineCount())
        return text.size();
    const analysis::Span span = text.lineSpan(position.line);
    std::string_view rest = text.slice(span);
    std::uint32_t offset = span.begin;
    std::uint32_t left = position.character;
    while (left > 0 && !rest.empty()) {
        const std::size_t length = utf8SequenceLength(rest);
        const std::uint32_t units = unitsOf(length, encoding);
        if (units > left)
            break;
        left -= units;
        const std::size_t bytes = std::max<std::size_t>(length, 1);
        offset += static_cast<std::uint32_t>(bytes);
        rest.remove_prefix(bytes);
    }
    return offset;
}

analysis::Span toSpan(const analysis::SourceText& text, const Range& range,
                      PositionEncoding encoding) {
    const std::uint32_t begin = toOffset(text, range.start, encoding);
    return {begin, std::max(begin, toOffset(text, range.end, encoding))};
}

void to_json(nlohmann::json& json, const Position& position) {
    json = {{"line", position.line}, {"character", position.character}};
}

void from_json(const nlohmann::json& json, Position& position) {
    position.line = clampedNumber(json.at("line"));
    position.character = clampedNumber(json.at("character"));
}

void to_json(nlohmann::json& json, const Range& range) {
    json = {{"start", range.start}, {"end", range.end}};
}

void from_json(const nlohmann::json& json, Range& range) {
    json.at("start").get_to(range.start);
    json.at("end").get_to(range.end);
}

} // namespace kernelskill::lsp
