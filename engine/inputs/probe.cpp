#include "engine/inputs/probe.h"

#include "engine/inputs/input_style.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/probe_planner.h"
#include "engine/inputs/value_dictionary.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <utility>

namespace kernelskill::engine {

std::string describe(const ProbePlan& plan, std::size_t left) {
    std::string text = fmt::format("varied: {}", fmt::join(plan.varied, "; "));
    if (!plan.unvaried.empty())
        text += fmt::format(". Not varied: {}", fmt::join(plan.unvaried, "; "));
    if (left > 0)
        text += fmt::format(". {} more say nothing, because the original does not run cleanly on "
                            "them",
                            left);
    return text;
}

std::vector<Trial> planInstanceProbes(KernelInFile original, KernelInFile candidate,
                                      const Trial& trial, skills::Numerics numerics,
                                      std::uint64_t seed) {
    const ValueDictionary dictionary = valueDictionary(original, candidate);
    using Turn = std::pair<InputStyle, std::size_t>;
    std::vector<Turn> turns{
        {InputStyle::Constants, 0}, {InputStyle::Extremes, 0}, {InputStyle::Ties, 0}};
    if (numerics != skills::Numerics::Exact) {
        turns = {{InputStyle::Ties, 0}, {InputStyle::Tiny, 0}};
        for (std::size_t i = 0; i < dictionary.vanishing.size(); ++i)
            turns.emplace_back(InputStyle::Tiny, usualTinyTurns + i);
    }
    if (numerics == skills::Numerics::Reassociates)
        turns.insert(turns.end(), {Turn{InputStyle::Wide, 0}, Turn{InputStyle::Large, 0}});
    std::vector<Trial> probes;
    for (const auto& [style, turn] : turns) {
        Trial probe = trial;
        probe.seeds = 1;
        probe.isProbe = true;
        probe.onlyFiniteness = style == InputStyle::Large;
        probe.label += fmt::format(", {}", describe(style));
        probe.original = withStyle(std::move(probe.original), style, dictionary,
                                   {.numerics = numerics, .turn = turn}, seed + 1);
        probe.candidate = withArgumentsOf(std::move(probe.candidate), probe.original);
        probes.push_back(std::move(probe));
        // Large launches take long.
        if (threadsOf(trial.original) > maxProbeThreads * 8)
            break;
    }
    return probes;
}

ProbePlan planProbes(KernelInFile original, KernelInFile candidate, const TrialPlan& plan,
                     skills::Numerics numerics, std::uint64_t seed,
                     const std::map<std::string, std::int64_t>& passed) {
    return ProbePlanner(original, candidate, plan, numerics, seed).plan(passed);
}

} // namespace kernelskill::engine
