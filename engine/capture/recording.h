/// What is said to the library that records launches inside a program, as text in the environment.
#pragma once

#include "analysis/source/error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Holds formatRecording(). The recorder writes nothing outside the folder that it names.
inline constexpr const char* recordingVariable = "KERNELSKILL_CAPTURE";

struct Recording {
    std::string folder;                       ///< Absolute. Gets launches/, data/ and claims/.
    std::string program;                      ///< What to call the program.
    std::string cupti;                        ///< CUPTI's path; empty: where the loader finds it.
    std::vector<std::string> kernels;         ///< Substrings of names; empty: all kernels.
    std::uint32_t launches = 1;               ///< Of each kernel, from the first on.
    std::uint64_t bufferBytes = 64ull << 20;  ///< Of one buffer; larger ones are left out.
    std::uint64_t totalBytes = 1024ull << 20; ///< Of all that a process records.
    std::uint64_t waitMilliseconds = 10'000;  ///< For the work in front of a launch, and for it.
};

[[nodiscard]] std::string formatRecording(const Recording& recording);
/// InvalidInput for anything else.
[[nodiscard]] Result<Recording> parseRecording(std::string_view text);

/// A file in `folder`, empty, for each process that the recorder listens in.
inline constexpr const char* attachedPrefix = "attached-";

} // namespace kernelskill::engine
