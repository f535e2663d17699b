/// Replaces the doubling steps of a block's scan by warp shuffles.
#include "skills/base/planned_skill.h"
#include "skills/warp-scan/block_scan.h"
#include "skills/warp-scan/scan_writer.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class WarpScanSkill : public PlannedSkill<BlockScan> {
    Gated<BlockScan> plan(const SkillContext& context) const override {
        return findScan(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const BlockScan& scan) const override {
        const FunctionBody& body = context.kernel.body;
        const Variable& array = body.variable(scan.names.array);
        Offer offer = newOffer(context, body.stmt(context.kernel.loops[scan.loop].statement).span);
        offer.title = fmt::format("Scan {} with warp shuffles", array.name);
        offer.why = fmt::format("the loop on line {} scans {} in shared memory with two barriers a "
                                "step; every launch has whole warps",
                                lineNumber(context, offer.anchor.begin), array.name);
        const bool isInteger =
            array.type.scalar >= ScalarKind::Bool && array.type.scalar <= ScalarKind::UInt64;
        offer.numerics = isInteger ? Numerics::Exact : Numerics::Reassociates;
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const BlockScan& scan) const override {
        return scanEdits(context, context.code(), scan);
    }
};

} // namespace

KERNELSKILL_SKILL(WarpScanSkill)

} // namespace kernelskill::skills
