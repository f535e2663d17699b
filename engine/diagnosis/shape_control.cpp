#include "analysis/source/gpu_constants.h"
#include "engine/diagnosis/dependent_loads.h"
#include "engine/diagnosis/shape_finder.h"

#include <algorithm>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Shorter code is predicated: the lanes that skip it lose no more than they would by a branch.
constexpr double longBranch = 24;
constexpr double longDataBranch = 64;

class ControlShapes {
public:
    ControlShapes(const WarpView& warp, ShapeNotes& notes)
        : warp_(warp), nest_(warp.nest()), notes_(notes) {}

    void find() {
        for (NestNodeId node = 0; node < nest_.nodes.size(); ++node) {
            if (nest_.node(node).guard() != nullptr)
                classifyGuard(node);
            else if (nest_.node(node).loop() != nullptr)
                classifyLoop(node);
        }
        findChases();
        findLoopsOfFunctions();
    }

private:
    [[nodiscard]] std::string iteratorName(NestNodeId loop) const {
        return nest_.symbols.nameOf(nest_.node(loop).loop()->iterator);
    }

    void classifyGuard(NestNodeId id) {
        const NestGuard& guard = *nest_.node(id).guard();
        const auto divides = warp_.dividesWarps(guard.condition);
        if (divides && !*divides)
            return;
        const std::string condition = nest_.symbols.describe(guard.condition);
        if (divides) {
            const NestNodeId loop = loopWithBarrier(id);
            const bool isSweep =
                loop != noId && isGeometric(*nest_.node(loop).loop()) && !isNestedSweep(loop);
            if (isSweep && mentionsIterator(guard.condition, loop))
                notes_.add(shape::interleaved, id, condition);
            if (operationsBelow(warp_, id) >= longBranch)
                notes_.add(shape::laneBranch, id, condition);
            return;
        }
        if (dependsOnLoadedData(id) && operationsBelow(warp_, id) >= longDataBranch &&
            !asksForGathered(id))
            notes_.add(shape::dataBranch, id, condition);
    }

    /// Whether a number that the condition compares is also where loads in the loop around go: it
    /// asks whether there is an element, and what costs are the loads that wait for that number.
    [[nodiscard]] bool asksForGathered(NestNodeId id) const {
        const auto loops = serialLoops(nest_, id);
        const NestNodeId around = loops.empty() ? id : loops.front();
        for (NestAccessId at = 0; at < nest_.accesses.size(); ++at) {
            const NestAccess& access = nest_.accesses[at];
            if (access.form != NestAccessForm::Indirect || access.kind != AccessKind::Read ||
                !access.index || !isIn(nest_, access, MemorySpace::Global) ||
                !isBelow(nest_, around, access.node))
                continue;
            for (const auto& [monomial, factor] : access.index->terms())
                for (const Symbol symbol : monomial) {
                    const NestSymbol* value = nest_.symbols.find(symbol);
                    if (value != nullptr && value->kind == NestSymbolKind::Value &&
                        compares(nest_.node(id).guard()->condition, symbol))
                        return true;
                }
        }
        return false;
    }

    /// Whether a comparison in it is of the number itself.
    [[nodiscard]] bool compares(const NestCondition& condition, Symbol symbol) const {
        return mentions(nest_, condition.expression, symbol) ||
               std::ranges::any_of(condition.parts, [&](const NestCondition& part) {
                   return compares(part, symbol);
               });
    }

    /// The innermost loop around the node that holds a barrier.
    [[nodiscard]] NestNodeId loopWithBarrier(NestNodeId id) const {
        for (const NestNodeId loop : serialLoops(nest_, id))
            for (NestNodeId node = loop; node < nest_.nodes.size(); ++node)
                if (nest_.node(node).barrier() != nullptr && isBelow(nest_, loop, node))
                    return loop;
        return noId;
    }

    /// Whether a loop around it halves or doubles as well, as in a network that sorts.
    [[nodiscard]] bool isNestedSweep(NestNodeId loop) const {
        return std::ranges::any_of(
            serialLoops(nest_, nest_.node(loop).parent),
            [&](NestNodeId outer) { return isGeometric(*nest_.node(outer).loop()); });
    }

    [[nodiscard]] bool mentionsIterator(const NestCondition& condition, NestNodeId loop) const {
        return compares(condition, nest_.node(loop).loop()->iterator);
    }

    [[nodiscard]] bool dependsOnLoadedData(NestNodeId id) const {
        const ExprId condition = warp_.conditionOf(id);
        if (condition == noId)
            return false;
        const Dependence dependence = warp_.dependenceOf(nest_.node(id).frame, condition);
        return dependence.onThread && dependence.onData;
    }

    void classifyLoop(NestNodeId id) {
        const NestLoop& loop = *nest_.node(id).loop();
        const bool isOpen = loop.mayStop || (!loop.end && loop.stepOperator.empty());
        if (loop.style != NestLoopStyle::Serial || !isOpen || !endsByThread(id))
            return;
        bool loadsOwn = false;
        NestAccessId common = noId;
        for (NestAccessId at = 0; at < nest_.accesses.size(); ++at) {
            const NestAccess& access = nest_.accesses[at];
            if (!isIn(nest_, access, MemorySpace::Global) || !isBelow(nest_, id, access.node) ||
                access.kind != AccessKind::Read)
                continue;
            const WarpReach& reach = warp_.reach(at);
            const auto step = warp_.step(at, id);
            if (reach.isKnown() && reach.isUniform && step && *step != 0)
                common = at;
            else if (!step || *step != 0)
                loadsOwn = true;
        }
        if (common != noId && !loadsOwn)
            notes_.add(shape::linearSearch, common);
        else if (!loadsOwn && operationsBelow(warp_, id) > 0)
            notes_.add(shape::dataLoop, id, iteratorName(id));
    }

    /// Whether the loop's condition, or that of an exit in it, differs between threads.
    [[nodiscard]] bool endsByThread(NestNodeId id) const {
        const NestNode& node = nest_.node(id);
        const FunctionBody& body = warp_.functionOf(node.frame).body;
        const auto differs = [&](ExprId condition) {
            return condition != noId && warp_.dependenceOf(node.frame, condition).onThread;
        };
        if (node.statement == noId)
            return false;
        // A limit that threads have in common, and an index that they do not, is no such condition.
        if (differs(body.stmt(node.statement).condition) && !isBounds(id))
            return true;
        for (NestNodeId at = id; at < nest_.nodes.size(); ++at) {
            const NestGuard* guard = nest_.node(at).guard();
            if (guard != nullptr && guard->isExit && isBelow(nest_, id, at) &&
                nest_.node(at).frame == node.frame && differs(warp_.conditionOf(at)) &&
                !(isOfHead(id, at) && isBounds(id)))
                return true;
        }
        return hasDivergentBreak(body, body.stmt(node.statement).span, differs);
    }

    /// The guard is made from the loop's own condition.
    [[nodiscard]] bool isOfHead(NestNodeId loop, NestNodeId guard) const {
        return nest_.node(guard).statement == nest_.node(loop).statement;
    }

    /// The loop's condition compares sums of its index, of the thread's and of sizes alone: lanes
    /// side by side leave in the same round, or in neighbouring ones.
    [[nodiscard]] bool isBounds(NestNodeId id) const {
        bool hasGuard = false;
        for (NestNodeId at = id; at < nest_.nodes.size(); ++at) {
            const NestGuard* guard = nest_.node(at).guard();
            if (guard == nullptr || !guard->isExit || !isBelow(nest_, id, at) || !isOfHead(id, at))
                continue;
            hasGuard = true;
            if (!isTold(guard->condition))
                return false;
        }
        return hasGuard && nest_.node(id).loop()->end.has_value();
    }

    /// No number in it that the text does not tell.
    [[nodiscard]] bool isTold(const NestCondition& condition) const {
        return condition.kind != NestCondition::Kind::Unknown &&
               !nest_.symbols.contains(condition.expression, NestSymbolKind::Value) &&
               std::ranges::all_of(condition.parts,
                                   [&](const NestCondition& part) { return isTold(part); });
    }

    template <typename Differs>
    static bool hasDivergentBreak(const FunctionBody& body, Span loop, const Differs& differs) {
        return std::ranges::any_of(body.stmts, [&](const Stmt& stmt) {
            if (stmt.kind != StmtKind::If || !loop.contains(stmt.span) || !differs(stmt.condition))
                return false;
            return std::ranges::any_of(body.stmts, [&](const Stmt& inner) {
                return (inner.kind == StmtKind::Break || inner.kind == StmtKind::Return) &&
                       stmt.span.contains(inner.span);
            });
        });
    }

    /// Loops of functions that leave nothing but a value, which have no nodes: they end by their
    /// arguments.
    void findLoopsOfFunctions() {
        const FunctionBody& body = warp_.kernel().body;
        for (ExprId id = 0; id < body.exprs.size(); ++id) {
            const Expr& call = body.exprs[id];
            if (call.kind != ExprKind::Call || !warp_.dependenceOf(0, id).onThread)
                continue;
            const auto& functions = warp_.file().deviceFunctions;
            const auto callee = std::ranges::find(functions, call.name, &KernelModel::name);
            const bool hasNodes = std::ranges::any_of(nest_.frames, [&](const NestFrame& frame) {
                return frame.caller == 0 && frame.call == id;
            });
            if (callee == functions.end() || hasNodes || !callee->accesses.empty())
                continue;
            for (const Loop& loop : callee->loops)
                if (!loop.tripCount && !loop.tripCountExpression &&
                    (loop.hasEarlyExit || loop.kind != LoopKind::For))
                    notes_.add(shape::dataLoop, 0, call.span, call.name);
        }
    }

    /// Loads whose address is what the last one returned: of a search by halves, or of a list.
    void findChases() {
        const KernelModel& kernel = warp_.kernel();
        for (const DependentLoad& load : dependentLoads(kernel)) {
            const Span body = kernel.body.stmt(kernel.loops.at(load.loop).body).span;
            const bool halves = std::ranges::any_of(kernel.body.exprs, [&](const Expr& expr) {
                if (expr.kind != ExprKind::Binary || expr.children.size() != 2 ||
                    !body.contains(expr.span))
                    return false;
                const Expr& by = kernel.body.expr(expr.children[1]);
                return by.kind == ExprKind::Integer && ((expr.op == "/" && by.integer == 2) ||
                                                        (expr.op == ">>" && by.integer == 1));
            });
            notes_.add(halves                      ? shape::binarySearch
                       : choosesBranch(load, body) ? shape::treeWalk
                                                   : shape::chase,
                       0, kernel.body.expr(load.access).span,
                       kernel.body.variable(load.variable).name);
        }
    }

    /// Whether the next place is one of two that the element names.
    [[nodiscard]] bool choosesBranch(const DependentLoad& load, Span loop) const {
        const FunctionBody& body = warp_.kernel().body;
        std::size_t assigned = 0;
        for (const Expr& expr : body.exprs) {
            const bool sets = isAssignment(expr) && expr.children.size() == 2 &&
                              loop.contains(expr.span) &&
                              body.expr(expr.children[0]).kind == ExprKind::Variable &&
                              body.expr(expr.children[0]).variable == load.variable;
            if (sets)
                assigned += body.expr(expr.children[1]).kind == ExprKind::Conditional ? 2 : 1;
        }
        return assigned > 1;
    }

    const WarpView& warp_;
    const Nest& nest_;
    ShapeNotes& notes_;
};

} // namespace

void findControlShapes(const WarpView& warp, ShapeNotes& notes) {
    ControlShapes(warp, notes).find();
}

} // namespace kernelskill::engine
