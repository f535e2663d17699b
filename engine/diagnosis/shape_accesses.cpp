#include "analysis/source/gpu_constants.h"
#include "engine/diagnosis/shape_finder.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// A loop with fewer rounds is written-out code: it walks through an element, not along a row.
constexpr std::int64_t fewRounds = 8;
/// An element with fields, or a group of a few numbers, is no longer than that.
constexpr std::int64_t longestRecord = 256;
/// Comparing all accesses of an array with all others has a bound.
constexpr std::size_t maxSiblings = 32;

class AccessShapes {
public:
    AccessShapes(const WarpView& warp, ShapeNotes& notes)
        : warp_(warp), nest_(warp.nest()), notes_(notes) {
        for (NestAccessId id = 0; id < nest_.accesses.size(); ++id)
            if (isIn(nest_, nest_.accesses[id], MemorySpace::Global) &&
                nest_.accesses[id].node != noId)
                global_.push_back(id);
    }

    void find() {
        for (const NestAccessId id : global_)
            classify(id);
        classifyRows();
        classifyStrided();
        findColumns();
        findSharedWalks();
        findNormalisation();
        findStreams();
        const bool isOneThreads =
            !global_.empty() && std::ranges::all_of(global_, [&](NestAccessId id) {
                const NestAccess& access = nest_.accesses[id];
                return access.index && !mentionsThread(nest_, *access.index);
            });
        if (!isOneThreads || walks_.empty())
            return;
        notes_.add(shape::oneThread, walks_.front().second, iteratorName(walks_.front().second));
        for (const auto& [id, loop] : walks_)
            if (isWrite(id) && storesFold(id, loop))
                notes_.add(shape::rowRecurrence, id);
    }

private:
    [[nodiscard]] const NestAccess& access(NestAccessId id) const { return nest_.accesses[id]; }
    [[nodiscard]] bool isWrite(NestAccessId id) const {
        return access(id).kind == AccessKind::Write || access(id).kind == AccessKind::ReadWrite;
    }
    [[nodiscard]] std::string iteratorName(NestNodeId loop) const {
        return nest_.symbols.nameOf(nest_.node(loop).loop()->iterator);
    }
    [[nodiscard]] bool isLong(NestNodeId loop) const {
        const auto rounds = warp_.rounds(loop);
        return !rounds || *rounds > fewRounds;
    }

    void classify(NestAccessId id) {
        const WarpReach& reach = warp_.reach(id);
        if (access(id).kind == AccessKind::Atomic)
            return;
        for (const NestNodeId loop : serialLoops(nest_, access(id).node)) {
            const auto step = warp_.step(id, loop);
            const bool isUnit = step && *step != 0 && std::abs(*step) <= 4 * reach.width;
            const bool isRagged =
                !isSharedOut(loop) && ((reach.isRagged && step && *step != 0) ||
                                       (reach.isIndirect && walksFromLoaded(id, loop)));
            if (isRagged && isLong(loop))
                notes_.add(shape::raggedRows, id);
            if (isUnit && isLong(loop))
                walks_.emplace_back(id, loop);
        }
        if (reach.isIndirect && isFromMemory(id) && !isStoreByTable(id) &&
            !isBesideLongLoop(warp_, access(id)))
            notes_.add(isOfSmallTable(id) ? shape::smallTable : shape::indirect, id);
        else if (reach.isIndirect && isFromReals(id))
            notes_.add(shape::resampling, id);
        if (!reach.isWasteful() || isRestOfVectors(warp_, id))
            return;
        if (isRecord(id))
            notes_.add(isPair(id) ? shape::pairs : shape::records, id);
        else if (walk(id) != nullptr)
            rows_.push_back(id);
        else
            strided_.push_back(id);
    }

    /// Whether rounds go on by the number of threads that share them, as far as a constant tells.
    [[nodiscard]] bool isSharedOut(NestNodeId loop) const {
        const auto step = nest_.node(loop).loop()->step;
        const auto elements = step ? step->asConstant() : std::nullopt;
        return elements && std::abs(*elements) >= warpLanes;
    }

    /// Whether each round goes on by an element from where a loaded number says.
    [[nodiscard]] bool walksFromLoaded(NestAccessId id, NestNodeId loop) const {
        if (!access(id).index)
            return false;
        const auto factor = access(id).index->coefficientOf(nest_.node(loop).loop()->iterator);
        const auto constant = factor ? factor->asConstant() : std::nullopt;
        return constant && std::abs(*constant) == 1;
    }

    /// The numbers in the index that the text does not tell.
    template <typename Test>
    [[nodiscard]] bool anyValue(const IndexExpression& index, const Test& test) const {
        return std::ranges::any_of(index.terms(), [&](const auto& term) {
            return std::ranges::any_of(term.first, [&](Symbol symbol) {
                const NestSymbol* named = nest_.symbols.find(symbol);
                return named != nullptr &&
                       ((named->kind == NestSymbolKind::Value && test(*named)) ||
                        std::ranges::any_of(named->operands, [&](const IndexExpression& operand) {
                            return anyValue(operand, test);
                        }));
            });
        });
    }

    /// Whether numbers read from memory decide the place, and not those that the thread computes.
    /// False for an opaque access, whose place is unknown.
    [[nodiscard]] bool isFromMemory(NestAccessId id) const {
        const bool isLoaded = access(id).array != noId && nest_.arrays[access(id).array].isLoaded;
        return isLoaded || (access(id).index && access(id).form != NestAccessForm::Opaque &&
                            anyValue(*access(id).index, [&](const NestSymbol& value) {
                                return warp_.dependsOnData(value) && !isRounded(value);
                            }));
    }

    /// Whether it is a store whose place shared memory alone says: no thread waits for it, and what
    /// a block sorts there leaves in runs.
    [[nodiscard]] bool isStoreByTable(NestAccessId id) const {
        return access(id).kind == AccessKind::Write && access(id).index &&
               !anyValue(*access(id).index, [&](const NestSymbol& value) {
                   const auto load = std::ranges::find_if(nest_.accesses, [&](const auto& other) {
                       return value.expression != noId && other.expression == value.expression &&
                              other.frame == value.frame && other.array != noId &&
                              !nest_.arrays[other.array].isVariable;
                   });
                   return load == nest_.accesses.end() || !isIn(nest_, *load, MemorySpace::Shared);
               });
    }

    [[nodiscard]] bool isFromReals(NestAccessId id) const {
        return access(id).index && anyValue(*access(id).index, [&](const NestSymbol& value) {
                   return isRounded(value);
               });
    }

    /// Whether it is a number of the reals, rounded: a point of a picture or a grid.
    [[nodiscard]] bool isRounded(const NestSymbol& value) const {
        if (value.expression == noId)
            return false;
        const FunctionBody& body = warp_.functionOf(value.frame).body;
        const Expr& expr = body.expr(value.expression);
        if (expr.children.empty() ||
            (expr.kind != ExprKind::Cast && expr.kind != ExprKind::InitList))
            return false;
        const ScalarKind from = body.expr(expr.children.front()).type.scalar;
        return from >= ScalarKind::Half && from <= ScalarKind::Double;
    }

    /// Whether the place is a byte: the table has 256 elements at most.
    [[nodiscard]] bool isOfSmallTable(NestAccessId id) const {
        return access(id).index && anyValue(*access(id).index, [&](const NestSymbol& value) {
                   if (value.expression == noId)
                       return false;
                   const ScalarKind scalar =
                       warp_.functionOf(value.frame).body.expr(value.expression).type.scalar;
                   return scalar == ScalarKind::UInt8 || scalar == ScalarKind::Char;
               });
    }

    [[nodiscard]] const AccessInLoop* walk(NestAccessId id) const {
        const auto found = std::ranges::find(walks_, id, &AccessInLoop::first);
        return found == walks_.end() ? nullptr : &*found;
    }

    /// The other accesses of the array within an element's length, in bytes from `id`.
    [[nodiscard]] std::set<std::int64_t> siblings(NestAccessId id, std::int64_t length) const {
        std::set<std::int64_t> found;
        std::size_t compared = 0;
        for (const NestAccessId other : global_) {
            if (other == id || access(other).array != access(id).array || ++compared > maxSiblings)
                continue;
            const auto distance = warp_.distance(id, other);
            if (distance && *distance != 0 && std::abs(*distance) < length)
                found.insert(*distance);
        }
        return found;
    }

    /// Lanes are a few numbers apart, and each lane uses those in between.
    [[nodiscard]] bool isRecord(NestAccessId id) const {
        const WarpReach& reach = warp_.reach(id);
        if (!reach.stride || std::abs(*reach.stride) > longestRecord || access(id).array == noId)
            return false;
        const NestArray& array = nest_.arrays[access(id).array];
        const bool isClass = array.scalar == ScalarKind::Unknown || array.lanes > 1;
        const bool hasFields =
            !access(id).field.empty() || (isClass && array.elementSize > reach.width);
        const bool isWalked =
            std::ranges::any_of(serialLoops(nest_, access(id).node), [&](NestNodeId loop) {
                const auto step = warp_.step(id, loop);
                return step && *step != 0 && !isLong(loop) && std::abs(*step) < *reach.stride;
            });
        return hasFields || isWalked || !siblings(id, std::abs(*reach.stride)).empty();
    }

    /// A request of twice or four times the width would load what lanes use together.
    [[nodiscard]] bool isPair(NestAccessId id) const {
        const WarpReach& reach = warp_.reach(id);
        const std::int64_t stride = std::abs(*reach.stride);
        const NestArray& array = nest_.arrays[access(id).array];
        const bool isPower = stride == 2 || stride == 4 || stride == 8 || stride == 16;
        if (!isPower || array.scalar == ScalarKind::Unknown || array.lanes > 1)
            return false;
        std::set<std::int64_t> places{0};
        for (const std::int64_t distance : siblings(id, stride))
            places.insert(((distance % stride) + stride) % stride);
        return static_cast<std::int64_t>(places.size()) * reach.width >= stride;
    }

    void classifyRows() {
        std::set<NestNodeId> seen;
        for (const NestAccessId id : rows_) {
            const NestNodeId loop = walk(id)->second;
            if (!seen.insert(loop).second)
                continue;
            const bool carries = carriesValue(nest_, loop) || foldsIntoMemory(loop);
            const auto stored = std::ranges::find_if(rows_, [&](NestAccessId other) {
                return isWrite(other) && walk(other)->second == loop;
            });
            if (stored == rows_.end())
                notes_.add(carries ? shape::rowReduction : shape::rowWalk, id);
            else
                notes_.add(carries && storesFold(*stored, loop) ? shape::rowRecurrence
                                                                : shape::rowMap,
                           *stored);
        }
    }

    /// Whether what is stored is a sum or the like of all rounds so far, as in a scan.
    [[nodiscard]] bool storesFold(NestAccessId stored, NestNodeId loop) const {
        const NestNode& store = nest_.node(access(stored).node);
        const FunctionBody& body = warp_.functionOf(store.frame).body;
        for (NestNodeId id = loop; id < nest_.nodes.size(); ++id) {
            const NestNode& node = nest_.node(id);
            const NestStatement* fold = node.computation();
            if (fold == nullptr || fold->reduction.empty() || fold->expression == noId ||
                node.frame != store.frame || !isBelow(nest_, loop, id))
                continue;
            const Expr& update = body.expr(fold->expression);
            const VariableId folded =
                update.children.empty() ? noId : rootVariable(body, update.children.front());
            if (folded != noId && body.variable(folded).type.pointerDepth == 0 &&
                usesVariable(body, store.computation()->expression, folded))
                return true;
        }
        return false;
    }

    static bool usesVariable(const FunctionBody& body, ExprId id, VariableId variable) {
        if (id == noId)
            return false;
        const Expr& expr = body.expr(id);
        return (expr.kind == ExprKind::Variable && expr.variable == variable) ||
               std::ranges::any_of(expr.children, [&](ExprId child) {
                   return usesVariable(body, child, variable);
               });
    }

    void classifyStrided() {
        if (strided_.empty())
            return;
        const bool hasCoalesced = std::ranges::any_of(global_, [&](NestAccessId id) {
            return warp_.reach(id).isCoalesced() && warp_.reach(id).lanes >= WarpReach::manyLanes &&
                   access(id).kind != AccessKind::Atomic;
        });
        const bool fitsAlongY = std::ranges::all_of(strided_, [&](NestAccessId id) {
            const auto stride = warp_.strideAlongY(id);
            return stride && std::abs(*stride) == warp_.reach(id).width;
        });
        // A few numbers a record ask for wider requests, rows for a tile in between.
        const bool isFar = std::ranges::any_of(strided_, [&](NestAccessId id) {
            const auto& stride = warp_.reach(id).stride;
            return !stride || std::abs(*stride) > longestRecord;
        });
        if (fitsAlongY && !hasCoalesced)
            notes_.add(shape::swappedAxes, strided_.front());
        else if (hasCoalesced && isFar)
            notes_.add(shape::transposition, strided_.front());
        else
            notes_.add(shape::strided, strided_.front());
    }

    /// Lanes side by side, each of which walks down a column.
    void findColumns() {
        for (const NestAccessId id : global_) {
            const WarpReach& reach = warp_.reach(id);
            if (!reach.isCoalesced())
                continue;
            for (const NestNodeId loop : serialLoops(nest_, access(id).node)) {
                const auto step = warp_.step(id, loop);
                if (!step || !WarpView::isRowApart(*step, reach.width) || !isLong(loop))
                    continue;
                if (isWrite(id) && dependsOnLastRound(id, loop))
                    notes_.add(shape::columnRecurrence, id);
                else if (!isWrite(id) && (carriesValue(nest_, loop) || foldsIntoMemory(loop)))
                    notes_.add(shape::columnReduction, id);
            }
        }
    }

    /// Whether each round adds to one element, or the like.
    [[nodiscard]] bool foldsIntoMemory(NestNodeId loop) const {
        return std::ranges::any_of(global_, [&](NestAccessId id) {
            if (!isWrite(id) || !isBelow(nest_, loop, access(id).node))
                return false;
            const NestStatement* statement = nest_.node(access(id).node).computation();
            const auto step = warp_.step(id, loop);
            return statement != nullptr && !statement->reduction.empty() && step && *step == 0;
        });
    }

    [[nodiscard]] bool dependsOnLastRound(NestAccessId stored, NestNodeId loop) const {
        const auto step = warp_.step(stored, loop);
        return std::ranges::any_of(global_, [&](NestAccessId read) {
            if (access(read).array != access(stored).array ||
                access(read).kind == AccessKind::Write || !isBelow(nest_, loop, access(read).node))
                return false;
            const auto distance = warp_.distance(stored, read);
            return distance && step && std::abs(*distance) == std::abs(*step);
        });
    }

    /// All threads walk along the same array.
    void findSharedWalks() {
        for (const auto& [id, loop] : walks_) {
            const WarpReach& reach = warp_.reach(id);
            constexpr std::int64_t manyRounds = 32;
            const auto rounds = warp_.rounds(loop);
            if (reach.isKnown() && reach.isUniform && reach.lanes >= WarpReach::manyLanes &&
                access(id).kind == AccessKind::Read && (!rounds || *rounds >= manyRounds))
                notes_.add(shape::sharedWalk, id);
        }
    }

    /// Several loops, one after the other, that fold the elements of one row: one could do it all.
    void findNormalisation() {
        std::set<NestNodeId> folding;
        for (NestNodeId node = 0; node < nest_.nodes.size(); ++node) {
            const NestLoop* loop = nest_.node(node).loop();
            if (loop == nullptr)
                continue;
            const bool loads = std::ranges::any_of(global_, [&](NestAccessId id) {
                return access(id).kind == AccessKind::Read && isBelow(nest_, node, access(id).node);
            });
            if (loads && !isGeometric(*loop) && carriesValue(nest_, node))
                folding.insert(node);
        }
        for (const NestNodeId first : folding)
            for (const NestNodeId second : folding)
                if (first < second && nest_.node(first).parent == nest_.node(second).parent &&
                    readsSame(first, second))
                    notes_.add(shape::normalisation, first, iteratorName(first));
    }

    [[nodiscard]] bool readsSame(NestNodeId first, NestNodeId second) const {
        return std::ranges::any_of(global_, [&](NestAccessId a) {
            return isBelow(nest_, first, access(a).node) && access(a).kind == AccessKind::Read &&
                   std::ranges::any_of(global_, [&](NestAccessId b) {
                       return isBelow(nest_, second, access(b).node) &&
                              access(a).array == access(b).array;
                   });
        });
    }

    void findStreams() {
        constexpr std::uint32_t widest = 16;
        constexpr std::array reuse = {shape::records,      shape::pairs,
                                      shape::rowReduction, shape::rowMap,
                                      shape::rowWalk,      shape::rowRecurrence,
                                      shape::raggedRows,   shape::transposition,
                                      shape::swappedAxes,  shape::strided,
                                      shape::indirect,     shape::columnReduction,
                                      shape::sharedWalk,   shape::columnRecurrence,
                                      shape::stencil,      shape::lineStencil,
                                      shape::tiledStencil, shape::smallTable,
                                      shape::resampling,   shape::product,
                                      shape::halfProduct,  shape::tiledProduct,
                                      shape::pairwise};
        if (std::ranges::any_of(reuse, [&](std::string_view name) { return notes_.has(name); }))
            return;
        bool isWide = true;
        const NestAccessId* first = nullptr;
        for (const NestAccessId& id : global_) {
            const WarpReach& reach = warp_.reach(id);
            const auto loops = serialLoops(nest_, access(id).node);
            const bool isRepeated =
                std::ranges::any_of(loops, [&](NestNodeId loop) { return isLong(loop); });
            if (reach.isKnown() && reach.lanes < WarpReach::manyLanes)
                continue;
            if (access(id).kind == AccessKind::Atomic || !reach.isKnown() || isRepeated)
                return;
            if (reach.isUniform)
                continue;
            isWide = isWide && reach.width >= widest;
            first = first == nullptr ? &id : first;
        }
        if (first == nullptr)
            return;
        notes_.add(shape::streaming, *first);
        if (isWide)
            notes_.add(shape::streamingWide, *first);
        const bool isOfHalves = std::ranges::all_of(global_, [&](NestAccessId id) {
            const NestArray& array = nest_.arrays[access(id).array];
            return (array.scalar == ScalarKind::Half || array.scalar == ScalarKind::BFloat16) &&
                   array.lanes == 1;
        });
        if (isOfHalves)
            notes_.add(shape::halves, *first);
    }

    const WarpView& warp_;
    const Nest& nest_;
    ShapeNotes& notes_;
    std::vector<NestAccessId> global_;
    std::vector<AccessInLoop> walks_; ///< From element to element, in a long loop.
    std::vector<NestAccessId> rows_;  ///< Lanes are far apart, and each walks on.
    std::vector<NestAccessId> strided_;
};

} // namespace

void findAccessShapes(const WarpView& warp, ShapeNotes& notes) {
    AccessShapes(warp, notes).find();
}

} // namespace kernelskill::engine
