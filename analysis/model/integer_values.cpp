#include "analysis/model/integer_values.h"

#include "analysis/model/integer_arithmetic.h"
#include "analysis/model/known_functions.h"
#include "analysis/source/gpu_constants.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace kernelskill::analysis {

namespace {

/// Longer chains of definitions than people write; also ends a cycle.
constexpr int maxValueDepth = 32;
/// Expressions that are followed for one value: each variable may be used twice to define the next.
constexpr int maxValueSteps = 4096;

template <class Integer>
bool isIn(std::int64_t value) {
    return value >= std::numeric_limits<Integer>::min() &&
           value <= std::numeric_limits<Integer>::max();
}

/// True as well for types that are not known here, such as those of a template.
bool canHold(ScalarKind kind, std::int64_t value) {
    switch (kind) {
    case ScalarKind::Unknown:
    case ScalarKind::Int64:
        return true;
    case ScalarKind::Bool:
        return value == 0 || value == 1;
    case ScalarKind::Char:
        return isIn<std::int8_t>(value);
    case ScalarKind::Int16:
        return isIn<std::int16_t>(value);
    case ScalarKind::Int32:
        return isIn<std::int32_t>(value);
    case ScalarKind::UInt8:
        return isIn<std::uint8_t>(value);
    case ScalarKind::UInt16:
        return isIn<std::uint16_t>(value);
    case ScalarKind::UInt32:
        return isIn<std::uint32_t>(value);
    case ScalarKind::UInt64:
        return value >= 0;
    default:
        return false;
    }
}

/// The shift is defined for each type that the operand may have.
bool isDefinedShift(ScalarKind kind, std::int64_t left, std::int64_t right) {
    constexpr std::int64_t bits = 32;
    const bool isLong = kind == ScalarKind::Int64 || kind == ScalarKind::UInt64;
    return left >= 0 && right >= 0 && (isLong || (right < bits - 1 && isIn<std::uint32_t>(left)));
}

bool isFloating(ScalarKind kind) {
    return kind == ScalarKind::Float || kind == ScalarKind::Double;
}

std::optional<std::size_t> axisNamed(std::string_view member) {
    constexpr std::string_view axes = "xyz";
    const auto at = member.size() == 1 ? axes.find(member) : std::string_view::npos;
    return at == std::string_view::npos ? std::nullopt : std::optional(at);
}

} // namespace

bool isDim3(const Type& type) {
    const auto names = [](std::string_view spelling) {
        spelling = spelling.substr(0, spelling.find_last_not_of(" &") + 1);
        return spelling.ends_with("dim3");
    };
    return type.pointerDepth == 0 && (names(type.canonical) || names(type.spelling));
}

std::optional<std::int64_t> IntegerValues::leaf(const Expr& /*expr*/, int /*depth*/) const {
    return std::nullopt;
}

bool IntegerValues::isWarpSize(const Expr& member) const {
    if (member.name != "warpSize" || member.children.empty())
        return false;
    const Type& device = body_.expr(member.children[0]).type;
    return device.canonical.contains("cudaDeviceProp") ||
           device.spelling.contains("cudaDeviceProp");
}

KnownExtents IntegerValues::extentsByMember(VariableId /*variable*/, int /*depth*/) const {
    return {};
}

ExprId IntegerValues::withoutCasts(ExprId expr) const {
    while (expr != noId && body_.expr(expr).kind == ExprKind::Cast)
        expr = body_.expr(expr).children.front();
    return expr;
}

std::optional<std::int64_t> IntegerValues::value(ExprId id, int depth) const {
    if (depth == 0)
        steps_ = 0;
    if (id == noId || depth > maxValueDepth || ++steps_ > maxValueSteps)
        return std::nullopt;
    const Expr& expr = body_.expr(id);
    const auto value = unchecked(expr, depth + 1);
    return value && canHold(expr.type.scalar, *value) ? value : std::nullopt;
}

std::optional<std::int64_t> IntegerValues::unchecked(const Expr& expr, int depth) const {
    switch (expr.kind) {
    case ExprKind::Integer:
        return expr.integer;
    case ExprKind::Cast:
        return truncated(expr.children.front(), depth);
    case ExprKind::InitList: // `int n{4}`
        return expr.children.size() == 1 && expr.name.empty() ? value(expr.children[0], depth)
                                                              : std::nullopt;
    case ExprKind::Variable: {
        if (expr.variable == noId)
            return leaf(expr, depth);
        const Variable& variable = body_.variable(expr.variable);
        if (variable.constantValue)
            return variable.constantValue;
        const ExprId fixed = fixedValue(expr.variable);
        return fixed == noId ? leaf(expr, depth) : value(fixed, depth);
    }
    case ExprKind::Member: {
        if (isWarpSize(expr))
            return warpLanes;
        const auto axis = axisNamed(expr.name);
        return axis && !expr.children.empty() && isDim3(body_.expr(expr.children[0]).type)
                   ? extents(expr.children[0], depth)[*axis]
                   : leaf(expr, depth);
    }
    case ExprKind::Unary:
    case ExprKind::Binary:
    case ExprKind::Call:
        return operation(expr, depth);
    default:
        return leaf(expr, depth);
    }
}

std::optional<std::int64_t> IntegerValues::operation(const Expr& expr, int depth) const {
    if (expr.kind == ExprKind::Unary) {
        const auto operand = expr.op == "-" ? value(expr.children[0], depth) : std::nullopt;
        return operand ? integerResult("-", 0, *operand) : std::nullopt;
    }
    const std::string_view name = expr.kind == ExprKind::Call ? unqualified(expr.name) : "";
    const bool isChoice = !expr.isMethod && (name == "min" || name == "max");
    if (expr.kind == ExprKind::Call && !isChoice)
        return leaf(expr, depth);
    if (expr.children.size() != 2)
        return std::nullopt;
    const auto left = value(expr.children[0], depth);
    const auto right = left ? value(expr.children[1], depth) : std::nullopt;
    if (!right)
        return std::nullopt;
    if (isChoice)
        return name == "min" ? std::min(*left, *right) : std::max(*left, *right);
    const bool isShift = expr.op == "<<" || expr.op == ">>";
    return isShift && !isDefinedShift(expr.type.scalar, *left, *right)
               ? std::nullopt
               : integerResult(expr.op, *left, *right);
}

/// The integer that a number becomes where one is asked for.
std::optional<std::int64_t> IntegerValues::truncated(ExprId id, int depth) const {
    if (id == noId || !isFloating(body_.expr(id).type.scalar))
        return value(id, depth);
    constexpr double most = 9.0e15; // Each integer below is a double.
    const auto number = real(id, depth);
    return number && std::abs(*number) < most
               ? std::optional(static_cast<std::int64_t>(std::trunc(*number)))
               : std::nullopt;
}

std::optional<double> IntegerValues::real(ExprId id, int depth) const {
    if (id == noId || depth > maxValueDepth || ++steps_ > maxValueSteps)
        return std::nullopt;
    const Expr& expr = body_.expr(id);
    if (!isFloating(expr.type.scalar)) {
        const auto integer = value(id, depth + 1);
        return integer ? std::optional(static_cast<double>(*integer)) : std::nullopt;
    }
    const auto number = realOperation(expr, depth + 1);
    return number && expr.type.scalar == ScalarKind::Float
               ? std::optional(static_cast<double>(static_cast<float>(*number)))
               : number;
}

std::optional<double> IntegerValues::realOperation(const Expr& expr, int depth) const {
    if (expr.kind == ExprKind::Floating)
        return expr.floating;
    if (expr.kind == ExprKind::Cast)
        return real(expr.children.front(), depth);
    const std::string_view name = expr.kind == ExprKind::Call ? unqualified(expr.name) : "";
    if (expr.children.size() == 1 &&
        (name == "ceil" || name == "ceilf" || name == "floor" || name == "floorf")) {
        const auto operand = real(expr.children[0], depth);
        if (!operand)
            return std::nullopt;
        return name.starts_with("ceil") ? std::ceil(*operand) : std::floor(*operand);
    }
    if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
        return std::nullopt;
    const auto left = real(expr.children[0], depth);
    const auto right = left ? real(expr.children[1], depth) : std::nullopt;
    if (!right)
        return std::nullopt;
    if (expr.op == "+")
        return *left + *right;
    if (expr.op == "-")
        return *left - *right;
    if (expr.op == "*")
        return *left * *right;
    return expr.op == "/" && *right != 0 ? std::optional(*left / *right) : std::nullopt;
}

KnownExtents IntegerValues::extents(ExprId id, int depth) const {
    const ExprId plain = withoutCasts(id);
    if (plain == noId || depth > maxValueDepth)
        return {};
    const Expr& expr = body_.expr(plain);
    const bool isDim3Value = isDim3(expr.type) || expr.name == "dim3";
    if (expr.kind == ExprKind::Variable && expr.variable != noId && isDim3Value) {
        const ExprId fixed = fixedValue(expr.variable);
        return fixed == noId ? extentsByMember(expr.variable, depth + 1)
                             : extents(fixed, depth + 1);
    }
    const bool isConstruction = expr.kind == ExprKind::Other ||
                                (expr.kind == ExprKind::Call && unqualified(expr.name) == "dim3");
    if (expr.kind != ExprKind::InitList && !(isDim3Value && isConstruction))
        return isDim3Value ? KnownExtents{} : KnownExtents{truncated(id, depth + 1), 1, 1};
    if (expr.children.size() == 1 && isDim3(body_.expr(withoutCasts(expr.children[0])).type))
        return extents(expr.children[0], depth + 1);
    KnownExtents axes{1, 1, 1};
    if (expr.children.empty() || expr.children.size() > axes.size())
        return {};
    for (std::size_t i = 0; i < expr.children.size(); ++i)
        axes.at(i) = truncated(expr.children[i], depth + 1);
    return axes;
}

} // namespace kernelskill::analysis
