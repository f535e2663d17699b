/// The device's clocks at this moment, from NVML.
#pragma once

#include "engine/execution/gpu/runner_wire.h"

#include <string>

namespace kernelskill::engine::gpu {

/// Of the device on the PCI bus at `busId`. All zero where NVML cannot be asked.
[[nodiscard]] Clocks clocksOf(const std::string& busId);

} // namespace kernelskill::engine::gpu
