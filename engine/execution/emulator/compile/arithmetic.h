/// The arithmetic in the host's code of a kernel, as a GPU would execute it.
#pragma once

#include "engine/execution/emulator/compile/predication.h"
#include "engine/execution/emulator/counters.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// `count` operations each time that a lane runs the block.
struct ArithmeticUse {
    std::size_t block = 0;       ///< Line of the call of the block's hook.
    std::size_t instruction = 0; ///< Line.
    emulator::Counter counter = emulator::Counter::Count;
    std::uint32_t count = 0;
};

/// From assembly of x86-64 or AArch64 whose basic blocks begin with a call of `blockHook`. A
/// product that a sum of the same block takes is fused with it, as nvcc does unless told not to.
/// The arithmetic of files below `prelude` stands for a GPU's instructions only where the text says
/// so, by a comment `# ks_operation NAME` (see costOf).
[[nodiscard]] std::vector<ArithmeticUse> arithmeticOf(const std::vector<AssemblyLine>& lines,
                                                      std::string_view userMarker,
                                                      std::string_view prelude,
                                                      std::string_view blockHook);

} // namespace kernelskill::engine
