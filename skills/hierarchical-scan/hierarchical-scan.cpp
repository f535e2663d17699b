/// Lets the lanes of a warp scan for the running values of a loop.
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/hierarchical-scan/thread_guard.h"
#include "skills/schedule/share_rows.h"

#include <spdlog/fmt/fmt.h>

#include <variant>

namespace kernelskill::skills {

using namespace analysis;

namespace {

using Scanned = std::variant<LaneRows, ThreadWork>;

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
            const Span loop = loopSpan(context, *rows);
            return rows->position.isOneThread ? offerToThread(context, context, *rows, loop)
                                              : offerToRows(context, *rows, loop);
        }
        const ThreadWork& work = std::get<ThreadWork>(scanned);
        if (work.callee == noId)
            return offerToThread(context, context, work.rows, loopSpan(context, work.rows));
        return offerToThread(context, calleeContext(context, work), work.called,
                             context.kernel.body.stmt(work.call).span);
    }
    [[nodiscard]] static Span loopSpan(const SkillContext& function, const LaneRows& rows) {
        return function.kernel.body.stmt(scannedLoop(rows.shared)->statement).span;
    }
    [[nodiscard]] static std::string runningValue(const SkillContext& function,
                                                  const LaneRows& rows) {
        const LaneScan& scan = *scannedLoop(rows.shared)->scan;
        return scan.variable != noId ? scan.fold.name
                                     : function.shared().nest().arrays[scan.array].name;
    }
    [[nodiscard]] Offer offerFor(const SkillContext& context, const std::string& value,
                                 const LaneRows& rows, Span anchor) const {
        Offer offer = newOffer(context, anchor);
        offer.title = fmt::format("Scan for {} of {} by a warp", value, context.kernel.name);
        if (reassociates(rows.shared))
            offer.numerics = Numerics::Reassociates;
        return offer;
    }
    [[nodiscard]] Offer offerToRows(const SkillContext& context, const LaneRows& rows,
                                    Span loop) const {
        const std::string value = runningValue(context, rows);
        Offer offer = offerFor(context, value, rows, loop);
        offer.why = fmt::format(
            "the thread of a row works out {} round by round (line {}), so that "
            "neighbouring lanes are a row apart: a round of a warp touches {:g} "
            "sectors, and {:g} if its lanes scan one row",
            value, lineNumber(context, loop.begin), rows.sectorsBefore, rows.sectorsAfter);
        offer.gain = sectorGain(rows);
        return offer;
    }
    /// The loop is in `function`: the kernel, or one that a single thread of it calls.
    [[nodiscard]] Offer offerToThread(const SkillContext& context, const SkillContext& function,
                                      const LaneRows& rows, Span anchor) const {
        const std::string value = runningValue(function, rows);
        Offer offer = offerFor(context, value, rows, anchor);
        offer.why =
            fmt::format("a single thread works out {} round by round (line {}); the lanes of a "
                        "warp scan for {} values at a time",
                        value, lineNumber(context, loopSpan(function, rows).begin), warpLanes);
        offer.gain = ExpectedGain{.factor = warpLanes, .basis = "32 lanes load at once"};
        return offer;
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
