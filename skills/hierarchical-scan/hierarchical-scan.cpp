/// Lets the lanes of a warp scan for the running values of a loop.
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/schedule/share_rows.h"
#include "skills/schedule/thread_guard.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <variant>

namespace kernelskill::skills {

using namespace analysis;

namespace {

using Scanned = std::variant<LaneRows, ThreadWork>;

const LaneLoop& scannedLoop(const LaneRows& rows) {
    return *std::ranges::find_if(rows.shared.loops,
                                 [](const LaneLoop& each) { return each.scan.has_value(); });
}

class HierarchicalScanSkill : public PlannedSkill<Scanned> {
    [[nodiscard]] Gated<Scanned> plan(const SkillContext& context) const override {
        auto rows = scannedRows(context);
        if (rows)
            return Scanned{*std::move(rows)};
        auto work = threadWork(context);
        if (work)
            return Scanned{*std::move(work)};
        return std::unexpected(work.error().gate == "no-thread-guard" ? std::move(rows.error())
                                                                      : std::move(work.error()));
    }

    [[nodiscard]] Gated<Offer> offer(const SkillContext& context,
                                     const Scanned& scanned) const override {
        if (const auto* rows = std::get_if<LaneRows>(&scanned)) {
            Offer offer =
                newOffer(context, context.kernel.body.stmt(scannedLoop(*rows).statement).span);
            const std::uint32_t line = lineNumber(context, offer.anchor.begin);
            const std::string value = describe(context, context, *rows, offer);
            if (rows->position.isOneThread) {
                offer.why = serially(value, line);
                offer.gain = ExpectedGain{.factor = warpLanes, .basis = "32 lanes load at once"};
                return offer;
            }
            offer.why =
                fmt::format("the thread of a row works out {} round by round (line {}), so that "
                            "neighbouring lanes are a row apart: a round of a warp touches {:g} "
                            "sectors, and {:g} if its lanes scan one row",
                            value, line, rows->sectorsBefore, rows->sectorsAfter);
            offer.gain =
                ExpectedGain{.factor = rows->sectorsBefore / rows->sectorsAfter,
                             .basis = fmt::format("{:g} sectors a round become {:g}",
                                                  rows->sectorsBefore, rows->sectorsAfter)};
            return offer;
        }
        const ThreadWork& work = std::get<ThreadWork>(scanned);
        const bool isCalled = work.callee != noId;
        const SkillContext callee = isCalled ? calleeContext(context, work) : context;
        const LaneRows& rows = isCalled ? work.called : work.rows;
        const Span loop = callee.kernel.body.stmt(scannedLoop(rows).statement).span;
        Offer offer = newOffer(context, isCalled ? context.kernel.body.stmt(work.call).span : loop);
        const std::string value = describe(context, callee, rows, offer);
        offer.why = serially(value, lineNumber(context, loop.begin));
        offer.gain = ExpectedGain{.factor = warpLanes, .basis = "32 lanes load at once"};
        return offer;
    }
    [[nodiscard]] static std::string serially(const std::string& value, std::uint32_t line) {
        return fmt::format("a single thread works out {} round by round (line {}); the lanes of a "
                           "warp scan for {} values at a time",
                           value, line, warpLanes);
    }
    /// The name of the running value; the offer's title and effect on results follow.
    [[nodiscard]] static std::string describe(const SkillContext& context,
                                              const SkillContext& function, const LaneRows& rows,
                                              Offer& offer) {
        const LaneScan& scan = *scannedLoop(rows).scan;
        std::string value = scan.variable != noId
                                ? scan.fold.name
                                : function.shared().nest().arrays[scan.array].name;
        offer.title = fmt::format("Scan for {} of {} by a warp", value, context.kernel.name);
        if (reassociates(rows.shared))
            offer.numerics = Numerics::Reassociates;
        return value;
    }

    [[nodiscard]] GatedEdits edits(const SkillContext& context,
                                   const Scanned& scanned) const override {
        Draft draft(context);
        if (const auto* rows = std::get_if<LaneRows>(&scanned)) {
            KERNELSKILL_CHECK(requireIndependentRounds(context, rows->shared));
            shareRows(draft, context, *rows);
            return draft.edits();
        }
        const ThreadWork& work = std::get<ThreadWork>(scanned);
        KERNELSKILL_CHECK(requireIndependentRounds(context, work.rows.shared));
        shareRows(draft, context, work.rows);
        if (work.callee == noId)
            return draft.edits();
        // What one lane stores beside the call, and what all store in it, the others may use.
        draft.before(work.call, {"__syncwarp();"});
        draft.after(work.call, {"__syncwarp();"});
        const SkillContext callee = calleeContext(context, work);
        KERNELSKILL_CHECK(requireIndependentRounds(callee, work.called.shared));
        Draft called(callee);
        shareRows(called, callee, work.called);
        std::vector<TextEdit> edits = draft.edits();
        for (TextEdit& edit : called.edits())
            edits.push_back(std::move(edit));
        return edits;
    }
};

} // namespace

KERNELSKILL_SKILL(HierarchicalScanSkill)

} // namespace kernelskill::skills
