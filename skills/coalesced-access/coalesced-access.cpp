/// Has the lanes of a warp touch neighbouring addresses.
#include "skills/base/planned_skill.h"
#include "skills/coalesced-access/coalescing_rewrite.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The least number of sectors moved over sectors needed that is worth an edit: a misaligned base
/// alone adds one sector to four.
constexpr double minOverfetch = 1.5;

/// The numbers stay what memories hold; 2 and 4 were the ways that became the skills row-per-warp
/// and shared-memory-transpose.
enum class Way : int { Exchange = 1, Interleave = 3 };
constexpr std::array ways = {std::pair{Way::Exchange, &exchangeAxes},
                             std::pair{Way::Interleave, &interleaveChunks}};

struct Choice {
    Way way{};
    CoalescingRewrite rewrite;
};

/// Whether some access moves more than it needs, as far as the text tells.
bool hasScatteredAccess(const SkillContext& context) {
    return std::ranges::any_of(context.features.accesses, [&](const AccessFeatures& features) {
        const MemoryAccess& access = context.kernel.accesses.at(features.access);
        const double least = std::max<double>(access.width, 1); // 32 lanes, 32 bytes a sector
        return features.sectorsPerRequest && *features.sectorsPerRequest >= 2 &&
               *features.sectorsPerRequest >= minOverfetch * least;
    });
}

/// Whether the features tell where the lanes go at each access to global memory.
bool knowsEachAccess(const SkillContext& context) {
    return std::ranges::all_of(context.features.accesses, [&](const AccessFeatures& features) {
        return features.sectorsPerRequest ||
               context.kernel.accesses.at(features.access).space != MemorySpace::Global;
    });
}

Gated<Choice> choose(const SkillContext& context) {
    KERNELSKILL_CHECK(requireEditable(context));
    std::optional<Refusal> nearest;
    for (const auto& [way, find] : ways) {
        FoundRewrite found = find(context);
        if (found && found->after.sectors * minOverfetch > found->before.sectors)
            found = refuse("no-fewer-sectors",
                           fmt::format("a warp would still touch {:.0f} sectors where it touches "
                                       "{:.0f}",
                                       found->after.sectors, found->before.sectors));
        if (found)
            return Choice{way, std::move(*found)};
        if (!nearest && found.error().gate != "other-shape")
            nearest = found.error();
    }
    if (!hasScatteredAccess(context) && knowsEachAccess(context))
        return refuse("coalesced",
                      fmt::format("as far as its index expressions tell, the warps of {} touch no "
                                  "more sectors than their bytes fill",
                                  context.kernel.name));
    if (nearest)
        return std::unexpected(*nearest);
    return refuse(
        "no-known-shape",
        fmt::format("{} neither exchanges its axes, nor walks along chunks by single threads",
                    context.kernel.name));
}

class CoalescedAccessSkill : public VariedSkill<Choice, Way> {
    Gated<Choice> plan(const SkillContext& context) const override { return choose(context); }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const Choice& choice) const override {
        if (choice.rewrite.needsWiderBlock)
            return refuse("narrow-block",
                          fmt::format("a block of {} is no more than a warp, in which x and y "
                                      "exchanged touch the same sectors",
                                      context.kernel.name));
        return std::vector{offerOf(context, choice)};
    }

    /// A search may give the block another size behind it.
    Gated<std::vector<Offer>> trials(const SkillContext& context,
                                     const Choice& choice) const override {
        return std::vector{offerOf(context, choice)};
    }

    GatedEdits editsFor(const SkillContext&, const Choice& choice, Way) const override {
        return choice.rewrite.edits;
    }

    Offer offerOf(const SkillContext& context, const Choice& choice) const {
        const CoalescingRewrite& rewrite = choice.rewrite;
        Offer offer = newOffer(context, rewrite.anchor, choice.way);
        offer.title = rewrite.title;
        offer.why = rewrite.why;
        if (!rewrite.needsWiderBlock)
            offer.gain = ExpectedGain{rewrite.before.sectors / rewrite.after.sectors,
                                      "sectors that a warp touches before, over those after"};
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(CoalescedAccessSkill)

} // namespace kernelskill::skills
