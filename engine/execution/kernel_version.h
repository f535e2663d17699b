/// One text of the kernel that a search works on.
#pragma once

#include "engine/execution/kernel_ref.h"

#include <string>

namespace kernelskill::engine {

/// The program's model is set and holds the kernel.
struct KernelVersion {
    ProgramSource program;
    std::string kernelName; ///< Qualified name.
    [[nodiscard]] const analysis::KernelModel& kernel() const {
        return *analysis::kernelNamed(*program.model, kernelName);
    }
    [[nodiscard]] KernelRef ref() const { return {program, kernel()}; }
};

} // namespace kernelskill::engine
