#include "skills/gates/round_values.h"

#include "skills/gates/counted_loop.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

bool isSetInEachRound(const CodeMap& code, StmtId loop, VariableId variable) {
    const FunctionBody& body = code.body();
    ExprId first = noId;
    for (const ExprId use : code.uses(variable)) {
        if (!code.holds(loop, use))
            continue;
        const ExprId parent = code.parent(use);
        if (parent != noId && body.expr(parent).kind == ExprKind::Unary &&
            body.expr(parent).op == "&")
            return false;
        if (first == noId || body.expr(use).span.begin < body.expr(first).span.begin)
            first = use;
    }
    if (first == noId)
        return false;
    const StmtId statement = code.statement(first);
    const Stmt& stmt = body.stmt(statement);
    if (stmt.kind != StmtKind::Expression || stmt.parent == noId)
        return false;
    const StmtId around = body.stmt(stmt.parent).kind == StmtKind::Compound
                              ? body.stmt(stmt.parent).parent
                              : stmt.parent;
    return around == loop && code.parent(first) == stmt.expr && setsAnew(code, first);
}

bool countsInnerLoops(const KernelModel& kernel, const CodeMap& code, StmtId body,
                      VariableId variable) {
    return std::ranges::all_of(code.uses(variable), [&](ExprId use) {
        return !code.holds(body, use) || std::ranges::any_of(kernel.loops, [&](const Loop& inner) {
            const StmtId init = code.body().stmt(inner.statement).init;
            return inner.inductionVariable == variable && init != noId &&
                   code.body().stmt(init).kind != StmtKind::Null &&
                   code.encloses(body, inner.statement) && code.holds(inner.statement, use);
        });
    });
}

} // namespace kernelskill::skills
