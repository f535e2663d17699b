/// The one way out of a worker's child: a report, written once, and the end of the process.
#pragma once

#include "engine/execution/emulator/wire/wire.h"

namespace kernelskill::engine::emulator {

class ReportChannel {
public:
    explicit ReportChannel(int descriptor) : descriptor_(descriptor) {}

    /// Writes the frame and exits without running destructors: fibers may hold frames of the
    /// kernel. Callable from fibers and from the handlers of faults.
    [[noreturn]] void finish(const WorkerReport& report) const;

    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

} // namespace kernelskill::engine::emulator
