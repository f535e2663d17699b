#include "skills/editing/replaced_statement.h"

#include "analysis/queries/source_layout.h"
#include "analysis/syntax/lexer.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

bool hasOwnPlace(const SkillContext& context, StmtId statement) {
    const FunctionBody& body = context.kernel.body;
    const SourceLayout layout(*context.file.source, context.kernel);
    const Stmt& stmt = body.stmt(statement);
    if (stmt.parent == noId || !layout.endsLine(stmt.span.end))
        return false;
    const Stmt& parent = body.stmt(stmt.parent);
    if (parent.kind == StmtKind::Compound)
        return layout.startsLine(stmt.span.begin);
    return (parent.kind == StmtKind::If && parent.children.size() == 1) ||
           parent.kind == StmtKind::For || parent.kind == StmtKind::While;
}

std::vector<TextEdit> inPlaceOf(const SkillContext& context, StmtId statement,
                                const std::vector<std::string>& lines, const EditedPlace& place) {
    const FunctionBody& body = context.kernel.body;
    const SourceText& source = *context.file.source;
    const SourceLayout layout(source, context.kernel);
    const Stmt& stmt = body.stmt(statement);
    const Stmt& parent = body.stmt(stmt.parent);
    const bool isInBlock = parent.kind == StmtKind::Compound;
    const std::string outer = layout.indentation(parent.span.begin);
    const std::string indentation =
        isInBlock ? layout.indentation(stmt.span.begin) : outer + layout.unit();
    std::string written;
    for (const std::string& line : lines)
        written += (written.empty() ? "" : layout.newline() + place.moved + indentation) + line;
    if (isInBlock || place.isBlock)
        return {{stmt.span, std::move(written)}};
    written += layout.newline() + place.moved + outer + "}";
    // Comments may stand between the head and the statement.
    const std::vector<Token> head = lex(source.text(), {parent.span.begin, stmt.span.begin});
    const std::uint32_t end = head.back().span.end;
    const bool isOnLineOfHead = layout.lineBegin(end) == layout.lineBegin(stmt.span.begin);
    if (isOnLineOfHead)
        written.insert(0, layout.newline() + place.moved + indentation);
    std::uint32_t begin = stmt.span.begin;
    while (isOnLineOfHead && begin > end &&
           std::string_view(" \t").contains(source.text()[begin - 1]))
        --begin;
    if (begin == end)
        return {{{end, stmt.span.end}, " {" + std::move(written)}};
    return {{{end, end}, " {"}, {{begin, stmt.span.end}, std::move(written)}};
}

} // namespace kernelskill::skills
