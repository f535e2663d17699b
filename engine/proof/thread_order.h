/// Whether any two threads of a kernel may touch one byte, one of them writing, with nothing
/// between that orders them: for all inputs, sizes and launches, by two symbolic threads.
///
/// Barriers of the block order threads, and nothing else does: what fences, flags, atomics and the
/// operations of warps order is not followed. An axis that the kernel does not name has one thread
/// and one block. Memory behind different parameters does not overlap, and counters of loops do not
/// wrap around. All threads of a block reach each barrier, as CUDA requires.
#pragma once

#include "engine/execution/kernel_ref.h"
#include "engine/proof/integer_solver.h"

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace kernelskill::engine {

/// Two accesses that meet.
struct ThreadMeeting {
    std::uint32_t line = 0;
    std::uint32_t otherLine = 0;
    bool isOfTwoBlocks = false;
    /// "threadIdx.x = 1 and 0, n = 3": numbers with which they do. Nothing read from memory decides
    /// it.
    std::string example;

    /// "threads of one block may meet on lines 5 and 7, for ..."
    [[nodiscard]] std::string sentence() const;
};

struct OrderedThreads {
    /// Assumed, as clauses: "out, in do not overlap".
    std::vector<std::string> conditions;
    bool sharesMemory =
        false; ///< Threads of a block have memory in common that one of them writes.

    /// "no two threads race, for all sizes"
    [[nodiscard]] std::string sentence() const;
};

/// Why it is not shown that threads are ordered.
struct UnorderedThreads {
    std::string reason;                   ///< With its line.
    std::optional<ThreadMeeting> meeting; ///< If they are shown not to be.
};

using ThreadOrder = std::expected<OrderedThreads, UnorderedThreads>;

/// The kernel's model is set. `wanted` looks for a meeting where order is not shown.
/// `block`: threads along x, y, z; nullopt: any.
[[nodiscard]] ThreadOrder orderOfThreads(KernelRef kernel, IntegerSolver& solver, bool wanted,
                                         std::optional<std::array<Wide, 3>> block = std::nullopt);

} // namespace kernelskill::engine
