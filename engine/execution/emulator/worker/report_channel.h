/// The only output of a worker's child: one report, then the process ends.
#pragma once

#include "engine/execution/emulator/wire/wire.h"

namespace kernelskill::engine::emulator {

class ReportChannel {
public:
    explicit ReportChannel(int descriptor) : descriptor_(descriptor) {}

    /// Writes the frame and exits without destructors, because fibers may hold frames of the
    /// kernel. May be called from fibers and fault handlers.
    [[noreturn]] void finish(const WorkerReport& report) const;

    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

} // namespace kernelskill::engine::emulator
