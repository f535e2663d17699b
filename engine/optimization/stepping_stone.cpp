#include "engine/optimization/stepping_stone.h"

#include "engine/optimization/candidate_decision.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <initializer_list>

namespace kernelskill::engine {
namespace {

/// A text that is slower than this is built on only for its counts.
constexpr double littleSlower = 0.9;
/// A text that is slower than this is not built on at all.
constexpr double minSpeedup = 0.5;
/// Counts that differ by less are the same.
constexpr double fewerCounts = 0.98;

/// The sum of the metrics over the whole grid; the profile may have sampled its blocks.
double sumOf(const Profile& profile, std::initializer_list<const char*> names) {
    double sum = 0;
    for (const char* name : names)
        sum += metricValue(profile.metrics, name);
    const auto blocks = static_cast<double>(profile.launch.grid.count());
    return profile.blocksRun > 0 ? sum * blocks / static_cast<double>(profile.blocksRun) : sum;
}
double sectorsOf(const Profile& profile) {
    return sumOf(profile, {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                           "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"});
}
double requestsOf(const Profile& profile) {
    return sumOf(profile, {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                           "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"});
}

bool isComparable(const Standing& before, const Standing& after) {
    return !before.launch || !after.launch || isSameProblem(*before.launch, *after.launch);
}

/// How many times as fast as before. nullopt if it is wrong or the two cannot be compared.
std::optional<double> speedupOf(const Verdict& verdict, const Standing& before,
                                const Standing& after) {
    switch (verdict.status) {
    case VerdictStatus::Faster:
    case VerdictStatus::Inconclusive:
        return verdict.speedup.value_or(1);
    case VerdictStatus::Slower:
        return verdict.speedup;
    case VerdictStatus::Unmeasured:
        if (before.cost && after.cost && isComparable(before, after))
            return modelledGain(*before.cost, *after.cost);
        return std::nullopt;
    case VerdictStatus::Incorrect:
    case VerdictStatus::Invalid:
        break;
    }
    return std::nullopt;
}

} // namespace

bool movesLess(const Standing& before, const Standing& after) {
    if (!before.profile || !after.profile || !isComparable(before, after))
        return false;
    const double sectors = sectorsOf(*after.profile) / sectorsOf(*before.profile);
    const double requests = requestsOf(*after.profile) / requestsOf(*before.profile);
    return (sectors < fewerCounts && requests * fewerCounts <= 1) ||
           (requests < fewerCounts && sectors * fewerCounts <= 1);
}

std::optional<SteppingStone> steppingStoneOf(const Attempt& attempt, const Standing& before,
                                             const Standing& after,
                                             const std::vector<std::string>& opened,
                                             bool isMeasured) {
    if (!attempt.verdict || !attempt.verdict->isAboutEdit || !after.compilerRefusal.empty())
        return std::nullopt;
    SteppingStone step;
    const auto speedup = speedupOf(*attempt.verdict, before, after);
    step.speedup = speedup.value_or(1);
    const bool isLittleSlower = speedup && *speedup >= littleSlower;
    if (!opened.empty() && (isLittleSlower || isNoLoss(*attempt.verdict, before, after))) {
        step.reason = StepReason::Opens;
        step.why = fmt::format("kept, because it lets {} fit", fmt::join(opened, ", "));
        return step;
    }
    if (!speedup)
        return std::nullopt;
    const AnswersTo answers = attempt.plan.answers;
    if (attempt.plan.role == skills::SkillRole::Hygiene || answers == AnswersTo::Nothing) {
        // The model sees nothing of what such an edit may change for a later one.
        if (!isMeasured || !isLittleSlower)
            return std::nullopt;
        step.reason = StepReason::Fits;
        step.why = "kept to build on, because another edit may need it";
        return step;
    }
    const bool isLeading = answers == AnswersTo::Leading;
    step.reason = isLeading ? StepReason::Answers : StepReason::AnswersFurther;
    step.why = fmt::format("kept to build on, because it answers {}",
                           isLeading ? "the bottleneck" : "a further bottleneck");
    if (isLittleSlower)
        return step;
    step.needsCounts = !after.profile;
    if (!isLeading || *speedup < minSpeedup || (after.profile && !movesLess(before, after)))
        return std::nullopt;
    step.reason = StepReason::MovesLess;
    step.why = "kept to build on, because it answers the bottleneck, if it asks less of memory";
    return step;
}

} // namespace kernelskill::engine
