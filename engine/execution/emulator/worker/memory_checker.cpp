#include "engine/execution/emulator/worker/memory_checker.h"

#include "engine/execution/emulator/worker/hook_state.h"
#include "engine/execution/emulator/worker/launch.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace kernelskill::engine::emulator {

namespace {

constexpr std::size_t maxPendingReads = 32;
/// Larger `__device__` variables are not followed.
constexpr std::uint64_t maxGlobalBytes = std::uint64_t{8} << 30;

const char* verb(EventKind kind) {
    switch (kind) {
    case EventKind::Load:
        return "reads";
    case EventKind::Store:
        return "writes";
    default:
        return "updates atomically";
    }
}

const char* verb(RaceAccess access) {
    switch (access) {
    case RaceAccess::Read:
        return "reads";
    case RaceAccess::Write:
        return "writes";
    case RaceAccess::Atomic:
        return "updates atomically";
    case RaceAccess::BlockAtomic:
        return "updates atomically for its block alone";
    }
    return "";
}

const char* pastVerb(RaceAccess access) {
    switch (access) {
    case RaceAccess::Read:
        return "read";
    case RaceAccess::Write:
        return "wrote";
    case RaceAccess::Atomic:
        return "updated atomically";
    case RaceAccess::BlockAtomic:
        return "updated atomically for its block alone";
    }
    return "";
}

/// Ends the message of a race.
std::string_view missingOrder(const RaceConflict& race) {
    if (race.doubt == RaceDoubt::Unfenced)
        return "with no fence after the atomic or volatile read that would order them";
    if (race.doubt == RaceDoubt::Volatile)
        return "both volatile, with no fences and no flag that would order them";
    switch (race.scope) {
    case RaceScope::Warp:
        return "no __syncwarp() or shuffle between them";
    case RaceScope::Block:
        return "no barrier between them";
    case RaceScope::Grid:
        return race.pair == RacePair::AtomicScopes
                   ? "and an atomic of block scope is none for other blocks"
                   : "and nothing orders these blocks: no atomic or volatile flag with fences";
    }
    return "";
}

// NOLINTNEXTLINE(performance-no-int-to-ptr)
const void* bytesAt(std::uint64_t address) {
    return reinterpret_cast<const void*>(address);
}

Dim3 dimOf(KsIndex index) {
    return {index.x, index.y, index.z};
}

} // namespace

void MemoryChecker::begin(bool wantHazards, bool guessed, bool tolerated, AddressRange heap) {
    wantHazards_ = wantHazards;
    guessed_ = guessed;
    wantTolerated_ = tolerated;
    arena_ = memory_.arena();
    heap_ = heap;
}

Result<void> MemoryChecker::followGlobals(std::span<const KsGlobal> globals) {
    for (const KsGlobal& global : globals)
        variables_.push_back({reinterpret_cast<std::uint64_t>(global.address), global.bytes});
    std::ranges::sort(variables_, {}, &AddressRange::low);
    if (!wantHazards_)
        return {};
    for (const KsGlobal& global : globals) {
        if (global.isConstant == 0)
            globalRanges_.push_back(
                {reinterpret_cast<std::uint64_t>(global.address), global.bytes});
    }
    if (globalRanges_.empty())
        return {};
    std::ranges::sort(globalRanges_, {}, &AddressRange::low);
    const std::uint64_t low = globalRanges_.front().low & ~std::uint64_t{15};
    const std::uint64_t bytes = globalRanges_.back().low + globalRanges_.back().bytes - low;
    if (bytes > maxGlobalBytes) {
        globalRanges_.clear();
        return {};
    }
    auto cells = Reservation::make((bytes / 4 + 8) * sizeof(RaceDetector::Cell),
                                   Reservation::Access::Writable);
    if (!cells)
        return std::unexpected(cells.error());
    globalCells_ = std::move(*cells);
    globals_ = {low, bytes};
    return {};
}

bool MemoryChecker::isBehindVariable(std::uint64_t address) const {
    const auto next = std::ranges::upper_bound(variables_, address, {}, &AddressRange::low);
    if (next == variables_.begin())
        return false;
    const AddressRange& variable = *std::prev(next);
    const std::uint64_t distance = address - variable.low;
    return distance >= variable.bytes && distance - variable.bytes < variableRoom;
}

RaceDetector::Cell* MemoryChecker::globalCellsAt(std::uint64_t address) const {
    if (!globals_.contains(address))
        return nullptr;
    const auto next = std::ranges::upper_bound(globalRanges_, address, {}, &AddressRange::low);
    if (next == globalRanges_.begin() || !std::prev(next)->contains(address))
        return nullptr;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    return reinterpret_cast<RaceDetector::Cell*>(
        globalCells_.low() + (address - globals_.low) / 4 * sizeof(RaceDetector::Cell));
}

RaceDetector::Cell* MemoryChecker::cellsOf(std::uint64_t address) const {
    if (!wantHazards_)
        return nullptr;
    if (arena_.contains(address)) {
        const std::uint64_t offset = address - arena_.low;
        const DeviceMemory::Buffer& buffer = memory_.bufferAt(offset);
        return address - buffer.low < buffer.limit ? memory_.cellsAt(offset) : nullptr;
    }
    if (shared_->reaches(address))
        return shared_->cellsAt(shared_->offsetOf(address));
    return globalCellsAt(address);
}

void MemoryChecker::synchronise(SyncAccess access, unsigned thread) {
    if (!wantHazards_)
        return;
    access.isShared = shared_->reaches(access.address);
    // The thread's own atomic checks what it read there plainly.
    if (!hints_.empty() && access.reads && access.writes) {
        std::erase_if(hints_, [&](const Hint& hint) {
            return hint.address == access.address && hint.thread == thread &&
                   hint.block == races_.runningBlock();
        });
    }
    const RaceDetector::Cell* const cell = cellsOf(access.address);
    if (cell != nullptr && access.reads && access.writes)
        noteContention(access, thread, *cell);
    races_.synchronise(thread, access, cell);
}

void MemoryChecker::setShared(SharedMemory* shared) {
    shared_ = shared;
    hookState.staticShared = wantHazards_ ? shared->followedStatics() : FollowedRange{};
    hookState.dynamicShared = wantHazards_ ? shared->followedDynamic() : FollowedRange{};
}

HazardReport MemoryChecker::report(HazardKind kind, bool certain, Site site, Site otherSite,
                                   std::string message) const {
    const CudaBlock& block = launch_.block();
    return {kind,
            certain,
            site,
            otherSite,
            std::move(message),
            dimOf(block.index()),
            dimOf(block.threadIndex(block.runningThread())),
            {}};
}

void MemoryChecker::dependOnOtherBlocks() {
    launch_.dependOnOtherBlocks();
}

void MemoryChecker::outOfBuffer(EventKind kind, DeviceMemory::Buffer& buffer, std::uint64_t address,
                                unsigned bytes, Site site) {
    dependOnOtherBlocks();
    const std::int64_t element = buffer.elementAt(address);
    if (!hazards_.isNew(HazardKind::OutOfBounds, site, 0, false, element < 0))
        return;
    const std::string size =
        buffer.spec.elements ? fmt::format("which has {} elements", *buffer.spec.elements)
        : element < 0        ? std::string("before its first")
                             : fmt::format("which is {} GiB from its start", element >> 28);
    HazardReport hazard =
        report(HazardKind::OutOfBounds, !guessed_, site, 0,
               fmt::format("{} {} {} bytes at element {} of '{}', {}", launch_.runningThread(),
                           verb(kind), bytes, element, buffer.spec.name, size));
    hazard.details.object = buffer.spec.name;
    hazard.details.element = element;
    hazards_.add(std::move(hazard));
}

void MemoryChecker::outOfShared(EventKind kind, std::uint64_t address, unsigned bytes, Site site) {
    if (!hazards_.isNew(HazardKind::OutOfBounds, site, 0))
        return;
    const std::uint64_t offset = address - shared_->statics().low;
    const SharedVariable* variable =
        shared_->statics().contains(address) ? launch_.image().sharedVariableNear(offset) : nullptr;
    std::string place;
    if (variable == nullptr) {
        place = fmt::format("at byte {} of the dynamic shared memory, but the launch gives {} "
                            "bytes of dynamic shared memory",
                            address - shared_->dynamic().low, shared_->dynamic().bytes);
    } else if (offset < variable->offset) {
        place = fmt::format("{} bytes before shared '{}', which has {} bytes",
                            variable->offset - offset, variable->name, variable->bytes);
    } else {
        place = fmt::format("at byte {} of shared '{}', which has {} bytes",
                            offset - variable->offset, variable->name, variable->bytes);
    }
    // A guessed block may be larger than the kernel was written for.
    HazardReport hazard = report(
        HazardKind::OutOfBounds, launch_.job().launch.origin != LaunchOrigin::Guessed, site, 0,
        fmt::format("{} {} {} bytes {}", launch_.runningThread(), verb(kind), bytes, place));
    hazard.details.object = variable == nullptr ? "" : variable->name;
    hazards_.add(std::move(hazard));
}

bool MemoryChecker::admit(EventKind kind, std::uint64_t address, std::uint64_t offset,
                          unsigned bytes, Site site) {
    if (shared_->isUnderWay(offset, bytes)) {
        touchedUnderWay(kind, address, bytes, site);
        return true;
    }
    if (kind != EventKind::Store) {
        const SharedMemory::Contents found = shared_->contents(offset, bytes);
        if (found == SharedMemory::Contents::Outside) {
            outOfShared(kind, address, bytes, site);
            return false;
        }
        if (found == SharedMemory::Contents::Unwritten)
            uninitialised(address, offset, bytes, site);
    }
    if (kind != EventKind::Load && !uninitialised_.empty())
        settleOwnReads(offset, bytes);
    if (kind != EventKind::Load && !shared_->markWritten(offset, bytes)) {
        outOfShared(kind, address, bytes, site);
        return false;
    }
    return true;
}

void MemoryChecker::touchedUnderWay(EventKind kind, std::uint64_t address, unsigned bytes,
                                    Site site) {
    const AsyncCopy* copy = launch_.copyUnderWayTo(address, bytes);
    // Two stores of one value do no harm.
    const bool certain = kind == EventKind::Load;
    if (copy == nullptr || !hazards_.isNew(HazardKind::Race, site, copy->site, certain))
        return;
    const KsIndex index = launch_.block().threadIndex(copy->thread);
    HazardReport hazard =
        report(HazardKind::Race, certain, site, copy->site,
               fmt::format("{} {} {} while the asynchronous copy of thread ({},{},{}) of it at {} "
                           "is under way, which that thread has not waited for",
                           launch_.runningThread(), verb(kind), describe(address), index.x, index.y,
                           index.z, siteReference(copy->site)));
    hazard.details.object = nameOf(address);
    hazard.details.scope = RaceScope::Block;
    hazard.details.other = ThreadPlace{dimOf(launch_.block().index()), dimOf(index)};
    hazards_.add(std::move(hazard));
}

void MemoryChecker::copyBegins(std::uint64_t address, unsigned bytes) {
    if (!wantHazards_)
        return;
    const std::uint64_t offset = shared_->offsetOf(address);
    if (shared_->contents(offset, bytes) == SharedMemory::Contents::Written) // So it is inside.
        shared_->markUnderWay(offset, bytes);
}

void MemoryChecker::copyArrives(const AsyncCopy& copy) {
    const std::uint64_t offset = shared_->offsetOf(copy.address);
    if (wantHazards_ && shared_->markWritten(offset, copy.bytes) &&
        races_.record<RaceAccess::Write>(shared_->cellsAt(offset), copy.address, copy.bytes,
                                         static_cast<std::uint32_t>(copy.site), copy.thread, false))
        conflict(RaceAccess::Write, copy.address, copy.bytes, copy.site);
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    std::memcpy(reinterpret_cast<void*>(copy.address), copy.value.data(), copy.bytes);
}

void MemoryChecker::elsewhere(EventKind kind, std::uint64_t address, unsigned bytes, Site site,
                              unsigned thread, bool isVolatile) {
    if (kind != EventKind::Load)
        dependOnOtherBlocks();
    if (RaceDetector::Cell* const cells = globalCellsAt(address)) {
        const auto place = static_cast<std::uint32_t>(site);
        if (kind == EventKind::Load)
            follow<EventKind::Load>(cells, address, bytes, place, thread, isVolatile, true);
        else if (kind == EventKind::Store)
            follow<EventKind::Store>(cells, address, bytes, place, thread, isVolatile, true);
        else
            follow<EventKind::Atomic>(cells, address, bytes, place, thread, isVolatile, true);
        return;
    }
    const bool isBehind = isBehindVariable(address);
    if (!isBehind && (launch_.image().contains(address) || heap_.contains(address)))
        return;
    const std::string place =
        address < pageBytes ? fmt::format("address 0x{:x}, a null pointer", address)
        : isBehind          ? fmt::format("address 0x{:x}, behind the end of a variable of "
                                          "the file",
                                          address)
                            : fmt::format("address 0x{:x}, which is in no buffer and in no "
                                          "shared array",
                                          address);
    launch_.fail({ErrorKind::Failed,
                  fmt::format("out of bounds: {} {} {} bytes at {}", launch_.runningThread(),
                              verb(kind), bytes, place),
                  "", "check the index or the pointer on that line", site});
}

void MemoryChecker::misaligned(EventKind kind, std::uint64_t address, unsigned bytes, Site site) {
    if (!wantHazards_ || !hazards_.isNew(HazardKind::Misaligned, site, 0))
        return;
    HazardReport hazard =
        report(HazardKind::Misaligned, true, site, 0,
               fmt::format("{} {} {} bytes at {}, whose address is not a multiple of {}",
                           launch_.runningThread(), verb(kind), bytes, describe(address), bytes));
    hazard.details.object = nameOf(address);
    hazards_.add(std::move(hazard));
}

void MemoryChecker::beyondLocal(std::string_view type, std::int64_t index, Site site) {
    if (!wantHazards_ || !hazards_.isNew(HazardKind::OutOfBounds, site, 0))
        return;
    hazards_.add(report(HazardKind::OutOfBounds, !guessed_, site, 0,
                        fmt::format("{} uses element {} of an array of its own of type {}",
                                    launch_.runningThread(), index, type)));
}

void MemoryChecker::beyondOwnObject(std::string_view type, Site site) {
    if (!wantHazards_ || !hazards_.isNew(HazardKind::OutOfBounds, site, 0))
        return;
    hazards_.add(report(HazardKind::OutOfBounds, !guessed_, site, 0,
                        fmt::format("{} uses a {} beyond an array of its own, by a pointer",
                                    launch_.runningThread(), type)));
}

void MemoryChecker::besideOwnArray(unsigned bytes, Site site) {
    if (!wantHazards_ || !hazards_.isNew(HazardKind::OutOfBounds, site, 0))
        return;
    hazards_.add(report(HazardKind::OutOfBounds, !guessed_, site, 0,
                        fmt::format("{} uses {} bytes beyond an array of its own, by a pointer",
                                    launch_.runningThread(), bytes)));
}

void MemoryChecker::uninitialised(std::uint64_t address, std::uint64_t offset, unsigned bytes,
                                  Site site) {
    if (uninitialised_.size() == maxPendingReads ||
        !hazards_.isNew(HazardKind::UninitializedRead, site, 0))
        return;
    // Bytes that are never used may be undefined: padding of a vector, the tail of a row.
    uninitialised_.push_back(
        {offset, bytes, launch_.block().runningThread(),
         report(HazardKind::UninitializedRead, shared_->writtenBytes(offset, bytes) == 0, site, 0,
                fmt::format("{} reads {}, which no thread of the block has written",
                            launch_.runningThread(), describe(address)))});
    uninitialised_.back().report.details.object = nameOf(address);
}

void MemoryChecker::settleOwnReads(std::uint64_t offset, unsigned bytes) {
    if (shared_->writtenBytes(offset, bytes) != 0)
        return;
    const unsigned thread = launch_.block().runningThread();
    std::erase_if(uninitialised_, [&](UninitialisedRead& read) {
        if (read.thread != thread || read.offset + read.bytes <= offset ||
            offset + bytes <= read.offset)
            return false;
        hazards_.add(std::move(read.report));
        return true;
    });
}

void MemoryChecker::settleUninitialised() {
    for (UninitialisedRead& read : uninitialised_) {
        // Another thread has written it meanwhile: the order is wrong, which is reported as a race.
        if (shared_->writtenBytes(read.offset, read.bytes) != read.bytes)
            hazards_.add(std::move(read.report));
    }
    uninitialised_.clear();
}

void MemoryChecker::conflict(RaceAccess access, std::uint64_t address, unsigned bytes, Site site) {
    const RaceConflict found = races_.conflict();
    HazardDetails details;
    // Guessed indices may collide where real ones never do.
    details.doubt = found.certain() && guessed_ && arena_.contains(address)
                        ? RaceDoubt::GuessedIndices
                        : found.doubt;
    const bool certain = details.doubt == RaceDoubt::None;
    if (details.doubt == RaceDoubt::Unfenced && !wantTolerated_)
        return;
    if (!hazards_.isNew(HazardKind::Race, site, found.site, certain))
        return;
    details.object = nameOf(address);
    details.scope = found.scope;
    details.pair = found.pair;
    std::string other = "another thread of it";
    if (found.threadKnown || found.scope == RaceScope::Grid) {
        const KsIndex index = launch_.block().threadIndex(found.thread);
        const Dim3 block = found.scope == RaceScope::Grid ? launch_.startedBlock(found.block)
                                                          : dimOf(launch_.block().index());
        details.other = ThreadPlace{block, dimOf(index)};
        other = fmt::format("thread ({},{},{}) of ", index.x, index.y, index.z);
        other += found.scope == RaceScope::Grid
                     ? fmt::format("block ({},{},{})", block.x, block.y, block.z)
                     : "it";
    }
    HazardReport hazard =
        report(HazardKind::Race, certain, site, found.site,
               fmt::format("{} {} {}, which {} {} at {}, {}", launch_.runningThread(), verb(access),
                           describe(address), other, pastVerb(found.earlier),
                           siteReference(found.site), missingOrder(found)));
    hazard.details = std::move(details);
    if (access == RaceAccess::Write && found.earlier == RaceAccess::Write) {
        // Two stores of one value do no harm: wait for the value of this one.
        if (bytes > sizeof(PendingStore::before) || pendingStore_)
            return;
        PendingStore& pending = pendingStore_.emplace();
        pending.address = address;
        pending.bytes = bytes;
        pending.report = std::move(hazard);
        std::memcpy(pending.before.data(), bytesAt(address), bytes);
        hookState.limit = hookState.row;
        return;
    }
    if (access == RaceAccess::Read && found.pair == RacePair::AtomicRead &&
        hints_.size() < maxPendingReads) {
        hints_.push_back(
            {address, races_.runningBlock(), launch_.block().runningThread(), std::move(hazard)});
        return;
    }
    hazards_.add(std::move(hazard));
}

void MemoryChecker::settleHints() {
    std::erase_if(hints_, [&](Hint& hint) {
        if (hint.block != races_.runningBlock())
            return false;
        hazards_.add(std::move(hint.report));
        return true;
    });
}

void MemoryChecker::settleStore() {
    if (!pendingStore_)
        return;
    if (std::memcmp(pendingStore_->before.data(), bytesAt(pendingStore_->address),
                    pendingStore_->bytes) != 0)
        hazards_.add(std::move(pendingStore_->report));
    pendingStore_.reset();
}

} // namespace kernelskill::engine::emulator
