#include "engine/review/screening.h"

#include "engine/execution/sized_launch.h"
#include "engine/inputs/launch_pair.h"
#include "engine/inputs/trial.h"
#include "engine/review/host/host_order.h"
#include "engine/review/timing_verdict.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <chrono>
#include <future>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

gpu::TimingPlan fewRounds() {
    gpu::TimingPlan plan;
    plan.warmUpRounds = 2;
    plan.minRounds = minRounds;
    plan.maxRounds = 3 * minRounds;
    plan.budget = std::chrono::milliseconds(60);
    plan.longest = std::chrono::milliseconds(2'000);
    return plan;
}

/// The candidates of one original.
class Screen {
public:
    Screen(GpuExecutor& gpu, KernelRef original, std::uint64_t seed, const std::stop_token& stop)
        : gpu_(gpu), original_(original), seed_(seed), stop_(stop) {}

    [[nodiscard]] Result<Trial> trialOf(KernelRef candidate) const {
        return planMeasurement({original_.file(), original_.kernel},
                               {candidate.file(), candidate.kernel},
                               *capturesOf(original_.program.captures));
    }

    /// Returns the candidate's launch of the problem that the original is launched for, compiled.
    /// The error says why it cannot be timed. Several threads may call it at once.
    [[nodiscard]] Result<TimedLaunch> compiled(KernelRef candidate,
                                               const SizedLaunch& original) const {
        if (changesHostOrder(original_.file(), candidate.file()))
            return notTimed("it changes the order of the host's work");
        auto trial = trialOf(candidate);
        if (!trial)
            return std::unexpected(trial.error());
        if (labelOf(trial->original) != labelOf(original.launch))
            return notTimed("the original's launch follows from other numbers beside it");
        LaunchSpec launch = withExtents(trial->candidate, original.profile.extents);
        auto image = gpu_.build(candidate, launch, stop_);
        if (!image)
            return std::unexpected(image.error());
        return TimedLaunch{std::move(*image), std::move(launch)};
    }

    /// The microseconds of each launch in each round.
    [[nodiscard]] Result<std::vector<std::vector<double>>>
    times(std::span<const TimedLaunch> launches) const {
        auto answer = gpu_.time(launches, seed_, fewRounds(), stop_);
        if (!answer)
            return std::unexpected(answer.error());
        return std::move(answer->microseconds);
    }

private:
    GpuExecutor& gpu_;
    KernelRef original_;
    std::uint64_t seed_;
    const std::stop_token& stop_;
};

} // namespace

Screening screeningOf(std::span<const double> original, std::span<const double> candidate,
                      const std::string& place) {
    const TimingVerdict timing = judgeTimes(original, candidate, std::nullopt);
    Screening screening{timing.speedup, {}};
    if (timing.speedup > 1 + minEffect)
        return screening;
    Verdict& verdict = screening.refusal.emplace();
    verdict.speedup = timing.speedup;
    verdict.status =
        timing.speedup < 1 / (1 + minEffect) ? VerdictStatus::Slower : VerdictStatus::Inconclusive;
    verdict.summary =
        fmt::format("Not faster, so it was not reviewed. Timed on {}: {}.", place, timing.sentence);
    return screening;
}

std::unexpected<Error> notTimed(std::string why) {
    return std::unexpected(Error{ErrorKind::Unsupported, std::move(why), {}, {}});
}

std::vector<Result<Screening>> noneTimed(std::size_t count, const std::string& why) {
    return {count, Result<Screening>(notTimed(why))};
}

std::vector<Result<Screening>> screenOnGpu(GpuExecutor& gpu, Executor& emulator, KernelRef original,
                                           std::span<const KernelRef> candidates,
                                           std::uint64_t seed, const std::stop_token& stop) {
    const Screen screen(gpu, original, seed, stop);
    const auto own = screen.trialOf(original);
    if (!own)
        return noneTimed(candidates.size(), own.error().what);
    const auto sized = sizedLaunch(emulator, original, own->original, stop, EmulatedPart::Few);
    if (!sized)
        return noneTimed(candidates.size(), sized.error().what);
    const auto image = gpu.build(original, sized->launch, stop);
    if (!image)
        return noneTimed(candidates.size(), image.error().what);
    std::vector<Result<Screening>> seen;

    std::vector<std::future<Result<TimedLaunch>>> compiling;
    for (const KernelRef candidate : candidates)
        compiling.push_back(std::async(std::launch::async, [&screen, &sized, candidate] {
            return screen.compiled(candidate, *sized);
        }));
    std::vector<TimedLaunch> launches{{*image, sized->launch}};
    std::vector<std::size_t> timed; // Which candidate each further launch is of.
    for (std::size_t i = 0; i < compiling.size(); ++i) {
        auto launch = compiling[i].get();
        seen.emplace_back(notTimed(launch ? "the GPU gave no times" : launch.error().what));
        if (launch) {
            launches.push_back(std::move(*launch));
            timed.push_back(i);
        }
    }
    if (timed.empty())
        return seen;
    const std::string place =
        fmt::format("the {} at {}", gpu.device().name, labelOf(sized->launch));
    if (const auto times = screen.times(launches)) {
        for (std::size_t i = 0; i < timed.size(); ++i)
            seen[timed[i]] = screeningOf((*times)[0], (*times)[i + 1], place);
        return seen;
    }
    // One of them cannot be launched: each alone.
    for (std::size_t i = 0; i < timed.size() && !stop.stop_requested(); ++i) {
        const std::array pair{launches[0], launches[i + 1]};
        const auto times = screen.times(pair);
        seen[timed[i]] = times ? Result<Screening>(screeningOf((*times)[0], (*times)[1], place))
                               : notTimed(times.error().what);
    }
    return seen;
}

} // namespace kernelskill::engine
