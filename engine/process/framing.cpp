#include "engine/process/framing.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <string>

namespace kernelskill::engine::wire {
namespace {

constexpr std::uint64_t maxPayloadBytes = std::uint64_t{1} << 34;

} // namespace

std::vector<std::byte> frame(const nlohmann::json& message) {
    const std::vector<std::uint8_t> payload = nlohmann::json::to_cbor(message);
    std::vector<std::byte> bytes(frameHeaderBytes + payload.size());
    for (std::size_t i = 0; i < frameHeaderBytes; ++i)
        bytes[i] = static_cast<std::byte>(payload.size() >> (8 * i));
    std::memcpy(bytes.data() + frameHeaderBytes, payload.data(), payload.size());
    return bytes;
}

std::optional<std::uint64_t> payloadLength(std::span<const std::byte, frameHeaderBytes> header) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < frameHeaderBytes; ++i)
        length |= static_cast<std::uint64_t>(header[i]) << (8 * i);
    if (length > maxPayloadBytes)
        return std::nullopt;
    return length;
}

Result<void> readFrame(std::span<const std::byte> payload,
                       const std::function<void(const nlohmann::json&)>& read) {
    try {
        const auto* data = reinterpret_cast<const std::uint8_t*>(payload.data());
        read(nlohmann::json::from_cbor(data, data + payload.size()));
        return {};
    } catch (const nlohmann::json::exception& error) {
        return std::unexpected(
            Error{ErrorKind::Internal,
                  std::string("malformed message between processes: ") + error.what(),
                  {},
                  {}});
    }
}

} // namespace kernelskill::engine::wire
