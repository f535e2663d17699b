/// Gives launches that share no memory streams of their own, so that they run side by side.
#include "skills/base/planned_skill.h"
#include "skills/editing/host_code.h"
#include "skills/stream-overlap/chunk_plan.h"
#include "skills/stream-overlap/launch_load.h"
#include "skills/stream-overlap/overlap_plan.h"
#include "skills/stream-overlap/side_streams.h"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <variant>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// The work that runs side by side: launches, or rounds of a loop.
enum class Shape : int { ByLaunches, ByRounds };

using Overlap = std::variant<OverlapPlan, ChunkPlan>;

/// The first launch stays in its stream; each other one gets a stream of its own.
std::vector<TextEdit> overlapEdits(const SkillContext& context, const OverlapPlan& plan) {
    const HostCode code(context, plan.place.host);
    const SideStreams streams(code, plan.place, plan.launches.size() - 1, false);
    std::vector<TextEdit> edits =
        streams.edits(fmt::format("{} launches run side by side: none writes what another one "
                                  "touches.",
                                  plan.launches.size()));
    for (std::size_t i = 1; i < plan.launches.size(); ++i)
        edits.push_back(inStream(code.body(), *plan.launches[i], streams.name(i - 1)));
    return edits;
}

/// Each round is given to one of the streams, by turns.
std::vector<TextEdit> overlapEdits(const SkillContext& context, const ChunkPlan& plan) {
    const ChunkLoop& loop = plan.loop;
    const HostCode code(context, plan.place.host);
    const SideStreams streams(code, plan.place, plan.streams, true);
    std::vector<TextEdit> edits = streams.edits(
        fmt::format("{} rounds at a time run side by side: none writes what another one touches.",
                    plan.streams));
    std::string round = code.body().variable(loop.counter).name;
    if (loop.stepText != noId) {
        const ExprKind kind = code.body().expr(loop.stepText).kind;
        const bool isOperand = kind == ExprKind::Integer || kind == ExprKind::Variable;
        const std::string step = code.textOf(loop.stepText);
        round += " / " + (isOperand ? step : "(" + step + ")");
    }
    const std::string own = fmt::format("{}[{} % {}]", streams.name(), round, plan.streams);
    for (const LaunchSite* launch : loop.launches)
        edits.push_back(inStream(code.body(), *launch, own));
    for (const AsyncCopy& copy : loop.copies)
        edits.push_back(inStream(copy, own));
    return edits;
}

class StreamOverlapSkill : public PlannedSkill<Overlap, Shape> {
    Gated<Overlap> plan(const SkillContext& context) const override {
        auto chunks = planChunks(context);
        if (chunks)
            return std::move(*chunks);
        auto launches = planOverlap(context);
        if (!launches && chunks.error().gate != "no-chunk-loop")
            return std::unexpected(chunks.error());
        return launches;
    }

    Gated<Overlap> planOf(const SkillContext& context, const Offer& offer) const override {
        if (Shape{offer.option} == Shape::ByRounds)
            return planChunks(context);
        return planOverlap(context);
    }

    Gated<Offer> offer(const SkillContext& context, const Overlap& plan) const override {
        return std::visit([&](const auto& shaped) { return offerOf(context, shaped); }, plan);
    }

    GatedEdits edits(const SkillContext& context, const Overlap& plan) const override {
        return std::visit([&](const auto& shaped) { return overlapEdits(context, shaped); }, plan);
    }

    Offer offerOf(const SkillContext& context, const OverlapPlan& plan) const {
        const std::uint32_t first = lineNumber(context, plan.launches.front()->span.begin);
        const std::uint32_t last = lineNumber(context, plan.launches.back()->span.begin);
        Offer offer = newOffer(context, context.kernel.nameSpan, Shape::ByLaunches);
        offer.title = fmt::format("Run the {} launches on lines {} to {} side by side",
                                  plan.launches.size(), first, last);
        offer.why =
            fmt::format("the {} launches on lines {} to {} share nothing that one of them "
                        "writes, and take {:.0f} % of the room of {} multiprocessors together",
                        plan.launches.size(), first, last, plan.share * 100, multiprocessors);
        offer.gain = ExpectedGain{plan.gain, "the time of the launches one after the other over "
                                             "that of the longest, or of the full GPU"};
        return offer;
    }

    Offer offerOf(const SkillContext& context, const ChunkPlan& plan) const {
        const auto& body = context.file.hostFunctions[plan.place.host].body;
        const std::uint32_t line = lineNumber(context, body.stmt(plan.loop.loop).span.begin);
        Offer offer = newOffer(context, context.kernel.nameSpan, Shape::ByRounds);
        offer.title = fmt::format("Run the {} rounds of the loop on line {} in {} streams",
                                  plan.loop.rounds, line, plan.streams);
        offer.why = fmt::format("the {} rounds of the loop on line {} copy pinned memory and touch "
                                "different parts of all that one of them writes: a round's copies "
                                "can run while another one computes",
                                plan.loop.rounds, line);
        offer.gain =
            ExpectedGain{plan.gain, "the time of all copies and kernels one after the other "
                                    "over that of the copies one way, or of the kernels"};
        return offer;
    }
};

} // namespace

KERNELSKILL_SKILL(StreamOverlapSkill)

} // namespace kernelskill::skills
