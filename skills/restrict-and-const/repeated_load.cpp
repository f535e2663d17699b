#include "skills/restrict-and-const/repeated_load.h"

#include "skills/schedule/nest_queries.h"

#include <algorithm>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class LoadFinder {
public:
    explicit LoadFinder(const Nest& nest) : nest_(nest) {
        for (NestNodeId node = 0; node < nest.nodes.size(); ++node)
            if (const NestStatement* statement = nest.node(node).computation())
                ordered_.insert(ordered_.end(), statement->accesses.begin(),
                                statement->accesses.end());
    }

    [[nodiscard]] std::optional<RepeatedLoad> find() const {
        for (std::size_t at = 0; at < ordered_.size(); ++at) {
            const NestAccess& load = access(at);
            if (load.kind != AccessKind::Read || !isMemory(load) || !load.index)
                continue;
            if (const auto store = storeSinceLast(at))
                return RepeatedLoad{ordered_[at], *store, false};
            if (const auto store = storeInRound(load))
                return RepeatedLoad{ordered_[at], *store, true};
        }
        return std::nullopt;
    }

private:
    [[nodiscard]] const NestAccess& access(std::size_t at) const {
        return nest_.accesses[ordered_[at]];
    }
    [[nodiscard]] bool isMemory(const NestAccess& seen) const {
        if (seen.frame != 0 || seen.array == noId || seen.expression == noId)
            return false;
        const NestArray& array = nest_.arrays[seen.array];
        return !isThreadsOwn(array) && !array.isLoaded &&
               (array.space == MemorySpace::Global || array.space == MemorySpace::Generic);
    }
    [[nodiscard]] bool mayChange(const NestAccess& store, const NestAccess& load) const {
        return store.kind != AccessKind::Read && isMemory(store) && store.array != load.array &&
               mayOverlap(nest_.arrays[store.array], nest_.arrays[load.array]);
    }

    /// A store between the load at `at` and the one before it of the same element.
    [[nodiscard]] std::optional<NestAccessId> storeSinceLast(std::size_t at) const {
        const NestAccess& load = access(at);
        std::optional<NestAccessId> store;
        for (std::size_t before = at; before-- > 0;) {
            const NestAccess& other = access(before);
            if (mayChange(other, load))
                store = ordered_[before];
            const bool isSame = other.kind == AccessKind::Read && other.array == load.array &&
                                other.unit == load.unit && other.field == load.field &&
                                other.index == load.index;
            if (isSame && isInside(nest_, nest_.node(other.node).parent, load.node))
                return store;
        }
        return std::nullopt;
    }

    /// A store in a loop whose rounds all load the same element.
    [[nodiscard]] std::optional<NestAccessId> storeInRound(const NestAccess& load) const {
        const std::vector<NestNodeId> outer = around(nest_, load.node);
        for (auto node = outer.rbegin(); node != outer.rend(); ++node) {
            if (nest_.node(*node).loop() == nullptr)
                continue;
            if (!isTheSameInRoundsOf(*node, *load.index))
                return std::nullopt;
            for (const NestAccessId id : ordered_)
                if (mayChange(nest_.accesses[id], load) &&
                    isInside(nest_, *node, nest_.accesses[id].node))
                    return id;
        }
        return std::nullopt;
    }

    [[nodiscard]] bool isTheSameInRoundsOf(NestNodeId loop, const IndexExpression& index) const {
        return std::ranges::all_of(index.terms(), [&](const auto& term) {
            return std::ranges::all_of(term.first, [&](Symbol symbol) {
                const NestSymbol* known = nest_.symbols.find(symbol);
                if (known == nullptr || known->kind == NestSymbolKind::Parameter ||
                    known->kind == NestSymbolKind::Position)
                    return true;
                if (known->kind == NestSymbolKind::Derived)
                    return std::ranges::all_of(known->operands, [&](const auto& operand) {
                        return isTheSameInRoundsOf(loop, operand);
                    });
                return known->kind == NestSymbolKind::Iterator && !countsRoundsBelow(loop, symbol);
            });
        });
    }

    /// Whether the symbol is the iterator of `loop` or of a loop in it.
    [[nodiscard]] bool countsRoundsBelow(NestNodeId loop, Symbol symbol) const {
        for (NestNodeId node = loop; node < nest_.nodes.size(); ++node) {
            const NestLoop* inner = nest_.node(node).loop();
            if (inner != nullptr && inner->iterator == symbol && isInside(nest_, loop, node))
                return true;
        }
        return false;
    }

    const Nest& nest_;
    std::vector<NestAccessId> ordered_; ///< In the order of execution.
};

} // namespace

std::optional<RepeatedLoad> repeatedLoad(const SkillContext& context) {
    return LoadFinder(context.shared().nest()).find();
}

} // namespace kernelskill::skills
