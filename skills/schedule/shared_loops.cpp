#include "skills/schedule/shared_loops.h"

#include "analysis/nest/dependences.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/editing/fresh_names.h"
#include "skills/gates/aliasing.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/fold_text.h"
#include "skills/schedule/nest_queries.h"
#include "skills/schedule/promote.h"
#include "skills/schedule/thread_region.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class SharedLoopFinder {
public:
    SharedLoopFinder(const SkillContext& context, const LoopGate& isWorthIt,
                     const LoopSearch& search)
        : context_(context), kernel_(context.kernel), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()), layout_(*context.file.source, context.kernel),
          reader_(context, search.scans, search.minRounds), isWorthIt_(isWorthIt),
          region_(search.region) {}

    Gated<SharedLoops> find() {
        for (NestNodeId id = 0; id < nest_.nodes.size(); ++id)
            takeLoop(id);
        if (shared_.loops.empty())
            return std::unexpected(refusal_.value_or(Refusal{
                "no-row-loop",
                fmt::format("no loop of {} walks along the row of its thread", kernel_.name)}));
        shared_.kept = reader_.kept();
        if (region_ != noId) {
            KERNELSKILL_TRY(shared_.stores, storesOfRegion(context_, region_, shared_));
        } else {
            for (NestNodeId id = 0; id < nest_.nodes.size(); ++id)
                KERNELSKILL_CHECK(requireAlike(id));
        }
        for (LaneLoop& loop : shared_.loops)
            findMeetings(loop);
        if (kernel_.kind == FunctionKind::Kernel)
            KERNELSKILL_CHECK(requireDistinctWrites(context_));
        shared_.names = registerNames(context_, shared_.kept);
        for (LaneLoop& loop : shared_.loops)
            for (LaneFold& fold : loop.folds)
                for (std::size_t i = 0; i < shared_.kept.size(); ++i)
                    if (fold.name == shared_.kept[i].text) {
                        fold.name = shared_.names[i];
                        fold.type = shared_.kept[i].type;
                    }
        FreshNames counts(body_);
        for (LaneLoop& loop : shared_.loops)
            for (WelfordFold& fold : loop.welfords)
                if (fold.count == noId)
                    fold.countName = counts.add("seen");
        return std::move(shared_);
    }

private:
    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] const LaneLoop* loopAround(NestNodeId node) const {
        return sharedLoopAround(nest_, shared_, node);
    }

    /// Takes the loop if threads can share it and it pays; keeps its refusal if not.
    void takeLoop(NestNodeId id) {
        const NestLoop* loop = nest_.node(id).loop();
        if (loop == nullptr || nest_.node(id).frame != 0 || loopAround(id) != nullptr ||
            !isInRegion(nest_, code_, region_, id))
            return;
        if (auto worth = isWorthIt_(id); !worth) {
            if (!refusal_)
                refusal_ = std::move(worth.error());
            return;
        }
        auto read = reader_.read(id);
        if (read) {
            shared_.loops.push_back(*std::move(read));
            return;
        }
        if (!isReadError_)
            refusal_ = std::move(read.error());
        isReadError_ = true;
    }

    /// Finds out whether threads use inside of the loop what others store outside, or the reverse.
    void findMeetings(LaneLoop& loop) const {
        for (const NestAccess& inside : nest_.accesses) {
            if (isThreadsOwn(nest_, inside) || inside.array == noId || isKept(inside) ||
                loopAround(inside.node) != &loop)
                continue;
            for (const NestAccess& other : nest_.accesses) {
                const LaneLoop* around = loopAround(other.node);
                const bool isStored =
                    inside.kind != AccessKind::Read || other.kind != AccessKind::Read;
                if (other.array != inside.array || around == &loop || !isStored || isKept(other) ||
                    (around != nullptr && isSameRound(loop, inside, *around, other)))
                    continue;
                const bool isLater = other.node > inside.node || haveLoopAround(inside, other);
                loop.syncsAfter |= isLater;
                loop.syncsBefore |= around == nullptr;
            }
        }
    }
    /// Whether a loop around both comes back from one to the other.
    [[nodiscard]] bool haveLoopAround(const NestAccess& a, const NestAccess& b) const {
        const std::vector<NestNodeId> nodes = around(nest_, a.node);
        return std::ranges::any_of(nodes, [&](NestNodeId id) {
            return nest_.node(id).loop() != nullptr && isInside(nest_, id, b.node);
        });
    }
    /// Whether the accesses meet at an element only in rounds of one number, which one thread runs.
    [[nodiscard]] bool isSameRound(const LaneLoop& first, const NestAccess& a,
                                   const LaneLoop& second, const NestAccess& b) const {
        const NestLoop& one = *nest_.node(first.node).loop();
        const NestLoop& two = *nest_.node(second.node).loop();
        if (!a.index || !b.index || a.unit != b.unit || a.field != b.field || !one.first ||
            one.first != two.first || one.step != two.step)
            return false;
        const auto slope = a.index->coefficientOf(one.iterator);
        if (!slope || slope->terms().empty() || slope != b.index->coefficientOf(two.iterator))
            return false;
        const IndexExpression rest = *a.index - *slope * IndexExpression::symbol(one.iterator);
        const auto isLeft = [&](const NestLoop& loop) { return rest.dependsOn(loop.iterator); };
        return rest == *b.index - *slope * IndexExpression::symbol(two.iterator) && !isLeft(one) &&
               !isLeft(two) && nest_.symbols.isLaunchConstant(*slope) &&
               !slope->dependsOn(one.iterator);
    }

    /// Whether the access is in a loop with a running value, around which lanes wait for each
    /// other.
    [[nodiscard]] bool isScanned(const NestAccess& access) const {
        const LaneLoop* loop = loopAround(access.node);
        return loop != nullptr && loop->scan;
    }

    [[nodiscard]] bool isKept(const NestAccess& access) const {
        return keptWith(shared_.kept, access) != nullptr;
    }

    /// Requires that all lanes can run the node alike, outside of the shared loops, if one of them
    /// makes its stores. That one makes all stores to the array, in the order of the text.
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
                if (use.array == access.array && use.node != id && !isScanned(use) &&
                    (use.kind != AccessKind::Write || loopAround(use.node) != nullptr))
                    return no("goes to an array that the row uses elsewhere");
            if (std::ranges::find(shared_.stores, node.statement) == shared_.stores.end())
                shared_.stores.push_back(node.statement);
        }
        return {};
    }

    const SkillContext& context_;
    const KernelModel& kernel_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    SourceLayout layout_;
    LaneLoopReader reader_;
    const LoopGate& isWorthIt_;
    StmtId region_;
    std::optional<Refusal> refusal_; ///< The first refusal of a loop.
    bool isReadError_ = false;       ///< The refusal says more than that a loop does not pay.
    SharedLoops shared_;
};

} // namespace

const LaneLoop* sharedLoopAround(const Nest& nest, const SharedLoops& shared, NestNodeId node) {
    for (NestNodeId at = node; at != noId; at = nest.node(at).parent)
        for (const LaneLoop& loop : shared.loops)
            if (nest.node(at).loop() != nullptr && nest.node(at).frame == 0 &&
                nest.node(at).statement == loop.statement)
                return &loop;
    return nullptr;
}

const LaneLoop* scannedLoop(const SharedLoops& shared) {
    const auto found = std::ranges::find_if(
        shared.loops, [](const LaneLoop& loop) { return loop.scan.has_value(); });
    return found == shared.loops.end() ? nullptr : &*found;
}

bool reassociates(const SharedLoops& shared) {
    const auto isRounded = [](const LaneFold& fold) {
        // A template parameter may be either.
        return (fold.scalar == ScalarKind::Float || fold.scalar == ScalarKind::Double ||
                fold.scalar == ScalarKind::Unknown) &&
               !isIdempotent(fold);
    };
    return std::ranges::any_of(shared.loops, [&](const LaneLoop& loop) {
        return std::ranges::any_of(loop.folds, isRounded) || !loop.welfords.empty() ||
               (loop.scan && isRounded(loop.scan->fold));
    });
}

std::vector<std::string> foldedNames(const SkillContext& context, const SharedLoops& shared) {
    std::vector<std::string> names;
    for (const LaneLoop& loop : shared.loops) {
        for (const LaneFold& fold : loop.folds)
            names.push_back(fold.name);
        for (const ExtremeFold& fold : loop.extremes)
            names.push_back(context.kernel.body.variable(fold.best).name);
        for (const RankedFold& fold : loop.ranks)
            for (const VariableId id : fold.best)
                names.push_back(context.kernel.body.variable(id).name);
        for (const WelfordFold& fold : loop.welfords)
            for (const VariableId id : {fold.mean, fold.m2})
                names.push_back(context.kernel.body.variable(id).name);
    }
    return names;
}

Gated<SharedLoops> sharedLoops(const SkillContext& context, const LoopGate& isWorthIt,
                               const LoopSearch& search) {
    return SharedLoopFinder(context, isWorthIt, search).find();
}

Gated<void> requireIndependentRounds(const SkillContext& context, const SharedLoops& shared) {
    const Nest& nest = context.shared().nest();
    Polyhedra polyhedra;
    const NestDependences found = dependencesOf(nest, polyhedra);
    for (const LaneLoop& loop : shared.loops) {
        for (const NestDependence& dependence : found.dependences) {
            if (dependence.carrier.level != NestCarrier::Level::Loop ||
                nest.node(dependence.carrier.loop).statement != loop.statement ||
                nest.node(dependence.carrier.loop).frame != 0 ||
                dependence.independence != NestCertainty::Broken || dependence.isReduction)
                continue;
            const NestArray& array = nest.arrays[nest.accesses[dependence.from].array];
            if (array.isVariable || array.space == MemorySpace::Local)
                continue; // LaneLoopReader has read it.
            if (loop.scan && loop.scan->array == nest.accesses[dependence.from].array)
                continue; // The element before, which the scan brings.
            return refuse("columns-overlap", dependenceText(nest, dependence));
        }
    }
    return {};
}

} // namespace kernelskill::skills
