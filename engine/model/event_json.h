/// Reads fields of an event's JSON, which may have any shape.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace kernelskill::engine {

/// The value at a JSON pointer; null if a step is absent or has another type.
[[nodiscard]] nlohmann::json valueAt(const nlohmann::json& root, const char* pointer);
[[nodiscard]] std::string textAt(const nlohmann::json& root, const char* pointer);
/// 0 if the value is not a count.
[[nodiscard]] std::uint64_t countAt(const nlohmann::json& root, const char* pointer);

} // namespace kernelskill::engine
