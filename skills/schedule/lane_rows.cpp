#include "skills/schedule/lane_rows.h"

#include "analysis/nest/dependences.h"
#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/launch_extents.h"
#include "analysis/queries/source_words.h"
#include "analysis/source/gpu_constants.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/gates/launch_sites.h"
#include "skills/schedule/nest_queries.h"
#include "skills/schedule/promote.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr double sectorBytes = 32;
/// The sectors before over those after that are worth an edit.
constexpr double minOverfetch = 1.5;

/// The sectors of a warp whose lanes are `stride` elements of `width` bytes apart; nullopt: by a
/// number that the launch decides.
double sectorsOf(std::optional<std::int64_t> stride, double width) {
    if (!stride)
        return warpLanes;
    const double span = std::abs(static_cast<double>(*stride)) * width * warpLanes;
    return std::clamp(std::ceil(span / sectorBytes), 1.0, static_cast<double>(warpLanes));
}

class RowFinder {
public:
    explicit RowFinder(const SkillContext& context)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()), layout_(*context.file.source, context.kernel),
          reader_(context) {}

    Gated<LaneRows> find() {
        KERNELSKILL_CHECK(requireEditable(context_));
        KERNELSKILL_CHECK(findRow());
        KERNELSKILL_CHECK(requireThreadsApart());
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id)
            KERNELSKILL_CHECK(takeLoop(id));
        if (rows_.loops.empty())
            return std::unexpected(refusal_.value_or(Refusal{
                "no-row-loop",
                fmt::format("no loop of {} walks along the row of its thread", kernel_.name)}));
        rows_.kept = reader_.kept();
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id)
            KERNELSKILL_CHECK(requireAlike(id));
        for (LaneLoop& loop : rows_.loops)
            findMeetings(loop);
        KERNELSKILL_CHECK(requireDistinctWrites(context_));
        KERNELSKILL_CHECK(requireWholeWarps());
        rows_.names = registerNames(context_, rows_.kept);
        for (LaneLoop& loop : rows_.loops)
            for (LaneFold& fold : loop.folds)
                for (std::size_t i = 0; i < rows_.kept.size(); ++i)
                    if (fold.name == rows_.kept[i].text)
                        fold.name = rows_.names[i];
        return std::move(rows_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    Gated<void> findRow() {
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            const Variable& variable = body_.variable(id);
            const StmtId declaration = code_.declarationOf(id);
            if (variable.storage != Storage::Local || variable.init == noId ||
                declaration == noId || code_.isEverWritten(id) ||
                body_.expr(variable.init).fromMacro ||
                polynomialOf(code_, variable.init) != flatThreadIndex() ||
                body_.stmt(declaration).declared.size() != 1 ||
                !hasOwnLines(body_, layout_, declaration, declaration))
                continue;
            rows_.row = id;
        }
        if (rows_.row == noId)
            return refuse("no-row-index",
                          fmt::format("no variable of {} is blockIdx.x * blockDim.x + threadIdx.x",
                                      kernel_.name));
        const auto init = code_.expressionsBelow(body_.variable(rows_.row).init);
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            if (body_.expr(id).kind == ExprKind::BuiltinIndex &&
                std::ranges::find(init, id) == init.end())
                return refuse("uses-thread-position",
                              fmt::format("line {} uses {} beside {}", line(body_.expr(id).span),
                                          body_.expr(id).name, body_.variable(rows_.row).name));
        return {};
    }

    /// Threads know nothing of each other.
    [[nodiscard]] Gated<void> requireThreadsApart() const {
        if (!kernel_.sharedArrays.empty())
            return refuse("shares-memory", kernel_.name + " uses shared memory");
        if (!kernel_.warpOperations.empty())
            return refuse("warp-operation",
                          fmt::format("{} exchanges values between lanes", kernel_.name));
        for (const NestNode& node : nest_.nodes) {
            if (node.barrier() != nullptr)
                return refuse("barrier", fmt::format("threads wait for each other on line {}",
                                                     line(node.span)));
            const NestStatement* statement = node.computation();
            if (statement != nullptr && !statement->opaque.empty())
                return refuse("unknown-effects",
                              fmt::format("line {}: {}", line(node.span), statement->opaque));
        }
        for (const NestFrame& frame : nest_.frames) {
            const FunctionBody& callee = functionOf(context_.file, kernel_, frame).body;
            if (frame.caller != noId && std::ranges::any_of(callee.exprs, [](const Expr& expr) {
                    return expr.kind == ExprKind::BuiltinIndex;
                }))
                return refuse("uses-thread-position",
                              functionOf(context_.file, kernel_, frame).name +
                                  " asks which thread it is");
        }
        return {};
    }

    [[nodiscard]] const LaneLoop* loopAround(NestNodeId node) const {
        for (NestNodeId at = node; at != noId; at = nest_.node(at).parent)
            for (const LaneLoop& loop : rows_.loops)
                if (nest_.node(at).loop() != nullptr && nest_.node(at).frame == 0 &&
                    nest_.node(at).statement == loop.statement)
                    return &loop;
        return nullptr;
    }
    /// Takes the loop if lanes can share it and it pays; its refusal is kept if not.
    Gated<void> takeLoop(NestNodeId id) {
        const NestLoop* loop = nest_.node(id).loop();
        if (loop == nullptr || nest_.node(id).frame != 0 || loopAround(id) != nullptr)
            return {};
        double before = 0;
        double after = 0;
        for (const NestAccess& access : nest_.accesses) {
            if (isThreadsOwn(nest_, access) || access.array == noId ||
                !isInside(nest_, id, access.node))
                continue;
            const double width = std::max<double>(access.width, 1);
            before += sectorsOf(strideOf(access, Symbol{SymbolKind::ThreadIdx, 0}), width);
            after += sectorsOf(strideOf(access, loop->iterator), width);
        }
        if (after * minOverfetch > before) {
            note(refuse(
                "coalesced",
                fmt::format("lanes side by side in the loop on line {} would hardly touch fewer "
                            "sectors",
                            line(nest_.node(id).span))));
            return {};
        }
        auto shared = reader_.read(id);
        if (!shared) {
            note(std::unexpected(std::move(shared.error())));
            return {};
        }
        rows_.loops.push_back(*std::move(shared));
        rows_.sectorsBefore += before;
        rows_.sectorsAfter += after;
        return {};
    }
    void note(std::unexpected<Refusal> refusal) {
        if (!refusal_ || refusal_->gate == "coalesced")
            refusal_ = std::move(refusal.error());
    }

    /// Elements from one lane to the next.
    [[nodiscard]] std::optional<std::int64_t> strideOf(const NestAccess& access,
                                                       Symbol symbol) const {
        if (!access.index)
            return std::nullopt;
        IndexExpression index = *access.index;
        std::optional<IndexExpression> total = index.coefficientOf(symbol);
        if (!total)
            return std::nullopt;
        if (symbol.kind == SymbolKind::ThreadIdx) {
            for (std::uint32_t at = 0; at < nest_.symbols.all().size(); ++at)
                if (nest_.symbols.all()[at].kind == NestSymbolKind::Position &&
                    nest_.symbols.all()[at].axis == 0) {
                    const auto more = index.coefficientOf({SymbolKind::Named, at});
                    if (!more)
                        return std::nullopt;
                    total = *total + *more;
                }
        }
        // A quotient or a remainder of the symbol hides its part.
        for (const auto& [monomial, factor] : index.terms())
            for (const Symbol part : monomial)
                if (const NestSymbol* named = nest_.symbols.find(part);
                    named != nullptr && named->kind == NestSymbolKind::Derived &&
                    std::ranges::any_of(named->operands, [&](const IndexExpression& operand) {
                        return operand.dependsOn(symbol);
                    }))
                    return std::nullopt;
        return total->asConstant();
    }

    /// Lanes read in one part of the row what other lanes store in another.
    void findMeetings(LaneLoop& loop) const {
        for (const NestAccess& inside : nest_.accesses) {
            if (isThreadsOwn(nest_, inside) || inside.array == noId || isKept(inside) ||
                loopAround(inside.node) != &loop)
                continue;
            for (const NestAccess& other : nest_.accesses) {
                const LaneLoop* around = loopAround(other.node);
                const bool isStored =
                    inside.kind != AccessKind::Read || other.kind != AccessKind::Read;
                if (other.array != inside.array || around == &loop || !isStored || isKept(other))
                    continue;
                loop.syncsAfter = true;
                loop.syncsBefore |= around == nullptr && inside.kind != AccessKind::Read;
            }
        }
    }

    [[nodiscard]] bool isKept(const NestAccess& access) const {
        return keptWith(rows_.kept, access) != nullptr;
    }

    /// Outside of the shared loops all lanes do the same; one of them stores.
    [[nodiscard]] Gated<void> requireAlike(NestNodeId id) {
        const NestNode& node = nest_.node(id);
        const NestStatement* statement = node.computation();
        if (statement == nullptr || loopAround(id) != nullptr)
            return {};
        for (const NestAccessId at : statement->accesses) {
            const NestAccess& access = nest_.accesses[at];
            if (access.kind == AccessKind::Read || isThreadsOwn(nest_, access) || isKept(access))
                continue;
            const auto no = [&](std::string_view why) {
                return refuse("row-memory",
                              fmt::format("the store on line {} {}", line(node.span), why));
            };
            if (node.frame != 0 || node.statement == noId ||
                body_.stmt(node.statement).kind != StmtKind::Expression)
                return no("is no statement of the kernel's own");
            const Stmt& stmt = body_.stmt(node.statement);
            const Expr& expr = body_.expr(stmt.expr);
            const bool isStore = (expr.kind == ExprKind::Binary && isAssignment(expr.op) &&
                                  expr.children[0] == access.expression) ||
                                 (access.kind == AccessKind::Atomic && expr.kind == ExprKind::Call);
            if (!isStore || body_.stmt(stmt.parent).kind != StmtKind::Compound ||
                !hasOwnLines(body_, layout_, node.statement, node.statement))
                return no("is part of a larger statement");
            for (const NestAccess& use : nest_.accesses)
                if (use.array == access.array && use.node != id)
                    return no("goes to an array that the row uses elsewhere");
            if (std::ranges::find(rows_.stores, node.statement) == rows_.stores.end())
                rows_.stores.push_back(node.statement);
        }
        return {};
    }

    [[nodiscard]] Gated<void> requireWholeWarps() const {
        KERNELSKILL_CHECK(requireResizableGrids(context_));
        KERNELSKILL_TRY(const auto blocks, launchedBlocks(context_));
        for (const Extents& block : blocks)
            if (block[0] % warpLanes != 0)
                return refuse("partial-warps",
                              fmt::format("rows of blocks of {} x {} x {} threads are no whole "
                                          "warps",
                                          block[0], block[1], block[2]));
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    SourceLayout layout_;
    LaneLoopReader reader_;
    std::optional<Refusal> refusal_; ///< Of the first loop.
    LaneRows rows_;
};

} // namespace

Gated<LaneRows> laneRows(const SkillContext& context) {
    return RowFinder(context).find();
}

Gated<void> requireIndependentRounds(const SkillContext& context, const LaneRows& rows) {
    const Nest& nest = context.shared().nest();
    Polyhedra polyhedra;
    const NestDependences found = dependencesOf(nest, polyhedra);
    for (const LaneLoop& loop : rows.loops) {
        for (const NestDependence& dependence : found.dependences) {
            if (dependence.carrier.level != NestCarrier::Level::Loop ||
                nest.node(dependence.carrier.loop).statement != loop.statement ||
                nest.node(dependence.carrier.loop).frame != 0 ||
                dependence.independence != NestCertainty::Broken || dependence.isReduction)
                continue;
            const NestArray& array = nest.arrays[nest.accesses[dependence.from].array];
            if (array.isVariable || array.space == MemorySpace::Local)
                continue; // Read by readEffects().
            return refuse("columns-overlap", dependenceText(nest, dependence));
        }
    }
    return {};
}

} // namespace kernelskill::skills
