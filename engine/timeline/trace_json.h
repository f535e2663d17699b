/// A timeline as a file that Perfetto and Chrome's tracing page open.
#pragma once

#include "engine/timeline/device_activity.h"

#include <span>
#include <string>

namespace kernelskill::engine {

/// Trace Event Format: a process a device, a thread a stream; microseconds from the first begin.
[[nodiscard]] std::string traceJson(std::span<const DeviceActivity> activities);

} // namespace kernelskill::engine
