/// Folds the values of a block's threads in registers, and updates global memory once a block.
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/block-reduction/block_updates.h"
#include "skills/block-reduction/reduction_edits.h"

#include <spdlog/fmt/fmt.h>

#include <optional>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Returns how many updates of the largest block reach the address.
std::int64_t updatesBefore(const BlockUpdates& updates) {
    const auto sites = static_cast<std::int64_t>(updates.all.sites.size());
    return updates.launched.most / (updates.areCombined() ? warpLanes : 1) * sites;
}

std::optional<ExpectedGain> gainOf(const BlockUpdates& updates) {
    if (updates.all.isRepeated || updates.isShared())
        return std::nullopt;
    const std::int64_t before = updatesBefore(updates);
    const auto after = static_cast<std::int64_t>(updates.targets.size());
    if (after >= before)
        return std::nullopt;
    return ExpectedGain{
        static_cast<double>(before) / static_cast<double>(after),
        fmt::format(
            "{} updates become {} at the L2 cache, if they take all the time{}", before, after,
            updates.areCombined() ? "; compilers add up a warp's integers themselves" : "")};
}

class BlockReductionSkill : public PlannedSkill<BlockUpdates> {
    Gated<BlockUpdates> plan(const SkillContext& context) const override {
        return findBlockUpdates(context);
    }

    Gated<Offer> offer(const SkillContext& context, const BlockUpdates& updates) const override {
        const FunctionBody& body = context.kernel.body;
        const std::string& name = body.variable(updates.all.base).name;
        const UpdateSite& first = updates.all.sites.front();
        const bool isFloating =
            updates.all.scalar == ScalarKind::Float || updates.all.scalar == ScalarKind::Double;
        Offer offer = newOffer(context, body.expr(first.call).span);
        offer.title = fmt::format("Reduce {} in registers before the atomic", name);
        offer.why = fmt::format(
            "{} on line {} updates {} {} from every thread{}; one atomic a {} is enough",
            first.function, lineNumber(context, offer.anchor.begin), name,
            updates.isShared() ? "in shared memory" : "in global memory",
            updates.all.isRepeated ? ", several times" : "",
            updates.hasManyWarps() ? "block" : "warp");
        offer.gain = gainOf(updates);
        offer.numerics = isFloating ? Numerics::Reassociates : Numerics::Exact;
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const BlockUpdates& updates) const override {
        return blockReductionEdits(context, updates);
    }
};

} // namespace

KERNELSKILL_SKILL(BlockReductionSkill)

} // namespace kernelskill::skills
