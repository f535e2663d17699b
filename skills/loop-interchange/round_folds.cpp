#include "skills/loop-interchange/round_folds.h"

#include "analysis/model/scalar_kinds.h"
#include "analysis/nest/dependences.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/round_values.h"
#include "skills/schedule/distinct_stores.h"
#include "skills/schedule/fold_statement.h"
#include "skills/schedule/lane_fold.h"
#include "skills/schedule/nest_queries.h"
#include "skills/schedule/term_loop.h"
#include "skills/schedule/threads_apart.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

bool isNumber(ScalarKind scalar) {
    return scalar != ScalarKind::Unknown && scalar != ScalarKind::Void;
}

class FoldReader {
public:
    FoldReader(const SkillContext& context, const AdvancingLoop& outer, const AdvancingLoop& inner)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()), outer_(kernel_.loops.at(outer.counted.loop)),
          inner_(kernel_.loops.at(inner.counted.loop)) {}

    Gated<Numerics> read() {
        const NestNodeId outer = loopNode(nest_, outer_.statement);
        const NestNodeId inner = loopNode(nest_, inner_.statement);
        if (outer == noId || inner == noId)
            return refuse("unknown-effects",
                          fmt::format("the loop on line {} is not followed",
                                      lineNumber(context_, spanOf(outer_).begin)));
        KERNELSKILL_CHECK(requireKnownEffects(context_, outer));
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            KERNELSKILL_CHECK(readVariable(id));
        KERNELSKILL_CHECK(requireDistinctStores(context_, outer));
        KERNELSKILL_CHECK(readMemory(outer, inner));
        return numerics_;
    }

private:
    [[nodiscard]] Span spanOf(const Loop& loop) const { return body_.stmt(loop.statement).span; }
    [[nodiscard]] std::uint32_t line(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }

    /// Reads a variable from outside of the rounds, which the nest may follow as a number and have
    /// no accesses of.
    Gated<void> readVariable(VariableId id) {
        const Variable& variable = body_.variable(id);
        const auto written = std::ranges::find_if(code_.uses(id), [&](ExprId use) {
            return code_.holds(inner_.body, use) && code_.isWrite(use);
        });
        if (written == code_.uses(id).end() || !variable.type.arrayExtents.empty() || isOfRound(id))
            return {};
        const bool isOwn =
            variable.storage == Storage::Local || variable.storage == Storage::Parameter;
        std::string op;
        for (const ExprId use : code_.uses(id)) {
            if (!code_.holds(outer_.statement, use))
                continue;
            const std::string found = foldOperatorAt(code_, use, id);
            if (!isOwn || variable.type.isReference || variable.type.pointerDepth > 0 ||
                variable.type.lanes != 1 || found.empty() || (!op.empty() && found != op))
                return refuse("carried-dependence",
                              fmt::format("line {} changes {}, which other rounds use",
                                          line(*written), variable.name));
            op = found;
            KERNELSKILL_CHECK(takeFold(op, variable.type.scalar, code_.statement(use)));
        }
        return {};
    }

    /// Whether each round has a value of its own in the variable, which nothing uses later.
    [[nodiscard]] bool isOfRound(VariableId id) const {
        const StmtId declaration = code_.declarationOf(id);
        if (declaration != noId && code_.encloses(inner_.body, declaration))
            return true;
        const bool isSet = isSetInEachRound(code_, inner_.statement, id) ||
                           countsInnerLoops(kernel_, code_, inner_.body, id);
        return isSet && body_.variable(id).storage == Storage::Local &&
               !body_.variable(id).type.isReference &&
               !isAskedForLater(code_, outer_.statement, id, true);
    }

    /// Notes what another order of such folds does. An integer that floating-point numbers are
    /// folded into is rounded each time, so that no order stands for another.
    Gated<void> takeFold(std::string_view op, ScalarKind scalar, StmtId statement) {
        const Stmt& stmt = body_.stmt(statement);
        const bool isAssigned = stmt.expr != noId && body_.expr(stmt.expr).kind == ExprKind::Binary;
        const ScalarKind value =
            isAssigned ? body_.expr(body_.expr(stmt.expr).children[1]).type.scalar : scalar;
        if (!isNumber(scalar) || !isNumber(value) ||
            (!isFloatingScalar(scalar) && isFloatingScalar(value)))
            return refuse("carried-dependence",
                          fmt::format("the type of what line {} folds is not known, or rounds",
                                      lineNumber(context_, stmt.span.begin)));
        if (isFloatingScalar(scalar) && (op == "+" || op == "*"))
            numerics_ = Numerics::Reassociates;
        return {};
    }

    /// Requires that rounds which change their order meet in no element but by folding into it.
    Gated<void> readMemory(NestNodeId outer, NestNodeId inner) {
        Polyhedra polyhedra;
        const NestDependences crossed = crossedDependences(nest_, polyhedra, outer, inner);
        if (!crossed.isComplete)
            return refuse("carried-dependence",
                          fmt::format("the loops on lines {} and {} have too many accesses to "
                                      "compare",
                                      lineNumber(context_, spanOf(outer_).begin),
                                      lineNumber(context_, spanOf(inner_).begin)));
        const NestDependence* found = nullptr;
        for (const NestDependence& dependence : crossed.dependences) {
            if (isRead(dependence) || takesFold(dependence))
                continue;
            // One that is certain says more than one that holds under conditions.
            const bool isCertain = dependence.independence == NestCertainty::Broken;
            if (found == nullptr || (isCertain && found->independence != NestCertainty::Broken))
                found = &dependence;
        }
        if (found != nullptr)
            return refuse("carried-dependence", dependenceText(nest_, *found));
        return {};
    }

    /// Whether the dependence is one of a variable that readVariable() has read, or of an array
    /// that each round has anew.
    [[nodiscard]] bool isRead(const NestDependence& dependence) const {
        const NestAccess& from = nest_.accesses[dependence.from];
        const NestAccess& to = nest_.accesses[dependence.to];
        if (from.array == noId || from.array != to.array)
            return false;
        const NestArray& array = nest_.arrays[from.array];
        if (array.frame != 0 || !isThreadsOwn(array))
            return false;
        const StmtId declaration = code_.declarationOf(array.variable);
        if (declaration != noId && code_.encloses(inner_.body, declaration))
            return true;
        const auto isNamed = [&](const NestAccess& access) {
            return access.frame == 0 && access.expression != noId &&
                   code_.namedVariable(access.expression) == array.variable;
        };
        return array.isVariable && isNamed(from) && isNamed(to);
    }

    /// Whether both accesses are of one statement that does nothing with the element but fold into
    /// it.
    [[nodiscard]] bool takesFold(const NestDependence& dependence) {
        const NestAccess& from = nest_.accesses[dependence.from];
        const NestAccess& to = nest_.accesses[dependence.to];
        if (!dependence.isReduction || from.node != to.node || from.frame != 0 ||
            from.array == noId)
            return false;
        const NestArray& array = nest_.arrays[from.array];
        const NestStatement& statement = *nest_.node(from.node).computation();
        const std::string op = statement.reduction == "-" ? "+" : statement.reduction;
        int uses = 0;
        for (const NestAccessId id : statement.accesses) {
            const NestAccess& access = nest_.accesses[id];
            if (access.array != from.array)
                continue;
            if (!isSamePlace(access, from))
                return false;
            uses += access.kind == AccessKind::ReadWrite ? 2 : 1;
        }
        return uses == 2 && isFoldOperator(op) && array.lanes == 1 && !array.isLoaded &&
               takeFold(op, array.scalar, nest_.node(from.node).statement).has_value();
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    const Loop& outer_;
    const Loop& inner_;
    Numerics numerics_ = Numerics::Exact;
};

} // namespace

Gated<Numerics> exchangedNumerics(const SkillContext& context, const AdvancingLoop& outer,
                                  const AdvancingLoop& inner) {
    return FoldReader(context, outer, inner).read();
}

} // namespace kernelskill::skills
