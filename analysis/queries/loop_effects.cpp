#include "analysis/queries/loop_effects.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelskill::analysis {

namespace {

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

bool leavesRound(const CodeMap& code, StmtId stmt) {
    return std::ranges::any_of(code.statementsIn(stmt), [&](StmtId id) {
        const StmtKind kind = code.body().stmt(id).kind;
        return kind == StmtKind::Continue || kind == StmtKind::Break || kind == StmtKind::Return;
    });
}

} // namespace

bool isReadOnlyPointer(const CodeMap& code, ExprId expr) {
    const VariableId variable = code.namedVariable(expr);
    if (variable == noId)
        return false;
    const Variable& pointer = code.body().variable(variable);
    return pointer.storage == Storage::Parameter && pointer.type.isRestrict &&
           pointer.type.pointeeConst && !code.isEverWritten(variable);
}

bool isFixed(const CodeMap& code, const Loop& loop, ExprId expr, StmtId advance,
             FixedMemory memory) {
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
                       return code.holds(loop.body, use) && code.isWrite(use) &&
                              (advance == noId || !code.holds(advance, use));
                   });
        case ExprKind::Member:
            return memory == FixedMemory::ReadOnly && !at.isArrow && !at.type.isVolatile;
        case ExprKind::Subscript:
            return memory == FixedMemory::ReadOnly && !at.type.isVolatile &&
                   isReadOnlyPointer(code, at.children[0]);
        default:
            return false;
        }
    });
}

bool isFixedOutside(const CodeMap& code, const Loop& loop, ExprId expr, StmtId advance) {
    return isFixed(code, loop, expr, advance) &&
           std::ranges::none_of(code.expressionsBelow(expr), [&](ExprId id) {
               const Expr& at = code.body().expr(id);
               if (at.kind != ExprKind::Variable || at.variable == noId)
                   return false;
               const StmtId declaration = code.declarationOf(at.variable);
               return declaration != noId && code.encloses(loop.body, declaration);
           });
}

bool isInEveryRound(const CodeMap& code, const Loop& loop, ExprId expr) {
    const FunctionBody& body = code.body();
    for (ExprId at = expr; code.parent(at) != noId; at = code.parent(at))
        if (code.mayBeSkipped(at) || body.expr(code.parent(at)).kind == ExprKind::Other)
            return false;
    for (StmtId at = code.statement(expr); at != noId && at != loop.body;
         at = body.stmt(at).parent) {
        const StmtId parent = body.stmt(at).parent;
        if (parent != noId && body.stmt(parent).kind == StmtKind::If && parent != loop.statement)
            return false;
        // A `continue` or an exit in front of the statement skips it.
        if (parent != noId)
            for (const StmtId sibling : body.stmt(parent).children)
                if (body.stmt(sibling).span.end <= body.stmt(at).span.begin &&
                    code.encloses(loop.body, sibling) && leavesRound(code, sibling))
                    return false;
    }
    return true;
}

bool hasNoEffect(const CodeMap& code, ExprId expr) {
    return std::ranges::none_of(code.expressionsBelow(expr), [&](ExprId id) {
        const Expr& at = code.body().expr(id);
        return at.kind == ExprKind::Call || at.kind == ExprKind::Other || at.type.isVolatile ||
               (at.kind == ExprKind::Binary && isAssignment(at.op)) ||
               (at.kind == ExprKind::Unary && (at.op.contains("++") || at.op.contains("--")));
    });
}

bool isKnownCall(const FileModel& file, const KernelModel& kernel, const Expr& call) {
    if (call.isMethod)
        return false;
    const auto is = [&](const auto& list) {
        return std::ranges::any_of(
            list, [&](const auto& entry) { return &kernel.body.expr(entry.call) == &call; });
    };
    if (is(kernel.mathCalls) || is(kernel.atomics) || call.name.starts_with("__ldg") ||
        makesVector(call.name))
        return true;
    const auto callee = std::ranges::find(file.deviceFunctions, call.name, &KernelModel::name);
    return callee != file.deviceFunctions.end() && callee->barriers.empty() &&
           callee->warpOperations.empty() && callee->atomics.empty() && callee->calls.empty() &&
           std::ranges::none_of(callee->parameters,
                                [](const Parameter& parameter) {
                                    return parameter.isWritten || parameter.escapes;
                                }) &&
           std::ranges::all_of(callee->accesses, [](const MemoryAccess& access) {
               return access.kind == AccessKind::Read;
           });
}

} // namespace kernelskill::analysis
