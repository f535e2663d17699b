/// Handles the signals of a worker's child: provides a page, or ends the run with a reason.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/emulator/worker/report_channel.h"

#include <chrono>
#include <string>

namespace kernelskill::engine::emulator {

class Launch;

struct FaultContext {
    const ReportChannel* channel = nullptr;
    const std::string* imagePath = nullptr;
    int imageDescriptor = -1;
};

/// Installs handlers, with their own stack, for faults, refused system calls and the timer.
/// `context` outlives the process.
[[nodiscard]] Result<void> installFaultHandlers(const FaultContext& context,
                                                std::chrono::milliseconds time);

} // namespace kernelskill::engine::emulator
