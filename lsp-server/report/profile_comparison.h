/// Two profiles side by side: what differs, the largest difference first.
#pragma once

#include "engine/execution/profile.h"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kernelskill::lsp {

/// One of the two.
struct ProfileSide {
    std::string label;      ///< "before.json", "now"
    std::string kernel;     ///< Qualified name.
    std::string executor;   ///< "CPU emulator", "Nsight Compute", ...
    std::string launch;     ///< "grid 4096, block 256"
    std::string bottleneck; ///< Empty if unknown.
    engine::Metrics metrics;
};

struct ComparedMetric {
    std::string name;  ///< Nsight Compute's.
    std::string label; ///< "sectors per load request"; empty if there is none.
    std::optional<double> before;
    std::optional<double> after;
    std::string beforeText; ///< "24,576"; "-" if the side does not have the metric.
    std::string afterText;
    /// after / before; nullopt if one is unknown or `before` is 0.
    [[nodiscard]] std::optional<double> ratio() const;
};

/// The metrics with a label, and those that both sides have, that differ by at least 1 percent. The
/// largest ratio comes first, metrics of one side last.
[[nodiscard]] std::vector<ComparedMetric> changedMetrics(const ProfileSide& before,
                                                         const ProfileSide& after);

/// "32 times less", "12 % more"; empty without a ratio.
[[nodiscard]] std::string changeText(const ComparedMetric& metric);

/// Sentences about differences that make a comparison doubtful: other launches, other executors.
[[nodiscard]] std::vector<std::string> comparisonNotes(const ProfileSide& before,
                                                       const ProfileSide& after);

/// {before: {label, kernel, executor, launch, bottleneck}, after: ..., changed: [{name, label,
/// before, after, ratio}], notes}
[[nodiscard]] nlohmann::json comparisonJson(const ProfileSide& before, const ProfileSide& after);

} // namespace kernelskill::lsp
