#include "engine/process/framing.h"

#include "analysis/source/json.h"

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

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

constexpr std::size_t lengthBytes = sizeof(std::uint64_t);

void appendLength(std::vector<std::byte>& bytes, std::uint64_t length) {
    for (std::size_t i = 0; i < lengthBytes; ++i)
        bytes.push_back(static_cast<std::byte>(length >> (8 * i)));
}

void appendSized(std::vector<std::byte>& bytes, const std::vector<std::uint8_t>& part) {
    appendLength(bytes, part.size());
    const auto* first = reinterpret_cast<const std::byte*>(part.data());
    bytes.insert(bytes.end(), first, first + part.size());
}

std::uint64_t lengthFrom(std::span<const std::byte, lengthBytes> bytes) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < lengthBytes; ++i)
        length |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
    return length;
}

/// Takes a length and as many bytes from the front; nullopt if there are fewer.
std::optional<std::span<const std::byte>> takeSized(std::span<const std::byte>& bytes) {
    if (bytes.size() < lengthBytes)
        return std::nullopt;
    const std::uint64_t length = lengthFrom(bytes.first<lengthBytes>());
    if (length > bytes.size() - lengthBytes)
        return std::nullopt;
    const auto part = bytes.subspan(lengthBytes, length);
    bytes = bytes.subspan(lengthBytes + length);
    return part;
}

/// Visits the byte strings of a message. The order is the same before and after CBOR, since the
/// members of objects are sorted.
template <typename Visit>
void forEachBlob(nlohmann::json& message, const Visit& visit) {
    if (message.is_binary())
        return visit(static_cast<std::vector<std::uint8_t>&>(message.get_binary()));
    if (message.is_structured())
        for (nlohmann::json& each : message)
            forEachBlob(each, visit);
}

} // namespace

std::vector<std::byte> frame(nlohmann::json message) {
    std::vector<std::vector<std::uint8_t>> blobs;
    forEachBlob(message,
                [&](std::vector<std::uint8_t>& blob) { blobs.push_back(std::exchange(blob, {})); });
    const std::vector<std::uint8_t> cbor = nlohmann::json::to_cbor(message);
    std::uint64_t length = lengthBytes + cbor.size();
    for (const auto& blob : blobs)
        length += lengthBytes + blob.size();
    std::vector<std::byte> bytes;
    bytes.reserve(frameHeaderBytes + length);
    appendLength(bytes, length);
    appendSized(bytes, cbor);
    for (const auto& blob : blobs)
        appendSized(bytes, blob);
    return bytes;
}

std::optional<std::uint64_t> payloadLength(std::span<const std::byte, frameHeaderBytes> header) {
    const std::uint64_t length = lengthFrom(header);
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
    const auto cbor = takeSized(payload);
    if (!cbor)
        return std::unexpected(malformed("it ends early"));
    if (exceedsLimits(*cbor))
        return std::unexpected(malformed("too deep or too large"));
    try {
        const auto* data = reinterpret_cast<const std::uint8_t*>(cbor->data());
        nlohmann::json message = nlohmann::json::from_cbor(data, data + cbor->size());
        bool isWhole = true;
        forEachBlob(message, [&](std::vector<std::uint8_t>& blob) {
            const auto bytes = takeSized(payload);
            isWhole = isWhole && bytes;
            if (!isWhole)
                return;
            const auto* first = reinterpret_cast<const std::uint8_t*>(bytes->data());
            blob.assign(first, first + bytes->size());
        });
        if (!isWhole || !payload.empty())
            return std::unexpected(malformed("not as many bytes as it says"));
        read(message);
        return {};
    } catch (const nlohmann::json::exception& error) {
        return std::unexpected(malformed(error.what()));
    }
}

} // namespace kernelskill::engine::wire
