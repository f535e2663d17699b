/// Gives the row that each thread works on to a warp, or to a part of one.
#include "analysis/source/gpu_constants.h"
#include "skills/base/planned_skill.h"
#include "skills/schedule/share_rows.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// How many lanes share a row; WholeWarp: all of a warp.
enum class Lanes : int { WholeWarp = 0 };

/// Fewer lanes than this leave a part of each sector of four-byte elements unused.
constexpr int minLanes = 8;

/// Rows of more rounds give each lane of a whole warp enough to do.
constexpr std::int64_t longRow = 1024;

class RowPerWarpSkill : public VariedSkill<LaneRows, Lanes> {
    /// Rows that are too short for a warp may do for a part of one.
    [[nodiscard]] Gated<LaneRows> plan(const SkillContext& context) const override {
        auto rows = laneRows(context, RowSharers::Warp);
        if (rows || rows.error().gate != "short-rows")
            return rows;
        return laneRows(context, RowSharers::Warp, minLanes);
    }

    [[nodiscard]] Gated<std::vector<Offer>> offers(const SkillContext& context,
                                                   const LaneRows& rows) const override {
        std::vector<Offer> all{offerFor(context, rows, rows.lanes)};
        for (const int lanes : {8, 16})
            if (lanes < rows.lanes && mayPay(context, rows, lanes))
                all.push_back(offerFor(context, rows, lanes));
        return all;
    }

    [[nodiscard]] GatedEdits editsFor(const SkillContext& context, const LaneRows& rows,
                                      Lanes option) const override {
        KERNELSKILL_CHECK(requireIndependentRounds(context, rows.shared));
        LaneRows chosen = rows;
        chosen.lanes = option == Lanes::WholeWarp ? warpLanes : static_cast<int>(option);
        Draft draft(context);
        shareRows(draft, context, chosen);
        return draft.edits();
    }

    /// Whether a part of a warp may do better than a whole one: rows that may be short, and enough
    /// of them that the GPU has work. A lane loads several vectors at once then.
    [[nodiscard]] static bool mayPay(const SkillContext& context, const LaneRows& rows, int lanes) {
        constexpr std::int64_t loadsAtOnce = 4;
        const bool isLong = std::ranges::all_of(rows.shared.loops, [&](const LaneLoop& loop) {
            return context.kernel.loops[loop.loop].tripCount.value_or(0) > longRow;
        });
        return !isLong && (!rows.rows || *rows.rows * lanes * loadsAtOnce >= enoughThreads);
    }

    [[nodiscard]] Offer offerFor(const SkillContext& context, const LaneRows& rows,
                                 int lanes) const {
        const bool isWhole = lanes == warpLanes;
        Offer offer =
            newOffer(context, context.kernel.body.stmt(rows.shared.loops.front().statement).span,
                     isWhole ? Lanes::WholeWarp : static_cast<Lanes>(lanes));
        offer.title = fmt::format("Give each row of {} to {}", context.kernel.name,
                                  isWhole ? "a warp" : fmt::format("{} lanes", lanes));
        const std::vector<std::string> folded = foldedNames(context, rows.shared);
        offer.why = fmt::format(
            "the thread of a row walks along it (line {}), so that neighbouring lanes are a row "
            "apart: a round of a warp touches {:g} sectors, and {:g} if its lanes walk side by "
            "side{}{}",
            lineNumber(context, offer.anchor.begin), rows.sectorsBefore, rows.sectorsAfter,
            folded.empty() ? ""
                           : fmt::format(" and fold {} across {}", fmt::join(folded, " and "),
                                         isWhole ? "the warp" : "the lanes of a row"),
            isWhole ? ""
                    : fmt::format("; {} lanes a row leave few without work where rows are short, "
                                  "and a warp loads from several rows at once",
                                  lanes));
        if (reassociates(rows.shared))
            offer.numerics = Numerics::Reassociates;
        offer.gain = sectorGain(rows);
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(RowPerWarpSkill)

} // namespace kernelskill::skills
