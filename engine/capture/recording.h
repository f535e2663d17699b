/// The options for the library that records launches inside a program, as text in an environment
/// variable.
#pragma once

#include "analysis/source/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Contains formatRecording(). The recorder writes only inside the folder that it names.
inline constexpr const char* recordingVariable = "KERNELSKILL_CAPTURE";

struct Recording {
    std::string folder;               ///< Absolute. Receives launches/, data/ and claims/.
    std::string program;              ///< The program's name in captures.
    std::string cupti;                ///< Path of CUPTI; if empty, the loader searches it.
    std::vector<std::string> kernels; ///< Substrings of kernel names; if empty, all kernels.
    std::uint32_t launches = 1;       ///< Launches to record of each kernel, from the first on.
    std::uint64_t bufferBytes = 64ull << 20;  ///< Limit of one buffer; larger ones are left out.
    std::uint64_t totalBytes = 1024ull << 20; ///< Limit of everything that a process records.
    std::uint64_t waitMilliseconds = 10'000;  ///< Limit for earlier work and for the launch itself.
};

[[nodiscard]] std::string formatRecording(const Recording& recording);
/// InvalidInput for any other text.
[[nodiscard]] Result<Recording> parseRecording(std::string_view text);

/// The recorder creates an empty file with this prefix in `folder` for each process that it listens
/// to.
inline constexpr const char* attachedPrefix = "attached-";

} // namespace kernelskill::engine
