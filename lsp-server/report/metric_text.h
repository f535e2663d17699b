/// Metrics for people: Nsight Compute's names with a plain label and a readable value.
#pragma once

#include "engine/execution/profile.h"

#include <string>
#include <vector>

namespace kernelskill::lsp {

struct MetricText {
    std::string name;  ///< Nsight Compute's
    std::string label; ///< "global load sectors per request"
    std::string value; ///< "4", "1,048,576", "12.5 %"
};

/// The few that explain a kernel, the important ones first; those absent are left out.
[[nodiscard]] std::vector<MetricText> importantMetrics(const engine::Metrics& metrics);
/// All, in the order of their names.
[[nodiscard]] std::vector<MetricText> allMetrics(const engine::Metrics& metrics);

} // namespace kernelskill::lsp
