#include "analysis/queries/guarded_work.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/source_words.h"

#include <algorithm>

namespace kernelskill::analysis {

std::optional<GuardedWork> findGuardedWork(const SourceText& source, const CodeMap& code) {
    const FunctionBody& body = code.body();
    const std::vector<StmtId>& top = body.stmt(body.root).children;
    const auto guard = std::ranges::find_if(
        top, [&](StmtId id) { return body.stmt(id).kind != StmtKind::Declaration; });
    if (guard == top.end() || body.stmt(*guard).kind != StmtKind::If ||
        !isWrittenAs(source, body.stmt(*guard).span, {"if"}))
        return std::nullopt;
    const Stmt& branch = body.stmt(*guard);
    if (branch.children.size() != 1 || branch.condition == noId || branch.init != noId ||
        branch.fromMacro || body.expr(branch.condition).fromMacro || !branch.declared.empty())
        return std::nullopt;
    GuardedWork found;
    found.guard = *guard;
    found.work = code.statementsOf(branch.children[0]);
    found.returnsEarly = found.work.size() == 1 &&
                         body.stmt(found.work[0]).kind == StmtKind::Return &&
                         body.stmt(found.work[0]).expr == noId;
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
