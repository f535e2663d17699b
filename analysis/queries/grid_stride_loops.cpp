#include "analysis/queries/grid_stride_loops.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/syntax/scalar_bytes.h"

namespace kernelskill::analysis {

namespace {

/// An integer type, as far as comparisons ask for it.
struct IntegerForm {
    std::uint32_t bytes = 0;
    bool isSigned = true;
    bool operator==(const IntegerForm&) const = default;
};

std::optional<IntegerForm> integerForm(const Type& type) {
    if (type.lanes != 1 || type.pointerDepth > 0)
        return std::nullopt;
    const std::uint32_t bytes = scalarBytes(type.scalar);
    switch (type.scalar) {
    case ScalarKind::Char:
    case ScalarKind::Int16:
    case ScalarKind::Int32:
    case ScalarKind::Int64:
        return IntegerForm{bytes, true};
    case ScalarKind::UInt8:
    case ScalarKind::UInt16:
    case ScalarKind::UInt32:
    case ScalarKind::UInt64:
        return IntegerForm{bytes, false};
    default:
        return std::nullopt;
    }
}

/// Whether each number of `from` is one of `to`.
bool holdsAllOf(const IntegerForm& to, const IntegerForm& from) {
    return to.isSigned == from.isSigned ? to.bytes >= from.bytes
                                        : to.isSigned && to.bytes > from.bytes;
}

/// The type in which numbers of both are compared.
IntegerForm comparedIn(IntegerForm a, IntegerForm b) {
    for (IntegerForm* each : {&a, &b})
        if (each->bytes < 4)
            *each = {4, true};
    if (a.bytes != b.bytes)
        return a.bytes > b.bytes ? a : b;
    return {a.bytes, a.isSigned && b.isSigned};
}

/// Whether a comparison with a number of `limit` says the same of a value of `plain` as of what a
/// cast to `cast` makes of it.
bool comparesAlike(const Type& plain, const Type& cast, const Type& limit) {
    const auto value = integerForm(plain);
    const auto converted = integerForm(cast);
    const auto other = integerForm(limit);
    if (!value || !converted)
        return false;
    if (*value == *converted)
        return true;
    if (!other)
        return false;
    const IntegerForm before = comparedIn(*value, *other);
    const IntegerForm after = comparedIn(*converted, *other);
    const auto isOfValues = [&](const IntegerForm& form) {
        return holdsAllOf(form, *value) && holdsAllOf(form, *other);
    };
    const bool isKept = holdsAllOf(*converted, *value);
    // Conversions that go on to no more bits than the cast leaves come to the same.
    return before == after ? isKept || converted->bytes >= after.bytes
                           : isKept && isOfValues(before) && isOfValues(after);
}

} // namespace

std::optional<BoundsCheck> boundsCheck(const CodeMap& code, ExprId condition) {
    const Expr& expr = code.body().expr(code.withoutCasts(condition));
    if (expr.kind == ExprKind::Unary && expr.op == "!") {
        auto opposite = boundsCheck(code, expr.children[0]);
        if (opposite)
            opposite->whenTrue = !opposite->whenTrue;
        return opposite;
    }
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
        return std::nullopt;
    const ExprId left = expr.children[0];
    const ExprId right = expr.children[1];
    const auto check = [&](ExprId compared, ExprId limit,
                           bool whenTrue) -> std::optional<BoundsCheck> {
        const VariableId variable = code.namedVariable(compared);
        if (variable == noId)
            return std::nullopt;
        for (ExprId at = compared; code.body().expr(at).kind == ExprKind::Cast;
             at = code.body().expr(at).children.front())
            if (!comparesAlike(code.body().variable(variable).type, code.body().expr(at).type,
                               code.body().expr(limit).type))
                return std::nullopt;
        return BoundsCheck{variable, limit, whenTrue};
    };
    if (expr.op == "<")
        return check(left, right, true);
    if (expr.op == ">")
        return check(right, left, true);
    if (expr.op == ">=")
        return check(left, right, false);
    if (expr.op == "<=")
        return check(right, left, false);
    return std::nullopt;
}

std::vector<GridStrideLoop> findGridStrideLoops(const KernelModel& kernel, const CodeMap& code) {
    const FunctionBody& body = code.body();
    std::vector<GridStrideLoop> found;
    for (std::uint32_t i = 0; i < kernel.loops.size(); ++i) {
        const Loop& loop = kernel.loops[i];
        const Stmt& stmt = body.stmt(loop.statement);
        if (loop.kind != LoopKind::For || stmt.init == noId || stmt.condition == noId ||
            stmt.increment == noId)
            continue;
        const auto check = boundsCheck(code, stmt.condition);
        const Expr& increment = body.expr(stmt.increment);
        if (!check || !check->whenTrue || increment.kind != ExprKind::Binary ||
            increment.op != "+=" || code.namedVariable(increment.children[0]) != check->variable)
            continue;
        const Variable& index = body.variable(check->variable);
        if (code.declarationOf(check->variable) != stmt.init || index.init == noId)
            continue;
        const auto start = polynomialOf(code, index.init);
        const auto stride = polynomialOf(code, increment.children[1]);
        if (start == flatThreadIndex() && stride == flatThreadCount())
            found.push_back({i, check->variable, check->limit});
    }
    return found;
}

} // namespace kernelskill::analysis
