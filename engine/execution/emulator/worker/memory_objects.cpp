// The part of MemoryChecker that knows the objects in memory: buffers, arrays and variables.
#include "engine/execution/emulator/worker/launch.h"
#include "engine/execution/emulator/worker/memory_checker.h"

#include <spdlog/fmt/fmt.h>

namespace kernelskill::engine::emulator {

std::string MemoryChecker::describe(std::uint64_t address) const {
    if (arena_.contains(address)) {
        const DeviceMemory::Buffer& buffer = memory_.bufferAt(address - arena_.low);
        return fmt::format("element {} of '{}'", buffer.elementAt(address), buffer.spec.name);
    }
    if (shared_->statics().contains(address)) {
        const std::uint64_t offset = address - shared_->statics().low;
        const SharedVariable* variable = launch_.image().sharedVariableNear(offset);
        return variable == nullptr ? fmt::format("byte {} of the block's shared memory", offset)
                                   : fmt::format("shared '{}'", variable->name);
    }
    if (shared_->dynamic().contains(address))
        return fmt::format("byte {} of the dynamic shared memory",
                           address - shared_->dynamic().low);
    const std::string global = launch_.image().globalNameAt(address);
    return global.empty() ? fmt::format("address 0x{:x}", address) : fmt::format("'{}'", global);
}

std::string MemoryChecker::nameOf(std::uint64_t address) const {
    if (arena_.contains(address))
        return memory_.bufferAt(address - arena_.low).spec.name;
    if (shared_->statics().contains(address)) {
        const SharedVariable* variable =
            launch_.image().sharedVariableNear(address - shared_->statics().low);
        return variable == nullptr ? "" : variable->name;
    }
    return shared_->dynamic().contains(address) ? "" : launch_.image().globalNameAt(address);
}

void MemoryChecker::noteContention(const SyncAccess& access, unsigned thread,
                                   const RaceDetector::Cell& cell) {
    std::uint32_t block = 0;
    if (!races_.meetsAtomic(thread, access.isShared, cell, block))
        return;
    const bool amongBlocks = block != races_.runningBlock();
    if (!contentions_.knows(access.address, amongBlocks))
        contentions_.add(objectAt(access.address), nameOf(access.address), amongBlocks);
}

AddressRange MemoryChecker::objectAt(std::uint64_t address) const {
    if (arena_.contains(address)) {
        const DeviceMemory::Buffer& buffer = memory_.bufferAt(address - arena_.low);
        return {buffer.low, buffer.limit};
    }
    if (shared_->statics().contains(address)) {
        const std::uint64_t low = shared_->statics().low;
        const SharedVariable* variable = launch_.image().sharedVariableNear(address - low);
        return variable == nullptr ? shared_->statics()
                                   : AddressRange{low + variable->offset, variable->bytes};
    }
    if (shared_->dynamic().contains(address))
        return shared_->dynamic();
    for (const AddressRange& global : globalRanges_) {
        if (global.contains(address))
            return global;
    }
    return {address, 1};
}

} // namespace kernelskill::engine::emulator
