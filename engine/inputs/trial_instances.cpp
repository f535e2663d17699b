#include "engine/inputs/trial_instances.h"

#include "engine/inputs/launch_candidates.h"
#include "engine/inputs/launch_pair.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kernelskill::engine {
namespace {

/// Returns the integers that the candidate's instance at that site is for; if the original has as
/// many sites, with the values that its launch there passes.
std::map<std::string, std::int64_t>
integersAt(std::size_t site, const std::vector<LaunchCandidates::SiteInstance>& originals,
           const std::vector<LaunchCandidates::SiteInstance>& candidates) {
    auto integers = candidates[site].madeFor;
    if (originals.size() == candidates.size())
        for (auto& [name, value] : integers)
            if (const auto passed = originals[site].passed.find(name);
                passed != originals[site].passed.end())
                value = passed->second;
    return integers;
}

/// Returns `launch` with these integers as arguments, by the names of parameters.
LaunchSpec withIntegers(LaunchSpec launch, const std::map<std::string, std::int64_t>& integers) {
    for (ArgumentSpec& argument : launch.arguments) {
        auto* scalar = std::get_if<ScalarSpec>(&argument);
        const auto found = scalar == nullptr ? integers.end() : integers.find(scalar->name);
        if (found != integers.end() && scalar->integer)
            setInteger(*scalar, found->second);
    }
    return launch;
}

/// Whether all of `some` are in `all`, in the same order.
bool isSubsequence(const std::vector<std::string>& some, const std::vector<std::string>& all) {
    auto next = some.begin();
    for (const std::string& each : all)
        if (next != some.end() && *next == each)
            ++next;
    return next == some.end();
}

} // namespace

void addInstanceTrials(TrialPlan& plan, KernelInFile original, KernelInFile candidate) {
    constexpr std::size_t maxTrials = 8;
    const auto originals = LaunchCandidates(original.file, original.kernel).instances();
    const auto candidates = LaunchCandidates(candidate.file, candidate.kernel).instances();
    const std::vector<Trial> planned = plan.trials;
    for (std::size_t site = 0; site < candidates.size(); ++site) {
        const auto like = std::ranges::find_if(planned, [&](const Trial& one) {
            return isSubsequence(one.original.templateArguments,
                                 candidates[site].templateArguments);
        });
        if (like == planned.end())
            continue;
        Trial trial = *like;
        trial.original =
            withIntegers(std::move(trial.original), integersAt(site, originals, candidates));
        trial.candidate.templateArguments = candidates[site].templateArguments;
        trial.candidate.madeFor.clear();
        trial.candidate = withArgumentsOf(std::move(trial.candidate), trial.original);
        const std::string label = labelOf(trial.original);
        const bool isTried = std::ranges::any_of(plan.trials, [&](const Trial& other) {
            return runsSameInstances(other, trial) && labelOf(other.original) == label;
        });
        if (isTried || plan.trials.size() >= maxTrials)
            continue;
        trial.label = fmt::format("{}, instance <{}>", label,
                                  fmt::join(candidates[site].templateArguments, ", "));
        trial.seeds = 1;
        plan.trials.push_back(std::move(trial));
    }
}

} // namespace kernelskill::engine
