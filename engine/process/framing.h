/// The frames of messages between the server and its workers: a 64-bit little-endian length, then
/// that many bytes, the payload. It holds the message in CBOR with its byte strings left empty, and
/// then these in order, each of them behind its length: a reader of CBOR takes byte strings byte by
/// byte, and these are whole arrays of kernels. Both sides use only these functions.
#pragma once

#include "analysis/source/error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kernelskill::engine::wire {

inline constexpr std::size_t frameHeaderBytes = 8;

/// The whole frame, length included.
[[nodiscard]] std::vector<std::byte> frame(nlohmann::json message);

/// The length of the payload that follows; nullopt if it is implausibly large.
[[nodiscard]] std::optional<std::uint64_t>
payloadLength(std::span<const std::byte, frameHeaderBytes> header);

/// Whether `cbor` has more levels or values than any message or file of ours. Ask it before
/// nlohmann's reader of CBOR, which recurses and allocates, sees what another process or a disk
/// gave.
[[nodiscard]] bool exceedsLimits(std::span<const std::byte> cbor);

/// Calls `read` with the message in a payload, which has no length. Returns an Internal error for
/// malformed data, also if `read` throws one of nlohmann's exceptions. A process that runs a kernel
/// can send anything: depth and number of values are bounded.
[[nodiscard]] Result<void> readFrame(std::span<const std::byte> payload,
                                     const std::function<void(const nlohmann::json&)>& read);

/// Returns the result of `read` for the message.
template <typename T, typename Read>
Result<T> decodeFrame(std::span<const std::byte> payload, const Read& read) {
    std::optional<T> value;
    auto done = readFrame(payload, [&](const nlohmann::json& message) { value = read(message); });
    if (!done)
        return std::unexpected(std::move(done.error()));
    return std::move(*value);
}

} // namespace kernelskill::engine::wire
