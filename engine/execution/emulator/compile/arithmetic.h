/// The arithmetic in the host's code of a kernel, as a GPU would execute it.
#pragma once

#include "engine/execution/emulator/compile/predication.h"
#include "engine/execution/emulator/wire/counters.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine {

/// What tells the files of an assembly apart, and how it is to be read.
struct AssemblyOptions {
    std::string userMarker; ///< In the paths of the user's files.
    std::string prelude;    ///< Folder of the prelude.
    bool fastMath = false;  ///< As nvcc's --use_fast_math.
};

/// `count` operations each time that a lane runs the block.
struct ArithmeticUse {
    std::size_t block = 0;       ///< Line of the call of the block's hook.
    std::size_t instruction = 0; ///< Line.
    emulator::Counter counter = emulator::Counter::Count;
    std::uint32_t count = 0;
};

/// From assembly of x86-64 or AArch64 whose basic blocks begin with a call of `blockHook`. Products
/// that only sums of their block take are fused with these, as nvcc does unless told not to. The
/// prelude's arithmetic, and that of what it calls, stands for a GPU's instructions only where a
/// comment `# ks_operation NAME` says so (see costOf).
[[nodiscard]] std::vector<ArithmeticUse> arithmeticOf(const std::vector<AssemblyLine>& lines,
                                                      const AssemblyOptions& options,
                                                      std::string_view blockHook);

} // namespace kernelskill::engine
