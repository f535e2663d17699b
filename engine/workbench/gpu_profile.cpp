#include "engine/workbench/gpu_profile.h"

#include "analysis/source/gpu_constants.h"
#include "engine/execution/metric_names.h"
#include "engine/execution/sized_launch.h"

#include <algorithm>
#include <future>
#include <optional>
#include <tuple>
#include <utility>

namespace kernelskill::engine {
namespace {

/// Adds the line metrics of `counted` that `measured` lacks.
void addMissingLines(Profile& measured, const Profile& counted) {
    for (const LineMetrics& line : counted.lines) {
        const auto same = std::ranges::find_if(measured.lines, [&](const LineMetrics& other) {
            return other.line == line.line && other.file == line.file;
        });
        if (same == measured.lines.end())
            measured.lines.push_back(line);
        else
            same->metrics.insert(line.metrics.begin(), line.metrics.end());
    }
    std::ranges::sort(measured.lines, {},
                      [](const LineMetrics& line) { return std::tie(line.file, line.line); });
}

/// Computes sectors per request, and the used share of each sector, from the hardware's counts. The
/// emulator's numbers stay beside them where they differ.
void setSectorsPerRequest(Metrics& measured, const Metrics& counted) {
    for (const metric::AccessNames* access : metric::accesses) {
        const auto requests = measured.find(access->globalRequests);
        const auto sectors = measured.find(access->globalSectors);
        if (requests == measured.end() || sectors == measured.end() || requests->second <= 0 ||
            sectors->second <= 0)
            continue;
        measured[access->sectorsPerRequest] = sectors->second / requests->second;
        if (const auto other = counted.find(access->sectorsPerRequest); other != counted.end())
            measured[access->countedSectorsPerRequest] = other->second;
        const double moved = analysis::sectorBytes * sectors->second;
        measured[access->movedBytes] = moved;
        if (const auto bytes = counted.find(access->globalBytes); bytes != counted.end())
            measured[access->bytesPerSector] = 100 * bytes->second / moved;
    }
}

} // namespace

Result<Profile> measureProfile(GpuExecutor& gpu, Executor& emulator, KernelRef kernel,
                               const LaunchSpec& launch, const std::stop_token& stop,
                               const ProgressSink& say) {
    // The emulator works beside the GPU, unless it first has to find the lengths of buffers.
    const bool isSized = hasAllSizes(launch);
    auto counting = std::async(isSized ? std::launch::async : std::launch::deferred, [&] {
        return sizedLaunch(emulator, kernel, launch, stop, EmulatedPart::Few);
    });
    auto measured = launch;
    std::optional<Result<SizedLaunch>> sized;
    if (!isSized) {
        say("counting " + kernel.kernel.name + " on the emulator", 0);
        sized = counting.get();
        if (!*sized)
            return std::unexpected(sized->error());
        measured = (*sized)->launch;
    }
    say("compiling " + kernel.kernel.name + " for the GPU", 0.4);
    const auto image = gpu.build(kernel, measured, stop);
    if (!image)
        return std::unexpected(image.error());
    say("measuring " + kernel.kernel.name + " on the GPU", 0.6);
    Job job;
    job.launch = measured;
    job.wantProfile = true;
    auto result = gpu.run(**image, job, stop);
    if (!result)
        return std::unexpected(result.error());
    if (!sized)
        sized = counting.get();
    if (!*sized)
        return std::unexpected(sized->error());
    const Profile& counted = (*sized)->profile;
    Profile profile = std::move(result->profile);
    profile.hazards = counted.hazards;
    profile.extents = counted.extents;
    profile.notes.insert(profile.notes.end(), counted.notes.begin(), counted.notes.end());
    setSectorsPerRequest(profile.metrics, counted.metrics);
    for (const auto& [name, value] : counted.metrics)
        profile.metrics.try_emplace(name, value);
    addMissingLines(profile, counted);
    return profile;
}

} // namespace kernelskill::engine
