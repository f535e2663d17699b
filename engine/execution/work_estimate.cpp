#include "engine/execution/work_estimate.h"

#include "engine/execution/cut_off.h"
#include "engine/execution/metric_names.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace kernelskill::engine {
namespace {

constexpr std::uint64_t blocksTried = 4;
constexpr std::chrono::milliseconds longTime{1'500};
/// The work of a second.
constexpr double affordableWork = 1e8;
/// A run with so many accesses takes about a second.
constexpr std::uint64_t manyAccesses = 150'000'000;
constexpr double lanes = 32;
/// An element of a buffer takes as long as so many accesses.
constexpr double workOfElement = 4;
/// A thread that waits for others, at a barrier or in a shuffle, takes as long as so many accesses.
constexpr double workOfWaiting = 8;

} // namespace

std::optional<double> workOf(Executor& emulator, const Image& image, const LaunchSpec& launch,
                             const std::stop_token& stop) {
    Job job;
    job.launch = launch;
    job.wantProfile = true;
    job.wantHazards = false;
    job.maxBlocks = blocksTried;
    job.limits.time = longTime;
    job.limits.accesses = manyAccesses;
    const auto known = emulator.runOrRecall(image, job, stop);
    if (!known && isCutOff(known.error()))
        return std::numeric_limits<double>::infinity();
    if (!known)
        return std::nullopt;
    const Profile& profile = known->result.profile;
    double requests = metricValue(profile.metrics, metric::globalAtomicRequests) +
                      metricValue(profile.metrics, metric::sharedAtomicRequests);
    for (const metric::AccessNames* names : metric::accesses)
        requests += metricValue(profile.metrics, names->globalRequests) +
                    metricValue(profile.metrics, names->sharedRequests);
    double elements = 0;
    for (const BufferExtent& extent : profile.extents)
        elements += static_cast<double>(extent.elements);
    const double waiting =
        lanes * metricValue(profile.metrics, metric::warpOperations) +
        static_cast<double>(launch.block.count()) * metricValue(profile.metrics, metric::barriers);
    return lanes * requests + workOfElement * elements + workOfWaiting * waiting;
}

std::uint64_t affordableBlocks(Executor& emulator, const Image& image, const LaunchSpec& launch,
                               std::uint64_t blocks, const std::stop_token& stop) {
    const auto grid = static_cast<double>(launch.grid.count());
    if (grid <= blocksTried)
        return blocks;
    const auto work = workOf(emulator, image, launch, stop);
    if (!work)
        return blocks;
    const double affordable = affordableWork / *work * grid;
    return affordable >= static_cast<double>(blocks)
               ? blocks
               : std::max(blocksTried, static_cast<std::uint64_t>(affordable));
}

} // namespace kernelskill::engine
