#include "engine/review/gpu_measurement.h"

#include "engine/execution/metric_names.h"
#include "engine/execution/sized_launch.h"
#include "engine/inputs/trial.h"
#include "engine/review/guessed_launch.h"
#include "engine/review/output_judgement.h"
#include "engine/review/replay_check.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::engine {
namespace {

/// The share of the minimum time that a candidate must take. It is below 1 because the unique bytes
/// of a sampled run are an estimate.
constexpr double floorMargin = 0.8;

Result<RunResult> outputsOf(GpuExecutor& gpu, const Image& image, const LaunchSpec& launch,
                            std::uint64_t seed, const std::stop_token& stop) {
    Job job;
    job.launch = launch;
    job.seed = seed;
    job.wantOutputs = true;
    return gpu.run(image, job, stop);
}

/// A GPU's compiler may contract and reorder floating-point operations, so that even an exact
/// rewrite rounds differently on a GPU. The emulator has already shown that it is exact.
skills::Accuracy comparedAs(const skills::Accuracy& accuracy) {
    return accuracy.numerics == skills::Numerics::Exact ? skills::Numerics::Reassociates : accuracy;
}

} // namespace

std::optional<double> trafficFloor(const LaunchSpec& launch, const Metrics& counted,
                                   const gpu::DeviceDescription& device) {
    const auto unique = counted.find(metric::load.uniqueBytes);
    // Double data rate: the bandwidth that a datasheet gives.
    const double bandwidth = 2e6 * device.memoryClockMegahertz * device.memoryBusBits / 8;
    if (unique == counted.end() || bandwidth <= 0)
        return std::nullopt;
    double held = 0;
    for (const ArgumentSpec& argument : launch.arguments) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        if (buffer != nullptr && buffer->elements)
            held += static_cast<double>(*buffer->elements) * buffer->elementBytes;
    }
    return floorMargin * 1e6 * std::min(unique->second, held) / bandwidth;
}

struct GpuMeasurer::Effort {
    EmulatedPart emulated = EmulatedPart::Profiled;
    int launches = 1;          ///< Of the candidate, whose results are compared.
    bool knowsTraffic = false; ///< The emulated part tells what the kernel reads.
    gpu::TimingPlan timing;
};

Result<GpuMeasurement> GpuMeasurer::measure(std::uint64_t seed, const std::stop_token& stop) {
    constexpr int comparedLaunches = 3;
    return measureWith({EmulatedPart::Profiled, comparedLaunches, true, {}}, seed, stop);
}

Result<GpuMeasurement> GpuMeasurer::glance(std::uint64_t seed, const std::stop_token& stop) {
    gpu::TimingPlan timing;
    timing.warmUpRounds = 2;
    timing.minRounds = minRounds;
    timing.maxRounds = 3 * minRounds;
    timing.budget = std::chrono::milliseconds(60);
    return measureWith({EmulatedPart::Few, 1, false, timing}, seed, stop);
}

Result<GpuMeasurement> GpuMeasurer::measureWith(const Effort& effort, std::uint64_t seed,
                                                const std::stop_token& stop) {
    auto trial = planMeasurement({*original_.program.model, original_.kernel},
                                 {*candidate_.program.model, candidate_.kernel},
                                 *capturesOf(original_.program.captures));
    if (!trial)
        return std::unexpected(trial.error());
    const auto sized = sizedLaunch(emulator_, original_, trial->original, stop, effort.emulated);
    if (!sized)
        return std::unexpected(sized.error());
    trial->original = sized->launch;
    trial->candidate = withExtents(trial->candidate, sized->profile.extents);

    auto own = gpu_.build(original_, trial->original, stop);
    if (!own)
        return std::unexpected(own.error());
    auto other = gpu_.build(candidate_, trial->candidate, stop);
    const auto name =
        fmt::format("matches original on the {}, {}", gpu_.device().name, trial->label);
    const TrialPlace place{trial->label, true, 1, seed, true, trial->candidate};
    if (!other)
        return GpuMeasurement{
            invalid("compiles for the GPU", other.error().describe(),
                    {.stage = ReviewStage::Compile, .trial = place, .error = other.error()}),
            {}};
    auto expected = outputsOf(gpu_, **own, trial->original, seed, stop);
    if (!expected)
        return std::unexpected(expected.error());
    expected->profile.extents = sized->profile.extents;
    expected->profile.hazards = sized->profile.hazards;
    RunPair pair{std::move(*expected),
                 {},
                 std::unexpected(Error{ErrorKind::Unsupported, "it is not run on GPUs", {}, {}})};
    CheckResult agreement = held(name);
    for (int launch = 0; launch < effort.launches; ++launch) {
        auto actual = outputsOf(gpu_, **other, trial->candidate, seed, stop);
        if (!actual)
            return GpuMeasurement{
                withoutBlameForGuess(
                    invalid("runs on the GPU", actual.error().describe(),
                            {.stage = ReviewStage::Run, .trial = place, .error = actual.error()}),
                    trial->original),
                {}};
        pair.candidate = std::move(*actual);
        agreement = judgeOutputs(name, place, pair, {comparedAs(accuracy_), {}}).check;
        if (!agreement)
            return GpuMeasurement{withoutBlameForGuess(std::move(agreement), trial->original), {}};
    }
    if (effort.launches > 1)
        agreement->detail +=
            fmt::format("{}{} launches", agreement->detail.empty() ? "" : "; ", effort.launches);
    if (trial->isReplay) {
        const auto replay = checkReplay(trial->original, pair.original.outputs, "the GPU");
        if (!replay.detail.empty())
            agreement->detail += (agreement->detail.empty() ? "" : "; ") + replay.detail;
    }

    const std::array launches{TimedLaunch{*own, trial->original},
                              TimedLaunch{*other, trial->candidate}};
    const auto times = gpu_.time(launches, seed, effort.timing, stop);
    if (!times)
        return std::unexpected(times.error());
    auto timing = judgeTimes(
        times->microseconds[0], times->microseconds[1],
        effort.knowsTraffic ? trafficFloor(trial->original, sized->profile.metrics, gpu_.device())
                            : std::nullopt);
    timing.sentence =
        fmt::format("on the {} at {}: {}", gpu_.device().name, trial->label, timing.sentence);
    if (!times->areDurations)
        timing.sentence += ", launches included";
    if (times->before.smMegahertz > 0)
        timing.sentence += fmt::format(" (SM clock {} to {} MHz)", times->before.smMegahertz,
                                       times->after.smMegahertz);
    return GpuMeasurement{std::move(agreement), std::move(timing)};
}

} // namespace kernelskill::engine
