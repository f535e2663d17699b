/// Copies into a block's shared memory that its threads have begun and that have not arrived.
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
    unsigned thread = 0; ///< That began it, in its block, linear.
    Site site = 0;
    std::array<unsigned char, 16> value{};
};

class AsyncCopies {
public:
    /// Forgets what an earlier block left.
    void beginBlock(std::size_t threads);
    void begin(const AsyncCopy& copy);
    /// What `thread` has begun since the last call is one group, maybe of nothing.
    void commit(unsigned thread);
    /// Takes those of all groups of the thread but the last `pending`, in the order they began in.
    [[nodiscard]] std::vector<AsyncCopy> arrive(unsigned thread, std::size_t pending);
    /// One that will write some of these bytes; nullptr when none will. Looks at all of them.
    [[nodiscard]] const AsyncCopy* underWayTo(std::uint64_t address, unsigned bytes) const;

private:
    struct Queue {
        std::vector<AsyncCopy> copies;      ///< That have not arrived.
        std::vector<std::size_t> groupEnds; ///< Of groups in `copies`, ascending.
    };
    std::vector<Queue> queues_; ///< By thread.
};

} // namespace kernelskill::engine::emulator
