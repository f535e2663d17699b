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
#include <string_view>
#include <utility>

namespace kernelskill::engine {
namespace {

/// The share of the minimum time that a candidate must take. It is below 1 because the unique bytes
/// of a sampled run are an estimate.
constexpr double floorMargin = 0.8;

/// Timing ends after so many rounds if one kernel was `clearRatio` times as fast as the other in
/// each. More rounds would not change that verdict, and the median is known within a hundredth.
constexpr std::uint32_t enoughRounds = 32;
constexpr double clearRatio = 1.2;

Job jobForOutputs(const LaunchSpec& launch, std::uint64_t seed) {
    Job job;
    job.launch = launch;
    job.seed = seed;
    job.wantOutputs = true;
    return job;
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

/// Both kernels, compiled for the GPU, with the launches that are compared.
struct GpuMeasurer::Prepared {
    Trial trial;
    std::shared_ptr<const Image> original;
    std::shared_ptr<const Image> candidate;
    Profile emulated; ///< Of the original.
    TrialPlace place;
    std::optional<FailedCheck> refusal; ///< Set if the candidate does not compile for the GPU.
};

Result<GpuMeasurement> GpuMeasurer::measure(std::uint64_t seed, const std::stop_token& stop) {
    constexpr std::uint32_t comparedLaunches = 3;
    const auto prepared = prepare(seed, stop);
    if (!prepared)
        return std::unexpected(prepared.error());
    if (prepared->refusal)
        return GpuMeasurement{std::unexpected(*prepared->refusal), {}, {}};
    auto agreement = compare(*prepared, comparedLaunches, seed, stop);
    if (!agreement)
        return std::unexpected(agreement.error());
    if (!*agreement)
        return GpuMeasurement{std::move(*agreement), {}, {}};
    std::optional<CheckResult> sanitized;
    if (gpu_.asksSanitizer())
        sanitized = sanitize(*prepared, seed, stop);
    if (sanitized && !*sanitized)
        return GpuMeasurement{std::move(*agreement), std::move(sanitized), {}};
    auto timing = time(*prepared, seed, stop);
    if (!timing)
        return std::unexpected(timing.error());
    return GpuMeasurement{std::move(*agreement), std::move(sanitized), std::move(*timing)};
}

Result<GpuMeasurer::Prepared> GpuMeasurer::prepare(std::uint64_t seed,
                                                   const std::stop_token& stop) {
    auto trial = planMeasurement({*original_.program.model, original_.kernel},
                                 {*candidate_.program.model, candidate_.kernel},
                                 *capturesOf(original_.program.captures));
    if (!trial)
        return std::unexpected(trial.error());
    auto sized = sizedLaunch(emulator_, original_, trial->original, stop);
    if (!sized)
        return std::unexpected(sized.error());
    trial->original = sized->launch;
    trial->candidate = withExtents(trial->candidate, sized->profile.extents);

    auto own = gpu_.build(original_, trial->original, stop);
    if (!own)
        return std::unexpected(own.error());
    auto other = gpu_.build(candidate_, trial->candidate, stop);
    TrialPlace place{trial->label, true, 1, seed, true, trial->candidate};
    Prepared prepared{std::move(*trial),         std::move(*own),  nullptr,
                      std::move(sized->profile), std::move(place), std::nullopt};
    if (other)
        prepared.candidate = std::move(*other);
    else
        prepared.refusal =
            invalid(
                "compiles for the GPU", other.error().describe(),
                {.stage = ReviewStage::Compile, .trial = prepared.place, .error = other.error()})
                .error();
    return prepared;
}

/// Compares the results of `launches` launches of the candidate with those of one of the original.
Result<CheckResult> GpuMeasurer::compare(const Prepared& prepared, std::uint32_t launches,
                                         std::uint64_t seed, const std::stop_token& stop) {
    const Trial& trial = prepared.trial;
    auto expected = gpu_.run(*prepared.original, jobForOutputs(trial.original, seed), stop);
    if (!expected)
        return std::unexpected(expected.error());
    expected->profile.extents = prepared.emulated.extents;
    expected->profile.hazards = prepared.emulated.hazards;
    RunPair pair{std::move(*expected),
                 {},
                 std::unexpected(Error{ErrorKind::Unsupported, "it is not run on GPUs", {}, {}})};
    const auto name =
        fmt::format("matches original on the {}, {}", gpu_.device().name, trial.label);
    auto actual = gpu_.runRepeatedly(*prepared.candidate, jobForOutputs(trial.candidate, seed),
                                     launches, stop);
    if (!actual)
        return withoutBlameForGuess(
            invalid("runs on the GPU", actual.error().describe(),
                    {.stage = ReviewStage::Run, .trial = prepared.place, .error = actual.error()}),
            trial.original);
    pair.candidate = std::move(actual->first);
    const auto judge = [&] {
        return judgeOutputs(name, prepared.place, pair, {comparedAs(accuracy_), {}}).check;
    };
    CheckResult agreement = judge();
    for (auto& outputs : actual->otherOutputs) {
        if (!agreement)
            break;
        pair.candidate.outputs = std::move(outputs);
        agreement = judge();
    }
    if (!agreement)
        return withoutBlameForGuess(std::move(agreement), trial.original);
    const auto say = [&](const std::string& more) {
        agreement->detail += (agreement->detail.empty() ? "" : "; ") + more;
    };
    if (launches > 1)
        say(fmt::format("{} launches", launches));
    if (trial.isReplay) {
        const auto replay = checkReplay(trial.original, pair.original.outputs, "the GPU");
        if (!replay.detail.empty())
            say(replay.detail);
    }
    return agreement;
}

/// Holds, and says so, if a tool cannot be used, which is no fault of the edit.
CheckResult GpuMeasurer::sanitize(const Prepared& prepared, std::uint64_t seed,
                                  const std::stop_token& stop) {
    constexpr std::string_view name = "compute-sanitizer finds nothing new";
    const auto notUsed = [&](const Error& error) {
        return held("compute-sanitizer was to be asked", "not done: " + error.describe());
    };
    const auto own = gpu_.sanitize({prepared.original, prepared.trial.original}, seed, stop);
    if (!own)
        return notUsed(own.error());
    const auto other = gpu_.sanitize({prepared.candidate, prepared.trial.candidate}, seed, stop);
    if (!other)
        return notUsed(other.error());
    const auto added = gpu::newFindings(*own, *other);
    if (added.empty())
        return held(std::string(name), own->empty()
                                           ? "memcheck, racecheck, synccheck"
                                           : fmt::format("{} in the original, too", own->size()));
    const gpu::SanitizerFinding& first = added.front();
    return incorrect(
        std::string(name),
        fmt::format("{}: {}{}{}", first.tool, first.what,
                    first.place.empty() ? std::string() : " at " + first.place,
                    added.size() > 1 ? fmt::format(", and {} more", added.size() - 1) : ""),
        {.stage = ReviewStage::Hazards, .trial = prepared.place});
}

Result<TimingVerdict> GpuMeasurer::time(const Prepared& prepared, std::uint64_t seed,
                                        const std::stop_token& stop) {
    const std::array launches{TimedLaunch{prepared.original, prepared.trial.original},
                              TimedLaunch{prepared.candidate, prepared.trial.candidate}};
    gpu::TimingPlan plan;
    plan.minRounds = enoughRounds;
    plan.clearRatio = clearRatio;
    const auto times = gpu_.time(launches, seed, plan, stop);
    if (!times)
        return std::unexpected(times.error());
    auto timing =
        judgeTimes(times->microseconds[0], times->microseconds[1],
                   trafficFloor(prepared.trial.original, prepared.emulated.metrics, gpu_.device()));
    timing.sentence = fmt::format("on the {} at {}: {}", gpu_.device().name, prepared.trial.label,
                                  timing.sentence);
    if (!times->areDurations)
        timing.sentence += ", launches included";
    if (times->before.smMegahertz > 0)
        timing.sentence += fmt::format(" (SM clock {} to {} MHz)", times->before.smMegahertz,
                                       times->after.smMegahertz);
    return timing;
}

} // namespace kernelskill::engine
