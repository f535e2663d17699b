#include "engine/process/framing.h"

#include "analysis/source/json.h"

#include <cstring>
#include <string>
#include <string_view>

namespace kernelskill::engine::wire {
namespace {

constexpr std::uint64_t maxPayloadBytes = std::uint64_t{1} << 34;
/// Far more than any message has.
constexpr std::size_t maxNesting = 64;

/// A value takes one byte in a message, and up to 64 when it is decoded.
constexpr std::uint64_t maxValues = std::uint64_t{1} << 24;

/// Reads a message only to count its levels and values, and stops at the first that is too much.
class MessageSize : public nlohmann::json_sax<nlohmann::json> {
public:
    [[nodiscard]] bool exceedsLimits() const { return depth_ > maxNesting || values_ > maxValues; }

    bool null() override { return count(); }
    bool boolean(bool) override { return count(); }
    bool number_integer(number_integer_t) override { return count(); }
    bool number_unsigned(number_unsigned_t) override { return count(); }
    bool number_float(number_float_t, const string_t&) override { return count(); }
    bool string(string_t&) override { return count(); }
    bool binary(binary_t&) override { return count(); }
    bool key(string_t&) override { return count(); }
    bool start_object(std::size_t) override { return enter(); }
    bool start_array(std::size_t) override { return enter(); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

private:
    bool count() { return ++values_ <= maxValues; }
    bool enter() { return ++depth_ <= maxNesting && count(); }
    bool leave() {
        --depth_;
        return true;
    }

    std::size_t depth_ = 0;
    std::uint64_t values_ = 0;
};

Error malformed(std::string_view why) {
    return {
        ErrorKind::Internal, "malformed message between processes: " + std::string(why), {}, {}};
}

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

bool exceedsLimits(std::span<const std::byte> cbor) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(cbor.data());
    MessageSize size;
    nlohmann::json::sax_parse(data, data + cbor.size(), &size,
                              nlohmann::json::input_format_t::cbor);
    return size.exceedsLimits();
}

Result<void> readFrame(std::span<const std::byte> payload,
                       const std::function<void(const nlohmann::json&)>& read) {
    try {
        const auto* data = reinterpret_cast<const std::uint8_t*>(payload.data());
        if (exceedsLimits(payload))
            return std::unexpected(malformed("too deep or too large"));
        read(nlohmann::json::from_cbor(data, data + payload.size()));
        return {};
    } catch (const nlohmann::json::exception& error) {
        return std::unexpected(malformed(error.what()));
    }
}

} // namespace kernelskill::engine::wire
