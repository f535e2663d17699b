#include "skills/thread-coarsening/initial_values.h"

#include "analysis/queries/index_arithmetic.h"

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The statement `n = value;` that alone sets the variable, ahead of its uses; noId if there is
/// none.
StmtId settingOf(const CodeMap& code, VariableId id) {
    const FunctionBody& body = code.body();
    const Variable& variable = body.variable(id);
    const std::vector<ExprId>& uses = code.uses(id);
    if (variable.storage != Storage::Local || variable.init != noId || uses.empty() ||
        code.declarationOf(id) == noId || variable.type.isReference ||
        !variable.type.arrayExtents.empty())
        return noId;
    const StmtId statement = code.statement(uses.front());
    const Stmt& stmt = body.stmt(statement);
    const ExprId assignment = code.parent(uses.front());
    const bool isSet = stmt.kind == StmtKind::Expression && assignment != noId &&
                       stmt.expr == assignment && body.expr(assignment).kind == ExprKind::Binary &&
                       body.expr(assignment).op == "=" &&
                       body.expr(assignment).children[0] == uses.front() && stmt.parent != noId &&
                       body.stmt(stmt.parent).kind == StmtKind::Compound;
    const bool isAlone = isSet && std::all_of(uses.begin() + 1, uses.end(), [&](ExprId use) {
                             return !code.isWrite(use) && !code.holds(statement, use) &&
                                    code.holds(stmt.parent, use);
                         });
    return isAlone ? statement : noId;
}

/// With the values of those for which `isWanted` holds.
template <typename Predicate>
FunctionBody withValues(const CodeMap& code, const Predicate& isWanted) {
    FunctionBody changed = code.body();
    for (VariableId id = 0; id < changed.variables.size(); ++id) {
        const StmtId setting = settingOf(code, id);
        if (setting == noId)
            continue;
        const ExprId value = changed.expr(changed.stmt(setting).expr).children[1];
        if (!isWanted(value))
            continue;
        std::erase(changed.stmts[code.declarationOf(id)].declared, id);
        changed.variables[id].init = value;
        Stmt& stmt = changed.stmts[setting];
        stmt.kind = StmtKind::Declaration;
        stmt.declared = {id};
        stmt.expr = noId;
    }
    return changed;
}

} // namespace

FunctionBody withInitialValues(const CodeMap& code) {
    return withValues(code, [](ExprId) { return true; });
}

FunctionBody withInitialRows(const CodeMap& code, std::uint8_t axis) {
    const auto isPlace = [axis](const CodeMap& known, ExprId value) {
        const auto index = polynomialOf(known, value);
        return index && !index->asConstant() &&
               std::ranges::all_of(index->terms(), [axis](const auto& term) {
                   return std::ranges::all_of(term.first, [axis](Symbol symbol) {
                       return symbol.id == axis && (symbol.kind == SymbolKind::ThreadIdx ||
                                                    symbol.kind == SymbolKind::BlockIdx ||
                                                    symbol.kind == SymbolKind::BlockDim);
                   });
               });
    };
    // A place may be the sum of others.
    FunctionBody changed = withValues(code, [&](ExprId value) { return isPlace(code, value); });
    const CodeMap known(changed);
    return withValues(known, [&](ExprId value) { return isPlace(known, value); });
}

} // namespace kernelskill::skills
