/// The options for the library that holds a program at a launch, as text in an environment
/// variable.
#pragma once

#include "analysis/source/error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace kernelskill::engine {

/// Contains formatReplayTarget().
inline constexpr const char* replayVariable = "KERNELSKILL_REPLAY";

struct ReplayTarget {
    std::string socket; ///< Path of a Unix socket; the process that is held connects to it.
    std::string cupti;  ///< Path of CUPTI; if empty, the loader searches it.
    std::string kernel; ///< The kernel's qualified name without template arguments, or its symbol.
    std::uint32_t ordinal = 1; ///< Counts the kernel's launches in its process from 1.
    /// Limit of the copies in device memory; 0: half of what is free.
    std::uint64_t deviceBytes = 0;
    std::uint64_t hostBytes = 16ull << 30;   ///< Limit of the copies in host memory.
    std::uint64_t waitMilliseconds = 10'000; ///< Limit for earlier work and other threads' calls.
    std::uint64_t originalMilliseconds = 60'000; ///< Limit of a run of the program's own kernel.
};

[[nodiscard]] std::string formatReplayTarget(const ReplayTarget& target);
/// InvalidInput for any other text.
[[nodiscard]] Result<ReplayTarget> parseReplayTarget(std::string_view text);

/// The first words of the line on standard error that says why nothing can be held.
inline constexpr std::string_view notHeldPrefix = "kernelskill: nothing is held: ";

} // namespace kernelskill::engine
