/// Looks at each access before it happens: is it inside, aligned, initialised, ordered?
#pragma once

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

    /// After memory is laid out. `guessed`: extents or index values are inventions, so nothing out
    /// of bounds is certain.
    void begin(bool wantHazards, bool guessed, AddressRange heap);
    void setShared(SharedMemory* shared) { shared_ = shared; }
    /// Blocks run interleaved from here on, and times of the race detector no longer tell blocks
    /// apart.
    void stopFollowingBlocks() { followsBlocks_ = false; }

    /// `bytes` bytes at `address`; `site` is the access's. `isVolatile`: it takes no part in races.
    template <EventKind kind>
    void check(std::uint64_t address, unsigned bytes, std::uint32_t site, unsigned thread,
               bool isVolatile = false);
    void misaligned(EventKind kind, std::uint64_t address, unsigned bytes, Site site);

    /// Settles what could not be judged when it was seen: the value a conflicting store left, reads
    /// of shared memory that nobody has written yet.
    void settleStore();
    void settleUninitialised();
    [[nodiscard]] bool awaitsStore() const { return pendingStore_.has_value(); }

    /// "'x', element 7" or "'tile', byte 12 of it" or "0x7f...".
    [[nodiscard]] std::string describe(std::uint64_t address) const;

private:
    struct PendingStore {
        std::uint64_t address = 0;
        unsigned bytes = 0;
        std::array<unsigned char, 16> before{};
        HazardReport report;
    };
    struct UninitialisedRead {
        std::uint64_t offset = 0;
        unsigned bytes = 0;
        HazardReport report;
    };

    void outOfBuffer(EventKind kind, DeviceMemory::Buffer& buffer, std::uint64_t address,
                     unsigned bytes, Site site);
    void outOfShared(EventKind kind, std::uint64_t address, unsigned bytes, Site site);
    void elsewhere(EventKind kind, std::uint64_t address, unsigned bytes, Site site);
    void uninitialised(std::uint64_t address, std::uint64_t offset, unsigned bytes, Site site);
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
inline void MemoryChecker::check(std::uint64_t address, unsigned bytes, std::uint32_t site,
                                 unsigned thread, bool isVolatile) {
    constexpr RaceAccess access = kind == EventKind::Load    ? RaceAccess::Read
                                  : kind == EventKind::Store ? RaceAccess::Write
                                                             : RaceAccess::Atomic;
    const std::uint64_t offset = address - arena_.low;
    if (offset < arena_.bytes) {
        DeviceMemory::Buffer& buffer = memory_.bufferAt(offset);
        const std::uint64_t at = address - buffer.low;
        if (at >= buffer.limit || buffer.limit - at < bytes) [[unlikely]] {
            outOfBuffer(kind, buffer, address, bytes, site);
            return;
        }
        if constexpr (kind != EventKind::Store)
            buffer.readEnd = std::max(buffer.readEnd, at + bytes);
        if constexpr (kind != EventKind::Load)
            buffer.writtenEnd = std::max(buffer.writtenEnd, at + bytes);
        if (wantHazards_ && !isVolatile &&
            races_.record<access>(memory_.cellsAt(offset), address, bytes, site, thread,
                                  followsBlocks_)) [[unlikely]]
            conflict(access, address, bytes, site);
        return;
    }
    if (shared_->reaches(address)) {
        if (!wantHazards_)
            return;
        const std::uint64_t sharedOffset = shared_->offsetOf(address);
        if constexpr (kind != EventKind::Store) {
            const SharedMemory::Contents found = shared_->contents(sharedOffset, bytes);
            if (found != SharedMemory::Contents::Written) [[unlikely]] {
                if (found == SharedMemory::Contents::Outside) {
                    outOfShared(kind, address, bytes, site);
                    return;
                }
                uninitialised(address, sharedOffset, bytes, site);
            }
        }
        if constexpr (kind != EventKind::Load) {
            if (!shared_->markWritten(sharedOffset, bytes)) [[unlikely]] {
                outOfShared(kind, address, bytes, site);
                return;
            }
        }
        if (!isVolatile && races_.record<access>(shared_->cellsAt(sharedOffset), address, bytes,
                                                 site, thread, false)) [[unlikely]]
            conflict(access, address, bytes, site);
        return;
    }
    elsewhere(kind, address, bytes, site);
}

} // namespace kernelskill::engine::emulator
