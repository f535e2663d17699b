#include "skills/loop-interchange/memory_walk.h"

#include "analysis/nest/nest.h"
#include "analysis/source/gpu_constants.h"
#include "skills/base/gates.h"
#include "skills/schedule/apart_by_races.h"
#include "skills/schedule/nest_queries.h"
#include "skills/schedule/term_loop.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Steps of more elements than this leave a sector after each round.
constexpr std::int64_t longestStep = 8;
constexpr double minGain = 1.1;

/// The distance of two places, in elements.
class Distance {
public:
    Distance(const Nest& nest, const IndexExpression& elements)
        : elements_(elements.asConstant()), text_(nest.symbols.describe(elements)) {
        if (elements_)
            elements_ = std::abs(*elements_);
    }

    [[nodiscard]] bool isShort() const { return elements_ && *elements_ <= 1; }
    [[nodiscard]] bool isOne() const { return elements_ == 1; }
    [[nodiscard]] bool isZero() const { return elements_ == 0; }
    [[nodiscard]] bool isLong() const { return !elements_ || *elements_ > longestStep; }
    [[nodiscard]] const std::string& text() const { return text_; }

    /// The part of a sector that a step of that length uses up. One that stays where it is counts
    /// as one to the next element, so that no gain is without limit.
    [[nodiscard]] double sectors(std::uint32_t elementBytes) const {
        if (!elements_)
            return 1;
        const auto bytes =
            static_cast<double>(std::max<std::int64_t>(*elements_, 1) * elementBytes);
        return std::min(1.0, bytes / static_cast<double>(sectorBytes));
    }

private:
    std::optional<std::int64_t> elements_; ///< nullopt: the launch decides.
    std::string text_;
};

/// The steps of an access from round to round, and its distance from the next thread.
struct Walk {
    Distance inOuter;
    Distance inInner;
    std::optional<Distance> ofLanes; ///< nullopt: not known.

    [[nodiscard]] bool isCoalesced() const { return ofLanes && ofLanes->isOne(); }
    [[nodiscard]] bool isOfThreads() const { return ofLanes && ofLanes->isLong(); }
};

class WalkComparison {
public:
    WalkComparison(const SkillContext& context, const AdvancingLoop& outer,
                   const AdvancingLoop& inner)
        : context_(context), nest_(context.shared().nest()), outer_(nodeOf(outer)),
          inner_(nodeOf(inner)), outerRounds_(roundsOf(outer)) {}

    Gated<ShorterWalk> compare() {
        std::optional<ShorterWalk> found;
        std::optional<NestAccess> worse;
        bool isAnyCoalesced = false;
        bool isAnyOfThreads = false;
        double before = 0;
        double after = 0;
        for (const NestAccess& access : nest_.accesses) {
            if (!isGlobal(access) || !isInside(nest_, inner_, access.node))
                continue;
            const auto walk = walkOf(access);
            if (!walk) { // It costs the same in either order, as far as is known.
                before += 1;
                after += 1;
                continue;
            }
            isAnyCoalesced |= walk->isCoalesced();
            isAnyOfThreads |= walk->isOfThreads();
            before += sectors(access, *walk, walk->inInner);
            after += std::max(sectors(access, *walk, walk->inOuter), leastSectors(*walk));
            const bool isShortened =
                walk->isOfThreads() && walk->inInner.isLong() && walk->inOuter.isShort();
            if (isShortened && !found)
                found = shortened(access, *walk);
            if (!walk->isCoalesced() && walk->inInner.isShort() && walk->inOuter.isLong())
                worse = access;
        }
        if (!found && isAnyCoalesced && !isAnyOfThreads)
            return refuse("coalesced",
                          fmt::format("the lanes of a warp go side by side through what the loop "
                                      "on line {} accesses, so that its steps may be long",
                                      line(nest_.node(inner_).span)));
        if (worse)
            return refuse(
                found ? "no-gain" : "longer-steps",
                fmt::format("with the loops exchanged, {} on line {} would be accessed in "
                            "long steps",
                            textOf(*worse), lineOf(*worse)));
        if (!found || before < after * minGain)
            return refuse("no-gain",
                          fmt::format("no access of the loop on line {} goes through a thread's "
                                      "memory in shorter steps with the loops exchanged",
                                      line(nest_.node(inner_).span)));
        found->sectorsBefore = before;
        found->sectorsAfter = after;
        return *std::move(found);
    }

private:
    [[nodiscard]] NestNodeId nodeOf(const AdvancingLoop& loop) const {
        return loopNode(nest_, context_.kernel.loops.at(loop.counted.loop).statement);
    }
    [[nodiscard]] std::optional<std::int64_t> roundsOf(const AdvancingLoop& loop) const {
        return context_.kernel.loops.at(loop.counted.loop).tripCount;
    }

    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }
    [[nodiscard]] std::uint32_t lineOf(const NestAccess& access) const {
        return line(nest_.node(access.node).span);
    }
    [[nodiscard]] std::string textOf(const NestAccess& access) const {
        if (access.frame != 0 || access.expression == noId)
            return nest_.arrays[access.array].name;
        return std::string(
            context_.file.source->slice(context_.kernel.body.expr(access.expression).span));
    }

    [[nodiscard]] bool isGlobal(const NestAccess& access) const {
        if (access.array == noId || access.node == noId || isThreadsOwn(nest_, access))
            return false;
        const MemorySpace space = nest_.arrays[access.array].space;
        return space == MemorySpace::Global || space == MemorySpace::Generic;
    }

    /// nullopt where the place does not follow from the indices, or where a loop further in goes on
    /// in it.
    [[nodiscard]] std::optional<Walk> walkOf(const NestAccess& access) const {
        if (!access.index || access.unit == 0 ||
            nest_.symbols.contains(*access.index, NestSymbolKind::Value))
            return std::nullopt;
        for (const NestNodeId id : around(nest_, access.node)) {
            const NestLoop* loop = nest_.node(id).loop();
            if (loop != nullptr && id != inner_ && isInside(nest_, inner_, id) &&
                mentions(*access.index, loop->iterator))
                return std::nullopt;
        }
        const auto inOuter = stepOf(*access.index, outer_);
        const auto inInner = stepOf(*access.index, inner_);
        if (!inOuter || !inInner)
            return std::nullopt;
        const auto lanes = threadDistance(nest_, access);
        return Walk{*inOuter, *inInner,
                    lanes ? std::optional(Distance(nest_, *lanes)) : std::nullopt};
    }

    /// The way from one round of the loop to the next; nullopt where it is not the same each time.
    [[nodiscard]] std::optional<Distance> stepOf(const IndexExpression& index,
                                                 NestNodeId id) const {
        const NestLoop& loop = *nest_.node(id).loop();
        const auto factor = index.coefficientOf(loop.iterator);
        if (!factor || !loop.step ||
            mentions(index - *factor * IndexExpression::symbol(loop.iterator), loop.iterator))
            return std::nullopt;
        const IndexExpression step = *factor * *loop.step;
        return nest_.symbols.isLaunchConstant(step) ? std::optional(Distance(nest_, step))
                                                    : std::nullopt;
    }

    /// Whether the symbol is in the expression, or in an operand of what is in it.
    [[nodiscard]] bool mentions(const IndexExpression& expression, Symbol symbol) const {
        return std::ranges::any_of(expression.terms(), [&](const auto& term) {
            return std::ranges::any_of(term.first, [&](Symbol part) {
                const NestSymbol* named = nest_.symbols.find(part);
                return part == symbol ||
                       (named != nullptr &&
                        (!named->choice.empty() ||
                         std::ranges::any_of(named->operands, [&](const IndexExpression& operand) {
                             return mentions(operand, symbol);
                         })));
            });
        });
    }

    /// The sectors that a thread asks for in a round that moves by `step`. The lanes of a warp
    /// share those that they use together.
    [[nodiscard]] double sectors(const NestAccess& access, const Walk& walk,
                                 const Distance& step) const {
        if (walk.isCoalesced())
            return Distance(nest_, IndexExpression::constant(1)).sectors(access.unit);
        const double own = step.sectors(access.unit);
        return walk.ofLanes && walk.ofLanes->isZero() ? own / warpLanes : own;
    }
    /// A sector serves no more rounds than the loop has that comes to be the inner one.
    [[nodiscard]] double leastSectors(const Walk& walk) const {
        return walk.isOfThreads() && outerRounds_.value_or(0) > 0
                   ? 1 / static_cast<double>(*outerRounds_)
                   : 0;
    }

    [[nodiscard]] ShorterWalk shortened(const NestAccess& access, const Walk& walk) const {
        return {.access = textOf(access),
                .line = lineOf(access),
                .before = walk.inInner.text(),
                .after = walk.inOuter.text()};
    }

    const SkillContext& context_;
    const Nest& nest_;
    NestNodeId outer_;
    NestNodeId inner_;
    std::optional<std::int64_t> outerRounds_;
};

} // namespace

Gated<ShorterWalk> shorterWalk(const SkillContext& context, const AdvancingLoop& outer,
                               const AdvancingLoop& inner) {
    return WalkComparison(context, outer, inner).compare();
}

} // namespace kernelskill::skills
