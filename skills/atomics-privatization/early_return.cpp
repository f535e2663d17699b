#include "skills/atomics-privatization/early_return.h"

#include "analysis/queries/source_layout.h"
#include "analysis/queries/source_words.h"
#include "skills/base/gates.h"
#include "skills/editing/condition_text.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

Gated<std::optional<EarlyReturn>> findEarlyReturn(const SkillContext& context,
                                                  const CodeMap& code) {
    const FunctionBody& body = code.body();
    const auto lineOf = [&](const Stmt& stmt) { return lineNumber(context, stmt.span.begin); };
    StmtId exit = noId;
    for (const StmtId id : code.statementsIn(body.root)) {
        const Stmt& stmt = body.stmt(id);
        if (stmt.kind == StmtKind::Goto || stmt.kind == StmtKind::Asm ||
            stmt.kind == StmtKind::Other)
            return refuse("early-exit",
                          fmt::format("where line {} goes on is not known", lineOf(stmt)));
        if (stmt.kind != StmtKind::Return)
            continue;
        if (exit != noId)
            return refuse("early-exit",
                          fmt::format("threads leave the kernel on line {} and on line {}",
                                      lineOf(body.stmt(exit)), lineOf(stmt)));
        exit = id;
    }
    if (exit == noId)
        return std::optional<EarlyReturn>{};
    StmtId guard = body.stmt(exit).parent;
    if (guard != noId && body.stmt(guard).kind == StmtKind::Compound && guard != body.root &&
        body.stmt(guard).children.size() == 1)
        guard = body.stmt(guard).parent;
    const auto isGuard = [&] {
        if (guard == noId || guard == body.root)
            return false;
        const Stmt& stmt = body.stmt(guard);
        return stmt.kind == StmtKind::If && stmt.children.size() == 1 && !stmt.fromMacro &&
               stmt.parent == body.root && stmt.init == noId && stmt.declared.empty() &&
               stmt.condition != noId && isWrittenAs(*context.file.source, stmt.span, {"if"});
    };
    if (!isGuard())
        return refuse("early-exit",
                      fmt::format("threads leave the kernel on line {}", lineOf(body.stmt(exit))));
    if (!context.kernel.barriers.empty() || !context.kernel.warpOperations.empty())
        return refuse("early-exit", fmt::format("threads that leave on line {} are missing at what "
                                                "the others wait for",
                                                lineOf(body.stmt(exit))));
    const SourceLayout layout(*context.file.source, context.kernel);
    const Stmt& stmt = body.stmt(guard);
    if (!layout.startsLine(stmt.span.begin) || !layout.endsLine(stmt.span.end) ||
        !layout.startsLine(context.kernel.bodySpan.end - 1))
        return refuse("several-statements-a-line",
                      fmt::format("line {} holds more than the bounds check", lineOf(stmt)));
    return EarlyReturn{guard, negated(context, code, stmt.condition)};
}

std::vector<TextEdit> guardedBlock(const SkillContext& context, const CodeMap& code,
                                   const EarlyReturn& found) {
    const SourceLayout layout(*context.file.source, context.kernel);
    const Span guard = code.body().stmt(found.guard).span;
    const std::uint32_t close = layout.lineBegin(context.kernel.bodySpan.end - 1);
    std::vector<TextEdit> edits{{guard, fmt::format("if ({}) {{", found.condition)}};
    const std::vector<TextEdit> indented = layout.indented({guard.end, close});
    edits.insert(edits.end(), indented.begin(), indented.end());
    edits.push_back({{close, close}, layout.indentation(guard.begin) + "}" + layout.newline()});
    return edits;
}

} // namespace kernelskill::skills
