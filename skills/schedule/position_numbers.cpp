#include "skills/schedule/position_numbers.h"

#include "analysis/queries/index_arithmetic.h"

#include <algorithm>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

IndexExpression byNumber(const IndexExpression& expression, std::uint32_t axis,
                         const IndexExpression& width) {
    const Symbol threads{SymbolKind::ThreadIdx, axis};
    const IndexExpression thread = IndexExpression::symbol({SymbolKind::Named, 0}) -
                                   width * IndexExpression::symbol({SymbolKind::BlockIdx, axis});
    IndexExpression result;
    for (const auto& [monomial, factor] : expression.terms()) {
        IndexExpression term = IndexExpression::constant(factor);
        for (const Symbol symbol : monomial)
            term = term * (symbol == threads ? thread : IndexExpression::symbol(symbol));
        result = result + term;
    }
    return result;
}

bool isByNumberAlone(const IndexExpression& expression, std::uint32_t axis) {
    return std::ranges::all_of(expression.terms(), [&](const auto& term) {
        const auto count = [&](SymbolKind kind) {
            return std::ranges::count(term.first, Symbol{kind, axis});
        };
        return count(SymbolKind::ThreadIdx) == 0 && count(SymbolKind::BlockIdx) == 0 &&
               count(SymbolKind::BlockDim) == count(SymbolKind::GridDim);
    });
}

PositionUses::PositionUses(const CodeMap& code, std::uint32_t axis, IsNumber isNumber)
    : code_(code), body_(code.body()), axis_(axis), isNumber_(std::move(isNumber)) {
    findParts();
}

bool PositionUses::isUse(ExprId id) const {
    const Expr& expr = body_.expr(id);
    return (expr.kind == ExprKind::BuiltinIndex && expr.axis == axis_) ||
           (expr.kind == ExprKind::Variable && parts_.contains(expr.variable));
}

std::optional<ExprId> PositionUses::useIn(ExprId id) const {
    for (const ExprId below : code_.expressionsBelow(id))
        if (isUse(below))
            return below;
    return std::nullopt;
}

void PositionUses::findParts() {
    for (bool isNew = true; isNew;) {
        isNew = false;
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            const Variable& variable = body_.variable(id);
            if (variable.storage != Storage::Local || variable.init == noId ||
                code_.isEverWritten(id) || variable.type.isReference || parts_.contains(id) ||
                !useIn(variable.init))
                continue;
            const auto value = polynomialOf(code_, variable.init);
            if (value && !isNumber_(*value))
                isNew = parts_.insert(id).second;
        }
    }
}

std::optional<ExprId> PositionUses::firstOtherUse() const {
    std::set<ExprId> outermost;
    for (ExprId id = 0; id < body_.exprs.size(); ++id) {
        if (!isUse(id))
            continue;
        ExprId top = id;
        while (code_.parent(top) != noId)
            top = code_.parent(top);
        outermost.insert(top);
    }
    for (const VariableId part : parts_)
        outermost.erase(body_.variable(part).init);
    for (const ExprId id : outermost)
        if (const auto use = otherUseIn(id))
            return use;
    return std::nullopt;
}

/// Judges the largest parts of the expression that are arithmetic.
std::optional<ExprId> PositionUses::otherUseIn(ExprId id) const {
    const auto use = useIn(id);
    if (!use)
        return std::nullopt;
    const auto value = polynomialOf(code_, id);
    if (value)
        return isNumber_(*value) ? std::nullopt : use;
    if (body_.expr(id).children.empty())
        return use;
    for (const ExprId child : body_.expr(id).children)
        if (const auto other = otherUseIn(child))
            return other;
    return std::nullopt;
}

} // namespace kernelskill::skills
