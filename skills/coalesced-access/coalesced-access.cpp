#include "skills/coalesced-access/coalesced-access.h"

#include "skills/coalesced-access/coalescing_rewrite.h"
#include "skills/rewriting/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::string_view skillId = "coalesced-access";
/// Sectors moved over sectors needed from which on there is something to win: a misaligned base
/// alone adds one sector to four.
constexpr double leastOverfetch = 1.5;

/// Ways in the order in which they are tried; an offer's option is the place in it, from 1.
constexpr std::array ways = {exchangeAxes, giveRowsToWarps, interleaveChunks, stageTile};

struct Choice {
    int option = 0;
    CoalescingRewrite rewrite;
};

/// Whether some access moves more than it needs, as far as the text tells.
bool hasScatteredAccess(const SkillContext& context) {
    return std::ranges::any_of(context.features.accesses, [&](const AccessFeatures& features) {
        const MemoryAccess& access = context.kernel.accesses.at(features.access);
        const double least = std::max<double>(access.width, 1); // 32 lanes, 32 bytes a sector
        return features.sectorsPerRequest && *features.sectorsPerRequest >= 2 &&
               *features.sectorsPerRequest >= leastOverfetch * least;
    });
}

std::expected<Choice, Refusal> choose(const SkillContext& context) {
    if (auto editable = requireEditable(context); !editable)
        return std::unexpected(editable.error());
    std::optional<Refusal> nearest;
    for (std::size_t i = 0; i < ways.size(); ++i) {
        FoundRewrite found = ways[i](context);
        if (found && found->after.sectors * leastOverfetch > found->before.sectors)
            found = refuse("no-fewer-sectors",
                           fmt::format("a warp would still touch {:.0f} sectors where it touches "
                                       "{:.0f}",
                                       found->after.sectors, found->before.sectors));
        if (found)
            return Choice{static_cast<int>(i) + 1, std::move(*found)};
        if (!nearest && found.error().gate != "other-shape")
            nearest = found.error();
    }
    if (!hasScatteredAccess(context))
        return refuse("coalesced",
                      fmt::format("as far as its index expressions tell, the warps of {} touch no "
                                  "more sectors than their bytes fill",
                                  context.kernel.name));
    if (nearest)
        return std::unexpected(*nearest);
    return refuse("no-known-shape",
                  fmt::format("{} neither exchanges its axes, nor walks along rows or chunks by "
                              "single threads, nor copies across",
                              context.kernel.name));
}

class CoalescedAccess final : public Skill {
public:
    [[nodiscard]] std::string_view id() const override { return skillId; }

    [[nodiscard]] std::expected<Offer, Refusal>
    prepare(const SkillContext& context) const override {
        auto choice = choose(context);
        if (!choice)
            return std::unexpected(choice.error());
        const CoalescingRewrite& rewrite = choice->rewrite;
        Offer offer;
        offer.skillId = skillId;
        offer.kernelName = context.kernel.qualifiedName;
        offer.anchor = rewrite.anchor;
        offer.title = rewrite.title;
        offer.why = rewrite.why;
        offer.option = choice->option;
        offer.numerics = Numerics::Exact;
        offer.gain = ExpectedGain{rewrite.before.sectors / rewrite.after.sectors,
                                  "sectors that a warp touches before, over those after"};
        return offer;
    }

    [[nodiscard]] Result<EditSet> apply(const SkillContext& context, const Offer&) const override {
        auto choice = choose(context);
        if (!choice)
            return std::unexpected(unsupported(context, choice.error()));
        return EditSet{{context.kernel.file, std::move(choice->rewrite.edits)}};
    }
};

} // namespace

std::unique_ptr<Skill> makeCoalescedAccess() {
    return std::make_unique<CoalescedAccess>();
}

} // namespace kernelskill::skills
