#include "skills/rows-in-turn/turn_loops.h"

#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/schedule/apart_by_races.h"
#include "skills/schedule/distinct_stores.h"
#include "skills/schedule/lane_rows.h"
#include "skills/schedule/lane_sectors.h"
#include "skills/schedule/nest_queries.h"
#include "skills/schedule/promote.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The min ratio of the sectors before to those after that is worth an edit: each turn also passes
/// the row's values on, and folds what the lanes found.
constexpr double minOverfetch = 2;

class TurnFinder {
public:
    explicit TurnFinder(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()), reader_(context) {}

    Gated<TurnLoops> find() {
        KERNELSKILL_CHECK(requireEditable(context_));
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id)
            takeLoop(id);
        if (turns_.shared.loops.empty())
            return std::unexpected(refusal_.value_or(Refusal{
                "no-row-loop",
                fmt::format("no loop of {} walks along the row of its thread", kernel_.name)}));
        turns_.shared.kept = reader_.kept();
        turns_.shared.names = registerNames(context_, turns_.shared.kept);
        for (LaneLoop& loop : turns_.shared.loops)
            KERNELSKILL_CHECK(
                requireDistinctStores(context_, loop.node, [&](const NestAccess& store) {
                    return keptWith(turns_.shared.kept, store) != nullptr;
                }));
        if (laneRows(context_, RowSharers::Warp))
            return refuse("whole-rows",
                          fmt::format("each row of {} can be given to a warp of its own, which "
                                      "costs no turns",
                                      kernel_.name));
        return std::move(turns_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    /// Takes the loop if lanes can share its rounds and it pays; keeps its refusal if not.
    void takeLoop(NestNodeId id) {
        const NestNode& node = nest_.node(id);
        if (node.loop() == nullptr || node.frame != 0 ||
            sharedLoopAround(nest_, turns_.shared, id) != nullptr)
            return;
        const LaneSectors sectors = laneSectors(nest_, id);
        if (sectors.asLanes * minOverfetch > sectors.asThreads || !hasRows(id)) {
            if (!refusal_)
                refusal_ = Refusal{"coalesced",
                                   fmt::format("lanes side by side in the loop on line {} would "
                                               "hardly touch fewer sectors",
                                               line(node.span))};
            return;
        }
        if (hasFurtherAxis(id)) {
            if (!refusal_)
                refusal_ = Refusal{"several-axes",
                                   fmt::format("the loop on line {} reads by two axes of the "
                                               "block, which tiles of both serve better",
                                               line(node.span))};
            return;
        }
        auto values = readLoop(id);
        if (values) {
            turns_.shared.loops.push_back(std::move(values->first));
            turns_.values.push_back(std::move(values->second));
            turns_.sectorsBefore += sectors.asThreads;
            turns_.sectorsAfter += sectors.asLanes;
            return;
        }
        if (!isReadError_)
            refusal_ = std::move(values.error());
        isReadError_ = true;
    }

    /// Whether threads are as far apart in an access of the loop as the text tells, or begin where
    /// memory says: windows that neighbours share are no rows.
    [[nodiscard]] bool hasRows(NestNodeId id) const {
        const NestLoop& loop = *nest_.node(id).loop();
        if (loop.first && nest_.symbols.contains(*loop.first, NestSymbolKind::Value))
            return true;
        return std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
            if (access.array == noId || isThreadsOwn(nest_, access) || !access.index ||
                !isInside(nest_, id, access.node) || !access.index->dependsOn(loop.iterator))
                return false;
            const auto distance = threadDistance(nest_, access);
            const auto elements = distance ? distance->asConstant() : std::nullopt;
            return distance && (!elements || std::abs(*elements) >= warpLanes);
        });
    }

    /// Whether the threads' number along y or z decides what rounds of the loop use.
    [[nodiscard]] bool hasFurtherAxis(NestNodeId id) const {
        const auto isFurther = [&](Symbol symbol) {
            const NestSymbol* named = nest_.symbols.find(symbol);
            return named == nullptr ? symbol.kind == SymbolKind::ThreadIdx && symbol.id > 0
                                    : named->kind == NestSymbolKind::Position && named->axis > 0;
        };
        return std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
            return access.index && isInside(nest_, id, access.node) &&
                   std::ranges::any_of(access.index->terms(), [&](const auto& term) {
                       return std::ranges::any_of(term.first, isFurther);
                   });
        });
    }

    [[nodiscard]] Gated<std::pair<LaneLoop, RowValues>> readLoop(NestNodeId id) {
        KERNELSKILL_TRY(LaneLoop loop, reader_.read(id));
        const Loop& counted = kernel_.loops[loop.loop];
        if (!loop.extremes.empty() || !loop.ranks.empty() || !loop.welfords.empty() ||
            std::ranges::any_of(loop.folds, [](const LaneFold& fold) { return fold.op == "*"; }))
            return refuse("fold-operator",
                          fmt::format("the loop on line {} folds by an operator that a group of "
                                      "lanes cannot reduce in one call",
                                      line(nest_.node(id).span)));
        const Expr& lower = body_.expr(counted.lowerBound);
        if (lower.kind == ExprKind::Conditional || lower.kind == ExprKind::Other ||
            (lower.kind == ExprKind::Binary && lower.op != "+" && lower.op != "-" &&
             lower.op != "*" && lower.op != "/" && lower.op != "%"))
            return refuse("no-row-loop",
                          fmt::format("the first round of the loop on line {} is chosen by a "
                                      "condition",
                                      line(nest_.node(id).span)));
        KERNELSKILL_CHECK(requireKnownRounds(id));
        KERNELSKILL_TRY(RowValues values, rowValues(loop));
        addSyncs(id, loop);
        return std::pair{std::move(loop), std::move(values)};
    }

    /// Refuses rounds in which threads meet, whose effects are not known, or which call functions
    /// that ask for the thread.
    [[nodiscard]] Gated<void> requireKnownRounds(NestNodeId loop) const {
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id) {
            if (!isInside(nest_, loop, id))
                continue;
            const NestNode& node = nest_.node(id);
            if (node.barrier() != nullptr)
                return refuse("barrier", fmt::format("threads wait for each other on line {}",
                                                     line(node.span)));
            if (const NestStatement* statement = node.computation();
                statement != nullptr &&
                (!statement->opaque.empty() || !statement->exchange.empty()))
                return refuse("unknown-effects",
                              fmt::format("line {}: {}{}", line(node.span), statement->opaque,
                                          statement->exchange));
        }
        for (const NestFrame& frame : nest_.frames) {
            if (frame.caller == noId)
                continue;
            const KernelModel& function = functionOf(context_.file, kernel_, frame);
            if (std::ranges::any_of(function.body.exprs, isThreadNumber))
                return refuse("uses-thread-position", function.name + " asks which thread it is");
        }
        return {};
    }
    [[nodiscard]] static bool isThreadNumber(const Expr& expr) {
        return expr.kind == ExprKind::BuiltinIndex && expr.name == "threadIdx";
    }

    /// Finds the variables and parts of threadIdx that the loop uses and that differ between
    /// threads.
    [[nodiscard]] Gated<RowValues> rowValues(const LaneLoop& loop) const {
        RowValues values;
        for (const ExprId id : code_.expressionsIn(loop.statement)) {
            const Expr& expr = body_.expr(id);
            if (!isThreadNumber(expr) || isOfFold(id))
                continue;
            if (expr.fromMacro || !context_.file.source->slice(expr.span).starts_with("threadIdx."))
                return refuse("from-macro", fmt::format("line {} does not write out which part of "
                                                        "threadIdx it uses",
                                                        line(expr.span)));
            values.positions.push_back(id);
        }
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            const Variable& variable = body_.variable(id);
            const StmtId declaration = code_.declarationOf(id);
            if ((variable.storage != Storage::Local && variable.storage != Storage::Parameter) ||
                (declaration != noId && code_.encloses(loop.statement, declaration)) ||
                isFold(loop, variable) || isSameForAll(id))
                continue;
            RowVariable row{id, {}};
            bool isWritten = false;
            for (const ExprId use : code_.uses(id)) {
                if (!code_.holds(loop.statement, use) || isOfFold(use))
                    continue;
                row.uses.push_back(use);
                isWritten |= code_.isWrite(use);
                if (body_.expr(use).fromMacro)
                    return refuse("from-macro",
                                  fmt::format("{} on line {} comes out of a macro", variable.name,
                                              line(body_.expr(use).span)));
            }
            if (row.uses.empty() || isWritten) // Rounds set for themselves what they write.
                continue;
            const Type& type = variable.type;
            const bool isNumber =
                type.pointerDepth == 0 && type.lanes == 1 && type.scalar != ScalarKind::Unknown;
            if (type.isReference || !type.arrayExtents.empty() || type.isVolatile ||
                (!isNumber && type.pointerDepth != 1))
                return refuse("row-values",
                              fmt::format("{}, which the loop on line {} uses, is no "
                                          "number that lanes pass on",
                                          variable.name, line(nest_.node(loop.node).span)));
            values.variables.push_back(std::move(row));
        }
        return values;
    }
    /// Whether the expression is part of an element that rounds fold into.
    [[nodiscard]] bool isOfFold(ExprId expr) const {
        for (ExprId at = expr; at != noId; at = code_.parent(at))
            for (const KeptElement& element : reader_.kept())
                if (std::ranges::find(element.uses, at) != element.uses.end())
                    return true;
        return false;
    }
    [[nodiscard]] static bool isFold(const LaneLoop& loop, const Variable& variable) {
        return std::ranges::find(loop.folds, variable.name, &LaneFold::name) != loop.folds.end();
    }

    /// Whether the variable has one value for all threads of a block as long as it lives.
    [[nodiscard]] bool isSameForAll(VariableId id) const {
        const Variable& variable = body_.variable(id);
        if (variable.storage != Storage::Local && variable.storage != Storage::Parameter)
            return variable.storage != Storage::Shared &&
                   variable.storage != Storage::DynamicShared;
        if (variable.constantValue)
            return true;
        if (code_.isEverWritten(id) || variable.type.isReference)
            return false;
        if (variable.storage == Storage::Parameter)
            return true;
        return variable.init != noId &&
               std::ranges::all_of(code_.expressionsBelow(variable.init), [&](ExprId at) {
                   const Expr& expr = body_.expr(at);
                   switch (expr.kind) {
                   case ExprKind::Integer:
                   case ExprKind::Floating:
                   case ExprKind::Cast:
                   case ExprKind::Conditional:
                       return true;
                   case ExprKind::Binary:
                       return !isAssignment(expr.op);
                   case ExprKind::Unary:
                       return expr.op == "-" || expr.op == "~" || expr.op == "!";
                   case ExprKind::BuiltinIndex:
                       return !isThreadNumber(expr);
                   case ExprKind::Variable:
                       return expr.variable != noId && isSameForAll(expr.variable);
                   default:
                       return false;
                   }
               });
    }

    /// Makes lanes wait before and after the loop where its rounds use memory that threads store to
    /// outside of it, or the reverse: other lanes than the row's own run these rounds then.
    void addSyncs(NestNodeId id, LaneLoop& loop) const {
        for (const NestAccess& inside : nest_.accesses) {
            if (inside.array == noId || isThreadsOwn(nest_, inside) ||
                !isInside(nest_, id, inside.node) || keptWith(reader_.kept(), inside) != nullptr)
                continue;
            for (const NestAccess& other : nest_.accesses) {
                const bool isStored =
                    inside.kind != AccessKind::Read || other.kind != AccessKind::Read;
                if (other.array != inside.array || isInside(nest_, id, other.node) || !isStored)
                    continue;
                loop.syncsBefore = true;
                loop.syncsAfter = true;
            }
        }
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    LaneLoopReader reader_;
    std::optional<Refusal> refusal_; ///< The first refusal of a loop.
    bool isReadError_ = false;       ///< The refusal says more than that a loop does not pay.
    TurnLoops turns_;
};

} // namespace

Gated<TurnLoops> turnLoops(const SkillContext& context) {
    return TurnFinder(context).find();
}

} // namespace kernelskill::skills
