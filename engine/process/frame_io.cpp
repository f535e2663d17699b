#include "engine/process/frame_io.h"

#include "engine/process/framing.h"

#include <array>
#include <cerrno>
#include <unistd.h>

namespace kernelskill::engine::wire {

bool readAll(int descriptor, std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        if (count > 0)
            bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

bool writeAll(int descriptor, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
        if (count < 0 && errno != EINTR)
            return false;
        if (count > 0)
            bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return true;
}

std::optional<std::vector<std::byte>> readPayload(int descriptor) {
    std::array<std::byte, frameHeaderBytes> header{};
    if (!readAll(descriptor, header))
        return std::nullopt;
    const auto length = payloadLength(header);
    if (!length)
        return std::nullopt;
    std::vector<std::byte> payload(*length);
    if (!readAll(descriptor, payload))
        return std::nullopt;
    return payload;
}

} // namespace kernelskill::engine::wire
