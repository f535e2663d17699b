#include "skills/schedule/position_range.h"

#include "analysis/model/known_functions.h"
#include "analysis/queries/grid_stride_loops.h"
#include "skills/gates/launch_sites.h"

#include <algorithm>
#include <array>
#include <limits>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr int maxPositionDepth = 16;
constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::optional<ValueRange> rangeOfBoth(const std::optional<ValueRange>& a,
                                      const std::optional<ValueRange>& b) {
    if (!a || !b)
        return std::nullopt;
    return ValueRange{std::min(a->low, b->low), std::max(a->high, b->high)};
}

/// Behind the statement the condition that leads to it does not hold.
bool leavesBlock(const FunctionBody& body, StmtId id) {
    const Stmt& stmt = body.stmt(id);
    if (stmt.kind == StmtKind::Compound)
        return !stmt.children.empty() && leavesBlock(body, stmt.children.back());
    return stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Continue ||
           stmt.kind == StmtKind::Break;
}

} // namespace

bool isWideInteger(const Type& type) {
    return type.pointerDepth == 0 && type.lanes == 1 && type.arrayExtents.empty() &&
           (type.scalar == ScalarKind::Int64 || type.scalar == ScalarKind::UInt64);
}

PositionRanges::PositionRanges(const SkillContext& context)
    : context_(context), code_(context.code()), body_(code_.body()) {
    if (requireKnownLaunches(context))
        for (const LaunchSite& launch : context.kernel.launches)
            if (launch.host != noId)
                launches_.emplace_back(context.shared(), launch);
    if (launches_.size() != context.kernel.launches.size())
        launches_.clear();
}

std::optional<ValueRange> PositionRanges::of(ExprId expr) const {
    return ofExpr(expr, 0);
}

PositionRanges::Range PositionRanges::ofExpr(ExprId id, int depth) const {
    if (id == noId || depth > maxPositionDepth)
        return std::nullopt;
    if (const auto found = known_.find(id); found != known_.end())
        return found->second;
    known_[id] = std::nullopt; // Where it is asked for on the way to itself.
    const Type& type = body_.expr(id).type;
    Range range = ofWide(id, depth);
    if (!isWideInteger(type)) {
        const Range narrow = valueRangeOf(context_.kernel, code_, id);
        const bool fits =
            range && narrow && narrow->low <= range->low && range->high <= narrow->high;
        if (!fits)
            range = narrow; // A narrow sum may wrap around.
    } else if (type.scalar == ScalarKind::UInt64 && range && range->low < 0) {
        const bool isQuotient = body_.expr(id).op == "/" && range->high >= 0;
        range = isQuotient ? Range(ValueRange{0, range->high}) : std::nullopt;
    }
    known_[id] = range;
    return range;
}

PositionRanges::Range PositionRanges::ofWide(ExprId id, int depth) const {
    const Expr& expr = body_.expr(id);
    const auto child = [&](std::size_t i) { return ofExpr(expr.children.at(i), depth + 1); };
    switch (expr.kind) {
    case ExprKind::Integer:
        return ValueRange{expr.integer, expr.integer};
    case ExprKind::BuiltinIndex:
        return builtin(expr);
    case ExprKind::Cast:
        return child(0);
    case ExprKind::Variable:
        return ofVariable(id, depth);
    case ExprKind::Conditional:
        return rangeOfBoth(child(1), child(2));
    case ExprKind::Binary:
        return expr.children.size() == 2 ? combined(expr.op, child(0), child(1)) : std::nullopt;
    case ExprKind::Call: {
        const std::string_view name = unqualified(expr.name);
        const bool isOne = !expr.isMethod && expr.children.size() == 2;
        return isOne && (name == "min" || name == "max") ? combined(name, child(0), child(1))
                                                         : std::nullopt;
    }
    default:
        return std::nullopt;
    }
}

PositionRanges::Range PositionRanges::builtin(const Expr& expr) const {
    constexpr std::int64_t maxBlocks = std::numeric_limits<std::int32_t>::max();
    constexpr std::int64_t maxThreads = 1024;
    const bool isOfBlock = expr.name == "threadIdx" || expr.name == "blockDim";
    std::int64_t extent = launches_.empty() ? isOfBlock ? maxThreads : maxBlocks : 1;
    for (const LaunchValues& launch : launches_)
        extent =
            std::max(extent, (isOfBlock ? launch.block() : launch.grid())[expr.axis % 3].value_or(
                                 isOfBlock ? maxThreads : maxBlocks));
    return expr.name == "threadIdx" || expr.name == "blockIdx" ? ValueRange{0, extent - 1}
                                                               : ValueRange{1, extent};
}

PositionRanges::Range PositionRanges::combined(std::string_view op, const Range& a,
                                               const Range& b) const {
    const bool isNatural = a && a->low >= 0;
    if (op == "%" && isNatural)
        return ValueRange{0, b && b->low > 0 ? std::min(a->high, b->high - 1) : a->high};
    if (op == "%" && b && b->low > 0)
        return ValueRange{-(b->high - 1), b->high - 1};
    // A divisor below 0 is one above 2^63 where it has no sign, or makes the quotient negative.
    if (op == "/" && isNatural)
        return ValueRange{b && b->low > 0 ? 0 : -a->high, a->high};
    if (op == ">>" && isNatural)
        return ValueRange{0, a->high};
    if (op == "&" && (isNatural || (b && b->low >= 0)))
        return ValueRange{0, isNatural ? a->high : b->high};
    if (!a || !b)
        return std::nullopt;
    if (op == "min")
        return ValueRange{std::min(a->low, b->low), std::min(a->high, b->high)};
    if (op == "max")
        return ValueRange{std::max(a->low, b->low), std::max(a->high, b->high)};
    ValueRange range;
    if (op == "+")
        return __builtin_add_overflow(a->low, b->low, &range.low) ||
                       __builtin_add_overflow(a->high, b->high, &range.high)
                   ? std::nullopt
                   : Range(range);
    if (op == "-")
        return __builtin_sub_overflow(a->low, b->high, &range.low) ||
                       __builtin_sub_overflow(a->high, b->low, &range.high)
                   ? std::nullopt
                   : Range(range);
    if (op != "*" || a->low < 0 || b->low < 0)
        return std::nullopt;
    return __builtin_mul_overflow(a->low, b->low, &range.low) ||
                   __builtin_mul_overflow(a->high, b->high, &range.high)
               ? std::nullopt
               : Range(range);
}

PositionRanges::Range PositionRanges::ofVariable(ExprId use, int depth) const {
    const VariableId id = body_.expr(use).variable;
    if (id == noId)
        return std::nullopt;
    const Variable& variable = body_.variable(id);
    if (variable.constantValue)
        return ValueRange{*variable.constantValue, *variable.constantValue};
    if (variable.storage == Storage::Parameter && !code_.isEverWritten(id))
        return ofParameter(id);
    if (variable.storage != Storage::Local)
        return std::nullopt;
    Range range = ofDefinitions(id, depth);
    if (!range && variable.type.scalar == ScalarKind::UInt64)
        range = ValueRange{0, unlimited};
    if (!range)
        return range;
    for (const ExprId limit : limitsAt(use))
        if (const Range bound = ofExpr(limit, depth + 1))
            range->high = std::min(range->high, bound->high - 1);
    return range->high >= unlimited - 1 ? std::nullopt : range;
}

/// A value that is not negative becomes a smaller one, which is not negative either.
bool PositionRanges::makesSmaller(const Expr& operation, int depth) const {
    if (operation.op == "%=" || operation.op == ">>=" || operation.op == "%" ||
        operation.op == ">>")
        return true;
    if (operation.op != "/=" && operation.op != "/")
        return false;
    const Range divisor = ofExpr(operation.children[1], depth + 1);
    return operation.type.scalar == ScalarKind::UInt64 || (divisor && divisor->low >= 0);
}

/// All values that a local is given. None is negative.
PositionRanges::Range PositionRanges::ofDefinitions(VariableId id, int depth) const {
    const Variable& variable = body_.variable(id);
    Range all;
    const auto add = [&](const Range& value) {
        if (value && value->low >= 0)
            all = all ? rangeOfBoth(all, value) : value;
        return value && value->low >= 0;
    };
    if (variable.init != noId && !add(ofExpr(variable.init, depth + 1)))
        return std::nullopt;
    bool grows = false;
    for (const ExprId use : code_.uses(id)) {
        if (!code_.isWrite(use))
            continue;
        const ExprId above = code_.parent(use);
        if (above == noId)
            return std::nullopt;
        const Expr& write = body_.expr(above);
        if (write.op == "++" || write.op == "p++") {
            grows = true;
        } else if (write.kind != ExprKind::Binary) {
            return std::nullopt;
        } else if (write.op == "+=") {
            const Range step = ofExpr(write.children[1], depth + 1);
            if (!step || step->low < 0)
                return std::nullopt;
            grows = true;
        } else if (!makesSmaller(write, depth) && !isSmallerSelf(id, write, depth) &&
                   (write.op != "=" || !add(ofExpr(write.children[1], depth + 1)))) {
            return std::nullopt;
        }
    }
    if (all && grows)
        all->high = unlimited;
    return all;
}

/// `i = i / w`.
bool PositionRanges::isSmallerSelf(VariableId id, const Expr& write, int depth) const {
    const Expr& value = body_.expr(write.children[1]);
    return write.op == "=" && value.kind == ExprKind::Binary &&
           code_.namedVariable(value.children[0]) == id && makesSmaller(value, depth);
}

PositionRanges::Range PositionRanges::ofParameter(VariableId id) const {
    const Type& type = body_.variable(id).type;
    Range all;
    bool isFirst = true;
    for (const LaunchSite& launch : context_.kernel.launches) {
        const Range passed = launches_.empty() ? std::nullopt : passedBy(launch, id);
        all = isFirst ? passed : rangeOfBoth(all, passed);
        isFirst = false;
    }
    if (!all && isWideInteger(type))
        unbounded_ = id;
    return all;
}

PositionRanges::Range PositionRanges::passedBy(const LaunchSite& launch, VariableId id) const {
    const auto& parameters = context_.kernel.parameters;
    const auto at = std::ranges::find(parameters, id, &Parameter::variable);
    const auto index = static_cast<std::size_t>(at - parameters.begin());
    if (index >= launch.arguments.size())
        return std::nullopt;
    const CodeMap& host = context_.shared().host(launch.host);
    ExprId argument = launch.arguments[index];
    if (const auto value = host.constantValue(argument))
        return ValueRange{*value, *value};
    while (host.body().expr(argument).kind == ExprKind::Cast &&
           isWideInteger(host.body().expr(argument).type))
        argument = host.body().expr(argument).children.front();
    // An extent is not negative.
    switch (host.body().expr(argument).type.scalar) {
    case ScalarKind::Int32:
        return ValueRange{0, std::numeric_limits<std::int32_t>::max()};
    case ScalarKind::UInt32:
        return ValueRange{0, std::numeric_limits<std::uint32_t>::max()};
    default:
        return std::nullopt;
    }
}

/// From `begin` on, in the order of the source, nothing in the statement changes the variable
/// before `use`.
bool PositionRanges::isKept(StmtId scope, std::uint32_t begin, ExprId use) const {
    const Stmt& stmt = body_.stmt(scope);
    return std::ranges::none_of(code_.uses(body_.expr(use).variable), [&](ExprId other) {
        const std::uint32_t at = body_.expr(other).span.begin;
        if (!code_.isWrite(other) || !code_.holds(scope, other) || at < begin)
            return false;
        const std::vector<ExprId> head =
            stmt.increment == noId ? std::vector<ExprId>{} : code_.expressionsBelow(stmt.increment);
        if (std::ranges::find(head, other) != head.end())
            return false; // The condition follows.
        const bool isRepeated = std::ranges::any_of(context_.kernel.loops, [&](const Loop& loop) {
            return loop.statement != scope && code_.encloses(scope, loop.statement) &&
                   code_.holds(loop.statement, use) && code_.holds(loop.statement, other);
        });
        return isRepeated || at < body_.expr(use).span.begin;
    });
}

void PositionRanges::addLimits(ExprId condition, bool holds, VariableId variable,
                               std::vector<ExprId>& limits) const {
    if (condition == noId)
        return;
    const Expr& expr = body_.expr(condition);
    if (expr.kind == ExprKind::Binary && expr.op == (holds ? "&&" : "||")) {
        addLimits(expr.children[0], holds, variable, limits);
        addLimits(expr.children[1], holds, variable, limits);
        return;
    }
    const auto check = boundsCheck(code_, condition);
    if (check && check->variable == variable && check->whenTrue == holds)
        limits.push_back(check->limit);
}

std::vector<ExprId> PositionRanges::limitsAt(ExprId use) const {
    std::vector<ExprId> limits;
    const VariableId variable = body_.expr(use).variable;
    StmtId inner = code_.statement(use);
    for (StmtId at = inner; at != noId; inner = at, at = body_.stmt(at).parent) {
        const Stmt& stmt = body_.stmt(at);
        const bool isLoop = stmt.kind == StmtKind::For || stmt.kind == StmtKind::While;
        const bool isBranch = stmt.kind == StmtKind::If && !stmt.children.empty();
        if ((isLoop || isBranch) && at != inner && stmt.init != inner && stmt.condition != noId &&
            isKept(at, body_.expr(stmt.condition).span.begin, use))
            addLimits(stmt.condition, isLoop || stmt.children[0] == inner, variable, limits);
        if (stmt.kind != StmtKind::Compound)
            continue;
        for (const StmtId before : stmt.children) {
            if (before == inner)
                break;
            const Stmt& guard = body_.stmt(before);
            if (guard.kind == StmtKind::If && guard.children.size() == 1 &&
                leavesBlock(body_, guard.children[0]) && isKept(at, guard.span.end, use))
                addLimits(guard.condition, false, variable, limits);
        }
    }
    return limits;
}

} // namespace kernelskill::skills
