#include "engine/diagnosis/shape_finder.h"

#include <algorithm>
#include <cstdlib>
#include <string>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Neighbours of a point: fewer are not worth a tile.
constexpr std::size_t fewestNeighbours = 3;
constexpr std::size_t maxPairs = 256;

bool isOfHalves(const NestArray& array) {
    return array.scalar == ScalarKind::Half || array.scalar == ScalarKind::BFloat16;
}

class ReuseShapes {
public:
    ReuseShapes(const WarpView& warp, ShapeNotes& notes, std::set<AccessInLoop>& overlapping)
        : warp_(warp), nest_(warp.nest()), notes_(notes), overlapping_(overlapping) {}

    void find() {
        findProducts();
        for (const MemorySpace space : {MemorySpace::Global, MemorySpace::Shared})
            findStencils(space);
    }

private:
    /// The names of all that decides the place beside `loop`: axes of the grid, quotients and
    /// remainders of positions, iterators of other loops.
    void coordinates(const IndexExpression& index, Symbol loop,
                     std::set<std::string>& found) const {
        for (const auto& [monomial, coefficient] : index.terms())
            for (const Symbol symbol : monomial) {
                if (symbol == loop)
                    continue;
                if (symbol.kind == SymbolKind::ThreadIdx || symbol.kind == SymbolKind::BlockIdx) {
                    found.insert(std::to_string(symbol.id));
                    continue;
                }
                const NestSymbol* named = nest_.symbols.find(symbol);
                if (named == nullptr)
                    continue;
                const bool isPart = (named->op == "/" || named->op == "%") &&
                                    !named->operands.empty() &&
                                    mentionsThread(nest_, named->operands.front());
                if (named->kind == NestSymbolKind::Position)
                    found.insert(std::to_string(named->axis));
                else if (named->kind == NestSymbolKind::Derived && !isPart)
                    for (const IndexExpression& operand : named->operands)
                        coordinates(operand, loop, found);
                else if (named->kind != NestSymbolKind::Parameter)
                    found.insert(named->name);
            }
    }

    [[nodiscard]] bool isOperand(const NestAccess& access) const {
        return access.kind == AccessKind::Read && access.index &&
               access.form != NestAccessForm::Indirect &&
               (isIn(nest_, access, MemorySpace::Global) ||
                isIn(nest_, access, MemorySpace::Shared));
    }

    /// Two operands of one statement in a loop that folds: each depends on a coordinate of the
    /// result that the other does not depend on.
    void findProducts() {
        std::size_t pairs = 0;
        for (NestAccessId a = 0; a < nest_.accesses.size(); ++a) {
            if (!isOperand(nest_.accesses[a]))
                continue;
            for (NestAccessId b = a + 1; b < nest_.accesses.size(); ++b) {
                const NestAccess& left = nest_.accesses[a];
                const NestAccess& right = nest_.accesses[b];
                if (!isOperand(right) || ++pairs > maxPairs)
                    continue;
                const NestNodeId loop = commonLoop(left, right);
                if (loop == noId || !folds(left.node, loop))
                    continue;
                const Symbol iterator = nest_.node(loop).loop()->iterator;
                std::set<std::string> first;
                std::set<std::string> second;
                coordinates(*left.index, iterator, first);
                coordinates(*right.index, iterator, second);
                const bool eachHasItsOwn =
                    !std::ranges::includes(first, second) && !std::ranges::includes(second, first);
                const bool isProduct = multiplies(left, right);
                if (eachHasItsOwn && (isProduct || left.node == right.node))
                    noteProduct(a, b, isProduct);
            }
        }
    }

    /// Whether one factor of a product comes from one operand, and the other from the other one.
    [[nodiscard]] bool multiplies(const NestAccess& left, const NestAccess& right) const {
        if (left.frame != right.frame)
            return false;
        const FunctionBody& body = warp_.functionOf(left.frame).body;
        return std::ranges::any_of(body.exprs, [&](const Expr& expr) {
            const bool isProduct = expr.kind == ExprKind::Binary && expr.op == "*";
            const bool isFused =
                expr.kind == ExprKind::Call && expr.name.find("fma") != std::string::npos;
            if ((!isProduct && !isFused) || expr.children.size() < 2)
                return false;
            const auto from = [&](std::size_t factor, const NestAccess& operand) {
                return comesFrom(body, expr.children[factor], operand.expression, 0);
            };
            return (from(0, left) && from(1, right) && !from(0, right) && !from(1, left)) ||
                   (from(0, right) && from(1, left) && !from(0, left) && !from(1, right));
        });
    }

    /// Whether `target` is in the expression, or in what its variables are initialised with.
    static bool comesFrom(const FunctionBody& body, ExprId id, ExprId target, int depth) {
        constexpr int maxDepth = 4;
        if (id == noId || depth > maxDepth)
            return false;
        if (id == target)
            return true;
        const Expr& expr = body.expr(id);
        if (expr.kind == ExprKind::Variable && expr.variable != noId)
            return comesFrom(body, body.variable(expr.variable).init, target, depth + 1);
        return std::ranges::any_of(
            expr.children, [&](ExprId child) { return comesFrom(body, child, target, depth); });
    }

    void noteProduct(NestAccessId a, NestAccessId b, bool multiplies) {
        const auto isShared = [&](NestAccessId id) {
            return isIn(nest_, nest_.accesses[id], MemorySpace::Shared);
        };
        if (!multiplies)
            return notes_.add(shape::pairwise, a);
        if (isShared(a) && isShared(b))
            return notes_.add(shape::tiledProduct, a);
        if (isOfHalves(nest_.arrays[nest_.accesses[a].array]) &&
            isOfHalves(nest_.arrays[nest_.accesses[b].array]))
            return notes_.add(shape::halfProduct, a);
        notes_.add(shape::product, a);
    }

    /// The innermost loop that moves both.
    [[nodiscard]] NestNodeId commonLoop(const NestAccess& a, const NestAccess& b) const {
        for (const NestNodeId loop : serialLoops(nest_, a.node)) {
            const Symbol iterator = nest_.node(loop).loop()->iterator;
            if (mentions(nest_, *a.index, iterator) && mentions(nest_, *b.index, iterator))
                return loop;
        }
        return noId;
    }

    /// Whether the statement adds to something, or another one of the loop does.
    [[nodiscard]] bool folds(NestNodeId statement, NestNodeId loop) const {
        return nest_.node(statement).computation()->reduction == "+" || carriesValue(nest_, loop);
    }

    void findStencils(MemorySpace space) {
        std::vector<NestAccessId> reads;
        for (NestAccessId id = 0; id < nest_.accesses.size(); ++id) {
            const NestAccess& access = nest_.accesses[id];
            if (access.kind == AccessKind::Read && isIn(nest_, access, space) &&
                access.node != noId && access.array != noId)
                reads.push_back(id);
        }
        for (const NestAccessId id : reads) {
            std::size_t windows = findWindow(id);
            if (windows > 0)
                note(id, space, windows > 1);
        }
        std::set<NestArrayId> seen;
        for (const NestAccessId id : reads)
            if (seen.insert(nest_.accesses[id].array).second &&
                (space == MemorySpace::Shared || !isWritten(nest_.accesses[id].array)))
                findNeighbours(id, reads, space);
    }

    /// An array that the kernel writes as well holds no points of a stencil: it is a recurrence.
    [[nodiscard]] bool isWritten(NestArrayId array) const {
        return std::ranges::any_of(nest_.accesses, [&](const NestAccess& access) {
            return access.array == array && access.kind != AccessKind::Read;
        });
    }

    void note(NestAccessId id, MemorySpace space, bool hasRows) {
        if (space == MemorySpace::Shared)
            notes_.add(shape::tiledStencil, id);
        else
            notes_.add(hasRows ? shape::stencil : shape::lineStencil, id);
    }

    /// Reads of one array a few elements or whole rows apart, the same in all lanes.
    void findNeighbours(NestAccessId first, const std::vector<NestAccessId>& reads,
                        MemorySpace space) {
        std::set<std::int64_t> places;
        bool hasRows = false;
        std::size_t compared = 0;
        NestAccessId anchor = noId;
        for (const NestAccessId id : reads) {
            const WarpReach& reach = warp_.reach(id);
            const bool isBesideOthers = space == MemorySpace::Shared
                                            ? reach.isKnown() && !reach.isUniform
                                            : reach.isCoalesced();
            if (nest_.accesses[id].array != nest_.accesses[first].array || !isBesideOthers ||
                reach.lanes < WarpReach::manyLanes || ++compared > maxPairs)
                continue;
            if (anchor == noId)
                anchor = id;
            const auto distance = warp_.distance(anchor, id);
            if (!distance)
                continue;
            constexpr std::int64_t warpBytes = 128;
            const bool isRow = space == MemorySpace::Global
                                   ? WarpView::isRowApart(*distance, reach.width) ||
                                         differInRow(nest_.accesses[anchor], nest_.accesses[id])
                                   : std::abs(*distance) >= warpBytes / 2;
            if (std::abs(*distance) >= warpBytes && !isRow)
                continue;
            places.insert(*distance);
            hasRows = hasRows || isRow;
        }
        if (places.size() >= fewestNeighbours)
            return note(anchor, space, hasRows);
        // Differences of several fields, each of two points.
        if (space != MemorySpace::Global || places.size() < 2)
            return;
        differencesHaveRows_ |= hasRows;
        if (++differences_ > 1)
            note(anchor, space, differencesHaveRows_);
    }

    /// Whether an outer dimension of the index differs.
    static bool differInRow(const NestAccess& a, const NestAccess& b) {
        if (a.subscripts.size() < 2 || a.subscripts.size() != b.subscripts.size())
            return false;
        return !std::equal(a.subscripts.begin(), a.subscripts.end() - 1, b.subscripts.begin());
    }

    /// The number of loops that move the access over what neighbouring threads read as well.
    std::size_t findWindow(NestAccessId id) {
        const NestAccess& access = nest_.accesses[id];
        if (!access.index || access.form == NestAccessForm::Indirect)
            return 0;
        std::vector<NestNodeId> windows;
        bool isAlongLanes = false;
        for (const NestNodeId loop : serialLoops(nest_, access.node)) {
            const NestLoop& content = *nest_.node(loop).loop();
            const bool hasUnitStep =
                content.step && content.step->asConstant() && *content.step->asConstant() == 1;
            if (!hasUnitStep || !movesWithThread(access, content.iterator))
                continue;
            windows.push_back(loop);
            const auto step = warp_.step(id, loop);
            const WarpReach& reach = warp_.reach(id);
            isAlongLanes = isAlongLanes || (step && *step == reach.width && reach.isCoalesced());
        }
        if (!isAlongLanes)
            return 0;
        for (const NestNodeId loop : windows)
            overlapping_.insert({id, loop});
        return windows.size();
    }

    /// Whether a dimension of the index is a sum of the iterator and of the thread's position.
    [[nodiscard]] bool movesWithThread(const NestAccess& access, Symbol iterator) const {
        return std::ranges::any_of(access.subscripts, [&](const NestSubscript& subscript) {
            return mentions(nest_, subscript.index, iterator) &&
                   mentionsThread(nest_, subscript.index);
        });
    }

    const WarpView& warp_;
    const Nest& nest_;
    ShapeNotes& notes_;
    std::set<AccessInLoop>& overlapping_;
    int differences_ = 0; ///< Arrays that are read at two points.
    bool differencesHaveRows_ = false;
};

} // namespace

void findReuseShapes(const WarpView& warp, ShapeNotes& notes, std::set<AccessInLoop>& overlapping) {
    ReuseShapes(warp, notes, overlapping).find();
}

} // namespace kernelskill::engine
