#include "skills/algorithm-cascading/linear_use.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class LinearUse {
public:
    LinearUse(const SkillContext& context, StmtId statement, VariableId variable)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          end_(body_.stmt(statement).span.end), sums_{variable} {}

    Gated<void> require() {
        findSums();
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            if (isBehind(id))
                KERNELSKILL_CHECK(requireLinear(id));
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            const Variable& variable = body_.variable(id);
            if (sums_.contains(id) && variable.init != noId && isBehind(variable.init))
                KERNELSKILL_CHECK(requireSummand(variable.init));
        }
        return requireTotal();
    }

private:
    [[nodiscard]] bool isBehind(ExprId id) const { return body_.expr(id).span.begin >= end_; }
    [[nodiscard]] std::uint32_t line(ExprId id) const {
        return lineNumber(context_, body_.expr(id).span.begin);
    }
    [[nodiscard]] std::unexpected<Refusal> notASum(ExprId id) const {
        return refuse("not-a-sum",
                      fmt::format("line {} does more with the threads' values than to add them up",
                                  line(id)));
    }

    /// The variables that hold sums.
    void findSums() {
        for (std::size_t before = 0; before != sums_.size();) {
            before = sums_.size();
            for (ExprId id = 0; id < body_.exprs.size(); ++id) {
                const Expr& expr = body_.expr(id);
                if (isBehind(id) && expr.kind == ExprKind::Binary && isAssignment(expr.op) &&
                    holdsSum(expr.children[1]))
                    if (const VariableId target = variableOf(expr.children[0]); target != noId)
                        sums_.insert(target);
            }
            for (VariableId id = 0; id < body_.variables.size(); ++id)
                if (body_.variable(id).init != noId && isBehind(body_.variable(id).init) &&
                    holdsSum(body_.variable(id).init))
                    sums_.insert(id);
        }
    }

    /// The variable or array that the lvalue belongs to.
    [[nodiscard]] VariableId variableOf(ExprId id) const {
        const Expr& expr = body_.expr(code_.withoutCasts(id));
        if (expr.kind == ExprKind::Subscript)
            return code_.namedVariable(expr.children[0]);
        return expr.kind == ExprKind::Variable ? expr.variable : noId;
    }

    [[nodiscard]] bool holdsSum(ExprId id) const {
        const auto below = code_.expressionsBelow(id);
        return std::ranges::any_of(below, [&](ExprId part) {
            return body_.expr(part).kind == ExprKind::Variable &&
                   sums_.contains(body_.expr(part).variable);
        });
    }

    /// An element or a variable that holds a sum.
    [[nodiscard]] bool isSum(ExprId id) const {
        const VariableId variable = variableOf(id);
        return variable != noId && sums_.contains(variable) && !isBase(id);
    }
    /// The array of a subscript, not its element.
    [[nodiscard]] bool isBase(ExprId id) const {
        const ExprId parent = code_.parent(id);
        return parent != noId && body_.expr(parent).kind == ExprKind::Subscript &&
               body_.expr(parent).children[0] == id;
    }

    /// Zero, a sum, or what exchanges, adds or chooses sums.
    [[nodiscard]] Gated<void> requireSummand(ExprId id) const {
        const ExprId inner = code_.withoutCasts(id);
        const Expr& expr = body_.expr(inner);
        if (isSum(inner) || (expr.kind == ExprKind::Integer && expr.integer == 0) ||
            (expr.kind == ExprKind::Floating && expr.floating == 0))
            return {};
        if (expr.kind == ExprKind::Binary && expr.op == "+") {
            KERNELSKILL_CHECK(requireSummand(expr.children[0]));
            return requireSummand(expr.children[1]);
        }
        if (expr.kind == ExprKind::Conditional && !holdsSum(expr.children[0])) {
            KERNELSKILL_CHECK(requireSummand(expr.children[1]));
            return requireSummand(expr.children[2]);
        }
        if (expr.kind == ExprKind::Call && isExchange(inner) && expr.children.size() > 1)
            return requireSummand(expr.children[1]);
        return notASum(inner);
    }

    /// A shuffle of a value, whose place in the warp decides what it is.
    [[nodiscard]] bool isExchange(ExprId call) const {
        return std::ranges::any_of(kernel_.warpOperations, [&](const WarpOperation& operation) {
            return operation.call == call && operation.kind == WarpOperationKind::Shuffle;
        });
    }

    /// Every use of a sum is one that requireSummand() or an atomic accepts.
    [[nodiscard]] Gated<void> requireLinear(ExprId id) const {
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Binary && isAssignment(expr.op)) {
            const VariableId target = variableOf(expr.children[0]);
            if (target == noId || !sums_.contains(target))
                return holdsSum(expr.children[1]) ? notASum(id) : Gated<void>{};
            if (expr.op != "=" && expr.op != "+=")
                return notASum(id);
            return requireSummand(expr.children[1]);
        }
        const bool isArray = expr.kind == ExprKind::Variable && isBase(id);
        if (!isSum(id) || isArray || (expr.kind == ExprKind::Cast))
            return {};
        // The expressions around the use, up to the statement's own, have to be linear.
        for (ExprId at = id; code_.parent(at) != noId; at = code_.parent(at)) {
            const ExprId parent = code_.parent(at);
            const Expr& above = body_.expr(parent);
            if ((above.kind == ExprKind::Binary && isAssignment(above.op)) || isAtomic(parent))
                return {};
            const bool isAddress = above.kind == ExprKind::Unary && above.op == "&" &&
                                   code_.parent(parent) != noId && isAtomic(code_.parent(parent));
            const bool isKnown = above.kind == ExprKind::Cast || isAddress ||
                                 (above.kind == ExprKind::Binary && above.op == "+") ||
                                 (above.kind == ExprKind::Conditional && above.children[0] != at) ||
                                 (isExchange(parent) && above.children[1] == at);
            if (!isKnown)
                return notASum(id);
        }
        const StmtId statement = code_.statement(id);
        return body_.stmt(statement).kind == StmtKind::Declaration ? Gated<void>{} : notASum(id);
    }

    /// The address of a sum of the block, `&s[0]` or `s`.
    [[nodiscard]] bool isOfArray(ExprId address) const {
        const Expr& expr = body_.expr(code_.withoutCasts(address));
        const bool isAddress = expr.kind == ExprKind::Unary && expr.op == "&";
        return variableOf(isAddress ? expr.children[0] : address) != noId;
    }

    [[nodiscard]] bool isAtomic(ExprId call) const {
        return std::ranges::any_of(kernel_.atomics,
                                   [&](const Atomic& atomic) { return atomic.call == call; });
    }

    /// The block's results leave it only as sums that atomicAdd adds to memory.
    [[nodiscard]] Gated<void> requireTotal() const {
        bool hasTotal = false;
        for (const Atomic& atomic : kernel_.atomics) {
            const Expr& call = body_.expr(atomic.call);
            if (code_.parent(atomic.call) != noId || call.name != "atomicAdd" ||
                call.children.size() != 2 || !isBehind(atomic.call))
                return notASum(atomic.call);
            if (!holdsSum(call.children[1]))
                return refuse("counts-blocks",
                              fmt::format("line {} counts threads or blocks", line(atomic.call)));
            KERNELSKILL_CHECK(requireSummand(call.children[1]));
            if (holdsSum(call.children[0]) && !isOfArray(call.children[0]))
                return notASum(atomic.call);
        }
        for (const MemoryAccess& access : kernel_.accesses) {
            if (access.space != MemorySpace::Global && access.space != MemorySpace::Generic)
                continue;
            if (access.kind == AccessKind::Read && isBehind(access.expression))
                return notASum(access.expression);
            if (access.kind != AccessKind::Read && access.kind != AccessKind::Atomic)
                return refuse("counts-blocks", fmt::format("line {} stores for each block",
                                                           line(access.expression)));
            hasTotal |= access.kind == AccessKind::Atomic;
        }
        if (!hasTotal)
            return refuse("no-total",
                          fmt::format("{} does not add its blocks' sums up", kernel_.name));
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    std::uint32_t end_;
    std::set<VariableId> sums_;
};

} // namespace

Gated<void> requireLinearUse(const SkillContext& context, StmtId statement, VariableId variable) {
    return LinearUse(context, statement, variable).require();
}

} // namespace kernelskill::skills
