/// How the server and its workers pack messages: a 64-bit little-endian length and that many bytes
/// of CBOR. Both sides use these functions and no others.
#pragma once

#include "analysis/source/error.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernelskill::engine::wire {

inline constexpr std::size_t frameHeaderBytes = 8;

/// The whole frame, length included.
[[nodiscard]] std::vector<std::byte> frame(const nlohmann::json& message);

/// Length of the payload that follows; nullopt when it is beyond any sane frame.
[[nodiscard]] std::optional<std::uint64_t>
payloadLength(std::span<const std::byte, frameHeaderBytes> header);

/// `read` of the message in a frame's payload, without the length. Internal error for anything
/// malformed, `read`'s exceptions of nlohmann included.
template <typename T, typename Read>
Result<T> decodeFrame(std::span<const std::byte> payload, Read read) {
    try {
        const auto* data = reinterpret_cast<const std::uint8_t*>(payload.data());
        return read(nlohmann::json::from_cbor(data, data + payload.size()));
    } catch (const nlohmann::json::exception& error) {
        return std::unexpected(
            Error{ErrorKind::Internal,
                  std::string("malformed message between processes: ") + error.what(),
                  {},
                  {}});
    }
}

} // namespace kernelskill::engine::wire
