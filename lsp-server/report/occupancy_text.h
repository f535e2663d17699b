/// Theoretical occupancy with another block, as a small plot.
#pragma once

#include "analysis/compile/occupancy_sweep.h"
#include "lsp-server/report/html/report.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace kernelskill::lsp {

/// The occupancy of a kernel for other values of one of its block's resources.
struct OccupancyPlot {
    analysis::BlockResource resource;
    std::vector<analysis::OccupancyPoint> points;
};

/// One plot for each resource that is known, block size first.
[[nodiscard]] std::vector<OccupancyPlot>
occupancyPlots(const analysis::BlockResources& block, const analysis::MultiprocessorLimits& limits);

/// Lines such as "  256 |############        | 62 %  5 blocks  <- now".
[[nodiscard]] std::vector<std::string> occupancyLines(const OccupancyPlot& plot);

/// A table whose cells have bars, for a page.
[[nodiscard]] Table occupancyTable(const OccupancyPlot& plot);

/// [{resource, points: [{value, blocks, percent, current}]}]
[[nodiscard]] nlohmann::json occupancyJson(const std::vector<OccupancyPlot>& plots);

} // namespace kernelskill::lsp
