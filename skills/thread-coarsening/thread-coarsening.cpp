/// Gives a thread several neighbouring points of a result: rows, or points along another axis.
#include "skills/base/planned_skill.h"
#include "skills/editing/grid_size.h"
#include "skills/thread-coarsening/coarsening_plan.h"
#include "skills/thread-coarsening/row_copies.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// How many rows a thread is given.
enum class Rows : int {};

class ThreadCoarseningSkill : public VariedSkill<CoarseningPlan, Rows> {
    Gated<CoarseningPlan> plan(const SkillContext& context) const override {
        return planCoarsening(context);
    }

    Gated<std::vector<Offer>> offers(const SkillContext& context,
                                     const CoarseningPlan& plan) const override {
        if (plan.counts.empty())
            return std::unexpected(*plan.refusal);
        std::vector<Offer> all;
        for (const RowCount& count : plan.counts)
            all.push_back(offer(context, plan, count));
        return all;
    }

    /// Rows that share nothing have their loads under way together, if the compiler may move them
    /// before the stores.
    Gated<std::vector<Offer>> trials(const SkillContext& context,
                                     const CoarseningPlan& plan) const override {
        Offer offer = namedOffer(context, plan, plan.apart->rows);
        offer.why = fmt::format("the loads of {} rows can be under way together, where each thread "
                                "has those of one",
                                plan.apart->rows);
        return std::vector{std::move(offer)};
    }

    [[nodiscard]] Offer namedOffer(const SkillContext& context, const CoarseningPlan& plan,
                                   int rows) const {
        Offer offer =
            newOffer(context, context.kernel.body.stmt(plan.work.guards.front()).span, Rows{rows});
        offer.title =
            fmt::format("Give each thread of {} {} {}", context.kernel.name, rows, pointsOf(plan));
        return offer;
    }

    [[nodiscard]] static std::string_view pointsOf(const CoarseningPlan& plan) {
        return plan.work.axis == 1 ? "rows" : "points";
    }

    [[nodiscard]] Offer offer(const SkillContext& context, const CoarseningPlan& plan,
                              const RowCount& count) const {
        const FunctionBody& body = context.kernel.body;
        Offer offer = namedOffer(context, plan, count.rows);
        const std::string_view points = pointsOf(plan);
        offer.why = fmt::format("threads whose {} is next to each other load the same: {} {} in "
                                "one thread need {:.0f} % of the loads (line {}); the launch{} "
                                "get{} a grid {} times smaller",
                                body.variable(plan.work.row).name, count.rows, points,
                                100 * count.loads.after / count.loads.before,
                                lineNumber(context, offer.anchor.begin),
                                context.kernel.launches.size() == 1 ? "" : "es",
                                context.kernel.launches.size() == 1 ? "s" : "", count.rows);
        offer.gain = ExpectedGain{count.loads.before / count.loads.after,
                                  "loads of several rows by threads of their own, over those by "
                                  "one thread"};
        return offer;
    }

    GatedEdits editsFor(const SkillContext& context, const CoarseningPlan& plan,
                        Rows rows) const override {
        std::vector<RowCount> counts = plan.counts;
        if (plan.apart)
            counts.push_back(*plan.apart);
        const auto count = std::ranges::find(counts, static_cast<int>(rows), &RowCount::rows);
        if (count == counts.end())
            return refuse("rows", fmt::format("{} no longer fits {} rows a thread",
                                              context.kernel.name, static_cast<int>(rows)));
        std::vector<TextEdit> edits = rowCopies(context, plan, *count);
        std::array<int, 3> divisors{1, 1, 1};
        divisors[plan.work.axis] = count->rows;
        for (const LaunchSite& launch : context.kernel.launches)
            std::ranges::move(dividedGridAxes(context, launch, divisors),
                              std::back_inserter(edits));
        return edits;
    }
};

} // namespace

KERNELSKILL_SKILL(ThreadCoarseningSkill)

} // namespace kernelskill::skills
