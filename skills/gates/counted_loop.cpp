#include "skills/gates/counted_loop.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/source_words.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool names(const CodeMap& code, ExprId expr, VariableId variable) {
    return std::ranges::any_of(code.expressionsBelow(expr), [&](ExprId id) {
        return code.body().expr(id).kind == ExprKind::Variable &&
               code.body().expr(id).variable == variable;
    });
}

} // namespace

Gated<CountedLoop> readCountedLoop(const SkillContext& context, const CodeMap& code,
                                   std::uint32_t index) {
    const FunctionBody& body = code.body();
    const Loop& loop = context.kernel.loops.at(index);
    const Stmt& stmt = body.stmt(loop.statement);
    const auto no = [&](std::string_view why) {
        return refuse("not-counted-up", fmt::format("the loop on line {} {}",
                                                    lineNumber(context, stmt.span.begin), why));
    };
    if (loop.kind != LoopKind::For || loop.inductionVariable == noId || stmt.init == noId ||
        stmt.condition == noId || stmt.increment == noId || stmt.fromMacro ||
        !isWrittenAs(*context.file.source, stmt.span, {"for"}))
        return no("is not a counted for loop");
    if (stmt.parent == noId || body.stmt(stmt.parent).kind != StmtKind::Compound)
        return no("is the only statement of another one");
    const Variable& variable = body.variable(loop.inductionVariable);
    const Stmt& init = body.stmt(stmt.init);
    if (init.kind != StmtKind::Declaration || init.declared.size() != 1 ||
        init.declared[0] != loop.inductionVariable || variable.init == noId ||
        !isIndexType(variable.type))
        return no("does not declare one index of an integral type");
    const Expr& condition = body.expr(stmt.condition);
    if (condition.kind != ExprKind::Binary || condition.op != "<" ||
        code.namedVariable(condition.children[0]) != loop.inductionVariable ||
        body.expr(condition.children[0]).kind == ExprKind::Cast ||
        !isIndexType(body.expr(condition.children[1]).type))
        return no("does not run while its index is below a limit");
    CountedLoop counted{index, variable.init, condition.children[1], noId};
    const Expr& increment = body.expr(stmt.increment);
    if (increment.kind == ExprKind::Binary && increment.op == "+=" &&
        code.namedVariable(increment.children[0]) == loop.inductionVariable)
        counted.step = increment.children[1];
    else if (increment.kind != ExprKind::Unary || !increment.op.contains("++"))
        return no("does not advance by an amount of its own");
    for (const ExprId part : {counted.limit, counted.step})
        if (part != noId &&
            (!isFixed(code, loop, part) || names(code, part, loop.inductionVariable)))
            return no("has a limit or a step that may change while it runs");
    for (const ExprId use : code.uses(loop.inductionVariable))
        if (code.holds(loop.body, use) && (code.isWrite(use) || body.expr(use).fromMacro))
            return no(code.isWrite(use) ? "changes its index" : "names its index in a macro");
    return counted;
}

Gated<void> requireStartWithoutEffect(const SkillContext& context, const CodeMap& code,
                                      const CountedLoop& counted) {
    if (hasNoEffect(code, counted.start))
        return {};
    const Span start = code.body().expr(counted.start).span;
    return refuse("start-has-effect",
                  fmt::format("{} on line {} cannot be evaluated twice",
                              context.file.source->slice(start), lineNumber(context, start.begin)));
}

Gated<void> requireOwnLines(const SkillContext& context, const CodeMap& code, const Loop& loop) {
    const SourceLayout layout(*context.file.source, context.kernel);
    const Stmt& stmt = code.body().stmt(loop.statement);
    const Stmt& body = code.body().stmt(loop.body);
    const bool isBlock = body.kind == StmtKind::Compound;
    const bool fits =
        layout.startsLine(stmt.span.begin) && layout.endsLine(stmt.span.end) &&
        (isBlock ? layout.endsLine(body.span.begin + 1) && layout.startsLine(body.span.end - 1)
                 : layout.startsLine(body.span.begin));
    if (fits && !body.fromMacro)
        return {};
    return refuse("several-statements-a-line",
                  fmt::format("the loop on line {} shares lines with its statements",
                              lineNumber(context, stmt.span.begin)));
}

} // namespace kernelskill::skills
