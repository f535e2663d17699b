/// The counts of kernels on the emulator, kept in a file for comparison with later runs.
#pragma once

#include "analysis/source/error.h"
#include "engine/diagnosis/interval.h"
#include "engine/execution/profile.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// A count that costs time: more of it is worse.
struct CountedMetric {
    const char* name; ///< The metric's name, see metric_names.h.
    const char* words;
};
/// Global and shared memory, atomics, arithmetic, barriers and divergence, in the order shown.
[[nodiscard]] std::span<const CountedMetric> countedMetrics();

struct CountedKernel {
    std::string file;   ///< The path relative to the baseline's folder, with `/`.
    std::string kernel; ///< Qualified name.
    /// The origin of the launch, and the numbers that make the problem: "evaluated, n=1024".
    /// Counts of two runs are compared only for the same problem.
    std::string problem;
    std::string launch; ///< "grid 4x1x1, block 256x1x1, 0 bytes": may change.
    Metrics counts;     ///< The metrics of countedMetrics() that are not 0.
    /// The kinds of hazards that are certain, sorted, each once; empty for a guessed launch.
    std::vector<std::string> hazards;
    std::optional<Interval> seconds; ///< The cost model's estimate.
    std::string failure;             ///< The reason why it could not run; then all else is empty.
};

struct Baseline {
    std::string tool; ///< The version that counted.
    std::string gpu;  ///< The GPU that the cost model estimates.
    std::vector<CountedKernel> kernels;

    [[nodiscard]] const CountedKernel* find(const std::string& file,
                                            const std::string& kernel) const;
};

/// The counts of a profile of the emulator.
[[nodiscard]] CountedKernel countedKernel(const Profile& profile);

[[nodiscard]] nlohmann::json baselineJson(const Baseline& baseline);
/// InvalidInput if the file cannot be read or is none of this version's baselines of files; Missing
/// if there is no such file.
[[nodiscard]] Result<Baseline> readBaseline(const std::filesystem::path& file);
/// The same of a text; `file` is for messages.
[[nodiscard]] Result<Baseline> parseBaseline(std::string_view text,
                                             const std::filesystem::path& file);

/// The baseline that baselineJson() has written. Throws json::exception if the document has another
/// shape.
[[nodiscard]] Baseline baselineFrom(const nlohmann::json& document);

/// The subject of a file of baselines: CUDA files, or the kernels of a program.
enum class BaselineSubject : std::uint8_t { Files, Program };
/// The members that each of these files has: `format` and `version`.
[[nodiscard]] nlohmann::json baselineHead(BaselineSubject subject);
/// The text of such a file. Errors as of readBaseline().
[[nodiscard]] Result<std::string> readBaselineText(const std::filesystem::path& file);
/// The document of such a text, which has this head. InvalidInput if it has another one.
[[nodiscard]] Result<nlohmann::json>
baselineDocument(std::string_view text, const std::filesystem::path& file, BaselineSubject subject);
/// The error of a file whose document has the head and another shape behind it.
[[nodiscard]] Error damagedBaseline(const std::filesystem::path& file);

} // namespace kernelskill::engine
