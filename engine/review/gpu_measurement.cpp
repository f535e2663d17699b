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

Result<GpuMeasurement> measureOnGpu(GpuExecutor& gpu, Executor& emulator, KernelRef original,
                                    KernelRef candidate, const skills::Accuracy& accuracy,
                                    std::uint64_t seed, const std::stop_token& stop) {
    auto trial = planMeasurement({*original.program.model, original.kernel},
                                 {*candidate.program.model, candidate.kernel},
                                 *capturesOf(original.program.captures));
    if (!trial)
        return std::unexpected(trial.error());
    const auto sized = sizedLaunch(emulator, original, trial->original, stop);
    if (!sized)
        return std::unexpected(sized.error());
    trial->original = sized->launch;
    trial->candidate = withExtents(trial->candidate, sized->profile.extents);

    auto own = gpu.build(original, trial->original, stop);
    if (!own)
        return std::unexpected(own.error());
    auto other = gpu.build(candidate, trial->candidate, stop);
    const auto name =
        fmt::format("matches original on the {}, {}", gpu.device().name, trial->label);
    const TrialPlace place{trial->label, true, 1, seed, true, trial->candidate};
    if (!other)
        return GpuMeasurement{
            invalid("compiles for the GPU", other.error().describe(),
                    {.stage = ReviewStage::Compile, .trial = place, .error = other.error()}),
            {}};
    auto expected = outputsOf(gpu, **own, trial->original, seed, stop);
    if (!expected)
        return std::unexpected(expected.error());
    auto actual = outputsOf(gpu, **other, trial->candidate, seed, stop);
    if (!actual)
        return GpuMeasurement{
            withoutBlameForGuess(
                invalid("runs on the GPU", actual.error().describe(),
                        {.stage = ReviewStage::Run, .trial = place, .error = actual.error()}),
                trial->original),
            {}};
    expected->profile.extents = sized->profile.extents;
    expected->profile.hazards = sized->profile.hazards;
    RunPair pair{std::move(*expected), std::move(*actual),
                 std::unexpected(Error{ErrorKind::Unsupported, "it is not run on GPUs", {}, {}})};
    auto judged = judgeOutputs(name, place, pair, {comparedAs(accuracy), {}});
    if (!judged.check)
        return GpuMeasurement{withoutBlameForGuess(std::move(judged.check), trial->original), {}};
    if (trial->isReplay) {
        const auto replay = checkReplay(trial->original, pair.original.outputs, "the GPU");
        if (!replay.detail.empty())
            judged.check->detail += (judged.check->detail.empty() ? "" : "; ") + replay.detail;
    }

    const std::array launches{TimedLaunch{*own, trial->original},
                              TimedLaunch{*other, trial->candidate}};
    const auto times = gpu.time(launches, seed, {}, stop);
    if (!times)
        return std::unexpected(times.error());
    auto timing = judgeTimes(times->microseconds[0], times->microseconds[1],
                             trafficFloor(trial->original, sized->profile.metrics, gpu.device()));
    timing.sentence =
        fmt::format("on the {} at {}: {}", gpu.device().name, trial->label, timing.sentence);
    if (times->before.smMegahertz > 0)
        timing.sentence += fmt::format(" (SM clock {} to {} MHz)", times->before.smMegahertz,
                                       times->after.smMegahertz);
    return GpuMeasurement{std::move(judged.check), std::move(timing)};
}

} // namespace kernelskill::engine
