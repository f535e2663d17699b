#include "lsp-server/report/occupancy_text.h"

#include "analysis/source/json.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::lsp {

using analysis::BlockResource;
using nlohmann::json;

namespace {

std::string blocksText(std::uint32_t blocks) {
    if (blocks == 0)
        return "cannot be launched";
    return blocks == 1 ? "1 block" : fmt::format("{} blocks", blocks);
}

} // namespace

std::vector<OccupancyPlot> occupancyPlots(const analysis::BlockResources& block,
                                          const analysis::MultiprocessorLimits& limits) {
    std::vector<OccupancyPlot> plots;
    for (const BlockResource resource :
         {BlockResource::Threads, BlockResource::Registers, BlockResource::SharedBytes})
        if (auto points = analysis::occupancySweep(block, limits, resource); !points.empty())
            plots.push_back({resource, std::move(points)});
    return plots;
}

std::vector<std::string> occupancyLines(const OccupancyPlot& plot) {
    constexpr int width = 20;
    std::vector<std::string> lines;
    for (const analysis::OccupancyPoint& point : plot.points) {
        const auto filled = static_cast<std::size_t>(point.percent / 100 * width + 0.5);
        lines.push_back(fmt::format("{:>7} |{:<{}}| {:>3.0f} %  {}{}", point.value,
                                    std::string(filled, '#'), width, point.percent,
                                    blocksText(point.blocks), point.isCurrent ? "  <- now" : ""));
    }
    return lines;
}

Table occupancyTable(const OccupancyPlot& plot) {
    Table table;
    table.columns = {
        {std::string(analysis::spelling(plot.resource)), true}, {"occupancy", true}, {"resident"}};
    for (const analysis::OccupancyPoint& point : plot.points)
        table.rows.push_back({{fmt::format("{}{}", point.value, point.isCurrent ? " (now)" : "")},
                              {fmt::format("{:.0f} %", point.percent), point.percent / 100},
                              {blocksText(point.blocks), {}, Tone::Quiet}});
    return table;
}

json occupancyJson(const std::vector<OccupancyPlot>& plots) {
    json result = json::array();
    for (const OccupancyPlot& plot : plots) {
        json points = json::array();
        for (const analysis::OccupancyPoint& point : plot.points)
            points.push_back({{"value", point.value},
                              {"blocks", point.blocks},
                              {"percent", point.percent},
                              {"current", point.isCurrent}});
        result.push_back(
            {{"resource", analysis::spelling(plot.resource)}, {"points", std::move(points)}});
    }
    return result;
}

} // namespace kernelskill::lsp
