/// The asynchronous copies into a block's shared memory that are still in progress.
#pragma once

#include "engine/execution/emulator/wire/wire.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelskill::engine::emulator {

struct AsyncCopy {
    std::uint64_t address = 0;
    unsigned bytes = 0;  ///< At most 16.
    unsigned thread = 0; ///< The linear index, in its block, of the thread that began it.
    Site site = 0;
    std::array<unsigned char, 16> value{};
};

class AsyncCopies {
public:
    /// Removes the copies of an earlier block.
    void beginBlock(std::size_t threads);
    void begin(const AsyncCopy& copy);
    /// Makes one group of the copies that `thread` has begun since the last call; it may be empty.
    void commit(unsigned thread);
    /// Removes and returns the copies of all groups of the thread except the last `pending`, in the
    /// order of their begin.
    [[nodiscard]] std::vector<AsyncCopy> arrive(unsigned thread, std::size_t pending);
    /// A copy that will write some of these bytes; nullptr if there is none. Searches all copies.
    [[nodiscard]] const AsyncCopy* underWayTo(std::uint64_t address, unsigned bytes) const;

private:
    struct Queue {
        std::vector<AsyncCopy> copies;      ///< Copies in progress.
        std::vector<std::size_t> groupEnds; ///< The ends of groups in `copies`, ascending.
    };
    std::vector<Queue> queues_; ///< By thread.
};

} // namespace kernelskill::engine::emulator
