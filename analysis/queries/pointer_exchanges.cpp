#include "analysis/queries/pointer_exchanges.h"

#include <optional>

namespace kernelskill::analysis {
namespace {

/// A statement `target = value` of plain names.
struct Assignment {
    VariableId target = noId;
    VariableId value = noId;
    ExprId expr = noId; ///< noId for a declaration: `float* target = value;`
};

std::optional<Assignment> assignmentOf(const CodeMap& code, StmtId id) {
    const FunctionBody& body = code.body();
    const Stmt& stmt = body.stmt(id);
    Assignment found;
    if (stmt.kind == StmtKind::Declaration && stmt.declared.size() == 1) {
        const Variable& variable = body.variable(stmt.declared.front());
        if (variable.init == noId || variable.type.pointerDepth == 0)
            return std::nullopt;
        found = {stmt.declared.front(), code.namedVariable(variable.init), noId};
    } else if (stmt.kind == StmtKind::Expression && stmt.expr != noId) {
        const Expr& expr = body.expr(stmt.expr);
        if (expr.kind != ExprKind::Binary || expr.op != "=")
            return std::nullopt;
        found = {code.namedVariable(expr.children[0]), code.namedVariable(expr.children[1]),
                 stmt.expr};
    }
    if (found.target == noId || found.value == noId ||
        body.variable(found.target).type.pointerDepth == 0)
        return std::nullopt;
    return found;
}

} // namespace

std::vector<PointerExchange> pointerExchanges(const CodeMap& code) {
    const FunctionBody& body = code.body();
    std::vector<PointerExchange> exchanges;
    for (const Stmt& block : body.stmts) {
        if (block.kind != StmtKind::Compound)
            continue;
        for (std::size_t i = 0; i + 2 < block.children.size(); ++i) {
            const auto kept = assignmentOf(code, block.children[i]);
            const auto first = kept ? assignmentOf(code, block.children[i + 1]) : std::nullopt;
            const auto second = first ? assignmentOf(code, block.children[i + 2]) : std::nullopt;
            if (!second || first->expr == noId || second->expr == noId)
                continue;
            const bool isExchange = kept->value == first->target &&
                                    first->value == second->target &&
                                    second->value == kept->target && first->value != first->target;
            const std::size_t uses = kept->expr == noId ? 1 : 2;
            const Variable& between = body.variable(kept->target);
            const bool isOwn =
                between.storage == Storage::Local || between.storage == Storage::Parameter;
            if (isExchange && isOwn && !between.type.isReference &&
                code.uses(kept->target).size() == uses)
                exchanges.push_back({first->target, first->value, first->expr, second->expr});
        }
    }
    return exchanges;
}

} // namespace kernelskill::analysis
