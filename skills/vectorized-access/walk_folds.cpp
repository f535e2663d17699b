#include "skills/vectorized-access/walk_folds.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class WalkFolds {
public:
    WalkFolds(const SkillContext& context, const SharedWalk& walk)
        : context_(context), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()), loop_(context.kernel.loops[walk.effects.loop]),
          walk_(walk) {}

    /// Whether rounds change the variable, which is declared around the loop.
    [[nodiscard]] bool isFolded(VariableId variable) const {
        const auto writes = [&](ExprId use) {
            return code_.holds(loop_.body, use) && code_.isWrite(use);
        };
        const StmtId declaration = code_.declarationOf(variable);
        const bool isOuter = declaration == noId || !code_.encloses(loop_.body, declaration);
        return isOuter && variable != walk_.form.index &&
               body_.variable(variable).storage == Storage::Local &&
               std::ranges::any_of(code_.uses(variable), writes);
    }

    /// Rounds fold into variables of the thread alone, not into memory.
    [[nodiscard]] Gated<void> requireVariables(const LaneLoopReader& reader) const {
        if (reader.kept().empty())
            return {};
        return refuse("carries-over",
                      fmt::format("the loop on line {} folds into {}, which is in memory", line(),
                                  reader.kept().front().text));
    }

    /// Vectors give threads other elements, and so other ranks among equal ones.
    [[nodiscard]] Gated<void> requireNoRanks() const {
        if (walk_.effects.ranks.empty())
            return {};
        return refuse("order-of-equals",
                      fmt::format("the loop on line {} keeps the best few values in {} and others",
                                  line(),
                                  body_.variable(walk_.effects.ranks.front().best.front()).name));
    }

    /// A running mean counts and divides element by element, not group by group.
    [[nodiscard]] Gated<void> requireNoRunningMean() const {
        if (walk_.effects.welfords.empty())
            return {};
        return refuse("carries-over",
                      fmt::format("the loop on line {} keeps a running mean in {}, which the next "
                                  "round sees",
                                  line(),
                                  body_.variable(walk_.effects.welfords.front().mean).name));
    }

    /// The threads' folded values are combined further, so that it does not matter which elements
    /// were a thread's own.
    [[nodiscard]] Gated<void> requireFoldedFurther(const ThreadValues& values) const {
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            if (!isFolded(id))
                continue;
            const auto next = std::ranges::find_if(code_.uses(id), [&](ExprId use) {
                return body_.expr(use).span.begin > body_.stmt(walk_.statement).span.end &&
                       !foldsOn(use);
            });
            if (next == code_.uses(id).end() || handsOn(*next, values))
                continue;
            return refuse("kept-by-thread",
                          fmt::format("line {} uses a thread's own part of {}", lineOfExpr(*next),
                                      body_.variable(id).name));
        }
        return {};
    }

    /// Refuses if blocks store their own parts of a fold that the whole grid makes: vectors give
    /// each block other elements.
    [[nodiscard]] Gated<void> requireSumOfAll() const {
        const bool folds = !walk_.effects.folds.empty() || !walk_.effects.extremes.empty();
        if (walk_.sharers.kind != LoopSharers::Kind::Grid || !folds)
            return {};
        for (const MemoryAccess& access : context_.kernel.accesses)
            if ((access.kind == AccessKind::Write || access.kind == AccessKind::ReadWrite) &&
                access.space == MemorySpace::Global &&
                body_.expr(access.expression).span.begin > body_.stmt(walk_.statement).span.end)
                return refuse("kept-by-block",
                              fmt::format("line {} stores a block's own part of what the loop on "
                                          "line {} folds",
                                          lineOfExpr(access.expression), line()));
        return {};
    }

    /// Refuses a search for the largest or smallest value whose threads do not compare places:
    /// vectors give each thread other elements, so that another one of equal values would win.
    [[nodiscard]] Gated<void> requireOrderOfPlaces() const {
        for (const ExtremeFold& fold : walk_.effects.extremes) {
            if (fold.place == noId)
                continue;
            std::vector<VariableId> places{fold.place};
            for (const ExprId use : code_.uses(fold.place)) {
                const ExprId parent = code_.parent(use);
                if (parent == noId || body_.expr(parent).op != "=" || code_.isWrite(use))
                    continue;
                if (const VariableId kept = objectOf(body_.expr(parent).children[0]); kept != noId)
                    places.push_back(kept);
            }
            if (!comparesAny(places))
                return refuse("order-of-equals",
                              fmt::format("of equal elements, the one that {} names depends on "
                                          "which thread reads it",
                                          body_.variable(fold.place).name));
        }
        return {};
    }

private:
    [[nodiscard]] std::uint32_t line() const {
        return lineNumber(context_, body_.stmt(walk_.statement).span.begin);
    }
    [[nodiscard]] std::uint32_t lineOfExpr(ExprId expr) const {
        return lineNumber(context_, body_.expr(expr).span.begin);
    }
    [[nodiscard]] const NestLoop& nestLoop() const { return *nest_.node(walk_.node).loop(); }

    /// The variable that the expression names, or one of whose elements; noId for another.
    [[nodiscard]] VariableId objectOf(ExprId expression) const {
        ExprId at = code_.withoutCasts(expression);
        if (body_.expr(at).kind == ExprKind::Subscript)
            at = code_.withoutCasts(body_.expr(at).children[0]);
        return body_.expr(at).kind == ExprKind::Variable ? body_.expr(at).variable : noId;
    }

    /// Whether code behind the loop compares one of the variables, or elements of it, by order.
    [[nodiscard]] bool comparesAny(const std::vector<VariableId>& variables) const {
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            const Expr& expr = body_.expr(id);
            const bool isOrdering =
                expr.op == "<" || expr.op == ">" || expr.op == "<=" || expr.op == ">=";
            if (expr.kind != ExprKind::Binary || !isOrdering ||
                expr.span.begin < body_.stmt(walk_.statement).span.end)
                continue;
            for (const ExprId side : expr.children)
                if (std::ranges::find(variables, objectOf(side)) != variables.end())
                    return true;
        }
        return false;
    }

    /// Whether a further loop of the same threads folds into the variable.
    [[nodiscard]] bool foldsOn(ExprId use) const {
        return std::ranges::any_of(nest_.nodes, [&](const NestNode& node) {
            return node.loop() != nullptr && node.frame == 0 &&
                   node.loop()->style == nestLoop().style && code_.holds(node.statement, use) &&
                   code_.isWrite(use);
        });
    }

    /// Whether the use's statement exchanges the value with other threads, or stores it for them.
    [[nodiscard]] bool handsOn(ExprId use, const ThreadValues& values) const {
        ExprId outermost = use;
        while (code_.parent(outermost) != noId)
            outermost = code_.parent(outermost);
        if (values.exchanges(outermost))
            return true;
        const Expr& expr = body_.expr(outermost);
        if (expr.kind != ExprKind::Binary || !isAssignment(expr.op))
            return false;
        const auto below = code_.expressionsBelow(expr.children[0]);
        return std::ranges::any_of(below, [&](ExprId id) {
            const VariableId variable = body_.expr(id).variable;
            return body_.expr(id).kind == ExprKind::Variable && variable != noId &&
                   (body_.variable(variable).storage == Storage::Shared ||
                    body_.variable(variable).storage == Storage::DynamicShared);
        });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    const Loop& loop_;
    const SharedWalk& walk_;
};

} // namespace

bool isFolded(const SkillContext& context, const SharedWalk& walk, VariableId variable) {
    return WalkFolds(context, walk).isFolded(variable);
}

Gated<void> requireFoldsByGroups(const SkillContext& context, const SharedWalk& walk,
                                 const LaneLoopReader& reader) {
    const WalkFolds folds(context, walk);
    KERNELSKILL_CHECK(folds.requireVariables(reader));
    KERNELSKILL_CHECK(folds.requireNoRunningMean());
    return folds.requireNoRanks();
}

Gated<void> requireFoldsOfAll(const SkillContext& context, const SharedWalk& walk,
                              const ThreadValues& values) {
    const WalkFolds folds(context, walk);
    KERNELSKILL_CHECK(folds.requireFoldedFurther(values));
    KERNELSKILL_CHECK(folds.requireSumOfAll());
    return folds.requireOrderOfPlaces();
}

} // namespace kernelskill::skills
