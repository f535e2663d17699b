/// Checks each access before it happens: whether it is in bounds, aligned, initialised and ordered.
#pragma once

#include "engine/execution/emulator/worker/async_copies.h"
#include "engine/execution/emulator/worker/contention_log.h"
#include "engine/execution/emulator/worker/device_memory.h"
#include "engine/execution/emulator/worker/event_log.h"
#include "engine/execution/emulator/worker/hazard_log.h"
#include "engine/execution/emulator/worker/race_detector.h"
#include "engine/execution/emulator/worker/shared_memory.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::emulator {

class Launch;

class MemoryChecker {
public:
    MemoryChecker(Launch& launch, DeviceMemory& memory, RaceDetector& races, HazardLog& hazards)
        : launch_(launch), memory_(memory), races_(races), hazards_(hazards) {}

    /// Called after memory is set up. `guessed`: extents or index values are guesses, so no
    /// out-of-bounds access is certain.
    /// `tolerated`: see Job::wantTolerated.
    void begin(bool wantHazards, bool guessed, bool tolerated, AddressRange heap);
    /// Follows the image's `__device__` variables as well. Failed if there is no room.
    [[nodiscard]] Result<void> followGlobals(std::span<const KsGlobal> globals);
    /// Sets the shared memory of the block that runs from here on.
    void setShared(SharedMemory* shared);
    /// The scope of the atomics that are checked from here on.
    void setAtomicScope(SyncScope scope) { atomicScope_ = scope; }
    /// An atomic or volatile access, which may order others. Called before the access is checked.
    void synchronise(SyncAccess access, unsigned thread);
    [[nodiscard]] std::vector<Contention> contentions() const { return contentions_.objects(); }

    // Each checks `bytes` bytes at `address`; `site` is that of the access. `isVolatile`: a read
    // takes no part in races, a write counts as an atomic one.
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
    void elsewhere(EventKind kind, std::uint64_t address, unsigned bytes, Site site,
                   unsigned thread, bool isVolatile);
    void misaligned(EventKind kind, std::uint64_t address, unsigned bytes, Site site);
    /// An index that an array of this type, a variable of the running thread, does not have.
    void beyondLocal(std::string_view type, std::int64_t index, Site site);
    /// An access as this type beyond a variable of the running thread, by a pointer.
    void beyondOwnObject(std::string_view type, Site site);
    /// An access of `bytes` bytes in front of an array of the running thread, or behind it.
    void besideOwnArray(unsigned bytes, Site site);

    /// Called for an asynchronous copy into shared memory whose store was checked: from here on no
    /// thread may access its bytes.
    void copyBegins(std::uint64_t address, unsigned bytes);
    /// Stores the copied bytes.
    void copyArrives(const AsyncCopy& copy);

    /// Decides what was open: the value that a conflicting store left, and reads of shared memory
    /// that was not written yet.
    void settleStore();
    void settleUninitialised();
    /// Called at the running block's end: reports its plain reads beside atomics whose threads did
    /// no atomic there since.
    void settleHints();
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

    /// Calls record() or recordWords() of the detector and reports a conflict.
    template <RaceAccess access>
    void recordRace(RaceDetector::Cell* cells, std::uint64_t address, unsigned bytes,
                    std::uint32_t site, unsigned thread, bool spansBlocks);
    /// The same for the access that `kind` is.
    template <EventKind kind>
    void follow(RaceDetector::Cell* cells, std::uint64_t address, unsigned bytes,
                std::uint32_t site, unsigned thread, bool isVolatile, bool spansBlocks);
    /// Whether the address is in the room behind a `__device__` or `__constant__` variable.
    [[nodiscard]] bool isBehindVariable(std::uint64_t address) const;
    /// The cells of a `__device__` variable; nullptr if the address is in none.
    [[nodiscard]] RaceDetector::Cell* globalCellsAt(std::uint64_t address) const;
    [[nodiscard]] RaceDetector::Cell* cellsOf(std::uint64_t address) const;

    struct PendingStore {
        std::uint64_t address = 0;
        unsigned bytes = 0;
        std::array<unsigned char, 16> before{};
        HazardReport report;
    };
    /// A plain read beside atomics of other threads. If its thread goes on with an atomic there, it
    /// only prepared that.
    struct Hint {
        std::uint64_t address = 0;
        std::uint32_t block = 0;
        unsigned thread = 0;
        HazardReport report;
    };
    struct UninitialisedRead {
        std::uint64_t offset = 0;
        unsigned bytes = 0;
        unsigned thread = 0;
        HazardReport report;
    };

    void dependOnOtherBlocks();
    /// `cell` is the one of the bytes that an atomic will update.
    void noteContention(const SyncAccess& access, unsigned thread, const RaceDetector::Cell& cell);
    /// The range of the buffer, array or variable that contains `address`.
    [[nodiscard]] AddressRange objectAt(std::uint64_t address) const;
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
    bool wantTolerated_ = false;
    SyncScope atomicScope_ = SyncScope::Device;
    AddressRange globals_; ///< From the first to the last `__device__` variable that may change.
    std::vector<AddressRange> globalRanges_; ///< Ascending.
    /// Every `__device__` and `__constant__` variable's; ascending.
    std::vector<AddressRange> variables_;
    Reservation globalCells_;
    std::optional<PendingStore> pendingStore_;
    std::vector<Hint> hints_;
    ContentionLog contentions_;
    std::vector<UninitialisedRead> uninitialised_;
};

template <RaceAccess access>
[[gnu::always_inline]] inline void
MemoryChecker::recordRace(RaceDetector::Cell* cells, std::uint64_t address, unsigned bytes,
                          std::uint32_t site, unsigned thread, bool spansBlocks) {
    if (isWholeWords(address, bytes) &&
        races_.recordWords<access>(cells, bytes / 4, site, thread, spansBlocks)) [[likely]]
        return;
    if (races_.record<access>(cells, address, bytes, site, thread, spansBlocks)) [[unlikely]]
        conflict(access, address, bytes, site);
}

template <EventKind kind>
[[gnu::always_inline]] inline void
MemoryChecker::follow(RaceDetector::Cell* cells, std::uint64_t address, unsigned bytes,
                      std::uint32_t site, unsigned thread, bool isVolatile, bool spansBlocks) {
    if constexpr (kind == EventKind::Atomic) {
        if (atomicScope_ == SyncScope::Block)
            recordRace<RaceAccess::BlockAtomic>(cells, address, bytes, site, thread, spansBlocks);
        else
            recordRace<RaceAccess::Atomic>(cells, address, bytes, site, thread, spansBlocks);
    } else if (!isVolatile) {
        recordRace<raceAccess<kind>>(cells, address, bytes, site, thread, spansBlocks);
    } else if constexpr (kind == EventKind::Store) {
        recordRace<RaceAccess::Atomic>(cells, address, bytes, site, thread, spansBlocks);
    } else if (wantTolerated_ &&
               races_.readsUnordered(cells, address, bytes, site, thread, spansBlocks)) {
        conflict(RaceAccess::Read, address, bytes, site);
    }
}

template <EventKind kind>
[[gnu::always_inline]] inline void MemoryChecker::checkBuffer(std::uint64_t address, unsigned bytes,
                                                              std::uint32_t site, unsigned thread,
                                                              bool isVolatile) {
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
    if (!wantHazards_)
        return;
    follow<kind>(memory_.cellsAt(offset), address, bytes, site, thread, isVolatile, true);
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
                                                true);
}

template <EventKind kind>
[[gnu::always_inline]] inline void MemoryChecker::checkShared(std::uint64_t address, unsigned bytes,
                                                              std::uint32_t site, unsigned thread,
                                                              bool isVolatile) {
    if (!wantHazards_)
        return;
    const std::uint64_t offset = shared_->offsetOf(address);
    RaceDetector::Cell* const cells = shared_->cellsAt(offset);
    const bool wholeWords = isWholeWords(address, bytes);
    bool isKnown = wholeWords;
    for (unsigned i = 0; wholeWords && i < bytes / 4; ++i)
        isKnown &= races_.wroteInBlock(cells[i]);
    if (!isKnown && !admit(kind, address, offset, bytes, site))
        return;
    follow<kind>(cells, address, bytes, site, thread, isVolatile, false);
}

} // namespace kernelskill::engine::emulator
