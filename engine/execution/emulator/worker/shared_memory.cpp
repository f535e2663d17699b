#include "engine/execution/emulator/worker/shared_memory.h"

#include "engine/execution/emulator/worker/fill.h"

#include <algorithm>
#include <cstring>

namespace kernelskill::engine::emulator {

namespace {

constexpr std::uint64_t cellAlignment = 16;
constexpr std::uint64_t overrunBytes = 1 << 20;

// NOLINTNEXTLINE(performance-no-int-to-ptr)
std::byte* bytesAt(std::uint64_t address) {
    return reinterpret_cast<std::byte*>(address);
}

void poison(AddressRange range) {
    for (std::uint64_t at = 0; at < range.bytes; at += sizeof poisonWord) {
        std::memcpy(bytesAt(range.low + at), &poisonWord,
                    std::min<std::uint64_t>(sizeof poisonWord, range.bytes - at));
    }
}

} // namespace

Result<SharedMemory> SharedMemory::make(AddressRange statics, std::uint64_t dynamicBytes) {
    SharedMemory memory;
    memory.statics_ = statics;
    memory.alignedLow_ = statics.low & ~(cellAlignment - 1);
    const std::uint64_t staticSpan =
        (statics.low + statics.bytes - memory.alignedLow_ + cellAlignment - 1) &
        ~(cellAlignment - 1);
    memory.dynamicOffset_ = statics.bytes == 0 ? 0 : staticSpan;
    memory.dynamicBytes_ = dynamicBytes;
    // Whole pages, so that the base has the 1024-byte alignment the interface promises.
    auto dynamic =
        Reservation::make(((dynamicBytes + pageBytes - 1) & ~(pageBytes - 1)) + overrunBytes,
                          Reservation::Access::Writable);
    if (!dynamic)
        return std::unexpected(dynamic.error());
    memory.dynamic_ = std::move(*dynamic);
    // One more cell group: an access at the last byte may reach over the end before it is refused.
    const std::uint64_t span = memory.dynamicOffset_ + dynamicBytes + cellAlignment;
    memory.cells_.resize(span / 4 + 1);
    memory.written_.resize(span);
    return memory;
}

void SharedMemory::beginBlock() {
    std::fill(written_.begin(), written_.end(), std::uint8_t{0});
    poison(statics_);
    poison(dynamic());
}

void SharedMemory::suspend() {
    saved_.assign(bytesAt(statics_.low), bytesAt(statics_.low) + statics_.bytes);
}

void SharedMemory::resume() {
    if (!saved_.empty())
        std::memcpy(bytesAt(statics_.low), saved_.data(), saved_.size());
}

} // namespace kernelskill::engine::emulator
