/// Launches and buffers as JSON, in the words that the server and its workers share. Readers throw
/// nlohmann's exceptions for malformed input; decodeFrame() turns these into error values.
#pragma once

#include "engine/execution/job.h"
#include "engine/execution/profile.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelskill::engine::wire {

using Json = nlohmann::json;

template <typename Enum>
std::uint64_t number(Enum value) {
    return static_cast<std::uint64_t>(value);
}

[[nodiscard]] std::uint64_t wholeNumber(const Json& json);

template <typename Enum>
void readEnum(const Json& json, Enum& value) {
    value = static_cast<Enum>(wholeNumber(json));
}

[[nodiscard]] Json toJson(const Dim3& dim);
void fromJson(const Json& json, Dim3& dim);

[[nodiscard]] Json binary(const std::vector<std::byte>& bytes);
[[nodiscard]] std::vector<std::byte> bytesOf(const Json& json);

/// The parts of a launch that a worker needs. The kernel's name and the notes are left out.
[[nodiscard]] Json toJson(const LaunchSpec& launch);
void fromJson(const Json& json, LaunchSpec& launch);

[[nodiscard]] Json toJson(const BufferContents& contents);
void fromJson(const Json& json, BufferContents& contents);

} // namespace kernelskill::engine::wire
