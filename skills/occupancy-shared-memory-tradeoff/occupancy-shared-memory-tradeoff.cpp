/// Lets two shared arrays that are never needed at the same time share their memory.
#include "analysis/queries/source_layout.h"
#include "skills/base/planned_skill.h"
#include "skills/editing/code_lines.h"
#include "skills/gates/resource_gates.h"
#include "skills/occupancy-shared-memory-tradeoff/reusable_arrays.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Occupancy after the edit, which is higher.
Gated<Occupancy> occupancyAfter(const SkillContext& context, std::uint64_t savedBytes) {
    KERNELSKILL_TRY(const auto known, requireCompiled(context));
    const CompiledKernel& compiled = *known;
    KERNELSKILL_TRY(const auto room, requireRoomForWarps(compiled.occupancy));
    const Occupancy& now = room;
    BlockResources block = compiled.resources();
    block.sharedBytes -= std::min(block.sharedBytes, savedBytes);
    auto after = compiled.occupancyOf(block);
    if (!now.isLimitedBy(OccupancyLimiter::SharedMemory) || !after || after->blocks <= now.blocks)
        return refuse("shared-memory-does-not-limit",
                      fmt::format("{} bytes of shared memory a block instead of {} let no further "
                                  "block of {} threads in",
                                  block.sharedBytes, compiled.sharedBytes(),
                                  compiled.blockThreads));
    return *after;
}

class OccupancySharedMemoryTradeoffSkill : public PlannedSkill<ReusableArrays> {
    Gated<ReusableArrays> plan(const SkillContext& context) const override {
        KERNELSKILL_CHECK(requireEditable(context));
        return findReusableArrays(context, context.code());
    }

    Gated<Offer> offer(const SkillContext& context, const ReusableArrays& found) const override {
        KERNELSKILL_TRY(const Occupancy after, occupancyAfter(context, found.savedBytes));
        const FunctionBody& body = context.kernel.body;
        const CompiledKernel& compiled = *context.compiled;
        const std::string& kept = body.variable(found.kept).name;
        const std::string& placed = body.variable(found.placed).name;
        Offer offer = newOffer(context, body.stmt(found.placedDeclaration).span);
        offer.title = fmt::format("Put {} into the memory of {}", placed, kept);
        offer.why = fmt::format(
            "{} is not needed any more when {} is written first; {} bytes of shared memory a block "
            "leave room for {} blocks of {} threads on {}, {:.0f} % of its warps, and {} fewer for "
            "{}, {:.0f} %",
            body.variable(found.earlier).name, found.earlier == found.kept ? placed : kept,
            compiled.sharedBytes(), compiled.occupancy->blocks, compiled.blockThreads,
            compiled.architecture, compiled.occupancy->percent, found.savedBytes, after.blocks,
            after.percent);
        offer.gain = ExpectedGain{after.percent / compiled.occupancy->percent,
                                  "resident warps, after over before, where the kernel waits for "
                                  "what more of them would hide"};
        return offer;
    }

    GatedEdits edits(const SkillContext& context, const ReusableArrays& found) const override {
        const FunctionBody& body = context.kernel.body;
        const SourceText& source = *context.file.source;
        const SourceLayout layout(source, context.kernel);
        const Span placed = body.stmt(found.placedDeclaration).span;
        const Span kept = body.stmt(found.keptDeclaration).span;
        const std::string reference = fmt::format(
            "{0} (&{1}){2} = reinterpret_cast<{0} (&){2}>({3});", found.elementType,
            body.variable(found.placed).name, found.extents, body.variable(found.kept).name);
        std::vector<TextEdit> edits;
        if (kept.begin < placed.begin) {
            edits.push_back({placed, reference});
        } else { // It goes behind, with its comment.
            const Span line{layout.lineBegin(placed.begin), layout.lineAfter(placed.end)};
            const std::string text = rewritten(source, line, {{placed, reference}});
            const std::uint32_t behind = layout.lineAfter(kept.end);
            edits.push_back({line, ""});
            edits.push_back({{behind, behind}, text});
        }
        if (found.needsBarrierBefore != noId) {
            const Stmt& use = body.stmt(found.needsBarrierBefore);
            const std::uint32_t at = layout.lineBegin(beginWithPragma(use));
            edits.push_back(
                {{at, at},
                 fmt::format("{}__syncthreads(); // The values of {} are not needed any more.{}",
                             layout.indentation(use.span.begin), body.variable(found.earlier).name,
                             layout.newline())});
        }
        return edits;
    }
};

} // namespace

KERNELSKILL_SKILL(OccupancySharedMemoryTradeoffSkill)

} // namespace kernelskill::skills
