#include "skills/stream-overlap/launch_load.h"

#include "analysis/compile/data_centre_gpu.h"
#include "analysis/queries/host_statements.h"
#include "analysis/queries/launch_values.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// nullopt where an axis is not known.
std::optional<std::int64_t> product(const std::array<std::optional<std::int64_t>, 3>& axes) {
    std::int64_t all = 1;
    for (const auto& axis : axes) {
        constexpr std::int64_t most = 1LL << 31;
        if (!axis || *axis < 1 || *axis > most || all > most)
            return std::nullopt;
        all *= *axis;
    }
    return all;
}

/// Rounds of all loops around something, at most.
std::optional<double> roundsOf(const KernelModel& kernel, const LaunchValues& values,
                               const std::vector<std::uint32_t>& loops) {
    double rounds = 1;
    for (const std::uint32_t number : loops) {
        const auto known = values.maxRounds(kernel.loops[number]);
        if (!known)
            return std::nullopt;
        rounds *= static_cast<double>(*known);
    }
    return rounds;
}

/// Accesses to memory that other threads see, and rounds of the loops without any.
std::optional<double> stepsOf(const KernelModel& kernel, const LaunchValues& values) {
    if (!kernel.calls.empty())
        return std::nullopt;
    double steps = 0;
    for (const MemoryAccess& access : kernel.accesses) {
        if (access.space == MemorySpace::Local)
            continue;
        const auto rounds = roundsOf(kernel, values, access.loops);
        if (!rounds)
            return std::nullopt;
        steps += *rounds;
    }
    for (std::uint32_t number = 0; number < kernel.loops.size(); ++number) {
        std::vector<std::uint32_t> around;
        for (std::uint32_t at = number; at != noId; at = kernel.loops[at].parent)
            around.push_back(at);
        const auto rounds = roundsOf(kernel, values, around);
        if (!rounds)
            return std::nullopt;
        steps = std::max(steps, *rounds);
    }
    return steps;
}

} // namespace

Gated<LaunchLoad> loadOf(const SkillContext& context, const LaunchSite& launch) {
    const KernelModel& kernel = *kernelOf(context.file, launch);
    const SkillContext other(context.file, kernel, context.features, kernel.span);
    const LaunchValues values(other.shared(), launch);
    const auto blocks = product(values.grid());
    const auto threads = product(values.block());
    if (!blocks || !threads)
        return refuse("size-unknown",
                      fmt::format("how many blocks and threads the launch on line {} has is not "
                                  "known: it may fill the GPU by itself",
                                  lineNumber(context, launch.span.begin)));
    std::int64_t resident = residentBlocksOf(*threads);
    const CompiledKernel* compiled = context.compiled;
    if (&kernel == &context.kernel && compiled != nullptr && compiled->occupancy &&
        compiled->blockThreads == *threads)
        resident = std::max<std::int64_t>(compiled->occupancy->blocks, 1);
    return LaunchLoad{
        *blocks, static_cast<double>(*blocks) / static_cast<double>(multiprocessors * resident),
        stepsOf(kernel, values)};
}

double overlapGain(const std::vector<LaunchLoad>& loads) {
    const bool isTimeKnown =
        std::ranges::all_of(loads, [](const LaunchLoad& load) { return load.steps.has_value(); });
    double oneByOne = 0;
    double longest = 0;
    double filled = 0; // the time for which they would fill the GPU
    for (const LaunchLoad& load : loads) {
        const double time = isTimeKnown ? *load.steps : 1;
        oneByOne += time;
        longest = std::max(longest, time);
        filled += time * load.share;
    }
    const double beside = std::max(longest, filled);
    return beside > 0 ? oneByOne / beside : 1;
}

} // namespace kernelskill::skills
