/// Metrics for people: Nsight Compute's names with a plain label and a readable value.
#pragma once

#include "engine/execution/profile.h"
#include "engine/workbench/workbench.h"

#include <string>
#include <vector>

namespace kernelskill::lsp {

struct MetricText {
    std::string name;  ///< Nsight Compute's
    std::string label; ///< "sectors per load request"
    std::string value; ///< "4", "1,048,576", "12.5 %"
};

struct MetricSection {
    std::string title; ///< "Global memory"
    std::vector<MetricText> metrics;
};

/// Metrics that explain a kernel or a line, in the order of a profiler's report; zero counts are
/// left out.
[[nodiscard]] std::vector<MetricSection> metricSections(const engine::Metrics& metrics);
/// The few to see at a glance, the important ones first.
[[nodiscard]] std::vector<MetricText> importantMetrics(const engine::Metrics& metrics);
/// The metrics of a profile, and those that the compiler's facts add.
[[nodiscard]] engine::Metrics reportMetrics(const engine::KernelReport& report);
/// All, in the order of their names.
[[nodiscard]] std::vector<MetricText> allMetrics(const engine::Metrics& metrics);

/// "72.1 µs", "1.2 ms"
[[nodiscard]] std::string durationText(double microseconds);
/// 1234567 as "1.23 M".
[[nodiscard]] std::string shortNumber(double value);

} // namespace kernelskill::lsp
