#include "engine/execution/captured_data.h"

#include "analysis/syntax/short_floats.h"
#include "engine/execution/buffer_fill.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::ScalarKind;

/// The bytes of a floating-point number that is shorter than a double; 0 for another type.
std::uint64_t narrowBytes(ScalarKind kind) {
    const bool isShort = kind == ScalarKind::Half || kind == ScalarKind::BFloat16;
    return kind == ScalarKind::Float ? sizeof(float) : isShort ? sizeof(std::uint16_t) : 0;
}

double widened(ScalarKind kind, const std::byte* from) {
    if (kind == ScalarKind::Float) {
        float value = 0;
        std::memcpy(&value, from, sizeof value);
        return value;
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, from, sizeof bits);
    return kind == ScalarKind::Half ? analysis::halfValue(bits) : analysis::bfloatValue(bits);
}

} // namespace

Result<MappedFile> openCapturedFile(const std::string& path) {
    // A workspace's folder of captures could hold a link to any file of the user.
    auto file = MappedFile::open(path, Links::Refused);
    if (!file) {
        file.error().what = "captured data cannot be read: " + file.error().what;
        file.error().remedy = "capture the program again";
    }
    return file;
}

Result<CapturedContents> openCaptured(const LaunchSpec& launch) {
    CapturedContents contents;
    for (std::size_t position = 0; position < launch.arguments.size(); ++position) {
        const auto* buffer = std::get_if<BufferSpec>(&launch.arguments[position]);
        if (buffer == nullptr || buffer->fill != Fill::Captured || !buffer->isInput ||
            !buffer->captured)
            continue;
        auto file = openCapturedFile(buffer->captured->before);
        if (!file)
            return std::unexpected(std::move(file.error()));
        contents.emplace(position, std::move(*file));
    }
    return contents;
}

void fillFromCaptured(const BufferSpec& buffer, std::span<const std::byte> data,
                      std::uint64_t offset, std::span<std::byte> bytes) {
    const std::uint64_t narrow = buffer.captured ? narrowBytes(buffer.captured->element) : 0;
    const bool widens = buffer.element == ScalarKind::Double && narrow > 0;
    const std::uint64_t size = widens ? data.size() / narrow * sizeof(double) : data.size();
    const auto given = static_cast<std::size_t>(
        std::clamp<std::uint64_t>(size, offset, offset + bytes.size()) - offset);
    if (!widens) {
        if (given > 0)
            std::memcpy(bytes.data(), data.data() + offset, given);
    } else {
        for (std::size_t at = 0; at < given; at += sizeof(double)) {
            const double wide = widened(buffer.captured->element,
                                        data.data() + (offset + at) / sizeof(double) * narrow);
            std::memcpy(bytes.data() + at, &wide, std::min(sizeof wide, given - at));
        }
    }
    for (std::size_t at = given; at < bytes.size(); ++at)
        bytes[at] = static_cast<std::byte>(poisonWord >> (8 * ((offset + at) % sizeof poisonWord)));
}

} // namespace kernelskill::engine
