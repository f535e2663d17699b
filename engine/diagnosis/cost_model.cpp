#include "engine/diagnosis/cost_model.h"

#include "analysis/source/gpu_constants.h"
#include "engine/execution/metric_names.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kernelskill::engine {
namespace {

// The cycles from an instruction to its result. Luo et al., "Benchmarking and Dissecting the Nvidia
// Hopper GPU Architecture via Microbenchmarking" (2024), table of memory latencies: global memory
// 466 on an A100, 479 on an H100, 542 on an RTX 4090; shared memory 29 to 30 on all three.
constexpr double globalLatency = 480;
constexpr double sharedLatency = 30;
/// A barrier and a shuffle take about as long as an access to shared memory.
constexpr double barrierLatency = sharedLatency;
constexpr double warpOperationLatency = sharedLatency;

/// A difference up to this factor counts as none: the order of atomics alone may cause it.
constexpr double noLater = 1.001;
constexpr double earlier = 0.98;
constexpr double nearRoofline = 1.25;
/// A kernel that takes less time than its launch is not limited by its roofline.
constexpr double minModelledSeconds = 1e-6;

/// How many warps and blocks of the launch reside on the GPU at once.
struct Residency {
    double multiprocessors = 0; ///< Multiprocessors that have a block.
    double warps = 0;
    double blocks = 0;
};

std::optional<Residency> residencyOf(const CostInput& input) {
    const auto limits = analysis::limitsOf(input.gpu.capability);
    const LaunchSpec& launch = input.profile.launch;
    if (!limits)
        return std::nullopt;
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
    if (!occupancy || occupancy->blocks == 0)
        return std::nullopt;
    const auto grid = static_cast<double>(std::max<std::uint64_t>(launch.grid.count(), 1));
    const double warpsOfBlock = std::ceil(block.threads / analysis::warpLanes);
    Residency resident;
    resident.multiprocessors = std::min<double>(input.gpu.multiprocessors, grid);
    resident.blocks = std::min(grid, double{1} * occupancy->blocks * input.gpu.multiprocessors);
    resident.warps = resident.blocks * warpsOfBlock;
    return resident;
}

/// high: each warp waits for every result before its next instruction, and only other warps fill
/// the time. low: all accesses of a warp overlap, so one latency remains.
Interval latencyOf(const Metrics& metrics, const Residency& resident, double hertz) {
    const double global = metricValue(metrics, metric::load.globalRequests) +
                          metricValue(metrics, metric::globalAtomicRequests);
    const double shared = metricValue(metrics, metric::load.sharedRequests) +
                          metricValue(metrics, metric::sharedAtomicRequests);
    const double cycles = (global * globalLatency + shared * sharedLatency +
                           metricValue(metrics, metric::warpOperations) * warpOperationLatency) /
                              resident.warps +
                          metricValue(metrics, metric::barriers) * barrierLatency / resident.blocks;
    return {global > 0 ? std::min(cycles, globalLatency) / hertz : 0, cycles / hertz};
}

/// A multiprocessor's shared memory serves one wavefront per clock.
Interval sharedMemoryOf(const Metrics& metrics, const Residency& resident, double hertz) {
    double wavefronts = 0;
    for (const metric::AccessNames* access : metric::accesses)
        wavefronts += metricValue(metrics, access->sharedWavefronts);
    const double seconds = wavefronts / (resident.multiprocessors * hertz);
    return {seconds, seconds};
}

/// Lanes on one address take turns, one per clock. No count says how many addresses are served at
/// once.
Interval atomicsOf(const Metrics& metrics, const Residency& resident, double hertz) {
    const double turns = metricValue(metrics, metric::atomicSerializations);
    return {0, turns / (resident.multiprocessors * hertz)};
}

/// A warp takes an instruction's full time even if few of its lanes are active. No count says
/// whether the arithmetic is where they are few.
Interval arithmeticOf(const Metrics& metrics, const Interval& roofline) {
    const double active = metricValue(metrics, metric::activeThreads);
    const double idle = active > 0 ? std::max(1.0, analysis::warpLanes / active) : 1;
    return {roofline.low, roofline.high * idle};
}

std::string timeText(double seconds) {
    struct Unit {
        double seconds;
        const char* name;
    };
    constexpr auto units = std::to_array<Unit>({{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}});
    for (const Unit& unit : units) {
        if (seconds >= unit.seconds)
            return fmt::format("{:.3g} {}", seconds / unit.seconds, unit.name);
    }
    return fmt::format("{:.3g} ns", seconds * 1e9);
}

} // namespace

std::optional<CostEstimate> costOf(const CostInput& input) {
    const auto counts = rooflineCounts(input.kernel, input.features, input.profile);
    const auto resident = residencyOf(input);
    if (!counts || !resident || input.gpu.boostHertz <= 0)
        return std::nullopt;
    const Roofline roofline = rooflineOf(*counts, input.gpu);
    const Metrics& metrics = input.profile.metrics;
    const double hertz = input.gpu.boostHertz;
    CostEstimate cost;
    cost.onGpu = roofline.onGpu;
    cost.parts = {{"memory", roofline.memory},
                  {"arithmetic", arithmeticOf(metrics, roofline.arithmetic)},
                  {"shared memory", sharedMemoryOf(metrics, *resident, hertz)},
                  {"atomics", atomicsOf(metrics, *resident, hertz)},
                  {"latency", latencyOf(metrics, *resident, hertz)}};
    for (const CostPart& part : cost.parts) {
        cost.seconds.low = std::max(cost.seconds.low, part.seconds.low);
        cost.seconds.high += part.seconds.high;
    }
    cost.minSeconds = roofline.seconds.low;
    return cost;
}

bool isImprovement(const CostEstimate& before, const CostEstimate& after) {
    const double low = after.seconds.low / before.seconds.low;
    const double high = after.seconds.high / before.seconds.high;
    return low <= noLater && high <= noLater && std::min(low, high) <= earlier;
}

double modelledGain(const CostEstimate& before, const CostEstimate& after) {
    return std::sqrt(before.seconds.low / after.seconds.low * before.seconds.high /
                     after.seconds.high);
}

bool isAtRoofline(const CostEstimate& cost) {
    return cost.minSeconds >= minModelledSeconds &&
           cost.seconds.high <= nearRoofline * cost.minSeconds;
}

std::vector<std::pair<std::string_view, double>> weightsOf(std::span<const CostPart> parts) {
    double sum = 0;
    for (const CostPart& part : parts)
        sum += part.seconds.high;
    std::vector<std::pair<std::string_view, double>> weights;
    for (const CostPart& part : parts)
        weights.emplace_back(part.name, sum > 0 ? part.seconds.high / sum : 0);
    std::ranges::stable_sort(weights, std::ranges::greater{},
                             &std::pair<std::string_view, double>::second);
    return weights;
}

std::string describeWeights(std::span<const CostPart> parts) {
    constexpr double leastNamed = 0.01;
    std::string text;
    for (const auto& [name, weight] : weightsOf(parts))
        if (weight >= leastNamed)
            text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, 100 * weight);
    return text;
}

std::string describe(const CostEstimate& cost) {
    return fmt::format("at least {} on {} (roofline of the counts, not measured); the model weighs "
                       "{}",
                       timeText(cost.minSeconds), cost.onGpu, describeWeights(cost.parts));
}

} // namespace kernelskill::engine
