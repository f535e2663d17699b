#include "skills/block-coarsening/surplus_parts.h"

#include "analysis/model/dependence.h"
#include "analysis/queries/loop_effects.h"

#include <algorithm>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class SurplusJudge {
public:
    SurplusJudge(const SkillContext& context, const StatementRoles& roles, std::uint8_t axis)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          roles_(roles), axis_(axis), dependence_(body_) {}

    [[nodiscard]] std::vector<bool> judge() const {
        std::vector<bool> guarded(roles_.runs().size());
        bool isGuarded = false;
        for (std::size_t run = 0; run < guarded.size(); ++run) {
            isGuarded = isGuarded || !isHarmless(run);
            guarded[run] = isGuarded;
            // The rounds of a loop come back to its first run.
            const StmtId loop = isGuarded ? loopAround(run) : noId;
            for (std::size_t other = 0; loop != noId && other < run; ++other)
                if (loopAround(other) == loop)
                    guarded[other] = true;
        }
        return guarded;
    }

private:
    /// The outermost loop around the run; noId if there is none.
    [[nodiscard]] StmtId loopAround(std::size_t run) const {
        StmtId loop = noId;
        for (StmtId at = roles_.runs()[run].statements.front().statement; at != noId;
             at = body_.stmt(at).parent)
            if (isLoop(body_.stmt(at)))
                loop = at;
        return loop;
    }

    [[nodiscard]] static bool isLoop(const Stmt& stmt) {
        return stmt.kind == StmtKind::For || stmt.kind == StmtKind::While ||
               stmt.kind == StmtKind::Do;
    }

    [[nodiscard]] bool isHarmless(std::size_t run) const {
        return std::ranges::all_of(roles_.runs()[run].statements, [&](const RoledStatement& each) {
            return haveOwnRounds(each.statement) && callsAreKnown(each.statement) &&
                   std::ranges::all_of(kernel_.accesses, [&](const MemoryAccess& access) {
                       return !code_.holds(each.statement, access.expression) ||
                              isHarmless(access, each.statement);
                   });
        });
    }

    /// No loop below the statement goes round as often as data say.
    [[nodiscard]] bool haveOwnRounds(StmtId statement) const {
        return std::ranges::all_of(code_.statementsIn(statement), [&](StmtId id) {
            const Stmt& stmt = body_.stmt(id);
            return stmt.kind != StmtKind::Return && stmt.kind != StmtKind::RangeFor &&
                   (!isLoop(stmt) ||
                    (stmt.condition != noId && !dependence_.of(stmt.condition).onData));
        });
    }

    [[nodiscard]] bool callsAreKnown(StmtId statement) const {
        return std::ranges::all_of(code_.expressionsIn(statement), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            const auto isShuffle = [&](const WarpOperation& operation) {
                return operation.call == id;
            };
            return expr.kind != ExprKind::Other &&
                   (expr.kind != ExprKind::Call || expr.name == "min" || expr.name == "max" ||
                    isKnownCall(context_.file, kernel_, expr) ||
                    std::ranges::any_of(kernel_.warpOperations, isShuffle));
        });
    }

    [[nodiscard]] bool isHarmless(const MemoryAccess& access, StmtId statement) const {
        const bool isOwn =
            access.space == MemorySpace::Shared || access.space == MemorySpace::Local;
        const bool isRead = access.kind == AccessKind::Read;
        if (isOwn || (access.space == MemorySpace::Constant && isRead))
            return !followsData(access.expression);
        return access.space == MemorySpace::Global && isRead && isBounded(access, statement);
    }

    /// Whether the address depends on loaded values.
    [[nodiscard]] bool followsData(ExprId lvalue) const {
        return std::ranges::any_of(code_.expressionsBelow(lvalue),
                                   [&](ExprId id) {
                                       const Expr& expr = body_.expr(id);
                                       return expr.kind == ExprKind::Subscript &&
                                              dependence_.of(expr.children[1]).onData;
                                   }) ||
               body_.expr(lvalue).kind == ExprKind::Unary;
    }

    /// Whether a condition within the statement asks for the part's position.
    [[nodiscard]] bool isBounded(const MemoryAccess& access, StmtId statement) const {
        for (ExprId at = access.expression; at != noId; at = code_.parent(at)) {
            const ExprId parent = code_.parent(at);
            if (parent != noId && body_.expr(parent).kind == ExprKind::Conditional &&
                body_.expr(parent).children[0] != at &&
                asksForPosition(body_.expr(parent).children[0]))
                return true;
        }
        return std::ranges::any_of(access.conditions, [&](StmtId condition) {
            return code_.encloses(statement, condition) &&
                   asksForPosition(body_.stmt(condition).condition);
        });
    }

    [[nodiscard]] bool asksForPosition(ExprId condition) const {
        return std::ranges::any_of(code_.expressionsBelow(condition), [&](ExprId id) {
            const Expr& expr = body_.expr(id);
            std::set<VariableId> seen;
            return isBlock(expr) || (expr.kind == ExprKind::Variable && expr.variable != noId &&
                                     roles_.differs(expr.variable) && !dependence_.of(id).onData &&
                                     followsBlock(expr.variable, seen));
        });
    }

    [[nodiscard]] bool isBlock(const Expr& expr) const {
        return expr.kind == ExprKind::BuiltinIndex && expr.name == "blockIdx" && expr.axis == axis_;
    }

    /// Whether something that the variable is set to asks for the block: a counter of rounds that
    /// each part has for its own does not.
    [[nodiscard]] bool followsBlock(VariableId variable, std::set<VariableId>& seen) const {
        if (!seen.insert(variable).second)
            return false;
        const auto asks = [&](ExprId value) {
            return value != noId &&
                   std::ranges::any_of(code_.expressionsBelow(value), [&](ExprId id) {
                       const Expr& expr = body_.expr(id);
                       return isBlock(expr) ||
                              (expr.kind == ExprKind::Variable && expr.variable != noId &&
                               followsBlock(expr.variable, seen));
                   });
        };
        if (asks(body_.variable(variable).init))
            return true;
        return std::ranges::any_of(code_.uses(variable), [&](ExprId use) {
            const ExprId assignment = code_.parent(use);
            return code_.isWrite(use) && assignment != noId &&
                   body_.expr(assignment).kind == ExprKind::Binary &&
                   asks(body_.expr(assignment).children[1]);
        });
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const StatementRoles& roles_;
    std::uint8_t axis_;
    DependenceAnalysis dependence_;
};

} // namespace

std::vector<bool> guardedRuns(const SkillContext& context, const StatementRoles& roles,
                              std::uint8_t axis) {
    return SurplusJudge(context, roles, axis).judge();
}

} // namespace kernelskill::skills
