#include "engine/execution/emulator/worker/shared_memory.h"

#include "engine/execution/buffer_fill.h"

#include <algorithm>
#include <utility>

namespace kernelskill::engine::emulator {

namespace {

constexpr std::uint64_t cellAlignment = 16;
constexpr std::uint64_t overrunBytes = 1 << 20;
/// The widest access that is checked byte by byte before it is refused.
constexpr std::uint64_t widestAccess = 256;

// NOLINTNEXTLINE(performance-no-int-to-ptr)
std::byte* bytesAt(std::uint64_t address) {
    return reinterpret_cast<std::byte*>(address);
}

std::uint64_t wholePages(std::uint64_t bytes) {
    return (bytes + pageBytes - 1) & ~(pageBytes - 1);
}

void poison(AddressRange range) {
    for (std::uint64_t at = 0; at < range.bytes; at += sizeof poisonWord) {
        std::memcpy(bytesAt(range.low + at), &poisonWord,
                    std::min<std::uint64_t>(sizeof poisonWord, range.bytes - at));
    }
}

} // namespace

Result<SharedMemory> SharedMemory::make(AddressRange statics, std::vector<AddressRange> variables,
                                        std::uint64_t dynamicBytes) {
    SharedMemory memory;
    memory.statics_ = statics;
    memory.variables_ = std::move(variables);
    memory.alignedLow_ = statics.low & ~(cellAlignment - 1);
    const std::uint64_t staticSpan =
        (statics.low + statics.bytes - memory.alignedLow_ + cellAlignment - 1) &
        ~(cellAlignment - 1);
    memory.dynamicOffset_ = statics.bytes == 0 ? 0 : staticSpan;
    memory.dynamicBytes_ = dynamicBytes;
    // Whole pages, so that the base has the 1024-byte alignment that the interface promises.
    auto dynamic =
        Reservation::make(wholePages(dynamicBytes) + overrunBytes, Reservation::Access::Writable);
    if (!dynamic)
        return std::unexpected(dynamic.error());
    memory.dynamic_ = std::move(*dynamic);
    const std::uint64_t span = memory.dynamicOffset_ + memory.dynamic_.bytes() + widestAccess;
    auto cells = Reservation::make(wholePages(span / 4 * sizeof(RaceDetector::Cell)),
                                   Reservation::Access::Writable);
    auto states = Reservation::make(wholePages(span), Reservation::Access::Writable);
    if (!cells || !states)
        return std::unexpected(!cells ? cells.error() : states.error());
    memory.cells_ = std::move(*cells);
    memory.states_ = std::move(*states);
    return memory;
}

void SharedMemory::begin(AddressRange range) {
    std::memset(statesAt(offsetOf(range.low)), inside, range.bytes);
    poison(range);
}

void SharedMemory::beginBlock() {
    for (const AddressRange& variable : variables_)
        begin(variable);
    begin(dynamic());
}

void SharedMemory::markUnderWay(std::uint64_t offset, unsigned bytes) {
    std::memset(statesAt(offset), inside | underWay, bytes);
    for (std::uint64_t at = offset & ~std::uint64_t{3}; at < offset + bytes; at += 4)
        cellsAt(at)->write = 0;
}

bool SharedMemory::isUnderWay(std::uint64_t offset, unsigned bytes) const {
    const std::uint8_t* const first = statesAt(offset);
    return std::any_of(first, first + bytes,
                       [](std::uint8_t state) { return (state & underWay) != 0; });
}

void SharedMemory::suspend() {
    saved_.clear();
    for (const AddressRange& variable : variables_)
        saved_.insert(saved_.end(), bytesAt(variable.low), bytesAt(variable.low + variable.bytes));
}

void SharedMemory::resume() {
    std::size_t at = 0;
    for (const AddressRange& variable : variables_) {
        if (at + variable.bytes <= saved_.size())
            std::memcpy(bytesAt(variable.low), saved_.data() + at, variable.bytes);
        at += variable.bytes;
    }
}

} // namespace kernelskill::engine::emulator
