/// Places in a text. Everything below lsp-server/ uses byte offsets into UTF-8; the server converts
/// them to the protocol's lines and UTF-16 positions.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::analysis {

/// Half-open byte range [begin, end) of one file.
struct Span {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    [[nodiscard]] bool empty() const { return begin == end; }
    [[nodiscard]] std::uint32_t size() const { return end - begin; }
    [[nodiscard]] bool contains(std::uint32_t offset) const {
        return begin <= offset && offset < end;
    }
    [[nodiscard]] bool contains(Span other) const {
        return begin <= other.begin && other.end <= end;
    }
    /// Whether both overlap or are adjacent.
    [[nodiscard]] bool touches(Span other) const {
        return begin <= other.end && other.begin <= end;
    }
    [[nodiscard]] bool overlaps(Span other) const { return begin < other.end && other.begin < end; }
    auto operator<=>(const Span&) const = default;
};

/// Zero-based line and zero-based byte column.
struct LineColumn {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    auto operator<=>(const LineColumn&) const = default;
};

/// A text with its line table. Accepts
/// , \r
///  and \r as line ends. Immutable: an edit makes a new object.
class SourceText {
public:
    SourceText() : SourceText(std::string{}) {}
    explicit SourceText(std::string text);

    [[nodiscard]] const std::string& text() const { return text_; }
    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(text_.size()); }
    [[nodiscard]] std::uint32_t lineCount() const {
        return static_cast<std::uint32_t>(lineStarts_.size());
    }

    /// The text of `span`, clamped to the file.
    [[nodiscard]] std::string_view slice(Span span) const;
    /// The place of `offset`, clamped to the end of the file.
    [[nodiscard]] LineColumn lineColumn(std::uint32_t offset) const;
    /// The offset of a place. A column past the line's end gives the line's end; a line past the
    /// last one gives the file's end.
    [[nodiscard]] std::uint32_t offset(LineColumn place) const;
    /// Line `line` without its line end; empty past the last line.
    [[nodiscard]] std::string_view line(std::uint32_t line) const;
    [[nodiscard]] Span lineSpan(std::uint32_t line) const;
    /// The white space at the start of the line that contains `offset`.
    [[nodiscard]] std::string_view indentationAt(std::uint32_t offset) const;

private:
    std::string text_;
    std::vector<std::uint32_t> lineStarts_;
};

} // namespace kernelskill::analysis
