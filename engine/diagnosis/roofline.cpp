#include "engine/diagnosis/roofline.h"

#include "analysis/source/gpu_constants.h"
#include "engine/execution/metric_names.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

namespace kernelskill::engine {
namespace {

double sumOf(const Metrics& metrics, std::initializer_list<const char*> names) {
    double sum = 0;
    for (const char* name : names)
        sum += findMetric(metrics, name).value_or(0);
    return sum;
}

/// The share of the peak bandwidth that a plain copy reaches, if none was measured: 0.90 on an
/// H200; GPUs with ECC or narrower memory reach less.
constexpr double attainableBandwidth = 0.8;

double copyBytesPerSecond(const Gpu& gpu) {
    return gpu.measured ? gpu.measured->copyBytesPerSecond
                        : attainableBandwidth * gpu.memoryBytesPerSecond;
}

/// Half-precision instructions of a pair of values run at up to four times the rate of single
/// precision (A100: 78 against 19.5 TFLOP/s).
constexpr double halfRate = 4;

/// The sum of `names`; nullopt if none of them was counted.
std::optional<double> countOf(const Metrics& metrics, std::initializer_list<const char*> names) {
    const bool isCounted =
        std::ranges::any_of(names, [&](const char* name) { return metrics.contains(name); });
    return isCounted ? std::optional(sumOf(metrics, names)) : std::nullopt;
}

/// nullopt if the executor did not count operations.
std::optional<OperationCounts> countedOperations(const Metrics& metrics) {
    OperationCounts counts;
    bool isCounted = metrics.contains(metric::floatingOperations);
    const auto add = [&](const metric::OperationNames& names, double& all, double& fused) {
        const auto alone = countOf(metrics, {names.add, names.multiply});
        const auto together = countOf(metrics, {names.fused});
        isCounted |= alone || together;
        fused = 2 * together.value_or(0);
        all = alone.value_or(0) + fused;
    };
    add(metric::single, counts.single, counts.singleFused);
    add(metric::dbl, counts.dbl, counts.doubleFused);
    double fusedHalf = 0;
    add(metric::half, counts.half, fusedHalf);
    // An instruction may work on a pair of halves; only the executor knows which ones do.
    counts.half = countOf(metrics, {metric::halfOperations}).value_or(2 * counts.half);
    counts.isIncomplete = sumOf(metrics, {metric::uncountedCalls}) > 0;
    return isCounted ? std::optional(counts) : std::nullopt;
}

bool hasParameterOf(const analysis::KernelModel& kernel,
                    std::initializer_list<analysis::ScalarKind> kinds) {
    return std::ranges::any_of(kernel.parameters, [&](const auto& parameter) {
        return std::ranges::find(kinds, parameter.type.scalar) != kinds.end() ||
               parameter.type.isDependent;
    });
}

std::optional<OperationCounts> operationsOf(const analysis::KernelModel& kernel,
                                            const analysis::Features& features,
                                            const Metrics& metrics) {
    if (const auto counted = countedOperations(metrics))
        return counted;
    const double requested = sumOf(metrics, {metric::load.globalBytes, metric::store.globalBytes});
    if (!features.arithmeticIntensity || requested <= 0)
        return std::nullopt;
    OperationCounts counts;
    counts.unknown = *features.arithmeticIntensity * requested;
    counts.mayBeDouble = hasParameterOf(kernel, {analysis::ScalarKind::Double});
    counts.mayBeHalf =
        hasParameterOf(kernel, {analysis::ScalarKind::Half, analysis::ScalarKind::BFloat16});
    return counts;
}

std::string timeText(double seconds) {
    struct Unit {
        double seconds;
        const char* name;
    };
    constexpr auto units = std::to_array<Unit>({{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}});
    for (const auto& unit : units) {
        if (seconds >= unit.seconds)
            return fmt::format("{:.3g} {}", seconds / unit.seconds, unit.name);
    }
    return fmt::format("{:.3g} ns", seconds * 1e9);
}

RooflinePosition positionOf(const Roofline& roofline) {
    if (!roofline.intensity)
        return RooflinePosition::Unknown;
    if (roofline.intensity->high < roofline.ridge.operationsPerByte)
        return RooflinePosition::MemoryBound;
    return roofline.intensity->low > roofline.ridge.operationsPerByte
               ? RooflinePosition::ComputeBound
               : RooflinePosition::Between;
}

/// Writes one number if both ends read the same.
std::string intensityText(const Interval& intensity) {
    auto low = fmt::format("{:.3g}", intensity.low);
    const auto high = fmt::format("{:.3g}", intensity.high);
    return low == high ? low : low + " to " + high;
}

} // namespace

std::optional<RooflineCounts> rooflineCounts(const analysis::KernelModel& kernel,
                                             const analysis::Features& features,
                                             const Profile& profile) {
    RooflineCounts counts;
    counts.uniqueBytes =
        sumOf(profile.metrics, {metric::load.uniqueBytes, metric::store.uniqueBytes});
    counts.movedBytes =
        analysis::sectorBytes *
        sumOf(profile.metrics, {metric::load.globalSectors, metric::store.globalSectors,
                                metric::globalAtomicSectors});
    if (counts.uniqueBytes <= 0 || counts.movedBytes <= 0)
        return std::nullopt;
    // Atomics touch sectors that no load or store counts. The moved bytes are at least the unique
    // ones.
    counts.movedBytes = std::max(counts.movedBytes, counts.uniqueBytes);
    counts.blocks = profile.launch.grid.count();
    counts.isScaled = profile.blocksRun < counts.blocks;
    counts.operations = operationsOf(kernel, features, profile.metrics);
    return counts;
}

std::string_view spelling(RooflinePosition position) {
    switch (position) {
    case RooflinePosition::MemoryBound:
        return "memory-bound";
    case RooflinePosition::ComputeBound:
        return "compute-bound";
    case RooflinePosition::Between:
        return "depends-on-caches";
    case RooflinePosition::Unknown:
        break;
    }
    return "unknown";
}

std::string_view basisOf(const Balance& balance) {
    return balance.isMeasured ? "measured" : "of the datasheet's peaks";
}

Roofline rooflineOf(const RooflineCounts& counts, const Gpu& gpu) {
    // A block runs on one multiprocessor, so multiprocessors without a block add nothing.
    const double busy = std::min(
        1.0, static_cast<double>(std::max<std::uint64_t>(counts.blocks, 1)) / gpu.multiprocessors);
    const auto operations = counts.operations.value_or(OperationCounts{});
    const double unknownsFastest = gpu.singleFlops * (operations.mayBeHalf ? halfRate : 1);
    const double unknownsSlowest = operations.mayBeDouble ? gpu.doubleFlops : gpu.singleFlops;
    // Pipes of different precision may run at once or take turns.
    const double arithmeticLow = std::max(
        {operations.single / gpu.singleFlops, operations.dbl / gpu.doubleFlops,
         operations.half / (halfRate * gpu.singleFlops), operations.unknown / unknownsFastest});
    const auto alone = [](double operations, double fused) { return 2 * operations - fused; };
    const double arithmeticHigh =
        alone(operations.single, operations.singleFused) / gpu.singleFlops +
        alone(operations.dbl, operations.doubleFused) / gpu.doubleFlops +
        alone(operations.half, 0) / gpu.singleFlops +
        alone(operations.unknown, 0) / unknownsSlowest;

    Roofline roofline;
    roofline.gpu = gpu.name;
    roofline.onGpu = withArticle(gpu);
    roofline.memory = {counts.uniqueBytes / gpu.memoryBytesPerSecond,
                       counts.movedBytes / copyBytesPerSecond(gpu)};
    roofline.arithmetic = {arithmeticLow / busy, arithmeticHigh / busy};
    roofline.seconds = {std::max(roofline.memory.low, roofline.arithmetic.low),
                        roofline.memory.high + roofline.arithmetic.high};
    const bool mostlyDouble =
        operations.dbl > operations.single + operations.half + operations.unknown;
    roofline.ridge = mostlyDouble ? doubleBalance(gpu) : singleBalance(gpu);
    if (counts.operations)
        roofline.intensity = {operations.sum() / counts.movedBytes,
                              operations.sum() / counts.uniqueBytes};
    roofline.operations = operations.sum();
    roofline.position = positionOf(roofline);
    roofline.fitsInCache = counts.uniqueBytes <= gpu.cacheBytes;
    roofline.operationsAreStatic = operations.unknown > 0;
    roofline.operationsAreIncomplete = operations.isIncomplete;
    roofline.isScaled = counts.isScaled;
    return roofline;
}

std::string describe(const Roofline& roofline) {
    auto text = fmt::format("at least {} on {} (roofline of the counts, not measured)",
                            timeText(roofline.seconds.low), roofline.onGpu);
    if (roofline.intensity)
        text += fmt::format(
            "; {} FLOP per byte{}, balance {:.3g} ({}): {}", intensityText(*roofline.intensity),
            roofline.operationsAreStatic       ? " (operations from the source)"
            : roofline.operationsAreIncomplete ? " (without those of some functions)"
            : roofline.intensity->high <= 0    ? " (integer work is not counted)"
                                               : "",
            roofline.ridge.operationsPerByte, basisOf(roofline.ridge), spelling(roofline.position));
    else
        text += "; operations were not counted";
    if (roofline.fitsInCache)
        text += "; the data fits into L2, where a second launch finds it and is faster";
    if (roofline.isScaled)
        text += "; counts of a part of the blocks, scaled";
    return text;
}

} // namespace kernelskill::engine
