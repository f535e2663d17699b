/// Signals of a worker's child, and what they mean: a page to provide, or the end of the run with a
/// reason.
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

/// Handles faults, refused system calls and the timer from here on, on a stack of their own.
/// `context` outlives the process.
[[nodiscard]] Result<void> installFaultHandlers(const FaultContext& context,
                                                std::chrono::milliseconds time);

} // namespace kernelskill::engine::emulator
