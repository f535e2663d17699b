#include "analysis/queries/index_arithmetic.h"

#include <algorithm>

namespace kernelskill::analysis {

namespace {

constexpr int maxPolynomialDepth = 32;
/// Expressions that are followed for one question: each variable may be used twice to define the
/// next.
constexpr int maxPolynomialSteps = 4096;

std::optional<SymbolKind> builtinSymbol(std::string_view name) {
    if (name == "threadIdx")
        return SymbolKind::ThreadIdx;
    if (name == "blockIdx")
        return SymbolKind::BlockIdx;
    if (name == "blockDim")
        return SymbolKind::BlockDim;
    if (name == "gridDim")
        return SymbolKind::GridDim;
    return std::nullopt;
}

std::optional<IndexExpression> polynomial(const CodeMap& code, ExprId id, int depth, int& steps) {
    const FunctionBody& body = code.body();
    const Expr& expr = body.expr(id);
    if (depth > maxPolynomialDepth || ++steps > maxPolynomialSteps)
        return std::nullopt;
    const auto child = [&](std::size_t index) {
        return polynomial(code, expr.children[index], depth + 1, steps);
    };
    switch (expr.kind) {
    case ExprKind::Integer:
        return IndexExpression::constant(expr.integer);
    case ExprKind::Cast:
        return child(0);
    case ExprKind::BuiltinIndex: {
        const auto kind = builtinSymbol(expr.name);
        return kind ? std::optional(IndexExpression::symbol({*kind, expr.axis})) : std::nullopt;
    }
    case ExprKind::Variable: {
        if (expr.variable == noId)
            return std::nullopt;
        const Variable& variable = body.variable(expr.variable);
        if (variable.constantValue)
            return IndexExpression::constant(*variable.constantValue);
        if (code.isEverWritten(expr.variable))
            return IndexExpression::symbol({SymbolKind::Opaque, expr.variable});
        if (variable.storage == Storage::Parameter)
            return IndexExpression::symbol({SymbolKind::Parameter, expr.variable});
        if (variable.storage == Storage::Local && variable.init != noId)
            if (auto value = polynomial(code, variable.init, depth + 1, steps))
                return value;
        return IndexExpression::symbol({SymbolKind::Opaque, expr.variable});
    }
    case ExprKind::Unary: {
        const auto value = child(0);
        if (!value || expr.op != "-")
            return std::nullopt;
        return IndexExpression::constant(0) - *value;
    }
    case ExprKind::Binary: {
        if (expr.children.size() != 2)
            return std::nullopt;
        const auto left = child(0);
        const auto right = child(1);
        if (!left || !right)
            return std::nullopt;
        if (expr.op == "+")
            return IndexExpression::sum(*left, *right);
        if (expr.op == "-")
            return IndexExpression::difference(*left, *right);
        if (expr.op == "*")
            return IndexExpression::product(*left, *right);
        const auto shift = right->asConstant();
        if (expr.op == "<<" && shift && *shift >= 0 && *shift < 31)
            return *left * IndexExpression::constant(std::int64_t{1} << *shift);
        const auto value = code.constantValue(id);
        return value ? std::optional(IndexExpression::constant(*value)) : std::nullopt;
    }
    default:
        return std::nullopt;
    }
}

} // namespace

bool isIndexType(const Type& type) {
    return type.pointerDepth == 0 && !type.isReference &&
           (type.scalar == ScalarKind::Int32 || type.scalar == ScalarKind::UInt32 ||
            type.scalar == ScalarKind::Int64 || type.scalar == ScalarKind::UInt64);
}

bool hasPointerWidth(const Type& type) {
    return type.pointerDepth > 0 || type.scalar == ScalarKind::Int64 ||
           type.scalar == ScalarKind::UInt64;
}

bool isUnsignedIndexType(const Type& type) {
    return isIndexType(type) &&
           (type.scalar == ScalarKind::UInt32 || type.scalar == ScalarKind::UInt64);
}

std::optional<IndexExpression> polynomialOf(const CodeMap& code, ExprId expr) {
    int steps = 0;
    return expr == noId ? std::nullopt : polynomial(code, expr, 0, steps);
}

IndexExpression flatThreadIndex() {
    return IndexExpression::symbol({SymbolKind::BlockIdx, 0}) *
               IndexExpression::symbol({SymbolKind::BlockDim, 0}) +
           IndexExpression::symbol({SymbolKind::ThreadIdx, 0});
}

IndexExpression flatThreadCount() {
    return IndexExpression::symbol({SymbolKind::BlockDim, 0}) *
           IndexExpression::symbol({SymbolKind::GridDim, 0});
}

bool isPlainOperation(const Expr& expr) {
    switch (expr.kind) {
    case ExprKind::Integer:
    case ExprKind::Floating:
    case ExprKind::Cast:
    case ExprKind::Conditional:
        return true;
    case ExprKind::Unary:
        return expr.op == "-" || expr.op == "~" || expr.op == "!";
    case ExprKind::Binary:
        return !isAssignment(expr.op);
    default:
        return false;
    }
}

bool isUniformInput(const CodeMap& code, ExprId expr) {
    return std::ranges::all_of(code.expressionsBelow(expr), [&](ExprId id) {
        const Expr& at = code.body().expr(id);
        switch (at.kind) {
        case ExprKind::BuiltinIndex:
            return at.name == "blockDim" || at.name == "gridDim";
        case ExprKind::Variable: {
            if (at.variable == noId)
                return false;
            const Variable& variable = code.body().variable(at.variable);
            if (variable.constantValue)
                return true;
            if (code.isEverWritten(at.variable) || variable.type.pointerDepth > 0 ||
                variable.type.isReference)
                return false;
            // Device code reads a host global only when it is a constant or a template parameter.
            return variable.storage == Storage::Parameter ||
                   variable.storage == Storage::Constant ||
                   variable.storage == Storage::HostGlobal ||
                   (variable.storage == Storage::Local && variable.init != noId &&
                    isUniformInput(code, variable.init));
        }
        default:
            return isPlainOperation(at);
        }
    });
}

} // namespace kernelskill::analysis
