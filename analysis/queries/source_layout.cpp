#include "analysis/queries/source_layout.h"

#include "analysis/syntax/lexer.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

constexpr std::string_view blanks = " \t";

std::string findUnit(const SourceText& source, const KernelModel& kernel) {
    if (kernel.body.root == noId)
        return "    ";
    const std::string_view outer = source.indentationAt(kernel.span.begin);
    for (const StmtId child : kernel.body.stmt(kernel.body.root).children) {
        const std::string_view inner = source.indentationAt(kernel.body.stmt(child).span.begin);
        if (inner.size() > outer.size() && inner.starts_with(outer))
            return std::string(inner.substr(outer.size()));
    }
    return "    ";
}

} // namespace

SourceLayout::SourceLayout(const SourceText& source, const KernelModel& kernel)
    : source_(source), newline_(source.text().contains("\r\n") ? "\r\n" : "\n"),
      unit_(findUnit(source, kernel)) {}

std::string SourceLayout::indentation(std::uint32_t offset) const {
    return std::string(source_.indentationAt(offset));
}

std::uint32_t SourceLayout::lineBegin(std::uint32_t offset) const {
    return source_.lineSpan(source_.lineColumn(offset).line).begin;
}

std::uint32_t SourceLayout::lineAfter(std::uint32_t offset) const {
    return source_.lineSpan(source_.lineColumn(offset).line + 1).begin;
}

bool SourceLayout::startsLine(std::uint32_t offset) const {
    return source_.slice({lineBegin(offset), offset}).find_first_not_of(blanks) ==
           std::string_view::npos;
}

bool SourceLayout::endsLine(std::uint32_t offset) const {
    return skipTrivia(source_.text(), offset) >= lineEnd(offset);
}

std::uint32_t SourceLayout::endOfLineTrivia(std::uint32_t offset) const {
    return endsLine(offset) ? lineEnd(offset) : offset;
}

std::uint32_t SourceLayout::lineEnd(std::uint32_t offset) const {
    return lineBegin(offset) +
           static_cast<std::uint32_t>(source_.line(source_.lineColumn(offset).line).size());
}

Span SourceLayout::statementWithLine(Span statement) const {
    const std::string& text = source_.text();
    const auto after = text.find_first_not_of(blanks, statement.end);
    if (after == std::string::npos)
        return statement;
    const bool endsLine = text[after] == '\n' || text[after] == '\r';
    if (startsLine(statement.begin) && endsLine)
        return {lineBegin(statement.begin), static_cast<std::uint32_t>(text.find('\n', after) + 1)};
    if (!endsLine)
        return {statement.begin, static_cast<std::uint32_t>(after)};
    return statement;
}

std::vector<TextEdit> SourceLayout::indented(Span span) const {
    std::vector<TextEdit> edits;
    const std::uint32_t last = source_.lineColumn(span.end).line;
    for (std::uint32_t line = source_.lineColumn(span.begin).line + 1; line <= last; ++line) {
        const std::string_view text = source_.line(line);
        const auto first = text.find_first_not_of(blanks);
        const std::uint32_t begin = source_.lineSpan(line).begin;
        if (first != std::string_view::npos && text[first] != '#' && begin < span.end)
            edits.push_back({{begin, begin}, unit_});
    }
    return edits;
}

std::vector<std::string> commentsIn(const SourceText& source, Span span) {
    std::vector<std::string> comments;
    const auto collect = [&](Span gap) {
        std::string_view text = source.slice(gap);
        while (true) {
            const auto line = text.find("//");
            const auto block = text.find("/*");
            const auto at = std::min(line, block);
            if (at == std::string_view::npos)
                return;
            auto end = line < block ? text.find('\n', at) : text.find("*/", at);
            if (end != std::string_view::npos && line >= block)
                end += 2;
            std::string_view comment =
                text.substr(at, end == std::string_view::npos ? end : end - at);
            if (comment.ends_with('\r'))
                comment.remove_suffix(1);
            comments.emplace_back(comment);
            if (end == std::string_view::npos)
                return;
            text.remove_prefix(end);
        }
    };
    std::uint32_t done = span.begin;
    for (const Token& token : lex(source.text(), span)) {
        collect({done, token.span.begin});
        done = token.span.end;
    }
    collect({done, span.end});
    return comments;
}

} // namespace kernelskill::analysis
