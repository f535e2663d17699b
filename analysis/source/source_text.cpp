#include "analysis/source/source_text.h"

#include <algorithm>

namespace kernelskill::analysis {

SourceText::SourceText(std::string text) : text_(std::move(text)) {
    lineStarts_.push_back(0);
    for (std::uint32_t i = 0; i < text_.size(); ++i) {
        const bool crlf = text_[i] == '\r' && i + 1 < text_.size() && text_[i + 1] == '\n';
        if (text_[i] == '\n' || (text_[i] == '\r' && !crlf))
            lineStarts_.push_back(i + 1);
    }
}

std::string_view SourceText::slice(Span span) const {
    const auto begin = std::min(span.begin, size());
    const auto end = std::clamp(span.end, begin, size());
    return std::string_view(text_).substr(begin, end - begin);
}

LineColumn SourceText::lineColumn(std::uint32_t offset) const {
    offset = std::min(offset, size());
    const auto next = std::ranges::upper_bound(lineStarts_, offset);
    const auto line = static_cast<std::uint32_t>(next - lineStarts_.begin()) - 1;
    return {line, offset - lineStarts_[line]};
}

std::uint32_t SourceText::offset(LineColumn place) const {
    if (place.line >= lineCount())
        return size();
    const Span span = lineSpan(place.line);
    return std::min(span.begin + std::min(place.column, size()), span.end);
}

std::string_view SourceText::line(std::uint32_t line) const {
    return slice(lineSpan(line));
}

Span SourceText::lineSpan(std::uint32_t line) const {
    if (line >= lineCount())
        return {size(), size()};
    const std::uint32_t begin = lineStarts_[line];
    std::uint32_t end = line + 1 < lineCount() ? lineStarts_[line + 1] : size();
    while (end > begin && (text_[end - 1] == '\n' || text_[end - 1] == '\r'))
        --end;
    return {begin, end};
}

std::string_view SourceText::indentationAt(std::uint32_t offset) const {
    const std::string_view text = line(lineColumn(offset).line);
    const auto end = text.find_first_not_of(" \t");
    return text.substr(0, end == std::string_view::npos ? text.size() : end);
}

} // namespace kernelskill::analysis
