/// Finds the arithmetic in the host code of a kernel, as a GPU would execute it.
#pragma once

#include "engine/execution/emulator/compile/predication.h"
#include "engine/execution/emulator/unit/local_accesses.h"
#include "engine/execution/emulator/wire/counters.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// Tells the user's files in an assembly from others, and how to read it.
struct AssemblyOptions {
    std::string userMarker;       ///< Stands before the paths of the user's files.
    std::string prelude;          ///< Folder of the prelude.
    bool fastMath = false;        ///< As nvcc's --use_fast_math.
    FileLines localAccesses = {}; ///< See localAccesses().
};

/// `count` operations each time a lane runs the block.
struct ArithmeticUse {
    std::size_t block = 0;       ///< The line of the call of the block's hook.
    std::size_t instruction = 0; ///< The instruction's line.
    emulator::Counter counter = emulator::Counter::Count;
    std::uint32_t count = 0;
};

/// Reads assembly of x86-64 or AArch64 whose basic blocks begin with a call of `blockHook`.
/// Products that only sums of their block use are fused with these, as nvcc does by default.
/// Arithmetic of the prelude, and of what it calls, counts only where a comment `# ks_operation
/// NAME` says so (see costOf).
[[nodiscard]] std::vector<ArithmeticUse> arithmeticOf(const std::vector<AssemblyLine>& lines,
                                                      const AssemblyOptions& options,
                                                      std::string_view blockHook);

} // namespace kernelskill::engine
