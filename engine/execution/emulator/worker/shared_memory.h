/// A block's shared memory: the image's thread-local segment (`__shared__` variables) and the
/// dynamic part, with a shadow that knows which bytes are a variable's, which of them were ever
/// written and who touched them last.
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
    /// `statics`: the segment as it lies in memory on this thread; may be empty. `variables`: the
    /// parts of it that a kernel may touch.
    [[nodiscard]] static Result<SharedMemory>
    make(AddressRange statics, std::vector<AddressRange> variables, std::uint64_t dynamicBytes);

    /// Poisons everything: what a block finds in shared memory is garbage. For each block anew.
    void beginBlock();
    /// Blocks that are alive together share the segment's addresses: its bytes step aside for
    /// another block.
    void suspend();
    void resume();

    [[nodiscard]] AddressRange statics() const { return statics_; }
    [[nodiscard]] AddressRange dynamic() const { return {dynamic_.low(), dynamicBytes_}; }
    /// Whether the address lies in shared memory or in the room around a variable, where a kernel
    /// that overruns it does no harm.
    [[nodiscard]] bool reaches(std::uint64_t address) const {
        return statics_.contains(address) || dynamic_.range().contains(address);
    }
    /// Offset in the shadow of an address that reaches() is true of; dynamic memory follows the
    /// statics.
    [[nodiscard]] std::uint64_t offsetOf(std::uint64_t address) const {
        return statics_.contains(address) ? address - alignedLow_
                                          : dynamicOffset_ + (address - dynamic_.low());
    }
    /// What the instrumentation needs to find the cells of `statics()` and of `dynamic()` by
    /// itself.
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
        Outside,   ///< Some byte is no variable's.
    };
    [[nodiscard]] Contents contents(std::uint64_t offset, unsigned bytes) const;
    /// Whether the bytes are all of variables; then they are written from now on.
    bool markWritten(std::uint64_t offset, unsigned bytes);
    /// An asynchronous copy will write the bytes: they count as not written, and every access to
    /// them as one that needs a second look, until markWritten().
    void markUnderWay(std::uint64_t offset, unsigned bytes);
    [[nodiscard]] bool isUnderWay(std::uint64_t offset, unsigned bytes) const;
    /// How many of the bytes were written since the block began.
    [[nodiscard]] unsigned writtenBytes(std::uint64_t offset, unsigned bytes) const;

private:
    // States of bytes: bits, so that the pages of zeros behind a reservation are nobody's.
    static constexpr std::uint8_t inside = 1;
    static constexpr std::uint8_t written = 2;
    static constexpr std::uint8_t underWay = 4;
    static constexpr std::uint64_t eachByte = 0x0101010101010101;

    [[nodiscard]] std::uint8_t* statesAt(std::uint64_t offset) const {
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        return reinterpret_cast<std::uint8_t*>(states_.low() + offset);
    }
    /// Of up to 8 bytes, with ones in place of those that are missing.
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
