/// The file between the recorder in the user's program and us: lines of JSON, each whole or not
/// there, so that a program that is killed leaves what it did until then.
#pragma once

#include "analysis/source/error.h"
#include "engine/timeline/device_activity.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Where the recorder writes, and which CUPTI it loads: environment variables of the program.
inline constexpr const char* activityFileVariable = "KERNELSKILL_TIMELINE_FILE";
inline constexpr const char* cuptiVariable = "KERNELSKILL_CUPTI";

struct ActivityFile {
    std::vector<DeviceActivity> activities; ///< In the order of their begins.
    std::uint64_t dropped = 0;              ///< That CUPTI had no room for.
    std::string problem; ///< Why the recorder recorded nothing, in its own words; else empty.
};

/// Each a line, with its end.
[[nodiscard]] std::string headLine();
[[nodiscard]] std::string lineOf(const DeviceActivity& activity);
[[nodiscard]] std::string droppedLine(std::uint64_t count);
[[nodiscard]] std::string problemLine(const std::string& problem);

/// Missing when there is no such file, or it is empty: no recorder ran. InvalidInput for a file of
/// another kind or version. A last line that was cut is left out.
[[nodiscard]] Result<ActivityFile> readActivities(const std::filesystem::path& path);

} // namespace kernelskill::engine
