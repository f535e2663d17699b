#include "engine/execution/emulator/worker/async_copies.h"

namespace kernelskill::engine::emulator {

void AsyncCopies::beginBlock(std::size_t threads) {
    queues_.assign(threads, {});
}

void AsyncCopies::begin(const AsyncCopy& copy) {
    queues_[copy.thread].copies.push_back(copy);
}

void AsyncCopies::commit(unsigned thread) {
    Queue& queue = queues_[thread];
    queue.groupEnds.push_back(queue.copies.size());
}

std::vector<AsyncCopy> AsyncCopies::arrive(unsigned thread, std::size_t pending) {
    Queue& queue = queues_[thread];
    if (queue.groupEnds.size() <= pending)
        return {};
    const std::size_t groups = queue.groupEnds.size() - pending;
    const auto count = static_cast<std::ptrdiff_t>(queue.groupEnds[groups - 1]);
    std::vector<AsyncCopy> arrived(queue.copies.begin(), queue.copies.begin() + count);
    queue.copies.erase(queue.copies.begin(), queue.copies.begin() + count);
    queue.groupEnds.erase(queue.groupEnds.begin(),
                          queue.groupEnds.begin() + static_cast<std::ptrdiff_t>(groups));
    for (std::size_t& end : queue.groupEnds)
        end -= arrived.size();
    return arrived;
}

const AsyncCopy* AsyncCopies::underWayTo(std::uint64_t address, unsigned bytes) const {
    for (const Queue& queue : queues_)
        for (const AsyncCopy& copy : queue.copies)
            if (copy.address < address + bytes && address < copy.address + copy.bytes)
                return &copy;
    return nullptr;
}

} // namespace kernelskill::engine::emulator
