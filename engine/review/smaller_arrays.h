/// Finds arrays of a thread's own that an edit makes smaller, although nothing in the text shows
/// that the rest is enough: `int stack[6]` for `int stack[16]`. How much of a stack is used follows
/// from the data, and runs seldom have the worst.
#pragma once

#include "analysis/model/kernel_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kernelskill::engine {

struct SmallerArray {
    std::string name;
    std::uint32_t line = 0;  ///< One-based, in the candidate's file, where it is declared.
    std::int64_t before = 0; ///< Elements of the original's array.
    std::int64_t after = 0;
};

/// The local arrays of the kernel, and of the functions of its file that it calls, which have fewer
/// elements than the arrays of the same name in the same function of the original. Left out are
/// those that every access indexes, and whose indices are shown to fit by constants, types, loop
/// bounds and guards. An array that is passed on as a pointer is not shown to fit.
[[nodiscard]] std::vector<SmallerArray> smallerArrays(const analysis::FileModel& original,
                                                      const analysis::KernelModel& originalKernel,
                                                      const analysis::FileModel& candidate,
                                                      const analysis::KernelModel& kernel);

} // namespace kernelskill::engine
