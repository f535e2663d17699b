/// The buffers behind a kernel's pointers.
///
/// Each buffer has its own slot of a reserved arena and begins a quarter into it, so that offsets
/// on both sides do not reach its neighbours. Pages appear, already filled, on first access. So
/// sparse accesses to a large buffer cost only the touched pages, and a buffer of unknown extent
/// costs none.
#pragma once

#include "analysis/prelude/include/kernelskill/emulation_support.h"
#include "analysis/source/error.h"
#include "engine/execution/captured_data.h"
#include "engine/execution/emulator/wire/wire.h"
#include "engine/execution/emulator/worker/address_space.h"
#include "engine/execution/emulator/worker/race_detector.h"
#include "engine/execution/job.h"
#include "engine/execution/profile.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kernelskill::engine::emulator {

class DeviceMemory {
public:
    struct Buffer {
        BufferSpec spec;
        std::size_t position = 0; ///< Index among the launch's arguments.
        std::uint64_t seed = 0;
        std::uint64_t low = 0;     ///< Address of element 0.
        std::uint64_t limit = 0;   ///< Bytes that may be accessed.
        std::uint64_t readEnd = 0; ///< One past the last byte read, relative to `low`.
        std::uint64_t writtenEnd = 0;
        std::span<const std::byte> captured; ///< Only for Fill::Captured.
        std::vector<KsField> fields;         ///< The fields of its class; empty for plain numbers.
        std::vector<std::uint64_t> present;  ///< One bit for each chunk of the slot.

        /// Where element 0 lies in the slot.
        [[nodiscard]] std::uint64_t begin() const {
            return lead + std::uint64_t{spec.shift} * spec.elementBytes;
        }
        /// The distance from element 0 in elements, rounded towards minus infinity.
        [[nodiscard]] std::int64_t elementAt(std::uint64_t address) const {
            const auto distance = static_cast<std::int64_t>(address - low);
            const auto size = static_cast<std::int64_t>(spec.elementBytes);
            return distance >= 0 ? distance / size : -((-distance + size - 1) / size);
        }
    };

    enum class Fault : std::uint8_t { Provided, NotOurs, OverBudget };

    /// `shadow`: with cells for the race detector. InvalidInput if there are too many buffers, or
    /// too large ones, for the address space.
    [[nodiscard]] static Result<DeviceMemory> make(const LaunchSpec& launch, std::uint64_t seed,
                                                   std::uint64_t budgetBytes, bool shadow);

    [[nodiscard]] AddressRange arena() const { return arena_.range(); }
    /// `offset` is relative to the arena's low end.
    [[nodiscard]] Buffer& bufferAt(std::uint64_t offset) { return buffers_[offset >> slotShift]; }
    [[nodiscard]] std::vector<Buffer>& buffers() { return buffers_; }
    [[nodiscard]] const std::vector<Buffer>& buffers() const { return buffers_; }
    [[nodiscard]] RaceDetector::Cell* cellsAt(std::uint64_t offset) const {
        // NOLINTNEXTLINE(performance-no-int-to-ptr)
        return reinterpret_cast<RaceDetector::Cell*>(shadow_.low() + (offset >> 2) * cellBytes);
    }

    /// Makes later pages of argument `position`, an array of a class, be filled by its fields.
    void setFields(std::size_t position, std::span<const KsField> fields);

    /// Gives the buffers at these positions the captured contents.
    void setCaptured(CapturedContents contents);

    /// Makes the page at `address` usable. Async-signal-safe.
    [[nodiscard]] Fault provide(std::uint64_t address);

    /// `bytes` bytes of the buffer from `offset` on, a multiple of 16. Failed if they exceed the
    /// memory budget.
    [[nodiscard]] Result<std::vector<std::byte>>
    contents(const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes) const;

    /// The words of four bytes that were written, and those that were read, as places relative to
    /// the arena's low end. Uses the race detector's cells. Returns false if there are more than
    /// `most` intervals.
    [[nodiscard]] bool findTouched(std::size_t most, std::vector<Interval>& written,
                                   std::vector<Interval>& read) const;

    /// The elements that the run accessed, or the extent that the caller gave.
    [[nodiscard]] static BufferExtent extentOf(const Buffer& buffer);

private:
    static constexpr unsigned slotShift = 35; // 32 GiB
    static constexpr std::uint64_t slotBytes = std::uint64_t{1} << slotShift;
    static constexpr std::uint64_t lead = slotBytes / 4;
    static constexpr std::uint64_t chunkBytes = 64 << 10;
    static constexpr std::uint64_t cellBytes = sizeof(RaceDetector::Cell);
    static constexpr std::size_t maxBuffers = 64;

    [[nodiscard]] Fault provideChunk(std::uint64_t offset);
    static void fill(const Buffer& buffer, std::uint64_t offset, std::span<std::byte> bytes);

    Reservation arena_;
    Reservation shadow_;
    std::vector<Buffer> buffers_;
    CapturedContents captured_;
    std::uint64_t budgetBytes_ = 0;
    std::uint64_t usedBytes_ = 0;
};

} // namespace kernelskill::engine::emulator
