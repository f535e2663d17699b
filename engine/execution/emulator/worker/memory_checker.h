/// Checks each access before it happens: whether it is in bounds, aligned, initialised and ordered.
#pragma once

#include "engine/execution/emulator/worker/async_copies.h"
#include "engine/execution/emulator/worker/device_memory.h"
#include "engine/execution/emulator/worker/event_log.h"
#include "engine/execution/emulator/worker/hazard_log.h"
#include "engine/execution/emulator/worker/race_detector.h"
#include "engine/execution/emulator/worker/shared_memory.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine::emulator {

class Launch;

class MemoryChecker {
public:
    MemoryChecker(Launch& launch, DeviceMemory& memory, RaceDetector& races, HazardLog& hazards)
        : launch_(launch), memory_(memory), races_(races), hazards_(hazards) {}

    /// Called after memory is set up. `guessed`: extents or index values are guesses, so no
    /// out-of-bounds access is certain.
    void begin(bool wantHazards, bool guessed, AddressRange heap);
    /// Sets the shared memory of the block that runs from here on.
    void setShared(SharedMemory* shared);
    /// Blocks run interleaved from here on, so times of the race detector no longer distinguish
    /// blocks.
    void stopFollowingBlocks() { followsBlocks_ = false; }

    // Each checks `bytes` bytes at `address`; `site` is that of the access. `isVolatile`: it takes
    // no part in races.
    /// For an address in the arena of buffers.
    template <EventKind kind>
    void checkBuffer(std::uint64_t address, unsigned bytes, std::uint32_t site, unsigned thread,
                     bool isVolatile);
    /// For an address that the block's shared memory reaches.
    template <EventKind kind>
    void checkShared(std::uint64_t address, unsigned bytes, std::uint32_t site, unsigned thread,
                     bool isVolatile);
    [[nodiscard]] bool isShared(std::uint64_t address) const { return shared_->reaches(address); }
    /// The fast path of checkBuffer: returns false, and does nothing else, if a full check is
    /// needed.
    template <EventKind kind>
    bool passBuffer(std::uint64_t address, unsigned bytes, std::uint32_t site, unsigned thread);
    /// For any other address.
    void elsewhere(EventKind kind, std::uint64_t address, unsigned bytes, Site site);
    void misaligned(EventKind kind, std::uint64_t address, unsigned bytes, Site site);

    /// Called for an asynchronous copy into shared memory whose store was checked: from here on no
    /// thread may access its bytes.
    void copyBegins(std::uint64_t address, unsigned bytes);
    /// Stores the copied bytes.
    void copyArrives(const AsyncCopy& copy);

    /// Decides what was open: the value that a conflicting store left, and reads of shared memory
    /// that was not written yet.
    void settleStore();
    void settleUninitialised();
    [[nodiscard]] bool awaitsStore() const { return pendingStore_.has_value(); }

    /// "'x', element 7" or "'tile', byte 12 of it" or "0x7f...".
    [[nodiscard]] std::string describe(std::uint64_t address) const;
    /// "x", "tile", or empty.
    [[nodiscard]] std::string nameOf(std::uint64_t address) const;

private:
    template <EventKind kind>
    static constexpr RaceAccess raceAccess = kind == EventKind::Load    ? RaceAccess::Read
                                             : kind == EventKind::Store ? RaceAccess::Write
                                                                        : RaceAccess::Atomic;
    static bool isWholeWords(std::uint64_t address, unsigned bytes) {
        return ((address | bytes) & 3u) == 0;
    }

    struct PendingStore {
        std::uint64_t address = 0;
        unsigned bytes = 0;
        std::array<unsigned char, 16> before{};
        HazardReport report;
    };
    struct UninitialisedRead {
        std::uint64_t offset = 0;
        unsigned bytes = 0;
        unsigned thread = 0;
        HazardReport report;
    };

    void dependOnOtherBlocks();
    void outOfBuffer(EventKind kind, DeviceMemory::Buffer& buffer, std::uint64_t address,
                     unsigned bytes, Site site);
    void outOfShared(EventKind kind, std::uint64_t address, unsigned bytes, Site site);
    /// Returns false for bytes of shared memory outside variables. Else notes bytes that are read
    /// before they are written, and bytes that are written now.
    bool admit(EventKind kind, std::uint64_t address, std::uint64_t offset, unsigned bytes,
               Site site);
    void touchedUnderWay(EventKind kind, std::uint64_t address, unsigned bytes, Site site);
    void uninitialised(std::uint64_t address, std::uint64_t offset, unsigned bytes, Site site);
    /// The running thread is the first writer of these bytes, so its own earlier reads were
    /// uninitialised.
    void settleOwnReads(std::uint64_t offset, unsigned bytes);
    void conflict(RaceAccess access, std::uint64_t address, unsigned bytes, Site site);
    [[nodiscard]] HazardReport report(HazardKind kind, bool certain, Site site, Site otherSite,
                                      std::string message) const;

    Launch& launch_;
    DeviceMemory& memory_;
    RaceDetector& races_;
    HazardLog& hazards_;
    SharedMemory* shared_ = nullptr;
    AddressRange arena_;
    AddressRange heap_;
    bool wantHazards_ = true;
    bool guessed_ = false;
    bool followsBlocks_ = true;
    std::optional<PendingStore> pendingStore_;
    std::vector<UninitialisedRead> uninitialised_;
};

template <EventKind kind>
[[gnu::always_inline]] inline void MemoryChecker::checkBuffer(std::uint64_t address, unsigned bytes,
                                                              std::uint32_t site, unsigned thread,
                                                              bool isVolatile) {
    constexpr RaceAccess access = raceAccess<kind>;
    if constexpr (kind == EventKind::Atomic)
        dependOnOtherBlocks();
    const std::uint64_t offset = address - arena_.low;
    DeviceMemory::Buffer& buffer = memory_.bufferAt(offset);
    const std::uint64_t at = address - buffer.low;
    if (at >= buffer.limit || buffer.limit - at < bytes) [[unlikely]] {
        outOfBuffer(kind, buffer, address, bytes, site);
        return;
    }
    if (kind != EventKind::Store && at + bytes > buffer.readEnd)
        buffer.readEnd = at + bytes;
    if (kind != EventKind::Load && at + bytes > buffer.writtenEnd)
        buffer.writtenEnd = at + bytes;
    if (!wantHazards_ || isVolatile)
        return;
    RaceDetector::Cell* const cells = memory_.cellsAt(offset);
    if (isWholeWords(address, bytes) &&
        races_.recordWords<access>(cells, bytes / 4, site, thread, followsBlocks_)) [[likely]]
        return;
    if (races_.record<access>(cells, address, bytes, site, thread, followsBlocks_)) [[unlikely]]
        conflict(access, address, bytes, site);
}

template <EventKind kind>
[[gnu::always_inline]] inline bool MemoryChecker::passBuffer(std::uint64_t address, unsigned bytes,
                                                             std::uint32_t site, unsigned thread) {
    const std::uint64_t offset = address - arena_.low;
    DeviceMemory::Buffer& buffer = memory_.bufferAt(offset);
    const std::uint64_t at = address - buffer.low;
    if (at >= buffer.limit || buffer.limit - at < bytes || !wantHazards_) [[unlikely]]
        return false;
    if (kind != EventKind::Store && at + bytes > buffer.readEnd)
        buffer.readEnd = at + bytes;
    if (kind != EventKind::Load && at + bytes > buffer.writtenEnd)
        buffer.writtenEnd = at + bytes;
    return races_.recordWords<raceAccess<kind>>(memory_.cellsAt(offset), bytes / 4, site, thread,
                                                followsBlocks_);
}

template <EventKind kind>
[[gnu::always_inline]] inline void MemoryChecker::checkShared(std::uint64_t address, unsigned bytes,
                                                              std::uint32_t site, unsigned thread,
                                                              bool isVolatile) {
    if (!wantHazards_)
        return;
    constexpr RaceAccess access = raceAccess<kind>;
    const std::uint64_t offset = shared_->offsetOf(address);
    RaceDetector::Cell* const cells = shared_->cellsAt(offset);
    const bool wholeWords = isWholeWords(address, bytes);
    bool isKnown = wholeWords;
    for (unsigned i = 0; wholeWords && i < bytes / 4; ++i)
        isKnown &= races_.wroteInBlock(cells[i]);
    if (!isKnown && !admit(kind, address, offset, bytes, site))
        return;
    if (isVolatile ||
        (wholeWords && races_.recordWords<access>(cells, bytes / 4, site, thread, false)))
        return;
    if (races_.record<access>(cells, address, bytes, site, thread, false)) [[unlikely]]
        conflict(access, address, bytes, site);
}

} // namespace kernelskill::engine::emulator
