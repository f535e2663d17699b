#include "engine/execution/emulator/worker/device_memory.h"

#include "engine/execution/buffer_fill.h"

#include <spdlog/fmt/fmt.h>

#include <cstring>
#include <utility>

namespace kernelskill::engine::emulator {

Result<DeviceMemory> DeviceMemory::make(const LaunchSpec& launch, std::uint64_t seed,
                                        std::uint64_t budgetBytes, bool shadow) {
    DeviceMemory memory;
    memory.budgetBytes_ = budgetBytes;
    for (std::size_t position = 0; position < launch.arguments.size(); ++position) {
        const auto* spec = std::get_if<BufferSpec>(&launch.arguments[position]);
        if (spec == nullptr)
            continue;
        Buffer buffer;
        buffer.spec = *spec;
        buffer.spec.elementBytes = std::max(spec->elementBytes, 1u);
        buffer.position = position;
        buffer.seed = bufferSeed(seed, spec->name);
        buffer.limit = slotBytes - buffer.begin();
        if (spec->elements) {
            if (*spec->elements > buffer.limit / buffer.spec.elementBytes) {
                return std::unexpected(Error{
                    ErrorKind::InvalidInput,
                    fmt::format("buffer '{}' of {} elements is larger than the emulator's {} GiB",
                                spec->name, *spec->elements, buffer.limit >> 30),
                    "", "launch the kernel on a smaller problem"});
            }
            buffer.limit = *spec->elements * buffer.spec.elementBytes;
        }
        buffer.present.assign(slotBytes / chunkBytes / 64, 0);
        memory.buffers_.push_back(std::move(buffer));
    }
    if (memory.buffers_.size() > maxBuffers) {
        return std::unexpected(
            Error{ErrorKind::Unsupported,
                  fmt::format("a kernel with {} pointer parameters; the emulator "
                              "takes {}",
                              memory.buffers_.size(), maxBuffers),
                  "", ""});
    }
    if (memory.buffers_.empty())
        return memory;
    const std::uint64_t arenaBytes = memory.buffers_.size() * slotBytes;
    auto arena = Reservation::make(arenaBytes, Reservation::Access::None);
    if (!arena)
        return std::unexpected(arena.error());
    memory.arena_ = std::move(*arena);
    if (shadow) {
        auto cells = Reservation::make(arenaBytes / 4 * cellBytes, Reservation::Access::None);
        if (!cells)
            return std::unexpected(cells.error());
        memory.shadow_ = std::move(*cells);
    }
    for (std::size_t i = 0; i < memory.buffers_.size(); ++i) {
        Buffer& buffer = memory.buffers_[i];
        buffer.low = memory.arena_.low() + i * slotBytes + buffer.begin();
    }
    return memory;
}

void DeviceMemory::setFields(std::size_t position, std::span<const KsField> fields) {
    for (Buffer& buffer : buffers_) {
        if (buffer.position == position)
            buffer.fields.assign(fields.begin(), fields.end());
    }
}

void DeviceMemory::setCaptured(CapturedContents contents) {
    captured_ = std::move(contents);
    for (Buffer& buffer : buffers_) {
        if (const auto found = captured_.find(buffer.position); found != captured_.end())
            buffer.captured = found->second.bytes();
    }
}

void DeviceMemory::fill(const Buffer& buffer, std::uint64_t offset, std::span<std::byte> bytes) {
    if (buffer.spec.fill == Fill::Captured && buffer.spec.isInput)
        return fillFromCaptured(buffer.spec, buffer.captured, offset, bytes);
    fillBuffer(buffer.spec, buffer.seed, offset, bytes);
    if (!buffer.fields.empty() && buffer.spec.isInput && isMadeUp(buffer.spec.fill))
        fillFields(buffer.fields, buffer.spec, buffer.seed, offset, bytes);
}

DeviceMemory::Fault DeviceMemory::provide(std::uint64_t address) {
    if (arena_.range().contains(address))
        return provideChunk(address - arena_.low());
    if (shadow_.range().contains(address))
        return provideChunk((address - shadow_.low()) / cellBytes * 4);
    return Fault::NotOurs;
}

DeviceMemory::Fault DeviceMemory::provideChunk(std::uint64_t offset) {
    Buffer& buffer = bufferAt(offset);
    const std::uint64_t start = offset & ~(chunkBytes - 1);
    const std::uint64_t chunk = (start & (slotBytes - 1)) / chunkBytes;
    std::uint64_t& word = buffer.present[chunk / 64];
    const std::uint64_t bit = std::uint64_t{1} << (chunk % 64);
    if ((word & bit) != 0)
        return Fault::NotOurs; // A fault on a present page has another cause.
    if (usedBytes_ + chunkBytes > budgetBytes_ || !arena_.grant(start, chunkBytes))
        return Fault::OverBudget;
    if (shadow_.bytes() != 0 && !shadow_.grant(start / 4 * cellBytes, chunkBytes / 4 * cellBytes))
        return Fault::OverBudget;
    arena_.populate(start, chunkBytes);
    if (shadow_.bytes() != 0)
        shadow_.populate(start / 4 * cellBytes, chunkBytes / 4 * cellBytes);
    usedBytes_ += chunkBytes;
    word |= bit;
    const std::uint64_t address = arena_.low() + start;
    if (address + chunkBytes > buffer.low) {
        const std::uint64_t first = std::max(address, buffer.low);
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        auto* const bytes = reinterpret_cast<std::byte*>(first);
        fill(buffer, first - buffer.low, {bytes, address + chunkBytes - first});
    }
    return Fault::Provided;
}

Result<std::vector<std::byte>> DeviceMemory::contents(const Buffer& buffer, std::uint64_t offset,
                                                      std::uint64_t bytes) const {
    if (bytes > budgetBytes_) {
        return std::unexpected(
            Error{ErrorKind::Failed,
                  fmt::format("'{}' spans {} MiB, more than the memory limit of {} MiB",
                              buffer.spec.name, bytes >> 20, budgetBytes_ >> 20),
                  "", "give its extent with a `// kernelskill: launch` comment"});
    }
    std::vector<std::byte> copy(bytes);
    for (std::uint64_t at = offset; at < offset + bytes;) {
        const std::uint64_t chunk = (buffer.begin() + at) / chunkBytes;
        const std::uint64_t end =
            std::min((chunk + 1) * chunkBytes - buffer.begin(), offset + bytes);
        const std::span<std::byte> part{copy.data() + (at - offset), end - at};
        if ((buffer.present[chunk / 64] >> (chunk % 64) & 1) == 0) {
            fill(buffer, at, part);
        } else {
            // NOLINTNEXTLINE(performance-no-int-to-ptr)
            std::memcpy(part.data(), reinterpret_cast<const void*>(buffer.low + at), part.size());
        }
        at = end;
    }
    return copy;
}

bool DeviceMemory::findTouched(std::size_t most, std::vector<Interval>& written,
                               std::vector<Interval>& read) const {
    const auto add = [](std::vector<Interval>& intervals, std::uint64_t word) {
        if (!intervals.empty() && intervals.back().end == word)
            ++intervals.back().end;
        else
            intervals.push_back({word, word + 1});
    };
    if (shadow_.bytes() == 0)
        return buffers_.empty();
    constexpr std::uint64_t chunkWords = chunkBytes / 4;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
        for (std::uint64_t chunk = 0; chunk < slotBytes / chunkBytes; ++chunk) {
            const std::uint64_t present = buffers_[i].present[chunk / 64];
            if (present == 0) {
                chunk |= 63;
                continue;
            }
            if ((present >> (chunk % 64) & 1) == 0)
                continue;
            const std::uint64_t first = i * slotBytes + chunk * chunkBytes;
            const RaceDetector::Cell* const cells = cellsAt(first);
            for (std::uint64_t word = 0; word < chunkWords; ++word) {
                if (cells[word].write != 0)
                    add(written, first / 4 + word);
                if (cells[word].read != 0)
                    add(read, first / 4 + word);
            }
            if (written.size() > most || read.size() > most)
                return false;
        }
    }
    return true;
}

BufferExtent DeviceMemory::extentOf(const Buffer& buffer) {
    BufferExtent extent;
    extent.name = buffer.spec.name;
    const std::uint64_t end = std::max(buffer.readEnd, buffer.writtenEnd);
    extent.elements = buffer.spec.elements.value_or((end + buffer.spec.elementBytes - 1) /
                                                    buffer.spec.elementBytes);
    extent.read = buffer.readEnd != 0;
    extent.written = buffer.writtenEnd != 0;
    return extent;
}

} // namespace kernelskill::engine::emulator
