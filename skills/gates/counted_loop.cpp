#include "skills/gates/counted_loop.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/source_words.h"
#include "analysis/syntax/statement_kinds.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
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

/// The index's start value, noId if it keeps the value that it has; nullopt if the head does
/// something else.
std::optional<ExprId> startOf(const CodeMap& code, const Stmt& stmt, AdvancingLoop& advancing) {
    const FunctionBody& body = code.body();
    if (stmt.init == noId || body.stmt(stmt.init).kind == StmtKind::Null)
        return noId;
    const Stmt& init = body.stmt(stmt.init);
    if (init.kind == StmtKind::Declaration) {
        advancing.declaresIndex = true;
        const ExprId start = body.variable(advancing.index).init;
        return init.declared.size() == 1 && init.declared[0] == advancing.index && start != noId
                   ? std::optional(start)
                   : std::nullopt;
    }
    if (init.kind != StmtKind::Expression || init.expr == noId)
        return std::nullopt;
    const Expr& set = body.expr(init.expr);
    return set.kind == ExprKind::Binary && set.op == "=" &&
                   code.namedVariable(set.children[0]) == advancing.index
               ? std::optional(set.children[1])
               : std::nullopt;
}

/// The last statement of the loop's block, or its only one, if it is an expression.
StmtId lastStatement(const FunctionBody& body, const Loop& loop) {
    const Stmt& block = body.stmt(loop.body);
    if (block.kind == StmtKind::Expression)
        return loop.body;
    if (block.kind != StmtKind::Compound || block.children.empty())
        return noId;
    const StmtId last = block.children.back();
    return body.stmt(last).kind == StmtKind::Expression ? last : noId;
}

} // namespace

bool setsAnew(const CodeMap& code, ExprId use) {
    const FunctionBody& body = code.body();
    const ExprId above = code.parent(use);
    return above != noId && body.expr(above).kind == ExprKind::Binary &&
           body.expr(above).op == "=" && body.expr(above).children[0] == use &&
           !names(code, body.expr(above).children[1], body.expr(use).variable);
}

// The next use in the text is not one that sets the variable anew, or an outer loop comes back to
// an earlier one.
bool isAskedForLater(const CodeMap& code, StmtId loopId, VariableId index, bool isSetFirst) {
    const FunctionBody& body = code.body();
    const Stmt& loop = body.stmt(loopId);
    // A variable of an outer loop's round does not outlive the round.
    const StmtId declaration = code.declarationOf(index);
    StmtId outermost = noId;
    for (StmtId at = loop.parent; at != noId; at = body.stmt(at).parent)
        if (isLoop(body.stmt(at).kind) && (declaration == noId || !code.encloses(at, declaration)))
            outermost = at;
    for (const ExprId use : code.uses(index)) {
        const Span span = body.expr(use).span;
        if (loop.span.contains(span))
            continue;
        if (span.begin < loop.span.begin) {
            if (outermost != noId && code.holds(outermost, use))
                return true;
            continue;
        }
        // The first use behind the loop decides, if it comes before all others in any case.
        const bool isSet = setsAnew(code, use);
        const StmtId set = code.statement(use);
        StmtId holder = set == noId ? noId : body.stmt(set).parent;
        if (holder != noId && isLoop(body.stmt(holder).kind) && body.stmt(holder).init == set)
            holder = body.stmt(holder).parent;
        const bool isCertain = holder != noId && body.stmt(holder).span.contains(loop.span);
        return !isSet || !isCertain;
    }
    return !isSetFirst && outermost != noId;
}

Gated<AdvancingLoop> readCountingLoop(const SkillContext& context, const CodeMap& code,
                                      std::uint32_t index, ExprId bound,
                                      const CountingForms& forms) {
    const FunctionBody& body = code.body();
    const Loop& loop = context.kernel.loops.at(index);
    const Stmt& stmt = body.stmt(loop.statement);
    const auto no = [&](std::string_view why) {
        return refuse("not-counted-up", fmt::format("the loop on line {} {}",
                                                    lineNumber(context, stmt.span.begin), why));
    };
    const bool isFor = loop.kind == LoopKind::For;
    const std::string_view keyword = isFor ? "for" : "while";
    if ((!isFor && loop.kind != LoopKind::While) || stmt.condition == noId || stmt.fromMacro ||
        !isWrittenAs(*context.file.source, stmt.span, {keyword}))
        return no("is not a counted for loop");
    if (stmt.parent == noId ||
        (forms.place == LoopPlace::InBlock && body.stmt(stmt.parent).kind != StmtKind::Compound))
        return no("is the only statement of another one");
    const Expr& condition = body.expr(bound == noId ? stmt.condition : bound);
    AdvancingLoop advancing;
    advancing.counted.loop = index;
    advancing.index = condition.kind == ExprKind::Binary && condition.op == "<"
                          ? code.namedVariable(condition.children[0])
                          : noId;
    if (advancing.index == noId || body.expr(condition.children[0]).kind == ExprKind::Cast ||
        !isIndexType(body.expr(condition.children[1]).type))
        return no("does not run while its index is below a limit");
    const Variable& variable = body.variable(advancing.index);
    const auto start = startOf(code, stmt, advancing);
    if (!start || !isIndexType(variable.type) || variable.type.isReference ||
        (variable.storage != Storage::Local && variable.storage != Storage::Parameter))
        return no("does not give one index of an integral type its start");
    advancing.counted.start = *start;
    advancing.counted.limit = condition.children[1];
    if (!isFor)
        advancing.advance = lastStatement(body, loop);
    const ExprId advance = isFor                       ? stmt.increment
                           : advancing.advance != noId ? body.stmt(advancing.advance).expr
                                                       : noId;
    if (advance == noId || body.expr(advance).fromMacro)
        return no("does not advance by an amount of its own");
    const Expr& increment = body.expr(advance);
    if (increment.kind == ExprKind::Binary && increment.op == "+=" &&
        code.namedVariable(increment.children[0]) == advancing.index)
        advancing.counted.step = increment.children[1];
    else if (increment.kind != ExprKind::Unary || !increment.op.contains("++") ||
             code.namedVariable(increment.children[0]) != advancing.index)
        return no("does not advance by an amount of its own");
    for (const ExprId part : {advancing.counted.limit, advancing.counted.step})
        if (part != noId && (!isFixed(code, loop, part, advancing.advance, forms.memory) ||
                             names(code, part, advancing.index)))
            return no("has a limit or a step that may change while it runs");
    for (const ExprId use : code.uses(advancing.index)) {
        const bool isOwn = advancing.advance != noId && code.holds(advancing.advance, use);
        if (!isOwn && code.holds(loop.body, use) && (code.isWrite(use) || body.expr(use).fromMacro))
            return no(code.isWrite(use) ? "changes its index" : "names its index in a macro");
    }
    advancing.isAskedLater =
        !advancing.declaresIndex &&
        isAskedForLater(code, loop.statement, advancing.index,
                        stmt.init != noId && body.stmt(stmt.init).kind != StmtKind::Null);
    return advancing;
}

Gated<AdvancingLoop> readAdvancingLoop(const SkillContext& context, const CodeMap& code,
                                       std::uint32_t index, const CountingForms& forms) {
    auto advancing = readCountingLoop(context, code, index, noId, forms);
    if (!advancing || !advancing->isAskedLater)
        return advancing;
    const FunctionBody& body = code.body();
    return refuse(
        "index-used-later",
        fmt::format(
            "{} may be used behind the loop on line {}", body.variable(advancing->index).name,
            lineNumber(context, body.stmt(context.kernel.loops.at(index).statement).span.begin)));
}

Gated<CountedLoop> readCountedLoop(const SkillContext& context, const CodeMap& code,
                                   std::uint32_t index) {
    const Loop& loop = context.kernel.loops.at(index);
    const std::uint32_t line = lineNumber(context, code.body().stmt(loop.statement).span.begin);
    if (loop.kind != LoopKind::For)
        return refuse("not-counted-up",
                      fmt::format("the loop on line {} is not a counted for loop", line));
    auto advancing = readCountingLoop(context, code, index);
    if (!advancing)
        return std::unexpected(advancing.error());
    if (!advancing->declaresIndex || advancing->index != loop.inductionVariable)
        return refuse("not-counted-up",
                      fmt::format("the loop on line {} does not declare one index of an integral "
                                  "type",
                                  line));
    return advancing->counted;
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
