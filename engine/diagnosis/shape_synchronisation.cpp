#include "engine/diagnosis/shape_finder.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <vector>

namespace kernelskill::engine {

using namespace analysis;

namespace {

class SynchronisationShapes {
public:
    SynchronisationShapes(const WarpView& warp, ShapeNotes& notes)
        : warp_(warp), nest_(warp.nest()), notes_(notes) {}

    void find() {
        findLocks();
        for (NestAccessId id = 0; id < nest_.accesses.size(); ++id)
            if (nest_.accesses[id].kind == AccessKind::Atomic)
                classifyAtomic(id);
        for (NestNodeId node = 0; node < nest_.nodes.size(); ++node)
            if (nest_.node(node).loop() != nullptr)
                classifyLoop(node);
    }

private:
    [[nodiscard]] const NestAccess& access(NestAccessId id) const { return nest_.accesses[id]; }

    /// The call of an atomic function around an expression; nullptr: none.
    [[nodiscard]] const Expr* callOf(const NestAccess& atomic) const {
        const FunctionBody& body = warp_.functionOf(atomic.frame).body;
        const Expr* smallest = nullptr;
        for (const Expr& expr : body.exprs)
            if (expr.kind == ExprKind::Call && expr.name.find("atomic") != std::string::npos &&
                expr.span.contains(body.expr(atomic.expression).span) &&
                (smallest == nullptr || expr.span.size() < smallest->span.size()))
                smallest = &expr;
        return smallest;
    }

    /// A loop that waits until an atomic has the wanted result.
    void findLocks() {
        const FunctionBody& body = warp_.kernel().body;
        for (const Stmt& loop : body.stmts) {
            if (loop.kind != StmtKind::While && loop.kind != StmtKind::Do)
                continue;
            for (const Expr& call : body.exprs)
                if (call.kind == ExprKind::Call && loop.span.contains(call.span) &&
                    (call.name == "atomicCAS" || call.name == "atomicExch") &&
                    waitsFor(body, loop, call))
                    notes_.add(shape::lock, 0, call.span, call.name);
        }
    }

    /// Whether the call's result decides when the loop ends: by its condition, or by a variable or
    /// a jump of the loop that follow from it.
    [[nodiscard]] static bool waitsFor(const FunctionBody& body, const Stmt& loop,
                                       const Expr& call) {
        std::set<VariableId> results;
        const auto asks = [&](ExprId id) {
            return id != noId && std::ranges::any_of(body.exprs, [&](const Expr& expr) {
                       return body.expr(id).span.contains(expr.span) &&
                              (&expr == &call || (expr.kind == ExprKind::Variable &&
                                                  results.contains(expr.variable)));
                   });
        };
        std::vector<Span> decided; // The branches of ifs that ask for the result.
        for (std::size_t known = body.stmts.size() + 1; known != results.size() + decided.size();) {
            known = results.size() + decided.size();
            decided.clear();
            for (const Stmt& stmt : body.stmts)
                if (stmt.kind == StmtKind::If && loop.span.contains(stmt.span) &&
                    asks(stmt.condition))
                    decided.push_back(stmt.span);
            for (const Variable& variable : body.variables)
                if (loop.span.contains(variable.span) && asks(variable.init))
                    results.insert(static_cast<VariableId>(&variable - body.variables.data()));
            for (const Expr& set : body.exprs)
                if (set.kind == ExprKind::Binary && isAssignment(set) &&
                    loop.span.contains(set.span) &&
                    body.expr(set.children[0]).kind == ExprKind::Variable &&
                    body.expr(set.children[0]).variable != noId &&
                    (asks(set.children[1]) || std::ranges::any_of(decided, [&](Span span) {
                         return span.contains(set.span);
                     })))
                    results.insert(body.expr(set.children[0]).variable);
        }
        return asks(loop.condition) || std::ranges::any_of(body.stmts, [&](const Stmt& stmt) {
                   return (stmt.kind == StmtKind::Break || stmt.kind == StmtKind::Return) &&
                          std::ranges::any_of(decided,
                                              [&](Span span) { return span.contains(stmt.span); });
               });
    }

    void classifyAtomic(NestAccessId id) {
        const NestAccess& atomic = access(id);
        if (notes_.has(shape::lock) || atomic.array == noId || atomic.expression == noId)
            return;
        const WarpReach& reach = warp_.reach(id);
        const bool isShared = isIn(nest_, atomic, MemorySpace::Shared);
        if (reach.isKnown() && reach.isUniform && reach.lanes >= WarpReach::manyLanes &&
            !warp_.isOfFirstWarp(id)) {
            if (isCounter(atomic))
                return notes_.add(shape::counter, id);
            return notes_.add(isShared ? shape::sharedTotal : shape::oneAddress, id);
        }
        const bool isLoaded =
            atomic.index && nest_.symbols.contains(*atomic.index, NestSymbolKind::Value);
        if (reach.isIndirect || isLoaded)
            notes_.add(isBin(atomic) ? shape::histogram : shape::scatterAtomics, id);
    }

    /// Its result is used, or it adds a constant.
    [[nodiscard]] bool isCounter(const NestAccess& atomic) const {
        const Expr* call = callOf(atomic);
        if (call == nullptr)
            return false;
        const FunctionBody& body = warp_.functionOf(atomic.frame).body;
        const bool isStatement = std::ranges::any_of(body.stmts, [&](const Stmt& stmt) {
            return stmt.expr != noId && &body.expr(stmt.expr) == call;
        });
        const bool addsConstant =
            call->children.size() > 1 && body.expr(call->children[1]).kind == ExprKind::Integer;
        return !isStatement || addsConstant;
    }

    /// The place is computed from a value, as a bin is: by arithmetic, or from a small type. A key
    /// that is taken as it is read names one of many places.
    [[nodiscard]] bool isBin(const NestAccess& atomic) const {
        const FunctionBody& body = warp_.functionOf(atomic.frame).body;
        const Expr* call = callOf(atomic);
        const Span place = call == nullptr || call->children.empty()
                               ? body.expr(atomic.expression).span
                               : body.expr(call->children.front()).span;
        return std::ranges::any_of(body.exprs, [&](const Expr& expr) {
            return place.contains(expr.span) && isOfBin(body, expr, 0);
        });
    }

    [[nodiscard]] bool isOfBin(const FunctionBody& body, const Expr& expr, int depth) const {
        constexpr int maxDepth = 4;
        if (depth > maxDepth)
            return false;
        const bool isSmall =
            expr.type.pointerDepth == 0 && expr.type.arrayExtents.empty() &&
            (expr.type.scalar == ScalarKind::Char || expr.type.scalar == ScalarKind::UInt8);
        if (expr.kind == ExprKind::Subscript && isSmall)
            return true;
        if (expr.kind == ExprKind::Binary && (expr.op == "&" || expr.op == "%" || expr.op == ">>"))
            return mentionsLoad(body, expr);
        if (expr.kind == ExprKind::Cast && !expr.children.empty()) {
            const ScalarKind from = body.expr(expr.children.front()).type.scalar;
            return from >= ScalarKind::Half && from <= ScalarKind::Double;
        }
        if (expr.kind == ExprKind::Variable && expr.variable != noId &&
            body.variable(expr.variable).storage == Storage::Local) {
            const ExprId init = body.variable(expr.variable).init;
            return init != noId && anyBelow(body, init, [&](const Expr& inner) {
                       return isOfBin(body, inner, depth + 1);
                   });
        }
        return false;
    }

    template <typename Test>
    static bool anyBelow(const FunctionBody& body, ExprId id, const Test& test) {
        return test(body.expr(id)) ||
               std::ranges::any_of(body.expr(id).children,
                                   [&](ExprId child) { return anyBelow(body, child, test); });
    }

    [[nodiscard]] static bool mentionsLoad(const FunctionBody& body, const Expr& expr) {
        return std::ranges::any_of(expr.children, [&](ExprId child) {
            return anyBelow(body, child, [&](const Expr& inner) {
                return inner.kind == ExprKind::Subscript ||
                       (inner.kind == ExprKind::Variable && inner.variable != noId &&
                        body.variable(inner.variable).init != noId &&
                        body.expr(body.variable(inner.variable).init).kind == ExprKind::Subscript);
            });
        });
    }

    void classifyLoop(NestNodeId id) {
        const NestLoop& loop = *nest_.node(id).loop();
        bool hasBarrier = false;
        bool hasGridBarrier = false;
        bool hasInner = false;
        for (NestNodeId node = id + 1; node < nest_.nodes.size(); ++node) {
            if (!isBelow(nest_, id, node))
                continue;
            if (const NestBarrier* barrier = nest_.node(node).barrier()) {
                hasGridBarrier |= barrier->kind == BarrierKind::GridSync;
                hasBarrier |=
                    barrier->kind != BarrierKind::SyncWarp && barrier->kind != BarrierKind::Fence;
            }
            hasInner |= nest_.node(node).loop() != nullptr;
        }
        if (hasGridBarrier)
            return notes_.add(shape::gridSteps, id, nest_.symbols.nameOf(loop.iterator));
        if (!hasBarrier)
            return;
        const NestAccessId exchanged = exchangedIn(id);
        if (exchanged == noId)
            return;
        if (isGeometric(loop))
            classifyTree(id, exchanged);
        else if (!hasInner)
            notes_.add(shape::steps, exchanged);
    }

    /// A read of a shared array that other threads of the block write in the loop.
    [[nodiscard]] NestAccessId exchangedIn(NestNodeId loop) const {
        for (NestAccessId id = 0; id < nest_.accesses.size(); ++id) {
            if (!isIn(nest_, access(id), MemorySpace::Shared) ||
                access(id).kind == AccessKind::Write || !isBelow(nest_, loop, access(id).node))
                continue;
            const bool isWritten =
                std::ranges::any_of(nest_.accesses, [&](const NestAccess& other) {
                    return other.array == access(id).array && other.kind != AccessKind::Read &&
                           isBelow(nest_, loop, other.node);
                });
            if (isWritten)
                return id;
        }
        return noId;
    }

    void classifyTree(NestNodeId id, NestAccessId exchanged) {
        const NestLoop& loop = *nest_.node(id).loop();
        const bool isNested =
            std::ranges::any_of(serialLoops(nest_, nest_.node(id).parent), [&](NestNodeId outer) {
                return isGeometric(*nest_.node(outer).loop());
            });
        if (isNested)
            return notes_.add(shape::exchange, exchanged);
        if (looksBack(id, loop.iterator) || hasOpposite(id))
            return notes_.add(shape::sharedScan, exchanged);
        notes_.add(shape::sharedTree, exchanged);
        const bool isStrided = std::ranges::any_of(nest_.accesses, [&](const NestAccess& read) {
            return read.array == access(exchanged).array && isBelow(nest_, id, read.node) &&
                   scalesThread(read, loop.iterator);
        });
        if (isStrided)
            notes_.add(shape::stridedTree, exchanged);
    }

    /// The thread's index is multiplied by the loop's variable: `2 * s * tid`.
    [[nodiscard]] bool scalesThread(const NestAccess& read, Symbol iterator) const {
        return read.index && std::ranges::any_of(read.index->terms(), [&](const auto& term) {
                   const auto has = [&](Symbol symbol) {
                       return std::ranges::find(term.first, symbol) != term.first.end();
                   };
                   return has(iterator) && has({SymbolKind::ThreadIdx, 0});
               });
    }

    /// An element before the thread's own: `s[t - d]`.
    [[nodiscard]] bool looksBack(NestNodeId loop, Symbol iterator) const {
        return std::ranges::any_of(nest_.accesses, [&](const NestAccess& read) {
            if (!isIn(nest_, read, MemorySpace::Shared) || !read.index ||
                !isBelow(nest_, loop, read.node))
                return false;
            const auto term = read.index->terms().find(Monomial{iterator});
            return term != read.index->terms().end() && term->second < 0;
        });
    }

    /// Another loop over the same array whose variable goes the other way, as the two sweeps of a
    /// scan.
    [[nodiscard]] bool hasOpposite(NestNodeId id) const {
        const auto grows = [&](NestNodeId node) {
            const std::string& op = nest_.node(node).loop()->stepOperator;
            return op == "*=" || op == "<<=";
        };
        for (NestNodeId node = 0; node < nest_.nodes.size(); ++node) {
            const NestLoop* other = nest_.node(node).loop();
            if (other != nullptr && node != id && isGeometric(*other) && grows(node) != grows(id) &&
                nest_.node(node).parent == nest_.node(id).parent && exchangedIn(node) != noId)
                return true;
        }
        return false;
    }

    const WarpView& warp_;
    const Nest& nest_;
    ShapeNotes& notes_;
};

/// Variables that the loop changes.
std::set<VariableId> changedIn(const FunctionBody& body, Span loop) {
    std::set<VariableId> changed;
    for (const Expr& expr : body.exprs) {
        const bool isChange = isAssignment(expr) || isIncrement(expr);
        if (!isChange || !loop.contains(expr.span) || expr.children.empty())
            continue;
        if (const VariableId target = rootVariable(body, expr.children.front()); target != noId)
            changed.insert(target);
    }
    for (const Stmt& stmt : body.stmts)
        if (loop.contains(stmt.span))
            changed.insert(stmt.declared.begin(), stmt.declared.end());
    return changed;
}

/// Whether the expression has the same value in every round: it reads no memory and no variable
/// that changes.
bool isInvariant(const FunctionBody& body, ExprId id, const std::set<VariableId>& changed) {
    const Expr& expr = body.expr(id);
    if (expr.kind == ExprKind::Subscript || (expr.kind == ExprKind::Unary && expr.op == "*") ||
        (expr.kind == ExprKind::Variable &&
         (expr.variable == noId || changed.contains(expr.variable))))
        return false;
    return std::ranges::all_of(expr.children,
                               [&](ExprId child) { return isInvariant(body, child, changed); });
}

} // namespace

void findSynchronisationShapes(const WarpView& warp, ShapeNotes& notes) {
    SynchronisationShapes(warp, notes).find();
}

void findArithmeticShapes(const WarpView& warp, const StaticWork& work, ShapeNotes& notes) {
    const KernelModel& kernel = warp.kernel();
    constexpr double considerable = 0.3;
    if (work.functionOperations >= considerable * work.operations && work.functionOperations > 0)
        notes.add(shape::functions, 0, kernel.nameSpan, kernel.name);
    for (const Loop& loop : kernel.loops) {
        if (loop.body == noId)
            continue;
        const Span span = kernel.body.stmt(loop.statement).span;
        const std::set<VariableId> changed = changedIn(kernel.body, span);
        for (const MathCall& call : kernel.mathCalls) {
            const Expr& expr = kernel.body.expr(call.call);
            if (call.isSpecialFunction && span.contains(expr.span) && !expr.children.empty() &&
                isInvariant(kernel.body, call.call, changed))
                notes.add(shape::uniformFunction, 0, expr.span, expr.name);
        }
    }
    const bool isDouble = std::ranges::any_of(kernel.body.exprs, [](const Expr& expr) {
        return expr.kind == ExprKind::Binary && expr.op == "*" &&
               expr.type.scalar == ScalarKind::Double;
    });
    if (isDouble)
        notes.add(shape::doubles, 0, kernel.nameSpan, kernel.name);
}

} // namespace kernelskill::engine
