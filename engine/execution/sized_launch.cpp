#include "engine/execution/sized_launch.h"

#include "engine/execution/work_estimate.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr std::uint64_t profiledThreads = 1 << 18;
constexpr std::uint64_t minBlocks = 32;
constexpr std::uint64_t fewThreads = 1 << 10;
constexpr std::uint64_t minFewBlocks = 4; // Neighbours, both ends, and one in between.
/// Counts that nothing depends on are not worth more.
constexpr std::chrono::milliseconds timeOfOptionalCounts{2'000};

std::uint64_t blocksOf(const LaunchSpec& launch, std::uint64_t threads, std::uint64_t fewest) {
    return std::max(fewest, threads / std::max<std::uint64_t>(launch.block.count(), 1));
}

Result<Profile> emulated(Executor& emulator, KernelRef kernel, const LaunchSpec& launch,
                         const std::stop_token& stop, EmulatedPart part) {
    const auto image = emulator.build(kernel, launch, stop);
    if (!image)
        return std::unexpected(image.error());
    Job job;
    job.launch = launch;
    job.wantProfile = true;
    const bool isOptional = part == EmulatedPart::Few && hasAllSizes(launch);
    job.maxBlocks = isOptional
                        ? blocksOf(launch, fewThreads, minFewBlocks)
                        : affordableBlocks(emulator, **image, launch, profiledBlocks(launch), stop);
    if (isOptional)
        job.limits.time = timeOfOptionalCounts;
    // Each review of an edit of this kernel asks for the same.
    auto known = emulator.runOrRecall(**image, job, stop);
    if (!known)
        return std::unexpected(std::move(known.error()));
    return std::move(known->result.profile);
}

} // namespace

std::uint64_t profiledBlocks(const LaunchSpec& launch) {
    return blocksOf(launch, profiledThreads, minBlocks);
}

bool hasAllSizes(const LaunchSpec& launch) {
    return std::ranges::all_of(launch.arguments, [](const ArgumentSpec& argument) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        return buffer == nullptr || buffer->elements.has_value();
    });
}

Result<SizedLaunch> sizedLaunch(Executor& emulator, KernelRef kernel, const LaunchSpec& launch,
                                const std::stop_token& stop, EmulatedPart part) {
    auto profile = emulated(emulator, kernel, launch, stop, part);
    if (!profile) {
        if (stop.stop_requested() || !hasAllSizes(launch))
            return std::unexpected(std::move(profile.error()));
        SizedLaunch given{launch, {}};
        given.profile.notes.push_back("the emulator has not counted it: " +
                                      profile.error().describe());
        return given;
    }
    SizedLaunch sized{launch, std::move(*profile)};
    for (ArgumentSpec& argument : sized.launch.arguments) {
        auto* buffer = std::get_if<BufferSpec>(&argument);
        if (buffer == nullptr || buffer->elements)
            continue;
        const auto extent =
            std::ranges::find(sized.profile.extents, buffer->name, &BufferExtent::name);
        buffer->elements = extent == sized.profile.extents.end()
                               ? 1
                               : std::max<std::uint64_t>(extent->elements, 1);
    }
    return sized;
}

} // namespace kernelskill::engine
