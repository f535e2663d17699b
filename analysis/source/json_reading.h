/// Reads JSON that others wrote: files, clients and services may have written anything. Nothing
/// here throws.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string_view>

namespace kernelskill::analysis {

/// Parses JSON. A text that is malformed, or nested deeper than `maxJsonNesting`, gives a discarded
/// value, which is neither an object nor an array.
[[nodiscard]] nlohmann::json parseJson(std::string_view text);

/// Returns the integer; nullopt if the value is something else, or no integer that a T holds. T is
/// int, std::int64_t or std::uint64_t.
template <typename T>
[[nodiscard]] std::optional<T> integerIn(const nlohmann::json& value);

/// Returns the integer of that name in the object, as integerIn() of a value does.
template <typename T>
[[nodiscard]] std::optional<T> integerIn(const nlohmann::json& object, const char* name);

} // namespace kernelskill::analysis
