/// Reads the file in which a recorder keeps the durations of a program's launches, each measured
/// with nothing beside it, by ncu's counter (gpu__time_duration).
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
    /// Max number of launches that are measured, from the first on.
    std::uint64_t launches = 4'096;
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
/// Reads a file as parseDurations() does. Missing if there is none: no recorder ran.
[[nodiscard]] Result<LaunchDurations> readDurations(const std::filesystem::path& file);

} // namespace kernelskill::engine
