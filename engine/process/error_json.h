/// Errors in the messages between the server and its children. The reader throws nlohmann's
/// exceptions for malformed input; decodeFrame() turns these into error values.
#pragma once

#include "analysis/source/error.h"

#include <nlohmann/json_fwd.hpp>

namespace kernelskill::engine::wire {

[[nodiscard]] nlohmann::json toJson(const Error& error);
void fromJson(const nlohmann::json& json, Error& error);

} // namespace kernelskill::engine::wire
