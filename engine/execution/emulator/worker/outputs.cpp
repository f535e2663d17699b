#include "engine/execution/emulator/worker/outputs.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>
#include <utility>

namespace kernelskill::engine::emulator {

namespace {

/// Elements of a part. Parts begin at multiples of it, so those of two runs match.
constexpr std::uint64_t partElements = 256;
constexpr std::size_t maxIntervals = 1 << 16;

Result<BufferContents> contentsOf(const DeviceMemory& memory, const DeviceMemory::Buffer& buffer,
                                  std::string name, std::uint64_t first, std::uint64_t elements) {
    auto bytes = memory.contents(buffer, first * buffer.spec.elementBytes,
                                 elements * buffer.spec.elementBytes);
    if (!bytes)
        return std::unexpected(bytes.error());
    return BufferContents{std::move(name), buffer.spec.element, buffer.spec.elementBytes,
                          std::move(*bytes)};
}

} // namespace

Result<std::vector<BufferContents>> wholeOutputs(const DeviceMemory& memory) {
    std::vector<BufferContents> outputs;
    for (const DeviceMemory::Buffer& buffer : memory.buffers()) {
        if (!buffer.spec.isOutput)
            continue;
        const BufferExtent extent = DeviceMemory::extentOf(buffer);
        auto contents = contentsOf(memory, buffer, buffer.spec.name, 0, extent.elements);
        if (!contents)
            return std::unexpected(contents.error());
        outputs.push_back(std::move(*contents));
    }
    return outputs;
}

Result<std::vector<BufferContents>> writtenOutputs(const DeviceMemory& memory) {
    std::vector<Interval> written;
    std::vector<Interval> read;
    if (!memory.findTouched(maxIntervals, written, read))
        return std::unexpected(
            Error{ErrorKind::Failed, "the run wrote to more places than can be compared", "", ""});
    std::vector<BufferContents> outputs;
    for (const DeviceMemory::Buffer& buffer : memory.buffers()) {
        if (!buffer.spec.isOutput)
            continue;
        const std::uint64_t low = buffer.low - memory.arena().low;
        std::set<std::uint64_t> parts;
        for (const Interval& interval : written) {
            const std::uint64_t begin = std::max(interval.first * 4, low);
            const std::uint64_t end = std::min(interval.end * 4, low + buffer.limit);
            const std::uint64_t partBytes = partElements * buffer.spec.elementBytes;
            for (std::uint64_t part = (begin - low) / partBytes; low + part * partBytes < end;
                 ++part)
                parts.insert(part);
        }
        for (const std::uint64_t part : parts) {
            const std::uint64_t first = part * partElements;
            auto contents =
                contentsOf(memory, buffer, fmt::format("{}[{}..]", buffer.spec.name, first), first,
                           partElements);
            if (!contents)
                return std::unexpected(contents.error());
            outputs.push_back(std::move(*contents));
        }
    }
    return outputs;
}

} // namespace kernelskill::engine::emulator
