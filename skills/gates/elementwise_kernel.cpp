#include "skills/gates/elementwise_kernel.h"

#include "analysis/queries/grid_stride_loops.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/thread_position.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isBareReturn(const CodeMap& code, StmtId stmt) {
    const std::vector<StmtId> statements = code.statementsOf(stmt);
    return statements.size() == 1 && code.body().stmt(statements[0]).kind == StmtKind::Return &&
           code.body().stmt(statements[0]).expr == noId;
}

bool isInteger(ScalarKind kind) {
    return kind == ScalarKind::Int32 || kind == ScalarKind::UInt32 || kind == ScalarKind::Int64 ||
           kind == ScalarKind::UInt64;
}

/// Guard and form, before the work is looked at.
Gated<ElementwiseKernel> findGuard(const SkillContext& context, const CodeMap& code) {
    const FunctionBody& body = code.body();
    const std::vector<StmtId>& top = body.stmt(body.root).children;
    const auto guardAt =
        std::ranges::find_if(top, [&](StmtId id) { return body.stmt(id).kind == StmtKind::If; });
    if (guardAt == top.end())
        return refuse("no-bounds-guard",
                      fmt::format("{} has no `if (i < n)` around its work", context.kernel.name));
    const Stmt& guard = body.stmt(*guardAt);
    const std::uint32_t line = lineNumber(context, guard.span.begin);
    if (guard.fromMacro || !isWrittenAs(*context.file.source, guard.span, {"if"}) ||
        guard.condition == noId || guard.init != noId || !guard.declared.empty())
        return refuse("compound-guard",
                      fmt::format("the condition on line {} is not a plain bounds "
                                  "check",
                                  line));
    const auto check = boundsCheck(code, guard.condition);
    if (!check)
        return refuse("compound-guard",
                      fmt::format("the condition on line {} is not a plain bounds check", line));
    ElementwiseKernel found;
    found.index = check->variable;
    found.guard = *guardAt;
    found.limit = check->limit;
    const std::size_t position = static_cast<std::size_t>(guardAt - top.begin());
    if (guard.children.size() != 1)
        return refuse("compound-guard", fmt::format("the condition on line {} has an else", line));
    if (check->whenTrue) {
        found.form = ElementwiseForm::GuardedBlock;
        if (position + 1 != top.size())
            return refuse(
                "work-after-guard",
                fmt::format("line {} runs for every thread, after the bounds check",
                            lineNumber(context, body.stmt(top[position + 1]).span.begin)));
        found.work = code.statementsOf(guard.children[0]);
    } else {
        found.form = ElementwiseForm::EarlyReturn;
        if (!isBareReturn(code, guard.children[0]))
            return refuse("compound-guard", fmt::format("line {} does more than return", line));
        found.work.assign(guardAt + 1, top.end());
    }
    if (found.work.empty())
        return refuse("no-bounds-guard",
                      fmt::format("no work follows the bounds check on line {}", line));
    return found;
}

/// Whether the value numbers the threads of the grid without a gap.
bool numbersThreads(const SkillContext& context, const IndexExpression& value, FlatIndex allowed) {
    if (value == flatThreadIndex())
        return true;
    if (allowed == FlatIndex::Plain)
        return false;
    const IndexExpression thread = IndexExpression::symbol({SymbolKind::ThreadIdx, 0});
    const IndexExpression block = IndexExpression::symbol({SymbolKind::BlockIdx, 0});
    const IndexExpression blocksBefore = IndexExpression::symbol({SymbolKind::BlockIdx, 1}) *
                                         IndexExpression::symbol({SymbolKind::GridDim, 0});
    const auto isIn = [&](const IndexExpression& width) {
        return value == block * width + thread || value == (block + blocksBefore) * width + thread;
    };
    if (isIn(IndexExpression::symbol({SymbolKind::BlockDim, 0})))
        return true;
    const auto width = commonBlockExtent(context, 0);
    return width && isIn(IndexExpression::constant(*width));
}

} // namespace

Gated<void> requireIndependentWork(const SkillContext& context, const CodeMap& code,
                                   const std::vector<StmtId>& work, WorkPosition position) {
    const FunctionBody& body = code.body();
    const KernelModel& kernel = context.kernel;
    const auto inWork = [&](ExprId expr) {
        return std::ranges::any_of(work, [&](StmtId stmt) { return code.holds(stmt, expr); });
    };
    const auto lineOf = [&](ExprId expr) {
        return lineNumber(context, body.expr(expr).span.begin);
    };
    for (const Barrier& barrier : kernel.barriers)
        return refuse("barrier", fmt::format("the barrier on line {} ties the threads of a block "
                                             "together",
                                             lineOf(barrier.call)));
    for (const WarpOperation& operation : kernel.warpOperations)
        return refuse("warp-operation", fmt::format("the warp operation on line {} needs all its "
                                                    "lanes",
                                                    lineOf(operation.call)));
    if (!kernel.sharedArrays.empty())
        return refuse("shared-memory", fmt::format("{} uses shared memory, so its threads are not "
                                                   "independent",
                                                   kernel.name));
    for (const StmtId top : work) {
        for (const StmtId id : code.statementsIn(top)) {
            const Stmt& stmt = body.stmt(id);
            const std::uint32_t line = lineNumber(context, stmt.span.begin);
            if (stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Goto)
                return refuse("early-exit", fmt::format("line {} leaves the kernel early", line));
            if (stmt.kind == StmtKind::Asm || stmt.kind == StmtKind::Other)
                return refuse("inline-assembly",
                              fmt::format("what line {} does is not known", line));
        }
    }
    for (ExprId id = 0; id < body.exprs.size(); ++id) {
        const Expr& expr = body.expr(id);
        if (!inWork(id))
            continue;
        if (expr.kind == ExprKind::BuiltinIndex && position == WorkPosition::Unknown)
            return refuse("uses-thread-position",
                          fmt::format("line {} uses {}.{} beside the element's index", lineOf(id),
                                      expr.name, "xyz"[expr.axis % 3]));
        if (expr.kind != ExprKind::Variable || expr.variable == noId || !code.isWrite(id))
            continue;
        const StmtId declaration = code.declarationOf(expr.variable);
        const bool isOwn = declaration != noId && std::ranges::any_of(work, [&](StmtId stmt) {
                               return code.encloses(stmt, declaration);
                           });
        if (!isOwn)
            return refuse(
                "writes-outer-variable",
                fmt::format("line {} changes {}, which is declared outside the work on one "
                            "element",
                            lineOf(id), body.variable(expr.variable).name));
    }
    return {};
}

Gated<ElementwiseKernel> recogniseElementwise(const SkillContext& context, const CodeMap& code,
                                              FlatIndex allowed) {
    const FunctionBody& body = code.body();
    auto found = findGuard(context, code);
    if (!found)
        return found;
    const std::uint32_t guardLine = lineNumber(context, body.stmt(found->guard).span.begin);
    const Variable& index = body.variable(found->index);
    found->declaration = code.declarationOf(found->index);
    if (found->declaration == noId || index.init == noId || code.isEverWritten(found->index) ||
        !isInteger(index.type.scalar) || index.type.pointerDepth > 0 || index.type.isReference)
        return refuse("no-flat-index", fmt::format("{} on line {} is not an index that is computed "
                                                   "once",
                                                   index.name, guardLine));
    const auto value = polynomialOf(code, index.init);
    const std::uint32_t indexLine = lineNumber(context, body.expr(index.init).span.begin);
    if (!value || !numbersThreads(context, *value, allowed))
        return refuse("no-flat-index",
                      fmt::format("{} on line {} is not blockIdx.x * blockDim.x + threadIdx.x",
                                  index.name, indexLine));
    const bool isPlain = *value == flatThreadIndex();
    for (ExprId id = 0; id < body.exprs.size(); ++id)
        if (const Expr& expr = body.expr(id); expr.kind == ExprKind::BuiltinIndex &&
                                              expr.axis != 0 &&
                                              (isPlain || !code.holds(found->declaration, id)))
            return refuse("two-dimensional",
                          fmt::format("{} also indexes threads by {}.{} (line {})",
                                      context.kernel.name, expr.name, "xyz"[expr.axis % 3],
                                      lineNumber(context, expr.span.begin)));
    const Stmt& declaration = body.stmt(found->declaration);
    if (declaration.parent != body.root || declaration.declared.size() != 1 ||
        declaration.fromMacro)
        return refuse("no-flat-index",
                      fmt::format("{} is not declared by a statement of its own", index.name));
    if (context.file.source->slice(body.expr(found->limit).span).empty())
        return refuse("compound-guard",
                      fmt::format("the limit on line {} comes out of macros", guardLine));
    if (!isUniformInput(code, found->limit) ||
        std::ranges::any_of(code.expressionsBelow(found->limit), [&](ExprId id) {
            return body.expr(id).kind == ExprKind::BuiltinIndex;
        }))
        return refuse(
            "compound-guard",
            fmt::format("the limit on line {} is not the same for all threads", guardLine));
    for (const ExprId use : code.uses(found->index)) {
        const bool inGuard = code.statement(use) == found->guard;
        const bool inWork =
            std::ranges::any_of(found->work, [&](StmtId stmt) { return code.holds(stmt, use); });
        if (!inGuard && !inWork)
            return refuse("index-used-outside-guard",
                          fmt::format("{} is also used on line {}, before the bounds check",
                                      index.name, lineNumber(context, body.expr(use).span.begin)));
    }
    // Statements before the guard must only declare: anything else is work that every thread does.
    for (const StmtId id : body.stmt(body.root).children) {
        if (id == found->guard)
            break;
        const StmtKind kind = body.stmt(id).kind;
        if (kind != StmtKind::Declaration && kind != StmtKind::Null)
            return refuse("work-before-guard",
                          fmt::format("line {} runs before the bounds check",
                                      lineNumber(context, body.stmt(id).span.begin)));
    }
    KERNELSKILL_CHECK(requireIndependentWork(context, code, found->work));
    return found;
}

} // namespace kernelskill::skills
