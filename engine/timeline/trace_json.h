/// Writes a timeline as a file for Perfetto and Chrome's tracing page.
#pragma once

#include "engine/timeline/device_activity.h"

#include <span>
#include <string>

namespace kernelskill::engine {

/// In Trace Event Format: one process per device, one thread per stream; microseconds from the
/// first begin.
[[nodiscard]] std::string traceJson(std::span<const DeviceActivity> activities);

} // namespace kernelskill::engine
