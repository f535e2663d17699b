/// Copies what a run left in the buffers that are compared.
#pragma once

#include "analysis/source/error.h"
#include "engine/execution/emulator/worker/device_memory.h"
#include "engine/execution/profile.h"

#include <vector>

namespace kernelskill::engine::emulator {

/// Each output buffer, up to the last element that the run accessed. Failed if one exceeds the
/// memory limit.
[[nodiscard]] Result<std::vector<BufferContents>> wholeOutputs(const DeviceMemory& memory);

/// The parts of output buffers that the run wrote to, each as a buffer of its own that is named by
/// its place: "y[4096..]". For runs of some blocks of a large grid. Needs the race detector's
/// cells. Failed if there are too many parts.
[[nodiscard]] Result<std::vector<BufferContents>> writtenOutputs(const DeviceMemory& memory);

} // namespace kernelskill::engine::emulator
