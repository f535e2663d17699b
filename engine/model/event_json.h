/// Fields of the JSON in an event, which may be of any shape.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>

namespace kernelskill::engine {

/// The value at a JSON pointer; null where a step is absent or of another shape.
[[nodiscard]] nlohmann::json valueAt(const nlohmann::json& root, const char* pointer);
[[nodiscard]] std::string textAt(const nlohmann::json& root, const char* pointer);
/// 0 for what is no number of things.
[[nodiscard]] std::uint64_t countAt(const nlohmann::json& root, const char* pointer);

} // namespace kernelskill::engine
