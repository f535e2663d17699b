#include "analysis/queries/value_range.h"

#include "analysis/model/known_functions.h"
#include "analysis/queries/condition_bounds.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace kernelskill::analysis {

namespace {

constexpr int maxRangeDepth = 24;
constexpr int maxRangeSteps = 4096;
/// Beyond it a sum or product of two ends may overflow 64 bits.
constexpr std::int64_t largest = std::int64_t{1} << 31;

std::optional<ValueRange> rangeOfType(const Type& type) {
    if (type.pointerDepth > 0 || type.lanes != 1 || !type.arrayExtents.empty())
        return std::nullopt;
    switch (type.scalar) {
    case ScalarKind::Bool:
        return ValueRange{0, 1};
    case ScalarKind::Char: // signed or not
        return ValueRange{-128, 255};
    case ScalarKind::UInt8:
        return ValueRange{0, 255};
    case ScalarKind::Int16:
        return ValueRange{-32768, 32767};
    case ScalarKind::UInt16:
        return ValueRange{0, 65535};
    case ScalarKind::Int32:
        return ValueRange{std::numeric_limits<std::int32_t>::min(),
                          std::numeric_limits<std::int32_t>::max()};
    case ScalarKind::UInt32:
        return ValueRange{0, std::numeric_limits<std::uint32_t>::max()};
    case ScalarKind::Int64:
        return ValueRange{std::numeric_limits<std::int64_t>::min(),
                          std::numeric_limits<std::int64_t>::max()};
    case ScalarKind::UInt64: // its upper half has no place here, and bounds nothing
        return ValueRange{0, std::numeric_limits<std::int64_t>::max()};
    default:
        return std::nullopt;
    }
}

ValueRange hull(ValueRange a, ValueRange b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

std::optional<ValueRange> rangeOfBuiltin(std::string_view name) {
    if (name == "threadIdx")
        return ValueRange{0, 1023};
    if (name == "blockDim")
        return ValueRange{1, 1024};
    if (name == "blockIdx")
        return ValueRange{0, largest - 2};
    if (name == "gridDim")
        return ValueRange{1, largest - 1};
    return std::nullopt;
}

bool isSmall(ValueRange range) {
    return range.low >= -largest && range.high <= largest;
}

/// Whether sums and differences of ends of two such ranges fit 64 bits.
bool hasSums(ValueRange range) {
    constexpr std::int64_t quarter = std::int64_t{1} << 61;
    return range.low >= -quarter && range.high <= quarter;
}

std::optional<ValueRange> combined(std::string_view op, ValueRange a, ValueRange b) {
    if (op == "&") {
        if (b.low >= 0)
            return ValueRange{0, a.low >= 0 ? std::min(a.high, b.high) : b.high};
        if (a.low >= 0)
            return ValueRange{0, a.high};
        return std::nullopt;
    }
    if (op == "%" && b.low > 0)
        return ValueRange{a.low >= 0 ? 0 : -(b.high - 1),
                          a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1};
    if (op == "%" && a.low >= 0)
        return ValueRange{0, a.high};
    if (op == ">>" && a.low >= 0 && b.low == b.high && b.low >= 0 && b.low < 63)
        return ValueRange{a.low >> b.low, a.high >> b.low};
    if (op == "/" && a.low >= 0 && b.low > 0)
        return ValueRange{a.low / b.high, a.high / b.low};
    if (op == "+" && hasSums(a) && hasSums(b))
        return ValueRange{a.low + b.low, a.high + b.high};
    if (op == "-" && hasSums(a) && hasSums(b))
        return ValueRange{a.low - b.high, a.high - b.low};
    if (op == "*" && isSmall(a) && isSmall(b)) {
        const std::array corners{a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
        const auto [low, high] = std::ranges::minmax(corners);
        return ValueRange{low, high};
    }
    return std::nullopt;
}

class Ranges {
public:
    Ranges(const KernelModel& kernel, const CodeMap& code)
        : kernel_(kernel), code_(code), body_(code.body()) {}

    std::optional<ValueRange> of(ExprId id, int depth = 0) const {
        if (id == noId || depth > maxRangeDepth || ++steps_ > maxRangeSteps)
            return std::nullopt;
        const Expr& expr = body_.expr(id);
        const auto type = rangeOfType(expr.type);
        const auto known = narrowest(id, depth);
        if (!known)
            return type;
        // A value that does not fit the type wraps around, or is undefined.
        const bool fits = !type || (known->low >= type->low && known->high <= type->high);
        return fits ? known : type;
    }

private:
    std::optional<ValueRange> narrowest(ExprId id, int depth) const {
        const Expr& expr = body_.expr(id);
        const auto child = [&](std::size_t i) { return of(expr.children.at(i), depth + 1); };
        switch (expr.kind) {
        case ExprKind::Integer:
            return ValueRange{expr.integer, expr.integer};
        case ExprKind::BuiltinIndex:
            return rangeOfBuiltin(expr.name);
        case ExprKind::Variable:
            return ofVariable(id, depth);
        case ExprKind::Cast:
            return child(0);
        case ExprKind::Unary:
            if (const auto value = child(0); value && expr.op == "-" && isSmall(*value))
                return ValueRange{-value->high, -value->low};
            if (expr.op == "!")
                return ValueRange{0, 1};
            return std::nullopt;
        case ExprKind::Conditional: {
            const auto a = child(1);
            const auto b = child(2);
            return a && b ? std::optional(hull(*a, *b)) : std::nullopt;
        }
        case ExprKind::Call:
            return ofCall(expr, depth);
        case ExprKind::Binary: {
            if (expr.children.size() != 2)
                return std::nullopt;
            const auto a = child(0);
            const auto b = child(1);
            if (!a || !b)
                return std::nullopt;
            const auto type = rangeOfType(expr.type);
            const bool isNatural = a->low >= 0 && type && type->low >= 0;
            if (expr.op == "/" && isNatural &&
                b->low <= 0) // A divisor below 0 is a large one here.
                return ValueRange{0, a->high};
            return combined(expr.op, *a, *b);
        }
        default:
            return std::nullopt;
        }
    }

    std::optional<ValueRange> ofCall(const Expr& call, int depth) const {
        const std::string_view name = unqualified(call.name);
        if (call.isMethod || call.children.size() != 2 || (name != "min" && name != "max"))
            return std::nullopt;
        const auto a = of(call.children[0], depth + 1);
        const auto b = of(call.children[1], depth + 1);
        if (!a || !b)
            return std::nullopt;
        if (name == "min")
            return ValueRange{std::min(a->low, b->low), std::min(a->high, b->high)};
        return ValueRange{std::max(a->low, b->low), std::max(a->high, b->high)};
    }

    std::optional<ValueRange> ofVariable(ExprId use, int depth) const {
        const VariableId id = body_.expr(use).variable;
        if (id == noId)
            return std::nullopt;
        const Variable& variable = body_.variable(id);
        if (variable.constantValue)
            return ValueRange{*variable.constantValue, *variable.constantValue};
        auto range = rangeOfType(variable.type);
        if (code_.isEverWritten(id)) {
            if (const auto counted = ofLoopVariable(id, depth))
                return counted;
            const auto divided = ofDividedVariable(id, depth);
            return divided ? divided : range;
        }
        if (variable.storage == Storage::Local && variable.init != noId)
            if (const auto value = of(variable.init, depth + 1);
                value && (!range || (value->low >= range->low && value->high <= range->high)))
                range = value;
        if (!range)
            return range;
        for (const ConditionBound& bound : boundsAround(code_, use)) {
            if (bound.variable != id)
                continue;
            const auto limit = of(bound.limit, depth + 1);
            if (!limit || !isSmall(*limit))
                continue;
            if (bound.op == "<")
                range->high = std::min(range->high, limit->high - 1);
            else if (bound.op == "<=")
                range->high = std::min(range->high, limit->high);
            else if (bound.op == ">")
                range->low = std::max(range->low, limit->low + 1);
            else
                range->low = std::max(range->low, limit->low);
        }
        return range;
    }

    /// The range of a variable that only divisions, remainders and shifts to the right change:
    /// `rest /= w`, `rest = rest / w`.
    std::optional<ValueRange> ofDividedVariable(VariableId id, int depth) const {
        const Variable& variable = body_.variable(id);
        const auto first = of(variable.init, depth + 1);
        const auto type = rangeOfType(variable.type);
        if (variable.storage != Storage::Local || !first || !type || first->low < 0 ||
            first->high > type->high)
            return std::nullopt;
        bool keepsSign = true;
        for (const ExprId use : code_.uses(id)) {
            if (!code_.isWrite(use))
                continue;
            const ExprId above = code_.parent(use);
            if (above == noId || body_.expr(above).kind != ExprKind::Binary)
                return std::nullopt;
            const Expr* change = &body_.expr(above);
            std::string_view op = change->op;
            if (op == "=") {
                change = &body_.expr(code_.withoutCasts(change->children[1]));
                if (change->kind != ExprKind::Binary ||
                    code_.namedVariable(change->children[0]) != id)
                    return std::nullopt;
                op = change->op;
            } else {
                op.remove_suffix(1);
            }
            if (op != "/" && op != "%" && op != ">>")
                return std::nullopt;
            const auto divisor = of(change->children[1], depth + 1);
            keepsSign &= op != "/" || type->low >= 0 || (divisor && divisor->low >= 0);
        }
        return ValueRange{keepsSign ? 0 : -first->high, first->high};
    }

    /// Whether the step is a positive number or the number of threads of a block or the grid.
    static bool countsUp(const Loop& loop) {
        if (loop.step)
            return *loop.step > 0;
        return loop.stepOperator == "+=" && loop.stepExpression &&
               std::ranges::all_of(loop.stepExpression->terms(), [](const auto& term) {
                   return term.second > 0 && std::ranges::all_of(term.first, [](Symbol symbol) {
                              return symbol.kind == SymbolKind::BlockDim ||
                                     symbol.kind == SymbolKind::GridDim;
                          });
               });
    }

    /// The index of a loop that counts up to a limit, inside of that loop.
    std::optional<ValueRange> ofLoopVariable(VariableId id, int depth) const {
        const auto loop = std::ranges::find(kernel_.loops, id, &Loop::inductionVariable);
        if (loop == kernel_.loops.end() || !countsUp(*loop) ||
            (loop->comparison != "<" && loop->comparison != "<=") || loop->lowerBound == noId ||
            loop->upperBound == noId ||
            std::ranges::count(kernel_.loops, id, &Loop::inductionVariable) != 1)
            return std::nullopt;
        for (const ExprId use : code_.uses(id))
            if (!code_.holds(loop->statement, use) ||
                (code_.holds(loop->body, use) && code_.isWrite(use)))
                return std::nullopt;
        const auto low = of(loop->lowerBound, depth + 1);
        const auto high = of(loop->upperBound, depth + 1);
        if (!low || !high)
            return std::nullopt;
        return ValueRange{low->low, loop->comparison == "<" ? high->high - 1 : high->high};
    }

    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    mutable int steps_ = 0; ///< Expressions that were followed.
};

} // namespace

std::optional<ValueRange> valueRangeOf(const KernelModel& kernel, const CodeMap& code,
                                       ExprId expr) {
    return Ranges(kernel, code).of(expr);
}

std::vector<ExprId> guardLimits(const CodeMap& code, ExprId use) {
    std::vector<ExprId> limits;
    const VariableId variable = code.namedVariable(use);
    if (variable == noId || code.isEverWritten(variable))
        return limits;
    for (const ConditionBound& bound : boundsAround(code, use))
        if (bound.variable == variable && bound.op == "<")
            limits.push_back(bound.limit);
    return limits;
}

} // namespace kernelskill::analysis
