#include "skills/rewriting/resource_gates.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::skills {
namespace {

constexpr double enoughPercent = 50;

} // namespace

std::expected<analysis::Occupancy, Refusal>
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

} // namespace kernelskill::skills
