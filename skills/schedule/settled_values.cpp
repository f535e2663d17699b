#include "skills/schedule/settled_values.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/source_words.h"
#include "skills/editing/operand_text.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The statement behind `statement` in its block; noId if there is none.
StmtId nextOf(const FunctionBody& body, StmtId statement) {
    const StmtId block = body.stmt(statement).parent;
    if (block == noId || body.stmt(block).kind != StmtKind::Compound)
        return noId;
    const std::vector<StmtId>& all = body.stmt(block).children;
    const auto at = std::ranges::find(all, statement);
    return at == all.end() || at + 1 == all.end() ? noId : *(at + 1);
}

/// Returns `v += e` or `v -= e` if that is the statement behind the declaration of `variable` and
/// its only change; else noId.
ExprId changeBehind(const CodeMap& code, VariableId variable, StmtId declaration) {
    const FunctionBody& body = code.body();
    const StmtId next = nextOf(body, declaration);
    if (next == noId || body.stmt(next).kind != StmtKind::Expression || body.stmt(next).fromMacro)
        return noId;
    const ExprId change = body.stmt(next).expr;
    const Expr& expr = body.expr(change);
    if (expr.kind != ExprKind::Binary || (expr.op != "+=" && expr.op != "-=") || expr.fromMacro ||
        body.expr(expr.children[0]).kind != ExprKind::Variable ||
        body.expr(expr.children[0]).variable != variable)
        return noId;
    const bool isOnly = std::ranges::all_of(code.uses(variable), [&](ExprId use) {
        return use == expr.children[0] || (!code.isWrite(use) && !code.holds(next, use));
    });
    return isOnly ? change : noId;
}

} // namespace

std::vector<TextEdit> settledValues(const SkillContext& context) {
    const CodeMap& code = context.code();
    const FunctionBody& body = code.body();
    const SourceText& source = *context.file.source;
    const SourceLayout layout(source, context.kernel);
    std::vector<TextEdit> edits;
    for (VariableId id = 0; id < body.variables.size(); ++id) {
        const Variable& variable = body.variable(id);
        const StmtId declaration = code.declarationOf(id);
        const Type& type = variable.type;
        const bool isPointer = type.pointerDepth > 0 && type.arrayExtents.empty();
        if (variable.storage != Storage::Local || declaration == noId || variable.init == noId ||
            variable.fromMacro || type.isReference || type.isVolatile ||
            (!isPointer && !isIndexType(type)) ||
            body.stmt(declaration).kind != StmtKind::Declaration ||
            body.stmt(declaration).declared.size() != 1 ||
            !occurrences(source.slice(variable.declarationSpan), "auto").empty())
            continue;
        const ExprId change = changeBehind(code, id, declaration);
        if (change == noId)
            continue;
        const Expr& init = body.expr(variable.init);
        const Expr& added = body.expr(body.expr(change).children[1]);
        const StmtId statement = code.statement(change);
        // A sum of 32 bits could wrap around where the variable does not.
        const bool isAsWide = isPointer || !hasPointerWidth(type) || hasPointerWidth(init.type) ||
                              hasPointerWidth(added.type);
        if (init.kind == ExprKind::InitList || init.fromMacro || !isAsWide ||
            !hasNoEffect(code, body.expr(change).children[1]) ||
            !hasOwnLines(body, layout, statement, statement))
            continue;
        const bool subtracts = body.expr(change).op == "-=";
        const bool isGrouped = subtracts && added.kind == ExprKind::Binary;
        const std::string operand = isGrouped ? "(" + std::string(source.slice(added.span)) + ")"
                                              : besideComparison(source, added);
        edits.push_back({init.span, fmt::format("{} {} {}", besideComparison(source, init),
                                                subtracts ? "-" : "+", operand)});
        edits.push_back({layout.statementWithLine(body.stmt(statement).span), ""});
    }
    return edits;
}

} // namespace kernelskill::skills
