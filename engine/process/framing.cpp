#include "engine/process/framing.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <string>
#include <string_view>

namespace kernelskill::engine::wire {
namespace {

constexpr std::uint64_t maxPayloadBytes = std::uint64_t{1} << 34;
/// Far more than any message has.
constexpr std::size_t maxNesting = 64;

/// Reads a message only to count its levels, and stops at the first that is too deep.
class Nesting : public nlohmann::json_sax<nlohmann::json> {
public:
    [[nodiscard]] bool isTooDeep() const { return isTooDeep_; }

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool key(string_t&) override { return true; }
    bool start_object(std::size_t) override { return enter(); }
    bool start_array(std::size_t) override { return enter(); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

private:
    bool enter() {
        isTooDeep_ = ++depth_ > maxNesting;
        return !isTooDeep_;
    }
    bool leave() {
        --depth_;
        return true;
    }

    std::size_t depth_ = 0;
    bool isTooDeep_ = false;
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

bool isNestedTooDeeply(std::span<const std::byte> cbor) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(cbor.data());
    Nesting nesting;
    nlohmann::json::sax_parse(data, data + cbor.size(), &nesting,
                              nlohmann::json::input_format_t::cbor);
    return nesting.isTooDeep();
}

Result<void> readFrame(std::span<const std::byte> payload,
                       const std::function<void(const nlohmann::json&)>& read) {
    try {
        const auto* data = reinterpret_cast<const std::uint8_t*>(payload.data());
        if (isNestedTooDeeply(payload))
            return std::unexpected(malformed("nested too deeply"));
        read(nlohmann::json::from_cbor(data, data + payload.size()));
        return {};
    } catch (const nlohmann::json::exception& error) {
        return std::unexpected(malformed(error.what()));
    }
}

} // namespace kernelskill::engine::wire
