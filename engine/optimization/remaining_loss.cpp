#include "engine/optimization/remaining_loss.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Tells how many times as fast as the version its roofline is.
std::optional<Interval> distanceOf(const Standing& version) {
    if (version.measured && version.measured->percent() > 0) {
        const double factor = std::max(1.0, 100 / version.measured->percent());
        return Interval{factor, factor};
    }
    if (!version.measured && version.cost && version.cost->minSeconds > 0)
        return Interval{std::max(1.0, version.cost->seconds.low / version.cost->minSeconds),
                        std::max(1.0, version.cost->seconds.high / version.cost->minSeconds)};
    return std::nullopt;
}

bool answers(const Attempt& attempt, BottleneckKind kind) {
    return attempt.plan.answers != AnswersTo::Nothing && attempt.bottleneck &&
           attempt.bottleneck->kind == kind;
}

/// Collects the plans against `kind` that were not kept, on whatever version; one for each skill,
/// the last.
std::vector<TriedMethod> triedAgainst(BottleneckKind kind, std::span<const Attempt> attempts) {
    std::vector<TriedMethod> tried;
    for (const Attempt& attempt : attempts) {
        if (!answers(attempt, kind) || attempt.isKept || attempt.isPostponed)
            continue;
        const std::string& skill = attempt.plan.offer.skillId;
        std::erase_if(tried, [&](const TriedMethod& each) { return each.skill == skill; });
        tried.push_back({skill, attempt.decision});
    }
    return tried;
}

} // namespace

std::optional<RemainingLoss> remainingLossOf(const Standing& version, const Plan& plan,
                                             std::span<const Attempt> attempts) {
    if (!version.bottleneck)
        return std::nullopt;
    RemainingLoss loss;
    loss.bottleneck = version.bottleneck;
    loss.distance = distanceOf(version);
    loss.isMeasured = version.measured.has_value();
    if (!loss.isMeasured && version.cost)
        loss.parts = version.cost->parts;
    std::ranges::stable_sort(loss.parts, std::ranges::greater{},
                             [](const CostPart& part) { return part.seconds.high; });
    loss.tried = triedAgainst(version.bottleneck->kind, attempts);
    std::set<std::pair<std::string, int>> seen;
    for (const Attempt& attempt : attempts)
        if (!attempt.isPostponed)
            seen.insert({attempt.plan.offer.skillId, attempt.plan.offer.option});
    for (const RankedSkill& ranked : plan.ranked) {
        const skills::Offer& offer = ranked.offer;
        if (ranked.answers != AnswersTo::Nothing && !ranked.failedBefore &&
            !seen.contains({offer.skillId, offer.option}) &&
            std::ranges::find(loss.notTried, offer.skillId) == loss.notTried.end())
            loss.notTried.push_back(offer.skillId);
    }
    loss.remedies = plan.remedies;
    return loss;
}

std::string describeDistance(const RemainingLoss& loss) {
    if (!loss.distance)
        return {};
    const double high = loss.distance->high;
    if (loss.isMeasured)
        return fmt::format("measured: {:.0f} % of the roofline, which is {:.2f} times as fast",
                           100 / high, high);
    return fmt::format("by the model, not measured: the roofline is at most {:.1f} times as fast",
                       high);
}

} // namespace kernelskill::engine
