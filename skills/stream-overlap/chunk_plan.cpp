#include "skills/stream-overlap/chunk_plan.h"

#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/gates/host_launches.h"
#include "skills/stream-overlap/chunk_slices.h"
#include "skills/stream-overlap/launch_load.h"
#include "skills/stream-overlap/overlap_plan.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// To make four streams and two events and to destroy them takes the host some 100 microseconds.
constexpr double minSaving = 200e-6;
/// The bandwidth of PCI Express 5.0 with 16 lanes, each way: no copy is faster.
constexpr double linkBytesPerSecond = 63e9;
/// The bandwidth of an H200: no kernel moves more.
constexpr double memoryBytesPerSecond = 4.8e12;
/// The time of an access to memory, where four of a thread are under way.
constexpr double secondsPerStep = 25e-9;

/// Seconds of a round that the copies to the GPU, those from it, and the kernels take.
struct RoundTimes {
    double toDevice = 0;
    double toHost = 0;
    double onDevice = 0;

    [[nodiscard]] double all() const { return toDevice + toHost + onDevice; }
    [[nodiscard]] double longest() const { return std::max({toDevice, toHost, onDevice}); }
};

/// The min time; a kernel whose number of rounds is unknown is taken to be as long as the longer
/// copy.
RoundTimes timesOf(const SkillContext& context, const ChunkLoop& loop,
                   const ChunkTraffic& traffic) {
    RoundTimes times{traffic.bytesToDevice / linkBytesPerSecond,
                     traffic.bytesToHost / linkBytesPerSecond, 0};
    double kernels = 0;
    for (const LaunchSite* launch : loop.launches) {
        const auto load = loadOf(context, *launch);
        if (!load || !load->steps) {
            kernels = std::max(times.toDevice, times.toHost);
            break;
        }
        kernels += *load->steps * secondsPerStep * std::max(load->share, 1.0);
    }
    times.onDevice = std::max(kernels, traffic.bytesOnDevice / memoryBytesPerSecond);
    return times;
}

Gated<ChunkPlan> planAround(const SkillContext& context, const LaunchSite& launch) {
    KERNELSKILL_CHECK(requireEditableLaunch(context, launch));
    KERNELSKILL_CHECK(requireNoStreams(context, launch.host));
    KERNELSKILL_TRY(auto loop, readChunkLoop(context, launch));
    KERNELSKILL_TRY(const auto traffic, requireSlices(context, loop));
    KERNELSKILL_TRY(const auto place, placeOf(context, loop.host, loop.stream, {loop.loop}));
    const RoundTimes times = timesOf(context, loop, traffic);
    const double before = static_cast<double>(loop.rounds) * times.all();
    const double after = times.all() + static_cast<double>(loop.rounds - 1) * times.longest();
    if (after <= 0 || before / after < minGain)
        return refuse("one-takes-longest",
                      fmt::format("side by side the rounds would be at most {:.2f} times as fast: "
                                  "copies one way, or the kernels, take nearly all of the time",
                                  after > 0 ? before / after : 1));
    if (before - after < minSaving)
        return refuse("too-short",
                      fmt::format("side by side the rounds would be over at most {:.0f} "
                                  "microseconds sooner: to make the streams takes as long",
                                  (before - after) * 1e6));
    const std::size_t streams = std::min(maxStreams, static_cast<std::size_t>(loop.rounds));
    return ChunkPlan{place, std::move(loop), streams, before / after};
}

} // namespace

Gated<ChunkPlan> planChunks(const SkillContext& context) {
    return planForLaunch(context,
                         [&](const LaunchSite& launch) { return planAround(context, launch); });
}

} // namespace kernelskill::skills
