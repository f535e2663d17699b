#include "engine/process/framing.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <string>

namespace kernelskill::engine::wire {
namespace {

constexpr std::uint64_t maxPayloadBytes = std::uint64_t{1} << 34;
constexpr std::size_t maxDepth = 32;
/// A value takes one byte in a message, and up to 64 when it is decoded.
constexpr std::uint64_t maxValues = std::uint64_t{1} << 24;

/// Reads the heads of CBOR's values without decoding them.
class CborHeads {
public:
    explicit CborHeads(std::span<const std::byte> bytes) : bytes_(bytes) {}

    /// Whether the bytes are one value, not nested too deeply and without too many parts for a
    /// decoder that recurses and allocates. Only what frame() writes is accepted.
    [[nodiscard]] bool isBearable() {
        open_.push_back(1);
        for (std::uint64_t values = 0; !open_.empty(); ++values) {
            if (open_.back() == 0) {
                open_.pop_back();
                continue;
            }
            --open_.back();
            if (values > 2 * maxValues || open_.size() > maxDepth || !readValue())
                return false;
        }
        return bytes_.empty();
    }

private:
    bool readValue() {
        if (bytes_.empty())
            return false;
        const auto first = std::to_integer<unsigned>(bytes_.front());
        bytes_ = bytes_.subspan(1);
        const unsigned kind = first >> 5;
        const auto argument = readArgument(first & 31);
        if (!argument)
            return false;
        switch (kind) {
        case 2: // Bytes.
        case 3: // Text.
            if (*argument > bytes_.size())
                return false;
            bytes_ = bytes_.subspan(*argument);
            return true;
        case 4: // A list.
        case 5: // Names and values.
            if (*argument > bytes_.size())
                return false;
            open_.push_back(kind == 4 ? *argument : 2 * *argument);
            return true;
        case 6: // A tag, which is never written.
            return false;
        default:
            return true;
        }
    }

    std::optional<std::uint64_t> readArgument(unsigned detail) {
        if (detail < 24)
            return detail;
        if (detail > 27)
            return std::nullopt;
        const std::size_t size = std::size_t{1} << (detail - 24);
        if (size > bytes_.size())
            return std::nullopt;
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i)
            value = value << 8 | std::to_integer<std::uint64_t>(bytes_[i]);
        bytes_ = bytes_.subspan(size);
        return value;
    }

    std::span<const std::byte> bytes_;
    std::vector<std::uint64_t> open_; ///< Values that are still to come, from outer to inner.
};

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
    if (!CborHeads(payload).isBearable())
        return std::unexpected(
            Error{ErrorKind::Internal, "malformed message between processes", {}, {}});
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
