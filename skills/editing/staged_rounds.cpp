#include "skills/editing/staged_rounds.h"

#include "analysis/queries/value_spelling.h"
#include "skills/editing/code_lines.h"
#include "skills/editing/operand_text.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

StagedRounds::StagedRounds(const SkillContext& context, const CodeMap& code,
                           const StagedLoop& staged)
    : code_(code), body_(code.body()), source_(*context.file.source),
      layout_(source_, context.kernel), staged_(staged),
      loop_(context.kernel.loops[staged.counted.loop]), stmt_(body_.stmt(loop_.statement)) {}

std::uint32_t StagedRounds::begin() const {
    const Span head = stmt_.pragma.empty() ? stmt_.span : stmt_.pragmaSpan;
    return layout_.lineBegin(head.begin);
}

CodeLines StagedRounds::linesAhead() const {
    return {layout_, layout_.indentation(stmt_.span.begin)};
}

CodeLines StagedRounds::linesInside() const {
    return {layout_, layout_.indentation(body_.stmt(staged_.barrier).span.begin)};
}

std::string StagedRounds::openFirst(CodeLines& lines) const {
    const Expr& start = body_.expr(staged_.counted.start);
    const bool isSure = loop_.tripCount && *loop_.tripCount > 0;
    lines.open(isSure ? "{"
                      : fmt::format("if ({} < {}) {{", besideComparison(source_, start), limit()));
    lines.add(
        fmt::format("const {} {} = {};", indexType(), index().name, source_.slice(start.span)));
    return index().name;
}

std::string StagedRounds::openNext(CodeLines& lines) const {
    const std::string next = freshName(body_, "next");
    lines.add(fmt::format("const {} {} = {} + {};", indexType(), next, index().name, step()));
    lines.open(fmt::format("if ({} < {}) {{", next, limit()));
    return next;
}

void StagedRounds::addDeclarations(CodeLines& lines, const std::string& round,
                                   bool withComments) const {
    for (const StmtId declaration : staged_.declarations) {
        Span span = body_.stmt(declaration).span;
        const std::string indentation = layout_.indentation(span.begin);
        if (withComments)
            span.end = layout_.endOfLineTrivia(span.end);
        lines.addBlock(inRound(span, round), indentation);
    }
}

std::string StagedRounds::inRound(Span span, const std::string& round,
                                  std::vector<TextEdit> parts) const {
    for (const ExprId use : code_.uses(loop_.inductionVariable))
        if (const Span at = body_.expr(use).span; span.contains(at))
            parts.push_back({at, round});
    return rewritten(source_, span, std::move(parts));
}

std::vector<TextEdit> StagedRounds::withoutDeclarations() const {
    std::vector<TextEdit> edits;
    for (const StmtId declaration : staged_.declarations)
        if (!isNeededElsewhere(declaration))
            edits.push_back({lineOf(declaration), ""});
    return edits;
}

bool StagedRounds::isNeededElsewhere(StmtId declaration) const {
    return std::ranges::any_of(body_.stmt(declaration).declared, [&](VariableId variable) {
        return std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
            const Span at = body_.expr(use).span;
            const bool isInValue =
                std::ranges::any_of(staged_.elements, [&](const StagedElement& element) {
                    return body_.expr(element.value).span.contains(at);
                });
            const StmtId holder = code_.statement(use);
            const bool isInMoved =
                std::ranges::find(staged_.declarations, holder) != staged_.declarations.end() &&
                (holder == declaration || !isNeededElsewhere(holder));
            return !isInValue && !isInMoved;
        });
    });
}

Span StagedRounds::lineOf(StmtId statement) const {
    const Span span = body_.stmt(statement).span;
    return layout_.statementWithLine({span.begin, layout_.endOfLineTrivia(span.end)});
}

const Variable& StagedRounds::index() const {
    return body_.variable(loop_.inductionVariable);
}

std::string StagedRounds::indexType() const {
    return valueSpelling(index().type);
}

std::string StagedRounds::step() const {
    const ExprId step = staged_.counted.step;
    return step == noId ? "1" : besideComparison(source_, body_.expr(step));
}

std::string StagedRounds::limit() const {
    return besideComparison(source_, body_.expr(staged_.counted.limit));
}

} // namespace kernelskill::skills
