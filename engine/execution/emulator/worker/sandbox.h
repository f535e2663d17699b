/// What untrusted code in this process may still ask of the system.
///
/// The kernel, and the static initialisers of its image, run under a system-call filter that leaves
/// memory, time and the report's descriptor: no files, no network, no processes. A refused call
/// raises SIGSYS, which fault_handlers turns into a report. What the filter cannot do is keep the
/// kernel from forging that report: it shares the process. That is why the report is data that the
/// server only ever decodes and shows.
#pragma once

#include "analysis/source/error.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace kernelskill::engine::emulator {

struct SandboxLimits {
    std::uint64_t dataBytes =
        0; ///< Writable private memory beyond what the process has mapped now.
    std::chrono::seconds cpuTime{0};
};

/// Closes descriptors other than `reportDescriptor` and `imageDescriptor`, empties the environment,
/// drops to the limits, and installs the filter. Irreversible. Call after the handlers of faults
/// are installed.
[[nodiscard]] Result<void> enterSandbox(int reportDescriptor, int imageDescriptor,
                                        const SandboxLimits& limits);

/// "openat" for its number on this machine. Async-signal-safe enough for a handler that never
/// returns.
[[nodiscard]] std::string systemCallName(int number);

} // namespace kernelskill::engine::emulator
