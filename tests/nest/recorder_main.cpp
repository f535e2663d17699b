// An emulator's worker that prints each access of a kernel to global or shared memory, a line each:
// block, thread, 'r', 'w' or 'a' for an atomic, bytes, the object's name ('-' for dynamic shared
// memory), and the distance in bytes from the object's beginning.
#include "engine/execution/emulator/worker/launch.h"
#include "engine/execution/emulator/worker/worker_main.h"

#include <array>
#include <charconv>
#include <string>

namespace {

using namespace kernelskill::engine::emulator;

void append(std::string& text, std::int64_t number) {
    std::array<char, 24> digits;
    text.append(digits.data(), std::to_chars(digits.begin(), digits.end(), number).ptr);
    text += ' ';
}

struct Object {
    std::string name;
    std::uint64_t low = 0;
};

Object objectOf(Launch& launch, std::uint64_t address) {
    const std::uint64_t buffers = launch.memory().arena().low;
    if (launch.memory().arena().contains(address)) {
        const DeviceMemory::Buffer& buffer = launch.memory().bufferAt(address - buffers);
        return {buffer.spec.name, buffer.low};
    }
    const AddressRange shared = launch.image().staticShared();
    if (shared.contains(address)) {
        const SharedVariable* variable = launch.image().sharedVariableNear(address - shared.low);
        return variable == nullptr ? Object{"?", shared.low}
                                   : Object{variable->name, shared.low + variable->offset};
    }
    for (const KsGlobal& global : launch.image().globals()) {
        const auto low = reinterpret_cast<std::uint64_t>(global.address);
        if (AddressRange{low, global.bytes}.contains(address))
            return {global.name, low};
    }
    if (hookState.dynamicShared.range.contains(address))
        return {"-", hookState.dynamicShared.range.low};
    return {"?", address};
}

void record(Launch& launch, const EventLog& log) {
    const KsIndex block = launch.block().index();
    const unsigned firstThread = launch.block().runningThread() / warpLanes * warpLanes;
    std::string text;
    for (unsigned lane = 0; lane < warpLanes; ++lane)
        for (std::uint32_t row = 0; row < log.counts[lane]; ++row) {
            const Event event{log.rows[row].words[lane], log.rows[row].addresses[lane]};
            if (event.kind() > EventKind::Atomic)
                continue;
            const Object object = objectOf(launch, event.address);
            const KsIndex thread = launch.block().threadIndex(firstThread + lane);
            for (const unsigned index : {block.x, block.y, block.z, thread.x, thread.y, thread.z})
                append(text, index);
            text += "rwa"[static_cast<std::size_t>(event.kind())];
            text += ' ';
            append(text, event.bytes());
            text += object.name + ' ';
            append(text, static_cast<std::int64_t>(event.address - object.low));
            text.back() = '\n';
        }
    launch.print(text);
}

} // namespace

int main() {
    return kernelskill::engine::runEmulatorWorker(record);
}
