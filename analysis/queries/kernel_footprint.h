/// The memory that a kernel touches, as far as its text alone tells.
#pragma once

#include "analysis/model/kernel_model.h"

#include <string>
#include <vector>

namespace kernelskill::analysis {

/// The uses of the memory behind a pointer; for other parameters all false.
struct PointerUse {
    bool isPointer = false;
    bool isRead = false;
    bool isWritten = false;
};

struct KernelFootprint {
    std::vector<PointerUse> parameters; ///< In the kernel's order.
    /// Why the kernel may touch more than that, or do what others see in another way, e.g. "it
    /// calls printf"; empty where the parameters are all.
    std::string unknown;
};

/// Reading `__constant__` memory and what a block or thread has for itself do not count. `file`
/// holds the device functions that the kernel calls.
[[nodiscard]] KernelFootprint footprintOf(const FileModel& file, const KernelModel& kernel);

} // namespace kernelskill::analysis
