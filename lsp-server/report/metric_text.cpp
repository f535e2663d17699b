#include "lsp-server/report/metric_text.h"

#include <spdlog/fmt/fmt.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

namespace kernelskill::lsp {

namespace {

struct Label {
    std::string_view name;
    std::string_view label;
};

constexpr std::array labels{
    Label{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
          "sectors per global load"},
    Label{"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
          "sectors per global store"},
    Label{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
          "bytes used of each sector loaded"},
    Label{"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
          "bytes used of each sector stored"},
    Label{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global load requests"},
    Label{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "global load sectors"},
    Label{"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "global store requests"},
    Label{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "global store sectors"},
    Label{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "shared load bank conflicts"},
    Label{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
          "shared store bank conflicts"},
    Label{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "shared load wavefronts"},
    Label{"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "shared store wavefronts"},
    Label{"smsp__thread_inst_executed_per_inst_executed.ratio", "active lanes per instruction"},
    Label{"smsp__sass_average_branch_targets_threads_uniform.pct", "uniform branches"},
    Label{"kernelskill__barriers.sum", "barriers"},
};

std::string withThousands(double value) {
    std::string digits = fmt::format("{:.0f}", value);
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) {
        at -= 3;
        digits.insert(at, ",");
    }
    return digits;
}

std::string formatted(std::string_view name, double value) {
    if (name.ends_with(".pct"))
        return fmt::format("{:.1f} %", value);
    return std::abs(value - std::round(value)) < 1e-9 ? withThousands(value)
                                                      : fmt::format("{:.2f}", value);
}

} // namespace

std::vector<MetricText> importantMetrics(const engine::Metrics& metrics) {
    std::vector<MetricText> texts;
    for (const Label& label : labels) {
        const auto metric = metrics.find(std::string(label.name));
        // A kernel without shared memory needs no row that says zero.
        if (metric != metrics.end() && metric->second != 0)
            texts.push_back({metric->first, std::string(label.label),
                             formatted(metric->first, metric->second)});
    }
    return texts;
}

std::vector<MetricText> allMetrics(const engine::Metrics& metrics) {
    std::vector<MetricText> texts;
    for (const auto& [name, value] : metrics)
        texts.push_back({name, "", formatted(name, value)});
    return texts;
}

} // namespace kernelskill::lsp
