/// A block's shared memory: the image's thread-local segment (`__shared__` variables) and the
/// dynamic part, with a shadow that knows which bytes were ever written and who touched them last.
#pragma once

#include "engine/execution/emulator/worker/address_space.h"
#include "engine/execution/emulator/worker/race_detector.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelskill::engine::emulator {

class SharedMemory {
public:
    /// `statics`: the segment as it lies in memory on this thread; may be empty.
    [[nodiscard]] static Result<SharedMemory> make(AddressRange statics,
                                                   std::uint64_t dynamicBytes);

    /// Poisons everything: what a block finds in shared memory is garbage.
    void beginBlock();
    /// Blocks that are alive together share the segment's addresses: its bytes step aside for
    /// another block.
    void suspend();
    void resume();

    [[nodiscard]] AddressRange statics() const { return statics_; }
    [[nodiscard]] AddressRange dynamic() const { return {dynamic_.low(), dynamicBytes_}; }
    /// Whether the address lies in the room behind the dynamic part, where a kernel that overruns
    /// it does no harm.
    [[nodiscard]] bool isOverrun(std::uint64_t address) const {
        return dynamic_.range().contains(address) && !dynamic().contains(address);
    }
    /// Offset in the shadow of an address of either range; dynamic memory follows the statics.
    [[nodiscard]] std::uint64_t offsetOf(std::uint64_t address) const {
        return statics_.contains(address) ? address - alignedLow_
                                          : dynamicOffset_ + (address - dynamic_.low());
    }
    [[nodiscard]] RaceDetector::Cell* cellsAt(std::uint64_t offset) { return &cells_[offset / 4]; }

    void markWritten(std::uint64_t offset, unsigned bytes);
    /// How many of the bytes were written since the block began.
    [[nodiscard]] unsigned writtenBytes(std::uint64_t offset, unsigned bytes) const;

private:
    AddressRange statics_;
    std::uint64_t alignedLow_ = 0;
    Reservation dynamic_;
    std::uint64_t dynamicBytes_ = 0;
    std::uint64_t dynamicOffset_ = 0;
    std::vector<RaceDetector::Cell> cells_;
    std::vector<std::uint8_t> written_;
    std::vector<std::byte> saved_;
};

inline void SharedMemory::markWritten(std::uint64_t offset, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i)
        written_[offset + i] = 1;
}

inline unsigned SharedMemory::writtenBytes(std::uint64_t offset, unsigned bytes) const {
    unsigned count = 0;
    for (unsigned i = 0; i < bytes; ++i)
        count += written_[offset + i];
    return count;
}

} // namespace kernelskill::engine::emulator
