/// The file that the recorder writes in the user's program: lines of JSON, each complete or absent,
/// so that a killed program leaves its activities until then.
#pragma once

#include "analysis/source/error.h"
#include "engine/timeline/device_activity.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Environment variables of the program: the file to write, and the CUPTI library to load.
inline constexpr const char* activityFileVariable = "KERNELSKILL_TIMELINE_FILE";
inline constexpr const char* cuptiVariable = "KERNELSKILL_CUPTI";

struct ActivityFile {
    std::vector<DeviceActivity> activities; ///< Sorted by their begin.
    std::uint64_t dropped = 0;              ///< Activities that CUPTI dropped.
    std::string problem; ///< Why the recorder recorded nothing, in its own words; else empty.
};

/// Each function returns one line with its line end.
[[nodiscard]] std::string headLine();
[[nodiscard]] std::string lineOf(const DeviceActivity& activity);
[[nodiscard]] std::string droppedLine(std::uint64_t count);
[[nodiscard]] std::string problemLine(const std::string& problem);

/// Missing if the file does not exist or is empty: no recorder ran. InvalidInput for another kind
/// of file or version. Ignores an incomplete last line.
[[nodiscard]] Result<ActivityFile> readActivities(const std::filesystem::path& path);

} // namespace kernelskill::engine
