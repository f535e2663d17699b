/// Moves several neighbouring elements with one load or store of a vector type.
#include "analysis/queries/grid_stride_loops.h"
#include "skills/base/planned_skill.h"
#include "skills/editing/group_writer.h"
#include "skills/gates/element_groups.h"
#include "skills/schedule/fold_text.h"
#include "skills/vectorized-access/group_loops.h"
#include "skills/vectorized-access/neighbour_groups.h"
#include "skills/vectorized-access/neighbour_writer.h"
#include "skills/vectorized-access/shared_walk.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <variant>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// An elementwise kernel in groups, one whose elements are neighbours behind other addresses, or
/// loops of a kernel that threads share.
using Vectors = std::variant<ElementGroups, NeighbourGroups, std::vector<WalksOfOneGuard>>;

/// Sums or products of floating-point numbers are made in another order.
bool reassociates(const SharedWalk& walk) {
    return std::ranges::any_of(walk.effects.folds, [](const LaneFold& fold) {
        return (fold.scalar == ScalarKind::Float || fold.scalar == ScalarKind::Double) &&
               !isIdempotent(fold);
    });
}

class VectorizedAccessSkill : public PlannedSkill<Vectors, Lanes> {
    Gated<Vectors> plan(const SkillContext& context) const override {
        auto groups = planElementGroups(context, context.code());
        auto neighbours = neighbourGroups(context);
        if (neighbours && (!groups || neighbours->moved.places.size() > groups->streams.size()))
            return *std::move(neighbours);
        if (groups)
            return *std::move(groups);
        auto walks = sharedWalks(context);
        if (walks)
            return *std::move(walks);
        const std::string_view gate = walks.error().gate;
        const bool isElementwise = gate == "no-shared-loop" ||
                                   (gate != "kept-by-block" &&
                                    !findGridStrideLoops(context.kernel, context.code()).empty());
        if (!isElementwise)
            return std::unexpected(std::move(walks.error()));
        return std::unexpected(tellsMore(neighbours.error(), groups.error())
                                   ? std::move(neighbours.error())
                                   : std::move(groups.error()));
    }

    /// Whether the refusal of neighbours says more than that of elements at the index itself, which
    /// knows no other kernels.
    [[nodiscard]] static bool tellsMore(const Refusal& neighbours, const Refusal& flat) {
        if (flat.gate == "no-unit-stride-access")
            return neighbours.gate != flat.gate && neighbours.gate != "strided-access";
        return flat.gate == "two-dimensional" || flat.gate == "compound-guard" ||
               flat.gate == "no-flat-index";
    }

    Gated<Offer> offer(const SkillContext& context, const Vectors& vectors) const override {
        return std::visit([&](const auto& each) { return offerOf(context, each); }, vectors);
    }

    [[nodiscard]] Offer offerOf(const SkillContext& context, const NeighbourGroups& groups) const {
        const FunctionBody& body = context.kernel.body;
        Offer offer =
            newOffer(context, body.stmt(groups.guard.statement).span, Lanes{groups.moved.lanes});
        std::vector<std::string> accesses;
        for (const NeighbourPlace& place : groups.moved.places)
            accesses.push_back(
                fmt::format("{} as {}{}", context.file.source->slice(body.expr(place.place).span),
                            place.accesses > 1 ? fmt::format("{} ", place.accesses) : std::string(),
                            place.type));
        offer.title = fmt::format("Access {} elements at once: {}", groups.moved.lanes,
                                  fmt::join(accesses, ", "));
        const std::size_t launches = context.kernel.launches.size();
        const std::string consequence =
            !groups.dividesGrids
                ? "the grid may stay as it is"
                : fmt::format("{} launch{} follow{} with a grid {} times smaller along x", launches,
                              launches == 1 ? "" : "es", launches == 1 ? "s" : "",
                              groups.moved.lanes);
        offer.why = fmt::format(
            "threads that are side by side along x touch neighbouring elements, one at a time "
            "(line {}); {}",
            lineNumber(context, offer.anchor.begin), consequence);
        return offer;
    }

    [[nodiscard]] Offer offerOf(const SkillContext& context, const ElementGroups& groups) const {
        Offer offer = newOffer(context, groupedSpan(context.code(), groups), Lanes{groups.lanes});
        std::string names;
        for (const Stream& stream : groups.streams)
            names += fmt::format("{}{} as {}", names.empty() ? "" : ", ", stream.name, stream.type);
        offer.title = fmt::format("Access {} elements at once: {}", groups.lanes, names);
        offer.why = fmt::format(
            "neighbouring threads touch neighbouring elements, one at a time (line {}); {}",
            lineNumber(context, offer.anchor.begin), launchConsequence(context, groups));
        return offer;
    }

    [[nodiscard]] Offer offerOf(const SkillContext& context,
                                const std::vector<WalksOfOneGuard>& sets) const {
        const FunctionBody& body = context.kernel.body;
        const SharedWalk& first = sets.front().front();
        std::vector<std::string> accesses;
        std::vector<std::uint32_t> lines;
        bool isExact = true;
        for (const WalksOfOneGuard& set : sets)
            for (const SharedWalk& walk : set) {
                lines.push_back(lineNumber(context, body.stmt(walk.statement).span.begin));
                isExact = isExact && !reassociates(walk);
                for (const WalkedElements& elements : walk.elements) {
                    std::string access = fmt::format("{} as {}", elements.name, elements.type);
                    if (std::ranges::find(accesses, access) == accesses.end())
                        accesses.push_back(std::move(access));
                }
            }
        std::ranges::sort(lines);
        Offer offer = newOffer(context, body.stmt(first.statement).span, Lanes{first.group});
        offer.title =
            fmt::format("Access {} elements at once: {}", first.group, fmt::join(accesses, ", "));
        const std::string_view plural = lines.size() == 1 ? "" : "s";
        offer.why = fmt::format("the threads that share the loop{} on line{} {} move one element "
                                "each in a round, and may move a group of neighbours",
                                plural, plural, fmt::join(lines, ", "));
        if (!isExact)
            offer.numerics = Numerics::Reassociates;
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const Vectors& vectors) const override {
        if (const auto* groups = std::get_if<ElementGroups>(&vectors))
            return groupEdits(context, context.code(), *groups);
        if (const auto* neighbours = std::get_if<NeighbourGroups>(&vectors))
            return neighbourEdits(context, *neighbours);
        return groupLoopEdits(context, std::get<std::vector<WalksOfOneGuard>>(vectors));
    }
};

} // namespace

KERNELSKILL_SKILL(VectorizedAccessSkill)

} // namespace kernelskill::skills
