#include "skills/rewriting/counted_loop.h"

#include "skills/rewriting/gates.h"
#include "skills/rewriting/index_arithmetic.h"
#include "skills/rewriting/source_layout.h"

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

/// `make_float4` and its kin.
bool makesVector(std::string_view name) {
    constexpr std::string_view prefix = "make_";
    constexpr std::array<std::string_view, 12> elements = {
        "char", "uchar", "short", "ushort",   "int",       "uint",
        "long", "ulong", "float", "longlong", "ulonglong", "double"};
    if (!name.starts_with(prefix) || name.back() < '1' || name.back() > '4')
        return false;
    name.remove_prefix(prefix.size());
    name.remove_suffix(1);
    return std::ranges::find(elements, name) != elements.end();
}

} // namespace

std::expected<CountedLoop, Refusal> readCountedLoop(const SkillContext& context,
                                                    const CodeMap& code, std::uint32_t index) {
    const FunctionBody& body = code.body();
    const Loop& loop = context.kernel.loops.at(index);
    const Stmt& stmt = body.stmt(loop.statement);
    const auto no = [&](std::string_view why) {
        return refuse("not-counted-up", fmt::format("the loop on line {} {}",
                                                    lineNumber(context, stmt.span.begin), why));
    };
    if (loop.kind != LoopKind::For || loop.inductionVariable == noId || stmt.init == noId ||
        stmt.condition == noId || stmt.increment == noId || stmt.fromMacro ||
        !isWrittenAs(context, stmt.span, {"for"}))
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
            return no("changes its index, or names it in a macro");
    return counted;
}

bool isFixed(const CodeMap& code, const Loop& loop, ExprId expr) {
    const FunctionBody& body = code.body();
    return std::ranges::all_of(code.expressionsBelow(expr), [&](ExprId id) {
        const Expr& at = body.expr(id);
        switch (at.kind) {
        case ExprKind::Integer:
        case ExprKind::BuiltinIndex:
        case ExprKind::Cast:
            return !at.type.isVolatile;
        case ExprKind::Unary:
            return at.op == "-" || at.op == "~";
        case ExprKind::Binary:
            return !isAssignment(at.op);
        case ExprKind::Variable:
            return at.variable != noId && !body.variable(at.variable).type.isVolatile &&
                   std::ranges::none_of(code.uses(at.variable), [&](ExprId use) {
                       return code.holds(loop.body, use) && code.isWrite(use);
                   });
        default:
            return false;
        }
    });
}

bool isFixedOutside(const CodeMap& code, const Loop& loop, ExprId expr) {
    return isFixed(code, loop, expr) &&
           std::ranges::none_of(code.expressionsBelow(expr), [&](ExprId id) {
               const Expr& at = code.body().expr(id);
               if (at.kind != ExprKind::Variable || at.variable == noId)
                   return false;
               const StmtId declaration = code.declarationOf(at.variable);
               return declaration != noId && code.encloses(loop.body, declaration);
           });
}

bool hasNoEffect(const CodeMap& code, ExprId expr) {
    return std::ranges::none_of(code.expressionsBelow(expr), [&](ExprId id) {
        const Expr& at = code.body().expr(id);
        return at.kind == ExprKind::Call || at.kind == ExprKind::Other || at.type.isVolatile ||
               (at.kind == ExprKind::Binary && isAssignment(at.op)) ||
               (at.kind == ExprKind::Unary && (at.op.contains("++") || at.op.contains("--")));
    });
}

std::expected<void, Refusal> requireStartWithoutEffect(const SkillContext& context,
                                                       const CodeMap& code,
                                                       const CountedLoop& counted) {
    if (hasNoEffect(code, counted.start))
        return {};
    const Span start = code.body().expr(counted.start).span;
    return refuse("start-has-effect",
                  fmt::format("{} on line {} cannot be evaluated twice",
                              context.file.source->slice(start), lineNumber(context, start.begin)));
}

std::expected<void, Refusal> requireOwnLines(const SkillContext& context, const CodeMap& code,
                                             const Loop& loop) {
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

bool isKnownCall(const SkillContext& context, const Expr& call) {
    const KernelModel& kernel = context.kernel;
    if (call.isMethod)
        return false;
    const auto is = [&](const auto& list) {
        return std::ranges::any_of(
            list, [&](const auto& entry) { return &kernel.body.expr(entry.call) == &call; });
    };
    if (is(kernel.mathCalls) || is(kernel.atomics) || call.name.starts_with("__ldg") ||
        makesVector(call.name))
        return true;
    const auto callee =
        std::ranges::find(context.file.deviceFunctions, call.name, &KernelModel::name);
    return callee != context.file.deviceFunctions.end() && callee->barriers.empty() &&
           callee->warpOperations.empty() && callee->atomics.empty() && callee->calls.empty() &&
           std::ranges::none_of(callee->parameters,
                                [](const Parameter& parameter) {
                                    return parameter.isWritten || parameter.escapes;
                                }) &&
           std::ranges::all_of(callee->accesses, [](const MemoryAccess& access) {
               return access.kind == AccessKind::Read;
           });
}

std::string valueSpelling(const Type& type) {
    std::string text = type.spelling;
    for (const std::string_view word : {"const ", "volatile "})
        if (text.starts_with(word))
            text.erase(0, word.size());
    if (text.ends_with(" const"))
        text.resize(text.size() - 6);
    return text;
}

} // namespace kernelskill::skills
