/// Finds pointers that step through an array of a thread's own: `for (p = a; p != end; ++p)`.
#pragma once

#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct WalkedArray {
    std::string pointer; ///< The variable.
    std::string array;
    std::uint32_t line = 0; ///< One-based, where the pointer is declared.
};

/// The pointers in the kernel, and in the functions of its file that it calls, whose accesses no
/// run follows: they begin in an array that is a local variable, and steps change them.
[[nodiscard]] std::vector<WalkedArray> walkedArrays(const analysis::FileModel& file,
                                                    const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
