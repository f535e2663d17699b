/// Turns tiles in shared memory where loads run along one axis and stores along another.
#include "skills/base/planned_skill.h"
#include "skills/shared-memory-transpose/transpose_writer.h"

#include <spdlog/fmt/fmt.h>

#include <utility>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

struct TurnedTiles {
    CrossedCopy copy;
    std::vector<TextEdit> edits;
};

class SharedMemoryTransposeSkill : public PlannedSkill<TurnedTiles> {
    [[nodiscard]] Gated<TurnedTiles> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        KERNELSKILL_TRY(CrossedCopy copy, crossedCopy(context));
        KERNELSKILL_TRY(std::vector<TextEdit> edits, transposeEdits(context, copy));
        return TurnedTiles{std::move(copy), std::move(edits)};
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const TurnedTiles& found) const override {
        const CrossedCopy& copy = found.copy;
        const CopyStore& store = copy.element.stores.front();
        Offer offer = newOffer(context, context.kernel.body.stmt(store.statement).span);
        const bool isBlock = copy.form == TileForm::Block;
        offer.title =
            fmt::format("Turn {} x {} tiles of {} in shared memory",
                        isBlock ? copy.block[copy.in.slice.axis] : tileSide,
                        isBlock ? copy.block[copy.out.slice.axis] : tileSide, context.kernel.name);
        offer.why = fmt::format(
            "the loads and the stores on line {} run along different axes: a warp touches {:.0f} "
            "sectors for an element of each thread, and {:.0f} where a tile turns them",
            lineNumber(context, offer.anchor.begin), copy.sectorsBefore, copy.sectorsAfter);
        offer.gain = ExpectedGain{copy.sectorsBefore / copy.sectorsAfter,
                                  "sectors that a warp touches before, over those after"};
        return offer;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext&, const TurnedTiles& found) const override {
        return found.edits;
    }
};

} // namespace

KERNELSKILL_SKILL(SharedMemoryTransposeSkill)

} // namespace kernelskill::skills
