#include "skills/gates/resource_gates.h"

#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {
namespace {

constexpr double enoughPercent = 50;

} // namespace

Gated<analysis::Occupancy>
requireRoomForWarps(const std::optional<analysis::Occupancy>& occupancy) {
    if (!occupancy)
        return refuse("unknown-occupancy",
                      "how many blocks fit into a multiprocessor is not known");
    if (occupancy->percent > enoughPercent)
        return refuse("enough-warps", fmt::format("{:.0f} % of the warps that a multiprocessor can "
                                                  "hold are resident",
                                                  occupancy->percent));
    return *occupancy;
}

Gated<analysis::Occupancy> requireRoomForShared(const CompiledKernel& compiled,
                                                std::uint64_t moreBytes) {
    constexpr std::uint64_t most = analysis::MultiprocessorLimits::staticSharedBytesPerBlock;
    const std::uint64_t staticBytes = compiled.staticSharedBytes + moreBytes;
    if (staticBytes > most)
        return refuse("too-much-shared-memory",
                      fmt::format("{} bytes more make {}, and a kernel can declare {} bytes of "
                                  "shared memory",
                                  moreBytes, staticBytes, most));
    analysis::BlockResources block = compiled.resources();
    block.sharedBytes += moreBytes;
    const auto after = compiled.occupancyOf(block);
    if (!compiled.occupancy)
        return refuse("unknown-occupancy",
                      "how many blocks fit into a multiprocessor is not known");
    if (!after || after->blocks < compiled.occupancy->blocks)
        return refuse("loses-blocks",
                      fmt::format("{} bytes more of shared memory leave room for {} blocks instead "
                                  "of {}",
                                  moreBytes, after ? after->blocks : 0,
                                  compiled.occupancy->blocks));
    return *after;
}

} // namespace kernelskill::skills
