#include "engine/generate/copied_text.h"

#include "analysis/syntax/lexer.h"
#include "skills/editing/code_lines.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;
using skills::CodeLines;

void CopiedText::add(CodeLines& lines, Span span, std::vector<TextEdit> parts) const {
    for (const Token& token : lex(source_.text(), span))
        if (token.kind == TokenKind::Directive && !token.text.contains("unroll"))
            parts.push_back({layout_.statementWithLine(token.span), ""});
    const auto blank = [&](std::uint32_t offset) {
        return std::string_view(" \t\r\n").contains(source_.text()[offset]);
    };
    while (span.begin < span.end && blank(span.begin))
        ++span.begin;
    while (span.begin < span.end && blank(span.end - 1))
        --span.end;
    // Removing a pragma also removes the blanks before it.
    for (TextEdit& part : parts)
        part.span.begin = std::max(part.span.begin, span.begin);
    std::erase_if(parts, [&](const TextEdit& part) { return part.span.begin >= span.end; });
    if (span.begin < span.end)
        lines.addBlock(skills::rewritten(source_, span, std::move(parts)), minIndentation(span));
}

void CopiedText::addComments(CodeLines& lines, Span span) const {
    for (const std::string& comment : analysis::commentsIn(source_, span))
        lines.add(comment);
}

Span CopiedText::gapBefore(StmtId statement) const {
    const FunctionBody& body = function_.body;
    std::uint32_t begin = function_.bodySpan.begin + 1;
    for (const StmtId other : body.stmt(body.root).children) {
        if (other == statement)
            break;
        begin = layout_.endOfLineTrivia(body.stmt(other).span.end);
    }
    const std::uint32_t end = body.stmt(statement).span.begin;
    return {std::min(begin, end), end};
}

Span CopiedText::withComments(StmtId statement) const {
    return {gapBefore(statement).begin,
            layout_.endOfLineTrivia(function_.body.stmt(statement).span.end)};
}

/// The smallest indentation among the lines of `span`.
std::string CopiedText::minIndentation(Span span) const {
    std::optional<std::string> least;
    const std::uint32_t first = source_.lineColumn(span.begin).line;
    for (std::uint32_t line = first; line <= source_.lineColumn(span.end).line; ++line) {
        const Span whole = source_.lineSpan(line);
        const std::string_view text = source_.line(line);
        const bool isBlank = text.find_first_not_of(" \t\r") == std::string_view::npos;
        if (isBlank || (line == first && !layout_.startsLine(span.begin)))
            continue;
        std::string own = layout_.indentation(whole.begin);
        if (!least || own.size() < least->size())
            least = std::move(own);
    }
    return least.value_or("");
}

} // namespace kernelskill::engine
