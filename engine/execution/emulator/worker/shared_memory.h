/// A block's shared memory: the image's thread-local segment (`__shared__` variables) and the
/// dynamic part. A shadow tells which bytes belong to variables, which were written, and who
/// accessed them last.
#pragma once

#include "engine/execution/emulator/worker/address_space.h"
#include "engine/execution/emulator/worker/hook_state.h"
#include "engine/execution/emulator/worker/race_detector.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace kernelskill::engine::emulator {

class SharedMemory {
public:
    /// `statics` is the segment in this thread's memory; may be empty. `variables` are the parts of
    /// it that a kernel may access.
    [[nodiscard]] static Result<SharedMemory>
    make(AddressRange statics, std::vector<AddressRange> variables, std::uint64_t dynamicBytes);

    /// Poisons everything, because shared memory is undefined at a block's start. Called for each
    /// block.
    void beginBlock();
    /// Blocks that are alive together share the segment's addresses: saves the bytes to make room
    /// for another block.
    void suspend();
    void resume();

    [[nodiscard]] AddressRange statics() const { return statics_; }
    [[nodiscard]] AddressRange dynamic() const { return {dynamic_.low(), dynamicBytes_}; }
    /// Whether the address is in shared memory, or in the unused room around a variable, where an
    /// overrun does no harm.
    [[nodiscard]] bool reaches(std::uint64_t address) const {
        return statics_.contains(address) || dynamic_.range().contains(address);
    }
    /// The shadow's offset of an address for which reaches() is true. Dynamic memory follows the
    /// statics.
    [[nodiscard]] std::uint64_t offsetOf(std::uint64_t address) const {
        return statics_.contains(address) ? address - alignedLow_
                                          : dynamicOffset_ + (address - dynamic_.low());
    }
    /// The data from which the instrumentation computes the cells of `statics()` and `dynamic()`.
    [[nodiscard]] FollowedRange followedStatics() const {
        return {statics_, cells_.low() - alignedLow_ * 4};
    }
    [[nodiscard]] FollowedRange followedDynamic() const {
        return {dynamic(), cells_.low() + (dynamicOffset_ - dynamic_.low()) * 4};
    }
    [[nodiscard]] RaceDetector::Cell* cellsAt(std::uint64_t offset) const {
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        return reinterpret_cast<RaceDetector::Cell*>(cells_.low() +
                                                     offset / 4 * sizeof(RaceDetector::Cell));
    }

    enum class Contents : std::uint8_t {
        Written,
        Unwritten, ///< Some byte was not written since the block began.
        Outside,   ///< Some byte belongs to no variable.
    };
    [[nodiscard]] Contents contents(std::uint64_t offset, unsigned bytes) const;
    /// Returns whether all bytes belong to variables; if so, marks them as written.
    bool markWritten(std::uint64_t offset, unsigned bytes);
    /// An asynchronous copy will write the bytes. Until markWritten() they count as unwritten, and
    /// each access to them takes the slow path.
    void markUnderWay(std::uint64_t offset, unsigned bytes);
    [[nodiscard]] bool isUnderWay(std::uint64_t offset, unsigned bytes) const;
    /// The number of these bytes that were written since the block began.
    [[nodiscard]] unsigned writtenBytes(std::uint64_t offset, unsigned bytes) const;

private:
    // States of a byte. They are bits, so that the zeroed pages of a reservation mean no variable.
    static constexpr std::uint8_t inside = 1;
    static constexpr std::uint8_t written = 2;
    static constexpr std::uint8_t underWay = 4;
    static constexpr std::uint64_t eachByte = 0x0101010101010101;

    [[nodiscard]] std::uint8_t* statesAt(std::uint64_t offset) const {
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        return reinterpret_cast<std::uint8_t*>(states_.low() + offset);
    }
    /// The states of up to 8 bytes; missing bytes are filled with ones.
    [[nodiscard]] std::uint64_t states(std::uint64_t offset, unsigned bytes) const;
    void begin(AddressRange range);

    AddressRange statics_;
    std::vector<AddressRange> variables_;
    std::uint64_t alignedLow_ = 0;
    Reservation dynamic_;
    std::uint64_t dynamicBytes_ = 0;
    std::uint64_t dynamicOffset_ = 0;
    Reservation cells_;
    Reservation states_;
    std::vector<std::byte> saved_;
};

inline std::uint64_t SharedMemory::states(std::uint64_t offset, unsigned bytes) const {
    std::uint64_t word = ~std::uint64_t{0};
    switch (bytes) {
    case 1:
        std::memcpy(&word, statesAt(offset), 1);
        break;
    case 2:
        std::memcpy(&word, statesAt(offset), 2);
        break;
    case 4:
        std::memcpy(&word, statesAt(offset), 4);
        break;
    default:
        std::memcpy(&word, statesAt(offset), bytes < 8 ? bytes : 8);
        break;
    }
    return word;
}

inline SharedMemory::Contents SharedMemory::contents(std::uint64_t offset, unsigned bytes) const {
    std::uint64_t all = ~std::uint64_t{0};
    for (unsigned done = 0; done < bytes; done += 8)
        all &= states(offset + done, bytes - done);
    if ((all & (written * eachByte)) == written * eachByte)
        return Contents::Written;
    return (all & (inside * eachByte)) == inside * eachByte ? Contents::Unwritten
                                                            : Contents::Outside;
}

inline bool SharedMemory::markWritten(std::uint64_t offset, unsigned bytes) {
    std::uint64_t all = ~std::uint64_t{0};
    for (unsigned done = 0; done < bytes; done += 8)
        all &= states(offset + done, bytes - done);
    if ((all & (inside * eachByte)) != inside * eachByte)
        return false;
    std::memset(statesAt(offset), inside | written, bytes);
    return true;
}

inline unsigned SharedMemory::writtenBytes(std::uint64_t offset, unsigned bytes) const {
    unsigned count = 0;
    for (unsigned i = 0; i < bytes; ++i)
        count += (statesAt(offset)[i] & written) != 0 ? 1 : 0;
    return count;
}

} // namespace kernelskill::engine::emulator
