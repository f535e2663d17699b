/// Gives each block the work of several, which meet at the same barriers.
#include "skills/base/planned_skill.h"
#include "skills/block-coarsening/block_parts.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The number of blocks that become one.
enum class BlockPartCount : int {};

constexpr int usualParts = 4;

class BlockCoarseningSkill : public VariedSkill<BlockParts, BlockPartCount> {
    [[nodiscard]] Gated<BlockParts> plan(const SkillContext& context) const override {
        return blockParts(context);
    }

    [[nodiscard]] Gated<std::vector<Offer>> offers(const SkillContext& context,
                                                   const BlockParts& found) const override {
        std::vector<Offer> all;
        const auto add = [&](int count) {
            Offer offer =
                newOffer(context, context.kernel.nameSpan, static_cast<BlockPartCount>(count));
            offer.title =
                fmt::format("Let each block of {} do the work of {}", context.kernel.name, count);
            offer.why = fmt::format("blocks meet at {} of their own; {} in one meet at the same, "
                                    "and their memory accesses wait together",
                                    found.commonBarriers == 1 ? "a barrier" : "barriers", count);
            all.push_back(std::move(offer));
        };
        const int first = std::min(usualParts, found.most);
        add(first);
        for (int count = found.most; count >= 2; count /= 2)
            if (count != first)
                add(count);
        return all;
    }

    [[nodiscard]] GatedEdits editsFor(const SkillContext& context, const BlockParts& found,
                                      BlockPartCount option) const override {
        Draft draft(context);
        coarsen(draft, context, found, static_cast<int>(option));
        return draft.edits();
    }
};

} // namespace

KERNELSKILL_SKILL(BlockCoarseningSkill)

} // namespace kernelskill::skills
