#include "engine/repair/hazard_fixes/hazard_code.h"

#include "analysis/source/gpu_constants.h"

#include <algorithm>

namespace kernelskill::engine {

using namespace analysis;

namespace {} // namespace

HazardCode::HazardCode(const FileModel& file, const KernelModel& kernel)
    : file_(file), kernel_(kernel), map_(kernel.body), dependence_(kernel.body),
      layout_(*file.source, kernel) {
    hasGoto_ = std::ranges::any_of(body().stmts,
                                   [](const Stmt& stmt) { return stmt.kind == StmtKind::Goto; });
}

std::string HazardCode::text(Span span) const {
    return std::string(file_.source->slice(span));
}

std::uint32_t HazardCode::lineOf(std::uint32_t offset) const {
    return file_.source->lineColumn(offset).line;
}

std::vector<std::uint32_t> HazardCode::accessesOn(std::uint32_t line,
                                                  std::string_view object) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t index = 0; index < kernel_.accesses.size(); ++index) {
        const MemoryAccess& access = kernel_.accesses[index];
        const bool isIt = object.empty()
                              ? access.space == MemorySpace::Shared
                              : access.base != noId && body().variable(access.base).name == object;
        const Span span = expr(access.expression).span;
        if (isIt && lineOf(span.begin) <= line && line <= lineOf(span.end))
            found.push_back(index);
    }
    return found;
}

std::vector<StmtId> HazardCode::statementsOn(std::uint32_t line, std::string_view object) const {
    std::vector<StmtId> found;
    const auto add = [&](ExprId touched) {
        const StmtId statement = map_.statement(touched);
        if (statement != noId && std::ranges::find(found, statement) == found.end())
            found.push_back(statement);
    };
    for (const std::uint32_t access : accessesOn(line, object))
        add(kernel_.accesses[access].expression);
    for (VariableId variable = 0; variable < body().variables.size(); ++variable) {
        if (object.empty() || body().variable(variable).name != object)
            continue;
        for (const ExprId use : map_.uses(variable)) {
            if (lineOf(expr(use).span.begin) == line)
                add(use);
        }
    }
    if (found.empty()) {
        // For a statement over several lines, a compiler may report the first line.
        for (std::uint32_t index = 0; index < kernel_.accesses.size(); ++index) {
            const MemoryAccess& access = kernel_.accesses[index];
            const StmtId statement = map_.statement(access.expression);
            if (statement == noId || access.base == noId ||
                body().variable(access.base).name != object)
                continue;
            const StmtKind kind = stmt(statement).kind;
            const Span span = stmt(statement).span;
            if ((kind == StmtKind::Expression || kind == StmtKind::Declaration) &&
                lineOf(span.begin) <= line && line <= lineOf(span.end))
                add(access.expression);
        }
    }
    std::ranges::sort(found, {}, [&](StmtId id) { return stmt(id).span; });
    return found;
}

bool HazardCode::isUniform(ExprId condition) const {
    return condition == noId || dependence_.of(condition) == Dependence{};
}

bool HazardCode::isReachedByBlock(StmtId statement) const {
    return isReached(statement, [this](ExprId condition) { return isUniform(condition); });
}

bool HazardCode::isReachedByWarps(StmtId statement, const LaunchSpec& launch) const {
    return isReached(statement, [&](ExprId condition) {
        return isUniform(condition) || isOneForAWarp(condition, launch);
    });
}

bool HazardCode::isReached(StmtId statement, const Condition& agrees) const {
    if (hasGoto_)
        return false;
    for (StmtId at = statement; stmt(at).parent != noId; at = stmt(at).parent) {
        const StmtId parent = stmt(at).parent;
        switch (stmt(parent).kind) {
        case StmtKind::Compound:
            break;
        case StmtKind::If:
        case StmtKind::Switch:
            if (!agrees(stmt(parent).condition))
                return false;
            break;
        case StmtKind::Case:
            break;
        case StmtKind::For:
        case StmtKind::While:
        case StmtKind::Do:
            if (!agrees(stmt(parent).condition) || !leavesTogether(parent, agrees))
                return false;
            break;
        default:
            return false;
        }
    }
    return true;
}

/// Whether threads leave an iteration of the loop, or the loop, only together.
bool HazardCode::leavesTogether(StmtId loop, const Condition& agrees) const {
    for (const StmtId inner : map_.statementsIn(loop)) {
        const StmtKind kind = stmt(inner).kind;
        if (kind != StmtKind::Break && kind != StmtKind::Continue)
            continue;
        bool isOwn = true;
        bool isTogether = true;
        for (StmtId at = stmt(inner).parent; at != loop && at != noId; at = stmt(at).parent) {
            const StmtKind around = stmt(at).kind;
            isOwn &= !isLoop(around) && around != StmtKind::RangeFor &&
                     (around != StmtKind::Switch || kind == StmtKind::Continue);
            if (around == StmtKind::If || around == StmtKind::Switch)
                isTogether &= agrees(stmt(at).condition);
        }
        if (isOwn && !isTogether)
            return false;
    }
    return true;
}

bool HazardCode::isThreadIndex(ExprId id) const {
    const ExprId bare = map_.withoutCasts(id);
    const Expr& index = expr(bare);
    if (index.kind == ExprKind::BuiltinIndex)
        return index.name == "threadIdx" && index.axis == 0;
    if (index.kind != ExprKind::Variable || index.variable == noId ||
        map_.isEverWritten(index.variable))
        return false;
    const ExprId init = body().variable(index.variable).init;
    return init != noId && expr(map_.withoutCasts(init)).kind == ExprKind::BuiltinIndex &&
           isThreadIndex(init);
}

/// Whether a condition such as `threadIdx.x < 64` has one value for each warp of a one-dimensional
/// block.
bool HazardCode::isOneForAWarp(ExprId condition, const LaunchSpec& launch) const {
    if (launch.block.y != 1 || launch.block.z != 1 || condition == noId)
        return false;
    const Expr& compare = expr(map_.withoutCasts(condition));
    if (compare.kind != ExprKind::Binary || (compare.op != "<" && compare.op != ">="))
        return false;
    const auto limit = map_.constantValue(compare.children.at(1));
    return limit && *limit % analysis::warpLanes == 0 && isThreadIndex(compare.children.at(0));
}

bool HazardCode::isRepeatable(ExprId condition, StmtId meanwhile) const {
    for (const ExprId id : map_.expressionsBelow(condition)) {
        const Expr& part = expr(id);
        switch (part.kind) {
        case ExprKind::Integer:
        case ExprKind::Floating:
        case ExprKind::BuiltinIndex:
        case ExprKind::Cast:
            break;
        case ExprKind::Unary:
            if (part.op == "*" || part.op == "&" || isIncrement(part))
                return false;
            break;
        case ExprKind::Binary:
            if (isAssignment(part))
                return false;
            break;
        case ExprKind::Variable: {
            if (part.variable == noId)
                break;
            const Storage storage = body().variable(part.variable).storage;
            if (storage == Storage::Shared || storage == Storage::DynamicShared ||
                storage == Storage::DeviceGlobal)
                return false;
            const bool changes = std::ranges::any_of(map_.uses(part.variable), [&](ExprId use) {
                return map_.isWrite(use) && map_.holds(meanwhile, use);
            });
            if (changes)
                return false;
            break;
        }
        default:
            return false;
        }
    }
    return true;
}

} // namespace kernelskill::engine
