/// How long each of a program's kernels takes when nothing overlaps with it, as ncu measures it
/// (gpu__time_duration): the file that the recorder in the program writes.
#pragma once

#include "analysis/source/error.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Contains formatDurationTarget().
inline constexpr const char* durationVariable = "KERNELSKILL_DURATIONS";

struct DurationTarget {
    std::string file;  ///< Absolute; is written.
    std::string cupti; ///< Path of CUPTI; if empty, the loader searches it.
    std::uint64_t launches =
        4'096; ///< Max number of launches that are measured, from the first on.
};

[[nodiscard]] std::string formatDurationTarget(const DurationTarget& target);
/// InvalidInput for any other text.
[[nodiscard]] Result<DurationTarget> parseDurationTarget(std::string_view text);

struct LaunchDurations {
    /// The microseconds of the launches, in their order, by the kernel's symbol.
    std::map<std::string, std::vector<double>> bySymbol;
    std::string problem; ///< Why no more launches were measured; else empty.
};

/// Each function returns one line with its line end.
[[nodiscard]] std::string durationHead();
[[nodiscard]] std::string durationLine(const std::string& symbol, double microseconds);
[[nodiscard]] std::string durationProblem(const std::string& problem);

/// InvalidInput for other texts. Ignores an incomplete last line. `file` is for messages.
[[nodiscard]] Result<LaunchDurations> parseDurations(std::string_view text,
                                                     const std::filesystem::path& file);
/// The same of a file; Missing if there is none: no recorder ran.
[[nodiscard]] Result<LaunchDurations> readDurations(const std::filesystem::path& file);

} // namespace kernelskill::engine
