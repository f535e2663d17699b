#include "analysis/queries/guarded_work.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_words.h"

#include <algorithm>

namespace kernelskill::analysis {

bool isPlainIf(const SourceText& source, const CodeMap& code, StmtId id) {
    const Stmt& stmt = code.body().stmt(id);
    return stmt.kind == StmtKind::If && stmt.children.size() == 1 && stmt.condition != noId &&
           stmt.init == noId && stmt.declared.empty() && !stmt.fromMacro &&
           isWrittenAs(source, stmt.span, {"if"});
}

bool returnsOnly(const CodeMap& code, StmtId branch) {
    const FunctionBody& body = code.body();
    const std::vector<StmtId> inner = code.statementsOf(body.stmt(branch).children[0]);
    return inner.size() == 1 && body.stmt(inner[0]).kind == StmtKind::Return &&
           body.stmt(inner[0]).expr == noId;
}

std::optional<GuardedWork> findGuardedWork(const SourceText& source, const CodeMap& code) {
    const FunctionBody& body = code.body();
    const std::vector<StmtId>& top = body.stmt(body.root).children;
    const auto guard = std::ranges::find_if(
        top, [&](StmtId id) { return body.stmt(id).kind != StmtKind::Declaration; });
    if (guard == top.end() || !isPlainIf(source, code, *guard) ||
        body.expr(body.stmt(*guard).condition).fromMacro)
        return std::nullopt;
    GuardedWork found;
    found.guard = *guard;
    found.work = code.statementsOf(body.stmt(*guard).children[0]);
    found.returnsEarly = returnsOnly(code, *guard);
    if (found.returnsEarly)
        found.work.assign(guard + 1, top.end());
    else if (guard + 1 != top.end())
        return std::nullopt;
    return found.work.empty() ? std::nullopt : std::optional(found);
}

std::string_view oppositeComparison(const FunctionBody& body, const Expr& comparison) {
    const bool isOfIntegers = comparison.kind == ExprKind::Binary &&
                              std::ranges::all_of(comparison.children, [&](ExprId side) {
                                  return isIndexType(body.expr(side).type);
                              });
    const std::string_view op = isOfIntegers ? std::string_view(comparison.op) : "";
    if (op == "<")
        return ">=";
    if (op == ">=")
        return "<";
    if (op == ">")
        return "<=";
    if (op == "<=")
        return ">";
    return "";
}

} // namespace kernelskill::analysis
