#include "analysis/compile/occupancy.h"
#include "engine/diagnosis/host_loops.h"
#include "engine/diagnosis/roofline.h"
#include "engine/diagnosis/signals.h"
#include "engine/execution/metric_names.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

namespace kernelskill::engine {
namespace {

Signal signalOf(const DiagnosisInput& input, std::string name, double value) {
    Signal signal;
    signal.name = std::move(name);
    signal.value = value;
    signal.file = input.kernel.file;
    signal.words["a_gpu"] = withArticle(input.gpu);
    return signal;
}

/// The line of the launch, if the kernel's file has only one.
std::optional<std::uint32_t> launchLine(const DiagnosisInput& input) {
    if (input.file == nullptr || !input.file->source || input.kernel.launches.size() != 1)
        return std::nullopt;
    const analysis::LaunchSite& site = input.kernel.launches.front();
    const bool isHere = input.kernel.file == input.file->file &&
                        site.host < input.file->hostFunctions.size() &&
                        input.file->hostFunctions[site.host].file == input.file->file;
    return isHere ? std::optional(input.file->source->lineColumn(site.span.begin).line)
                  : std::nullopt;
}

/// "registers and shared-memory"
std::string limitersOf(const analysis::Occupancy& occupancy) {
    std::string text;
    for (const analysis::OccupancyLimiter limiter : occupancy.limiters)
        text += (text.empty() ? "" : " and ") + std::string(spelling(limiter));
    return text;
}

/// False for a guessed launch: it says nothing about how the user launches.
bool isUsersLaunch(const LaunchSpec& launch) {
    return launch.origin != LaunchOrigin::Guessed && launch.block.count() > 0;
}

/// Without facts, registers do not count, and the occupancy is an upper bound.
void addOccupancy(const DiagnosisInput& input, const LaunchSpec& launch,
                  std::vector<Signal>& signals) {
    const auto limits = analysis::limitsOf(input.gpu.capability);
    if (!isUsersLaunch(launch) || !limits)
        return;
    analysis::BlockResources block;
    block.threads =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(launch.block.count(), UINT32_MAX));
    block.sharedBytes = launch.dynamicSharedBytes;
    if (input.facts != nullptr) {
        block.registersPerThread = input.facts->registers;
        block.sharedBytes += input.facts->staticSharedBytes;
    } else {
        for (const analysis::SharedArray& array : input.kernel.sharedArrays)
            block.sharedBytes += array.bytes;
    }
    const auto occupancy = analysis::occupancyOf(block, *limits);
    if (!occupancy)
        return;
    Signal resident = signalOf(input, "resident_warps_percent", occupancy->percent);
    resident.numbers = {{"warps", occupancy->warps},
                        {"slots", limits->warps},
                        {"threads", block.threads},
                        {"shared", static_cast<double>(block.sharedBytes)}};
    resident.words["limiter"] = limitersOf(*occupancy);
    resident.words["registers"] =
        block.registersPerThread ? fmt::format("{} registers a thread", *block.registersPerThread)
                                 : "registers not counted";
    resident.line = launchLine(input);
    signals.push_back(std::move(resident));
    Signal threads = signalOf(input, "threads_of_block", block.threads);
    threads.line = launchLine(input);
    signals.push_back(std::move(threads));
}

/// The threads of the largest block in the text, where the launch as a whole cannot be evaluated.
void addStatedBlock(const DiagnosisInput& input, std::vector<Signal>& signals) {
    constexpr std::int64_t largestBlock = 1024;
    std::int64_t most = 0;
    for (const analysis::LaunchSite& site : input.kernel.launches) {
        std::int64_t threads = site.constantBlock.empty() ? 0 : 1;
        for (const std::int64_t extent : site.constantBlock)
            threads *= extent;
        if (threads <= 0 || threads > largestBlock)
            return;
        most = std::max(most, threads);
    }
    // A single thread may be all that a kernel needs, as where it makes objects for others.
    if (most < 2 || !input.kernel.alsoLaunchedIn.empty())
        return;
    Signal signal = signalOf(input, "threads_of_block", static_cast<double>(most));
    signal.line = launchLine(input);
    signals.push_back(std::move(signal));
}

/// Whether a single thread runs the kernel and no loop in it has work for others, as where objects
/// are made for later kernels.
bool isSetUp(const DiagnosisInput& input, const LaunchSpec& launch) {
    return launch.grid.count() * launch.block.count() == 1 && input.kernel.loops.empty();
}

/// Whether device code makes the launch: as many may run at once as there are threads that do.
bool isFromDevice(const DiagnosisInput& input, const LaunchSpec& launch) {
    return launch.origin == LaunchOrigin::Evaluated && input.kernel.launches.empty() &&
           input.kernel.alsoLaunchedIn.empty();
}

void addSpread(const DiagnosisInput& input, const LaunchSpec& launch,
               std::vector<Signal>& signals) {
    if (!isUsersLaunch(launch) || launch.isGridOfDevice || launch.isGridStandIn ||
        isFromDevice(input, launch))
        return;
    const auto blocks = static_cast<double>(launch.grid.count());
    Signal spread =
        signalOf(input, "blocks_per_multiprocessor", blocks / input.gpu.multiprocessors);
    spread.numbers = {{"blocks", blocks},
                      {"multiprocessors", input.gpu.multiprocessors},
                      {"idle", std::max(0.0, input.gpu.multiprocessors - blocks)}};
    spread.line = launchLine(input);
    signals.push_back(std::move(spread));
}

void addIntensity(const DiagnosisInput& input, const RooflineCounts& counts,
                  const Roofline& roofline, const std::vector<Signal>& fromText,
                  std::vector<Signal>& signals) {
    if (!roofline.intensity)
        return;
    const double balance = roofline.ridge.operationsPerByte;
    Signal signal = signalOf(input, "intensity_over_balance", roofline.intensity->high / balance);
    signal.numbers = {{"intensity", roofline.intensity->high},
                      {"uncached", roofline.intensity->low},
                      {"balance", balance},
                      {"bytes", counts.uniqueBytes}};
    signal.words["basis"] = basisOf(roofline.ridge);
    signal.words["operations"] = roofline.operationsAreStatic ? "as the source has them"
                                 : roofline.operationsAreIncomplete
                                     ? "counted, without those of some functions"
                                     : "counted";
    signals.push_back(signal);
    signal.name = "uncached_intensity_over_balance";
    signal.value = roofline.intensity->low / balance;
    signals.push_back(signal);
    signal.name = "contraction_over_balance";
    signal.value = roofline.intensity->high / balance;
    for (const Signal& contraction : fromText) {
        if (contraction.name == "contraction_over_two_axes") {
            signal.line = contraction.line;
            signals.push_back(signal);
        }
    }
}

/// A branch is at least one instruction of a warp, and a scheduler issues one instruction per
/// clock. If issuing branches takes longer than moving bytes, memory bandwidth is not the limit.
void addControlFlow(const DiagnosisInput& input, const RooflineCounts& counts,
                    std::vector<Signal>& signals) {
    const auto found = input.profile->metrics.find(metric::branchTargets);
    if (found == input.profile->metrics.end())
        return;
    const double busy = std::min<double>(input.gpu.multiprocessors,
                                         static_cast<double>(input.profile->launch.grid.count()));
    const double issue =
        found->second / (busy * analysis::MultiprocessorLimits::partitions * input.gpu.boostHertz);
    const double memory = counts.uniqueBytes / input.gpu.memoryBytesPerSecond;
    Signal signal = signalOf(input, "branches_over_memory", issue / memory);
    signal.numbers = {{"branches", found->second}, {"bytes", counts.uniqueBytes}};
    signals.push_back(std::move(signal));
}

/// Adds the operations of each line that has some.
void addOperations(const DiagnosisInput& input, std::vector<Signal>& signals) {
    const auto operations = [](const Metrics& metrics) {
        const auto found = metrics.find(metric::floatingOperations);
        return found == metrics.end() ? 0 : found->second;
    };
    const double total = operations(input.profile->metrics);
    for (const LineMetrics& place : input.profile->lines) {
        const double here = operations(place.metrics);
        if (here <= 0 || total <= 0)
            continue;
        Signal signal = signalOf(input, "operations_percent", 100 * here / total);
        signal.file = place.file;
        signal.line = place.line;
        signals.push_back(std::move(signal));
    }
}

/// The kernel's maximum time in the model, compared with the time of an empty launch. A launch of
/// guessed sizes says nothing of how long the program's takes.
void addLaunches(const DiagnosisInput& input, const Roofline& roofline, double launchSeconds,
                 std::vector<Signal>& signals) {
    if (input.file == nullptr || roofline.seconds.high <= 0 ||
        input.profile->launch.origin == LaunchOrigin::Guessed)
        return;
    for (const RepeatedLaunch& launch : repeatedLaunches(*input.file, input.kernel)) {
        Signal signal =
            signalOf(input, "launch_over_kernel_time", launchSeconds / roofline.seconds.high);
        signal.numbers = {{"launch", launchSeconds * 1e6},
                          {"low", roofline.seconds.low * 1e6},
                          {"high", roofline.seconds.high * 1e6}};
        signal.words["launches"] =
            launch.launches ? fmt::format("{} times", *launch.launches) : "in a loop";
        signal.file = launch.file;
        if (input.file->source && launch.file == input.file->file)
            signal.line = input.file->source->lineColumn(launch.span.begin).line;
        signals.push_back(signal);
        if (!launch.launches)
            continue;
        signal.name = "repeated_launches";
        signal.value = static_cast<double>(*launch.launches);
        signals.push_back(std::move(signal));
    }
}

} // namespace

std::vector<Signal> machineSignals(const DiagnosisInput& input, const std::vector<Signal>& fromText,
                                   double launchSeconds) {
    std::vector<Signal> signals;
    const LaunchSpec* launch = input.profile != nullptr ? &input.profile->launch : input.launch;
    const bool triesMany = input.file != nullptr && triesBlocks(*input.file, input.kernel);
    const bool isOneOfMany =
        launch != nullptr && launch->origin == LaunchOrigin::Evaluated && triesMany;
    if (launch != nullptr && !isOneOfMany && !isSetUp(input, *launch)) {
        addOccupancy(input, *launch, signals);
        addSpread(input, *launch, signals);
    }
    if (!triesMany && (launch == nullptr || !isUsersLaunch(*launch)))
        addStatedBlock(input, signals);
    if (input.profile == nullptr)
        return signals;
    if (const auto counts = rooflineCounts(input.kernel, input.features, *input.profile)) {
        const Roofline roofline = rooflineOf(*counts, input.gpu);
        addIntensity(input, *counts, roofline, fromText, signals);
        addControlFlow(input, *counts, signals);
        addOperations(input, signals);
        addLaunches(input, roofline, launchSeconds, signals);
    }
    return signals;
}

} // namespace kernelskill::engine
