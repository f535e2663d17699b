/// What runs of kernels on the emulator counted, kept to be compared with later ones.
#pragma once

#include "analysis/source/error.h"
#include "engine/diagnosis/interval.h"
#include "engine/execution/profile.h"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// A count that costs time: more of it is worse.
struct CountedMetric {
    const char* name; ///< Of the metric, see metric_names.h.
    const char* words;
};
/// Global and shared memory, atomics, arithmetic, barriers and divergence, in the order shown.
[[nodiscard]] std::span<const CountedMetric> countedMetrics();

struct CountedKernel {
    std::string file;   ///< From the folder of the baseline's file, with `/`.
    std::string kernel; ///< Qualified name.
    /// Where the launch comes from, and the numbers that make the problem: "evaluated, n=1024".
    /// Counts of two runs are compared only for the same problem.
    std::string problem;
    std::string launch; ///< "grid 4x1x1, block 256x1x1, 0 bytes": may change.
    Metrics counts;     ///< Those of countedMetrics() that are not 0.
    std::vector<std::string>
        hazards; ///< Kinds of those that are certain, each once, sorted; none on a guess.
    std::optional<Interval> seconds; ///< What the cost model says.
    std::string failure;             ///< Why it could not be run; then all else is empty.
};

struct Baseline {
    std::string tool; ///< The version that counted.
    std::string gpu;  ///< That the cost model was for.
    std::vector<CountedKernel> kernels;

    [[nodiscard]] const CountedKernel* find(const std::string& file,
                                            const std::string& kernel) const;
};

/// The counts of a profile of the emulator.
[[nodiscard]] CountedKernel countedKernel(const Profile& profile);

[[nodiscard]] nlohmann::json baselineJson(const Baseline& baseline);
/// InvalidInput if the file cannot be read or is none of this version's baselines; Missing if there
/// is no such file.
[[nodiscard]] Result<Baseline> readBaseline(const std::filesystem::path& file);

} // namespace kernelskill::engine
