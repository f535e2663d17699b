/// Restricts what untrusted code in this process may request from the system.
///
/// The kernel, and the static initialisers of its image, run under a system-call filter that allows
/// only memory, time and the report's descriptor: no files, no network, no processes. A refused
/// call raises SIGSYS, which fault_handlers turns into a report. The filter cannot prevent a kernel
/// from forging that report, because it shares the process. Therefore the server only decodes and
/// shows a report.
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

/// Closes all descriptors except `reportDescriptor` and `imageDescriptor`, empties the environment,
/// applies the limits and installs the filter. Irreversible. Call it after installing the fault
/// handlers.
[[nodiscard]] Result<void> enterSandbox(int reportDescriptor, int imageDescriptor,
                                        const SandboxLimits& limits);

/// The name of a system call: "openat". Async-signal-safe enough for a handler that never returns.
[[nodiscard]] std::string systemCallName(int number);

} // namespace kernelskill::engine::emulator
