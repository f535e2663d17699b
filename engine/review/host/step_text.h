/// Steps of a trace in words.
#pragma once

#include "engine/review/host/host_steps.h"

#include <string>

namespace kernelskill::engine {

/// The variable of a stream or event, "the default stream" or "another stream".
[[nodiscard]] std::string nameOfHandle(const std::string& handle);

/// The step with its stream and line; "nothing more" for null.
[[nodiscard]] std::string describeStep(const HostStep* step);

} // namespace kernelskill::engine
