#include "skills/vectorized-access/shared_walk.h"

#include "analysis/nest/phases.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/aliasing.h"
#include "skills/gates/vector_types.h"
#include "skills/schedule/nest_queries.h"
#include "skills/vectorized-access/walk_reader.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class WalkFinder {
public:
    explicit WalkFinder(const SkillContext& context)
        : context_(context), code_(context.code()), body_(code_.body()),
          nest_(context.shared().nest()) {}

    Gated<std::vector<WalksOfOneGuard>> find() {
        KERNELSKILL_CHECK(requireEditable(context_));
        KERNELSKILL_CHECK(requireScalars(context_));
        std::optional<Refusal> refusal;
        bool isOfOtherKind = true; ///< No loop so far is one that threads share.
        for (std::uint32_t i = 0; i < context_.kernel.loops.size(); ++i) {
            auto walk = readWalk(context_, i);
            if (walk) {
                walks_.push_back(*std::move(walk));
                continue;
            }
            if (!refusal || (isOfOtherKind && walk.error().gate != "no-shared-loop")) {
                isOfOtherKind = walk.error().gate == "no-shared-loop";
                refusal = std::move(walk.error());
            }
        }
        std::ranges::sort(walks_, {}, [&](const SharedWalk& walk) {
            return body_.stmt(walk.statement).span.begin;
        });
        dropUnordered(refusal);
        if (walks_.empty())
            return std::unexpected(refusal.value_or(
                Refusal{"no-shared-loop", fmt::format("{} has no loop", context_.kernel.name)}));
        return grouped();
    }

private:
    [[nodiscard]] std::uint32_t line(const SharedWalk& walk) const {
        return lineNumber(context_, body_.stmt(walk.statement).span.begin);
    }

    /// Takes away the walks whose elements other threads reach in an order that the walk changes,
    /// until none is left.
    void dropUnordered(std::optional<Refusal>& refusal) {
        for (std::size_t i = 0; i < walks_.size();) {
            auto ordered = requireOrder(walks_[i]);
            if (ordered) {
                ++i;
                continue;
            }
            refusal = std::move(ordered.error());
            walks_.erase(walks_.begin() + static_cast<std::ptrdiff_t>(i));
            i = 0;
        }
    }

    [[nodiscard]] Gated<void> requireOrder(SharedWalk& walk) {
        walk.syncsBefore = false;
        walk.syncsAfter = false;
        const bool storesGlobal =
            std::ranges::any_of(walk.elements, [&](const WalkedElements& elements) {
                return elements.isWritten && !isShared(elements.array);
            });
        if (storesGlobal)
            KERNELSKILL_CHECK(requireDistinctWrites(context_));
        for (const NestAccess& inside : nest_.accesses) {
            if (inside.array == noId || isThreadsOwn(nest_, inside) ||
                !isInside(nest_, walk.node, inside.node))
                continue;
            if (inside.kind != AccessKind::Read)
                KERNELSKILL_CHECK(requireOwnRows(walk, inside));
            for (const NestAccess& other : nest_.accesses) {
                const bool isStored =
                    inside.kind != AccessKind::Read || other.kind != AccessKind::Read;
                if (other.array != inside.array || !isStored ||
                    isInside(nest_, walk.node, other.node) || areOneThreads(walk, inside, other))
                    continue;
                const bool isLater = other.node > inside.node;
                if (isLater ? isSeparatedByBarrier(nest_, inside.node, other.node)
                            : isSeparatedByBarrier(nest_, other.node, inside.node))
                    continue;
                if (walk.sharers.kind != LoopSharers::Kind::Lanes)
                    return refuse(
                        "meets-elsewhere",
                        fmt::format("lines {} and {} meet in {}, and no barrier stands "
                                    "between them",
                                    lineNumber(context_, nest_.node(inside.node).span.begin),
                                    lineNumber(context_, nest_.node(other.node).span.begin),
                                    nest_.arrays[inside.array].name));
                walk.syncsBefore |= !isLater;
                walk.syncsAfter |= isLater;
            }
        }
        return {};
    }

    [[nodiscard]] bool isShared(VariableId array) const {
        const Storage storage = body_.variable(array).storage;
        return storage == Storage::Shared || storage == Storage::DynamicShared;
    }

    /// Refuses a walk that stores to the same elements in each round of a loop around it; lanes of
    /// a warp wait behind it instead.
    [[nodiscard]] Gated<void> requireOwnRows(SharedWalk& walk, const NestAccess& store) const {
        for (const NestNodeId id : around(nest_, walk.node)) {
            const NestLoop* outer = nest_.node(id).loop();
            if (outer == nullptr || (store.index && store.index->dependsOn(outer->iterator)))
                continue;
            if (walk.sharers.kind != LoopSharers::Kind::Lanes)
                return refuse("meets-elsewhere",
                              fmt::format("rounds of the loop on line {} may store to the same "
                                          "elements of {}",
                                          lineNumber(context_, nest_.node(id).span.begin),
                                          nest_.arrays[store.array].name));
            walk.syncsAfter = true;
        }
        return {};
    }

    /// Whether both accesses reach an element only in rounds of the same number: one thread's
    /// rounds.
    [[nodiscard]] bool areOneThreads(const SharedWalk& walk, const NestAccess& a,
                                     const NestAccess& b) const {
        for (const SharedWalk& other : walks_) {
            if (&other == &walk || !isInside(nest_, other.node, b.node))
                continue;
            const auto from = [&](const SharedWalk& one, const NestAccess& access) {
                return *access.index -
                       IndexExpression::symbol(nest_.node(one.node).loop()->iterator);
            };
            return haveOneGuard(walk, other) && a.index && b.index && a.unit == b.unit &&
                   a.field == b.field && from(walk, a) == from(other, b);
        }
        return false;
    }

    [[nodiscard]] bool haveOneGuard(const SharedWalk& a, const SharedWalk& b) const {
        const auto sets = grouped();
        return std::ranges::any_of(sets, [&](const WalksOfOneGuard& set) {
            const auto holds = [&](const SharedWalk& walk) {
                return std::ranges::find(set, walk.statement, &SharedWalk::statement) != set.end();
            };
            return holds(a) && holds(b);
        });
    }

    [[nodiscard]] std::vector<WalksOfOneGuard> grouped() const {
        std::vector<WalksOfOneGuard> sets;
        for (const SharedWalk& walk : walks_) {
            const auto set = std::ranges::find_if(
                sets, [&](const WalksOfOneGuard& one) { return mayJoin(one.front(), walk); });
            if (set == sets.end())
                sets.push_back({walk});
            else
                set->push_back(walk);
        }
        return sets;
    }

    /// Whether the addresses and the limit of `walk` are known before the walk `first`, so that one
    /// condition there decides for both.
    [[nodiscard]] bool mayJoin(const SharedWalk& first, const SharedWalk& walk) const {
        const auto firstIndex = [&](const SharedWalk& one) {
            const IndexExpression from = *nest_.node(one.node).loop()->first;
            return one.takesFirstAgain ? from - IndexExpression::constant(1) : from;
        };
        if (body_.stmt(first.statement).parent != body_.stmt(walk.statement).parent ||
            first.sharers != walk.sharers || first.group != walk.group ||
            first.first != walk.first || firstIndex(first) != firstIndex(walk) ||
            nest_.node(first.node).loop()->step != nest_.node(walk.node).loop()->step ||
            !code_.sameExpression(first.form.counted.limit, walk.form.counted.limit) ||
            body_.variable(first.form.index).type.canonical !=
                body_.variable(walk.form.index).type.canonical)
            return false;
        const std::uint32_t begin = body_.stmt(first.statement).span.begin;
        const std::uint32_t end = body_.stmt(walk.statement).span.end;
        const auto isSettled = [&](ExprId expr) {
            return expr == noId ||
                   std::ranges::all_of(code_.expressionsBelow(expr), [&](ExprId id) {
                       const Expr& at = body_.expr(id);
                       if (at.kind != ExprKind::Variable || at.variable == noId)
                           return true;
                       const StmtId declaration = code_.declarationOf(at.variable);
                       const bool isKnown =
                           declaration == noId || body_.stmt(declaration).span.begin < begin;
                       return isKnown &&
                              std::ranges::none_of(code_.uses(at.variable), [&](ExprId use) {
                                  const std::uint32_t place = body_.expr(use).span.begin;
                                  return code_.isWrite(use) && place >= begin && place < end;
                              });
                   });
        };
        return isSettled(walk.form.counted.limit) &&
               std::ranges::all_of(walk.elements, [&](const WalkedElements& elements) {
                   return std::ranges::all_of(elements.reached, isSettled);
               });
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const Nest& nest_;
    std::vector<SharedWalk> walks_;
};

} // namespace

Gated<std::vector<WalksOfOneGuard>> sharedWalks(const SkillContext& context) {
    return WalkFinder(context).find();
}

} // namespace kernelskill::skills
