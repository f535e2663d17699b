#include "skills/gates/update_gates.h"

#include "analysis/model/known_functions.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/source_layout.h"
#include "skills/base/gates.h"
#include "skills/gates/launch_sites.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Longer chains of names than people write; also ends a variable that stands for itself.
constexpr int maxSearchDepth = 16;

/// Finds conditions that hold for few threads of a block.
class ThreadChoice {
public:
    explicit ThreadChoice(const CodeMap& code) : code_(code), body_(code.body()) {}

    [[nodiscard]] bool choosesFew(ExprId condition) const {
        const Expr& expr = body_.expr(condition);
        if (expr.kind == ExprKind::Unary && expr.op == "!")
            return isIndexOfThread(expr.children[0], 0);
        if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
            return false;
        if (expr.op == "&&")
            return choosesFew(expr.children[0]) || choosesFew(expr.children[1]);
        return expr.op == "==" &&
               (isIndexOfThread(expr.children[0], 0) || isIndexOfThread(expr.children[1], 0));
    }

private:
    /// Whether the value is computed from the thread's index alone: `threadIdx.x`, `tid % 32`,
    /// `warp.thread_rank()`.
    [[nodiscard]] bool isIndexOfThread(ExprId expr, int depth) const {
        bool namesThread = false;
        for (const ExprId id : code_.expressionsBelow(expr)) {
            const Expr& at = body_.expr(id);
            if (at.kind == ExprKind::Call && unqualified(at.name) == "thread_rank") {
                namesThread = true;
                continue;
            }
            if (at.kind == ExprKind::Subscript || at.kind == ExprKind::Call ||
                (at.kind == ExprKind::Unary && at.op == "*"))
                return false;
            namesThread |= at.kind == ExprKind::BuiltinIndex && at.name == "threadIdx";
            if (at.kind == ExprKind::Variable && at.variable != noId && depth < maxSearchDepth &&
                body_.variable(at.variable).storage == Storage::Local &&
                body_.variable(at.variable).init != noId)
                namesThread |= isIndexOfThread(body_.variable(at.variable).init, depth + 1);
        }
        return namesThread;
    }

    const CodeMap& code_;
    const FunctionBody& body_;
};

/// Whether a device function that the kernel may call names the global variable.
bool isNamedInCalls(const SkillContext& context, const Variable& variable) {
    if (variable.storage != Storage::DeviceGlobal || context.kernel.calls.empty())
        return false;
    return std::ranges::any_of(context.file.deviceFunctions, [&](const KernelModel& function) {
        return std::ranges::any_of(function.body.variables, [&](const Variable& named) {
            return named.storage == Storage::DeviceGlobal && named.name == variable.name;
        });
    });
}

/// Whether the use is of another member of the object: `p->total` if the updates are of `p->count`.
bool isOtherMember(const CodeMap& code, const ContendedUpdates& updates, ExprId use) {
    const FunctionBody& body = code.body();
    const auto memberAround = [&](ExprId name) -> const Expr* {
        const ExprId parent = code.parent(name);
        return parent != noId && body.expr(parent).kind == ExprKind::Member ? &body.expr(parent)
                                                                            : nullptr;
    };
    const Expr* other = memberAround(use);
    if (other == nullptr)
        return false;
    return std::ranges::all_of(updates.sites, [&](const UpdateSite& site) {
        return std::ranges::all_of(code.expressionsBelow(site.address), [&](ExprId below) {
            const Expr& expr = body.expr(below);
            if (expr.kind != ExprKind::Variable || expr.variable != updates.base)
                return true;
            const Expr* own = memberAround(below);
            return own != nullptr && own->name != other->name;
        });
    });
}

/// Checks whether an address has one value for a block, for isSameForBlock().
class AddressReader {
public:
    AddressReader(const SkillContext& context, VariableId base, StmtId guard)
        : code_(context.code()), body_(code_.body()), base_(base), guard_(guard) {}

    [[nodiscard]] bool isSame(ExprId expr, int depth = 0) const {
        return std::ranges::all_of(code_.expressionsBelow(expr), [&](ExprId id) {
            const Expr& at = body_.expr(id);
            switch (at.kind) {
            case ExprKind::Integer:
            case ExprKind::Cast:
            case ExprKind::Subscript: // of the base alone: other arrays end the walk at their name
            case ExprKind::Member:
                return true;
            case ExprKind::Unary:
                return at.op == "&" || at.op == "-";
            case ExprKind::Binary:
                return !isAssignment(at.op);
            case ExprKind::BuiltinIndex:
                return at.name != "threadIdx";
            case ExprKind::Variable:
                return at.variable == base_ || (at.variable != noId && isSame(at, depth));
            default:
                return false;
            }
        });
    }

private:
    [[nodiscard]] bool isSame(const Expr& name, int depth) const {
        const Variable& variable = body_.variable(name.variable);
        if (variable.constantValue)
            return true;
        if (code_.isEverWritten(name.variable) || variable.type.pointerDepth > 0 ||
            !variable.type.arrayExtents.empty())
            return false;
        if (variable.storage == Storage::Parameter)
            return true;
        const StmtId declaration = code_.declarationOf(name.variable);
        const bool isDeclaredBefore =
            declaration != noId && body_.stmt(declaration).parent == body_.root &&
            (guard_ == noId || body_.stmt(declaration).span.begin < body_.stmt(guard_).span.begin);
        return isDeclaredBefore && variable.init != noId && depth < maxSearchDepth &&
               isSame(variable.init, depth + 1);
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    VariableId base_;
    StmtId guard_;
};

} // namespace

Gated<void> requireManyThreads(const SkillContext& context, ExprId call) {
    const CodeMap& code = context.code();
    const FunctionBody& body = code.body();
    const ThreadChoice choice(code);
    for (StmtId at = code.statement(call); at != noId; at = body.stmt(at).parent) {
        const Stmt& stmt = body.stmt(at);
        if (stmt.kind == StmtKind::If && stmt.condition != noId &&
            choice.choosesFew(stmt.condition))
            return refuse("one-thread-updates",
                          fmt::format("the condition on line {} already leaves the atomic on "
                                      "line {} to few threads",
                                      lineNumber(context, stmt.span.begin),
                                      lineNumber(context, body.expr(call).span.begin)));
    }
    return {};
}

Gated<void> requireUnseen(const SkillContext& context, const ContendedUpdates& updates) {
    const CodeMap& code = context.code();
    const FunctionBody& body = code.body();
    const Variable& base = body.variable(updates.base);
    const auto isInAddress = [&](ExprId use) {
        return std::ranges::any_of(updates.sites, [&](const UpdateSite& site) {
            return body.expr(site.address).span.contains(body.expr(use).span);
        });
    };
    std::size_t inAddresses = 0;
    for (const ExprId use : code.uses(updates.base)) {
        if (isInAddress(use))
            ++inAddresses;
        else if (!isOtherMember(code, updates, use))
            return refuse("used-beside",
                          fmt::format("{} is also used on line {}", base.name,
                                      lineNumber(context, body.expr(use).span.begin)));
    }
    if (inAddresses != updates.sites.size() || isNamedInCalls(context, base))
        return refuse(
            "used-beside",
            fmt::format("{} is also used on line {}", base.name,
                        lineNumber(context, body.expr(updates.sites.front().call).span.begin)));
    return requireNoOrder(context);
}

Gated<void> requireNoOrder(const SkillContext& context) {
    for (const Barrier& barrier : context.kernel.barriers)
        if (barrier.kind == BarrierKind::Fence || barrier.kind == BarrierKind::GridSync)
            return refuse(
                "orders-memory",
                fmt::format(
                    "line {} orders memory between blocks, which may wait for the updates",
                    lineNumber(context, context.kernel.body.expr(barrier.call).span.begin)));
    return {};
}

bool isSameForBlock(const SkillContext& context, VariableId base, StmtId guard, ExprId expr) {
    return AddressReader(context, base, guard).isSame(expr);
}

LaunchedThreads launchedThreads(const SkillContext& context) {
    const KernelModel& kernel = context.kernel;
    LaunchedThreads launched{!kernel.launches.empty(), 0};
    for (const LaunchSite& launch : kernel.launches) {
        const bool isFlat = launch.constantBlock.size() == 3 && launch.constantBlock[1] == 1 &&
                            launch.constantBlock[2] == 1;
        const bool isNumber =
            launch.host < context.file.hostFunctions.size() && launch.block != noId &&
            isIndexType(context.file.hostFunctions[launch.host].body.expr(launch.block).type);
        launched.isFlat &= isFlat || isNumber;
    }
    if (const auto blocks = launchedBlocks(context))
        for (const Extents& block : *blocks)
            launched.most = std::max(launched.most, block[0] * block[1] * block[2]);
    return launched;
}

Gated<void> requireOwnLinesOf(const SkillContext& context, const std::vector<UpdateSite>& sites) {
    const KernelModel& kernel = context.kernel;
    const SourceLayout layout(*context.file.source, kernel);
    if (!layout.endsLine(kernel.bodySpan.begin + 1) || !layout.startsLine(kernel.bodySpan.end - 1))
        return refuse("several-statements-a-line",
                      fmt::format("{} has statements on the lines of its brackets", kernel.name));
    for (const UpdateSite& site : sites) {
        const Span outermost = kernel.body.stmt(site.outermost).span;
        if (!layout.startsLine(outermost.begin) || !layout.endsLine(outermost.end))
            return refuse("several-statements-a-line",
                          fmt::format("line {} holds more than one statement",
                                      lineNumber(context, kernel.body.expr(site.call).span.begin)));
    }
    return {};
}

} // namespace kernelskill::skills
