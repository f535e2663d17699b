/// Reads the device's current clocks from NVML.
#pragma once

#include "engine/execution/gpu/runner_wire.h"

#include <string>

namespace kernelskill::engine::gpu {

/// The clocks of the device on the PCI bus at `busId`. All zero if NVML is not available.
[[nodiscard]] Clocks clocksOf(const std::string& busId);

} // namespace kernelskill::engine::gpu
